"""`input_cfg` documents written for NeMo's scripts: the sources at hand and the keys those scripts look at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..model.blend import Entry
from ..model.values import Unknown

#: Keys of an entry that the index builder and the pack converter need; tags, weights and the like only get in their way.
_KEPT = (
    "type",
    "manifest_filepath",
    "tarred_audio_filepaths",
    "cuts_path",
    "shar_path",
    "paths",
    "data_dir",
    "wds_sample_index_version",
    "tar_lookup_mode",
    "tar_routing_filepath",
    "tar_routing_index",
    "audio_path_prefix_map",
    "audio_placeholders",
)


def document(sources: Iterable[Entry], heading: str, root: str | None) -> str:
    """A YAML list of the sources below a comment; a source with another `indexes_root` than `root` carries its own."""
    from io import StringIO

    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = 4096
    stream = StringIO()
    yaml.dump([_entry(source, root) for source in sources], stream)
    heading = " ".join(heading.splitlines())  # a name may hold a line end
    return f"# {heading}\n{stream.getvalue()}"


def _entry(source: Entry, root: str | None) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    for key in _KEPT:
        value = source.type_name if key == "type" else source[key].value if source.find(key) is not None else None
        if value is not None and not isinstance(value, Unknown):
            entry[key] = _with_environment(value)
        elif isinstance(value, Unknown) and value.kind == "environment":
            entry[key] = value.text
    if source.reader in ("cuts", "shar"):
        entry = {
            "type": "lhotse",
            **{k: v for k, v in entry.items() if k == ("cuts_path" if source.reader == "cuts" else "shar_path")},
        }
    elif source.reader in ("nemo", "nemo_tarred"):
        entry["type"] = source.reader
    elif entry["type"] == "nemo_sft_jsonl":
        entry["type"] = "txt_jsonl"  # the builder does not know the type and would build nothing
    own = source["indexes_root"].value
    if isinstance(own, str) and own != root:
        entry["indexes_root"] = own
    return entry


def _with_environment(value: Any) -> Any:
    """Environment interpolations stay as written: the scripts resolve them where they run."""
    if isinstance(value, Unknown):
        return value.text
    if isinstance(value, list):
        return [_with_environment(item) for item in value]
    if isinstance(value, dict):
        return {key: _with_environment(item) for key, item in value.items()}
    return value

"""What is offered while a config or a blend is being typed, and the text after it is accepted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nemo_resumable.core.model.profiles import assumed
from nemo_resumable.core.model.schema import OPTIONS

from .conftest import BLEND, CONFIG
from .reading import ENCODINGS, WIDE, speaking

Serve = Callable[..., Any]
LATER = {"completion": {"completionItem": {"resolveSupport": {"properties": ["documentation"]}}}}


class Editor:
    """One open text with a cursor in it, written as `¦`."""

    def __init__(self, client: Any, uri: str) -> None:
        self.client, self.uri = client, uri
        self.text, self.version = "", 0

    def type(self, marked: str) -> dict[str, Any]:
        """Put a text in place; the parameters of a request at its cursor."""
        offset = marked.index("¦")
        self.text = marked[:offset] + marked[offset + 1 :]
        self.version += 1
        if self.version == 1:
            self.client.open(self.uri, self.text)
        else:
            self.client.change(self.uri, self.version, self.text)
        return {"textDocument": {"uri": self.uri}, "position": self.client.place(self.text, offset)}

    def offered(self, marked: str, **context: Any) -> dict[str, dict[str, Any]]:
        """What is offered at the cursor, by label, the first first."""
        params = self.type(marked)
        if context:
            params["context"] = context
        found = self.client.request("textDocument/completion", params)
        items = [] if found is None else found["items"]
        return {item["label"]: item for item in sorted(items, key=lambda item: item["sortText"])}

    def accepted(self, marked: str, label: str) -> str:
        """The text after an offer is taken."""
        item = self.offered(marked)[label]
        edit = {"changes": {self.uri: [item["textEdit"]]}}
        result: str = self.client.applied(edit, {self.uri: self.text})[self.uri]
        return result


@pytest.fixture
def config(client: Any, project: Path) -> Editor:
    return Editor(client, (project / "conf.yaml").as_uri())


@pytest.fixture
def blend(client: Any, project: Path) -> Editor:
    client.open(project / "conf.yaml")
    return Editor(client, (project / "blend.yaml").as_uri())


def test_a_half_typed_option(config: Editor) -> None:
    """The line does not parse; what is not there yet is offered, what a resume needs first."""
    typed = CONFIG.replace("    seed: 42\n", "    seed: 42\n    sha¦\n").replace('    shard_seed: "randomized"\n', "")
    found = config.offered(typed)
    assert {"shard_seed", "indexed", "use_stateful_dataloader", "bucket_buffer_size"} <= set(found)
    assert not {"seed", "shuffle", "num_workers", "input_cfg"} & set(found)
    assert list(found)[:5] == sorted(list(found)[:5])
    assert list(found).index("shard_seed") < list(found).index("batch_tokens") < list(found).index("rir_path")
    assert found["shard_seed"]["detail"] == "integer or text, default trng"
    assert "The seed of the sampler" in found["shard_seed"]["documentation"]["value"]
    assert config.accepted(typed, "shard_seed") == typed.replace("sha¦", "shard_seed: ")


def test_every_option_of_the_runtime_is_offered(config: Editor) -> None:
    found = config.offered("data:\n  train_ds:\n    ¦\n")
    assert set(found) == set(assumed().options) - {"tarred_random_access"}
    assert set(assumed().options) == set(OPTIONS)


@pytest.mark.parametrize(
    ("marked", "there", "absent"),
    [
        ("data:\n  train_ds:\n    shuffle: true\n    ¦\n  validation_ds: {}\n", "indexed", "shuffle"),
        ("data:\n  train_ds:\n    ¦\n    shuffle: true\n", "indexed", "shuffle"),
        ("data:\n  train_ds:\n    a: 1\n  ¦\n", "validation_ds", "train_ds"),
        ("data:\n  validation_ds:\n    ¦\n", "datasets", "train_ds"),
        ("data:\n  validation_ds:\n    datasets:\n      dev:\n        ¦\n", "force_map_dataset", "datasets"),
        ("data:\n  train_ds: {shuffle: true, ¦}\n", "indexed", "shuffle"),
        ("data:\n  train_ds:\n    multi_config: true\n    one:\n      ¦\n", "batch_size", "train_ds"),
        ("data:\n  train_ds: {}\n¦\n", "exp_manager", "data"),
        ("data:\n  train_ds: {}\ntrainer:\n  ¦\n", "use_distributed_sampler", "indexed"),
        ("data:\n  train_ds: {}\nexp_manager:\n  ¦\n", "checkpoint_callback_params", "trainer"),
        (
            "data:\n  train_ds: {}\nexp_manager:\n  checkpoint_callback_params:\n    mode: min\n    ¦\n",
            "every_n_train_steps",
            "mode",
        ),
        ("model:\n  train_ds:\n    ¦\n    use_lhotse: true\n", "indexed", "use_lhotse"),
        ("model:\n  train_ds:\n    labels: []\n    ¦\n", "use_lhotse", "indexed"),
        ("# @package data\ntrain_ds:\n  input_cfg: x.yaml\n  ¦\n", "indexed", "input_cfg"),
        ("data:\n  train_ds:\n    input_cfg:\n      - ¦\n", "type", "trainer"),
        ("data:\n  train_ds:\n    input_cfg:\n    - type: nemo\n      ¦\n", "manifest_filepath", "type"),
        ("data:\n  train_ds:\n    input_cfg:\n    - type: nemo\n    ¦\n", "shuffle", "input_cfg"),
        ("data:\n  train_ds:\n    input_cfg:\n      ¦\n", "- type", "shuffle"),
    ],
)
def test_keys_by_their_place(config: Editor, marked: str, there: str, absent: str) -> None:
    found = config.offered(marked)
    assert there in found
    assert absent not in found


@pytest.mark.parametrize(
    "marked",
    [
        "data:\n  train_ds:\n    shuffle: true\n      ¦\n",  # below a value
        "data:\n  train_ds:\n    shuffle: true\n   ¦\n",  # beside no key
        "data:\n  train_ds:\n    # sha¦\n",
        "data:\n  train_ds:\n    seed: some words¦\n",
        "data:\n  train_ds:\n    noise_path:\n      ¦\n",
        "model:\n  encoder:\n    ¦\ndata:\n  train_ds: {}\n",
    ],
)
def test_nothing_is_offered_where_nothing_fits(config: Editor, marked: str) -> None:
    assert config.offered(marked) == {}


def test_other_files_are_left_alone(client: Any, project: Path) -> None:
    other = Editor(client, (project / "compose.yaml").as_uri())
    assert other.offered("services:\n  web:\n    ¦\n") == {}
    assert other.offered("data:\n  ¦\n") == {}
    assert other.offered("- hosts: all\n  ¦\n") == {}


def test_the_keys_of_a_type(blend: Editor) -> None:
    """What the type needs, then what it reads, then what the entry may inherit; nothing of other types."""
    found = blend.offered("- type: share_gpt\n  ¦\n")
    order = list(found)
    assert order[:2] == ["audio_placeholders", "manifest_filepath"]
    assert order.index("tar_lookup_mode") < order.index("force_finite")
    assert not {"type", "data_dir", "input_cfg", "num_workers", "tar_routing_index"} & set(found)
    assert found["audio_placeholders"]["documentation"]["value"].startswith("The marks in ShareGPT turns")
    assert next(iter(blend.offered("- type: share_gpt\n  audio_placeholders: x\n  ¦\n"))) == "manifest_filepath"


def test_a_list_of_types(blend: Editor) -> None:
    found = blend.offered("- type: ¦\n")
    assert set(found) == set(assumed().types)
    assert found["nemo_tarred"]["detail"].startswith("NeMo manifests with their audio in tars")
    assert "Index pack: " in found["nemo_tarred"]["documentation"]["value"]
    assert blend.accepted("- type: ne¦mo\n", "nemo_tarred") == "- type: nemo_tarred\n"


def test_a_blend_that_has_just_begun(client: Any, project: Path) -> None:
    new = Editor(client, (project / "new.yaml").as_uri())
    assert "type" in new.offered("- ¦")
    assert "nemo_tarred" in new.offered("- type: ¦")
    assert "manifest_filepath" in new.offered("- type: nemo_tarred\n  man¦")


def test_a_blend_within_a_blend(blend: Editor) -> None:
    marked = "- type: group\n  input_cfg:\n    - type: lhotse\n      ¦\n- type: nemo\n  manifest_filepath: x\n"
    found = blend.offered(marked)
    assert list(found)[:2] == ["cuts_path", "shar_path"]
    assert "shuffle" in found
    assert "manifest_filepath" not in found


def test_flow_style(blend: Editor) -> None:
    assert blend.accepted("- {type: nemo, man¦, weight: 1}\n", "manifest_filepath") == (
        "- {type: nemo, manifest_filepath: , weight: 1}\n"
    )
    assert "weight" not in blend.offered("- {type: nemo, man¦, weight: 1}\n")
    assert "lhotse" in blend.offered("- {type: ¦}\n")


@pytest.mark.parametrize(
    ("typed", "first", "others"),
    [
        ("indexed: ¦", "true", {"false"}),
        ("concurrent_bucketing: ¦", "false", {"true"}),
        ("sampler_fusion: ¦", "round_robin", {"randomized_round_robin", "zip"}),
        ("truncate_offset_type: ¦", "random", {"start", "end"}),
        ("shard_seed: ¦", "42", set()),
    ],
)
def test_values(config: Editor, typed: str, first: str, others: set[str]) -> None:
    found = config.offered(f"data:\n  train_ds:\n    {typed}\n")
    assert next(iter(found)) == first
    assert set(found) == {first} | others


def test_values_of_an_entry_and_of_the_trainer(config: Editor) -> None:
    entry = "data:\n  train_ds:\n    input_cfg:\n      - type: share_gpt\n        tar_lookup_mode: ¦\n"
    assert set(config.offered(entry)) == {"paired", "collection"}
    assert list(config.offered(CONFIG.replace("sampler: false", "sampler: ¦"))) == ["false", "true"]
    manager = CONFIG + "exp_manager:\n  resume_if_exists: ¦\n"
    assert list(config.offered(manager)) == ["true", "false"]
    assert list(config.offered(CONFIG + "exp_manager: {checkpoint_callback_params: {mode: ¦}}\n")) == ["min", "max"]


@pytest.mark.parametrize(
    ("marked", "label", "after"),
    [
        ("    ind¦\n", "indexed", "    indexed: \n"),
        ("    shu¦ffle_x: 3\n", "shuffle_buffer_size", "    shuffle_buffer_size: 3\n"),
        ("    ind¦  # a word\n", "indexed", "    indexed:   # a word\n"),
        ("    indexed:¦\n", "true", "    indexed: true\n"),
        ("    indexed: fal¦se\n", "true", "    indexed: true\n"),
        ("    indexed: ¦  # a word\n", "true", "    indexed: true  # a word\n"),
        ('    sampler_fusion: "zi¦"\n', "zip", "    sampler_fusion: zip\n"),
    ],
)
def test_the_text_after_an_offer_is_taken(config: Editor, marked: str, label: str, after: str) -> None:
    head, tail = "data:\n  train_ds:\n    seed: 1\n", "    batch_size: 2\n"
    assert config.accepted(head + marked + tail, label) == head + after + tail


def test_a_section_is_opened(config: Editor) -> None:
    assert config.accepted("data:\n  train_ds:\n    input_cfg: x\n  val¦\n", "validation_ds").endswith(
        "  validation_ds:\n"
    )


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_wide_characters_before_the_place(serve: Serve, project: Path, encoding: str) -> None:
    client = serve(speaking(encoding))
    client.initialize(project)
    editor = Editor(client, (project / "conf.yaml").as_uri())
    head = f'data:\n  train_ds:\n    input_cfg: [{{name: "{WIDE}", type: '
    assert editor.accepted(head + "nem¦o}]\n", "lhotse") == head + "lhotse}]\n"
    head = f'data:\n  train_ds:\n    input_cfg:\n      - {{corpus: "{WIDE}", '
    assert editor.accepted(head + "ty¦}\n", "type") == head + "type: }\n"


def test_windows_line_ends(config: Editor) -> None:
    marked = CONFIG.replace("    shuffle: true\n", "    ind¦\n").replace("\n", "\r\n")
    assert config.accepted(marked, "indexed") == marked.replace("ind¦", "indexed: ")


def test_a_blank_does_not_bring_a_list_where_nobody_asked(config: Editor, blend: Editor) -> None:
    typed = {"triggerKind": 2, "triggerCharacter": " "}
    assert config.offered("data:\n  train_ds:\n    ¦\n", **typed) == {}
    assert "true" in config.offered("data:\n  train_ds:\n    indexed: ¦\n", **typed)
    assert "type" in blend.offered("- ¦\n", **typed)
    colon = {"triggerKind": 2, "triggerCharacter": ":"}
    assert "true" in config.offered("data:\n  train_ds:\n    indexed:¦\n", **colon)


def test_words_come_when_they_are_wanted(serve: Serve, project: Path) -> None:
    client = serve(speaking("utf-16", **LATER))
    client.initialize(project)
    editor = Editor(client, (project / "conf.yaml").as_uri())
    item = editor.offered("data:\n  train_ds:\n    ¦\n")["indexed"]
    assert "documentation" not in item
    resolved = client.request("completionItem/resolve", item)
    assert resolved["documentation"]["kind"] == "markdown"
    assert "Resumable training needs: `true`" in resolved["documentation"]["value"]


def test_an_older_nemo_has_fewer_options(client: Any, project: Path) -> None:
    (project / ".nemo-resumable.toml").write_text('profile = "nemo-3.0.0"\n')
    editor = Editor(client, (project / "conf.yaml").as_uri())
    found = editor.offered("data:\n  train_ds:\n    ¦\n")
    assert "shard_seed" in found
    assert "indexed" not in found


def test_the_text_need_not_parse_anywhere(blend: Editor) -> None:
    found = blend.offered("- type: nemo\n  manifest_filepath: [a, b\n- type: nemo_tarred\n  tarr¦\n  }}{{ :\n" + BLEND)
    assert "tarred_audio_filepaths" in found

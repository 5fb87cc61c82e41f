"""Verdicts on variations whose outcome is known from runs of the loader or from its source, beyond the oracle's cases.

Each is a training section on top of one that is right: what the runtime does is in the third column, and the rule that
has to name the cause in the fourth (none where the run goes well).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import Settings

from .test_oracle import POLICY

TARRED = {
    "type": "nemo_tarred",
    "manifest_filepath": "/d/a/manifest__OP_0..3_CL_.jsonl",
    "tarred_audio_filepaths": "/d/a/audio__OP_0..3_CL_.tar",
}
OTHER = {
    "type": "nemo_tarred",
    "manifest_filepath": "/d/b/manifest__OP_0..3_CL_.jsonl",
    "tarred_audio_filepaths": "/d/b/audio__OP_0..3_CL_.tar",
}
PLAIN = {"type": "nemo", "manifest_filepath": "/d/plain.jsonl"}
CUTS = {"type": "lhotse", "cuts_path": "/d/cuts.jsonl"}
SHAR = {"type": "lhotse", "shar_path": "/d/shar"}
CHAT = {"type": "multimodal_conversation", "manifest_filepath": "/d/chat.jsonl", "audio_locator_tag": "<a>"}
GPT = {"type": "share_gpt", "manifest_filepath": "/d/gpt.jsonl", "audio_placeholders": ["<sound>"]}
ROUTED = {
    **GPT,
    "tarred_audio_filepaths": "/d/audio_{0..3}.tar",
    "tar_lookup_mode": "collection",
    "tar_routing_filepath": "/d/gpt.sgroute",
}
WDS = {"type": "share_gpt_webdataset", "data_dir": "/d/wds", "audio_placeholders": ["<sound>"]}
TEXT = {"type": "txt_jsonl", "paths": "/d/text.jsonl", "language": "en"}
STREAM = {"type": "txt", "paths": "/d/text.txt", "language": "en"}
ITERABLE = {"force_iterable_dataset": True}


def group(*entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "group", "input_cfg": list(entries), **more}


def talk(*entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "lhotse_as_conversation", "audio_locator_tag": "<a>", "input_cfg": list(entries), **more}


Variation = tuple[str, list[dict[str, Any]], dict[str, Any], str, str]

#: name, entries, options of the section, what the runtime does, the rule that names the cause ("" for none)
VARIATIONS: list[Variation] = [
    # weights
    ("one weight 0", [{**TARRED, "weight": 0}], {}, "runs: a single entry is not mixed", ""),
    ("two weights 0", [{**TARRED, "weight": 0}, {**OTHER, "weight": 0}], {}, "ValueError", "NR314"),
    ("0 beside 1", [{**TARRED, "weight": 0}, {**OTHER, "weight": 1}], {}, "ValueError", "NR314"),
    ("weight as text", [{**TARRED, "weight": "a"}, {**OTHER, "weight": 1}], {}, "raises", "NR314"),
    ("weights that do not add up to 1", [{**TARRED, "weight": 3}, {**OTHER, "weight": 0.2}], {}, "runs", ""),
    # types of options, as the merge into the schema takes them
    ("shard_seed 42.0", [TARRED], {"shard_seed": 42.0}, "ValidationError", "NR110"),
    ("shard_seed '42'", [TARRED], {"shard_seed": "42"}, "ValueError at the first iteration", "NR110"),
    ("seed 4.0", [TARRED], {"seed": 4.0}, "ValidationError", "NR109"),
    ("seed true", [TARRED], {"seed": True}, "ValidationError", "NR109"),
    ("num_workers 1.5", [TARRED], {"num_workers": 1.5}, "ValidationError", "NR006"),
    ("indexed maybe", [TARRED], {"indexed": "maybe"}, "ValidationError", "NR006"),
    ("indexed 'yes'", [TARRED], {"indexed": "yes"}, "runs: read as true", ""),
    (
        "misspelt option",
        [TARRED],
        {"use_stateful_dataloader": None, "use_statefull_dataloader": True},
        "raises",
        "NR005",
    ),
    # slices
    ("slices of a manifest", [{**PLAIN, "slice_length": 4}], ITERABLE, "runs: ignored", ""),
    ("slices of cuts", [{**CUTS, "slice_length": 4}], ITERABLE, "runs: ignored", ""),
    ("slices of text", [TEXT], {"slice_length": 4}, "runs: ignored", ""),
    ("slices of tars", [{**TARRED, "slice_length": 4}], {}, "ValueError", "NR302"),
    ("slices of tars in a group", [group(TARRED, slice_length=4)], {}, "ValueError", "NR302"),
    ("slices undone below", [{**TARRED, "slice_length": None}], {"slice_length": 4}, "runs", ""),
    ("slices of Shar", [{**SHAR, "slice_length": 4}], {}, "ValueError", "NR302"),
    ("slices of Shar that finds its sidecars", [SHAR], {"slice_length": 4, "indexed": None}, "ValueError", "NR302"),
    ("slices of conversations", [CHAT], {"slice_length": 4}, "ValueError", "NR302"),
    ("slices of ShareGPT", [{**GPT, "slice_length": 4}], {}, "ValueError", "NR302"),
    # seeds and partition
    ("randomized with workers", [TARRED, OTHER], {"shard_seed": "randomized", "num_workers": 2}, "ValueError", "NR110"),
    ("trng in a mixture", [TARRED, OTHER], {"shard_seed": "trng"}, "ranks draw different sources", "NR110"),
    ("a group that streams", [group(TARRED, OTHER, indexed=False)], {}, "ranks draw the same items", "NR309"),
    ("indexed again below", [group({**TARRED, "indexed": True}, indexed=False)], {}, "runs: clean partition", ""),
    ("a mixture with a stream", [TARRED, STREAM], {}, "ranks share the stream", "NR308"),
    ("Shar that streams", [{**SHAR, "indexed": False}], {}, "ranks draw the same items", "NR309"),
    ("Shar that streams under a root", [{**SHAR, "indexed": False}], {"indexes_root": "/idx"}, "ValueError", "NR323"),
    ("cuts that stream under a root", [SHAR, {**SHAR, "indexes_root": "/i"}], {}, "runs", ""),
    # styles
    ("map style is the default of cuts", [CUTS], {}, "runs in map style", ""),
    ("cuts as a stream of indexes", [CUTS], ITERABLE, "runs: clean partition", ""),
    ("tars and cuts", [TARRED, CUTS], {}, "ValueError", "NR106"),
    ("tars and cuts, forced", [TARRED, CUTS], ITERABLE, "runs", ""),
    ("nemo with tars", [{**TARRED, "type": "nemo"}], {}, "runs: the same as nemo_tarred", ""),
    ("nemo_tarred without tars", [{**PLAIN, "type": "nemo_tarred"}], ITERABLE, "runs: untarred", ""),
    ("conversations over cuts", [{"type": "lhotse_as_conversation", "cuts_path": "/d/c.jsonl"}], ITERABLE, "runs", ""),
    # bucketing and multiplexing
    ("bins switch bucketing on", [TARRED], {"bucket_duration_bins": [1.0, 2.0]}, "a resume hangs", "NR111"),
    (
        "bucketing without a thread",
        [TARRED],
        {"bucket_duration_bins": [1.0, 2.0], "concurrent_bucketing": False},
        "runs",
        "",
    ),
    ("open streams", [TARRED, OTHER], {"max_open_streams": 2}, "runs: by replay", ""),
    ("open streams of finite data", [TARRED, OTHER], {"max_open_streams": 2, "force_finite": True}, "raises", "NR112"),
    ("no batch size", [TARRED], {"batch_size": None}, "ValueError", "NR121"),
    # temperatures: [level] values, the outermost first
    ("a temperature for all levels", [group(TARRED, OTHER)], {"reweight_temperature": 0.5}, "runs: repeated", ""),
    ("one for each level", [group(TARRED, OTHER)], {"reweight_temperature": [1.0, 0.5]}, "runs", ""),
    ("one too few", [group(TARRED, OTHER)], {"reweight_temperature": [1.0]}, "ValueError", "NR320"),
    ("one too many", [TARRED, OTHER], {"reweight_temperature": [1.0, 0.5]}, "ValueError", "NR320"),
    ("none", [TARRED, OTHER], {"reweight_temperature": []}, "ValueError", "NR320"),
    ("the deepest branch counts", [TARRED, group(OTHER)], {"reweight_temperature": [1.0, 0.5]}, "runs", ""),
    ("a list for a group", [group(TARRED, OTHER, reweight_temperature=[0.5])], {}, "runs: taken apart", ""),
    ("a number for a group", [group(TARRED, OTHER, reweight_temperature=0.5)], {}, "TypeError", "NR320"),
    ("a wrapper of equal depth", [talk(CUTS), group(CUTS)], {"reweight_temperature": [1.0, 0.5]}, "runs", ""),
    ("a wrapper too shallow", [talk(CUTS), group(group(CUTS))], {"reweight_temperature": 0.5}, "ValueError", "NR320"),
    (
        "a wrapper with its own",
        [talk(CUTS, reweight_temperature=[0.3]), group(group(CUTS))],
        {"reweight_temperature": [1.0, 0.5, 0.2]},
        "runs",
        "",
    ),
    # conversations
    ("a collection", [ROUTED], {}, "runs", ""),
    ("a collection without tars", [{**ROUTED, "tarred_audio_filepaths": None}], {}, "ValueError", "NR321"),
    ("a collection without a route", [{**ROUTED, "tar_routing_filepath": None}], {}, "ValueError", "NR321"),
    ("a collection that streams", [{**ROUTED, "indexed": False}], {}, "ValueError", "NR321"),
    (
        "the old name of the route",
        [{**ROUTED, "tar_routing_filepath": None, "tar_routing_index": "/r.sgroute"}],
        {},
        "runs",
        "",
    ),
    ("two routes", [{**ROUTED, "tar_routing_index": "/other.sgroute"}], {}, "the builder raises", "NR321"),
    ("a route by another name", [{**ROUTED, "tar_routing_filepath": "/d/route.idx"}], {}, "ValueError", "NR321"),
    ("a relative route", [{**ROUTED, "tar_routing_filepath": "r.sgroute"}], {}, "ValueError", "NR321"),
    ("a route below the root", [{**ROUTED, "tar_routing_filepath": "r.sgroute"}], {"indexes_root": "/i"}, "runs", ""),
    ("an unknown way to look up", [{**GPT, "tar_lookup_mode": "pairs"}], {}, "ValueError", "NR321"),
    (
        "line 0 left out",
        [{**GPT, "excluded_manifest_lines": [0], "approved_exclusion_audit_sha256": "0" * 64}],
        {},
        "ValueError",
        "NR321",
    ),
    ("lines without an audit", [{**GPT, "excluded_manifest_lines": [3]}], {}, "ValueError", "NR321"),
    ("WebDataset, format 1", [WDS], {}, "runs", ""),
    ("WebDataset, format 2", [{**WDS, "wds_sample_index_version": 2}], {}, "runs", ""),
    ("WebDataset, format 3", [{**WDS, "wds_sample_index_version": 3}], {}, "ValueError", "NR322"),
    (
        "WebDataset, format 2, streaming",
        [{**WDS, "wds_sample_index_version": 2, "indexed": False}],
        {},
        "ValueError",
        "NR322",
    ),
    # packs, in a folder that is not on this machine
    ("a pack without indexes", [{**TARRED, "index_pack": "/p/a.idxpack", "indexed": False}], {}, "ValueError", "NR330"),
    ("a pack of tars", [{**TARRED, "index_pack": "/nowhere/a.idxpack"}], {}, "runs", ""),
    ("a pack that no reader opens", [{**TEXT, "index_pack": "/nowhere/a.idxpack"}], {}, "cannot be converted", "NR333"),
    ("a pack of cuts", [{**CUTS, "index_pack": "/nowhere/a.idxpack"}], ITERABLE, "cannot be converted", "NR333"),
    (
        "a pack of weighted manifests",
        [
            {
                **PLAIN,
                "manifest_filepath": [["/d/a.jsonl", 0.5], ["/d/b.jsonl", 0.5]],
                "index_pack": "/nowhere/a.idxpack",
            }
        ],
        ITERABLE,
        "ValueError",
        "NR333",
    ),
    (
        "a pack of a list and a path",
        [{**TARRED, "manifest_filepath": ["/d/a/manifest__OP_0..3_CL_.jsonl"], "index_pack": "/nowhere/a.idxpack"}],
        {},
        "ValueError",
        "NR333",
    ),
    (
        "a pack of two lists",
        [
            {
                "type": "nemo_tarred",
                "manifest_filepath": ["/d/a/manifest__OP_0..3_CL_.jsonl", "/d/b/manifest__OP_0..3_CL_.jsonl"],
                "tarred_audio_filepaths": ["/d/a/audio__OP_0..3_CL_.tar", "/d/b/audio__OP_0..3_CL_.tar"],
                "index_pack": "/nowhere/a.idxpack",
            }
        ],
        {},
        "runs",
        "",
    ),
    (
        "a pack of one manifest for all tars",
        [{**TARRED, "manifest_filepath": "/d/a/manifest.jsonl", "index_pack": "/nowhere/a.idxpack"}],
        {},
        "runs: the pack holds the route",
        "",
    ),
    ("one manifest for all tars", [{**TARRED, "manifest_filepath": "/d/a/manifest.jsonl"}], {}, "IndexError", "NR316"),
    (
        "a pack of conversations in tars",
        [{**CHAT, "tarred_audio_filepaths": "/d/chat.tar", "index_pack": "/nowhere/a.idxpack"}],
        {},
        "ValueError",
        "NR333",
    ),
    ("a pack of a collection", [{**ROUTED, "index_pack": "/nowhere/a.idxpack"}], {}, "runs", ""),
    ("a pack of WebDataset, format 1", [{**WDS, "index_pack": "/nowhere/a.idxpack"}], {}, "ValueError", "NR333"),
    ("a pack on object storage", [{**TARRED, "index_pack": "s3://b/a.idxpack"}], {}, "FileNotFoundError", "NR331"),
    (
        "paired ShareGPT of two lengths",
        [{**GPT, "tarred_audio_filepaths": "/d/a_{0..3}.tar"}],
        {},
        "AssertionError",
        "NR316",
    ),
    (
        "Shar fields without cuts",
        [{"type": "lhotse", "shar_path": {"recording": "/d/recording.{0..3}.tar"}}],
        {},
        "raises",
        "NR311",
    ),
]


def blocking(folder: Path, entries: list[dict[str, Any]], options: dict[str, Any]) -> set[str]:
    section = {
        "indexed": True,
        "use_stateful_dataloader": True,
        "force_map_dataset": False,
        "seed": 42,
        "shard_seed": 42,
        "shuffle": True,
        "num_workers": 1,
        "batch_size": 2,
        "input_cfg": entries,
        **options,
    }
    file = folder / "config.yaml"
    file.write_text(yaml.safe_dump({"data": {"train_ds": section}}, sort_keys=False))
    analysis = analyze(Project(Settings(folder), folder), [file])
    assert len(analysis.configs) == 1
    return {finding.code for finding in analysis.findings if finding.severity.blocks}


@pytest.mark.parametrize(
    ("entries", "options", "outcome", "cause"), [item[1:] for item in VARIATIONS], ids=[item[0] for item in VARIATIONS]
)
def test_verdict_on_a_variation(
    entries: list[dict[str, Any]], options: dict[str, Any], outcome: str, cause: str, tmp_path: Path
) -> None:
    codes = blocking(tmp_path, entries, options)
    if cause:
        assert cause in codes, outcome
    else:
        assert codes <= set(POLICY) - {"NR316"}, outcome


def test_variations_are_named_once() -> None:
    assert len({item[0] for item in VARIATIONS}) == len(VARIATIONS)

"""`migrate --packs`: which datasets get a pack, what is written for it, and what is left alone and why."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.artifacts import Migration, prepare, write
from nemo_resumable.core.artifacts.packs import Plan
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import load_settings

SECTION: dict[str, Any] = {
    "seed": 42,
    "shard_seed": 42,
    "shuffle": True,
    "num_workers": 2,
    "batch_size": 8,
    "indexed": True,
    "use_stateful_dataloader": True,
    "force_map_dataset": False,
    "force_iterable_dataset": True,
    "indexes_root": "/shared/idx",
}
BOOKS = {
    "type": "nemo_tarred",
    "weight": 0.5,
    "manifest_filepath": "/data/books/manifest__OP_0..1999_CL_.jsonl",
    "tarred_audio_filepaths": "s3://speech/books/audio__OP_0..1999_CL_.tar",
}
TALKS = {
    "type": "nemo_tarred",
    "weight": 0.3,
    "name": "talk shows",
    "manifest_filepath": "/data/talk/manifest__OP_0..1999_CL_.jsonl",
    "tarred_audio_filepaths": "/data/talk/audio__OP_0..1999_CL_.tar",
}
SMALL = {
    "type": "nemo_tarred",
    "weight": 0.1,
    "manifest_filepath": "/data/small/manifest__OP_0..9_CL_.jsonl",
    "tarred_audio_filepaths": "/data/small/audio__OP_0..9_CL_.tar",
}
SHAR = {
    "type": "lhotse_shar",
    "weight": 0.1,
    "shar_path": {"cuts": "/data/s/cuts.{0000..1999}.jsonl", "recording": "/data/s/recording.{0000..1999}.tar"},
}


def project(folder: Path, files: dict[str, Any], root: str | None = "/shared/packs", **settings: Any) -> Project:
    (folder / ".git").mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False)
        (folder / name).write_text(text)
    return Project(dataclasses.replace(load_settings(folder), index_pack_root=root, **settings), folder)


def train(*entries: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"data": {"train_ds": {**SECTION, **options, "input_cfg": list(entries)}}}


def migrated(project: Project, name: str = "conf/model.yaml", **options: Any) -> Migration:
    migration = prepare(project, project.cwd / name, packs=True, **options)
    write(migration)
    return migration


def plan_of(migration: Migration) -> Plan:
    assert migration.packs is not None
    return migration.packs


def patched(migration: Migration, name: str = "model-resumable.yaml") -> Any:
    return yaml.safe_load(migration.files[name])


def section(migration: Migration) -> dict[str, Any]:
    found = patched(migration)["data"]["train_ds"]
    assert isinstance(found, dict)
    return found


def report(migration: Migration) -> str:
    return migration.files["migration-report.md"].decode()


def test_packs_are_declared_on_the_owning_entries_and_nothing_else_changes(tmp_path: Path) -> None:
    config = train(BOOKS, TALKS, SMALL, SHAR)
    migration = migrated(project(tmp_path, {"conf/model.yaml": config}))
    wanted = train({**BOOKS, "index_pack": "books.idxpack"}, {**TALKS, "index_pack": "talk-shows.idxpack"}, SMALL, SHAR)
    wanted["data"]["train_ds"]["index_pack_root"] = "/shared/packs"
    assert patched(migration) == wanted
    assert yaml.safe_load((tmp_path / "conf" / "model.yaml").read_text()) == config
    assert [pack.name for pack in plan_of(migration).declared] == ["books.idxpack", "talk-shows.idxpack"]
    assert "index pack: was absent" in migration.files["model-resumable.yaml"].decode()
    plain = migrated(project(tmp_path, {}), annotate=False)
    assert "#" not in plain.files["model-resumable.yaml"].decode()
    assert patched(plain) == wanted


def test_what_packs_do_not_support_stays_and_is_reported_with_the_reason(tmp_path: Path) -> None:
    nested = {
        "type": "nemo_tarred",
        "weight": 0.1,
        "manifest_filepath": [["/data/x/manifest__OP_0..999_CL_.jsonl"], ["/data/y/manifest__OP_0..999_CL_.jsonl"]],
        "tarred_audio_filepaths": [["/data/x/audio__OP_0..999_CL_.tar"], ["/data/y/audio__OP_0..999_CL_.tar"]],
    }
    mixed = {"type": "group", "weight": 0.1, "input_cfg": [{**TALKS, "weight": 1}, {**SHAR, "weight": 1}]}
    remote = {**BOOKS, "weight": 0.1, "manifest_filepath": "s3://speech/books/manifest__OP_0..1999_CL_.jsonl"}
    unindexed = {**BOOKS, "weight": 0.1, "extra_fields": [{"type": "text_iter", "name": "q", "path": "/q.txt"}]}
    migration = migrated(project(tmp_path, {"conf/model.yaml": train(SHAR, nested, mixed, remote, unindexed, SMALL)}))
    plan = plan_of(migration)
    assert not plan.declared
    assert plan.small == 1
    reasons = [kept.reason for kept in plan.kept]
    assert [len(reasons), *(reason.split(" (")[0] for reason in reasons[:3])] == [
        5,
        "`lhotse_shar` has no packed reader",
        "`manifest_filepath` is a nested or weighted list, and packs take one path or a flat list",
        "`lhotse_shar` has no packed reader",
    ]
    assert "s3://" in reasons[3]
    assert "NR301" in reasons[4]
    text = report(migration)
    assert all(reason in text for reason in reasons)
    assert "1 outer dataset has fewer than 1,000 shards" in text
    assert b"convert_indexes_to_idxpack" not in migration.files["build-indexes-cmd.sh"]
    assert b"index_pack" not in migration.files.get("model-resumable.yaml", b"")


def test_without_a_folder_for_packs_nothing_is_declared_and_that_is_said(tmp_path: Path) -> None:
    migration = migrated(project(tmp_path, {"conf/model.yaml": train(BOOKS, TALKS)}, root=None))
    assert plan_of(migration).rootless
    assert migration.patched_config is None
    assert "No folder for index packs is known, so none is declared" in report(migration)
    assert not [name for name in migration.files if "pack" in name]


def test_the_root_that_the_config_states_is_taken(tmp_path: Path) -> None:
    migration = migrated(
        project(tmp_path, {"conf/model.yaml": train(BOOKS, SMALL, index_pack_root="/own/packs")}, root=None)
    )
    assert section(migration)["index_pack_root"] == "/own/packs"
    assert section(migration)["input_cfg"][0]["index_pack"] == "books.idxpack"
    assert b'INDEX_PACK_ROOT="/own/packs"' in migration.files["build-indexes-cmd.sh"]


def test_a_root_on_object_storage_is_none(tmp_path: Path) -> None:
    migration = migrated(project(tmp_path, {"conf/model.yaml": train(BOOKS, SMALL)}, root="s3://speech/packs"))
    assert "packs have to be local" in plan_of(migration).kept[0].reason


def test_a_lone_group_is_looked_through_since_its_pack_would_hold_the_whole_mixture(tmp_path: Path) -> None:
    migration = migrated(project(tmp_path, {"conf/model.yaml": train({"type": "group", "input_cfg": [BOOKS, TALKS]})}))
    (group,) = section(migration)["input_cfg"]
    assert "index_pack" not in group
    assert [entry["index_pack"] for entry in group["input_cfg"]] == ["books.idxpack", "talk-shows.idxpack"]


def test_a_pack_for_the_whole_mixture_is_not_converted(tmp_path: Path) -> None:
    migration = migrated(project(tmp_path, {"conf/model.yaml": train(BOOKS, TALKS, index_pack="/p/all.idxpack")}))
    assert not plan_of(migration).declared
    assert b"all.idxpack" not in migration.files["build-indexes-cmd.sh"]


def test_the_threshold_is_a_setting(tmp_path: Path) -> None:
    files = {"conf/model.yaml": train(SMALL, {**SMALL, "name": "other", "weight": 1})}
    assert not plan_of(migrated(project(tmp_path, files))).declared
    plan = plan_of(migrated(project(tmp_path, files, pack_threshold=10)))
    assert [pack.name for pack in plan.declared] == ["small.idxpack", "other.idxpack"]


def test_names_are_fit_for_files_and_no_two_are_the_same(tmp_path: Path) -> None:
    entries = [
        {**BOOKS, "name": "a/b c"},
        {**BOOKS, "name": "Größe: 1"},
        BOOKS,
        {**BOOKS, "manifest_filepath": "/data/books/manifests/manifest__OP_0..1999_CL_.jsonl"},
        {**BOOKS, "index_pack": "/p/books-2.idxpack"},
    ]
    names = [pack.name for pack in plan_of(migrated(project(tmp_path, {"conf/model.yaml": train(*entries)}))).declared]
    assert names == ["/p/books-2.idxpack", "books.idxpack", "Gr-e-1.idxpack", "books-3.idxpack", "books-4.idxpack"]


BLEND = """\
# what is mixed
- type: group
  weight: 0.9
  input_cfg: parts/books.yaml  # two languages
- type: nemo_tarred
  weight: 0.1
  indexed: false
  manifest_filepath: /data/small/manifest__OP_0..9_CL_.jsonl
  tarred_audio_filepaths: /data/small/audio__OP_0..9_CL_.tar
"""
PART = """\
- type: nemo_tarred
  manifest_filepath: /data/en/manifest__OP_0..999_CL_.jsonl
  tarred_audio_filepaths: /data/en/audio__OP_0..999_CL_.tar
- type: nemo_tarred
  manifest_filepath: ${oc.env:DE}/manifest__OP_0..999_CL_.jsonl
  tarred_audio_filepaths: ${oc.env:DE}/audio__OP_0..999_CL_.tar
"""


def blended(folder: Path, root: str | None = "/shared/packs", **settings: Any) -> Project:
    config = train()
    config["data"]["train_ds"] |= {"input_cfg": "blends/train.yaml", "indexed": False}
    config["data"]["validation_ds"] = {"batch_size": 4, "seed": 42, "shard_seed": 42, "input_cfg": "blends/train.yaml"}
    files = {"conf/model.yaml": config, "blends/train.yaml": BLEND, "blends/parts/books.yaml": PART}
    return project(folder, files, root, **settings)


def test_an_entry_of_a_blend_is_patched_in_the_blend_and_both_datasets_that_read_it_get_the_root(
    tmp_path: Path,
) -> None:
    migration = migrated(blended(tmp_path))
    blend = patched(migration, "train-resumable.yaml")
    assert blend[0]["index_pack"] == "books.idxpack"
    assert "index_pack" not in blend[1]
    assert set(migration.patched_blends) == {tmp_path / "blends" / "train.yaml"}
    data = patched(migration)["data"]
    assert (data["train_ds"]["index_pack_root"], data["validation_ds"]["index_pack_root"]) == ("/shared/packs",) * 2
    assert data["validation_ds"]["indexed"] is True  # a pack without indexes would raise there
    assert "| books | train.yaml:2 | 2,000 | `books.idxpack` | new |" in report(migration)
    again = analyze(migration.project, [migration.folder / "model-resumable.yaml"])
    assert not {finding.code for finding in again.findings if finding.severity.blocks}


FAKE = "import json, os, sys\nprint(json.dumps([os.path.basename(sys.argv[0]), os.getcwd(), *sys.argv[1:]]))\n"


def ran(migration: Migration, folder: Path, **environment: str) -> list[list[str]]:
    """What the script calls, in order: file name, working folder, arguments."""
    script = migration.folder / "build-indexes-cmd.sh"
    subprocess.run(["bash", "-n", str(script)], check=True)
    checker = shutil.which("shellcheck") or str(Path(sys.executable).with_name("shellcheck"))
    subprocess.run([checker, str(script)], check=True)
    scripts = folder / "NeMo" / "scripts" / "dataloading"
    scripts.mkdir(parents=True, exist_ok=True)
    for name in ("build_indexes.py", "convert_indexes_to_idxpack.py"):
        (scripts / name).write_text(FAKE)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    given = {**os.environ, "NEMO": str(folder / "NeMo"), "PATH": path, **environment}
    done = subprocess.run([str(script)], env=given, capture_output=True, text=True, check=True, cwd="/")
    return [yaml.safe_load(line) for line in done.stdout.splitlines() if line.startswith("[")]


@pytest.mark.parametrize("root", ["/shared/packs", '/odd "name"/$x`y`', "/i'd {x}/$(touch PWN)"])
def test_the_script_builds_the_sidecars_and_then_converts_each_pack_from_its_own_sources(
    tmp_path: Path, root: str
) -> None:
    migration = migrated(blended(tmp_path, root))
    calls = ran(migration, tmp_path)
    assert [call[0] for call in calls] == ["build_indexes.py", "convert_indexes_to_idxpack.py"]
    _, cwd, *words = calls[1]
    assert Path(cwd) == tmp_path
    assert words[words.index("--output") + 1] == f"{root}/books.idxpack"
    assert words[words.index("--indexes-root") + 1] == "/shared/idx"
    assert "--overwrite" in words
    sources = yaml.safe_load(Path(words[-1]).read_text())
    assert [source["manifest_filepath"] for source in sources] == [
        "/data/en/manifest__OP_0..999_CL_.jsonl",
        "${oc.env:DE}/manifest__OP_0..999_CL_.jsonl",
    ]
    assert not (tmp_path / "PWN").exists()


def test_folders_can_be_given_to_the_script(tmp_path: Path) -> None:
    migration = migrated(blended(tmp_path))
    words = ran(migration, tmp_path, INDEXES_ROOT="/i", INDEX_PACK_ROOT="/p")[1]
    assert {"/i", "/p/books.idxpack"} <= set(words)


def test_a_folder_from_the_environment_has_to_be_given(tmp_path: Path) -> None:
    options = {"index_pack_root": "${oc.env:PACKS}", "indexes_root": "${oc.env:IDX}"}
    migration = migrated(project(tmp_path, {"conf/model.yaml": train(BOOKS, SMALL, **options)}))
    assert section(migration)["index_pack_root"] == "${oc.env:PACKS}"
    with pytest.raises(subprocess.CalledProcessError) as raised:
        ran(migration, tmp_path)
    assert "INDEXES_ROOT: set it to the folder" in raised.value.stderr
    assert "/p/books.idxpack" in ran(migration, tmp_path, INDEXES_ROOT="/i", INDEX_PACK_ROOT="/p")[1]


def test_each_pack_is_converted_from_the_sidecars_of_its_own_root(tmp_path: Path) -> None:
    entries = [BOOKS, {**TALKS, "indexes_root": "/other/idx"}]
    calls = ran(migrated(project(tmp_path, {"conf/model.yaml": train(*entries)})), tmp_path)
    roots = [call[call.index("--indexes-root") + 1] for call in calls]
    assert roots == ["/shared/idx", "/shared/idx", "/other/idx"]


def test_beside_a_wrapper_of_the_project_the_converter_still_comes_from_the_checkout(tmp_path: Path) -> None:
    wrapper = "#!/usr/bin/env python\n" + FAKE
    files = {"conf/model.yaml": train(BOOKS, SMALL), "scripts/build_all_indexes.py": wrapper}
    calls = ran(migrated(project(tmp_path, files)), tmp_path)
    assert [call[0] for call in calls] == ["build_all_indexes.py", "convert_indexes_to_idxpack.py"]


def test_a_collection_keeps_its_route_and_what_the_route_is_built_from(tmp_path: Path) -> None:
    chat = {
        "type": "share_gpt",
        "manifest_filepath": ["/data/chat/a.jsonl", "/data/chat/b.jsonl"],
        "tarred_audio_filepaths": "/data/chat/audio_{0..1999}.tar",
        "audio_placeholders": ["<sound>"],
        "audio_path_prefix_map": {"/old": "/new"},
        "tar_lookup_mode": "collection",
        "tar_routing_filepath": "chat.sgroute",
        "tags": {"lang": "en"},
    }
    migration = migrated(project(tmp_path, {"conf/model.yaml": train(chat)}))
    document = patched(migration, "model-chat-pack-input-cfg.yaml")
    assert document == [{key: value for key, value in chat.items() if key != "tags"}]


def test_a_section_that_names_its_data_itself_gets_its_pack_there(tmp_path: Path) -> None:
    flat = {**SECTION, "use_lhotse": True, **{key: BOOKS[key] for key in BOOKS if key not in ("type", "weight")}}
    migration = migrated(project(tmp_path, {"conf/model.yaml": {"model": {"train_ds": flat}}}))
    got = patched(migration)["model"]["train_ds"]
    assert (got["index_pack"], got["index_pack_root"]) == ("books.idxpack", "/shared/packs")
    calls = ran(migration, tmp_path)
    assert calls[1][0] == "convert_indexes_to_idxpack.py"
    assert yaml.safe_load(Path(calls[1][-1]).read_text())[0]["type"] == "nemo_tarred"


def test_a_second_run_writes_the_same_and_the_patched_copy_needs_nothing_more(tmp_path: Path) -> None:
    files = {"conf/model.yaml": train(BOOKS, TALKS, SMALL)}
    first, second = (migrated(project(tmp_path, files)) for _ in range(2))
    assert dict(first.files) == dict(second.files)
    copy = (first.folder / "model-resumable.yaml").read_text()
    again = migrated(project(tmp_path, {"conf/next.yaml": copy}), "conf/next.yaml")
    assert again.patched_config is None
    assert [(pack.name, pack.new) for pack in plan_of(again).declared] == [
        ("books.idxpack", False),
        ("talk-shows.idxpack", False),
    ]
    assert len(ran(again, tmp_path)) == 3


def test_packs_that_the_script_will_build_are_not_held_against_the_copy_but_check_looks_for_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "packs").mkdir()
    migration = migrated(project(tmp_path, {"conf/model.yaml": train(BOOKS, SMALL)}, root=str(tmp_path / "packs")))
    assert not [finding for finding in migration.after.findings if finding.severity.blocks]
    copy = [migration.folder / "model-resumable.yaml"]
    assert "NR331" in {finding.code for finding in analyze(migration.project, copy).findings}
    (tmp_path / "packs" / "books.idxpack").touch()
    assert "NR331" not in {finding.code for finding in analyze(migration.project, copy).findings}


def test_packs_are_only_made_when_asked_for(tmp_path: Path) -> None:
    migration = prepare(project(tmp_path, {"conf/model.yaml": train(BOOKS, TALKS)}), tmp_path / "conf" / "model.yaml")
    assert migration.packs is None
    assert "## Index packs" not in report(migration)
    assert migration.patched_config is None


def test_a_group_whose_blend_is_not_here_is_not_packed(tmp_path: Path) -> None:
    inner = [{**BOOKS, "weight": 1}, {"type": "group", "weight": 1, "input_cfg": "gone.yaml"}]
    group = {"type": "group", "weight": 0.5, "input_cfg": inner}
    plan = plan_of(migrated(project(tmp_path, {"conf/model.yaml": train(group, SMALL)})))
    assert [kept.reason for kept in plan.kept] == ["a blend below it could not be read"]


FLOW = (
    "{type: nemo_tarred, weight: 0.5, manifest_filepath: /d/manifest__OP_0..999_CL_.json, "
    "tarred_audio_filepaths: /d/audio__OP_0..999_CL_.tar}"
)
MERGED = """<<: {type: nemo_tarred, weight: 0.5}
        manifest_filepath: /d/manifest__OP_0..999_CL_.json
        tarred_audio_filepaths: >-
          /d/audio__OP_0..999_CL_.tar
        # at the end"""
ALIASED = """&a
        type: nemo_tarred
        weight: 0.5
        manifest_filepath: /d/manifest__OP_0..999_CL_.json
        tarred_audio_filepaths: /d/audio__OP_0..999_CL_.tar
      - *a"""


def spelled(entry: str) -> str:
    options = "".join(f"    {key}: {yaml.safe_dump(value).split()[0]}\n" for key, value in SECTION.items())
    group = "      - type: group\n        weight: 0.1\n        input_cfg: gone.yaml\n"
    return f"data:\n  train_ds:\n{options}    input_cfg:\n{group}      - {entry}\n"


@pytest.mark.parametrize("entry", [FLOW, MERGED], ids=["flow", "merged"])
def test_every_spelling_of_an_entry_keeps_what_it_says(tmp_path: Path, entry: str) -> None:
    config = spelled(entry)
    migration = migrated(project(tmp_path, {"conf/model.yaml": config}))
    before, after = yaml.safe_load(config), patched(migration)
    assert after["data"]["train_ds"].pop("index_pack_root") == "/shared/packs"
    assert after["data"]["train_ds"]["input_cfg"][1].pop("index_pack") == "d.idxpack"
    assert after == before


def test_an_entry_that_stands_in_two_places_is_left_as_it_is(tmp_path: Path) -> None:
    migration = migrated(project(tmp_path, {"conf/model.yaml": spelled(ALIASED)}))
    assert migration.patched_config is None
    assert "used in other places too" in plan_of(migration).kept[0].reason


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"profile": "nemo-3.0.0"}, "nemo_toolkit 3.0.0 has no index packs"),
        ({"runtime": {"packages": {"lhotse": "2.0.0a2"}}}, "lhotse 2.0.0a2 has no index packs"),
        (
            {"runtime": {"packages": {"lhotse": "2.0.0a4"}}},
            "lhotse 2.0.0a4 reads no packs with routes from rows to tars",
        ),
    ],
)
def test_a_runtime_that_cannot_read_them_gets_no_packs(tmp_path: Path, settings: dict[str, Any], reason: str) -> None:
    plan = plan_of(migrated(project(tmp_path, {"conf/model.yaml": train(BOOKS, SMALL)}, **settings)))
    assert [kept.reason for kept in plan.kept] == [reason]
    assert not plan.declared

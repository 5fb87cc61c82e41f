"""Settings: which file is found, what its keys mean, and what is said of a key that is wrong."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import pytest
from nemo_resumable.core.settings import Settings, SettingsError, as_table, check_rules, load_settings, merged

KNOWN = ["NR", "NR1", "NR11", "NR110", "unfixed-shard-seed"]


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "conf" / "asr").mkdir(parents=True)
    return tmp_path


def own(folder: Path, text: str) -> Path:
    file = folder / ".nemo-resumable.toml"
    file.write_text(text, encoding="utf-8")
    return file


def refusal(folder: Path, text: str) -> str:
    file = own(folder, text)
    with pytest.raises(SettingsError) as caught:
        load_settings(folder)
    return str(caught.value).replace(str(file), "FILE")


def test_no_file(top: Path) -> None:
    assert load_settings(top / "conf") == Settings(top)


def test_defaults(top: Path) -> None:
    settings = load_settings(top)
    assert (settings.seed, settings.walltime_margin, settings.pack_threshold) == (42, 10, 1000)
    assert settings.scope == "lhotse"
    assert settings.launch_dir is None
    assert not settings.require_suppression_reason


def test_every_key(top: Path) -> None:
    own(
        top,
        """
        launch-dir = "work"
        profile = "nemo-3.0.0"
        scope = "opted-in"
        select = ["nr1", "NR301"]
        ignore = ["unfixed-shard-seed"]
        exclude = ["third_party"]
        seed = 7
        indexes-root = "/shared/idx"
        index-pack-root = "/shared/packs"
        runtime = "runtime.toml"
        nemo = "../NeMo"
        lhotse = "/opt/lhotse"
        walltime-margin = 15
        pack-threshold = 500
        require-suppression-reason = true
        baseline = "known.json"
        [severity]
        nr113 = "error"
        [per-file-ignores]
        "conf/old/*" = ["NR1"]
        [variables]
        data_blend_dir = "conf/blends"
        [launchers]
        "conf/a.yaml" = "train.sh"
        """,
    )
    settings = load_settings(top / "conf" / "asr")
    assert settings == Settings(
        root=top,
        file=top / ".nemo-resumable.toml",
        launch_dir=top / "work",
        profile="nemo-3.0.0",
        scope="opted-in",
        select=("NR1", "NR301"),
        ignore=("unfixed-shard-seed",),
        severity={"NR113": "error"},
        per_file_ignores={"conf/old/*": ("NR1",)},
        exclude=("third_party",),
        seed=7,
        indexes_root="/shared/idx",
        index_pack_root="/shared/packs",
        variables={"data_blend_dir": "conf/blends"},
        launchers={"conf/a.yaml": "train.sh"},
        runtime="runtime.toml",
        nemo=top / "../NeMo",
        lhotse=Path("/opt/lhotse"),
        walltime_margin=15,
        pack_threshold=500,
        require_suppression_reason=True,
        baseline=top / "known.json",
    )
    assert set(as_table(settings)) == {field.name.replace("_", "-") for field in fields(Settings)}


def test_runtime_table_is_kept_as_it_is(top: Path) -> None:
    own(top, "[runtime]\nworkers = 4\n[runtime.packages]\nlhotse = '2.0.0a7'\n")
    assert load_settings(top).runtime == {"workers": 4, "packages": {"lhotse": "2.0.0a7"}}


def test_nearest_file_wins(top: Path) -> None:
    (top / "pyproject.toml").write_text("[tool.nemo-resumable]\nseed = 1\n", encoding="utf-8")
    (top / "conf" / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert load_settings(top / "conf" / "asr").seed == 1, "a pyproject.toml without our table is passed over"
    own(top / "conf", "seed = 2")
    assert load_settings(top / "conf" / "asr").seed == 2
    own(top, "seed = 3")
    assert load_settings(top).seed == 3, "of two in one folder, the file of our own name"


def test_a_file_as_the_start(top: Path) -> None:
    own(top, "seed = 3")
    config = top / "conf" / "a.yaml"
    config.touch()
    assert load_settings(config).seed == 3


def test_search_ends_at_the_repository(top: Path) -> None:
    own(top, "seed = 3")
    inner = top / "conf" / "module"
    inner.mkdir()
    (inner / ".git").write_text("gitdir: ../../.git/modules/module\n", encoding="utf-8")
    assert load_settings(inner) == Settings(inner)


def test_memo_gives_the_same_answers(top: Path) -> None:
    own(top / "conf", "seed = 3")
    memo: dict[Path, Settings] = {}
    folders = [top / "conf" / "asr", top / "conf", top, top / "conf" / "asr"]
    assert [load_settings(folder, memo) for folder in folders] == [load_settings(folder) for folder in folders]


def test_foreign_pyproject_is_not_judged(top: Path) -> None:
    (top / "pyproject.toml").write_text("this is [not toml", encoding="utf-8")
    assert load_settings(top) == Settings(top)


def test_byte_order_mark(top: Path) -> None:
    (top / ".nemo-resumable.toml").write_bytes(b"\xef\xbb\xbfseed = 3\n")
    assert load_settings(top).seed == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nwalltime-margn = 3", "FILE:2: `walltime-margn` is no setting; did you mean `walltime-margin`?"),
        ("indexes_root = 'x'", "FILE:1: `indexes_root` is no setting; did you mean `indexes-root`?"),
        ("zzz = 1", "FILE:1: `zzz` is no setting"),
        ("[zzz]\na = 1", "FILE:1: `zzz` is no setting"),
        ("# a\nseed = '42'", "FILE:2: `seed` has to be a whole number from 0 on"),
        ("seed = true", "FILE:1: `seed` has to be a whole number from 0 on"),
        ("seed = -1", "FILE:1: `seed` has to be a whole number from 0 on"),
        ("pack-threshold = 0", "FILE:1: `pack-threshold` has to be a whole number of shards from 1 on"),
        ("walltime-margin = 2.5", "FILE:1: `walltime-margin` has to be a whole number of minutes from 0 on"),
        ("launch-dir = 3", "FILE:1: `launch-dir` has to be a string"),
        ("launch-dir = ''", "FILE:1: `launch-dir` has to be a string"),
        ("select = 'NR1'", "FILE:1: `select` has to be a list of strings"),
        ("exclude = [1]", "FILE:1: `exclude` has to be a list of strings"),
        ("scope = 'all'", 'FILE:1: `scope` has to be "lhotse" or "opted-in"'),
        ("require-suppression-reason = 1", "FILE:1: `require-suppression-reason` has to be true or false"),
        ("variables = 'x'", "FILE:1: `variables` has to be a table of strings"),
        ("[variables]\na = 'x'\nb = 4", "FILE:3: `variables.b` has to be a string"),
        ("variables.b = 4", "FILE:1: `variables.b` has to be a string"),
        (
            "seed = 1\n[severity]\nNR110 = 'warn'",
            "FILE:3: `severity.NR110` has to be fatal, error, warning or note; did you mean `warning`?",
        ),
        ("severity = { NR110 = 3 }", "FILE:1: `severity.NR110` has to be fatal, error, warning or note"),
        ("[per-file-ignores]\n'a/*' = 'NR1'", "FILE:2: `per-file-ignores.a/*` has to be a list of rules"),
        ("runtime = 3", "FILE:1: `runtime` has to be a file name or a table"),
        (
            "seed = 1\n[runtime]\nworkerz = 4",
            "FILE:3: `workerz` is nothing that a runtime context says; did you mean `workers`?",
        ),
        ("[runtime]\nnodes = 0", "FILE:2: `nodes` has to be a whole number of nodes from 1 on"),
        ("seed = ", "FILE: the file is no TOML: Invalid value (at end of document)"),
    ],
)
def test_wrong_settings(top: Path, text: str, message: str) -> None:
    assert refusal(top, text) == message


def test_line_of_a_key_in_pyproject(top: Path) -> None:
    file = top / "pyproject.toml"
    file.write_text(
        "[project]\nname = 'x'\nseed = 'not ours'\n\n[tool.other]\nseed = 'nor this'\n\n"
        "[tool.nemo-resumable]  # ours\nseed = 'x'\n",
        encoding="utf-8",
    )
    with pytest.raises(SettingsError, match=r"pyproject\.toml:9: `seed` has to be"):
        load_settings(top)


@pytest.mark.parametrize(
    "name", ["nemo-resumable.toml", ".nemo_resumable.toml", ".nemo-resumable", ".nemo-resumable.yaml"]
)
def test_a_file_under_the_wrong_name(top: Path, name: str) -> None:
    (top / name).touch()
    with pytest.raises(SettingsError, match=r"is not read under this name; rename it to `\.nemo-resumable\.toml`"):
        load_settings(top / "conf")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.nemo_resumable]\nseed = 1\n", r"call it `\[tool\.nemo-resumable\]`"),
        ("[tool]\nnemo-resumable = 1\n", "has to be a table"),
    ],
)
def test_a_table_that_was_meant_to_be_ours(top: Path, text: str, message: str) -> None:
    (top / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=message):
        load_settings(top)


def test_not_utf8(top: Path) -> None:
    (top / ".nemo-resumable.toml").write_bytes(b"profile = '\xff'")
    with pytest.raises(SettingsError, match=r"the settings are not UTF-8 \(byte 11\)"):
        load_settings(top)


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root reads everything")
def test_unreadable(top: Path) -> None:
    own(top, "seed = 1").chmod(0)
    with pytest.raises(SettingsError, match="cannot be read: Permission denied"):
        load_settings(top)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select = ['NR111']", r":1: `NR111` is no rule; did you mean `NR11"),
        (
            "seed = 1\nignore = ['unfixed-shardseed']",
            ":2: `unfixed-shardseed` is no rule; did you mean `unfixed-shard-",
        ),
        ("[severity]\nNR11 = 'note'", ":2: `NR11` is no rule"),
        ("[per-file-ignores]\n'a/*' = ['zzz']", ":2: `zzz` is no rule"),
    ],
)
def test_rules_that_are_none(top: Path, text: str, message: str) -> None:
    own(top, text)
    with pytest.raises(SettingsError, match=message):
        check_rules(load_settings(top), KNOWN)


def test_rules_that_are_known(top: Path) -> None:
    own(top, "select = ['nr1']\nignore = ['unfixed-shard-seed']\nseverity = { nr110 = 'note' }")
    check_rules(load_settings(top), KNOWN)


def test_merged(top: Path) -> None:
    settings = Settings(top, seed=3, ignore=("NR1",))
    assert merged(settings, seed=None, ignore=(), scope="opted-in") == Settings(top, seed=3, scope="opted-in")

"""Names and values that would run something, or pass for something else, in the artifacts: they stay names and values."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from nemo_resumable.hooks.cli import main

SHELL = {
    "substitution": "a$(touch PWNED)b",
    "backticks": "a`touch PWNED`b",
    "separator": "a;touch PWNED;b",
    "quotes": "a'\"; touch PWNED #b",
    "a new line": "a\ntouch PWNED\nb",
    "a carriage return": "a\r\ntouch PWNED\r\nb",
    "an option": "-c touch PWNED",
    "expansion": "${PATH}$HOME~*?[a]{b,c}!!",
    "a backslash": "a\\",
    "a comment": "a # b",
}
MARKDOWN = {
    "a cell": "a | b",
    "a heading": "a\n# Launch-ready\nb",
    "code ended": "a` **b** `c``` d",
    "an element": "<script>alert(1)</script>",
    "a comment ended": "a --> b <!-- c",
    "a picture": "![a](https://example.org/a.png)",
    "a fence": "a\n```\nb",
}
HOSTILE = SHELL | MARKDOWN


def project(folder: Path, word: str) -> str:
    """A project whose values all hold the word, and whose files are called so as far as names may; the config's path."""
    name = word.replace("/", "_").replace("\0", "_")
    (folder / ".git").mkdir()
    conf = folder / f"conf {name}"
    conf.mkdir()
    scripts = folder / "scripts"
    scripts.mkdir()
    source = {
        "type": "nemo_tarred",
        "manifest_filepath": f"/data/{word}/manifest__OP_0..3_CL_.json",
        "tarred_audio_filepaths": f"/data/{word}/audio__OP_0..3_CL_.tar",
        "index_pack": f"packs {word}.idxpack",
        "weight": 1.0,
        word: word,
    }
    blocked = {"type": "nemo", "manifest_filepath": f"pipe:cat {word}", "text_field": word}
    config = {
        "data": {
            "train_ds": {
                "indexed": False,
                "seed": word,
                "shard_seed": word,
                "shuffle": True,
                "num_workers": 2,
                "batch_size": 4,
                "indexes_root": f"/idx/{word}",
                "index_pack_root": f"/packs/{word}",
                "input_cfg": f"blend {name}.yaml",
                word: word,
            },
            "validation_ds": {
                "datasets": {word: {"input_cfg": [source | {"tags": {"a": word}}, blocked], "batch_size": 1}}
            },
        },
        "exp_manager": {"explicit_log_dir": word, "name": word},
    }
    (conf / f"model {name}.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    blend = [source, blocked, {"type": "group", "input_cfg": [source]}]
    (folder / f"blend {name}.yaml").write_text(yaml.safe_dump(blend, allow_unicode=True), encoding="utf-8")
    (folder / f"run {name}.sh").write_text(f"python train.py --config-name 'model {name}' exp_manager.name={name!r}\n")
    return str(Path(conf.name) / f"model {name}.yaml")


def migrated(folder: Path, word: str, monkeypatch: pytest.MonkeyPatch, *more: str) -> Path:
    """Migrate the project of a word; the folder of the artifacts."""
    config = project(folder, word)
    monkeypatch.chdir(folder)
    assert main(["migrate", *more, "--", config]) in (0, 1)
    made = [path.parent for path in (folder / "migrate-resumable").rglob("build-indexes-cmd.sh")]
    assert len(made) == 1
    return made[0]


@pytest.mark.parametrize("own", [False, True], ids=["NeMo's builder", "a wrapper"])
@pytest.mark.parametrize("more", [(), ("--packs", "--exclude-blocked")], ids=["plain", "with packs"])
@pytest.mark.parametrize("word", HOSTILE.values(), ids=HOSTILE)
def test_the_script_runs_the_builder_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, more: tuple[str, ...], own: bool
) -> None:
    repository = tmp_path / "r"
    repository.mkdir()
    wrapper = f"build_index {word.replace('/', '_')}.py"
    if own:
        (repository / "scripts").mkdir()
        (repository / "scripts" / wrapper).write_text("")
        monkeypatch.setattr(Path, "mkdir", _mkdir_anyway(Path.mkdir))
    made = migrated(repository, word, monkeypatch, *more)
    script = made / "build-indexes-cmd.sh"
    text = script.read_text(encoding="utf-8")
    subprocess.run(["bash", "-n", str(script)], check=True)
    checker = shutil.which("shellcheck") or str(Path(sys.executable).with_name("shellcheck"))
    subprocess.run([checker, "-S", "warning", str(script)], check=True)
    stubs = tmp_path / "bin"
    stubs.mkdir()
    stub = stubs / "python"
    stub.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    stub.chmod(0o755)
    environment = {
        "PATH": f"{stubs}:{os.environ['PATH']}",
        "NEMO": "/nemo",
        "HOME": str(tmp_path),
        "INDEXES_ROOT": "/idx",
    }
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run([str(script)], env=environment, capture_output=True, text=True, cwd=work, check=False)
    assert not list(tmp_path.rglob("PWNED")), text
    assert done.stderr == "" or "can be indexed yet" in done.stderr or "set it to" in done.stderr, (done.stderr, text)
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    builders = ("/nemo/scripts/dataloading/build_indexes.py", "/nemo/scripts/dataloading/convert_indexes_to_idxpack.py")
    for arguments in runs:
        assert arguments[0] in builders or (own and arguments[0].endswith(f"/scripts/{wrapper}"))
        options = [each for each in arguments[1:] if each.startswith("-")]
        assert set(options) <= {"--indexes-root", "--workers", "--output", "--overwrite"}, options
        documents = [each for each in arguments if each.endswith(".yaml")]
        assert documents
        for document in documents:
            assert isinstance(yaml.safe_load((repository / document).read_text(encoding="utf-8")), list)


def _mkdir_anyway(mkdir):  # type: ignore[no-untyped-def]
    return lambda self, mode=0o777, parents=False, exist_ok=False: mkdir(self, mode, parents, True)


@pytest.mark.parametrize("word", HOSTILE.values(), ids=HOSTILE)
def test_patched_copies_hold_the_values_of_their_originals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    made = migrated(tmp_path, word, monkeypatch)
    before = yaml.safe_load(next(tmp_path.glob("conf */*.yaml")).read_text(encoding="utf-8"))
    (patched,) = [path for path in made.glob("*-resumable.yaml") if path.name.startswith("model")]
    after = yaml.safe_load(patched.read_text(encoding="utf-8"))
    assert set(after) - set(before) <= {"trainer"}
    assert after["data"]["train_ds"][word] == word
    assert after["exp_manager"]["name"] == word


def _prose(text: str) -> list[str]:
    """The lines of Markdown outside of fences, without code spans and escaped characters."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        opened = re.match(r" {0,3}(```+)", line)
        if fence:
            fence = "" if opened and set(line.strip()) == {"`"} and len(opened[1]) >= len(fence) else fence
        elif opened:
            fence = opened[1]
        else:
            lines.append(re.sub(r"\\.", "", re.sub(r"(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", line)))
    assert not fence, "a fence is left open"
    return lines


@pytest.mark.parametrize("word", MARKDOWN.values(), ids=MARKDOWN)
def test_the_report_and_the_checklist_keep_their_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    """Headings, rows, fences and comments are ours alone, and there is neither an element nor a link."""
    headings = []
    for number, each in enumerate(("abc", word)):
        folder = tmp_path / str(number)
        folder.mkdir()
        made = migrated(folder, each, monkeypatch)
        for name in ("migration-report.md", "pre-flight-checklist.md"):
            text = (made / name).read_text(encoding="utf-8")
            lines = _prose(text)
            marks = [line for line in lines if line.startswith("<!-- ")]
            assert all(line.count("-->") == 1 and line.endswith(" -->") for line in marks)
            assert not [line for line in lines if re.search(r"<[A-Za-z/!?]|\]\(", line) and line not in marks]
            assert len(marks) == (2 if name == "migration-report.md" else 0)
            headings.append([line.split()[0] for line in lines if line.startswith("#")])
            for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
                assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1, table
    assert headings[:2] == headings[2:]


@pytest.mark.parametrize("variable", ["SECRET_TOKEN", "AIS_ENDPOINT", "AWS_SECRET_ACCESS_KEY"])
def test_no_artifact_holds_a_value_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variable: str
) -> None:
    monkeypatch.setenv(variable, "hunter2hunter2")
    made = migrated(tmp_path, f"${{oc.env:{variable}}}", monkeypatch)
    for path in made.iterdir():
        assert "hunter2" not in path.read_text(encoding="utf-8"), path.name
    for form in ("full", "json", "sarif", "github"):
        main(["check", "--format", form, "."])
        said = capsys.readouterr()
        assert "hunter2" not in said.out + said.err

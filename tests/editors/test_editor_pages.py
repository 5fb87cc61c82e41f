"""The pages for the other editors: their snippets are read as those editors read them, and tried where an editor is there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from editor_pieces import scripts
from nemo_resumable.core.settings import SCHEMA

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
EDITORS = HERE.parents[1] / "editors"
PAGES = sorted(EDITORS.glob("*.md"))
SETTINGS = json.loads(SCHEMA.read_text(encoding="utf-8"))["properties"]


def _snippets(name: str, language: str) -> list[str]:
    text = (EDITORS / name).read_text(encoding="utf-8")
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", text, re.S | re.M)
    assert found, f"{name} has no {language}"
    return [re.sub(rf"^{indent}", "", body, flags=re.M) for indent, body in found]


def _is_command(words: list[str]) -> bool:
    """Whether words start the server: the command line knows them."""
    program, *arguments = words
    command = [scripts() / program, *arguments, "--help"]
    return subprocess.run(command, capture_output=True).returncode == 0 and arguments[:1] == ["lsp"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_five_steps(page: Path) -> None:
    """Install, open, see what is wrong, fix it."""
    steps = re.findall(r"^(\d)\. ", page.read_text(encoding="utf-8"), re.M)
    assert 3 <= len(steps) <= 5
    assert "pip install PATH" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_that_are_named_exist(page: Path) -> None:
    for name in re.findall(r"\]\(((?!https?:)[^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (EDITORS / name).exists(), name


def test_helix() -> None:
    (snippet,) = _snippets("helix.md", "toml")
    table = tomllib.loads(snippet)
    server = table["language-server"]["nemo-resumable"]
    assert _is_command([server["command"], *server["args"]])
    assert set(server["config"]["nemo-resumable"]) <= set(SETTINGS)
    for language in table["language"]:
        assert "nemo-resumable" in language["language-servers"]
    assert {language["name"] for language in table["language"]} == {"yaml", "bash", "python"}


def test_zed() -> None:
    (snippet,) = _snippets("zed.md", "json")
    server = json.loads(snippet)["lsp"]["nemo-resumable"]
    assert _is_command(["nemo-resumable", *server["binary"]["arguments"]])
    assert set(server["settings"]) <= set(SETTINGS)
    extension = tomllib.loads((EDITORS / "zed/extension.toml").read_text(encoding="utf-8"))
    assert list(extension["language_servers"]) == ["nemo-resumable"]
    assert tomllib.loads((EDITORS / "zed/Cargo.toml").read_text(encoding="utf-8"))["lib"]["crate-type"] == ["cdylib"]


@pytest.mark.skipif(not shutil.which("rustfmt"), reason="no rustfmt on PATH, which reads the source of Zed's extension")
def test_zeds_extension_is_rust() -> None:
    ended = subprocess.run(
        ["rustfmt", "--check", "--edition", "2021", EDITORS / "zed/src/lib.rs"], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_sublime() -> None:
    (snippet,) = _snippets("sublime.md", "json")
    server = json.loads(snippet)["clients"]["nemo-resumable"]
    assert _is_command(server["command"])
    assert {key.removeprefix("nemo-resumable.") for key in server["settings"]} <= set(SETTINGS)


# Emacs


def _balanced(text: str) -> bool:
    """Whether the parentheses of Lisp close, strings and comments aside."""
    depth = 0
    for token in re.findall(r'"(?:\\.|[^"\\])*"|;[^\n]*|[()]', text):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth < 0:
            return False
    return depth == 0


def test_emacs_lisp_is_whole() -> None:
    for snippet in _snippets("emacs.md", "elisp"):
        assert _balanced(snippet)
        (command,) = re.findall(r'\("nemo-resumable" "lsp"\)', snippet)
        assert _is_command(re.findall(r'"([^"]+)"', command))


EMACS = shutil.which("emacs")

TRIAL = """
(require 'package)
(package-initialize)
(setq project-vc-merge-submodules nil lsp-enable-snippet nil lsp-auto-guess-root t lsp-warn-no-matched-clients nil
      lsp-diagnostics-provider :flymake lsp-modeline-code-actions-enable nil lsp-lens-enable nil
      eglot-sync-connect 30 eglot-confirm-server-initiated-edits nil)
(defun wait-for (what condition)
  (let ((deadline (+ (float-time) 60)))
    (while (not (funcall condition))
      (when (> (float-time) deadline) (error "%s: did not come" what))
      (accept-process-output nil 0.05))))
(require 'yaml-mode)
(require '{client})
(load "{snippet}")
(find-file "conf/salm.yaml")
{start}
(wait-for "the server" (lambda () {attached}))
(wait-for "diagnostics" (lambda () (flymake-diagnostics)))
(princ (format "FOUND %s\\n" (length (flymake-diagnostics))))
(princ (format "AT %s\\n"
  (mapcar (lambda (each) (buffer-substring (flymake-diagnostic-beg each) (flymake-diagnostic-end each)))
          (flymake-diagnostics))))
(nemo-resumable-fix-all)
(wait-for "the fixes" (lambda () (save-excursion (goto-char (point-min)) (search-forward "enable_checkpointing" nil t))))
(write-region nil nil "fixed.yaml")
(kill-emacs 0)
"""
CLIENTS = {
    "eglot": ("eglot", 0, "(eglot-ensure) (run-hooks 'post-command-hook)", "(eglot-current-server)"),
    "lsp-mode": ("lsp-mode", 1, "(lsp)", "(lsp-workspaces)"),
}


@pytest.mark.parametrize("client", CLIENTS)
def test_emacs_lisp_works(client: str, tmp_path: Path) -> None:
    """The snippet in a batch run of Emacs: attach, see what is wrong, fix all that is safe to fix."""
    feature, number, start, attached = CLIENTS[client]
    for needed in (feature, "yaml-mode"):
        found = EMACS and subprocess.run(
            [EMACS, "--batch", "--eval", f"(progn (require 'package) (package-initialize) (require '{needed}))"],
            capture_output=True,
        )
        if not found or found.returncode:
            pytest.skip(f"there is no Emacs with {needed} here")
    assert EMACS is not None
    project = tmp_path / "speech"
    shutil.copytree(HERE / "project", project)
    (project / ".git").mkdir()
    (tmp_path / "snippet.el").write_text(_snippets("emacs.md", "elisp")[number], encoding="utf-8")
    script = TRIAL.format(client=feature, snippet=tmp_path / "snippet.el", start=start, attached=attached)
    (tmp_path / "trial.el").write_text(script, encoding="utf-8")
    environment = {
        **os.environ,
        "PATH": f"{scripts()}{os.pathsep}{os.environ.get('PATH', '')}",
        "HOME": str(tmp_path),
    }
    ended = subprocess.run(
        [EMACS, "--batch", "-l", tmp_path / "trial.el"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert int(re.findall(r"FOUND (\d+)", ended.stdout)[0]) > 5
    assert '"randomized"' in ended.stdout
    fixed = (project / "conf/fixed.yaml").read_text(encoding="utf-8")
    subprocess.run([scripts() / "nemo-resumable", "check", "--fix", "."], cwd=project, capture_output=True)
    expected = (project / "conf/salm.yaml").read_text(encoding="utf-8")
    # The settings of the snippet are the reader's to choose; here they name a mirror for the index files.
    without = [line for line in fixed.splitlines() if "indexes_root" not in line]
    assert without == expected.splitlines()

"""The plugin in Neovim itself, without a screen: what a user does, and what is then in the buffer."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from editor_pieces import Missing, neovim, scripts
from nemo_resumable.core.failures.page import find_page

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SECONDS = 120

#: Before every scenario: `emit` says what was seen, `wait` waits for something to be the case.
PRELUDE = """
local seen = {}
function emit(name, value) seen[name] = value == nil and vim.NIL or value end
function wait(what, condition, seconds)
  local value
  local ok = vim.wait((seconds or 40) * 1000, function() value = condition() return value end, 20)
  if not ok then error(what .. ': did not come') end
  return value
end
function client() return vim.lsp.get_clients({ name = 'nemo_resumable', bufnr = 0 })[1] end
function open(path)
  vim.cmd.edit(path)
  wait('the server', client)
  wait('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
end
function text() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') .. '\\n' end
function go(pattern) vim.fn.cursor(1, 1) assert(vim.fn.search(pattern, 'cW') > 0, pattern) end
local messages = {}
vim.notify = function(message) table.insert(messages, message) end
function said() return messages end
"""
CLOSING = """
vim.fn.writefile({ vim.json.encode({ ok = ok, error = not ok and tostring(trouble) or nil, seen = seen }) }, OUT)
for _, each in ipairs(vim.lsp.get_clients()) do each:stop(true) end
vim.cmd('qall!')
"""

Play = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def program() -> Path:
    try:
        return neovim()
    except Missing as error:
        pytest.skip(f"Neovim: {error}")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "speech"
    shutil.copytree(HERE / "project", folder)
    (folder / ".git").mkdir()
    return folder


@pytest.fixture
def play(program: Path, project: Path, tmp_path: Path) -> Play:
    """Plays a scenario in Lua, with the plugin as a user sets it up; what it has emitted."""
    plugin = tmp_path / "plugin"
    shutil.copytree(ROOT / "editors/neovim", plugin)  # `:helptags` writes beside the help file

    def run(body: str, *, setup: str = "vim.lsp.enable('nemo_resumable')", use_plugin: bool = True) -> dict[str, Any]:
        out = tmp_path / "seen.json"
        out.unlink(missing_ok=True)
        script = tmp_path / "scenario.lua"
        script.write_text(
            f"local OUT = '{out}'\n{PRELUDE}\n"
            f"local ok, trouble = xpcall(function()\n{setup}\n{body}\nend, debug.traceback)\n{CLOSING}",
            encoding="utf-8",
        )
        path = [f"--cmd=set runtimepath^={plugin}"] if use_plugin else []
        command = [str(program), "--headless", "--clean", "-n"]
        command += [part for each in path for part in each.split("=", 1)] + ["-c", f"luafile {script}"]
        environment = {
            **os.environ,
            "PATH": f"{scripts()}{os.pathsep}{os.environ.get('PATH', '')}",
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "XDG_DATA_HOME": str(tmp_path / "share"),
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
        }
        ended = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=SECONDS)
        assert out.exists(), ended.stdout + ended.stderr
        answer = json.loads(out.read_text(encoding="utf-8"))
        assert answer["ok"], answer["error"]
        return dict(answer["seen"] or {})

    return run


def _check(folder: Path, *arguments: str) -> str:
    command = [scripts() / "nemo-resumable", "check", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


def _fixed(project: Path, tmp_path: Path) -> str:
    """The config as `check --fix` leaves it."""
    copy = tmp_path / "fixed"
    shutil.copytree(project, copy)
    _check(copy, "--fix", ".")
    return (copy / "conf/salm.yaml").read_text(encoding="utf-8")


def test_diagnostics_stand_where_the_command_sees_them(play: Play, project: Path) -> None:
    expected = {
        (f["code"], f["start"]["line"], f["start"]["column"], f["end"]["line"], f["end"]["column"])
        for f in json.loads(_check(project, "--format", "json", "."))["findings"]
        if f["file"] == "conf/salm.yaml"
    }
    seen = play("open('conf/salm.yaml') emit('found', vim.diagnostic.get(0))")
    found = {
        (d["code"], d["lnum"] + 1, d["col"] + 1, d["end_lnum"] + 1, d["end_col"] + 1)
        for d in seen["found"]
        if d["source"] == "nemo-resumable"
    }
    assert ("NR110", 21, 17, 21, 29) in found
    assert expected <= found
    # What the editor shows beside is about what it could not look at, which the command says with its verdict.
    assert {code for code, *_ in found - expected} <= {"NR510", "NR706"}


def test_positions_after_wide_characters(play: Play, project: Path) -> None:
    """Neovim counts bytes; what stands before on the line may take one, three or four of them."""
    config = project / "conf/salm.yaml"
    lines = config.read_text(encoding="utf-8").splitlines()
    at = next(i for i, line in enumerate(lines) if "shard_seed" in line)
    lines[at - 1 : at + 1] = ['    {"説明 🎙": x, shard_seed: "randomized"}']
    start = next(i for i, line in enumerate(lines) if "train_ds" in line)
    del lines[start + 1 : at - 1]
    config.write_text("\n".join(lines[: start + 2]) + "\n", encoding="utf-8")
    seen = play("""
      open('conf/salm.yaml')
      local found = vim.tbl_filter(function(each) return each.code == 'NR110' end, vim.diagnostic.get(0))[1]
      local line = vim.api.nvim_buf_get_lines(0, found.lnum, found.lnum + 1, false)[1]
      emit('text', line:sub(found.col + 1, found.end_col))
    """)
    assert seen["text"] == '"randomized"'


def test_code_action_at_the_cursor(play: Play, project: Path) -> None:
    seen = play("""
      open('conf/salm.yaml')
      go('"randomized"')
      vim.lsp.buf.code_action({ apply = true, filter = function(action)
        return action.kind == 'quickfix' and action.title:match('^Set `shard_seed` to 42') ~= nil
      end })
      wait('the fix', function() return text():match('shard_seed: 42') end)
      emit('text', text())
      vim.cmd.undo()
      emit('undone', text())
    """)
    original = (project / "conf/salm.yaml").read_text(encoding="utf-8")
    gone = set(original.splitlines()) - set(seen["text"].splitlines())
    assert gone == {'    shard_seed: "randomized"  # a new order every time'}
    assert "    shard_seed: 42  # a new order every time\n" in seen["text"]
    assert seen["undone"] == original


@pytest.mark.parametrize("command", ["fix", "migrate"])
def test_fixing_all_is_what_the_command_does(play: Play, project: Path, tmp_path: Path, command: str) -> None:
    seen = play(f"""
      open('conf/salm.yaml')
      vim.cmd('NemoResumable {command}')
      wait('the fixes', function() return text():match('enable_checkpointing') end)
      emit('text', text())
    """)
    assert seen["text"] == _fixed(project, tmp_path)


def test_fix_on_save_as_the_help_says(play: Play, project: Path, tmp_path: Path) -> None:
    fixed = _fixed(project, tmp_path)
    text = (ROOT / "editors/neovim/doc/nemo_resumable.txt").read_text(encoding="utf-8")
    (setup,) = re.findall(r"Fix on save: >lua\n(.*?)\n<", text, re.S)
    play(f"{setup}\nopen('conf/salm.yaml') vim.bo.modified = true vim.cmd.write()")
    assert (project / "conf/salm.yaml").read_text(encoding="utf-8") == fixed


def test_a_blend_that_is_edited_changes_its_config(play: Play) -> None:
    seen = play("""
      open('conf/salm.yaml')
      require('nemo_resumable').fix()
      local nemo, config = require('nemo_resumable'), vim.api.nvim_get_current_buf()
      wait('a verdict', function() return nemo.status(config) == 'unverified' end)
      open('blends/train.yaml')
      go('weight: 2400')
      vim.api.nvim_buf_set_lines(0, vim.fn.line('.') - 1, vim.fn.line('.') - 1, false,
        { '      extra_fields: [{type: text_iter, name: context, path: /data/questions.txt}]' })
      wait('the finding', function()
        return vim.iter(vim.diagnostic.get(0)):any(function(each) return each.code == 'NR301' end)
      end)
      wait('the verdict', function() nemo.refresh_status(config) return nemo.status(config) == 'not-launch-ready' end)
      emit('status', nemo.status(config))
    """)
    assert seen["status"] == "not-launch-ready"


def test_broken_in_the_middle_of_an_edit(play: Play) -> None:
    seen = play("""
      open('conf/salm.yaml')
      local before = #vim.diagnostic.get(0)
      go('num_workers')
      vim.api.nvim_set_current_line('    num_workers: [4')
      wait('the error', function()
        return vim.iter(vim.diagnostic.get(0)):any(function(each) return each.code == 'NR001' end)
      end)
      emit('codes', vim.iter(vim.diagnostic.get(0)):map(function(each) return each.code end):totable())
      vim.cmd.undo()
      wait('it is whole', function() return #vim.diagnostic.get(0) == before end)
    """)
    assert len(set(seen["codes"])) > 1, "what could be read is still judged"


def test_hover(play: Play) -> None:
    seen = play("""
      open('conf/salm.yaml')
      go('shard_seed')
      vim.lsp.buf.hover()
      local window = wait('the float', function()
        return vim.iter(vim.api.nvim_list_wins()):find(function(each)
          return vim.api.nvim_win_get_config(each).relative ~= ''
        end)
      end)
      emit('text', table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '\\n'))
    """)
    assert "shard_seed" in seen["text"]


def test_completion(play: Play) -> None:
    seen = play("""
      open('conf/salm.yaml')
      go('num_workers')
      local row = vim.fn.line('.') - 1
      vim.api.nvim_buf_set_lines(0, row, row, false, { '    use_state' })
      vim.fn.cursor(row + 1, 99)
      local params = { textDocument = { uri = vim.uri_from_bufnr(0) },
        position = { line = row, character = #vim.api.nvim_get_current_line() } }
      local answer = client():request_sync('textDocument/completion', params, 20000, 0)
      local items = answer.result.items or answer.result
      emit('labels', vim.iter(items):map(function(each) return each.label end):totable())
    """)
    assert "use_stateful_dataloader" in seen["labels"]


def test_texts_of_the_server(play: Play, project: Path) -> None:
    (project / "slurm-1.out").write_text(find_page("shard-seed-changed").examples[0].text, encoding="utf-8")
    seen = play("""
      open('conf/salm.yaml')
      local config = vim.api.nvim_get_current_win()
      local function shown(name)
        vim.api.nvim_set_current_win(config)
        go('"randomized"')
        vim.cmd('NemoResumable ' .. name)
        wait(name, function() return vim.api.nvim_get_current_win() ~= config end)
        local found = { text = text(), filetype = vim.bo.filetype, name = vim.api.nvim_buf_get_name(0) }
        vim.cmd.close({ bang = true })
        return found
      end
      emit('explained', shown('explain'))
      emit('named', shown('explain NR101'))
      emit('effective', shown('effective'))
      emit('inspected', shown('inspected'))
      emit('diagnosis', shown('diagnose slurm-*.out'))
      emit('report', shown('report'))
      emit('said', said())
    """)
    assert seen["explained"]["text"].startswith("# NR110")
    assert seen["explained"]["filetype"] == "markdown"
    assert seen["named"]["text"].startswith("# NR101")
    assert "shard_seed: randomized  # file, conf/salm.yaml:21" in seen["effective"]["text"]
    assert "blends/train.yaml" in seen["inspected"]["text"]
    assert seen["diagnosis"]["text"].startswith("# shard-seed-changed")
    assert "conf/salm.yaml" in seen["diagnosis"]["text"]
    assert seen["report"]["name"].endswith("migrate-resumable/salm/migration-report.md")
    assert (project / "migrate-resumable/salm/salm-resumable.yaml").exists()
    assert any("wrote" in each for each in seen["said"])


def test_other_files_are_left_alone(play: Play, project: Path) -> None:
    (project / "deploy.yaml").write_text("# train_ds: none\nservices:\n  web:\n    image: nginx\n", encoding="utf-8")
    (project / "tool.py").write_text("import json\n", encoding="utf-8")
    seen = play("""
      vim.cmd.edit('deploy.yaml') vim.wait(500)
      emit('yaml', #vim.lsp.get_clients())
      vim.cmd.edit('tool.py') vim.wait(500)
      emit('python', #vim.lsp.get_clients())
    """)
    assert seen == {"yaml": 0, "python": 0}


def test_a_config_that_is_begun_from_nothing(play: Play) -> None:
    play("""
      vim.cmd.edit('new.yaml')
      vim.api.nvim_buf_set_lines(0, 0, -1, false,
        { 'data:', '  train_ds:', '    shard_seed: randomized', '    input_cfg: blends/train.yaml' })
      vim.cmd.write()
      wait('the server', client)
      wait('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
    """)


def test_settings(play: Play) -> None:
    setup = """
      vim.lsp.config('nemo_resumable', { settings = { ['nemo-resumable'] = { ignore = { 'NR110' } } } })
      vim.lsp.enable('nemo_resumable')
    """
    seen = play(
        """
      open('conf/salm.yaml')
      wait('the settings', function()
        return not vim.iter(vim.diagnostic.get(0)):any(function(each) return each.code == 'NR110' end)
      end)
      emit('count', #vim.diagnostic.get(0))
    """,
        setup=setup,
    )
    assert seen["count"] > 2


def test_health(play: Play) -> None:
    seen = play("""
      open('conf/salm.yaml')
      vim.cmd('checkhealth nemo_resumable')
      emit('text', text())
    """)
    assert "nemo-resumable 0." in seen["text"]
    assert "the server is enabled" in seen["text"]
    assert not re.search(r"ERROR|WARNING", seen["text"])


def test_health_without_a_server(play: Play) -> None:
    setup = "vim.lsp.config('nemo_resumable', { cmd = { '/gone/nemo-resumable', 'lsp' } })"
    seen = play("vim.cmd('checkhealth nemo_resumable') emit('text', text())", setup=setup)
    assert "ERROR" in seen["text"]
    assert "pip install" in seen["text"]


def test_help(play: Play, tmp_path: Path) -> None:
    seen = play(f"""
      vim.cmd('helptags {tmp_path}/plugin/doc')
      vim.cmd('help :NemoResumable')
      emit('commands', text())
      emit('known', vim.tbl_keys(require('nemo_resumable').commands))
      emit('completed', vim.fn.getcompletion('NemoResumable r', 'cmdline'))
    """)
    for name in seen["known"]:
        assert f":NemoResumable {name}" in seen["commands"], name
    assert sorted(seen["completed"]) == ["report", "restart"]


def test_the_lines_without_the_plugin(play: Play) -> None:
    """As the README gives them to users of nvim-lspconfig."""
    text = (ROOT / "editors/neovim/README.md").read_text(encoding="utf-8")
    setup = text.split("## With nvim-lspconfig alone")[1].split("```lua\n")[1].split("```")[0]
    seen = play("open('conf/salm.yaml') emit('count', #vim.diagnostic.get(0))", setup=setup, use_plugin=False)
    assert seen["count"] > 2

"""The command line: `nemo-resumable check | migrate | diff | diagnose | explain | rules | settings | init | lsp`."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from .output.terminal import complain, settle_output

OK, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130

_FORMATS = ("full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns 0 for clean, 1 for findings or changes, 2 for what could not be done.

    Without arguments of its own it is the whole process, which ends when it returns.
    """
    collecting = gc.isenabled()
    gc.disable()  # a run is short and makes little garbage; the collector would take a third of it
    try:
        arguments, strays = _parser().parse_known_args(_plain_names(sys.argv[1:] if argv is None else argv))
        if strays:  # argparse itself would say so at the top, where a command's options are not known
            arguments.parser.error(f"unrecognized arguments: {' '.join(strays)}")
        return _run(arguments)
    except SystemExit as stop:  # argparse has said what it had to say
        return stop.code if isinstance(stop.code, int) else FAILED
    except BrokenPipeError:  # nobody reads the help any more: argparse minds that from Python 3.12 on
        return OK
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        settle_output()
        if argv is None:
            gc.freeze()  # nor need it go through everything once more at exit, a sixth of a run
        elif collecting:
            gc.enable()


def _plain_names(words: Sequence[str]) -> list[str]:
    """The words with file names that begin with a dash made paths: pre-commit puts no `--` before the files."""
    if "--staged" not in words:
        return list(words)
    return [f"./{word}" if word[:1] == "-" and os.path.lexists(word) else word for word in words]


def _run(arguments: argparse.Namespace) -> int:
    try:
        return int(arguments.run(arguments))
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        complain(f"{error.strerror or error}: {error.filename or ''}".rstrip(": "))
    except Exception as error:
        from nemo_resumable.core.history import UnknownRevision
        from nemo_resumable.core.settings import SettingsError

        from .options import UsageError

        if isinstance(error, (UsageError, SettingsError, UnknownRevision)):
            complain(str(error))
            return FAILED
        if getattr(arguments, "verbose", False):
            import traceback

            traceback.print_exc()
        what = " ".join(f"{type(error).__name__}: {error}".split())
        complain(
            f"internal error ({what}); please report it, with what `-v` adds, and the config where you may share it"
        )
    return FAILED


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, with the near match, instead of the whole usage."""

    def __init__(self, **given: object) -> None:
        super().__init__(allow_abbrev=False, **given)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        from nemo_resumable.core.settings import near_match

        hint = ""
        if "unrecognized arguments: -" in message:
            word = message.partition(": ")[2].split()[0].partition("=")[0]
            hint = near_match(word, self._option_string_actions)
        elif "invalid choice: '" in message:
            word = message.partition("invalid choice: '")[2].partition("'")[0]
            hint = near_match(word, [choice for action in self._actions for choice in action.choices or ()])
        self.exit(FAILED, f"{self.prog}: {message}{hint} (`{self.prog} --help` shows the usage)\n")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from .version import version

        print(f"nemo-resumable {version()}")
        parser.exit(OK)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="nemo-resumable",
        description="Find out why a NeMo training config does not resume exactly, and migrate it.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    parser.set_defaults(run=lambda _: _help(parser))
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)
    _check(commands.add_parser("check", help="judge training configs and the blends they read"))
    _migrate(commands.add_parser("migrate", help="write the artifacts of a config's migration"))
    _diff(commands.add_parser("diff", help="compare two configs, or two versions of one, by what chunks restore"))
    _diagnose(commands.add_parser("diagnose", help="name the cause of a failed run from its logs"))
    explain = commands.add_parser("explain", help="print the page of a rule, or of a failure mode")
    explain.add_argument(
        "rule", metavar="CODE|NAME", help="such as NR110 or unfixed-shard-seed; or a mode such as hang-after-restore"
    )
    explain.set_defaults(run=_lazy("explain"))
    rules = commands.add_parser("rules", help="list all rules")
    rules.add_argument("--format", choices=("table", "json", "markdown"), default="table")
    rules.set_defaults(run=_lazy("rules"))
    settings = commands.add_parser("settings", help="print the settings in force for a path")
    settings.add_argument("path", nargs="?", default=".", metavar="PATH")
    settings.set_defaults(run=_lazy("settings"))
    settings.add_argument("--schema", action="store_true", help="print the JSON schema of the settings, for editors")
    init = commands.add_parser("init", help="write a commented .nemo-resumable.toml, and the hook for pre-commit")
    init.add_argument("-y", "--yes", action="store_true", help="write without asking")
    init.set_defaults(run=_lazy("init"))
    lsp = commands.add_parser("lsp", help="run the language server")
    lsp.add_argument("--stdio", action="store_true", help="speak over standard input and output (the default)")
    lsp.add_argument("--tcp", metavar="HOST:PORT", help="wait for one client on an address of this machine")
    lsp.add_argument("--clientProcessId", help=argparse.SUPPRESS)  # some editors add it
    lsp.set_defaults(run=_lazy("lsp"))
    for command in (explain, rules, settings, init, lsp):
        command.add_argument("-v", "--verbose", action="store_true", help="show the traceback of an internal error")
    for command in (parser, *commands.choices.values()):
        command.set_defaults(parser=command)
    return parser


def _help(parser: argparse.ArgumentParser) -> int:
    parser.print_help()
    return OK


def _lazy(module: str) -> Callable[[argparse.Namespace], int]:
    """A command's `run`, imported only when it is called: a command pays for nothing that another one needs."""

    def run(arguments: argparse.Namespace) -> int:
        from importlib import import_module

        return int(import_module(f".{module}", __package__).run(arguments))

    return run


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", default=["."], metavar="PATH", help="files and folders; `-` with --stdin-filename"
    )
    changes = parser.add_argument_group("changes")
    changes.add_argument("--fix", action="store_true", help="apply the safe fixes")
    changes.add_argument("--diff", action="store_true", help="print what --fix would change, and change nothing")
    changes.add_argument(
        "--exclude-blocked", action="store_true", help="with either: comment out sources that cannot be indexed"
    )
    rules = parser.add_argument_group("rules")
    rules.add_argument("--select", action="append", metavar="RULES", help="only these codes, prefixes or names")
    rules.add_argument("--ignore", action="append", metavar="RULES", help="not these codes, prefixes or names")
    rules.add_argument("--severity", action="append", metavar="RULE=LEVEL", help="change a rule's severity")
    rules.add_argument(
        "--fail-on",
        choices=("fatal", "error", "warning", "note"),
        default="error",
        metavar="LEVEL",
        help="exit with 1 from this severity on: fatal, error (default), warning, note",
    )
    rules.add_argument("--baseline", metavar="FILE", help="tell and block only what this file does not list")
    rules.add_argument("--write-baseline", action="store_true", help="write what is found now into the baseline")
    files = parser.add_argument_group("files")
    files.add_argument("--scope", choices=("lhotse", "opted-in"), help="which configs count")
    files.add_argument("--stdin-filename", metavar="FILE", help="judge the standard input as this file")
    files.add_argument(
        "--staged", action="store_true", help="for a git hook: mind what the commit deletes, and be short"
    )
    files.add_argument("--force-exclude", action="store_true", help="honour `exclude` for paths given by name too")
    files.add_argument("--against", metavar="REV", help="the commit to compare resumable configs with (default: HEAD)")
    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=_FORMATS, metavar="FORMAT", help=f"{', '.join(_FORMATS)} (default: full)")
    output.add_argument("--output", metavar="FILE", help="write the findings to a file")
    output.add_argument("--statistics", action="store_true", help="count findings by rule")
    output.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    _inputs(parser)
    parser.set_defaults(run=_lazy("gate"), gone=[])


def _migrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "configs", nargs="+", metavar="CONFIG", help="the training YAML (several are migrated one by one)"
    )
    parser.add_argument(
        "--staged", action="store_true", help="for a git hook: pass over files that are no configs and concern none"
    )
    parser.add_argument("--out", metavar="DIR", help="the folder for the artifacts (default: migrate-resumable/<stem>)")
    parser.add_argument("--exclude-blocked", action="store_true", help="comment out sources that cannot be indexed")
    parser.add_argument("--packs", action="store_true", help="declare index packs for outer datasets of many shards")
    parser.add_argument("--no-annotate", action="store_true", help="no comment at each change")
    _inputs(parser)
    parser.set_defaults(run=_lazy("migrate"))


def _diff(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="A", help="a training YAML, or REV:PATH for what it was at a commit")
    parser.add_argument(
        "after",
        nargs="?",
        metavar="B",
        help="the other one; left out, A in the last commit is compared with A as it is",
    )
    parser.add_argument("--format", choices=("full", "json"), default="full")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    _inputs(parser)
    parser.set_defaults(run=_lazy("diff"))


def _diagnose(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "logs",
        nargs="*",
        metavar="LOG",
        help="the logs of one run: all its ranks' files, plain or packed; `-` for a pipe",
    )
    parser.add_argument(
        "--config", metavar="CONFIG", help="the training YAML of the run, in which to look for the cause"
    )
    parser.add_argument("--list", action="store_true", help="list the failure modes that are known")
    parser.add_argument("--format", choices=("full", "json", "markdown"), default="full", help="markdown: of --list")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    _inputs(parser)
    parser.set_defaults(run=_lazy("diagnose"))


def _inputs(parser: argparse.ArgumentParser) -> None:
    """Arguments that tell the analyzer what it cannot find by itself."""
    inputs = parser.add_argument_group("inputs")
    inputs.add_argument(
        "--blend", action="append", default=[], metavar="FILE", help="a blend the config reads (repeatable)"
    )
    inputs.add_argument(
        "--launcher", action="append", default=[], metavar="FILE", help="a script that starts the config (repeatable)"
    )
    inputs.add_argument("--runtime", metavar="FILE", help="what is known of where training runs (.toml, .yaml, .json)")
    inputs.add_argument("--nemo", metavar="DIR", help="the NeMo in use, whose files are read: a checkout or installed")
    inputs.add_argument("--lhotse", metavar="DIR", help="the Lhotse in use, in the same way")
    inputs.add_argument(
        "--profile", metavar="NAME", help="what is assumed in use: nemo-3.0.0, speech-main (default), speech-main-gzip"
    )
    inputs.add_argument("--indexes", action="store_true", help="look at the index files on this machine, too")
    inputs.add_argument("--indexes-root", metavar="DIR", help="the mirror in which `.idx` sidecars are built")
    inputs.add_argument("--index-pack-root", metavar="DIR", help="the folder of the index packs")
    inputs.add_argument("--launch-dir", metavar="DIR", help="where training is started (default: the current folder)")
    parser.add_argument("-v", "--verbose", action="store_true", help="say more, also about internal errors")


if __name__ == "__main__":
    raise SystemExit(main())

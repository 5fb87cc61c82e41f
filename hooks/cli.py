"""The command line: `nemo-resumable check | migrate | explain | rules | settings | init`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

OK, FOUND, FAILED = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns 0 for clean, 1 for findings or changes, 2 for what could not be done."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.run is None:
        parser.print_help()
        return OK
    import gc

    gc.disable()  # a run is short and makes little garbage; the collector would take a third of it
    from nemo_resumable.core.settings import SettingsError

    from .options import UsageError

    try:
        code = int(arguments.run(arguments))
        sys.stdout.flush()
        return code
    except (UsageError, SettingsError) as error:
        print(f"nemo-resumable: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        print(f"nemo-resumable: {error.strerror or error}: {error.filename or ''}".rstrip(": "), file=sys.stderr)
        return FAILED
    except Exception as error:
        if getattr(arguments, "verbose", False):
            import traceback

            traceback.print_exc()
        name = type(error).__name__
        print(f"nemo-resumable: internal error ({name}: {error}); run again with -v and report it", file=sys.stderr)
        return FAILED


class _Version(argparse.Action):
    def __call__(self, *_: object) -> None:
        from importlib.metadata import version

        print(f"nemo-resumable {version('nemo-resumable')}")
        raise SystemExit(OK)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nemo-resumable",
        description="Find out why a NeMo training config does not resume exactly, and migrate it.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _check(commands.add_parser("check", help="judge training configs and the blends they read"))
    _migrate(commands.add_parser("migrate", help="write the five artifacts of a config's migration"))
    explain = commands.add_parser("explain", help="print a rule's page")
    explain.add_argument("rule", metavar="CODE|NAME")
    explain.set_defaults(run=_lazy("describe", "explain"))
    rules = commands.add_parser("rules", help="list all rules")
    rules.add_argument("--format", choices=("table", "json"), default="table")
    rules.set_defaults(run=_lazy("describe", "rules"))
    settings = commands.add_parser("settings", help="print the settings in force for a path")
    settings.add_argument("path", nargs="?", default=".")
    settings.set_defaults(run=_lazy("describe", "settings"))
    init = commands.add_parser("init", help="write a commented .nemo-resumable.toml")
    init.set_defaults(run=_lazy("describe", "init"))
    return parser


def _lazy(module: str, function: str) -> object:
    def run(arguments: argparse.Namespace) -> int:
        from importlib import import_module

        return int(getattr(import_module(f".{module}", __package__), function)(arguments))

    return run


def _check(parser: argparse.ArgumentParser) -> None:
    from .options import add_inputs

    parser.add_argument(
        "paths", nargs="*", default=["."], metavar="PATH", help="files and folders; `-` with --stdin-filename"
    )
    parser.add_argument("--fix", action="store_true", help="apply the safe fixes")
    parser.add_argument("--diff", action="store_true", help="print what --fix would change, and change nothing")
    parser.add_argument(
        "--exclude-blocked", action="store_true", help="with --fix: comment out sources that cannot be indexed"
    )
    parser.add_argument("--format", choices=("full", "concise", "json", "jsonl"), default="full")
    parser.add_argument("--output", metavar="FILE", help="write the findings to a file")
    parser.add_argument("--select", action="append", metavar="RULES", help="only these codes, prefixes or names")
    parser.add_argument("--ignore", action="append", metavar="RULES", help="not these codes, prefixes or names")
    parser.add_argument("--severity", action="append", metavar="RULE=LEVEL", help="change a rule's severity")
    parser.add_argument("--fail-on", choices=("fatal", "error", "warning", "note"), default="error", metavar="LEVEL")
    parser.add_argument("--scope", choices=("lhotse", "opted-in"), help="which configs count")
    parser.add_argument("--stdin-filename", metavar="FILE", help="judge the standard input as this file")
    parser.add_argument("--force-exclude", action="store_true", help="honour `exclude` for paths given by name too")
    parser.add_argument("--statistics", action="store_true", help="count findings by rule")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    add_inputs(parser)
    parser.set_defaults(run=_lazy("check", "run"))


def _migrate(parser: argparse.ArgumentParser) -> None:
    from .options import add_inputs

    parser.add_argument("config", metavar="CONFIG", help="the training YAML")
    parser.add_argument("--out", metavar="DIR", help="the folder for the artifacts (default: migrate-resumable/<stem>)")
    parser.add_argument("--exclude-blocked", action="store_true", help="comment out sources that cannot be indexed")
    parser.add_argument("--no-annotate", action="store_true", help="no comment at each change")
    add_inputs(parser)
    parser.set_defaults(run=_lazy("migrate", "run"))


if __name__ == "__main__":
    raise SystemExit(main())

"""`explain`, `rules`, `settings` and `init`: what the tool itself is and how it is set up."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from pathlib import Path

from nemo_resumable.core.rules.registry import all_rules, find_rule

from .cli import FAILED, OK
from .options import UsageError

_INIT = """\
# Settings of nemo-resumable; every key is optional.

# Where training is started, from this file's folder: relative data and blend paths begin there.
# launch-dir = "."

# The mirror in which `.idx` sidecars are built, seen by every node.
# indexes-root = "/shared/indexes"

# The seed to which `seed` and `shard_seed` are pinned.
# seed = 42

# Rules to leave out, by code, prefix or name; and severities to change.
# ignore = ["NR120"]
# severity = { NR113 = "error" }

# Files that are not looked at.
# exclude = ["third_party"]

# What stands behind `${data_blend_dir}` and the like.
# [variables]
# data_blend_dir = "conf/blends"
"""


def explain(arguments: argparse.Namespace) -> int:
    """Print the page of a rule."""
    from nemo_resumable.core.rules.page import page_text

    found = find_rule(arguments.rule)
    if found is None:
        known = [word for rule in all_rules() for word in (rule.code, rule.name)]
        near = difflib.get_close_matches(arguments.rule, known, 1) or difflib.get_close_matches(
            arguments.rule.upper(), known, 1
        )
        raise UsageError(f"`{arguments.rule}` is no rule" + (f"; did you mean `{near[0]}`?" if near else ""))
    sys.stdout.write(page_text(found.code))
    return OK


def rules(arguments: argparse.Namespace) -> int:
    """Print all rules."""
    rows = [
        {
            "code": rule.code,
            "name": rule.name,
            "severity": rule.severity.value,
            "fix": rule.fix.value if rule.fix else None,
            "summary": rule.summary,
        }
        for rule in sorted(all_rules(), key=lambda rule: rule.code)
    ]
    if arguments.format == "json":
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return OK
    for row in rows:
        print(f"{row['code']}  {row['severity']:<8} {row['fix'] or '-':<7} {row['name']}")
    return OK


def settings(arguments: argparse.Namespace) -> int:
    """Print the settings in force."""
    from nemo_resumable.core.settings import as_table, load_settings

    path = Path(arguments.path)
    if not path.exists():
        raise UsageError(f"there is no `{path}`; check the path")
    table = as_table(load_settings(path if path.is_dir() else path.parent))
    for key, value in table.items():
        print(f"{key} = {json.dumps(value, default=str)}")
    return OK


def init(arguments: argparse.Namespace) -> int:
    """Write a settings file in the current folder, unless there is one."""
    from nemo_resumable.core.settings import OWN_FILE, load_settings
    from nemo_resumable.core.writing import write_atomically

    there = load_settings(Path.cwd()).file
    if there is not None:
        print(f"nemo-resumable: there are settings already, in {there}", file=sys.stderr)
        return FAILED
    write_atomically(Path.cwd() / OWN_FILE, _INIT.encode())
    print(f"Wrote {OWN_FILE}.")
    return OK

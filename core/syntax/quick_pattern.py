"""The pattern by which OmegaConf recognizes the common interpolations without its grammar."""

from __future__ import annotations

import re

#: OmegaConf asks a quick pattern before its grammar, and the pattern takes a little more: line breaks as blanks, and no name
#: before the colon. A string it matches is accepted when the config is created.
_NAME = r"[$\w]+"
_QUICK_NODE = rf"\.*(?:{_NAME}|\[{_NAME}\])(?:\.{_NAME}|\[{_NAME}\])*"
_QUICK_ARGUMENT = r"[a-zA-Z_0-9/\-+.$%*@?|]+"
_QUICK_CALL = (
    r"(?P<name>(?:[a-zA-Z_][\w\-]*(?:\.[a-zA-Z_][\w\-]*)*)?)\s*:\s*"
    rf"(?P<args>{_QUICK_ARGUMENT}(?:\s*,\s*{_QUICK_ARGUMENT})*)"
)
QUICK = re.compile(rf"\$\{{\s*(?:(?P<path>{_QUICK_NODE})|{_QUICK_CALL})\s*\}}", re.ASCII)
LITERAL = re.compile(r"(?:[^$]|\$(?!\{))*")

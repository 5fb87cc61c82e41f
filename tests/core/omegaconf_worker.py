"""What OmegaConf makes of a text, in a form that can be compared and sent between processes; as a script it answers JSON lines."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def canonical(value: Any) -> Any:
    """A value with its types spelled out: True is not 1, and nan equals nan. Dicts do not depend on their order."""
    if isinstance(value, dict):
        return ["dict", sorted(([canonical(key), canonical(item)] for key, item in value.items()), key=repr)]
    if isinstance(value, (list, tuple)):
        return ["list", [canonical(item) for item in value]]
    if isinstance(value, bool) or value is None or isinstance(value, (int, float, bytes, str)):
        kind = next((k for k in (bool, int, float, bytes, str) if isinstance(value, k)), type(None))
        return [kind.__name__, str(value) if isinstance(value, str) else repr(value)]
    return ["path", str(value)]


def outcome(text: str) -> dict[str, Any]:
    """`value` as OmegaConf loads it, or `refused` with its words."""
    import io

    from omegaconf import OmegaConf

    try:
        # what `open(…, "r")` in OmegaConf.load does to newlines
        file = io.StringIO(text.replace("\r\n", "\n").replace("\r", "\n"))
        config = OmegaConf.load(file)
        return {"value": canonical(OmegaConf.to_container(config, resolve=False))}
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {str(error)[:300]}"}


def main() -> None:
    """Answer each line of standard input, a JSON string, by one line with its outcome."""
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(4300)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(outcome(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    os.environ.setdefault("OMEGACONF_MAX_YAML_EXPANDED_NODES", "none")
    main()

"""What the tests of the reading features share: asking at a place of a text, in whatever units the session counts."""

from __future__ import annotations

import copy
from typing import Any

from .conftest import MODERN

ENCODINGS = ("utf-8", "utf-16", "utf-32")
#: Characters that are of different lengths in each of them, to stand before what is asked about.
WIDE = "😀 十二 é"


def speaking(encoding: str, **text_document: Any) -> dict[str, Any]:
    """The capabilities of a client of today that counts in one encoding, and can do more with texts."""
    able = copy.deepcopy(MODERN)
    able["general"]["positionEncodings"] = [encoding]
    able["textDocument"].update(text_document)
    return able


def at(client: Any, uri: str, text: str, part: str, shift: int = 1) -> dict[str, Any]:
    """The parameters of a request at the first occurrence of a part of a text."""
    return {"textDocument": {"uri": uri}, "position": client.place(text, text.index(part) + shift)}


def hover(client: Any, uri: str, text: str, part: str, shift: int = 1) -> tuple[str, str]:
    """What a hover says, and the word that it marks; both empty where there is nothing."""
    found = client.request("textDocument/hover", at(client, uri, text, part, shift))
    if found is None:
        return "", ""
    return found["contents"]["value"], client.cut(text, found["range"])

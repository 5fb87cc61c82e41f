"""Versions and wants that packages state of themselves, read off the text of their files."""

from __future__ import annotations

import json
import re
from urllib.parse import unquote, urlsplit

from ..records import dataclass
from .probe_files import Reader


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the METADATA of an installed distribution says."""

    version: str | None
    aistore: str | None  #: the oldest AIStore SDK wanted


def _source(text: str) -> str | None:
    """The folder of an editable install, from its `direct_url.json` (PEP 610)."""
    table = json.loads(text)
    url = table.get("url") if isinstance(table, dict) else None
    parts = urlsplit(str(url))
    return unquote(parts.path) if parts.scheme == "file" else None


def _metadata(text: str) -> Metadata:
    version = re.search(r"^Version:[ \t]*(\S+)", text, re.M)
    return Metadata(version[1] if version else None, _wanted_aistore(text))


def _wanted_aistore(text: str) -> str | None:
    wanted = re.search(r"\baistore[ \t]*\(?[ \t]*>=[ \t]*(\d[\d.]*)", text)
    return wanted[1].rstrip(".") if wanted else None


def _package_info(text: str) -> str | None:
    """NeMo's version, from the numbers that stand in `package_info.py`."""
    found: dict[str, str] = dict(
        re.findall(r"^(MAJOR|MINOR|PATCH|PRE_RELEASE)[ \t]*=[ \t]*[\"']?([\w.+-]*)", text, re.M)
    )
    if not all(found.get(part, "").isdigit() for part in ("MAJOR", "MINOR", "PATCH")):
        return None
    return "{MAJOR}.{MINOR}.{PATCH}".format(**found) + found.get("PRE_RELEASE", "")


def _version(text: str) -> str | None:
    found = re.search(r"^__version__[^=\n]*=[ \t]*[\"']([^\"'\n]{1,60})[\"']", text, re.M)
    return found[1] if found else None


def _pack_versions(text: str) -> tuple[int, ...]:
    """The formats that a reader of index packs names; by what it can write where it names none."""
    named = {int(number) for number in re.findall(r"^_?(?:[A-Z0-9]+_)*VERSION\b[^=\n]*=[ \t]*(\d{1,3})\b", text, re.M)}
    return tuple(sorted(named)) or ((2, 3) if "IndexPackArraySpec" in text else (2,))


read_source = Reader(_source)
read_lines = Reader(lambda text: tuple(text.splitlines()))
read_metadata = Reader(_metadata)
read_wanted = Reader(_wanted_aistore)
read_package_info = Reader(_package_info)
read_version = Reader(_version)
read_gzip = Reader(lambda text: "gzip_index_file_path" in text)
read_pack_versions = Reader(_pack_versions)

"""A finding as a diagnostic: severity, code and page, related places, tags, and what a code action needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types
from nemo_resumable.core.findings import Finding
from nemo_resumable.core.rules.page import FOLDER

from . import convert, uris
from .client import Client

SOURCE = "nemo-resumable"
MOST = 1000  #: diagnostics of one file; editors become slow with more


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the client can show of a diagnostic."""

    related: bool = False
    links: bool = False
    data: bool = False
    tags: bool = False

    @classmethod
    def of(cls, client: Client) -> Abilities:
        """The abilities of a client, whether it is told or asks."""

        def can(name: str) -> bool:
            return any(client.can(f"text_document.{kind}.{name}") for kind in ("publish_diagnostics", "diagnostic"))

        return cls(can("related_information"), can("code_description_support"), can("data_support"), can("tag_support"))


def diagnostics(
    findings: Sequence[Finding], encoding: str, uri_of: Callable[[Path], str], abilities: Abilities
) -> list[types.Diagnostic]:
    """The diagnostics of a file; where there are too many, a last one says how many more."""
    shown = [finding for finding in findings if finding.suppressed is None]
    made = [diagnostic(finding, encoding, uri_of, abilities) for finding in shown[:MOST]]
    if len(shown) > MOST:
        more = len(shown) - MOST
        made.append(
            types.Diagnostic(
                made[0].range,
                f"{more:,} more finding{'s' if more > 1 else ''} in this file; the command line shows them all",
                types.DiagnosticSeverity.Information,
                source=SOURCE,
            )
        )
    return made


def diagnostic(
    finding: Finding, encoding: str, uri_of: Callable[[Path], str], abilities: Abilities
) -> types.Diagnostic:
    """One finding."""
    place = finding.location
    made = types.Diagnostic(
        convert.text_range(place.source, place.span, encoding),
        finding.message,
        convert.SEVERITIES[finding.severity],
        finding.code,
        source=SOURCE,
    )
    if abilities.links:
        made.code_description = types.CodeDescription(page_uri(finding))
    if abilities.related and finding.related:
        made.related_information = [
            types.DiagnosticRelatedInformation(
                types.Location(
                    uri_of(related.location.file),
                    convert.text_range(related.location.source, related.location.span, encoding),
                ),
                related.message,
            )
            for related in finding.related
        ]
    if abilities.tags and (tag := TAGS.get(finding.name)):
        made.tags = [tag]
    if abilities.data:
        made.data = data(finding)
    return made


#: Rules about keys that nothing reads: editors fade them out.
TAGS = {
    "unknown-option": types.DiagnosticTag.Unnecessary,
    "ignored-ais-option": types.DiagnosticTag.Unnecessary,
    "ignored-source-key": types.DiagnosticTag.Unnecessary,
    "unused-suppression": types.DiagnosticTag.Unnecessary,
}


def data(finding: Finding) -> dict[str, object]:
    """What comes back with a diagnostic: enough to tell which finding it was, and what mends it."""
    table: dict[str, object] = {"name": finding.name, "subject": finding.subject}
    if (fix := finding.fix) is not None:
        table["fix"] = {"title": fix.title, "safety": fix.kind.value, "group": fix.group, "withheld": fix.withheld}
    return table


def page_uri(finding: Finding) -> str:
    """Where the page of a finding's rule is installed."""
    return uris.path_uri(str(FOLDER / f"{finding.code}-{finding.name}.md"))

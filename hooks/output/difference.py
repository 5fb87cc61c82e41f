"""Two configs beside each other for people: first what breaks a running chain, then what does not."""

from __future__ import annotations

from collections.abc import Iterator

from nemo_resumable.core.model.blend import Entry
from nemo_resumable.core.model.changes import Change, Difference, SourceChanges
from nemo_resumable.core.model.values import show

from .cells import cells, visible, wrap
from .render import plural
from .terminal import paint, width

_MOST_TEXT = 100
_MOST_SOURCES = 5  #: of each kind that are named


def as_text(change: Change, names: tuple[str, str], color: bool) -> str:
    """The whole comparison."""
    columns = min(width(), _MOST_TEXT)
    lines = [f"{visible(names[0])} → {visible(names[1])}", ""]
    breaking = [each for each in change.differences if each.meaning.code]
    harmless = [each for each in change.differences if not each.meaning.code]
    if breaking or change.sources:
        lines.append(paint("What a chain that is restored would stumble over", "bold", color))
        for each in breaking:
            lines += _difference(each, columns, color)
        for dataset, found in change.sources:
            lines += _sources(f"{dataset.subject}.input_cfg", found, columns, color)
        lines.append("")
    if harmless:
        lines.append(paint("What else differs", "bold", color))
        for each in harmless:
            lines += _difference(each, columns, color)
        lines.append("")
    for subject, side in change.lone:
        lines += wrap(f"`{subject}` is only in {names[side]}.", columns)
    lines += wrap(_verdict(change), columns)
    return "".join(f"{line}\n" for line in lines)


def _difference(each: Difference, columns: int, color: bool) -> Iterator[str]:
    values = f"{_value(each.before.value, each.before.stated)} → {_value(each.now.value, each.now.stated)}"
    subject = visible(".".join(each.path))
    if cells(subject) + cells(values) + 4 <= columns:
        yield f"  {paint(subject, 'bold', color)}  {values}"
    else:
        yield f"  {paint(subject, 'bold', color)}"
        yield f"    {values}"
    yield from _meaning(each.meaning.code, each.meaning.effect, columns, color)


def _meaning(code: str, effect: str, columns: int, color: bool) -> Iterator[str]:
    first, *rest = wrap(f"{code}: {effect}" if code else effect, columns, "      ", "      ")
    yield first.replace(code, paint(code, "warning", color), 1) if code else first
    yield from rest


def _value(value: object, stated: bool) -> str:
    return visible(show(value)) + ("" if stated else " (default)")


def _sources(subject: str, found: SourceChanges, columns: int, color: bool) -> Iterator[str]:
    yield f"  {paint(subject, 'bold', color)}"
    for sign, entries in (("+", found.added), ("-", found.removed)):
        yield from (f"    {sign} {_source(entry)}" for entry in entries[:_MOST_SOURCES])
        if len(entries) > _MOST_SOURCES:
            yield f"    {sign} and {len(entries) - _MOST_SOURCES} more"
    for before, now in found.retyped:
        yield f"    {visible(now.subject)}: `type` {show(before.type_name)} → {show(now.type_name)}"
    if found.reordered is not None:
        yield f"    another order, from {_source(found.reordered[1])} on"
    if found.regrouped is not None:
        yield f"    other groups, from {visible(found.regrouped[1].subject)} on"
    if found.added or found.removed or found.retyped or found.reordered or found.regrouped:
        yield from _meaning(
            "NR904", "what is saved belongs to another graph of iterators, and restoring it raises", columns, color
        )
    for moved in found.moved[:_MOST_SOURCES]:
        yield f"    {visible(moved.now.subject)}.{moved.key}"
        yield f"      {show(moved.before[moved.key].value)}"
        yield f"      → {show(moved.now[moved.key].value)}"
    if found.moved:
        yield from _meaning("NR905", "sidecars and packs have to be rebuilt under the new names", columns, color)
    if found.reweighted:
        number = plural(len(found.reweighted), "weight")
        yield f"    {number} differ{'s' if len(found.reweighted) == 1 else ''}"
        yield from _meaning("", "sources are drawn with the new weights from the next chunk on", columns, color)


def _source(entry: Entry) -> str:
    first = next((path.text for path in entry.paths), entry.subject)
    return f"{show(entry.type_name)} {visible(first)}"


def _verdict(change: Change) -> str:
    if not change.differences and not change.sources and not change.lone:
        return "No effective value of the training data differs."
    if not change.resumable:
        return "Neither saves its position in the data on both sides (`use_stateful_dataloader`): each chunk begins anew anyway."
    if not change.continues:
        return "They are different experiments (`exp_manager`'s name or folder): the second begins a chain of its own."
    if change.matters:
        return "A chain of the first does not go on with the second as it was saved."
    return "A chain of the first goes on with the second where it was saved."

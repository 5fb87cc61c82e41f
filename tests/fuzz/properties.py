"""What has to hold for any text: each function tries one part of the program and raises AssertionError where it fails."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import yaml
from nemo_resumable.core.analysis import Analysis, analyze
from nemo_resumable.core.artifacts import NotAConfig, prepare
from nemo_resumable.core.findings import Finding, Location
from nemo_resumable.core.fixing import FixResult, fix
from nemo_resumable.core.model.index_packs import read_pack, segments
from nemo_resumable.core.model.indexes import IndexReader
from nemo_resumable.core.model.launcher.facts import Launcher
from nemo_resumable.core.model.launcher.reader import read_launcher
from nemo_resumable.core.model.sidecar_files import look, read_sidecar
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import SettingsError, load_settings
from nemo_resumable.core.syntax.nodes import Alias, Document, Mapping, Node, Scalar, Sequence
from nemo_resumable.core.syntax.reader import read
from nemo_resumable.core.text import Source, UndecodableText
from nemo_resumable.hooks.cli import main

from .bounds import limited

#: Codes that speak of what lies on the disk, and not of the text.
_OF_THE_DISK = ("NR8",)


def a_project(folder: Path, *, indexes: bool = False) -> Project | None:
    """The project of a folder; None where its settings are refused, which they may be."""
    try:
        settings = load_settings(folder)
        project = Project(settings, folder, indexes=IndexReader() if indexes else None)
        _ = project.stated_runtime
    except SettingsError:
        return None
    return project


def shown(finding: Finding) -> tuple[object, ...]:
    """A finding as something that can be compared between two analyses."""
    edits = tuple((edit.file.name, edit.span, edit.text) for edit in finding.fix.edits) if finding.fix else ()
    place = (finding.location.file.name, finding.location.span)
    return (
        finding.code,
        *place,
        finding.subject,
        finding.message,
        finding.severity.value,
        repr(finding.current),
        edits,
    )


def _inside(location: Location, what: str) -> None:
    span, text = location.span, location.source.text
    assert 0 <= span.start <= span.end <= len(text), f"the span {span} of {what} is outside a text of {len(text)}"


def spans_are_inside(analysis: Analysis) -> None:
    """Every place that is told lies in its text, and every edit in the version of the file that was read."""
    texts: dict[Path, int] = {}
    for finding in analysis.findings:
        _inside(finding.location, finding.code)
        texts.setdefault(finding.location.file, len(finding.location.source.text))
        for related in finding.related:
            _inside(related.location, f"what is related to {finding.code}")
        assert finding.message.strip(), finding.code
        assert not finding.message.endswith("."), finding.message
        assert "\n" not in finding.message, repr(finding.message)
    for finding in analysis.findings:
        for edit in finding.fix.edits if finding.fix else ():
            most = texts.get(edit.file)
            assert 0 <= edit.span.start <= edit.span.end, (finding.code, edit)
            assert most is None or edit.span.end <= most, (finding.code, edit)


def reading(data: bytes) -> None:
    """The reader takes any text, and everything in its tree has a place in it."""
    try:
        source = Source.from_bytes(Path("/p/a.yaml"), data)
    except UndecodableText:
        return
    assert source.to_bytes() == data
    with limited("reading"):
        document = read(source)
        again = read(source)
    _tree(document, len(source.text))
    assert [(each.kind, each.span) for each in document.problems] == [(each.kind, each.span) for each in again.problems]
    for problem in document.problems:
        assert 0 <= problem.span.start <= problem.span.end <= len(source.text) + 1, problem
        assert not problem.message.endswith("."), problem.message


def _tree(document: Document, size: int) -> None:
    seen: set[int] = set()
    nodes: list[Node] = [document.root] if document.root is not None else []
    while nodes:
        node = nodes.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        assert 0 <= node.span.start <= node.span.end <= size, node.span
        if isinstance(node, Alias):
            nodes.append(node.target)
        elif isinstance(node, Sequence):
            nodes += node.items
        elif isinstance(node, Mapping):
            for pair in node.pairs:
                nodes.append(pair.value)
        else:
            assert isinstance(node, Scalar)
            assert node.value is None or isinstance(node.value, (str, int, float, bool, bytes)), type(node.value)


def judging(folder: Path, name: str, *, indexes: bool = False) -> Analysis | None:
    """Judging never raises, says the same twice, and points into the text; None where settings are refused."""
    first, second = a_project(folder, indexes=indexes), a_project(folder, indexes=indexes)
    if first is None or second is None:
        return None
    with limited("judging"):
        analysis = analyze(first, [folder / name])
    with limited("judging again"):
        again = analyze(second, [folder / name])
    assert list(map(shown, analysis.findings)) == list(map(shown, again.findings)), "two answers to one text"
    assert [each.readiness for each in analysis.configs] == [each.readiness for each in again.configs]
    spans_are_inside(analysis)
    return analysis


def fixing(folder: Path, name: str, *, for_artifact: bool = False, exclude_blocked: bool = False) -> None:
    """Fixes hold when the files are read anew, add no error, keep comments, and have nothing left to do."""
    project = a_project(folder)
    assert project is not None
    options = {"for_artifact": for_artifact, "exclude_blocked": exclude_blocked}
    with limited("fixing", 4.0):
        result = fix(project, [folder / name], **options)
    if not result.texts:
        return
    before = {path: Source.from_bytes(path, path.read_bytes()) for path in result.texts}
    for path, source in result.texts.items():
        assert source.bom == before[path].bom
        _comments_are_kept(before[path], source)
    for path, source in result.texts.items():
        path.write_bytes(source.to_bytes())
    anew = a_project(folder)
    assert anew is not None
    after = analyze(anew, [folder / name])
    assert sorted(map(str, map(shown, after.findings))) == sorted(map(str, map(shown, result.analysis.findings))), (
        "the files read anew say something else than was verified"
    )
    spans_are_inside(after)
    _nothing_new(result, after)
    with limited("fixing again", 4.0):
        again = fix(anew, [folder / name], **options)
    assert not again.texts, f"a second run changes more: {[finding.code for finding in again.applied]}"


def _nothing_new(result: FixResult, after: Analysis) -> None:
    def blocking(findings: Iterable[Finding]) -> Counter[str]:
        return Counter(
            finding.code
            for finding in findings
            if finding.severity.blocks and finding.suppressed is None and not finding.code.startswith(_OF_THE_DISK)
        )

    new = blocking(after.findings) - blocking(result.before.findings)
    assert not new, f"the fixed text has new errors: {dict(new)}"


def comments(source: Source) -> Counter[str]:
    """The comments of a YAML text by its tokens, found without our reader; of a script, the lines that begin so."""
    if not source.path.name.endswith((".yaml", ".yml")):
        return Counter(line.strip() for line in source.text.split("\n") if line.lstrip().startswith("#"))
    found: Counter[str] = Counter()
    end = 0
    try:
        for token in yaml.scan(source.text, Loader=yaml.SafeLoader):
            _gap(source.text[end : token.start_mark.index], found)
            end = max(end, token.end_mark.index)
    except yaml.YAMLError:
        return Counter()
    _gap(source.text[end:], found)
    return found


def _gap(text: str, found: Counter[str]) -> None:
    for line in text.splitlines():
        if "#" in line:
            found[line[line.index("#") :].rstrip()] += 1


def _comments_are_kept(before: Source, after: Source) -> None:
    left = comments(after)
    for lost in comments(before) - left:
        if "nemo-resumable:" in lost or any(lost in each for each in left):
            continue  # NR014 takes idle ones out, and an entry that is left out stays as comments
        lines = [line for line in re.split(r"\r\n?|\n", before.text) if lost in line]
        gone = [line for line in lines if line.split("#")[0].strip() and line.split(":")[0] + ":" not in after.text]
        assert gone, f"the comment is gone: {lost}"  # one that stood behind a key went with the key


def migrating(folder: Path, name: str) -> None:
    """The artifacts are made or refused in words, and are the same twice."""
    made = []
    for _ in range(2):
        project = a_project(folder)
        assert project is not None
        try:
            with limited("migrating", 4.0):
                made.append(prepare(project, folder / name, exclude_blocked=True).files)
        except NotAConfig:
            return
    assert made[0] == made[1]


def on_the_command_line(folder: Path, name: str, analysis: Analysis) -> None:
    """The command prints valid JSON with the findings of the analysis, whatever the text."""
    out, err = io.StringIO(), io.StringIO()
    with _inside_of(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), limited("the command"):
        code = main(["check", "--format", "json", name])
    assert "Traceback" not in err.getvalue(), err.getvalue()
    assert "internal error" not in err.getvalue(), err.getvalue()
    if code == 2:
        assert err.getvalue().startswith("nemo-resumable: "), err.getvalue()
        assert analysis.problems, err.getvalue()
        return
    told = [(each["code"], each["message"], each["start"]) for each in json.loads(out.getvalue())["findings"]]
    places = [(each, each.location.positions[0]) for each in analysis.findings]
    assert told == [(each.code, each.message, {"line": at.line, "column": at.column}) for each, at in places]


@contextlib.contextmanager
def _inside_of(folder: Path) -> Iterable[None]:  # type: ignore[misc]
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def launching(data: bytes, name: str) -> None:
    """A launcher of any text is read in bounded work, the same twice, and everything it says has a place in it."""
    try:
        source = Source.from_bytes(Path("/p") / name, data)
    except UndecodableText:
        return
    with limited(f"reading the launcher {name}"):
        launcher = read_launcher(source)
    with limited(f"reading the launcher {name} again"):
        assert _facts(read_launcher(source)) == _facts(launcher), "two answers to one text"


def _facts(launcher: Launcher) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for launch in launcher.launches:
        _inside(launch.location, "a launch")
        for override in launch.overrides:
            _inside(override.location, "an override")
            _inside(override.value.location, "an override's value")
            found.append((override.prefix, override.key, override.value.text, override.location.span))
        found.append((launch.location.span,))
    for gap in launcher.gaps:
        _inside(gap.location, "a gap")
        found.append((gap.location.span, gap.sentence))
    return found


def indexes(path: Path, data: bytes) -> None:
    """Index files of any bytes are read to a verdict."""
    path.write_bytes(data)
    with limited("reading an index"):
        if path.suffix == ".idx":
            for jsonl in (True, False):
                read_sidecar(str(path), look(str(path)), jsonl=jsonl, strict=not jsonl, source_size=None)
        else:
            pack = read_pack(str(path))
            for key in pack.collections:
                list(segments(pack, key))

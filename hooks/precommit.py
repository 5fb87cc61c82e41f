"""Our hook in a repository's `.pre-commit-config.yaml`: the lines, and where they go in a file that is there already."""

from __future__ import annotations

from pathlib import Path

from nemo_resumable.core.findings import Edit
from nemo_resumable.core.syntax.applying import apply_edits
from nemo_resumable.core.syntax.nodes import Document, Mapping, Sequence, deref, to_plain
from nemo_resumable.core.syntax.reader import read
from nemo_resumable.core.text import Source, Span, UndecodableText

FILE = ".pre-commit-config.yaml"

#: Runs the command that is installed where the commit is made; its keys are those of our own `.pre-commit-hooks.yaml`.
HOOK = """\
- repo: local
  hooks:
    - id: nemo-resumable
      name: nemo-resumable
      entry: nemo-resumable check --staged --force-exclude
      language: system
      types: [text]
      files: \\.(ya?ml|sh|bash|sbatch|slurm|py)$
      always_run: true
      require_serial: true
"""


def with_hook(path: Path) -> bytes | None:
    """The content of the file with our hook in it; b"" where it has one, None where the lines cannot be put in safely."""
    if not path.exists():
        return f"repos:\n{_indented(HOOK, '  ')}".encode()
    try:
        source = Source.from_bytes(path, path.read_bytes())
    except (UndecodableText, OSError):
        return None
    document = read(source, recover=False)
    repositories = _repositories(document)
    if repositories is None:
        return None
    before = [to_plain(repository) for repository in repositories.items]
    if any(_ids(repository) & {"nemo-resumable", "nemo-resumable-fix"} for repository in before):
        return b""
    changed = read(apply_edits(source, [_appended(source, repositories)]), recover=False)
    after = _repositories(changed)
    hook = read(Source.from_text(path, HOOK), recover=False).root
    if after is None or hook is None or [*map(to_plain, after.items[:-1])] != before:
        return None
    return changed.source.to_bytes() if [to_plain(after.items[-1])] == to_plain(hook) else None


def _repositories(document: Document) -> Sequence | None:
    """The list of `repos`, where it is one of lines with something in it."""
    if not document.parses or not isinstance(document.root, Mapping) or document.further_documents:
        return None
    pair = document.root.get("repos")
    node = deref(pair.value) if pair is not None else None
    return node if isinstance(node, Sequence) and node.items and not node.flow else None


def _ids(repository: object) -> set[object]:
    hooks = repository.get("hooks") if isinstance(repository, dict) else None
    return {hook.get("id") for hook in hooks if isinstance(hook, dict)} if isinstance(hooks, list) else set()


def _appended(source: Source, repositories: Sequence) -> Edit:
    """The hook as the last item of the list, indented as the items are."""
    first = source.lines.line_text(source.lines.position(repositories.span.start).line)
    indent = first[: len(first) - len(first.lstrip(" "))]
    last = source.lines.line_span(source.lines.position(repositories.span.end).line)
    text = _indented(HOOK, indent).replace("\n", source.newline)
    return Edit(source.path, Span(last.end, last.end), source.newline + text.removesuffix(source.newline))


def _indented(text: str, indent: str) -> str:
    return "".join(f"{indent}{line}" for line in text.splitlines(keepends=True))

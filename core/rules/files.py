"""NR001, NR002, NR009-NR013: what OmegaConf makes of the files themselves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..findings import FixKind, Related, Severity
from ..model.reading import BLEND, CONFIG, Reading
from ..model.schema import OPTIONS
from ..syntax.interpolation import Reference, references
from ..syntax.nodes import Mapping, Node, Scalar, Sequence, deref
from ..syntax.removing import quote_scalar, unwrap_root_pair
from .drafts import Draft, attempt
from .registry import rule

#: OmegaConf 2.4 loads at most so many nodes, aliases counted as copies, unless told otherwise.
NODE_LIMIT = 10_000

#: Keys whose value is a string to its reader, so that `no`, `012` or `1:30` unquoted is something else than meant.
_STRING_KEYS = frozenset(
    [
        "max_time_per_run",
        "max_time",
        "language",
        "source_language",
        "target_language",
        "questions_language",
        "audio_locator_tag",
        "prompt_format",
        "lang",
        "source_lang",
        "target_lang",
        "lang_field",
        "text_field",
    ]
)
_MAY_WANT_TEXT = _STRING_KEYS | {key for key, option in OPTIONS.items() if option.type.startswith("str")}


@rule("NR001", "invalid-yaml", Severity.ERROR)
def invalid_yaml(reading: Reading) -> Iterator[Draft]:
    """OmegaConf refuses the text of a config or blend."""
    for problem in reading.document.problems:
        if problem.kind == "duplicate-key":
            continue
        related = (Related(reading.at(problem.related), problem.related_message),) if problem.related else ()
        yield Draft(
            f"OmegaConf cannot load this file: {problem.message}",
            reading.at(problem.span),
            reading.role,
            related=related,
        )


@rule("NR002", "duplicate-key", Severity.ERROR)
def duplicate_key(reading: Reading) -> Iterator[Draft]:
    """A mapping repeats a key."""
    for problem in reading.document.problems:
        if problem.kind == "duplicate-key" and problem.related is not None:
            key = reading.document.source.cut(problem.span)
            effect = (
                "in a blend the later value wins without a word"
                if reading.role == BLEND
                else "OmegaConf refuses to load the file"
            )
            yield Draft(
                f"the key `{key}` stands twice in one mapping: {effect}",
                reading.at(problem.span),
                key,
                related=(Related(reading.at(problem.related), "first set here"),),
            )


@rule("NR009", "blend-not-a-list", Severity.ERROR, fix=FixKind.SAFE)
def blend_not_a_list(reading: Reading) -> Iterator[Draft]:
    """An external blend is not a list at top level."""
    root = reading.document.root
    if reading.role != BLEND or isinstance(root, Sequence):
        return
    if isinstance(root, Mapping) and root.pairs:
        first = root.pairs[0].key
        lone = len(root.pairs) == 1 and isinstance(first, Scalar) and first.value == "input_cfg"
        fix = attempt("Unwrap `input_cfg`", lambda: unwrap_root_pair(reading.document, "input_cfg")) if lone else None
        yield Draft(
            "a blend file has to be a list of entries: reading this mapping raises a TypeError at start-up",
            reading.at(first.span),
            "blend",
            rationale="The index builder accepts the mapping form, the dataloader does not.",
            fix=fix,
        )
    elif reading.document.parses:
        source = reading.document.source
        yield Draft(
            "a blend file has to be a list of entries: there is none in this file",
            reading.at(source.lines.line_span(1) if root is None else root.span),
            "blend",
        )


@rule("NR010", "interpolation-in-blend", Severity.ERROR)
def interpolation_in_blend(reading: Reading) -> Iterator[Draft]:
    """A blend file refers to a key of the config."""
    if reading.role != BLEND or "${" not in reading.document.source.text:
        return
    for path, scalar in reading.scalars():
        if not isinstance(scalar.value, str) or "${" not in scalar.value:
            continue
        for found in references(scalar.value):
            if isinstance(found, Reference) and not found.level:
                name = ".".join(part if isinstance(part, str) else "…" for part in found.path)
                yield Draft(
                    f"`${{{name}}}` cannot be resolved inside a blend file, which knows no key of the config: an "
                    "InterpolationResolutionError at start-up",
                    reading.at(scalar.span),
                    ".".join(path),
                    current=scalar.value,
                    rationale="Only resolvers such as `${oc.env:NAME}` work here; or write the path out.",
                )
                break


@rule("NR011", "ambiguous-scalar", Severity.ERROR, fix=FixKind.SAFE)
def ambiguous_scalar(reading: Reading) -> Iterator[Draft]:
    """YAML 1.1 reads an unquoted text as something else."""
    if not _may_be_ambiguous(reading.document.root):
        return
    for path, scalar in reading.scalars():
        if scalar.style != "plain" or isinstance(scalar.value, str) or scalar.value is None or not path:
            continue
        option = OPTIONS.get(path[-1])
        wants_text = path[-1] in _STRING_KEYS or (
            option is not None and option.type.startswith("str") and len(path) > 1 and path[-2].endswith("_ds")
        )
        if wants_text and str(scalar.value) != scalar.text and _in_scope(reading, path):
            yield Draft(
                f"YAML reads the unquoted `{scalar.text}` as {_as_read(scalar.value)}, not as text",
                reading.at(scalar.span),
                ".".join(path),
                current=scalar.value if not isinstance(scalar.value, bytes) else None,
                recommended=scalar.text,
                fix=attempt("Quote the value", partial(quote_scalar, reading.document, scalar)),
            )


def _may_be_ambiguous(root: Node | None) -> bool:
    """Whether a key that wants text has another plain value: a look at the pairs alone, for most files have none."""
    stack: list[Node] = [root] if root is not None else []
    while stack:
        node = stack.pop()
        if isinstance(node, Sequence):
            stack += [item for item in node.items if not isinstance(item, Scalar)]
        elif isinstance(node, Mapping):
            for pair in node.pairs:
                value = pair.value
                if not isinstance(value, Scalar):
                    stack.append(value)
                elif (
                    value.style == "plain"
                    and not isinstance(value.value, (str, type(None)))
                    and str(value.value) != value.text
                ):
                    if isinstance(pair.key, Scalar) and str(pair.key.value) in _MAY_WANT_TEXT:
                        return True
    return False


def _in_scope(reading: Reading, path: tuple[str, ...]) -> bool:
    """Whether Lhotse, the trainer or exp_manager reads the value: other sections have their own meaning."""
    if reading.role != CONFIG or reading.config is None:
        return reading.role == BLEND
    return path[0] in ("exp_manager", "trainer") or any(part.endswith("_ds") for part in path)


def _as_read(value: object) -> str:
    if isinstance(value, bool):
        return f"the truth value {str(value).lower()}"
    return f"the number {value}"


@rule("NR012", "oversized-document", Severity.WARNING)
def oversized_document(reading: Reading) -> Iterator[Draft]:
    """The file has more nodes than OmegaConf loads."""
    document = reading.document
    if document.expanded_nodes > NODE_LIMIT and document.root is not None and reading.role != BLEND:
        root = deref(document.root)
        place = root.pairs[0].key.span if isinstance(root, Mapping) and root.pairs else root.span
        yield Draft(
            f"the file has {document.expanded_nodes:,} nodes: OmegaConf from 2.4 on refuses more than {NODE_LIMIT:,} unless "
            "`OMEGACONF_MAX_YAML_EXPANDED_NODES` is raised",
            reading.at(place),
            reading.role,
            current=document.expanded_nodes,
            rationale="Move the blend into a file of its own, which Lhotse loads without this limit.",
        )


@rule("NR013", "several-documents", Severity.ERROR)
def several_documents(reading: Reading) -> Iterator[Draft]:
    """The file holds more than one YAML document."""
    for span in reading.document.further_documents[:1]:
        yield Draft(
            "a second YAML document begins here: a file with more than one is refused when it is loaded",
            reading.at(span),
            reading.role,
        )

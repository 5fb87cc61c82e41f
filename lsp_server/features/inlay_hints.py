"""Inlay hints, where the user wants them: shard counts, what interpolations give, NeMo's default of an absent needed key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from lsprotocol import types
from nemo_resumable.core.model.dataset import Dataset
from nemo_resumable.core.model.reading import CONFIG, Reading
from nemo_resumable.core.model.values import Unknown, show
from nemo_resumable.core.syntax.nodes import Scalar
from nemo_resumable.core.text import Span

from ..analyses import Result
from ..explaining import counted
from ..places import interpolations
from ..resolving import PATH_KEYS, Resolver, resolver_of, shards_of
from ..sections import reads_as_blend
from ..server import Server
from ..view import FileView

SWITCH = "inlay-hints"
#: Options that a training dataset needs, in the order in which a hint names those that are left to NeMo's default.
_NEEDED = ("indexed", "use_stateful_dataloader", "indexes_root", "seed", "shard_seed", "num_workers")
_LONGEST = 40  #: characters of a value


def register(server: Server) -> None:
    """Give the server its handlers."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT, types.InlayHintOptions(resolve_provider=False))
    async def hints(ls: Server, params: types.InlayHintParams) -> list[types.InlayHint]:
        path = ls.session.path_of(params.text_document.uri)
        if path is None or not ls.session.projects.options_at(path)[SWITCH]:
            return []
        view = await ls.session.view(params.text_document.uri)
        return [] if view is None else [_hint(view, at, text) for at, text in hints_of(view, view.span(params.range))]

    wanted: set[Path | None] = set()  #: the folders for which the client has been told that there are hints

    def refresh(_: Iterable[Result]) -> None:
        """Have the client ask again when the user has switched hints on or off; all is judged anew then."""
        now = {folder for folder, options in server.session.projects.options.items() if options[SWITCH]}
        if now != wanted and server.client.can("workspace.inlay_hint.refresh_support"):
            server.workspace_inlay_hint_refresh(None)
        wanted.clear()
        wanted.update(now)

    server.session.after.append(refresh)


def hints_of(view: FileView, asked: Span) -> Iterator[tuple[int, str]]:
    """The hints within a part of a file: where each stands, and its text."""
    if view.syntax.root is None or not (view.configs or reads_as_blend(view)):
        return
    resolver = resolver_of(view)
    for path, scalar in Reading(view.syntax, CONFIG, None).scalars():
        if scalar.span.end >= asked.start and scalar.span.start <= asked.end and isinstance(scalar.value, str):
            yield from _of_value(view, resolver, path, scalar)
    config = view.own_config
    for dataset in config.training if config is not None else ():
        at = dataset.location
        if at.file == view.path and asked.start <= at.span.end <= asked.end and (text := _defaults(dataset)):
            colon = view.source.text.startswith(":", at.span.end)
            yield at.span.end + colon, text


def _of_value(view: FileView, resolver: Resolver, path: tuple[str, ...], scalar: Scalar) -> Iterator[tuple[int, str]]:
    key = next((name for name in reversed(path) if not name.isdigit()), "")
    taken = -1
    for piece in interpolations(view.source, scalar):
        if piece.span.start < taken:
            continue  # it stands inside one that is told
        taken = piece.span.end
        value = resolver.text(piece.text, path)
        if not isinstance(value, (Unknown, list, dict)) and len(said := show(value)) <= _LONGEST:
            yield piece.span.end, f"= {said}"
    if key in PATH_KEYS and isinstance(scalar.value, str):
        value = resolver.text(scalar.value, path)
        number = shards_of(value if isinstance(value, str) else scalar.value).number
        if number > 1:
            yield scalar.span.end, counted(number, "shard")


def _defaults(dataset: Dataset) -> str:
    settings = [dataset[key] for key in _NEEDED]
    absent = [f"{each.key}: {show(each.value)}" for each in settings if not each.stated and each.known]
    return f"by default {', '.join(absent)}" if absent else ""


def _hint(view: FileView, at: int, text: str) -> types.InlayHint:
    return types.InlayHint(view.position(at), text, padding_left=True)

"""Reads a dataset's blend: follows `input_cfg` through lists and files, cuts cycles, and notes what it could not read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..findings import Location
from ..syntax.nodes import Alias, Document, Mapping, Scalar, Sequence, deref
from .blend import Entry
from .composition import Found, Layer, Section
from .context import BlendFile, find_blend
from .dataset import Dataset
from .values import Setting, Unknown

_MAX_DEPTH = 60
_FLAT_KEYS = ("cuts_path", "shar_path", "manifest_filepath")


@dataclass(frozen=True, slots=True)
class Gap:
    """A part of a blend that could not be read: its place, why, and what kind of gap it is."""

    location: Location
    subject: str
    spec: str
    reason: str
    kind: str  #: missing · unknown · cycle · not-a-list · remote · unset
    dataset: Dataset


@dataclass(frozen=True, slots=True)
class Site:
    """A place that names a blend file by its path."""

    location: Location
    spec: str
    target: Path
    external: bool  #: it stands in a blend file itself, so the path is relative to that file


@dataclass(slots=True)
class BlendReader:
    """Builds the entries of datasets and remembers which blend files were read and which parts could not be."""

    files: dict[Path, BlendFile] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)

    def attach(self, dataset: Dataset) -> None:
        """Read a dataset's blend into `dataset.entries`."""
        found = dataset.find("input_cfg")
        setting = dataset["input_cfg"]
        if found is not None and setting.value is not None:
            path = (*dataset.path, "input_cfg")
            entries = self._children(dataset, None, found, setting, path, external=False, chain=())
        elif any(dataset.find(key) is not None and dataset[key].value is not None for key in _FLAT_KEYS):
            entries = (Entry(dataset, dataset.section, flat=True),)
        else:
            entries = ()
        object.__setattr__(dataset, "entries", entries)

    def _children(
        self,
        dataset: Dataset,
        parent: Entry | None,
        found: Found,
        setting: Setting,
        path: tuple[str, ...],
        *,
        external: bool,
        chain: tuple[Path, ...],
    ) -> tuple[Entry, ...]:
        """The entries a written `input_cfg` stands for."""
        node = found.node
        if isinstance(node, Sequence):
            return self._list(dataset, parent, found.document, node, path, external=external, chain=chain)
        value = setting.value
        subject = ".".join(path)
        if isinstance(value, Unknown):
            kind = "unset" if value.kind == "missing" else "unknown"
            self.gaps.append(Gap(found.location, subject, value.text, value.reason, kind, dataset))
        elif isinstance(value, str):
            return self._external(dataset, parent, found, value, path, external=external, chain=chain)
        elif isinstance(value, list) and (target := self._interpolated_list(dataset, found)) is not None:
            return self._list(dataset, parent, target[0], target[1], path, external=external, chain=chain)
        elif not isinstance(node, Scalar) or value is not None:
            reason = "`input_cfg` is neither a list of entries nor the path of one"
            self.gaps.append(Gap(found.location, subject, subject, reason, "not-a-list", dataset))
        return ()

    def _interpolated_list(self, dataset: Dataset, found: Found) -> tuple[Document, Sequence] | None:
        """The list that `input_cfg: ${some.key}` stands for, when it is one plain reference inside the config."""
        node = found.node
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            return None
        path = node.value.strip().removeprefix("${").removesuffix("}").split(".")
        section: Section | None = dataset.config.composition.root
        for key in path[:-1]:
            section = section.section(key) if section else None
        target = section.get(path[-1]) if section else None
        if target is not None and isinstance(target.node, Sequence):
            return target.document, target.node
        return None

    def _external(
        self,
        dataset: Dataset,
        parent: Entry | None,
        found: Found,
        spec: str,
        path: tuple[str, ...],
        *,
        external: bool,
        chain: tuple[Path, ...],
    ) -> tuple[Entry, ...]:
        subject = ".".join(path)
        blend = find_blend(spec, found.document.source.path, external, dataset.config.context)
        if blend.document is None or blend.path is None:
            kind = "remote" if "://" in spec else "missing"
            self.gaps.append(Gap(found.location, subject, spec, blend.how, kind, dataset))
            return ()
        if blend.path in chain or len(chain) > _MAX_DEPTH:
            self.gaps.append(Gap(found.location, subject, spec, f"`{spec}` reaches itself", "cycle", dataset))
            return ()
        self.files.setdefault(blend.path, blend)
        self.sites.append(Site(found.location, spec, blend.path, external))
        root = blend.document.root
        top: tuple[str, ...] = ()
        if isinstance(root, Mapping) and (pair := root.get("input_cfg")) is not None:
            inner = deref(pair.value)
            if isinstance(inner, Sequence):  # NR009 reports it; its entries are judged all the same
                root, top = inner, ("input_cfg",)
        if not isinstance(root, Sequence):
            return ()
        return self._list(dataset, parent, blend.document, root, top, external=True, chain=(*chain, blend.path))

    def _list(
        self,
        dataset: Dataset,
        parent: Entry | None,
        document: Document,
        sequence: Sequence,
        path: tuple[str, ...],
        *,
        external: bool,
        chain: tuple[Path, ...],
    ) -> tuple[Entry, ...]:
        entries = []
        for index, item in enumerate(sequence.items):
            node = deref(item)
            if not isinstance(node, Mapping):
                continue
            place = Location(document.source, item.span if isinstance(item, Alias) else node.span)
            section = Section((*path, str(index)), (Layer(document, node),), place)
            entry = Entry(dataset, section, parent, external, sequence=sequence, index=index)
            found = section.get("input_cfg")
            if found is not None and len(path) < 4 * _MAX_DEPTH:
                below = (*section.path, "input_cfg")
                children = self._children(
                    dataset, entry, found, entry["input_cfg"], below, external=external, chain=chain
                )
                object.__setattr__(entry, "children", children)
            entries.append(entry)
        return tuple(entries)

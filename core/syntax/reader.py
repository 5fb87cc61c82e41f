"""Reads YAML exactly as OmegaConf does, into nodes with spans."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import yaml

from ..text import Source, Span
from .building import MAX_DEPTH, Build, TooDeep, used
from .nodes import Document, Scalar, SyntaxProblem
from .problems import from_encode_error, from_yaml_error
from .versions import version_problems


def read(source: Source, *, recover: bool = True) -> Document:
    """Read the first document of a text. Never raises: what OmegaConf would refuse becomes a problem with its place.

    With `recover`, text that is no YAML is read again with the offending lines left out, so that the rest can be judged.
    """
    build = Build(source.text)
    try:
        with _gc_paused():
            build.run()
    except TooDeep as error:
        span = Span(error.offset, error.offset + 1)
        message = f"it is nested more than {MAX_DEPTH} levels deep, and OmegaConf cannot follow"
        return Document(source, None, (SyntaxProblem("recursion", message, span),))
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        problem = from_yaml_error(error, source) if isinstance(error, yaml.YAMLError) else from_encode_error(error)
        if build.root is not None:  # the first document is whole
            return _document(source, build, (problem,))
        if recover:
            from .recovery import recovered

            return recovered(source, problem)
        return Document(source, None, (problem,))
    return _document(source, build)


def _document(source: Source, build: Build, problems: tuple[SyntaxProblem, ...] = ()) -> Document:
    root = build.root
    found = [*problems, *build.findings.problems, *version_problems(source.text, root, build.findings)]
    if build.malformed and not isinstance(root, Scalar):
        reached = used(root)
        found += [problem for node, problem in build.malformed if id(node) in reached]
    if isinstance(root, Scalar) and root.value is not None:
        found.append(SyntaxProblem("not-a-config", "the file holds a single value instead of keys", root.span))
    found.sort(key=lambda problem: problem.span)
    return Document(source, root, tuple(found), tuple(build.further), build.count)


@contextmanager
def _gc_paused() -> Iterator[None]:
    """Nothing made here is garbage, and on large files the collector takes half of the time.

    Freezing and thawing moves the new nodes to the oldest generation unseen; else the first collection would visit them all.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count() == 0:  # a program that froze objects of its own keeps them frozen
            gc.freeze()
            gc.unfreeze()
        gc.enable()

"""Limits of a step: seconds of the processor, and memory."""

from __future__ import annotations

import contextlib
import gc
import resource
import signal
import threading
from collections.abc import Iterator
from types import FrameType

SECONDS = 2.0  #: of the processor, for anything done with one small project
MEGABYTES = 300  #: by which one case may make the process grow


class Hang(BaseException):
    """Something took longer than it may. No `except Exception` of the code under test catches it."""


@contextlib.contextmanager
def limited(what: str, seconds: float = SECONDS) -> Iterator[None]:
    """Raise Hang inside where the work does not end in time; the traceback shows at what it was."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(number: int, frame: FrameType | None) -> None:
        raise Hang(f"{what} takes more than {seconds:g} s of the processor")

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def bounded_memory() -> Iterator[None]:
    """Complain where the most that the process ever held went up by more than a case may take."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    if grown > MEGABYTES:
        gc.collect()
        raise AssertionError(f"the process grew by {grown} MB")

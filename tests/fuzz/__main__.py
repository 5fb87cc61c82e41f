"""`python -m tests.fuzz --cases 100000 --seed 1`: so many cases, over two processes, each failure with the way to see it again."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from .cases import chunk, run
from .material import SHARED

_CHUNK = 250


def main() -> int:
    """Run the cases; 1 where one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="what chance begins with (default: %(default)s)")
    parser.add_argument("--from", type=int, default=0, dest="first", metavar="CASE", help="begin with this one")
    parser.add_argument("--case", type=int, help="this one alone, and leave its files in --keep")
    parser.add_argument("--keep", type=Path, help="the folder for the files of --case")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--own", action="store_true", help="without the public files beside this repository")
    arguments = parser.parse_args()
    shared = SHARED.is_dir() and not arguments.own
    if arguments.case is not None:
        folder = arguments.keep or Path(tempfile.mkdtemp(prefix="fuzz-"))
        failure = run(arguments.seed, arguments.case, folder / "p", shared=shared)
        print(failure or "holds", f"(files in {folder})")
        return failure is not None
    end = arguments.first + arguments.cases
    chunks = [
        (arguments.seed, first, min(first + _CHUNK, end), shared) for first in range(arguments.first, end, _CHUNK)
    ]
    own = "" if shared else " --own"
    failed, spent = 0, 0.0
    with ProcessPoolExecutor(arguments.processes, multiprocessing.get_context("spawn")) as pool:
        for last, failures, seconds in pool.map(chunk, chunks):
            failed += len(failures)
            spent += seconds
            for failure in failures:
                number = failure.split()[1]
                print(f"FAILED {failure}  again: python -m tests.fuzz --seed {arguments.seed} --case {number}{own}\n")
            if last % 5000 == 0 or last == end or failures:
                print(f"up to case {last}: {failed} failed, {spent:.0f} s of the processor", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

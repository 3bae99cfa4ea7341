"""``python -m support.pyodide [ARGUMENTS]``: pytest under Pyodide, in Node, with these arguments.

``PYTHONPATH=tests`` is needed. Numba's simulator answers from this Python. Left out are tests that
start other processes, call other parts of Numba, or need packages that are compiled; ``-rs`` lists
them. A table of the counts ends it, beside the number of tests that there are."""

from __future__ import annotations

import subprocess
import sys

from support.paths import ROOT
from support.pyodide.counts import collected, table
from support.pyodide.node import suite
from warpwise.book.parts.listed import MissingPart


def main(*arguments: str) -> int:
    try:
        status, counts = suite(*arguments)
    except MissingPart as missing:
        sys.exit(f"there is no Pyodide: {missing}")
    command = [sys.executable, "-m", "pytest", "-p", "no:nbval", "--collect-only", "-q"]
    chosen = [one for one in arguments if one != "-q"]  # with two, pytest lists no tests
    listed = subprocess.run([*command, *chosen], cwd=ROOT, capture_output=True, text=True)
    print(*table(counts, collected(listed.stdout)), sep="\n")
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""``python -m support.pyodide [ARGUMENTS]``: pytest under Pyodide, in Node, with these arguments.

``PYTHONPATH=tests`` is needed. Numba's simulator answers from this Python. Left out are tests that
start other processes, call other parts of Numba, or need packages that are compiled; ``-rs`` lists
them. A table of the counts ends it, beside the number of tests that there are."""

from __future__ import annotations

import subprocess
import sys

from support.paths import ROOT
from support.pyodide.counts import collected, outcomes, table
from support.pyodide.node import HERE, in_pyodide
from warpwise.book.parts.listed import MissingPart


def main(*arguments: str) -> int:
    results = ROOT / "_build/pyodide.xml"
    results.parent.mkdir(exist_ok=True)
    results.unlink(missing_ok=True)
    try:
        done = in_pyodide(HERE / "suite.py", f"--junitxml={results}", *arguments)
    except MissingPart as missing:
        sys.exit(f"there is no Pyodide: {missing}")
    if results.exists():
        command = [sys.executable, "-m", "pytest", "-p", "no:nbval", "--collect-only", "-q"]
        listed = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True)
        print(*table(outcomes(results), collected(listed.stdout)), sep="\n")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

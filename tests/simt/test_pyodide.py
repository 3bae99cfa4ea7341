"""The simulator in a browser's Python, with 32 bits and no threads, does what it does here.

``make wasm`` runs the whole suite there; this is a part of it. What is left out there: see
``support.pyodide``."""

import json
import os

import pytest
from support.paths import ROOT
from support.pyodide.counts import FAILED, PASSED, outcomes
from support.pyodide.digests import digests
from support.pyodide.node import HERE, in_pyodide

from warpwise.book.parts import MissingPart

pytestmark = [pytest.mark.slow, pytest.mark.system]

PART = (
    "tests/core/test_trace.py tests/simt/test_counters.py tests/simt/test_sanitizer.py "
    "tests/simt/test_waiting.py tests/cuda/test_kernels.py"
).split()
FEWEST = 280  #: tests of these pass there


def under_pyodide(script: str, *arguments: str) -> str:
    """Return what a script printed."""
    try:
        done = in_pyodide(HERE / script, *arguments, capture_output=True, text=True)
    except MissingPart as missing:
        pytest.skip(f"needs Pyodide: {missing}")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_all_launches_of_the_oracle_count_and_do_the_same():
    here = digests()
    there = json.loads(under_pyodide("digests.py"))
    assert here.keys() == there.keys() and len(here) > 400
    assert [name for name in here if here[name] != there[name]] == []


def test_a_part_of_the_suite_passes():
    results = ROOT / f"_build/pyodide-{os.getpid()}.xml"
    results.parent.mkdir(exist_ok=True)
    try:
        under_pyodide("suite.py", "-q", "-m", "not slow", f"--junitxml={results}", *PART)
        counts = outcomes(results)
    finally:
        results.unlink(missing_ok=True)
    assert sum(n for (_, kind), n in counts.items() if kind == PASSED) >= FEWEST
    assert not any(n for (_, kind), n in counts.items() if kind == FAILED)

"""The simulator in a browser's Python, with 32 bits and no threads, does what it does here.

``make wasm`` runs the whole suite there; this is a part of it. What is left out there: see
``support.pyodide``."""

import json

import pytest
from support.pyodide.counts import FAILED, PASSED
from support.pyodide.digests import digests
from support.pyodide.node import HERE, fetched, in_pyodide, suite

from warpwise.book.parts import MissingPart

pytestmark = [pytest.mark.slow, pytest.mark.system]

PART = (
    "tests/core/test_trace.py tests/simt/test_counters.py tests/simt/test_sanitizer.py "
    "tests/simt/test_waiting.py tests/cuda/test_kernels.py"
).split()
FEWEST = 280  #: tests of these pass there


@pytest.fixture(autouse=True)
def pyodide():
    try:
        fetched()
    except MissingPart as missing:
        pytest.skip(f"needs Pyodide: {missing}")


def test_all_launches_of_the_oracle_count_and_do_the_same():
    here, done = digests(), in_pyodide(HERE / "digests.py", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    there = json.loads(done.stdout)
    assert here.keys() == there.keys() and len(here) > 400
    assert [name for name in here if here[name] != there[name]] == []


def test_a_part_of_the_suite_passes(capfd):
    status, counts = suite("-q", "-m", "not slow", *PART)
    failed = [folder for (folder, kind), n in counts.items() if kind == FAILED and n]
    assert (status, failed) == (0, []), capfd.readouterr().out[-4000:]
    assert sum(n for (_, kind), n in counts.items() if kind == PASSED) >= FEWEST

"""The book's charts of measurements: modelled where nothing was measured, and what the records say where something was."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import ROOT

from warpwise.book.measured import measured_chart, measured_counters, measured_list
from warpwise.book.measured.plot import GB_PER_S, Axis, Line, Plot, Value, amount, microseconds
from warpwise.book.measured.series import panels
from warpwise.book.measured.table import PLOTS
from warpwise.book.measured.words import words
from warpwise.devices import H200
from warpwise.errors import MeasureError
from warpwise.measure.suites import SUITES
from warpwise.measurements import recorded

# Of every suite: its cases as a rehearsal makes them, without running any.
CASES = """
import json, sys
from warpwise.measure.place import in_simulator
place = in_simulator()
from warpwise.measure.suites import suite
found = {}
for name in sys.argv[1:]:
    found[name] = [(case.name, variant.name, variant.by, dict(case.parameters)) for case in suite(name).cases(place) for variant in case.variants]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def rehearsed() -> dict[str, list]:
    """Suite -> (case, variant, by, parameters) of each row that it would write."""
    names = [name for name in SUITES if name != "counters"]
    done = subprocess.run([sys.executable, "-c", CASES, *names], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture
def records(tmp_path: Path, monkeypatch) -> Path:
    """An empty place for records."""
    monkeypatch.setenv("WARPWISE_MEASUREMENTS", str(tmp_path))
    return tmp_path


def row(case: str, variant: str, parameters: dict, **more) -> dict:
    return {"case": case, "variant": variant, "by": "numba", "parameters": parameters, "samples_ms": [1.0], "median_ms": 1.0} | more


def write(folder: Path, suite: str, device: str, rows: list[dict]) -> Path:
    path = folder / device.lower().replace(" ", "-") / f"{suite}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"suite": suite, "title": suite, "device": device, "date": "2026-11-22", "quick": False, "rows": rows}))
    return path


def rows_of(cases: list, faster: float = 1.0) -> list[dict]:
    """A row for each variant of the cases, its figures made up from its place in the list, so that no two are alike."""
    made = []
    for i, (case, variant, by, parameters) in enumerate(cases):
        ms = (1 + i / 16) / faster
        made.append(row(case, variant, parameters, by=by, median_ms=ms, GB_per_s=100 / ms, TFLOP_per_s=7 / ms, ns_per_step=300 * ms))
    return made


def letters(picture: str) -> str:
    return " ".join("".join(ElementTree.fromstring(picture).itertext()).split())

"""Every suite of ``warpwise measure``, rehearsed in the simulator and with NumPy."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support.paths import ROOT

from warpwise.measure.suites import SUITES, suite

pytestmark = pytest.mark.slow

REHEARSAL = """
import sys
from warpwise.measure.place import in_simulator
place = in_simulator()
from warpwise.measure.correctness import rehearse
from warpwise.measure.suites import suite
import re, warnings
from fnmatch import filter
from warpwise.cuda import RaceWarning
warnings.simplefilter("error", RaceWarning)
kinds, ours = {}, 0
for case, variant, error in rehearse(place, suite(sys.argv[1]).cases(place)):
    kinds.setdefault(re.sub("[0-9]+", "N", case.name), set()).add(variant.name)
    ours += variant.by == "numba"
    print(case.name, variant.name, variant.by, error)
assert ours
for bar in getattr(suite(sys.argv[1]), "BARS", ()):
    print(bar)
    assert 0 <= bar.at_least <= bar.aim
    variants = kinds[re.sub("[0-9]+", "N", bar.case)]
    assert filter(variants, bar.variant)
    known = {*variants, "copy", "peak bandwidth"}
    assert bar.beside in known or bar.beside.startswith("torch")
"""


@pytest.mark.parametrize("name", [name for name in SUITES if name != "counters"])
def test_a_rehearsed_suite_computes_what_it_should(name):
    done = subprocess.run(
        [sys.executable, "-c", REHEARSAL, name],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_says_what_it_is(name):
    module = suite(name)
    assert module.TITLE and module.__doc__

"""Every suite of ``warpwise measure``, rehearsed in the simulator and with NumPy."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import filter

import pytest

from warpwise.measure.correctness import rehearse
from warpwise.measure.place import Place, in_simulator
from warpwise.measure.suites import SUITES, suite

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARPWISE_BACKEND", "simulator")
        yield in_simulator()


def kind(case: str) -> str:
    """Return a case's name without its sizes."""
    return re.sub("[0-9]+", "N", case)


@pytest.mark.filterwarnings("error::warpwise.cuda.RaceWarning")
@pytest.mark.parametrize("name", [name for name in SUITES if name != "counters"])
def test_a_rehearsed_suite_computes_what_it_should(place: Place, name: str):
    kinds, by = defaultdict(set), set()
    for case, variant, _ in rehearse(place, suite(name).cases(place)):
        kinds[kind(case.name)].add(variant.name)
        by.add(variant.by)
    assert "numba" in by
    for bar in getattr(suite(name), "BARS", ()):
        assert 0 <= bar.at_least <= bar.aim, bar
        variants = kinds[kind(bar.case)]
        assert filter(variants, bar.variant), bar
        known = {*variants, "copy", "peak bandwidth"}
        assert bar.beside in known or bar.beside.startswith("torch"), bar


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_says_what_it_is(name):
    module = suite(name)
    assert module.TITLE and module.__doc__

"""Part of numba-cuda's own tests, on the simulator; ``make numba`` runs them all.

Tests run there too that Numba's simulator skips. What fails is listed in ``failing.toml``."""

from __future__ import annotations

import json
import sys

import pytest
from support.paths import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import numba_suite as suite

#: The modules that are about kernels, without those that look at machine code only.
PART = """
    array_args array_methods atomics blackscholes boolean casting complex complex_kernel constmem
    cooperative_groups device_func enums errors exception forall freevar globals idiv intrinsics
    iterators lang localmem make_function_to_jit_function math matmul minmax nondet operator powi
    record_dtype recursion reduction slicing sm sm_creation ssa sync userexc vector_type
    warp_ops
""".split()
WAY = suite.Way(inert=True, simulator=suite.WARPWISE)


@pytest.fixture(scope="module")
def outcomes() -> list[suite.Outcome]:
    return suite.run([f"cudapy.test_{name}" for name in PART], WAY)


@pytest.mark.slow
def test_numbas_own_tests_pass_or_are_listed_with_a_reason(outcomes):
    known = suite.known_failures()
    new = {o.test: o.told for o in suite.new_failures(outcomes, known)}
    assert new == {}
    assert suite.stale(outcomes, known) == []


@pytest.mark.slow
def test_the_table_in_the_book_is_that_of_these_tests(outcomes):
    kept = json.loads(suite.TABLE.read_text())["modules"]
    unsteady = [one.pattern for one in suite.known_failures() if one.kind in suite.UNSTEADY]
    for module in (f"cudapy.test_{name}" for name in PART):
        if any(pattern.startswith(f"{module}.") for pattern in unsteady):
            continue
        mine = [o for o in outcomes if o.test.startswith(f"{module}.")]
        assert suite.three(mine) == kept[module][str(WAY)], module

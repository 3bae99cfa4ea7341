"""Every launch of ``programs/oracle/``: the simulator gives what Numba's own simulator gives."""

from functools import cache

import numpy as np
import pytest
from support.programs import FOLDER, expectation, in_numbas_simulator, launches, stems

from warpwise import trace
from warpwise.simt import as_kernel, kernels_in

pytestmark = pytest.mark.slow

TOLERANCE = {
    np.dtype(t): off
    for off, kinds in {1e-5: "f4 c8", 1e-12: "f8 c16"}.items()
    for t in kinds.split()
}


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    return in_numbas_simulator(tmp_path_factory.mktemp("oracle") / "arrays.npz")


@cache
def traced(stem):
    """Run all launches of a program; return each, with what its arrays hold then, and its trace."""
    return [(one, trace(one.kernel, one.blocks, one.threads, *one.args)) for one in launches(stem)]


@pytest.mark.parametrize("stem", [s for s in stems() if expectation(s) == "equal"])
def test_arithmetic_and_integers_are_exactly_equal(stem, oracle):
    for launch, _ in traced(stem):
        for ours, theirs in zip(launch.arrays, oracle[launch.name], strict=True):
            np.testing.assert_array_equal(ours, theirs, err_msg=launch.name, strict=True)


@pytest.mark.parametrize("stem", [s for s in stems() if expectation(s) == "rounding"])
def test_math_functions_are_equal_within_rounding(stem, oracle):
    for launch, _ in traced(stem):
        for ours, theirs in zip(launch.arrays, oracle[launch.name], strict=True):
            off = TOLERANCE.get(ours.dtype, 0)
            np.testing.assert_allclose(ours, theirs, rtol=off, atol=off, err_msg=launch.name)


@pytest.mark.parametrize(
    "launch", list(launches("compiler_types")), ids=lambda launch: launch.kernel.py_func.__name__
)
def test_where_numbas_simulator_and_compiler_differ_the_compilers_types_win(launch, oracle):
    trace(launch.kernel, launch.blocks, launch.threads, *launch.args)
    np.testing.assert_array_equal(launch.arrays[-1], launch.want, strict=True)
    assert not np.array_equal(oracle[launch.name][-1], launch.want), (
        "no difference any more: this belongs among the equal programs"
    )


@pytest.mark.parametrize("stem", stems())
def test_a_kernel_read_from_text_does_the_same_as_the_function(stem):
    """The grader reads kernels from text that never runs.

    Closures, which that text cannot show, are left out."""
    read = kernels_in((FOLDER / f"{stem}.py").read_text(), f"{stem}.py")
    compared = 0
    for (launch, one), again in zip(traced(stem), launches(stem), strict=True):
        if (name := as_kernel(launch.kernel).name) not in read:
            continue
        other = trace(read[name], again.blocks, again.threads, *again.args)
        assert one.by_line == other.by_line, launch.name
        assert one.source == other.source
        for ours, theirs in zip(launch.arrays, again.arrays, strict=True):
            np.testing.assert_array_equal(ours, theirs, err_msg=launch.name, strict=True)
        compared += 1
    assert compared


@pytest.mark.parametrize("stem", stems())
def test_no_program_of_the_course_has_a_race(stem):
    for launch, one in traced(stem):
        assert one.races == (), launch.name

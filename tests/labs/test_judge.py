"""The judge: what passes, what fails and why; and return values that try to talk it round."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import replace
from math import inf, nan

import numba
import numpy as np
import pytest
from numba import cuda as numba_cuda
from support.slowed import crowded_core, slowly

from warpwise import cuda, hopper
from warpwise.errors import LabError
from warpwise.labs import Call, InOut, Launch, Out, advice, causes, check
from warpwise.labs.budgets import NAMES
from warpwise.labs.calls import judge_call
from warpwise.labs.compare import compare, is_poison, poison
from warpwise.labs.judge import REASONS, judge, judge_launch
from warpwise.labs.lookup import is_stub, problem
from warpwise.labs.patterns.not_numbers import NAN
from warpwise.labs.patterns.values import factor
from warpwise.labs.values import judge_value
from warpwise.simt import kernels_in

N = 70
X = np.linspace(-3, 3, N, dtype=np.float32)


def launch(want=X, **changes) -> Launch:
    """Return a launch of a kernel ``(x, y)`` that should make y equal to ``want``."""
    fields = {
        "label": "70 elements",
        "blocks": 2,
        "threads": 64,
        "args": (X, Out(N, want.dtype.name)),
        "want": (want,),
    }
    return Launch(**fields | changes)


@cuda.jit
def copy(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]


@cuda.jit
def copy_backwards(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[x.size - 1 - i] = x[x.size - 1 - i] + 1


@cuda.jit
def copy_but_the_last(x, y):
    i = cuda.grid(1)
    if i < x.size - 1:
        y[i] = x[i]


@cuda.jit
def unchanged(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = y[i] * 1


@cuda.jit
def not_finite(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] * np.float32(3e38) * np.float32(3e38) * 0 if i == 7 else x[i]


@cuda.jit
def strided(x, y):
    i = cuda.grid(1)
    if i < 32:
        y[8 * i] = x[8 * i]
    if i < x.size and i % 8 != 0:
        y[i] = x[i]


@cuda.jit
def divides_by_zero(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] + i // (i - i)


@cuda.jit
def adds_a_tuple(x, y):
    y[cuda.grid(1)] = x.shape + 1


# Launches.


def test_a_right_kernel_passes_with_its_metrics_and_its_trace():
    verdict = judge_launch(copy, launch())
    assert verdict.passed and verdict.reason == "passed" and verdict.case == "70 elements"
    # 70 elements are 2 warps and 6 lanes of a third.
    assert verdict.metrics.global_load_requests == 3
    assert verdict.trace.kernel == "copy"


def test_a_reference_is_no_part_of_a_cases_value():
    case, with_one = launch(), launch(reference=np.copy)
    assert "reference" not in repr(with_one)
    assert replace(with_one, reference=np.sort, args=(), want=()) == replace(case, args=(), want=())
    plain, other = Call("one", (1,), 1), Call("one", (1,), 1, reference=np.copy)
    assert plain == other and repr(plain) == repr(other)


def test_a_wrong_element_is_named_with_what_it_should_be():
    verdict = judge_launch(copy_backwards, launch())
    assert verdict.reason == "wrong result"
    first = "y[0] should be -3 and is -2; 70 of 70 elements are wrong"
    assert verdict.detail == f"{first}\neach wrong one is 1 too large"


def test_an_element_that_no_thread_wrote_is_named():
    verdict = judge_launch(copy_but_the_last, launch())
    assert verdict.reason == "output not written"
    first = "y[69] was never written; 1 of 70 elements is missing"
    assert verdict.detail == f"{first}\nmissing: the last element only"


@cuda.jit
def poisoned_byte(x, y):
    """Store everywhere, and what an unwritten byte holds in one place."""
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[0] if i == 5 else 1


def test_a_byte_that_was_stored_is_not_called_unwritten():
    held = poison((1,), "uint8")
    case = Launch("bytes", 1, 32, (held, Out(20, "uint8")), (np.ones(20, np.uint8),))
    verdict = judge_launch(poisoned_byte, case)
    assert verdict.reason == "wrong result" and verdict.detail.startswith("y[5] should be 1")


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "uint16", "int32", "int64"]
)
def test_an_output_that_is_only_computed_with_is_not_written(dtype):
    verdict = judge_launch(unchanged, launch(want=np.zeros(N, dtype)))
    assert verdict.reason == "output not written"
    assert verdict.detail == (
        "y[0] was computed from what the output held before the launch; so were 70 of 70 elements"
    )
    assert is_poison(poison((3,), dtype)).all() and not is_poison(np.zeros(3, dtype)).any()


def test_the_output_does_not_hold_the_answer_of_the_launch_before():
    one = launch()
    assert judge_launch(copy, one).passed
    assert judge_launch(unchanged, one).reason == "output not written"
    assert judge_launch(copy, one).passed


def test_nan_and_infinity_are_no_wildcards():
    assert judge_launch(not_finite, launch(rtol=0.5, atol=1e9)).reason == "wrong result"
    for got in (nan, inf, -inf):
        for want in (0.0, 1e300, nan, -inf if got == inf else inf):
            assert compare(np.array([got]), np.array([want]), rtol=1e9, atol=1e300) is not None, (
                got,
                want,
            )
    assert compare(np.array([inf]), np.array([inf])) is None


def test_tolerance_is_relative_to_what_is_wanted():
    got, want = np.array([1.001, 100.1, 0.0]), np.array([1.0, 100.0, 0.0])
    assert compare(got, want, rtol=2e-3) is None
    assert compare(got, want, rtol=5e-4).where.tolist() == [True, True, False]
    assert compare(got, want).where.tolist() == [True, True, False]


def test_arrays_of_another_shape_are_not_broadcast():
    assert compare(np.zeros(1), np.zeros(3)) is not None


def test_inputs_must_stay_as_they_were():
    @cuda.jit
    def move(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = x[i]
            x[i] = 9

    before = X.copy()
    verdict = judge_launch(move, launch())
    assert verdict.reason == "input changed"
    assert verdict.detail == "x[0] was -3 and is now 9; 70 of 70 elements are changed"
    assert (before == X).all()


def test_the_array_of_a_tensor_map_must_stay_as_it_was():
    source = """
@cuda.jit
def overwritten(x_map, y):
    tile = cuda.shared.array((8, 32), np.float32, alignment=128)
    t = cuda.threadIdx.x
    for row in range(8):
        tile[row, t] = row
        y[row, t] = row
    hopper.fence_proxy_async()
    cuda.syncthreads()
    if t == 0:
        hopper.tma_store(x_map, (0, 0), tile)
        hopper.tma_store_commit_group()
        hopper.tma_store_wait_group(0)
"""
    names = "import numpy as np\nfrom warpwise import cuda, hopper\n"
    x = np.full((8, 32), 9, np.float32)
    want = np.repeat(np.arange(8, dtype=np.float32)[:, None], 32, axis=1)
    args = (hopper.tensor_map(x, (8, 32)), Out((8, 32)))
    case = Launch("a map", 1, 32, args, (want,))
    verdict = judge_launch(kernels_in(names + source)["overwritten"], case)
    assert verdict.reason == "input changed"
    assert verdict.detail.startswith("x_map[0, 0] was 9 and is now 0")
    assert (x == 9).all()


def test_a_budget_names_the_counter_and_the_line():
    wide = np.arange(512, dtype=np.float32)
    case = Launch("512", 16, 32, (wide, Out(512)), (wide,), budget={"sectors_per_request_load": 8})
    verdict = judge_launch(strided, case)
    assert verdict.reason == "output not written"  # a wrong result is told before a costly one
    fits = Launch(
        "256",
        8,
        32,
        (wide[:256], Out(256)),
        (wide[:256],),
        budget={"divergent_branches": 99, "sectors_per_request_load": 5},
    )
    verdict = judge_launch(strided, fits)
    assert verdict.reason == "over budget: sectors_per_request_load"
    line = next(n for n, text in verdict.trace.source.items() if "y[8 * i] = x[8 * i]" in text)
    assert (
        f"an average: the highest, 32, on\n    line {line}: y[8 * i] = x[8 * i]" in verdict.detail
    )
    assert "the budget is at most 5" in verdict.detail


@cuda.jit
def every_fourth_lane(x, y):
    i = cuda.grid(1)
    if i < x.size and i % 4 == 0:
        for k in range(i, min(i + 4, x.size)):
            y[k] = x[k]


def test_advice_against_excess_is_on_counters_that_a_budget_can_name():
    assert set(advice.OVER_BUDGET) <= {*NAMES}


def test_a_budget_of_a_share_is_the_least_that_it_may_be(capsys):
    assert judge_launch(copy, launch(budget={"warp_efficiency": 0.6})).passed
    verdict = judge_launch(every_fourth_lane, launch(budget={"warp_efficiency": 0.6}))
    assert (
        verdict.reason == "over budget: warp_efficiency"
        and "; the budget is at least 0.6" in verdict.detail
    )
    line = next(n for n, text in verdict.trace.source.items() if "y[k] = x[k]" in text)
    assert f"most of the idle lanes on\n    line {line}: y[k] = x[k]" in verdict.detail
    check(copy, [launch(budget={"warp_efficiency": 0.6})])
    assert "at least 0.6" in capsys.readouterr().out


@cuda.jit
def count_up(x, totals):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(totals, x[i], 1)


@cuda.jit
def count_from_nothing(x, totals):
    i = cuda.grid(1)
    if i < totals.size:
        totals[i] = 0
        for k in range(x.size):
            if x[k] == i:
                totals[i] += 1


def test_an_array_that_is_changed_in_place_begins_with_its_values():
    x, start = np.arange(70) % 5, np.array([1, 0, 2, 0, 3])
    case = Launch("70", 2, 64, (x, InOut(start)), (start + 14,))
    assert judge_launch(count_up, case).passed and judge_launch(count_up, case).passed
    assert start.tolist() == [1, 0, 2, 0, 3]
    verdict = judge_launch(count_from_nothing, case)
    assert verdict.reason == "wrong result" and verdict.detail.startswith(
        "totals[0] should be 15 and is 14"
    )
    with pytest.raises(LabError, match="outputs"):
        Launch("70", 2, 64, (x, InOut(start)), (start.astype(np.float32),))


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [(divides_by_zero, "division by zero"), (adds_a_tuple, "types do not fit")],
)
def test_errors_of_a_kernel_have_a_reason_of_their_own(kernel, reason):
    verdict = judge_launch(kernel, launch())
    assert verdict.reason == reason in REASONS.values()
    assert "test_judge.py" in verdict.detail


def test_a_launch_with_other_arguments_is_refused():
    @cuda.jit
    def three(x, y, n):
        y[cuda.grid(1)] = n

    assert judge_launch(three, launch()).reason == "launch refused"
    assert judge_launch(copy, launch(threads=2048)).reason == "launch refused"


def test_an_endless_kernel_is_stopped():
    @cuda.jit
    def spin(x, y):
        i = 0
        while i < 1:
            y[0] = x[0]

    assert judge_launch(spin, launch(), max_steps=500).reason == "does not end"


@pytest.mark.parametrize("loop", ["while i < 1: i = i - i", "for k in range(600): i += k"])
def test_a_kernel_of_too_many_steps_is_called_endless_only_if_that_is_known(loop):
    kernel = kernels_in(f"from numba import cuda\n@cuda.jit\ndef k(x, y):\n i = 0\n {loop}\n")["k"]
    verdict = judge_launch(kernel, launch(), max_steps=500)
    assert verdict.reason == "too slow" and "did not end within 500 steps" in verdict.detail


def test_a_case_that_contradicts_itself_is_an_error_of_its_author():
    with pytest.raises(LabError, match="outputs are"):
        launch(args=(X, Out(N + 1)))
    with pytest.raises(LabError, match="no counter is called sectors"):
        launch(budget={"sectors": 3})


def test_kernels_of_numba_and_of_text_are_judged_alike():
    @numba_cuda.jit
    def copy_too(x, y):
        i = numba_cuda.grid(1)
        if i < x.size:
            y[i] = x[i]

    text = (
        "from warpwise import cuda as c\n"
        "@c.jit\n"
        "def f(x, y):\n"
        "    i = c.grid(1)\n"
        "    if i < x.size:\n"
        "        y[i] = x[i]\n"
    )
    assert judge_launch(copy_too, launch()).passed
    assert judge_launch(kernels_in(text)["f"], launch()).passed


# Reasons for missing and wrong elements.

SQUARE = np.arange(64 * 96, dtype=np.float32).reshape(64, 96)
MATRIX = Launch("64 x 96", (3, 8), (32, 8), (SQUARE, Out(SQUARE.shape)), (SQUARE,))
BODIES = {
    "row, col = cuda.grid(2)\n"
    "if row < x.shape[0] and col < x.shape[1]:\n"
    "    y[row, col] = x[row, col]": causes.SWAPPED,
    "col, row = cuda.grid(2)\n"
    "if row < x.shape[0] - 1 and col < x.shape[1]:\n"
    "    y[row, col] = x[row, col]": "That change is on line 6: row < x.shape[0] - 1",
    "col, row = cuda.grid(2)\n"
    "if row < 0 & col < x.shape[1]:\n"
    "    y[row, col] = x[row, col]": causes.BITWISE,
    "y = x": "store with an index, y[...]",
    "col, row = cuda.grid(2)\n"
    "if row < x.shape[0]:\n"
    "    cuda.atomic.add(y, (row, col), x[row, col])": causes.ATOMIC.format(name="y"),
    "n = x.shape[0]": "no thread stored anything",
    "t = cuda.shared.array((8, 32), np.float32)\n"
    "t[cuda.threadIdx.y, cuda.threadIdx.x] = 1": causes.ONLY_SHARED,
    "col, row = cuda.grid(2)\n"
    "if row >= x.shape[0] - 1:\n"
    "    return\n"
    "cuda.syncthreads()\n"
    "y[row, col] = x[row, col]": causes.RETURNED,
}


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.splitlines()[-1].strip())
def test_missing_elements_are_traced_to_their_likely_cause(body):
    head = "import numpy as np\nfrom warpwise import cuda\n@cuda.jit\ndef f(x, y):\n"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    verdict = judge_launch(kernels_in(head + lines)["f"], MATRIX)
    assert verdict.reason == "output not written", verdict
    assert verdict.advice.split("\n")[-1].startswith(BODIES[body])


def test_one_factor_between_result_and_answer_is_told():
    @cuda.jit
    def twice(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = 2 * x[i]

    verdict = judge_launch(twice, launch())
    assert verdict.detail.endswith("70 of 70 elements are wrong\neach is 2 times what it should be")
    # Of a hidden test, what follows from the data stays hidden.
    assert "counted more than once" in verdict.advice
    assert "counted" not in verdict.remedy.hidden()
    assert "times" not in judge_launch(copy_backwards, launch()).detail
    for got, want in (
        ([2], [1]),
        ([2, 4, 1], [1, 2, 0]),
        ([2, 5], [1, 2]),
        ([nan, nan], [1, 1]),
        ([0, 0], [1, 1]),
    ):
        assert factor(np.array(got, np.float32), np.array(want, np.float32)) is None


# Stubs.


def test_a_stub_is_not_done_yet_and_nothing_else_is():
    @cuda.jit
    def kernel(x, y):
        """Words."""
        ...

    @numba_cuda.jit
    def other(x, y):
        pass

    def host(n):
        """Words."""
        ...  # roughly 3 lines

    for target in (kernel, other, host):
        assert is_stub(target)
        assert [(v.passed, v.reason) for v in judge(target, [launch()])] == [
            (False, "not done yet")
        ]
    for target in (copy, len, lambda n: n, Call, 3):
        assert not is_stub(target)


def test_judging_stops_at_the_first_case_that_fails():
    verdicts = judge(lambda n: n if n < 3 else 0, [Call(str(n), (n,), n) for n in range(6)])
    assert [v.reason for v in verdicts] == ["passed", "passed", "passed", "wrong result"]


# Values of host functions. No method of these objects may be called.


class Hostile:
    """An object equal to everything, which raises and tells when a method is called."""

    touched = False

    def __getattribute__(self, name):
        type(self).touched = True
        raise SystemExit("asked for " + name)

    def __eq__(self, other):
        type(self).touched = True
        return True

    __hash__ = None
    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = __int__ = __index__ = (
        __array__
    ) = __repr__ = __str__ = __eq__


class Four(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


class Always(np.ndarray):
    def __array_ufunc__(self, *args, **kwargs):
        return np.True_


FOUR = Call("four", (2,), 4)
REFUSED = {
    "a hostile object": Hostile(),
    "a subclass of int": Four(5),
    "an array that always agrees": np.zeros((), int).view(Always),
    "an array of objects": np.array(None, dtype=object),
    "an array of records": np.zeros((), [("n", "i4")]),
    "text": "4",
    "bytes": b"4",
    "a list": [4],
    "nothing": None,
    "a float": 4.0,
    "a float32": np.float32(4),
    "a bool": True,
    "a time": np.timedelta64(4),
    "a complex number": 4 + 0j,
}


@pytest.mark.parametrize("name", REFUSED)
def test_values_of_another_type_are_refused_unasked(name):
    Hostile.touched = False
    verdict = judge_value(REFUSED[name], FOUR)
    assert verdict.reason == "wrong type" and not verdict.passed
    assert not Hostile.touched


@pytest.mark.parametrize("value", [4, np.int64(4), np.uint8(4), np.array(4)])
def test_whole_numbers_of_any_width_pass(value):
    assert judge_value(value, FOUR).passed


OTHERS = [5, -4, np.int8(-4), 10**5000, -(10**5000), 2**64 + 4, np.array([4]), np.zeros((0,), int)]


@pytest.mark.parametrize("value", OTHERS, ids=lambda value: type(value).__name__)
def test_other_whole_numbers_are_wrong(value):
    verdict = judge_value(value, FOUR)
    assert verdict.reason == "wrong result"
    assert len(verdict.detail) < 300


def test_a_float_may_be_given_as_a_whole_number_and_within_tolerance():
    half = Call("half", (1,), 0.5, rtol=1e-3)
    assert judge_value(0.5002, half).passed and judge_value(np.float32(0.5), half).passed
    assert judge_value(1, Call("one", (), 1.0)).passed
    for value in (0.6, nan, inf, 0, 10**5000):
        assert judge_value(value, half).reason == "wrong result"


def test_arrays_are_compared_element_by_element():
    call = Call("squares", (3,), np.array([0, 1, 4]))
    assert judge_value(np.array([0, 1, 4], np.int32), call).passed
    verdict = judge_value(np.array([0, 1, 5]), call)
    assert (
        verdict.reason == "wrong result"
        and "[2] should be 4 and is 5; 1 of 3 elements is wrong" in verdict.detail
    )
    assert "shape (2,), expected (3,)" in judge_value(np.array([0, 1]), call).detail


PAIR = Call("pair", (3,), (np.array([0.0, 1.0, 4.0]), 3))


def shares(x):
    return x[0] // x[1]


def test_a_division_by_zero_without_an_error_is_named():
    line = shares.__code__.co_firstlineno + 1
    with warnings.catch_warnings(action="error"):  # the message alone speaks of it
        wrong = judge_call(shares, Call("by nothing", (np.array([4, 0]),), 12))
    assert wrong.advice == f"line {line} divides by 0 here: what should the result be there?"


def weights(x):
    e = np.exp(x)
    return e / e.sum()


def differences(x):
    return x - x.max()


def logarithms(x):
    return np.log(x)


def far_below(x):
    e = np.exp(x - 1000)
    return e / e.sum()


def log_of_far_below(x):
    total = np.exp(x - 1000)
    return np.log(total)


def largest_as_it_should(x):
    e = np.exp(x - x.max())
    return e / e.sum()


@pytest.mark.parametrize(
    ("function", "given", "told"),
    [
        (weights, [1000.0, 0.0], "as on lines {1} and {2}: subtract the maximum before exp"),
        (weights, [nan, 0.0], ""),
        (differences, [-inf, -inf], "line {1} subtracts an infinity from itself here"),
        (logarithms, [0.0, 1.0], "line {1} takes the logarithm of 0 here"),
        (far_below, [0.0, 1.0], "is 0, as on line {1}, and 0 / 0 is nan, as on line {2}: is what"),
        (log_of_far_below, [0.0, 1.0], "and the logarithm of 0 on line {2} is -inf: is what"),
        (largest_as_it_should, [0.0, 1000.0], ""),  # exp is 0 there as well, and all is right
    ],
)
def test_what_makes_nan_or_an_infinity_is_named(function, given, told):
    first = function.__code__.co_firstlineno
    wrong = judge_call(function, Call("one", (np.array(given),), np.array([1.0, 0.5])))
    assert told.format(*range(first, first + 3)) in wrong.advice
    assert "divides by 0" not in wrong.advice


def counted(n):
    squares = np.array([0.0, 1.0, 5.0])
    return squares, n


def test_an_item_has_the_name_by_which_it_is_returned():
    assert judge_call(counted, PAIR).detail.startswith("squares[2] should be 4 and is 5; 1 of 3")


def test_each_item_of_a_tuple_is_judged():
    assert judge_value((np.array([0.0, 1.0, 4.0]), 3), PAIR).passed
    wrong = judge_value((np.array([0.0, 1.0, 5.0]), 3), PAIR)
    assert wrong.reason == "wrong result" and wrong.detail.startswith(
        "element [2] of the first result of the function(3) should be 4 and is 5"
    )
    second = judge_value((np.array([0.0, 1.0, 4.0]), 4), PAIR).detail.split("\n")
    assert second[0] == "the second result of the function(3) is the int 4, expected the int 3"
    assert second[1] == "it is 1 too large"
    assert judge_value((np.array([0.0, 1.0, 4.0]), 3.0), PAIR).reason == "wrong type"
    exchanged = judge_value((3, np.array([0.0, 1.0, 4.0])), PAIR)
    assert exchanged.reason == "wrong type" and "in another order" in exchanged.advice


@pytest.mark.parametrize(
    "value",
    [np.zeros(3), [np.zeros(3)], (np.zeros(3),), (np.zeros(3), 3, 3), 3, {}],
    ids=repr,
)
def test_what_is_no_tuple_of_that_many_is_refused(value):
    verdict = judge_value(value, PAIR)
    assert (
        verdict.reason == "wrong type"
        and verdict.advice == "return 2 values, with a comma between them"
    )
    assert "expected a tuple of an array of float64 with shape (3,)" in verdict.detail


def test_a_list_of_as_many_is_asked_to_be_a_tuple():
    verdict = judge_value([np.zeros(3), 3], PAIR)
    assert verdict.reason == "wrong type"
    assert verdict.advice.startswith("return a tuple in place of the list: ")
    assert "expected a tuple of an array of float64 with shape (3,)" in verdict.detail


def test_nothing_in_place_of_a_tuple_is_asked_for_its_return():
    verdict = judge_value(None, PAIR)
    assert verdict.reason == "wrong type"
    assert verdict.advice.startswith("return 2 values, with a comma between them; ")
    assert "end the function with return" in verdict.advice
    assert "expected a tuple of an array of float64 with shape (3,)" in verdict.detail


TYPED = Call("words", (2,), np.zeros(2, np.uint32), typed=(0,))


def test_a_call_can_ask_for_the_very_type():
    assert judge_value(np.zeros(2, np.uint32), TYPED).passed
    wide = judge_value(np.zeros(2, np.int64), TYPED)
    assert wide.reason == "wrong type"
    assert "an array of int64" in wide.detail and "an array of uint32" in wide.detail
    assert wide.advice.startswith("uint32 is asked for") and ".astype(np.uint32)" in wide.advice
    assert judge_value(np.zeros(2, np.int64), replace(TYPED, typed=())).passed


def test_a_call_can_ask_for_the_type_of_one_item():
    one = replace(PAIR, want=(PAIR.want[0].astype(np.float32), 3), typed=(0,))
    assert judge_value((np.array([0, 1, 4], np.float32), 3), one).passed
    assert judge_value((np.array([0.0, 1.0, 4.0]), 3), one).reason == "wrong type"


def scores_at_once(n):
    return np.float64(np.ones((n, n), np.float32).sum())


def scores_by_row(n):
    return np.float64(sum(np.ones(n, np.float32).sum() for _ in range(n)))


def test_a_right_answer_that_holds_too_much_at_once_is_over_budget():
    call = Call("all ones", (500,), 250_000.0, most_bytes=100_000)
    assert judge_call(scores_by_row, call).passed
    verdict = judge_call(scores_at_once, call)
    assert verdict.reason == "over budget: memory" and "one tile" in verdict.advice
    assert int(re.search(r"held ([\d,]+) bytes", verdict.detail)[1].replace(",", "")) in range(
        1_000_000, 1_020_000
    )
    assert judge_call(scores_at_once, replace(call, most_bytes=2_000_000)).passed
    assert judge_call(scores_at_once, replace(call, want=1.0)).reason == "wrong result"


@cuda.jit
def copy_by_way_of_arrays(x, y):
    mine = cuda.local.array(16, np.float32)
    ours = cuda.shared.array(64, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < x.size:
        mine[3] = x[i]
        ours[t] = mine[3]
        y[i] = ours[t]


def test_a_budget_may_be_on_the_memory_of_a_thread_or_a_block():
    fits = {"local_bytes_per_thread": 64, "shared_bytes_per_block": 256}
    assert judge_launch(copy_by_way_of_arrays, launch(budget=fits)).passed
    for name in fits:
        verdict = judge_launch(copy_by_way_of_arrays, launch(budget=fits | {name: fits[name] - 1}))
        assert (
            verdict.reason == f"over budget: {name}"
            and f"{name} is {fits[name]}; the budget is at most" in verdict.detail
        )
        assert verdict.advice


@cuda.jit
def infinity_less_infinity(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] if i % 2 else x[i] - np.float32(np.inf) + np.float32(np.inf)


def test_nan_is_told_where_it_comes_from():
    assert NAN in judge_launch(infinity_less_infinity, launch(rtol=1e-6)).advice
    assert judge_value(np.array([1.0, nan]), Call("two", (), np.array([1.0, 2.0]))).advice == NAN
    assert judge_value(nan, Call("one", (), -inf)).advice == NAN
    assert judge_value(np.array([1.0, 3.0]), Call("two", (), np.array([1.0, nan]))).advice != NAN
    assert judge_value(np.array([nan]), Call("two", (), np.array([1.0, 2.0]))).advice != NAN


def test_a_function_that_raises_or_exits_is_a_verdict():
    for function in (lambda n: 1 // 0, lambda n: sys.exit(0), lambda: 4):
        assert judge_call(function, FOUR).reason == "raised an error"


def test_an_error_of_a_function_names_its_line():
    def divide(n):
        m = n - n
        return n // m

    verdict = judge_call(divide, FOUR)
    first = divide.__code__.co_firstlineno
    assert verdict.detail == (
        "divide(2) raised ZeroDivisionError: integer division or modulo by zero\n"
        f"    line {first + 2}: return n // m"
    )


def test_a_kernel_is_no_function():
    for kernel in (copy, numba_cuda.jit(lambda x: None)):
        verdict = judge_call(kernel, FOUR)
        assert verdict.reason == "wrong type" and verdict.advice == "remove @cuda.jit above it"


@cuda.jit
def copy_nearly(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] * np.float32(1.0001)


def test_small_differences_and_small_arrays_are_told():
    other = judge_launch(copy_nearly, launch(np.sin(9 * X)))
    assert other.advice.startswith("each element is made of those with its own index")
    assert "close" not in other.advice
    near = judge_launch(copy_nearly, launch(X * np.float32(1.001)))
    assert "close, but not close enough" in near.advice
    call = Call("two", (np.array([3, 4]),), np.array([2**31, 1]))
    assert judge_value(np.array([2**31 + 1, 1]), call, "f").detail.startswith(
        "f(an array of int64 with shape (2,) [3, 4])[0] should be 2147483648 and is 2147483649"
    )


def test_a_plain_function_is_no_kernel():
    def square(x, y):
        y[cuda.grid(1)] = 1

    verdict = judge_launch(square, launch())
    assert (verdict.reason, verdict.advice) == ("wrong type", "write @cuda.jit above it")
    assert verdict.detail == "square is a plain function; a kernel is asked for here"


def test_a_list_or_another_shape_where_an_array_is_asked_for():
    call = Call("three", (), np.array([1, 2, 3]))
    assert "np.array" in judge_value([1, 2, 3], call).advice
    assert "shape" in judge_value(np.array([[1, 2]]), call).advice
    shorter = judge_value(np.array([1, 2]), call)
    assert shorter.detail.endswith("\nmissing: 3") and "an end is included" in shorter.advice
    assert "by hand" in judge_value(np.array([7, -5, 4]), call).advice
    assert judge_value(np.array([1, 2, 4]), call).detail.endswith(
        "wrong: the last element only; all others are right"
    )


def test_a_collection_is_not_its_length():
    assert "len(...)" in judge_call(lambda n: {n}, FOUR).advice


def waits(n):
    while n:
        time.sleep(0.01)


def sleeps(n):
    time.sleep(100 * n)


def computes_long(n):
    while n < 1e300:
        n += 1


def waits_whatever_happens(n):
    for _ in range(3):
        try:
            while n:
                pass
        except BaseException:
            continue


@pytest.mark.unix("time limits are Unix's interval timers")
@pytest.mark.parametrize(
    ("function", "reason", "limit", "advice"),
    [
        (waits, "does not end", "2 seconds", "condition reads"),
        (waits_whatever_happens, "does not end", "0.2 seconds of processor time", "condition"),
        (sleeps, "timed out", "2 seconds", "do not wait"),
        (computes_long, "too slow", "0.2 seconds of processor time", "looks the same"),
    ],
)
def test_a_function_that_does_not_end_is_stopped(function, reason, limit, advice, monkeypatch):
    monkeypatch.setattr("warpwise.labs.calls.CALL_SECONDS", 0.2)
    if "processor" in limit:  # on whatever machine, that comes first
        monkeypatch.setattr("warpwise.labs.limit.PATIENCE", 1000)
    verdict = judge_call(function, FOUR)
    assert verdict.reason == reason and advice in verdict.advice
    assert verdict.detail.startswith(f"{function.__name__}(2) gave no answer in {limit}\n    line ")
    for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF):
        assert signal.getitimer(timer) == (0, 0)
    for number in (signal.SIGALRM, signal.SIGPROF):
        assert signal.getsignal(number) == signal.SIG_DFL


AT_ONCE = """
import signal, threading, time
from warpwise.labs.limit import TimeIsUp, at_most
NUMBERS = signal.SIGALRM, signal.SIGPROF
def wake():  # a thread to which the system can give the signal
    while True:
        time.sleep(0.0005)
def wait():
    while True:
        pass
threading.Thread(target=wake, daemon=True).start()
for seconds in (1e-6, 1e-4):
    for _ in range(1000):
        try:
            with at_most(seconds):
                wait()
        except TimeIsUp:
            pass
        assert [signal.getsignal(each) for each in NUMBERS] == [signal.SIG_DFL] * 2
"""


@pytest.mark.unix("time limits are Unix's interval timers")
def test_limits_that_are_over_at_once_kill_nothing_and_leave_no_handler_behind():
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


BUSY = """
import time
from warpwise.labs import Call, calls, limit
def squares(n):
    begun = time.process_time()
    while time.process_time() - begun < 0.2:
        total = sum(i * i for i in range(n))
    return total
calls.CALL_SECONDS, limit.PATIENCE = 0.4, 1000
print("begins", flush=True)
begun = time.monotonic()
verdict = calls.judge_call(squares, Call("three", (3,), 5))
print(verdict.reason.replace(" ", "_"), time.monotonic() - begun)
"""


@pytest.mark.unix("time limits are Unix's interval timers")
def test_a_busy_machine_makes_no_sound_function_too_slow():
    command = [sys.executable, "-c", BUSY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begins\n"
        slowly(process.pid, 0.2)
        reason, seconds = process.stdout.read().split()
    assert reason == "passed"
    assert float(seconds) > 0.5, "the function was not slowed, so this shows nothing"


IN_A_QUEUE = """
from warpwise.labs import limit
LAST
limit.PATIENCE = 0.15
with limit.at_most(10):
    begun = limit.queued()
    while limit.queued() - begun < 2:
        pass
print("ended by itself")
"""


@pytest.mark.slow
@pytest.mark.unix("time limits are Unix's interval timers")
def test_time_without_a_processor_does_not_count():
    """The wall limit is one and a half seconds, and two pass in the queue."""
    with crowded_core() as last:
        command = [sys.executable, "-c", IN_A_QUEUE.replace("LAST", last)]
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "ended by itself\n", done.stderr


def has_help(n):
    """Wait for another thread, as for those of NumPy's linear algebra, which use up the time."""
    begun = time.process_time()

    def helps():
        while time.process_time() - begun < 0.5:
            pass

    helper = threading.Thread(target=helps)
    helper.start()
    helper.join()
    return n * n


@pytest.mark.unix("time limits are Unix's interval timers")
def test_processor_time_of_other_threads_does_not_count(monkeypatch):
    monkeypatch.setattr("warpwise.labs.calls.CALL_SECONDS", 0.2)
    monkeypatch.setattr("warpwise.labs.limit.PATIENCE", 1000)
    assert judge_call(has_help, FOUR).passed


def test_a_call_in_another_thread_has_no_limit_and_is_judged():
    verdicts = []
    thread = threading.Thread(target=lambda: verdicts.append(judge_call(lambda n: 4, FOUR)))
    thread.start()
    thread.join()
    assert verdicts[0].passed


def test_a_function_must_leave_its_arguments_alone():
    def sort(a):
        a.sort()
        return a

    given = np.array([2, 1])
    assert judge_call(sort, Call("sort", (given,), np.array([1, 2]))).reason == "input changed"
    assert given.tolist() == [2, 1]


# Messages of a check.


def said(capsys, target, cases) -> str:
    assert check(target, cases) is None
    return capsys.readouterr().out


def test_check_says_the_verdict_and_each_launch(capsys):
    text = said(
        capsys, copy, [launch(budget={"sectors_per_request_load": 4.1}), launch(label="again")]
    )
    assert text.startswith(
        "copy: passed\n  right, within budget  70 elements\n  right                 again\n"
    )
    assert "sectors_per_request_load" in text and "at most 4.1" in text


def test_check_says_where_and_what_to_try(capsys):
    text = said(capsys, copy_but_the_last, [launch(), launch(label="again")])
    assert text.startswith(
        "copy_but_the_last: output not written\n"
        "  output not written  70 elements\n"
        "    y[69] was never written"
    )
    assert "Try: " in text and "again" not in text


def test_check_gives_advice_once(capsys):
    text = said(capsys, divides_by_zero, [launch()])
    assert text.count("Try: ") <= 1


def test_check_of_a_stub_is_one_line(capsys):
    def todo(n): ...

    assert said(capsys, todo, [FOUR]) == "todo: not done yet\n"


def test_check_of_what_is_no_kernel_is_a_verdict(capsys):
    assert said(capsys, 3, [launch()]).startswith("int: ")
    assert said(capsys, numba.njit, [FOUR]).startswith("njit: ")


def test_check_looks_a_name_up_and_says_when_it_is_not_there(capsys):
    assert said(capsys, "copy_twice", [launch()]).startswith(
        "copy_twice: name not defined\n    copy_twice is not defined\n    Try: "
    )
    check("copy", [launch()])
    assert capsys.readouterr().out.startswith("copy: passed\n")


def todo(n): ...


CELLS = {
    "def done(n):\n    return (n": (
        "not Python",
        "has a syntax error on line 2: '(' was never closed\n    return (n",
    ),
    "def done(n)\n    return n": ("not Python", "has a syntax error on line 1: expected ':'"),
    "1 / 0\ndef done(n):\n    return n": ("raised an error", "did not run to its end"),
}


@pytest.mark.parametrize("text", CELLS)
def test_an_older_definition_is_not_judged_when_the_newest_cell_is_broken(text):
    reason, told = CELLS[text]
    found = problem(
        "done", {"done": todo, "In": ["", "def done(n): ...", text, "check('done', [])"]}
    )
    assert found.reason == reason and told in found.detail and found.advice


def test_nothing_is_wrong_with_a_definition_that_ran():
    for In in (
        [],
        ["def done(n): ..."],
        ["def done(n)", "%time\ndef other(n): ...", "def done(n): ..."],
        None,
    ):
        assert problem("done", {"done": todo} | ({"In": In} if In is not None else {})) is None

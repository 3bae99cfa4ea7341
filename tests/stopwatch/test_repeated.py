"""Loads that the source repeats: one for the machine, unless something was stored in between."""

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.stopwatch.repeated import without_repeats
from warpwise.toolchain import missing
from warpwise.traces import KINDS

compiles = pytest.mark.skipif(bool(missing()), reason="no compiler")
N = 1024


@cuda.jit
def once(a, c):
    i = cuda.grid(1)
    v = a[i]
    c[i] = v * v


@cuda.jit
def twice(a, c):
    i = cuda.grid(1)
    c[i] = a[i] * a[i]


@cuda.jit
def on_two_lines(a, c):
    i = cuda.grid(1)
    v = a[i]
    c[i] = v * a[i]


@cuda.jit
def in_every_trip(a, c):
    i = cuda.grid(1)
    total = np.float32(0)
    for k in range(4):
        total += a[i] * np.float32(k)
    c[i] = total


@cuda.jit
def after_a_store(a, c):
    i = cuda.grid(1)
    c[i] = a[i]
    a[i] = a[i] + c[i]


@cuda.jit
def neighbours(a, c):
    i = cuda.grid(1)
    c[i] = a[i] + a[(i + 1) % a.size]


@cuda.jit
def two_passes(a, c):
    i = cuda.grid(1)
    top = total = np.float32(0)
    for k in range(4):
        top = max(top, a[(i + k) % a.size])
    for k in range(4):
        total += a[(i + k) % a.size] - top
    c[i] = total


def of(kernel):
    return trace(kernel, 4, N // 4, np.ones(N, np.float32), np.zeros(N, np.float32))


def loads(made) -> int:
    return int(np.count_nonzero(made.records.kind == KINDS.index("load")))


@pytest.mark.parametrize(
    ("kernel", "all_loads", "kept"),
    [
        (once, 1, 1), (twice, 2, 1), (on_two_lines, 2, 1), (in_every_trip, 4, 1),
        (after_a_store, 3, 3), (neighbours, 2, 2), (two_passes, 8, 8),
    ],
)  # fmt: skip
def test_a_load_of_what_was_just_loaded_is_left_out(kernel, all_loads: int, kept: int):
    made = of(kernel)
    assert (loads(made), loads(without_repeats(made))) == (all_loads, kept)


def test_a_trace_without_repeats_is_the_same():
    made = of(once)
    assert without_repeats(made) is made


@compiles
@pytest.mark.parametrize("kernel", [twice, on_two_lines])
def test_a_repeated_load_costs_nothing(kernel):
    asked, plain = (of(k).time("RTX A6000", grid=2**17) for k in (kernel, once))
    assert asked.seconds == pytest.approx(plain.seconds)
    assert asked.dram_bytes == pytest.approx(plain.dram_bytes)

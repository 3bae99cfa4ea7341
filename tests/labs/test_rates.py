"""The chart of modelled rates: its bars, their order, and where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.devices import A100
from warpwise.labs import Ladder, Launch, Out, Rates
from warpwise.labs.rates import NO_COMPILER, Bar
from warpwise.report.modelled_time import registers
from warpwise.simt import as_kernel
from warpwise.toolchain import missing

PUBLISHED = {"slow": 10.0, "fast": 1000.0}
N = 256
X = np.random.default_rng(8).random(N, np.float32)


@cuda.jit
def squared(x, y):
    i = cuda.grid(1)
    y[i] = x[i] * x[i]


@pytest.fixture
def rates() -> Rates:
    launch = Launch("some", N // 64, 64, (X, Out((N,))), (X * X,))
    return Rates("RTX A6000", PUBLISHED, launch, (4096,))


@pytest.fixture(scope="module")
def traced():
    return trace(squared, 1, 64, X[:64], np.zeros(64, np.float32))


@pytest.mark.skipif(bool(missing()), reason="no compiler")
def test_a_bar_is_the_rate_of_the_large_grid_with_its_range_and_registers(rates, traced):
    bar = rates.bar("mine", traced)
    low, high = (float(part.replace(",", "")) for part in bar.told.split(";")[0].split(" to "))
    assert low - 1 <= bar.rate <= high + 1 and bar.own
    large = trace(squared, N // 64, 64, X, np.zeros(N, np.float32))
    seconds = large.time("RTX A6000", grid=(4096,)).seconds
    assert bar.rate == pytest.approx(64 * 4096 / seconds / 1e9)
    assert "bound by DRAM" in bar.told and "registers a thread and no spills" in bar.told


def test_without_a_kernel_to_compile_the_published_steps_stand_alone(rates, traced):
    assert rates.bar("mine", replace(traced, launched=None)) is None
    text = rates.chart()["text/plain"]
    assert text.endswith(NO_COMPILER) and len(text.split("\n")) == 4


def test_own_kernels_stand_among_the_published_ones_by_their_rate(rates):
    rates.own["a & b"] = Bar("a & b", 500.0, "bound by <DRAM>", own=True)
    told = rates.chart()
    lines = [line.split() for line in told["text/plain"].split("\n")[1:]]
    assert [line[0] for line in lines] == ["slow", "a", "fast"]
    assert lines[1][3:] == ["500", "#" * 16, "bound", "by", "<DRAM>"] and "-" * 32 in lines[2]
    assert "<b>a &amp; b</b>" in told["text/html"] and "&lt;DRAM&gt;" in told["text/html"]
    assert NO_COMPILER not in told["text/plain"]


def test_where_nobody_looks_a_ladder_has_its_table_alone(rates, traced):
    with_chart = Ladder(A100, "global_load_bytes", rates=rates).add("mine", traced)
    assert with_chart == Ladder(A100, "global_load_bytes").add("mine", traced)
    assert not rates.own


@cuda.jit
def rotated(x, y):
    own = cuda.local.array(32, np.float32)
    i = cuda.grid(1)
    for k in range(32):
        own[(k + i) % 32] = x[i]
    y[i] = own[i % 32]


@pytest.mark.skipif(bool(missing()), reason="no compiler")
def test_an_array_with_places_not_known_is_told_to_be_in_memory(rates, traced):
    launch = Launch("some", N // 64, 64, (X, Out((N,))), (X,))
    small = trace(rotated, 1, 64, X[:64], np.zeros(64, np.float32))
    bar = Rates("RTX A6000", PUBLISHED, launch, (4096,)).bar("mine", small)
    assert "no spills, and 128 bytes of arrays in memory" in bar.told
    assert "in memory" not in rates.bar("mine", traced).told


@cuda.jit
def polynomial(x, y):
    i = cuda.grid(1)
    total = np.float32(0)
    for _ in range(x.size):
        total = total * x[i] + np.float32(1)
    y[i] = total


@pytest.mark.skipif(bool(missing()), reason="no compiler")
def test_flops_in_an_issue_slot_are_those_of_the_machine_code_and_of_a_budget(rates):
    from warpwise.toolchain import compile_kernel
    from warpwise.toolchain.figures import figures

    compiled = compile_kernel(polynomial, "float32[::1], float32[::1]", (8, 6))
    found = figures(compiled, as_kernel(polynomial))
    assert 0 < found.ffma <= found.instructions
    assert found.flops_per_issue_slot == 64 * found.ffma / found.instructions > 8
    launch = replace(rates.launch, want=(X,))
    small = trace(polynomial, 1, 64, X[:64], np.zeros(64, np.float32))
    told = replace(rates, launch=launch).bar("mine", small).told
    assert told.endswith(
        f"{found.flops_per_issue_slot:.0f} of at most 64 FLOPs in an issue slot of its loop"
    )


def test_spills_are_no_arrays():
    kept = "255 registers a thread and 64 bytes of spills"
    assert registers(255, 64, stack_bytes=64) == kept

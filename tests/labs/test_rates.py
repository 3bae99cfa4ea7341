"""The chart of modelled rates: its bars, their order, and where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.devices import A100
from warpwise.labs import Ladder, Launch, Out, Rates
from warpwise.labs.rates import NO_COMPILER, Bar
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

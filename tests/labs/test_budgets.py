"""Budgets: atomics count as loads and stores, and no way of naming an element goes uncounted."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import trace
from warpwise.labs import InOut, Launch, Out, check
from warpwise.labs.budgets import ATOMICS, NAMES, TOTALS, charged, counter_value, ratios_alone
from warpwise.labs.judge import judge_launch
from warpwise.metrics import NUMBERS, Metrics
from warpwise.simt import kernels_in

N = 64
X = np.arange(N, dtype=np.int32)


def kernel(*body: str):
    """A kernel ``(x, out)`` with lines that know ``i`` and two shared arrays of ints."""
    lines = "\n".join(f"    {line}" for line in body)
    return kernels_in(
        "import numpy as np\n"
        "from warpwise import cuda\n"
        "PLACES = np.arange(64, dtype=np.int32)\n"
        "@cuda.jit(device=True)\n"
        "def element(a, i):\n"
        "    return a[i]\n"
        "@cuda.jit\n"
        "def k(x, out):\n"
        "    i = cuda.grid(1)\n"
        f"{lines}\n"
    )["k"]


def counters(*body: str):
    return trace(kernel(*body), 1, N, X.copy(), np.zeros(N, np.int32))


#: lines that bring x[i] to lane i, in each word that loads -> requests of the two warps
LOADS = {
    "out[i] = x[i]": 2,
    "out[i] = x[i:][0]": 2,
    "out[i] = x[i - 64]": 2,
    "out[i] = x.reshape((8, 8))[i // 8, i % 8]": 2,
    "out[i] = x.T[i]": 2,
    "out[i] = x.flat[i]": 2,
    "out[i] = x.view(np.uint32)[i]": 2,
    "out[i] = element(x, i)": 2,
    "out[i] = cuda.const.array_like(x)[i]": 2,
    "out[i] = cuda.ldca(x, i)": 2,
    "out[i] = cuda.ldcg(x, i)": 2,
    "out[i] = cuda.ldcs(x, i)": 2,
    "out[i] = cuda.ldlu(x, i)": 2,
    "out[i] = cuda.ldcv(x, i)": 2,
    "out[i] += x[i]": 4,
    "out[i], v = x[i], 1": 2,
    "for j, v in enumerate(x):\n    if i == j: out[i] = v": 2 * N,
    "for v, w in zip(x, x):\n    if i == v: out[i] = w": 4 * N,
    "np.sin(x, out)": 2 * N,
}
#: an atomic that leaves x, and the first array of shared memory, as they are
ATOMIC = {
    "add": "cuda.atomic.add({0}, i, 0)",
    "sub": "cuda.atomic.sub({0}, i, 0)",
    "and_": "cuda.atomic.and_({0}, i, 0xFFFF)",
    "or_": "cuda.atomic.or_({0}, i, 0)",
    "xor": "cuda.atomic.xor({0}, i, 0)",
    "inc": "cuda.atomic.inc({0}, i, 0)",
    "dec": "cuda.atomic.dec({0}, i, 0)",
    "exch": "cuda.atomic.exch({0}, i, i)",
    "min": "cuda.atomic.min({0}, i, 1000)",
    "max": "cuda.atomic.max({0}, i, 0)",
    "nanmin": "cuda.atomic.nanmin({0}, i, 1000)",
    "nanmax": "cuda.atomic.nanmax({0}, i, 0)",
    "cas": "cuda.atomic.cas({0}, i, 1000, 1000)",
    "compare_and_swap": "cuda.atomic.compare_and_swap({0}[i:], 1000, 1000)",
}


@pytest.mark.parametrize("body", LOADS)
def test_a_load_counts_however_it_is_written(body):
    t = counters(*body.splitlines())
    assert counter_value(t, "global_load_requests") == LOADS[body]
    assert counter_value(t, "global_load_bytes") >= 4 * N
    assert counter_value(t, "global_load_sectors") >= 8


@pytest.mark.parametrize(
    ("body", "requests"),
    [
        ("out[i] = 1", 2),
        ("out.flat[i] = 1", 2),
        ("out[i:][0] = 1", 2),
        ("cuda.stcs(out, i, 1)", 2),
        ("cuda.stwt(out, i, 1)", 2),
        ("out.fill(1)", 2 * N),
        ("np.sin(x, out)", 2 * N),
    ],
)
def test_a_store_counts_however_it_is_written(body, requests):
    assert counter_value(counters(body), "global_store_requests") == requests


def test_every_atomic_has_its_line_here():
    from warpwise.simt.compiler.atomic_calls import ARGUMENTS

    assert ATOMIC.keys() == ARGUMENTS.keys()


@pytest.mark.parametrize("name", ATOMIC)
def test_an_atomic_on_global_memory_counts_as_a_load_and_a_store(name):
    t = trace(
        kernel(f"out[i] = {ATOMIC[name].format('x')}"),
        *(1, N, X.astype(np.uint32), np.zeros(N, np.uint32)),
    )
    assert t.metrics.global_load_requests == 0  # a counter stays what Nsight Compute counts
    assert t.metrics.global_atomic_bytes == 4 * N
    for of_loads, want in (("requests", 2), ("sectors", 8), ("bytes", 4 * N)):
        assert counter_value(t, f"global_load_{of_loads}") == want
        assert counter_value(t, f"global_store_{of_loads}") == 2 * want  # and of out[i]
    assert counter_value(t, "sectors_per_request_load") == 4
    assert counter_value(t, "global_bytes_moved") == t.metrics.global_bytes_moved  # has them


@pytest.mark.parametrize("name", ATOMIC)
def test_an_atomic_on_shared_memory_counts_as_a_load_and_a_store(name):
    lines = "s = cuda.shared.array(1024, np.uint32)", "s[i] = x[i]", "cuda.syncthreads()"
    t = trace(
        kernel(*lines, f"out[i] = {ATOMIC[name].format('s')}"),
        *(1, N, X.astype(np.uint32), np.zeros(N, np.uint32)),
    )
    assert (t.metrics.shared_load_requests, t.metrics.shared_atomic_bytes) == (0, 4 * N)
    for of_loads, want in (("requests", 2), ("wavefronts", 2), ("bytes", 4 * N)):
        assert counter_value(t, f"shared_load_{of_loads}") == want
        assert counter_value(t, f"shared_store_{of_loads}") == 2 * want
    assert counter_value(t, "shared_bytes_moved") == 3 * 4 * N


def test_bank_conflicts_of_atomics_count():
    lines = (
        "s = cuda.shared.array((64, 32), np.int32)",
        "s[i, 0] = 0",
        "cuda.atomic.add(s, (i, 0), 1)",
    )
    t = counters(*lines)
    assert (t.metrics.shared_atomic_wavefronts, t.metrics.shared_atomic_bank_conflicts) == (64, 62)
    assert t.metrics.shared_bank_conflicts == 62  # of the store
    assert counter_value(t, "shared_load_bank_conflicts") == 62
    assert counter_value(t, "shared_bank_conflicts") == 3 * 62


def test_each_counter_of_requests_that_a_budget_can_name_has_one_of_atomics_beside_it():
    named = {n for n in NAMES if n.startswith(("global_load", "global_store", "shared_load"))}
    named |= {n for n in NAMES if n.startswith("shared_store")}
    assert {n for n in named if not n.endswith("_distinct")} == ATOMICS.keys()


def test_distinct_sectors_have_those_of_atomics_in_them():
    m = counters("cuda.atomic.add(x, i, 0)").metrics
    assert (m.global_load_sectors_distinct, m.global_store_sectors_distinct) == (8, 8)


@pytest.mark.parametrize("name", NUMBERS)
def test_without_atomics_a_budget_counts_what_the_counter_counts(name):
    m = counters("s = cuda.shared.array(64, np.int32)", "s[i] = x[i]", "out[i] = s[i]").metrics
    assert charged(m, name) == getattr(m, name)


def test_a_verdict_and_the_table_below_it_say_that_atomics_are_included(capsys):
    case = Launch(
        "64", 1, N, (InOut(X), Out(N, "int32")), (X, X), budget={"global_load_requests": 1}
    )
    by_atomics = kernel("out[i] = cuda.atomic.add(x, i, 0)")
    verdict = judge_launch(by_atomics, case)
    assert verdict.reason == "over budget: global_load_requests"
    assert "global_load_requests, atomics included, is 2; the budget is at most 1" in verdict.detail
    assert "most of it, 2, on" in verdict.detail and "cuda.atomic.add(x, i, 0)" in verdict.detail
    assert "atomics included, is over its budget" in verdict.message.hidden()
    check(by_atomics, [case])
    assert "2  at most 1, atomics included" in capsys.readouterr().out
    plain = judge_launch(kernel("out[i] = x[i]"), case)
    assert plain.reason == verdict.reason and "atomics" not in plain.detail


def test_a_ratio_needs_its_total():
    assert TOTALS.keys() <= {*NAMES}
    assert ratios_alone({"sectors_per_request_load": 4}) == ("sectors_per_request_load",)
    assert ratios_alone({"warp_efficiency": 0.9, "barriers": 1}) == ("warp_efficiency",)
    assert ratios_alone({"sectors_per_request_load": 4, "global_load_sectors": 9}) == ()
    assert ratios_alone({"shared_bank_conflicts": 0}) == ("shared_bank_conflicts",)
    shares = {name for name in NUMBERS if isinstance(getattr(Metrics(), name), float)}
    assert shares == TOTALS.keys() - {"shared_bank_conflicts"}

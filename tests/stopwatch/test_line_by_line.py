"""A kernel's warps without machine code: what waits for what, by hand; with and without Numba."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from support.paths import ROOT

from warpwise import Trace, cuda, trace
from warpwise.errors import TraceError
from warpwise.stopwatch.cards import find
from warpwise.stopwatch.film import PACKED
from warpwise.stopwatch.line_by_line import line_by_line
from warpwise.views.view import View

CARD = find("H100 SXM")


@cuda.jit
def in_turn(x, out):
    i = cuda.grid(1)
    a = x[i]
    total = a + a
    b = x[i + 32]
    out[i] = total + b


@cuda.jit
def together(x, out):
    i = cuda.grid(1)
    a = x[i]
    b = x[i + 32]
    total = a + a
    out[i] = total + b


@cuda.jit
def again(x, out):
    i = cuda.grid(1)
    a = x[i]
    total = a + a
    b = x[i]
    out[i] = total + b


@cuda.jit
def through_shared(x, out):
    part = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    cuda.syncthreads()
    out[t] = part[127 - t]


@cuda.jit
def double(a):
    return 2 * a


@cuda.jit
def calls(x, out):
    out[cuda.grid(1)] = double(x[cuda.grid(1)])


def traced(kernel, warps: int = 1) -> Trace:
    x, out = np.ones(32 * warps + 32, np.float32), np.zeros(32 * warps, np.float32)
    return trace(kernel, 1, 32 * warps, x, out)


def packed(shown: View) -> dict:
    (film,) = shown.data["films"].values()
    return film


def waits(shown: View, warp: int = 0) -> dict[str, int]:
    """Return the clocks for which a warp waits for data from far and from near, and for others."""
    names = {1: "far", 2: "near", 3: "barrier"}
    found = dict.fromkeys(names.values(), 0)
    for one in packed(shown)["warps"][warp]:
        if one >= 0 and one // PACKED in names:
            found[names[one // PACKED]] += one % PACKED
    return found


def test_of_loads_written_side_by_side_only_one_is_waited_for():
    once = CARD.dram_latency
    assert waits(line_by_line(traced(in_turn)))["far"] == pytest.approx(2 * once, rel=0.05)
    assert waits(line_by_line(traced(together)))["far"] == pytest.approx(once, rel=0.05)


def test_what_the_block_has_loaded_comes_from_l1():
    expected = CARD.dram_latency + CARD.core.l1_latency
    assert waits(line_by_line(traced(again)))["far"] == pytest.approx(expected, rel=0.05)


def test_warps_meet_at_a_barrier_and_wait_for_shared_memory():
    shown = line_by_line(traced(through_shared, 4))
    first = waits(shown)
    assert first["barrier"] > 0
    assert first["near"] == pytest.approx(CARD.core.shared_latency, abs=8)


def test_the_picture_says_what_to_look_for():
    assert "Your kernel on one SM." in line_by_line(traced(in_turn))._repr_html_()


def test_each_operation_of_the_trace_issues_once():
    made = traced(together, 2)
    rows = packed(line_by_line(made))["warps"]
    assert [sum(one < 0 for one in row) for row in rows] == [made.metrics.warp_instructions / 2] * 2


def test_more_warps_use_more_slots():
    used = [
        sum(one < 0 for row in packed(line_by_line(traced(in_turn, n)))["warps"] for one in row)
        for n in (1, 4, 32)
    ]
    assert used == [used[0], 4 * used[0], 32 * used[0]]


def test_lines_are_named_where_they_stand():
    film = packed(line_by_line(traced(together)))
    named = {name: film["lines"][line][1] for name, line in film["ops"]}
    assert named["store of out"] == "out[i] = total + b"


def test_a_trace_without_a_kernel_or_with_functions_is_refused(tmp_path):
    with pytest.raises(TraceError, match="calls double: write it out in its place"):
        line_by_line(traced(calls))
    traced(together).save(tmp_path / "trace")
    with pytest.raises(TraceError, match="has no kernel"):
        line_by_line(Trace.load(tmp_path / "trace"))


@pytest.mark.slow
def test_without_numba_it_draws_the_same():
    code = (
        "import sys, json\n"
        "sys.modules['numba'] = None\n"
        "sys.path[:0] = ['tests/stopwatch', 'tests']\n"
        "import test_line_by_line as t\n"
        "print(json.dumps(t.packed(t.line_by_line(t.traced(t.through_shared, 4)))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-500:]
    assert json.loads(done.stdout) == json.loads(
        json.dumps(packed(line_by_line(traced(through_shared, 4))))
    )

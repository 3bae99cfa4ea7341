"""The tables of a student's own kernels: what they show, and when a row is added."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from dataclasses import replace

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.devices import A100
from warpwise.labs import Attempts, Ladder, Launch, Out, check
from warpwise.labs.ladder import slowest
from warpwise.metrics import Metrics

COUNTERS = ("global_load_bytes", "local_bytes_per_thread")


@cuda.jit
def copy(x, y):
    i = cuda.grid(1)
    y[i] = x[i]


@cuda.jit
def copy_twice(x, y):
    i = cuda.grid(1)
    kept = cuda.local.array(2, np.float32)
    kept[0] = x[i]
    kept[1] = x[i]
    y[i] = kept[1]


@cuda.jit
def wrong(x, y):
    i = cuda.grid(1)
    y[i] = x[i] + x[i]


def traced(kernel):
    return trace(kernel, 1, 32, np.ones(32, np.float32), np.zeros(32, np.float32))


def rows(bundle) -> list[list[str]]:
    """The cells of a table's rows, without those of title and head."""
    return [line.split() for line in bundle["text/plain"].split("\n")[2:]]


def test_a_ladder_has_a_row_for_each_kernel_in_the_order_of_passing():
    ladder = Ladder(A100, *COUNTERS)
    ladder.add("twice", traced(copy_twice))
    last = ladder.add("once", traced(copy))
    assert [row[:3] for row in rows(last)] == [["twice", "256", "8"], ["once", "128", "0"]]
    assert last["text/plain"].split("\n")[1].split() == ["kernel", *COUNTERS, "time", "set", "by"]


def test_a_kernel_that_passes_again_keeps_its_place_with_new_figures():
    ladder = Ladder(A100, *COUNTERS)
    ladder.add("first", traced(copy_twice))
    ladder.add("second", traced(copy))
    assert [row[:2] for row in rows(ladder.add("first", traced(copy)))] == [
        ["first", "128"],
        ["second", "128"],
    ]


def test_attempts_stand_best_first_and_say_when_the_goal_is_reached():
    one, two = (slowest(traced(kernel).metrics, A100)[0] for kernel in (copy, copy_twice))
    assert one < two
    attempts = Attempts(A100, one, *COUNTERS)
    before = attempts.add("twice", traced(copy_twice))
    after = attempts.add("once", traced(copy))
    assert "not yet" in before["text/plain"] and "reached" in after["text/plain"]
    assert [row[:2] for row in rows(after)] == [["2.", "once"], ["1.", "twice"]]
    assert len(rows(attempts.add("once", traced(copy)))) == 2  # the same again


def test_the_time_is_that_of_the_slowest_part_without_caches():
    m = traced(copy).metrics
    assert slowest(m, A100) == (2 * 128 / A100.dram_bytes_per_s, "DRAM")
    busy = replace(m, shared_load_wavefronts=10**6)
    rate = A100.sms * A100.sm.shared_wavefronts * A100.clock_hz
    assert slowest(busy, A100) == (pytest.approx(10**6 / rate), "shared memory")
    # index arithmetic, of which a compiler removes most
    assert slowest(replace(m, warp_instructions=10**9), A100)[1] == "DRAM"
    assert slowest(Metrics(), A100) == (0.0, "DRAM")


def test_html_holds_the_same_cells_and_escapes_names():
    shown = Ladder(A100).add("<b>mine</b>", traced(copy))["text/html"]
    assert "<b>" not in shown and "&lt;b&gt;mine" in shown and shown.count("<tr>") == 2


def test_a_check_adds_a_row_only_for_a_kernel_that_passes():
    ladder = Ladder(A100, *COUNTERS)
    x = np.arange(32, dtype=np.float32)
    cases = [Launch("32", 1, 32, (x, Out(32)), (x,))]
    said = io.StringIO()
    with redirect_stdout(said):
        check(wrong, cases, board=ladder)
        assert not ladder.rows
        check(copy, cases, board=ladder)
    assert list(ladder.rows) == ["copy"] and "your ladder" in said.getvalue()

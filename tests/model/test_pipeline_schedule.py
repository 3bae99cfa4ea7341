"""Schedules of pipelines: bubbles against formulas, what stages hold, and order of the passes."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from warpwise import cluster
from warpwise.errors import LaunchError
from warpwise.model.pipeline_schedule import LENGTH, SCHEDULES, bubble_of_total, schedule

CASES = [
    (name, p, m, v)
    for name in SCHEDULES
    for p in (1, 2, 3, 4, 8, 16)
    for m in (p, 2 * p, 5 * p)
    for v in ((2, 3) if name == "interleaved" else (1,))
]


@pytest.mark.parametrize(("name", "p", "m", "v"), CASES)
def test_the_bubble_is_the_formula_s(name, p, m, v):
    made = schedule(name, p, m, v)
    assert made.bubble == bubble_of_total(name, p, m, v)
    gaps = {"interleaved": Fraction(p - 1, v), "zero-bubble": Fraction(p - 1, 3)}.get(name, p - 1)
    assert made.total == 3 * (m + gaps)


@pytest.mark.parametrize(("name", "p", "m", "v"), CASES)
def test_nothing_begins_before_what_it_needs_and_a_stage_does_one_thing(name, p, m, v):
    made = schedule(name, p, m, v)
    ends = {(one.kind, one.micro, one.chunk * p + one.stage): one for s in made.passes for one in s}
    back = "I" if name == "zero-bubble" else "B"
    for (kind, micro, layer), one in ends.items():
        if kind == "F" and layer:
            assert ends["F", micro, layer - 1].ends <= one.begins
        if kind == back and layer < p * v - 1:
            assert ends[back, micro, layer + 1].ends <= one.begins
        if kind == back:
            assert ends["F", micro, layer].ends <= one.begins
        if kind == "W":
            assert ends["I", micro, layer].ends <= one.begins
        assert one.ends - one.begins == LENGTH[kind]
    for stage in made.passes:
        assert all(a.ends <= b.begins for a, b in pairwise(stage))
        assert sum(one.ends - one.begins for one in stage) == 3 * m * v


def test_what_stages_hold():
    assert schedule("all forward", 4, 12).held == (12, 12, 12, 12)
    assert schedule("1F1B", 4, 12).held == (4, 3, 2, 1)
    assert schedule("zero-bubble", 4, 12).held == (4, 4, 4, 4)
    deep = schedule("interleaved", 4, 12, 2)
    assert deep.held[0] == 4 * (1 + Fraction(3, 4 * 2))


def test_figures_of_eight_stages():
    """8 micro-batches: 47 % of the total; 32: 18 %."""
    assert round(100 * bubble_of_total("1F1B", 8, 8)) == 47
    assert round(100 * bubble_of_total("1F1B", 8, 32)) == 18


@pytest.mark.parametrize(("p", "m"), [(2, 4), (4, 8), (8, 16), (16, 16)])
def test_the_cluster_takes_as_long(p, m):
    """1F1B, sent through the simulated cluster on links that take next to nothing."""
    order = schedule("1F1B", p, m).passes

    def program(dist):
        me, x = dist.get_rank(), np.zeros(1, np.float32)
        works = []
        for one in order[me]:
            before, behind = (me - 1, me + 1) if one.kind == "F" else (me + 1, me - 1)
            if 0 <= before < p:
                dist.recv(np.zeros(1, np.float32), before)
            dist.compute(one.ends - one.begins)
            if 0 <= behind < p:
                works.append(dist.isend(x, behind))
        for work in works:
            work.wait()

    fast = cluster.switch(p, 1e15, 1e-12)
    record = cluster.run(program, p, topology=fast)
    assert record.seconds == pytest.approx(float(schedule("1F1B", p, m).total), rel=1e-6)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("2F2B", 4, 8), "name is '2F2B'; it can be all forward"),
        (("1F1B", 4, 8, 2), "chunks is 2; it can be 1 to 1"),
        (("interleaved", 4, 8, 1), "chunks is 1; it can be 2 or more"),
        (("interleaved", 4, 6, 2), "6 micro-batches are no whole rounds of 4 stages"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        schedule(*wrong)
    assert message in str(caught.value)


@pytest.mark.parametrize("p", range(2, 9))
def test_the_formula_of_zero_bubble_holds_from_as_many_micro_batches_as_stages_on(p):
    for m in range(1, 2 * p + 1):
        made, said = schedule("zero-bubble", p, m).bubble, bubble_of_total("zero-bubble", p, m)
        assert made == said if m >= p else made > said


def test_a_formula_that_there_is_not():
    with pytest.raises(LaunchError, match="name is 'gpipe'; it can be all forward, 1F1B, inter"):
        bubble_of_total("gpipe", 8, 8)
    with pytest.raises(LaunchError, match="m is 0; it can be 1 or more"):
        bubble_of_total("1F1B", 8, 0)

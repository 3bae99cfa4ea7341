"""Checkpoints: the formulas against a drawn run, against each other, and by what has to hold."""

from __future__ import annotations

import random

import pytest

from warpwise.errors import LaunchError
from warpwise.model.checkpoints import daly, lost_share, mtbi, of_machine, useful_share, young

HOUR = 3600.0


def drawn_share(interval: float, write: float, between: float, restart: float, spans: int) -> float:
    """Work through intervals, with interruptions drawn at random."""
    draw = random.Random("checkpoints")
    clock, next_one = 0.0, draw.expovariate(1 / between)
    for _ in range(spans):
        while next_one - clock < interval + write:
            clock = next_one
            next_one = clock + draw.expovariate(1 / between)
            while next_one - clock < restart:
                clock = next_one
                next_one = clock + draw.expovariate(1 / between)
            clock += restart
        clock += interval + write
    return spans * interval / clock


@pytest.mark.parametrize(
    ("interval", "write", "between", "restart"),
    [(600, 60, 3 * HOUR, 300), (1800, 120, 2 * HOUR, 60), (3000, 300, HOUR, 600)],
)
def test_the_expected_share_is_that_of_a_drawn_run(interval, write, between, restart):
    found = drawn_share(interval, write, between, restart, 40_000)
    assert useful_share(interval, write, between, restart) == pytest.approx(found, rel=0.01)


@pytest.mark.parametrize("write", [1.0, 30.0, 300.0])
def test_each_interval_is_the_best_of_its_measure(write):
    between = 3 * HOUR
    rough, exact = young(write, between), daly(write, between)
    for off in (0.9, 0.99, 1.01, 1.1):
        assert lost_share(off * rough, write, between) > lost_share(rough, write, between)
        assert useful_share(off * exact, write, between) < useful_share(exact, write, between)
    assert exact < rough and exact == pytest.approx(rough - write / 3, rel=0.15)


def test_llama_s_interruptions():
    assert mtbi(54 * 24 * HOUR, 419) / HOUR == pytest.approx(3.1, abs=0.05)
    alone = mtbi(54 * 24 * HOUR, 419) * 16_384
    assert of_machine(alone, 8192) == pytest.approx(2 * mtbi(54 * 24 * HOUR, 419))


@pytest.mark.parametrize("wrong", [(0, 1), (1, 0), (-1, 5)])
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(LaunchError, match="take time"):
        young(*wrong)
    with pytest.raises(LaunchError, match="without an interruption"):
        mtbi(HOUR, 0)


def test_a_run_that_gets_nowhere_has_no_useful_time():
    assert useful_share(1e9, 60, 10) == 0
    assert useful_share(10, 60, 10, restart_s=1e5) == 0
    assert daly(1e6, 10) == pytest.approx(10)


def test_a_machine_has_a_part_or_more():
    with pytest.raises(LaunchError, match="parts is 0; it can be 1 or more"):
        of_machine(10, 0)

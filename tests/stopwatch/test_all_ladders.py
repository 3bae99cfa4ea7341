"""The ladders of reference kernels as they are predicted: no step that the course says helps is
predicted to be slower, and none moves less than its arrays have.

The product's ladder, which the book shows at a size of its own, is in ``test_ladders``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from operator import itemgetter
from typing import Any

import numpy as np
import pytest
from support.share import share_of_kinds

from warpwise import trace
from warpwise.cuda.redirected import Asked, redirected
from warpwise.kernels import (
    adamw,
    copy,
    elementwise,
    fusion,
    gelu,
    layernorm,
    recompute,
    reduction,
    softmax,
    transpose,
)
from warpwise.kernels.step import Step
from warpwise.stopwatch import Estimate, find
from warpwise.toolchain import missing
from warpwise.traces import Trace

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason="no compiler"),
]
DEVICES = ("H200", "RTX A6000")
ALIKE = 1.03  #: ratio up to which two times are the same
N, ROWS, COLUMNS, SIDE = 2**24, 2**14, 1024, 4096
PARTIALS = 1056  # blocks of a sum


def floats(*sizes: int) -> tuple[np.ndarray, ...]:
    return tuple(np.zeros(size, np.float32) for size in sizes)


def halves() -> tuple[np.ndarray, ...]:
    """Return three arrays of N float16, as their bits, two in a word."""
    return tuple(np.zeros(N // 2, np.uint32) for _ in range(3))


@dataclass(frozen=True)
class Ladder:
    """Steps in their order, with what they are launched on, and the numbers that have to move.

    ``no_gain``: steps of which the course does not say that they are faster than the one before."""

    steps: tuple[Step, ...]
    arguments: Callable[[], tuple[Any, ...]]
    moved: int
    no_gain: tuple[str, ...] = ()


LADDERS = {
    "copy": Ladder(copy.STEPS, lambda: floats(N, N), 2 * N),
    "elementwise": Ladder(elementwise.SINGLE, lambda: floats(N, N, N), 3 * N),
    "elementwise half": Ladder(elementwise.HALF, halves, 3 * N // 2),
    "gelu": Ladder(gelu.STEPS, lambda: floats(N, N), 2 * N),
    "adamw": Ladder(adamw.STEPS, lambda: (1, *floats(N, N, N, N)), 7 * N),
    "fusion": Ladder(fusion.STEPS, lambda: floats(*[N] * 6), 2 * N),
    "recompute": Ladder(recompute.STEPS, lambda: floats(*[N] * 8), 4 * N),
    "transpose": Ladder(
        transpose.STEPS, lambda: (*floats(SIDE**2), (SIDE, SIDE), *floats(SIDE**2)), 2 * SIDE**2
    ),
    "sum": Ladder(reduction.SUMS[1:], lambda: floats(4 * N, PARTIALS, 1), 4 * N),
    "softmax": Ladder(
        softmax.STEPS,
        lambda: (*floats(N), (ROWS, COLUMNS), *floats(N)),
        2 * N,
        # Chapter 11: a row of 1,024 is still in L1 when step 1 reads it again. The reference page:
        # step 3 keeps room for 8,192, so fewer blocks fit.
        ("softmax_2_online", "softmax_3_on_chip"),
    ),
    "layernorm": Ladder(layernorm.STEPS, lambda: floats(768 * ROWS, 768, 768, 768 * ROWS), N),
}


@cache
def traces(name: str) -> tuple[tuple[Trace, ...], ...]:
    """Return the launches of each step, of which few blocks are traced."""
    ladder = LADDERS[name]
    arguments, found = ladder.arguments(), []
    for step in ladder.steps:
        asked: list[Asked] = []
        with redirected(asked.append):
            step.run(*arguments)
        found.append(tuple(map(traced, asked)))
    return tuple(found)


def traced(asked: Asked) -> Trace:
    return trace(
        asked.kernel,
        asked.grid,
        asked.block,
        *asked.arguments,
        sanitize=False,
        progress=False,
        blocks_traced=2,
    )


def estimates(name: str, device: str) -> dict[str, list[Estimate]]:
    ladder, card = LADDERS[name], find(device)
    return {
        step.name: [one.time(card) for one in launches]
        for step, launches in zip(ladder.steps, traces(name), strict=True)
    }


@pytest.mark.parametrize(
    ("name", "device"), share_of_kinds(product(LADDERS, DEVICES), kind=itemgetter(0), one_in=4)
)
def test_a_step_that_helps_is_not_predicted_to_be_slower(name: str, device: str):
    ladder = LADDERS[name]
    found = estimates(name, device)
    times = {step: sum(one.seconds for one in launches) for step, launches in found.items()}
    for before, after in pairwise(step for step in times if step not in ladder.no_gain):
        assert times[after] < ALIKE * times[before], (before, after, times)
    assert times[ladder.steps[-1].name] < ALIKE * min(times.values())
    for step, launches in found.items():
        moved = sum(one.dram_bytes for one in launches)
        assert moved > 0.95 * 4 * ladder.moved, (step, moved)
        assert not any(one.doubtful for one in launches), (step, launches[0].notes)


def test_keeping_a_row_pays_where_it_is_long():
    """Of rows of 1,024 fewer blocks fit; of rows of 8,192 step 2 reads more from L2."""
    times: dict[int, list[float]] = {}
    for columns in (1024, 8192):
        shape, arguments = (N // columns, columns), floats(N, N)
        times[columns] = []
        for step in softmax.STEPS[1:3]:
            asked: list[Asked] = []
            with redirected(asked.append):
                step.run(arguments[0], shape, arguments[1])
            (one,) = asked
            times[columns].append(traced(one).time("H200").seconds)
    (online, kept), (long_online, long_kept) = times.values()
    assert 1.1 * online < kept < 1.4 * online and long_kept < long_online

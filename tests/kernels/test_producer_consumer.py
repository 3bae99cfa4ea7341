"""The product with a producer and consumers: NumPy's numbers, at ragged sizes, and its timeline."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from support.watched import operands, watched

from warpwise.kernels.producer_consumer import DEPTH, STAGES, run_producer_consumer

pytestmark = pytest.mark.threads


@pytest.mark.parametrize(
    ("m", "n", "k"), [(64, 64, 64), (64, 64, 448), (1, 4, 8), (100, 72, 200)], ids=str
)
def test_it_gives_numpys_product(m: int, n: int, k: int):
    a, b, c = operands(m, n, k)
    run_producer_consumer(a, b, c)
    wanted = a.astype(np.float32) @ b.astype(np.float32).T
    assert np.allclose(c, wanted, rtol=1e-5, atol=1e-4)


def test_the_timeline_has_each_warps_role():
    trips = 7
    timeline = watched(trips)
    producer, consumer = timeline.of(4), timeline.of(1)
    assert [step.word for step in producer].count("tma_load") == 2 * trips
    assert [step.word for step in consumer].count("wgmma_mma_async") == trips * DEPTH // 16
    assert not [step for step in producer if step.kind == "product"]
    assert not [step for step in consumer if step.kind == "copy"]
    for warp in range(5):
        steps = timeline.of(warp)
        assert all(before.begin < after.begin for before, after in pairwise(steps))
        assert all(step.begin < step.end for step in steps)


def test_steps_name_the_phases_of_their_mbarriers_and_have_their_lines_text():
    timeline = watched(7)
    for warp, barriers in ((4, "empty"), (0, "full")):
        waits = [step for step in timeline.of(warp) if step.word == "mbarrier_try_wait"]
        phases = [trip // STAGES - (barriers == "empty") for trip in range(7)]
        assert [wait.phase for wait in waits] == [p if p >= 0 else None for p in phases]
        assert {wait.detail for wait in waits} == {f"{barriers}[{k}]" for k in range(STAGES)}
        assert {wait.text.split(",")[0].partition("(")[2] for wait in waits} == {barriers}
    copies = [step for step in timeline.of(4) if step.kind == "copy"]
    assert [copy.phase for copy in copies] == [k // 2 // STAGES for k in range(14)]
    assert copies[0].text.startswith("hopper.tma_load(a[stage], a_map")


def test_the_producer_runs_ahead_by_as_many_stages_as_there_are():
    waits = [step for step in watched(7).of(4) if step.word == "mbarrier_try_wait"]
    assert [wait.end - wait.begin > 1 for wait in waits] == [False] * STAGES + [True] * 4


def test_consumers_never_use_a_stage_before_its_copies_end():
    timeline = watched(5)
    copies = [step for step in timeline.of(4) if step.kind == "copy"]
    waits = [step for step in timeline.of(0) if step.word == "mbarrier_try_wait"]
    for trip, wait in enumerate(waits):
        assert wait.end >= max(copy.end for copy in copies[2 * trip : 2 * trip + 2])


def test_a_launch_is_the_same_every_time():
    first, second = (watched.__wrapped__(4) for _ in range(2))  # not from the cache
    assert first.steps == second.steps

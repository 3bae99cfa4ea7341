"""What the engine writes down of its warps, against what follows by hand; a launch's timeline."""

from __future__ import annotations

import json
import pickle
from functools import cache

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.stopwatch import Estimate, engine
from warpwise.stopwatch.engine import ABSENT, AT_BARRIER, BRANCH, ISSUES, LONG, NOT_SELECTED, WAIT
from warpwise.stopwatch.film import PACKED, Timeline
from warpwise.stopwatch.timeline import CLOCKS
from warpwise.toolchain import missing

START = 10.0
LATENCY = np.array([25.0, 30.0, 200.0, 500.0, 0.0])

needs_compiler = pytest.mark.skipif(bool(missing()), reason="no compiler")


def watched(instructions: list[tuple], walk: list[int], warps: int, clocks: int, first: float = 0):
    """Run (kind, result, source, clocks, latency) along a walk; -1 is no register."""
    n = len(instructions)
    kinds = np.array([row[0] for row in instructions], np.int8)
    results, sources = (np.array([[row[k], -1] for row in instructions], np.int16) for k in (1, 2))
    held, latencies = (np.array([row[k] for row in instructions], float) for k in (3, 4))
    answer = np.where(kinds == engine.LSU, LONG, WAIT).astype(np.int8)
    sectors = np.where(kinds == engine.LSU, 4.0, -1.0)
    did, seen = np.full((warps, clocks), ABSENT, np.int8), np.zeros((warps, clocks), np.int32)
    given = (
        kinds, results, sources, held, latencies, answer, np.ones(n), sectors, np.zeros(n),
        np.ones(n), np.zeros((n, 2)),
        np.array([walk], np.int32), np.array([len(walk)]), np.zeros(warps, np.int64), 1, 1,
        LATENCY, np.array([2.0, 4.0]), START, False,
    )  # fmt: skip
    engine.watch(*given, did, seen, first)
    return did, seen, given


FMA = (engine.FP32, 1, 1, 2, 4)
BARRIER = (engine.BARRIER, -1, -1, 1, 1)
LOAD = (engine.LSU, 1, -1, 1, 0)


def test_a_chain_issues_in_each_fourth_clock():
    did, seen, _ = watched([FMA], [0] * 8, 1, 40)
    expected = [engine.START] * 10 + ([ISSUES] + [WAIT] * 3) * 7 + [ISSUES, ABSENT]
    assert did[0, : len(expected)].tolist() == expected
    assert (did[0, len(expected) :] == ABSENT).all() and not seen.any()


def test_of_two_ready_warps_one_is_not_selected():
    independent = (engine.UNIFORM, -1, -1, 1, 1)
    did, _, _ = watched([independent], [0] * 5, 8, 30)
    first, second = did[0], did[4]
    assert first[10:15].tolist() == [ISSUES] * 5
    assert second[10:20].tolist() == [NOT_SELECTED] * 5 + [ISSUES] * 5


def test_each_clock_has_one_cause_and_a_load_s_is_the_long_scoreboard():
    did, seen, _ = watched([LOAD, FMA], [0, 1], 1, 300)
    until = 10 + 1 + 1 + 8 + 200  # the start, the units, four sectors of L2, its latency
    assert did[0, 10] == ISSUES and (did[0, 11 : until - 1] == LONG).all()
    assert (seen[0, 11 : until - 1] == 1).all() and did[0, until - 1] == ISSUES


def test_who_waits_at_a_barrier_when_the_window_ends_is_written_down():
    slow = [0] * 50 + [1, 0]
    did, seen, _ = watched([FMA, BARRIER], slow, 2, 150, first=30.0)
    assert set(did[0].tolist()) == {ISSUES, WAIT}
    did, seen, _ = watched([FMA, BARRIER], slow, 2, 400)
    at = int(np.flatnonzero(did[0] == AT_BARRIER)[0])
    assert did[0, at - 1] == ISSUES and seen[0, at - 1] == 1 and seen[0, at] == 0


def test_a_branch_is_waited_for():
    did, _, _ = watched([(engine.CONTROL, -1, -1, 8, 1)], [0, 0], 1, 30)
    assert did[0, 10:19].tolist() == [ISSUES] + [BRANCH] * 7 + [ISSUES]


def test_a_window_is_a_part_of_the_whole():
    whole, _, given = watched([FMA, BARRIER], [0] * 30 + [1] + [0] * 30, 6, 320)
    part, _, _ = watched([FMA, BARRIER], [0] * 30 + [1] + [0] * 30, 6, 60, first=75.0)
    assert np.array_equal(part, whole[:, 75:135])
    ends, stalls, _ = engine.simulate(*given)
    waits = [(whole == why).sum() for why in range(engine.REASONS)]
    # An instruction's own clock is counted as a wait, but a warp's last one's.
    waits[WAIT] += (whole == ISSUES).sum() - 2 * 6
    waits[AT_BARRIER] += 6
    assert stalls.sum(axis=0) == pytest.approx(waits) and ends[-1] < 320


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cache
def timed(grid: int = 2**17) -> Estimate:
    a, b, c = (np.ones(64 * 256, np.float32) for _ in range(3))
    return trace(add, 64, 256, a, b, c).time("A100 80 GB", grid=grid)


@needs_compiler
def test_a_launch_s_timeline_shows_its_middle():
    found = timed().timeline
    assert found is not None
    assert found.did.shape == found.seen.shape == (64, CLOCKS)
    issues = found.did == ISSUES
    for part in range(engine.PARTS):
        assert issues[part :: engine.PARTS].sum(axis=0).max() == 1
    slots = next(one.share for one in timed().pipes if one.name == "issue slots")
    assert issues.sum() / engine.PARTS / CLOCKS == pytest.approx(slots, abs=0.1)
    waits = [(found.did == why).sum() for why in range(engine.START)]
    assert int(np.argmax(waits)) == LONG
    texts = {found.places[found.lines[i]][1] for i in np.unique(found.seen[issues]).tolist()}
    assert "c[i] = a[i] + b[i]" in texts


@needs_compiler
def test_a_launch_of_one_block_has_a_timeline_too():
    found = timed(1).timeline
    assert found is not None and found.did.shape[0] == 8
    assert (found.did == ISSUES).sum() > 50 and (found.did[:, -1] != ABSENT).any()


@needs_compiler
def test_an_estimate_with_a_timeline_is_a_value():
    again = pickle.loads(pickle.dumps(timed()))
    assert again == timed() and hash(again) == hash(timed()) and "timeline" not in repr(again)
    assert np.array_equal(again.timeline.did, timed().timeline.did)


@needs_compiler
def test_what_is_packed_can_be_unpacked():
    found = timed().timeline
    assert found is not None
    packed = json.loads(json.dumps(found.packed()))
    for row, did, seen in zip(packed["warps"], found.did, found.seen, strict=True):
        assert _what(row) == did.tolist()
        issued = [found.opcodes[i] for i in seen[did == ISSUES].tolist()]
        assert [packed["ops"][-1 - one][0] for one in row if one < 0] == issued
    assert Timeline.cut(found, 9).packed()["clocks"] == 9


def _what(row: list[int]) -> list[int]:
    parts = ([ISSUES] if one < 0 else [one // PACKED] * (one % PACKED) for one in row)
    return [what for part in parts for what in part]

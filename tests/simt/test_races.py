"""Races against brute force: every pair of random accesses, under masks and barriers.

The oracle knows nothing of times or shadows. Every thread has a set of the accesses that come
before what it does next; where threads meet, each gets what all of them know."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

from warpwise import trace
from warpwise.simt import kernels_in

BLOCKS, THREADS, WARP = 2, 64, 32
SHARED = 3  # elements of the shared array
GLOBAL = BLOCKS * THREADS + 2
TELLING = (0, 1, 31, 32, 63)  # threads at the ends of warps


@dataclass(frozen=True, repr=False)
class Step:
    """One statement under a mask: an access of ``array``, or a meeting of threads.

    ``index`` and ``active``: ``(blocks, threads)``. ``masks``: of a syncwarp, by thread."""

    kind: str
    array: str = ""
    index: np.ndarray | None = None
    active: np.ndarray | None = None
    masks: np.ndarray | None = None
    #: How far the index is above the thread's number in the launch.
    regular: int | None = None


EVERYBODY = np.ones((BLOCKS, THREADS), bool)
# A store races too soon to be of interest.
KINDS = st.sampled_from(["load", "load", "load", "load", "atomic", "atomic", "store"])


@st.composite
def scattered(draw) -> Step:
    """Draw a step in which a few threads name a few elements."""
    array = draw(st.sampled_from("sx"))
    index, active = np.zeros((BLOCKS, THREADS), np.int64), np.zeros((BLOCKS, THREADS), bool)
    element = (
        st.integers(0, SHARED - 1)
        if array == "s"
        else st.sampled_from([0, 1, 32, 64, 65, 127, 128])
    )
    lane = st.tuples(st.integers(0, BLOCKS - 1), st.sampled_from(TELLING), element)
    for block, thread, place in draw(st.lists(lane, min_size=1, max_size=3)):
        index[block, thread], active[block, thread] = place, True
    return Step(draw(KINDS), array, index, active)


@st.composite
def alike(draw) -> Step:
    """Draw a step that is the same in all blocks: the first threads name a shared element."""
    count, shift = draw(st.integers(1, SHARED)), draw(st.integers(0, SHARED - 1))
    index = np.broadcast_to((np.arange(THREADS) + shift) % SHARED, (BLOCKS, THREADS))
    return Step(
        draw(KINDS), "s", index, np.broadcast_to(np.arange(THREADS) < count, (BLOCKS, THREADS))
    )


@st.composite
def regular(draw) -> Step:
    """Draw a step in which threads name the element of their number, plus a shift."""
    shift, last = (
        draw(st.integers(0, 2)),
        draw(st.sampled_from([1, 32, 50, 64, 100, 128, 128, 128])),
    )
    numbers = np.arange(BLOCKS * THREADS).reshape(BLOCKS, THREADS)
    return Step(draw(KINDS), "x", numbers + shift, numbers < last, regular=shift)


@st.composite
def meeting(draw) -> Step:
    kind = draw(st.sampled_from(["barrier", "barrier", "syncwarp", "grid"]))
    if kind == "grid":
        return Step(kind, active=EVERYBODY)
    shape = (BLOCKS, 1) if kind == "barrier" else (BLOCKS, THREADS // WARP)
    units = draw(
        st.lists(st.booleans(), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
    )
    units = np.ones(shape, bool) if draw(st.booleans()) else np.array(units).reshape(shape)
    return Step(
        kind,
        active=np.repeat(units, THREADS // shape[1], axis=1),
        masks=np.full(THREADS, 0xFFFFFFFF),
    )


@st.composite
def half_warps(draw) -> Step:
    """Draw a syncwarp of even and odd lanes, or of lower and upper ones, among themselves."""
    groups = np.arange(THREADS) % 2 if draw(st.booleans()) else np.arange(THREADS) // 16 % 2
    masks = [sum(1 << lane for lane in range(WARP) if groups[lane] == group) for group in range(2)]
    return Step("syncwarp", active=EVERYBODY, masks=np.array(masks)[groups])


ACCESSES = [scattered(), scattered(), alike(), regular()]
PROGRAMS = st.lists(st.one_of(*ACCESSES, meeting(), meeting()), min_size=3, max_size=10)
WITH_HALF_WARPS = st.lists(
    st.one_of(*ACCESSES, meeting(), half_warps(), half_warps()), min_size=3, max_size=8
)


def races_by_brute_force(steps: list[Step]) -> bool:
    """Return whether some two accesses race.

    An access is a bit; ``known[i]`` has those that come before what thread i does next."""
    known = [0] * (BLOCKS * THREADS)
    done: dict[tuple, list[tuple[int, int, str]]] = {}
    count = 0
    for step in steps:
        if step.array == "":
            for group in meeting_threads(step):
                together = 0
                for i in group:
                    together |= known[i]
                for i in group:
                    known[i] = together
            continue
        for block, thread in zip(*np.nonzero(step.active), strict=True):
            i = int(block) * THREADS + int(thread)
            place = int(block) if step.array == "s" else -1, int(step.index[block, thread])
            for bit, who, kind in done.get(place, []):
                harmless = kind == step.kind and kind != "store"
                if who != i and not harmless and not known[i] >> bit & 1:
                    return True
            done.setdefault(place, []).append((count, i, step.kind))
            known[i] |= 1 << count
            count += 1
    return False


def meeting_threads(step: Step) -> list[list[int]]:
    groups: dict[tuple, list[int]] = {}
    for block, thread in zip(*np.nonzero(step.active), strict=True):
        where = {"grid": (), "barrier": (block,)}.get(step.kind)
        if where is None:
            where = block, thread // WARP, step.masks[thread]
        groups.setdefault(where, []).append(int(block) * THREADS + int(thread))
    return list(groups.values())


HEAD = f"""
from numba import cuda, int64
@cuda.jit
def kernel(index, active, masks, x, out):
    s = cuda.shared.array({SHARED}, int64)
    t, b, i = cuda.threadIdx.x, cuda.blockIdx.x, cuda.grid(1)
    if t < {SHARED}:
        s[t] = 0
    cuda.syncthreads()"""


def text_of(steps: list[Step]) -> str:
    lines = [HEAD]
    for k, step in enumerate(steps):
        uniform = (
            step.array == "s"
            and (step.index == step.index[0]).all()
            and (step.active == step.active[0]).all()
        )
        b = 0 if uniform else "b"  # without b, neither index nor mask depends on the block
        index = f"i + {step.regular}" if step.regular is not None else f"index[{k}, {b}, t]"
        place = f"{step.array}[{index}]"
        does = {
            "load": f"out[i] = {place}",
            "store": f"{place} = t",
            "atomic": f"cuda.atomic.add({step.array}, {index}, 1)",
            "barrier": "cuda.syncthreads()",
            "syncwarp": f"cuda.syncwarp(masks[{k}, t])",
            "grid": "cuda.cg.this_grid().sync()",
        }[step.kind]
        guard = "" if step.active.all() else f"    if active[{k}, {b}, t]:\n    "
        lines.append(f"{guard}    {does}")
    return "\n".join(lines)


def races_here(steps: list[Step]):
    nothing = np.zeros((BLOCKS, THREADS), np.int64)
    index = np.array([nothing if s.index is None else s.index for s in steps])
    active = np.array([s.active for s in steps])
    masks = np.array([nothing[0] if s.masks is None else s.masks for s in steps])
    kernel = kernels_in(text_of(steps))["kernel"]
    return trace(
        kernel,
        BLOCKS,
        THREADS,
        index,
        active,
        masks,
        np.zeros(GLOBAL, np.int64),
        np.zeros(BLOCKS * THREADS, np.int64),
        record=(),
    ).races


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(PROGRAMS)
def test_random_programs_race_where_brute_force_says_so(steps):
    assert bool(races_here(steps)) == races_by_brute_force(steps), text_of(steps)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(WITH_HALF_WARPS)
def test_syncwarps_of_half_a_warp_never_give_a_false_alarm(steps):
    if races_here(steps):
        assert races_by_brute_force(steps), text_of(steps)


@pytest.mark.parametrize(
    "kinds",
    [
        ("load", "store"),
        ("store", "load"),
        ("store", "store"),
        ("store", "atomic"),
        ("atomic", "load"),
    ],
)
@pytest.mark.parametrize(
    ("other", "scope"), [((0, 1), "warp"), ((0, 32), "block"), ((1, 0), "grid")]
)
def test_the_oracle_and_the_sanitizer_agree_on_each_pair(kinds, other, scope):
    steps = []
    for kind, (block, thread) in zip(kinds, [(0, 0), other], strict=True):
        active = np.zeros((BLOCKS, THREADS), bool)
        active[block, thread] = True
        steps.append(Step(kind, "x", np.full((BLOCKS, THREADS), 5), active))
    assert races_by_brute_force(steps)
    (race,) = races_here(steps)
    assert (race.scope, race.array, race.index) == (scope, "x", (5,))
    assert [(side.block[0], side.thread[0]) for side in (race.first, race.second)] == [
        (0, 0),
        other,
    ]
    assert [side.atomic for side in (race.first, race.second)] == [
        kind == "atomic" for kind in kinds
    ]


@cuda.jit
def quarters(x, shift):
    s = cuda.shared.array(32, np.int64)
    t = cuda.threadIdx.x
    s[t] = t
    cuda.syncwarp(0xFF << (t // 8 * 8))
    x[t] = s[(t + shift) % 8 + (t // 8 * 8 + shift // 8 * 8) % 32]


@pytest.mark.parametrize(("shift", "races"), [(0, 0), (3, 0), (8, 1), (16, 1), (24, 1)])
def test_quarters_of_a_warp_meet_among_themselves_only(shift, races):
    """``shift``: how far away is the lane whose value is read; 8 and more are in other quarters."""
    found = trace(quarters, 1, 32, np.zeros(32, np.int64), shift).races
    assert [race.scope for race in found] == ["warp"] * races


@cuda.jit
def writes_one(x, value):
    i = cuda.grid(1)
    if i >= 3:
        x[0] = value[i]


@pytest.mark.parametrize("other", [None, 3, 40, 127])
def test_a_race_says_if_all_write_the_same(other):
    value = np.full(128, 7)
    if other is not None:
        value[other] = 8
    (race,) = trace(writes_one, 2, 64, np.zeros(1, np.int64), value).races
    assert race.same == (other is None)
    assert race.what.endswith("; both write the same value") == race.same
    assert "same value" not in race.message.hidden()
    threads = [side.block[0] * 64 + side.thread[0] for side in (race.first, race.second)]
    assert race.same or other in threads


@cuda.jit
def both_kinds(x):
    s = cuda.shared.array(2, np.int64)
    t = cuda.threadIdx.x
    x[0] = 5
    s[0] = cuda.blockIdx.x
    s[1] = t
    cuda.syncthreads()
    x[1] = s[0] + s[1] - s[0]
    s[0] = 0


def test_races_on_one_value_come_last():
    races = trace(both_kinds, 3, 64, np.zeros(2, np.int64)).races
    assert [race.same for race in races] == sorted(race.same for race in races)
    same = {(race.array, race.first.line - races[0].first.line) for race in races if race.same}
    assert ("s", -1) in same and ("x", -2) in same and not races[0].same
    assert races[0].array == "s" and races[0].index == (1,)


@cuda.jit
def in_turns(x, value):
    for k in range(3):
        if cuda.threadIdx.x == k * 40:
            x[0] = value[k]


@pytest.mark.parametrize(("values", "same"), [((1, 1, 1), True), ((1, 1, 2), False)])
def test_a_later_write_of_another_value_counts(values, same):
    (race,) = trace(in_turns, 1, 128, np.zeros(1), np.array(values)).races
    assert race.same is same

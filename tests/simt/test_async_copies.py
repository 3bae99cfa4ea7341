"""Asynchronous copies: when their data arrive, how they are counted and recorded, and mistakes.

``chapters/mistakes/async_copies`` has kernels with one mistake each."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import AsyncCopyError, KernelTypeError, OutOfBoundsError
from warpwise.kernels.tensor_core import cp_async16, cp_async_commit, cp_async_wait
from warpwise.simt import kernels_in, run_unwatched

THREADS, N = 32, 128
HEAD = """
import numpy as np
from warpwise import cuda
from warpwise.kernels.tensor_core import cp_async16, cp_async_commit, cp_async_wait

@cuda.jit
def kernel(x, y, out):
    tile = cuda.shared.array(256, np.float32, alignment=16)
    t = cuda.threadIdx.x
"""


def run(body: str, threads: int = THREADS, blocks: int = 1, unwatched: bool = False, **options):
    """Run a kernel over 256 numbers; return its trace, and what it stored for each thread."""
    kernel = kernels_in(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))["kernel"]
    x, y = np.arange(256, dtype=np.float32), 1000 + np.arange(256, dtype=np.float32)
    out = np.full(threads * blocks, -1, np.float32)
    if unwatched:
        return run_unwatched(kernel, blocks, threads, x, y, out), out
    return trace(kernel, blocks, threads, x, y, out, **options), out


COPY = "cp_async16(tile, 4 * t, x, 4 * t)\n"
SECOND = "cp_async16(tile, 128 + 4 * t, y, 4 * t)\n"
COMMIT, WAIT = "cp_async_commit()\n", "cp_async_wait({})\n"
READ = "out[t] = tile[4 * t]"
READ_SECOND = "out[t] = tile[128 + 4 * t]"
OWN = 4 * np.arange(THREADS, dtype=np.float32)

# --- when data arrive ---

RIGHT = {
    "the only group": (COPY + COMMIT + WAIT.format(0) + READ, OWN),
    "the older of two": (COPY + COMMIT + SECOND + COMMIT + WAIT.format(1) + READ, OWN),
    "both in one group": (COPY + SECOND + COMMIT + WAIT.format(0) + READ_SECOND, OWN + 1000),
    "a group that is empty counts": (COPY + COMMIT + COMMIT + WAIT.format(1) + READ, OWN),
    "a wait for fewer, and one for all": (
        COPY + COMMIT + WAIT.format(1) + WAIT.format(0) + READ,
        OWN,
    ),
    "a copy after its commit is in the next group": (
        COPY + COMMIT + SECOND + COMMIT + WAIT.format(0) + READ_SECOND,
        OWN + 1000,
    ),
    "what was there when the copy began": (
        COPY + "cuda.syncthreads()\nx[4 * t] = -5\n" + COMMIT + WAIT.format(0) + READ,
        OWN,
    ),
    "one place, copied to again once the first has arrived": (
        COPY
        + COMMIT
        + WAIT.format(0)
        + "cp_async16(tile, 4 * t, y, 4 * t)\n"
        + COMMIT
        + WAIT.format(0)
        + READ,
        OWN + 1000,
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_data_are_there_once_their_group_was_waited_for(name):
    body, want = RIGHT[name]
    t, out = run(body)
    assert np.array_equal(out, want) and t.races == ()


def test_threads_count_groups_of_their_own():
    """Even lanes commit a second group, so that a wait for all but one is for their first."""
    body = (
        f"{COPY}{COMMIT}if t % 2 == 0:\n    {SECOND}    {COMMIT}    {WAIT.format(1)}"
        f"else:\n    {WAIT.format(0)}{READ}"
    )
    assert np.array_equal(run(body)[1], OWN)


def test_lanes_that_loop_alone_get_their_data():
    """Of many blocks few lanes are still in the loop, and are run compacted."""
    body = (
        "for k in range(40 if t == 3 else 1):\n"
        "    cp_async16(tile, 4 * t, x, 4 * ((t + k) % 32))\n"
        "    cp_async_commit()\n"
        "    cp_async_wait(0)\n"
        "    out[cuda.grid(1)] = tile[4 * t]"
    )
    _, out = run(body, blocks=40)
    want = OWN.copy()
    want[3] = 4 * ((3 + 39) % 32)
    assert np.array_equal(out.reshape(40, -1), np.tile(want, (40, 1)))


def test_a_warp_that_waits_in_a_loop_copies_too():
    body = (
        "if t == 32:\n    cuda.atomic.add(y, 0, 1)\nif t < 32:\n"
        "    while cuda.atomic.add(y, 0, 0) < 1001:\n        pass\n"
        f"    {COPY}    {COMMIT}    {WAIT.format(0)}    {READ}"
    )
    assert np.array_equal(run(body, threads=64)[1][:32], OWN)


def test_unwatched_data_arrive_with_the_wait_as_well():
    before = f"tile[4 * t] = 7\n{COPY}{COMMIT}{READ}"
    assert (run(before, unwatched=True)[1] == 7).all()
    assert np.array_equal(run(before.replace(READ, WAIT.format(0) + READ), unwatched=True)[1], OWN)


# --- what is counted and recorded ---


def test_a_copy_is_a_request_of_both_memories():
    m = run(COPY + COMMIT + WAIT.format(0) + READ)[0].metrics
    assert (m.global_load_requests, m.global_load_sectors, m.global_load_bytes) == (1, 16, 512)
    assert (m.shared_store_requests, m.shared_store_wavefronts) == (1, 4)
    assert m.shared_store_bytes == 512 and m.shared_store_bank_conflicts == 0


def test_a_copy_that_strides_over_banks_conflicts():
    m = run("cp_async16(tile, 32 * (t % 8), x, 4 * t)")[0].metrics
    assert m.shared_store_wavefronts == 4 * 8


def test_a_trace_has_a_copy_where_it_begins_and_where_it_arrives():
    t, _ = run(COPY + COMMIT + SECOND + COMMIT + WAIT.format(1) + READ)
    found = [(e.kind, t.source[e.line].strip()) for e in t.events if e.space == "shared"]
    assert found == [
        ("copy", COPY.strip()),
        ("copy", SECOND.strip()),
        ("arrive", "cp_async_wait(1)"),
        ("load", READ),
    ]
    copy, arrival = (next(e for e in t.events if e.kind == kind) for kind in ("copy", "arrive"))
    assert copy.addresses == arrival.addresses and copy.itemsize == arrival.itemsize == 16


# --- mistakes ---

NOT_WAITED = "it is in group 1 of 1 that the thread has committed, and no wait came after"
WRONG = {
    "read": (COPY + COMMIT + READ, "tile[0] is read while", NOT_WAITED),
    "written": (COPY + COMMIT + "tile[4 * t + 3] = 1", "tile[3] is written while", NOT_WAITED),
    "updated": (
        COPY + COMMIT + "cuda.atomic.add(tile, 4 * t + 1, 1)",
        "tile[1] is updated while",
        NOT_WAITED,
    ),
    "copied to again": (COPY + COMMIT + COPY, "tile[0] is copied to while", NOT_WAITED),
    "never committed": (
        COPY + WAIT.format(0) + READ,
        "tile[0] is read while",
        "no cp_async_commit() has made it part of a group",
    ),
    "a newer group": (
        COPY + COMMIT + SECOND + COMMIT + WAIT.format(1) + READ_SECOND,
        "tile[128] is read while",
        "it is in group 2 of 2 that the thread has committed, and the wait on line 14 lets the "
        "newest group go on",
    ),
    "two newer groups": (
        COPY + COMMIT + WAIT.format(2) + READ,
        "tile[0] is read while",
        "the wait on line 12 lets the newest 2 groups go on",
    ),
    "committed after the wait": (
        COPY + WAIT.format(0) + COMMIT + READ,
        "tile[0] is read while",
        "it is in group 1 of 1 that the thread has committed, but only after the wait on line 11",
    ),
    "another thread's": (
        COPY + COMMIT + "if t < 16:\n    " + WAIT.format(0) + "out[t] = tile[4 * (31 - t)]",
        "tile[124] is read while a copy to it, started by thread (31, 0, 0) on line 10",
        "no wait came after",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_use_before_the_wait_is_named(name):
    body, what, why = WRONG[name]
    with pytest.raises(AsyncCopyError) as error:
        run(body)
    assert what in error.value.what and why in error.value.what
    assert error.value.where.text in body and error.value.try_this


def test_the_wait_that_would_do_is_told():
    body = COPY + COMMIT + SECOND + COMMIT + COMMIT + WAIT.format(2) + READ_SECOND
    with pytest.raises(AsyncCopyError, match=r"cp_async_wait\(1\) does here"):
        run(body)


def test_groups_that_come_after_the_wait_do_not_count_for_it():
    """Of one group the wait lets one go on; a second is committed only after it."""
    body = COPY + COMMIT + WAIT.format(1) + SECOND + COMMIT + READ
    with pytest.raises(AsyncCopyError, match=r"cp_async_wait\(0\) does here"):
        run(body)


def test_elements_that_no_copy_fills_are_used_meanwhile():
    body = f"{COPY}{COMMIT}tile[128 + t] = t\nout[t] = tile[128 + t]"
    assert np.array_equal(run(body)[1], np.arange(32))


@cuda.jit
def passed_on(x, out):
    tile = cuda.shared.array(N, np.float32, alignment=16)
    t = cuda.threadIdx.x
    cp_async16(tile, 4 * t, x, 4 * t)
    cp_async_commit()
    cp_async_wait(0)
    out[t] = tile[(4 * t + 4) % N]


def test_the_copies_of_others_take_a_barrier():
    (race,) = trace(passed_on, 1, THREADS, np.ones(N, np.float32), np.ones(32, np.float32)).races
    assert race.first.copies and not race.second.copies and race.second.verb == "reads it"
    assert "starts a copy to it" in race.what and "cp_async_wait is for a thread's own" in str(race)


REFUSED = {
    "cp_async16(x, 4 * t, tile, 4 * t)": (
        KernelTypeError,
        "takes a shared array[^$]*Try: the shared array comes first",
    ),
    "cp_async16(tile, 4 * t, x.view(np.int32), 4 * t)": (KernelTypeError, "changes no type"),
    "cp_async16(tile, 8 * t + 8, x, 4 * t)": (OutOfBoundsError, "outside tile"),
    "cp_async16(tile, 4 * t, x, 8 * t + 8)": (OutOfBoundsError, "outside x"),
    "cp_async_wait(-1)": (KernelTypeError, "a whole number"),
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_no_instruction_does_is_refused(line):
    kind, said = REFUSED[line]
    with pytest.raises(kind, match=said):
        run(line)

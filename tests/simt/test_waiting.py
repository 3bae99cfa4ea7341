"""Warps and blocks that wait for one another: results, endless waits, no thread left over."""

import ast
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from numba import cuda

from warpwise import trace
from warpwise.errors import BarrierError, OutOfBoundsError, StepLimitError
from warpwise.simt import kernels_in
from warpwise.simt.compiler.waiting import deciding
from warpwise.simt.machine import scheduler


def zeros(n: int = 1) -> np.ndarray:
    return np.zeros(n, np.int32)


@pytest.fixture(autouse=True)
def no_thread_is_left_behind():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


# --- waits that end ---


@cuda.jit
def mutex(m, count):
    if cuda.threadIdx.x % 32 == 0:
        while cuda.atomic.cas(m, 0, 0, 1) != 0:
            pass
        cuda.threadfence_block()
        count[0] += 1
        cuda.threadfence_block()
        cuda.atomic.exch(m, 0, 0)


@cuda.jit
def mutex_without_fences(m, count):
    if cuda.threadIdx.x % 32 == 0:
        while cuda.atomic.cas(m, 0, 0, 1) != 0:
            pass
        count[0] += 1
        cuda.atomic.exch(m, 0, 0)


@pytest.mark.threads
@pytest.mark.parametrize("threads", [32, 96, 100, 1024])
def test_warps_of_a_block_can_share_a_lock(threads):
    count = zeros()
    found = trace(mutex, 1, threads, zeros(), count)
    assert count[0] == -(-threads // 32)
    assert not found.races


@pytest.mark.threads
def test_a_lock_without_fences_is_a_race():
    count = zeros()
    races = trace(mutex_without_fences, 1, 128, zeros(), count).races
    assert {(race.array, race.scope) for race in races} == {("count", "block")}


@cuda.jit
def lock_held_over_a_meeting(m, order, meet):
    """A lock that is really contended: its owner waits, with the lock, until all warps have
    come."""
    if cuda.threadIdx.x % 32 == 0:
        cuda.atomic.add(meet, 0, 1)
        while cuda.atomic.exch(m, 0, 1) != 0:
            pass
        while cuda.atomic.add(meet, 0, 0) < cuda.blockDim.x // 32:
            pass
        order[cuda.atomic.add(meet, 1, 1)] = cuda.threadIdx.x // 32
        cuda.atomic.exch(m, 0, 0)


@pytest.mark.threads
def test_a_lock_goes_from_warp_to_warp_in_turn():
    orders = []
    for _ in range(2):
        order = zeros(8)
        trace(lock_held_over_a_meeting, 1, 256, zeros(), order, zeros(2))
        orders.append(list(order))
    assert orders == [list(range(8))] * 2


@cuda.jit
def reversed_by_all_blocks(bar, x, out):
    i = cuda.grid(1)
    x[i] = i
    cuda.threadfence()
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(bar, 0, 1)
        while cuda.atomic.add(bar, 0, 0) < cuda.gridDim.x:
            pass
        cuda.threadfence()
    cuda.syncthreads()
    out[i] = x[x.size - 1 - i]


@pytest.mark.threads
@pytest.mark.parametrize(
    ("blocks", "threads"),
    [(2, 32), (2, 128), (5, 70), pytest.param(32, 1024, marks=pytest.mark.slow)],
)
def test_a_barrier_of_the_grid_can_be_made_by_hand(blocks, threads):
    x, out = zeros(blocks * threads), zeros(blocks * threads)
    found = trace(reversed_by_all_blocks, blocks, threads, zeros(), x, out)
    np.testing.assert_array_equal(out, np.arange(blocks * threads)[::-1])
    assert not found.races
    assert found.metrics.barriers == 2 * blocks * -(-threads // 32)


@cuda.jit
def consumers_before_their_producers(flag, v):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        v[b] = 1
        if b < cuda.gridDim.x - 1:
            while cuda.atomic.add(flag, b + 1, 0) == 0:
                pass
            cuda.threadfence()
            v[b] = v[b + 1] + 1
        cuda.threadfence()
        cuda.atomic.exch(flag, b, 1)


@pytest.mark.threads
def test_a_block_can_wait_for_one_with_a_higher_number():
    v = zeros(40)
    assert not trace(consumers_before_their_producers, 40, 64, zeros(40), v).races
    np.testing.assert_array_equal(v, np.arange(40, 0, -1))


@cuda.jit
def handed_over(x, out):
    ready = cuda.shared.array(1, np.int32)
    box = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        ready[0] = 0
    cuda.syncthreads()
    if t < 32:
        while ready[0] == 0:
            pass
        out[t] = box[31 - t]
    else:
        box[t - 32] = x[t - 32]
        cuda.syncwarp()
        if t == 32:
            ready[0] = 1


@pytest.mark.threads
def test_a_warp_can_wait_for_a_flag_in_shared_memory():
    out = zeros(32)
    found = trace(handed_over, 1, 64, np.arange(32, dtype=np.int32), out)
    np.testing.assert_array_equal(out, np.arange(32)[::-1])
    assert any(race.array == "ready" for race in found.races)  # a plain flag orders nothing


@cuda.jit
def in_order_with_votes(turn, out, votes):
    t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    if t % 32 == 0:
        while (
            cuda.atomic.add(turn, cuda.blockIdx.x, 0)
            != cuda.blockDim.x * cuda.blockDim.y // 32 - 1 - t // 32
        ):
            cuda.nanosleep(100)
        out[cuda.blockIdx.x, t // 32] = cuda.atomic.add(turn, cuda.blockIdx.x, 1)
    votes[0, t] = cuda.syncthreads_count(int(t % 3 == 0))
    votes[1, t] = cuda.syncthreads_and(int(t < 127))
    votes[2, t] = cuda.syncthreads_or(int(t == 127))


@pytest.mark.threads
def test_barriers_that_vote_count_all_warps():
    out, votes = np.zeros((2, 4), np.int32), np.zeros((3, 128), np.int32)
    trace(in_order_with_votes, 2, (16, 8), zeros(2), out, votes)
    assert out.tolist() == [[3, 2, 1, 0]] * 2
    assert [set(row) for row in votes.tolist()] == [{43}, {0}, {1}]


@cuda.jit
def gives_up(flag, spins):
    n = 0
    while cuda.atomic.add(flag, 0, 0) == 0 and n < 300:
        n += 1
    if cuda.threadIdx.x == 0:
        spins[0] = n


def test_a_wait_that_ends_by_its_own_count_is_not_endless():
    spins = zeros()
    trace(gives_up, 1, 64, zeros(), spins)
    assert spins[0] == 300


# --- the same as in step ---


@cuda.jit
def a_bit_of_everything(lock, x, out, keys):
    i, t = cuda.grid(1), cuda.threadIdx.x
    s = cuda.shared.array(100, np.float32)
    own = cuda.local.array(3, np.float32)
    while cuda.atomic.add(lock, 0, 0) != 0:
        pass
    if t == 5:
        return
    s[t] = x[i]
    own[t % 3] = t
    for k in range(t % 7):
        own[t % 3] += s[t] * k
    cuda.syncthreads()
    if t != 99:
        s[t] += cuda.shfl_xor_sync(cuda.activemask(), own[t % 3], 0)
    cuda.syncthreads()
    h = t % 10
    while True:
        old = cuda.atomic.cas(keys, h, 0, t + 1)
        if old == 0 or old == t + 1:
            break
        h = (h + 1) % keys.size
    cuda.atomic.add(out, t % 4, s[t])


def run_everything():
    x = np.random.default_rng(1).integers(0, 9, 300).astype(np.float32)
    out, keys = np.zeros(4, np.float32), zeros(200)
    return trace(a_bit_of_everything, 3, 100, zeros(), x, out, keys), out, set(keys.tolist())


def test_warps_in_turn_compute_and_count_what_warps_in_step_do(monkeypatch):
    """Without threads of the system, as in a browser, blocks run in turn, and warps in step."""
    turns, out, keys = run_everything()

    def refused(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    step, other_out, other_keys = run_everything()
    np.testing.assert_array_equal(out, other_out)
    assert keys == other_keys == set(range(101)) - {6}
    loop = {
        n
        for n, text in turns.source.items()
        if "h = (h + 1)" in text or "old" in text or "while True" in text
    }
    assert len(loop) == 4
    for line in step.by_line.keys() | turns.by_line.keys():
        if line not in loop:  # who comes first there makes fewer trips
            assert turns.by_line[line] == step.by_line[line], turns.source[line]


@pytest.fixture
def no_threads(monkeypatch):
    def refused(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)


@cuda.jit
def producers_before_their_consumers(flag, v):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b > 0:
            while cuda.atomic.add(flag, b - 1, 0) == 0:
                pass
            cuda.threadfence()
        v[b] = v[b - 1] + 1 if b > 0 else 1
        cuda.threadfence()
        cuda.atomic.exch(flag, b, 1)


def test_without_threads_a_block_can_wait_for_those_before_it(no_threads):
    v = zeros(4)
    trace(producers_before_their_consumers, 4, 32, zeros(4), v)
    assert list(v) == [1, 2, 3, 4]


@pytest.mark.parametrize("blocks", [1, 3])
def test_without_threads_a_wait_for_another_warp_says_what_is_missing(no_threads, blocks):
    begun = time.process_time()
    with pytest.raises(
        StepLimitError, match="this Python has no threads, as in a browser"
    ) as caught:
        trace(mutex, blocks, 96, zeros(), zeros())
    assert (
        "2 threads wait in this loop, `while cuda.atomic.cas(m, 0, 0, 1) != 0`" in caught.value.what
    )
    assert "run it there" in caught.value.try_this and caught.value.where.thread == (32, 0, 0)
    assert time.process_time() - begun < 5


def test_without_threads_a_wait_that_looks_different_every_time_ends_by_a_budget(no_threads):
    text = HEAD + "    while cuda.atomic.add(a, 0, 0) == 0:\n        out[0] += 1\n"
    out = zeros()
    with pytest.raises(StepLimitError, match="this Python has no threads"):
        trace(kernels_in(text)["k"], 1, 32, zeros(), out, max_steps=3000, sanitize=False)
    assert out[0] == 31  # a hundredth of the steps, and one


def test_without_threads_lanes_of_a_warp_that_wait_for_one_another_are_told_so(no_threads):
    text = (
        HEAD + "    while cuda.atomic.cas(a, 0, 0, 1) != 0: pass\n    cuda.atomic.exch(a, 0, 0)\n"
    )
    with pytest.raises(StepLimitError) as caught:
        trace(kernels_in(text)["k"], 1, 32, zeros(), zeros())
    assert "31 threads wait" in caught.value.what and "as before Volta" in caught.value.try_this


def test_other_kernels_need_no_threads(monkeypatch):
    monkeypatch.setattr(threading, "Thread", None)
    source = (
        "from numba import cuda\n"
        "@cuda.jit\n"
        "def k(x):\n"
        "    cuda.syncthreads()\n"
        "    x[cuda.grid(1)] += 1\n"
    )
    x = zeros(64)
    trace(kernels_in(source)["k"], 2, 32, x)
    assert x.all()


# --- waits that never end ---

HEAD = (
    "from numba import cuda\n"
    "@cuda.jit\n"
    "def k(a, out):\n"
    "    t, b = cuda.threadIdx.x, cuda.blockIdx.x\n"
)
ENDLESS = {
    "nobody changes it": (
        "n = 0\nwhile a[0] == 0:\n    n += 1\nif t == 0:\n    a[0] = 1",
        "128 threads wait in this loop, `while a[0] == 0`, "
        "first of them lanes 0-31 of warp 0 of block (0, 0, 0); they look at a[0], which is 0, "
        "and nobody changes it",
        "find the line that should change",
    ),
    "at a barrier": (
        (
            "if t < 32:\n"
            "    while cuda.atomic.add(a, 1, 0) == 0: pass\n"
            "cuda.syncthreads()\n"
            "if t == 40:\n"
            "    cuda.atomic.exch(a, 1, 1)"
        ),
        "64 threads wait in this loop, `while cuda.atomic.add(a, 1, 0) == 0`, "
        "first of them lanes 0-31 of warp 0 of block (0, 0, 0); they look at a[1], which is 0, "
        "and nobody changes it; 2 warps are at the barrier in line 7",
        "a barrier that the waiting threads do not reach",
    ),
    "a lock that is kept": (
        "if t % 32 == 0:\n    while cuda.atomic.cas(a, 0, 0, 1) != 0: pass\n    out[0] += 1",
        "3 threads wait in this loop, `while cuda.atomic.cas(a, 0, 0, 1) != 0`, first of them "
        "lane 0 of warp 1 of block (0, 0, 0); they look at a[0], which is 1, and nobody changes it",
        "a lock that is not freed on every path",
    ),
    "lanes of one warp": (
        "while cuda.atomic.cas(a, 0, 0, 1) != 0: pass\nout[0] += 1\ncuda.atomic.exch(a, 0, 0)",
        "127 threads wait in this loop, `while cuda.atomic.cas(a, 0, 0, 1) != 0`, "
        "first of them lanes 1-31 of warp 0 of block (0, 0, 0); they look at a[0], which is 1, "
        "and nobody changes it; lane 0 of that warp has left the loop",
        "as before Volta",
    ),
}


@pytest.mark.threads
@pytest.mark.parametrize("case", ENDLESS)
def test_a_wait_that_can_never_end_is_told_at_once(case):
    body, says, advice = ENDLESS[case]
    begun = time.process_time()
    with pytest.raises(StepLimitError) as caught:
        trace(kernels_in(HEAD + textwrap.indent(body, "    "))["k"], 2, 64, zeros(2), zeros())
    assert caught.value.what == f"the kernel can never end: {says}"
    assert advice in caught.value.try_this
    assert time.process_time() - begun < 5


@pytest.mark.threads
def test_blocks_that_are_not_resident_cannot_be_waited_for(monkeypatch):
    monkeypatch.setattr(scheduler, "RESIDENT_WARPS", 8)
    with pytest.raises(StepLimitError) as caught:
        trace(reversed_by_all_blocks, 5, 64, zeros(), zeros(320), zeros(320))
    assert "1 block has not begun, as there is room for 8 warps" in caught.value.what
    assert "launch fewer blocks" in caught.value.try_this


@pytest.mark.threads
def test_later_blocks_begin_when_there_is_room(monkeypatch):
    monkeypatch.setattr(scheduler, "RESIDENT_WARPS", 4)
    v = zeros(4)
    trace(consumers_before_their_producers, 4, 32, zeros(4), v)
    count = zeros()
    trace(mutex, 9, 96, zeros(), count, sanitize=False)
    assert (list(v), count[0]) == ([4, 3, 2, 1], 27)


@pytest.mark.threads
@pytest.mark.parametrize(
    "body",
    [
        "n = 0\nwhile cuda.atomic.add(a, 0, 0) == 0 and n >= 0:\n    n += 1",
        "while cuda.atomic.add(a, 0, 0) == 0:\n    out[0] += 1",
    ],
)
def test_a_wait_that_looks_different_every_time_ends_by_the_budget(body):
    with pytest.raises(StepLimitError, match="did not end within"):
        trace(
            kernels_in(HEAD + textwrap.indent(body, "    "))["k"],
            2,
            64,
            zeros(),
            zeros(),
            max_steps=300,
        )


@pytest.mark.parametrize(
    ("loop", "names"),
    [
        ("while cas(lock) != 0:\n  spins += 1", set()),
        ("while cas(lock) != 0:\n  spins = spins + 1", set()),
        ("while cas(lock) != 0 and spins < 9:\n  spins += 1", {"spins"}),
        (
            (
                "while True:\n"
                "  old = cas(lock, h)\n"
                "  if old == k:\n"
                "    break\n"
                "  h = h + by\n"
                "  by = 2 * by"
            ),
            {"old", "h", "by"},
        ),
        ("while a[0] < k:\n  n = m\n  m = n + 1\n  out[n] = 0", {"n", "m"}),
        ("while cas(lock):\n  ns = min(2 * ns, 100)", {"ns"}),
    ],
)
def test_variables_that_only_count_trips_decide_nothing(loop, names):
    assert deciding(ast.parse(loop).body[0]) == names


# --- errors and interrupts ---

WRONG = {
    "if t < 32:\n    cuda.syncthreads()\ncuda.syncthreads()": (
        BarrierError,
        "only 32 of 64 threads of block (0, 0, 0) reach this barrier",
    ),
    "if t < 40:\n    cuda.syncthreads()\nelse:\n    cuda.syncthreads()": (
        BarrierError,
        "only 40 of 64 threads",
    ),
    "for k in range(t // 32):\n    cuda.syncthreads()\ncuda.syncthreads()": (
        BarrierError,
        "only 32 of 64 threads",
    ),
    "out[t] = 1": (OutOfBoundsError, "index 1"),
}


@pytest.mark.parametrize("body", WRONG)
def test_errors_come_through(body):
    kind, says = WRONG[body]
    wait = "while cuda.atomic.add(a, 0, 0) != 0:\n    pass\n"
    with pytest.raises(kind) as caught:
        trace(kernels_in(HEAD + textwrap.indent(wait + body, "    "))["k"], 2, 64, zeros(), zeros())
    assert says in caught.value.what


def test_an_interrupt_ends_all_warps():
    program = textwrap.dedent("""
        import os, signal, threading
        import numpy as np
        from warpwise import trace
        from warpwise.simt import kernels_in
        # a background job of a shell ignores it, and so would this
        signal.signal(signal.SIGINT, signal.default_int_handler)
        kernel = kernels_in('''
        from numba import cuda
        @cuda.jit
        def k(x, n):
            if cuda.threadIdx.x < 32:
                while cuda.atomic.add(n, 0, 0) == 0:
                    pass
            while x[40] >= 0:
                x[cuda.grid(1)] += 1
        ''')["k"]
        x = np.zeros(64, np.int64)
        def interrupt():
            while not x[40] > 20:
                pass
            os.kill(os.getpid(), signal.SIGINT)
        sender = threading.Thread(target=interrupt)
        sender.start()
        try:
            trace(kernel, 1, 64, x, np.zeros(1, np.int32), max_steps=10**9)
        except KeyboardInterrupt:
            sender.join()
            print("interrupted", threading.active_count(), bool(x[40] > 20))
    """)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600
    )
    assert (done.stdout, done.returncode) == ("interrupted 1 True\n", 0), done.stderr

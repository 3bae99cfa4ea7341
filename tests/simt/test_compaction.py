"""Compacted loops give what they give when all lanes stay, in random programs too.

That is the same results, counters, events and races."""

import numpy as np
import pytest
from support.random_kernels import Writer

from warpwise import trace
from warpwise.errors import OutOfBoundsError
from warpwise.simt import kernels_in
from warpwise.simt.machine import batches, compaction

NEVER, ALWAYS = 1 << 60, {"LEAST_ROWS": 1, "FEWER": 1, "PATIENCE": -1}

HEAD = """
import numpy as np
from numba import cuda

@cuda.jit(device=True)
def helper(p, q):
    if p > q:
        return p - q
    count = 0
    while q > p:
        q = q // 2 - 1
        count += 1
        if count > 5:
            return count + p % 7
        for k in range(p % 3):
            if k == 1:
                return k + q
    return count

@cuda.jit(device=True)
def pair(p, q):
    for k in range(p % 4):
        if (q + k) % 3 == 0:
            return k, q
        q += p
    return q % 5, p

@cuda.jit
def kernel(a, n, out):
    i, t, b = cuda.grid(1), cuda.threadIdx.x, cuda.blockIdx.x
    mine = cuda.local.array(4, np.int64)
    tile = cuda.shared.array(72, np.int64)
    for k in range(4):
        mine[k] = 0
    tile[t] = t
    cuda.syncthreads()
    for trip in range((b * 5 + n) % 4):
        tile[t] += tile[(t + {shift}) % cuda.blockDim.x] * {factor}
        {barrier}
        if (b + trip) % 5 == 4:
            break
    cuda.syncthreads()
    if i >= out.shape[0]:
        return
    u = v = w = a[i % 16]
    u, v = pair(u, tile[t] % 9)
"""


class Programs(Writer):
    """A writer of kernels with tuples, device functions, loops, and barriers in loops."""

    def program(self) -> str:
        barrier = self.one_of("cuda.syncthreads()", "u = 1")
        head = HEAD.format(
            shift=self.rng.integers(0, 3), factor=self.rng.integers(0, 3), barrier=barrier
        )
        while self.budget > 0:
            self.block(4, in_loop=False)
            self.line(4, f"u, v = pair({self.number()}, {self.number()})")
        self.line(4, "cuda.atomic.add(out, (0, 2), (u - v) % 97)")
        self.line(4, "out[i, 3] = u + 2 * v + 3 * w + mine[0] + 5 * mine[-1]")
        return head + "\n".join(self.lines) + "\n"


def run(text: str, blocks: int, threads: int, seed: int):
    rng = np.random.default_rng(seed)
    a, n = rng.integers(-9, 20, 16), int(rng.integers(0, 9))
    out = np.full((max(1, blocks * threads - seed % 3), 4), -7)
    return trace(
        kernels_in(text)["kernel"], blocks, threads, a, n, out, record=range(3), max_records=500
    ), out


def set_thresholds(monkeypatch, **values: int) -> None:
    for name, value in values.items():
        monkeypatch.setattr(compaction, name, value)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_random_programs_with_compaction_at_every_chance_and_without(seed, monkeypatch):
    text = Programs(np.random.default_rng(seed)).program()
    blocks, threads = [(5, 1), (3, 40), (7, 32), (2, 72), (4, 9)][seed % 5]
    set_thresholds(monkeypatch, LEAST_ROWS=NEVER)
    whole, want = run(text, blocks, threads, seed)
    made = []
    began = compaction.Compacted.__init__
    monkeypatch.setattr(
        compaction.Compacted, "__init__", lambda self, *args: made.append(1) or began(self, *args)
    )
    set_thresholds(monkeypatch, **ALWAYS)
    compacted, got = run(text, blocks, threads, seed)
    np.testing.assert_array_equal(got, want, err_msg=text)
    assert compacted.by_line == whole.by_line, text
    assert compacted.races == whole.races, text
    for name, column in vars(whole.records).items():
        np.testing.assert_array_equal(
            getattr(compacted.records, name), column, err_msg=f"{name}\n{text}"
        )
    assert made or threads == 1, "nothing was compacted: the test shows nothing"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_counters_do_not_depend_on_which_blocks_run_together(seed, monkeypatch):
    text = Programs(np.random.default_rng(seed)).program()
    together, want = run(text, 7, 40, seed)
    monkeypatch.setattr(batches, "BATCH_LANES", 1)
    alone, got = run(text, 7, 40, seed)
    want[0, 2] = got[0, 2] = 0  # where a sum over all threads races with a store
    np.testing.assert_array_equal(got, want, err_msg=text)
    assert alone.by_line == together.by_line, text


KERNELS = """
import numpy as np
from numba import cuda

@cuda.jit
def by_lane(trips, out):
    i = cuda.grid(1)
    total = 0
    for k in range(trips[i]):
        total += k * k % 7
    out[i] = total

@cuda.jit
def by_block(trips, out):
    s = cuda.shared.array(64, np.int64)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    s[t] = t
    cuda.syncthreads()
    for k in range(trips[b]):
        value = s[(t + 1) % 64]
        cuda.syncthreads()
        s[t] = value + k
        cuda.syncthreads()
    out[cuda.grid(1)] = s[t]

@cuda.jit
def one_bound(trips, n, out):
    for k in range(n):
        out[cuda.grid(1)] += k

@cuda.jit
def own_bounds(trips, n, out):
    own = trips[cuda.grid(1)]
    for k in range(own):
        out[cuda.grid(1)] += k
"""


def rotated(trips: int) -> np.ndarray:
    return np.roll(np.arange(64), -trips) + trips * (trips - 1) // 2


def loop_line(name: str, trips: np.ndarray):
    t = trace(kernels_in(KERNELS)[name], 4, 40, trips, 6, np.zeros(160, np.int64))
    return t.by_line[next(line for line, text in t.source.items() if "for k" in text)]


def test_bounds_that_are_equal_within_each_warp_count_like_one_bound():
    equal, ragged = np.full(160, 6), np.full(160, 6)
    # One lane of one warp leaves after five trips, and the others of its warp test once more.
    ragged[50] = 5
    one = loop_line("one_bound", equal)
    assert one == loop_line("own_bounds", equal)
    assert (one.warp_instructions, one.thread_instructions, one.branches) == (4 * 2 * 6, 160 * 6, 0)
    uneven = loop_line("own_bounds", ragged)
    assert (uneven.warp_instructions, uneven.branches, uneven.divergent_branches) == (
        4 * 2 * 6 + 1,
        7,
        1,
    )
    assert uneven.thread_instructions == 160 * 6 + 31


def test_the_default_thresholds_compact_where_one_warp_in_a_hundred_goes_on():
    trips = np.full(200 * 64, 5)
    trips[77 * 32 : 78 * 32] = 500
    trips[78 * 32 - 3] = 700
    out = np.zeros(trips.size, np.int64)
    t = trace(kernels_in(KERNELS)["by_lane"], 200, 64, trips, out)
    np.testing.assert_array_equal(out, [sum(k * k % 7 for k in range(n)) for n in trips])
    assert t.metrics.lanes_active[1] > 200 * 3  # the last lane, alone


def test_blocks_with_barriers_go_on_in_whole():
    trips = np.full(100, 3)
    trips[17], trips[60] = 400, 200
    out = np.zeros(100 * 64, np.int64)
    t = trace(kernels_in(KERNELS)["by_block"], 100, 64, trips, out)
    np.testing.assert_array_equal(out.reshape(100, 64), [rotated(n) for n in trips])
    assert t.races == () and t.metrics.barriers == 2 * (100 + 2 * int(trips.sum()))


def test_a_loop_that_ends_in_an_error_names_the_thread_it_is_in(monkeypatch):
    """A lane's place in a compacted lane group is not its place in the block."""
    set_thresholds(monkeypatch, **ALWAYS)
    text = (
        "from numba import cuda\n@cuda.jit\ndef k(x):\n    i = cuda.grid(1)\n    n = 0\n"
        "    while n < 3 or i == 333:\n        n += 1\n        x[n] = 1\n"
    )
    with pytest.raises(OutOfBoundsError) as caught:
        trace(kernels_in(text)["k"], 7, 80, np.zeros(9))
    assert (caught.value.where.block, caught.value.where.thread) == ((4, 0, 0), (13, 0, 0))

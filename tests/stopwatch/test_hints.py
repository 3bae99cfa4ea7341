"""What would help: planted bottlenecks are found, and their mended twins take the time foretold."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from support.planted import PLANTED, doubles, walk_together

from warpwise import cuda, trace
from warpwise.kernels.sgemm import thread_tiles
from warpwise.stopwatch import Estimate, find
from warpwise.stopwatch.change_accesses import regular, side_by_side
from warpwise.stopwatch.dataflow import most_live, only_for_addresses
from warpwise.stopwatch.estimate import Details, Hint
from warpwise.stopwatch.program import Program, program_of
from warpwise.stopwatch.sass import read
from warpwise.stopwatch.walks import Walks
from warpwise.toolchain import compile_kernel, missing, numba_types
from warpwise.traces import Trace

pytestmark = pytest.mark.skipif(
    bool(missing()), reason=f"no {', '.join(missing())}: python -m pip install -e '.[toolchain]'"
)
DEVICE = "RTX A6000"


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def gather(places, a, out):
    i = cuda.grid(1)
    out[i] = a[places[i]]


@cuda.jit
def long_chain(a, out):
    i = cuda.grid(1)
    x = a[i]
    y = x
    for _ in range(256):
        y = y * x + x
    out[i] = y


def zeros(*sizes: int) -> list[np.ndarray]:
    return [np.zeros(n, np.float32) for n in sizes]


def changes(found: Estimate) -> list[str]:
    return [hint.change for hint in found.hints]


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bottleneck_is_named_and_its_cure_foretold(name: str):
    planted = PLANTED[name]
    slow, mended = planted.traces()
    found = slow.time(DEVICE, grid=planted.grid)
    assert found.binds == planted.binds
    if found.waits[0].name != "barrier":  # then warps wait elsewhere than where one works
        assert planted.slow_line in found.lines[0].text
    hint = found.hints[0]
    assert planted.hint in hint.change
    places = {slow.place(n) for n, text in slow.source.items() if planted.slow_line in text}
    assert not hint.lines or places & set(hint.lines)
    after = mended.time(DEVICE, grid=planted.grid)
    assert hint.seconds == pytest.approx(after.seconds, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["conflicts", "column walk", "float64", "divergence", "slow warp"])
def test_what_was_mended_is_not_advised_again(name: str):
    planted = PLANTED[name]
    _, mended = planted.traces()
    assert not any(planted.hint in change for change in changes(mended.time(DEVICE, planted.grid)))


def test_nothing_helps_a_stream_and_its_text_says_that_it_is_near_the_limit():
    found = trace(add, 64, 256, *zeros(*(64 * 256,) * 3)).time(DEVICE, grid=2**17)
    assert found.hints == ()
    assert "near the limit: DRAM is busy for 100 % of the time" in found.text()
    few = trace(add, 64, 256, *zeros(*(64 * 256,) * 3)).time(DEVICE, grid=2)
    assert few.helps() and "limit" not in few.helps()


@cuda.jit
def add_pairs(a, b, c):
    i = 2 * cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    j = i + cuda.blockDim.x
    if j < c.size:
        a0, a1, b0, b1 = a[i], a[j], b[i], b[j]
        c[i], c[j] = a0 + b0, a1 + b1


def test_more_loads_in_flight_help_a_stream_that_leaves_dram_a_tenth_of_the_time():
    """On an H200, whose DRAM takes longer under load, one element a thread is too little."""
    arrays = zeros(*(64 * 256,) * 3)
    found = trace(add, 64, 256, *arrays).time("H200", grid=2**17)
    (hint,) = found.hints
    assert "twice as many independent loads" in hint.change and "two elements" in hint.how
    assert found.binds == "DRAM" and found.dram_bytes / found.peak_bytes_per_s < hint.seconds
    mended = trace(add_pairs, 32, 256, *arrays).time("H200", grid=2**16)
    assert hint.seconds == pytest.approx(mended.seconds, rel=0.1)


@cuda.jit
def column_sums(a, out, n):
    i = cuda.grid(1)
    total = np.float32(0)
    for k in range(64):
        total += a[k * n + i]
    out[i] = total


@cuda.jit
def column_sums_in_32_bits(a, out, n):
    i = np.uint32(cuda.grid(1))
    k, total = i, np.float32(0)
    for _ in range(64):
        total += a[k]
        k += n
    out[i] = total


@cuda.jit
def column_sums_as_advised(a, out, n):
    i = np.uint32(cuda.grid(1))
    k, total = np.uint32(0), np.float32(0)
    while k < 64:
        total += a[np.uint32(k * n + i)]
        k = np.uint32(k + 1)
    out[i] = total


def test_a_hint_on_indices_names_the_one_change_that_was_modelled():
    """Those of 64 bits are advised to be uint32; then there is nothing more to advise."""
    n, grid = 4096, 8192
    wide, narrow, advised = (
        trace(kernel, 2, 256, *zeros(64 * n, n), size, sanitize=False).time("H200", grid)
        for kernel, size in (
            (column_sums, n),
            (column_sums_in_32_bits, np.uint32(n)),
            (column_sums_as_advised, np.uint32(n)),
        )
    )
    (hint,) = (hint for hint in wide.hints if "index arithmetic" in hint.change)
    assert hint.how.startswith("make indices np.uint32") and " or " not in hint.how
    assert hint.how.endswith("count with while and j = np.uint32(j + 1)")
    assert narrow.seconds < hint.seconds < wide.seconds and advised.seconds < hint.seconds
    for mended in (narrow, advised):
        assert not any("index arithmetic" in change for change in changes(mended))


@cuda.jit
def doubled_and_counted(a, bins):
    """Arithmetic in float64 on float32, and atomics, of which an estimate is doubtful."""
    x = a[cuda.grid(1)]
    for _ in range(64):
        x = x * 0.5 + 0.25
    cuda.atomic.add(bins, cuda.threadIdx.x, np.float32(x))


def test_float64_that_binds_is_told_where_nothing_is_hinted():
    made = trace(doubled_and_counted, 4, 256, *zeros(1024, 256), sanitize=False)
    found = made.time("T4", grid=8192)
    assert found.doubtful and found.binds == "float64 arithmetic"
    assert "though no array is of float64: write np.float32(0.5) for 0.5" in found.text()
    hinted = trace(doubles, 4, 256, *zeros(1024, 1024), sanitize=False).time("T4", grid=8192)
    assert hinted.binds == found.binds
    assert hinted.notes == ("no published time checks the model on a device such as T4",)


def test_scattered_places_cannot_be_put_side_by_side():
    n = 4 * 256
    places = np.random.default_rng(5).permutation(n).astype(np.int32)
    made = trace(gather, 4, 256, places, *zeros(n, n))
    assert not any("coalesced" in change for change in changes(made.time(DEVICE, grid=4096)))


def test_doubtful_estimates_and_bounds_give_no_hints(tmp_path):
    @cuda.jit
    def count(x, bins):
        cuda.atomic.add(bins, x[cuda.grid(1)], 1.0)

    made = trace(count, 4, 64, np.arange(256, dtype=np.int32) % 8, np.zeros(8))
    assert made.time(DEVICE).hints == ()
    made.save(tmp_path / "t.npz")
    assert Trace.load(tmp_path / "t.npz").time(DEVICE).hints == ()


@cuda.jit
def counted(x, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i], 1)  # in turn


@cuda.jit
def counted_by_blocks(x, bins):
    own = cuda.shared.array(8, np.int32)
    i, k = cuda.grid(1), cuda.threadIdx.x
    if k < 8:
        own[k] = 0
    cuda.syncthreads()
    cuda.atomic.add(own, x[i], 1)
    cuda.syncthreads()
    if k < 8:
        cuda.atomic.add(bins, k, own[k])  # in turn


@pytest.mark.parametrize(
    ("kernel", "advice"),
    [(counted, "let each block add up in shared memory"), (counted_by_blocks, "fewer blocks")],
)
def test_atomics_that_bind_are_named_alone_with_what_to_do(kernel, advice: str):
    x = np.arange(256, dtype=np.int32) % 8
    made = trace(kernel, 4, 64, x, np.zeros(8, np.int32), sanitize=False)
    found = made.time("H200", grid=2**18)
    assert found.binds == "atomics on one address" and found.hints == ()
    (line,) = found.lines
    assert "# in turn" in line.text and line.share == 1
    assert any(advice in note for note in found.notes)


@cuda.jit
def row_sums(a, out):
    i = cuda.grid(1)
    total = np.float32(0)
    for k in range(a.shape[1]):
        total += a[i, k]
        out[i] = total  # so that no load moves before it


@cuda.jit
def sums_of_columns(a, out):
    i = cuda.grid(1)
    total = np.float32(0)
    for k in range(a.shape[0]):
        total += a[k, i]
        out[i] = total


def test_loads_of_one_sector_wait_for_it_once_however_many_there_are():
    a, out = np.zeros((256, 256), np.float32), np.zeros(256, np.float32)
    along, down = (
        trace(kernel, 4, 64, a, out, sanitize=False).time("RTX A6000", grid=84)
        for kernel in (row_sums, sums_of_columns)
    )
    assert any("independent loads" in change for change in changes(down))
    gained = [hint.seconds for hint in along.hints if "independent loads" in hint.change]
    assert all(seconds > 0.75 * along.seconds for seconds in gained)


@pytest.mark.slow
def test_few_large_blocks_are_advised_to_be_smaller():
    large = trace(long_chain, 2, 1024, *zeros(2048, 2048)).time(DEVICE, grid=30)
    small = trace(long_chain, 2, 64, *zeros(128, 128)).time(DEVICE, grid=480)
    hint = large.hints[0]
    assert "so that all 84 SMs have work" in hint.change
    assert hint.seconds == pytest.approx(small.seconds, rel=0.15)


def test_hints_read_as_sentences():
    hint = Hint("conflict-free stores to shared memory", 4.9e-3, ("line 5", "line 7"))
    details = Details((hint,))
    made = Estimate("k", "T4", (1, 1, 1), 6e-3, 5e-3, 7e-3, "shared memory", details=details)
    text = "with conflict-free stores to shared memory (line 5, line 7): 4.9 ms"
    assert made.text().splitlines()[-1] == f"What would help: {text}"
    assert str(replace(hint, lines=())) == "with conflict-free stores to shared memory: 4.9 ms"
    told = str(replace(hint, how="give rows 33 elements for 32"))
    assert told == f"{text} (give rows 33 elements for 32)"


def test_nothing_hinted_far_from_the_peak_is_not_the_end():
    made = Estimate("k", "T4", (1, 1, 1), 1.0, 0.9, 1.1, "L1", flops=14.0, peak_flops_per_s=100.0)
    assert "saves 5 %, yet this is at 14 % of the peak" in made.helps()
    assert replace(made, flops=60.0).helps().endswith("saves 5 %")


@cuda.jit
def columns_to_columns(a, out):
    """Neighbouring lanes load and store elements that are a row apart."""
    i = cuda.grid(1)
    out[i % 1024, i // 1024] = a[i % 1024, i // 1024] + np.float32(1)


@cuda.jit
def conflicts_and_doubles(a, out):
    """Loads of one bank, and beside them a little arithmetic in float64."""
    tile = cuda.shared.array((32, 32), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[cuda.blockIdx.x, y, x]
    cuda.syncthreads()
    total = 0.0
    for k in range(32):
        total += tile[x, (y + k) % 32]  # in float64
    out[cuda.blockIdx.x, y, x] = total


def test_loads_and_stores_that_are_both_scattered_are_mended_together():
    a, out = (np.zeros((1024, 64), np.float32) for _ in range(2))
    found = trace(columns_to_columns, 256, 256, a, out).time(DEVICE, grid=256)
    hint = found.hints[0]
    assert hint.change == "coalesced loads from and stores to global memory"
    assert hint.seconds < found.seconds / 2 and "neighbouring elements" in hint.how
    assert "an array's last index" in hint.how and "share a row" not in hint.how


def test_float64_is_named_beside_a_larger_evil_and_a_pitch_for_the_tile():
    a, out = (np.ones((4, 32, 32), np.float32) for _ in range(2))
    made = trace(conflicts_and_doubles, 4, (32, 32), a, out, sanitize=False)
    first, *others = made.time(DEVICE, grid=8192).hints
    assert first.change == "conflict-free loads from shared memory"
    assert first.how == "give rows of tile 33 elements for 32"
    (both,) = (hint for hint in others if "float32" in hint.change)
    assert both.change == f"{first.change}, and float32 arithmetic instead of float64"
    assert both.seconds < 0.95 * first.seconds
    assert both.how.startswith("write np.float32(0.0) for 0.0 on line ")


def test_requests_side_by_side():
    assert side_by_side([4096, -1, 0, 4096], 4) == [4, -1, 0, 4]
    assert regular([32 * k for k in range(32)]) and regular([7] * 32)
    assert not regular(np.random.default_rng(1).permutation(32).tolist())


def program(kernel, *arguments, grid=1, threads=64) -> Program:
    made = trace(kernel, grid, threads, *arguments, sanitize=False)
    assert made.launched is not None
    code = compile_kernel(made.launched[0], numba_types(made.launched[1]), find(DEVICE).code_cc)
    return program_of(made, [*map(read, code.machine_code)], code.registers, code.shared_bytes)


@pytest.mark.slow
def test_a_kernel_needs_most_of_its_registers():
    n = 64
    sizes, arrays = (np.uint32(n),) * 3, zeros(n * n, n * n, n * n)
    tiles = program(thread_tiles.sgemm_4_tile_1d, *sizes, *arrays, threads=512)
    simple = program(add, *zeros(64, 64, 64))
    assert 8 < most_live(simple.flow) <= simple.registers
    assert simple.registers < most_live(tiles.flow) <= tiles.registers


def test_what_makes_addresses_alone_is_found():
    """The index of a column's walk is advanced for nothing else; sums and counters stay."""
    made = program(walk_together, *zeros(64 * 64, 64))
    loads = {i for i, op in enumerate(made.ops) if op.access == "load"}
    found = only_for_addresses(made.flow, loads)
    assert found and not any(made.ops[i].name == "FADD" for i in found)
    assert only_for_addresses(made.flow, set()) == set()


def test_walks_leave_out_whole_instructions_and_parts_of_stretches():
    streams = np.array([[0, 1, 1, 1, 1, 2, 0]], np.int32)
    shares = np.array([[1, 0.5, 0], [1, 1, 1]])
    walks = Walks(np.array([0, 0]), shares, np.array([0, 1, 1]))
    rows, lengths = walks.of(streams, np.array([7]))
    assert rows[0, : lengths[0]].tolist() == [0, 1, 1, 0]
    assert rows[1].tolist() == streams[0].tolist()


def test_double_arithmetic_is_named_at_its_line():
    made = trace(doubles, 4, 256, *zeros(1024, 1024), sanitize=False)
    hint = made.time("T4", grid=prod((64, 64))).hints[0]
    assert hint.change == "float32 arithmetic instead of float64"
    assert len(hint.lines) == 1 and hint.lines[0].startswith("line ")
    assert hint.how == "write np.float32(0.5) for 0.5"

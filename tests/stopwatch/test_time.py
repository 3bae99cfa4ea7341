"""``trace(...).time(device)``: ranges, what binds, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from math import inf, isinf
from pathlib import Path

import numpy as np
import pytest
from predictions import traced

from warpwise import cuda, trace
from warpwise.errors import LaunchError
from warpwise.kernels import sgemm
from warpwise.kernels.sgemm import simple, thread_tiles
from warpwise.stopwatch import CARDS, Estimate, find, time
from warpwise.stopwatch.cards import matching
from warpwise.stopwatch.walk import KEPT
from warpwise.toolchain import missing
from warpwise.traces import Trace

pytestmark = pytest.mark.skipif(
    bool(missing()), reason=f"no {', '.join(missing())}: python -m pip install -e '.[toolchain]'"
)
TILE, STEPS = 1024, 64


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def conflicts(a, out):
    """Every load is a bank conflict of 32."""
    tile = cuda.shared.array(TILE, np.float32)
    t = cuda.threadIdx.x
    for i in range(8):
        tile[i * 128 + t] = a[cuda.blockIdx.x * 128 + t]
    cuda.syncthreads()
    total = np.float32(0)
    for i in range(STEPS):
        total += tile[(t * 32 + i) % TILE]  # the slow line
    out[cuda.blockIdx.x * 128 + t] = total


@cuda.jit
def polynomial(a, out):
    i = cuda.grid(1)
    x = a[i]
    p, q = x, x
    for _ in range(64):
        p = p * x + x
        q = q * x + x
        p = p * x + q
        q = q * x + p
        p = p * x + x
        q = q * x + x
        p = p * x + q
        q = q * x + p
    out[i] = p + q


def vectors(n: int, count: int = 2) -> list[np.ndarray]:
    return [np.ones(n, np.float32) for _ in range(count)]


def product(n: int, step, threads, side: int) -> Trace:
    a, b, c = vectors(n * n, 3)
    sizes = (np.uint32(n),) * 3
    return trace(step, (n // side, n // side), threads, *sizes, a, b, c, sanitize=False)


def test_a_stream_is_bound_by_dram_and_takes_its_time():
    found = trace(add, 64, 256, *vectors(64 * 256, 3)).time("RTX A6000", grid=2**17)
    assert found.binds == "DRAM" and found.waits[0].name == "long scoreboard"
    least = 12 * 256 * 2**17 / 768e9
    assert least < found.seconds < 1.2 * least
    assert least <= found.low < found.seconds < found.high  # also the range's low end
    assert found.pipes[0].name == "DRAM" and 0.9 < found.pipes[0].share <= 1
    assert all(type(share.share) is float for share in (*found.pipes, *found.lines, *found.waits))
    assert found.dram_bytes == pytest.approx(12 * 256 * 2**17, rel=0.01)


def test_bank_conflicts_bind_at_their_line():
    found = trace(conflicts, 8, 128, *vectors(8 * 128)).time("A100 80 GB", grid=4096)
    assert found.binds == "shared memory"
    assert "# the slow line" in found.lines[0].text and found.lines[0].share > 0.8


def test_arithmetic_binds_where_there_is_enough_of_it():
    found = trace(polynomial, 8, 256, *vectors(8 * 256)).time("V100", grid=8192)
    assert found.binds == "float32 arithmetic"
    assert found.flops == pytest.approx(8192 * 256 * (16 * 64 + 1), rel=0.01)
    assert 0.6 < found.flops_per_s / 14.1e12 <= 1


@pytest.mark.slow
def test_each_step_of_a_ladder_is_predicted_to_help():
    n = 128
    steps = [
        (product(n, simple.sgemm_1_naive, (32, 32), 32), 128),
        (product(n, simple.sgemm_2_coalesced, (32, 32), 32), 128),
        (product(n, thread_tiles.sgemm_4_tile_1d, 512, 64), 64),  # blocks across 4,096 columns
    ]
    times = [made.time("RTX A6000", grid=(side, side)).seconds for made, side in steps]
    assert times[0] > 2 * times[1] and times[1] > 1.5 * times[2]


@pytest.mark.slow
def test_more_blocks_take_longer_in_waves():
    made = product(64, simple.sgemm_3_shared, (32, 32), 32)
    card = find("RTX A6000")
    one, all_sms, twice = (
        made.time(card, grid=blocks).seconds
        for blocks in (1, card.device.sms, 20 * card.device.sms)
    )
    assert one <= all_sms < 1.5 * one and twice > 10 * one


@cuda.jit
def halved(a, out):
    for k in range(64):
        i = (cuda.blockIdx.x * 64 + k) * cuda.blockDim.x + cuda.threadIdx.x
        out[i] = a[i] * np.float32(0.5)


def test_the_last_blocks_share_all_of_dram():
    """On an A100's 108 SMs 40 have a third block of 256. DRAM waits for none of the others: bytes
    decide the time, and not three rounds in place of 2.4."""
    made = trace(halved, 4, 1024, *vectors(4 * 64 * 1024), sanitize=False)
    few, whole = (made.time("A100 80 GB", grid=blocks).seconds for blocks in (256, 108 * 3))
    assert few / whole == pytest.approx(256 / (108 * 3), rel=0.05)


def test_it_reads_as_a_sentence():
    found = trace(add, 64, 256, *vectors(64 * 256, 3)).time("H200", grid=2**17)
    number = r"[\d.]+"
    assert str(found) == repr(found)
    sentence = rf"{number} us \({number} to {number}\), bound by DRAM; modelled"
    assert re.fullmatch(sentence, str(found)), str(found)
    assert "Warps wait for: long scoreboard" in found.text()


def test_an_unknown_device_is_refused_with_the_known_ones():
    made = trace(add, 1, 32, *vectors(32, 3))
    with pytest.raises(LaunchError, match="does not know 'GTX 970'; it knows T4, V100"):
        made.time("GTX 970")
    with pytest.raises(LaunchError, match="can be A100 40 GB SXM, A100 80 GB SXM: say which"):
        made.time("A100")


@pytest.mark.parametrize(
    ("name", "cards"),
    [
        ("a100", ["A100 40 GB SXM", "A100 80 GB SXM"]),
        ("A100 80 GB", ["A100 80 GB SXM"]),
        ("NVIDIA A100-SXM4-80GB", ["A100 80 GB SXM"]),
        ("NVIDIA A100-SXM4-40GB", ["A100 40 GB SXM"]),
        ("NVIDIA H100 80GB HBM3", ["H100 SXM"]),
        ("NVIDIA H100 PCIe", ["H100 PCIe"]),
        ("Tesla V100-SXM2-16GB", ["V100 SXM2"]),
        ("Tesla T4", ["T4"]),
        ("NVIDIA GeForce RTX 4090", ["RTX 4090"]),
        ("a6000", ["RTX A6000"]),
        ("rtxa6000", ["RTX A6000"]),
        ("L4", ["L4"]),
        ("NVIDIA L40S", ["L40S"]),
    ],
)
def test_a_card_is_found_by_a_name_of_its_driver_or_by_its_number(name: str, cards: list[str]):
    assert [card.name for card in matching(name)] == cards


@pytest.mark.parametrize(
    "name", ["A10", "a4", "100", "80 GB", "RTX", "NVIDIA", "", "RTX 3090 Ti", "A100 PCIe"]
)
def test_a_part_of_a_name_is_none(name: str):
    with pytest.raises(LaunchError, match="the stopwatch does not know '"):
        matching(name)


@pytest.mark.parametrize("grid", [0, (1, 2, 3, 4), "many", (0, 1), True, 2.0, (), -1])
def test_a_grid_that_is_none_is_refused(grid: object):
    with pytest.raises(LaunchError, match="a grid is one to three positive integers"):
        trace(add, 1, 32, *vectors(32, 3)).time("T4", grid=grid)


def test_a_grid_may_be_of_numpys_integers():
    made = trace(add, 1, 32, *vectors(32, 3))
    assert made.time("T4", grid=(np.int64(64), np.uint8(2))).grid == (64, 2, 1)


@cuda.jit
def columnwise(a, out):
    x, y = cuda.grid(2)
    out[x, y] = a[x, y] * np.float32(2)


def test_a_wide_range_or_an_unchecked_device_has_a_note():
    a, out = (np.ones((128, 128), np.float32) for _ in range(2))
    l2 = trace(columnwise, (4, 4), (32, 32), a, out, sanitize=False).time("H200", grid=(256, 256))
    assert l2.high == pytest.approx(1.5 * l2.seconds) and not l2.doubtful and not l2.family
    assert l2.notes == ("fewer than 5 published kernels are bound by L2: a wide range",)
    made = trace(add, 64, 256, *vectors(64 * 256, 3))
    h200, t4, b200 = (made.time(name, grid=2**17) for name in ("H200", "T4", "B200"))
    assert h200.notes == () and f"\n{h200.origin}" in h200.text()
    assert re.search(r"from kernels bound by DRAM, \d+ .* mean error \d+ %,.* 80 %", h200.origin)
    (note,) = t4.notes
    assert note == "no published time checks the model on a device such as T4"
    assert t4.high / t4.seconds == pytest.approx(h200.high / h200.seconds)
    assert b200.high == pytest.approx(1.5 * b200.seconds) and not b200.doubtful and not b200.origin
    assert "on a B200, of which figures are guessed: a wide range" in b200.notes[0]


def test_a_trace_from_a_file_has_a_bound_only(tmp_path: Path):
    """It has no kernel that could be compiled."""
    made = trace(add, 64, 256, *vectors(64 * 256, 3))
    made.save(tmp_path / "t.npz")
    found = Trace.load(tmp_path / "t.npz").time("RTX A6000")
    assert isinf(found.high) and str(found).startswith("at least ")
    assert "no kernel" in found.notes[0]
    assert found.seconds <= made.time("RTX A6000").seconds


@pytest.mark.parametrize("record", [(), (3,), (0, 1)], ids=["none", "another", "two"])
def test_any_recorded_blocks_will_do(record: tuple[int, ...]):
    made = trace(add, 64, 256, *vectors(64 * 256, 3), record=record)
    found = made.time("RTX A6000", grid=2**17)
    assert found.binds == "DRAM"
    assert found.seconds == pytest.approx(576e-6, rel=0.03)


def test_a_trace_that_kept_a_part_of_its_events_will_do():
    whole = product(64, simple.sgemm_3_shared, (32, 32), 32)
    sizes, arrays = (np.uint32(64),) * 3, vectors(64 * 64, 3)
    part = trace(
        simple.sgemm_3_shared, (2, 2), (32, 32), *sizes, *arrays, max_records=60, sanitize=False
    )
    assert part.truncated and not whole.truncated
    seconds = [made.time("RTX A6000", grid=(64, 64)).seconds for made in (whole, part)]
    assert seconds[1] == pytest.approx(seconds[0], rel=0.1)


def test_a_block_that_fits_nowhere_is_refused():
    @cuda.jit
    def large(x):
        tile = cuda.shared.array(0, np.float32)
        tile[cuda.threadIdx.x] = x[0]
        x[cuda.grid(1)] = tile[0]

    made = trace(large, 1, 64, *vectors(64, 1), shared_bytes=90 * 1024)
    assert made.time("A100 80 GB").seconds > 0
    with pytest.raises(
        LaunchError, match="no block fits on an SM of T4, for lack of shared memory"
    ):
        made.time("T4")


def test_tensor_cores_and_atomics_get_a_wide_range():
    @cuda.jit
    def count(x, bins):
        cuda.atomic.add(bins, x[cuda.grid(1)], 1)

    made = trace(count, 4, 64, np.arange(256, dtype=np.int32) % 8, np.zeros(8, np.int32))
    found = made.time("A100 80 GB")
    assert found.high == pytest.approx(1.5 * found.seconds)
    assert "atomics are modelled roughly" in found.notes[0]


def test_lines_that_use_atomics_are_those_with_atomics():
    @cuda.jit
    def histogram(x, bins):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(bins, x[i], 1)  # this one

    made = trace(histogram, 64, 256, np.zeros(64 * 256, np.int32), np.zeros(8, np.int32))
    found = made.time("H200", grid=4096)
    assert found.binds == "atomics on one address"
    assert [line.share for line in found.lines] == [1] and "# this one" in found.lines[0].text


@cuda.jit
def gathered(a, places, out):
    i = cuda.grid(1)
    out[i] = a[places[i]]


def test_places_without_a_pattern_get_a_wide_range():
    """In order they do not, though the kernel is the same."""
    a, out = vectors(64 * 256)
    mixed = np.random.default_rng(5).permutation(len(a)).astype(np.int32)
    for places, doubtful in ((mixed, True), (np.sort(mixed), False)):
        found = trace(gathered, 64, 256, a, places, out, sanitize=False).time("H200", grid=2**14)
        assert found.doubtful == doubtful == any("without a pattern" in n for n in found.notes)
        assert (found.high / found.seconds > 1.4) == doubtful


def test_every_figure_of_every_card_has_a_source():
    assert len(CARDS) >= 14
    for card in CARDS:
        under_load = {"DRAM under load"} if card.dram_latency_loaded else set()
        assert card.sources.keys() == {"ghz", "l2_bytes_per_clock", "latencies"} | under_load
        assert card.dram_grain == 32 or under_load
        assert all(map(str.strip, card.sources.values())) and card.core.source
        assert 100 < card.l2_latency < card.dram_latency < inf
        assert card.core.l1_path <= card.core.shared_path
        assert find(card.name) is card
        assert card.at(1.0).dram_bytes_per_clock == pytest.approx(card.device.dram_gb_per_s)


def test_dram_does_not_wait_for_a_slower_clock():
    """Its part of the latency is the same in nanoseconds, so fewer clocks; L2's is in clocks."""
    card = find("A100 40 GB")
    slow = card.at(card.ghz / 2)
    assert slow.l2_latency == card.l2_latency
    beyond = [(c.dram_latency - c.l2_latency) / c.ghz for c in (card, slow)]
    assert beyond[0] == pytest.approx(beyond[1])


def test_an_estimate_is_a_value():
    made = Estimate("k", "T4", (1, 1, 1), 1e-3, 9e-4, 1.1e-3, "DRAM", flops=1e9, dram_bytes=1e8)
    assert str(made) == "1 ms (0.9 to 1.1), bound by DRAM; modelled"
    assert (made.flops_per_s, made.dram_bytes_per_s) == (1e12, 1e11)


@cuda.jit
def centred(a, out):
    """Its block reads 128 numbers, and after a barrier reads them again."""
    sums = cuda.shared.array(1, np.float32)
    i = cuda.grid(1)
    own = a[i]
    if cuda.threadIdx.x == 0:
        sums[0] = own
    cuda.syncthreads()
    out[i] = a[i] - sums[0]


def test_what_l1_still_has_comes_from_dram_once():
    a, out = (np.zeros(64 * 128, np.float32) for _ in range(2))
    blocks = 2**18
    found = trace(centred, 64, 128, a, out, sanitize=False).time("RTX A6000", grid=blocks)
    assert found.dram_bytes == pytest.approx(2 * 4 * 128 * blocks, rel=0.01)


def test_more_operations_than_the_device_can_do_are_doubted():
    """A compiler does once what does not change from round to round; the simulator each time."""

    @cuda.jit
    def unchanged(x, out):
        i = cuda.grid(1)
        p = np.float32(0)
        for _ in range(2000):
            p = x[i] * x[i] + np.float32(1)
        out[i] = p

    found = trace(unchanged, 4, 256, *vectors(4 * 256)).time("RTX A6000", grid=2**14)
    assert found.flops > found.peak_flops_per_s * found.seconds
    assert found.doubtful and not found.rate and not found.hints
    assert any("the device can do 38.7" in note for note in found.notes), found.notes


@cuda.jit
def series(x, out, n):
    i = cuda.grid(1)
    a, total = x[i], np.float32(0)
    for _ in range(n):
        total = total * a + a
    out[i] = total


def test_operations_are_those_of_the_longer_loop():
    made = trace(series, 4, 256, *vectors(4 * 256), 128)
    once, four_times = (time(made, "V100", 2**13, longer=n) for n in (1.0, 4.0))
    assert four_times.flops == 4 * once.flops
    assert str(made.time("V100", 2**13, longer=4)) == str(four_times)
    assert four_times.seconds > 2 * once.seconds and not four_times.doubtful


def test_a_loop_that_the_compiler_took_apart_cannot_be_longer():
    @cuda.jit
    def straight(a, out):
        i = cuda.grid(1)
        p = a[i]
        for _ in range(4):
            p = p * p + a[i]
        out[i] = p

    found = time(trace(straight, 4, 256, *vectors(4 * 256)), "V100", 2**13, longer=4.0)
    assert found.doubtful and "no loop is left" in found.notes[0]


def test_a_loop_of_which_few_rounds_are_left_can_be_longer():
    made = trace(polynomial, 4, 256, *vectors(4 * 256))
    once, more = (time(made, "V100", 2**13, longer=n) for n in (1.0, 4.0))
    assert not more.doubtful and 3 < more.seconds / once.seconds < 4.2


@pytest.mark.slow
def test_a_long_loop_takes_the_same_time_whatever_part_of_it_was_traced():
    """Copies to shared memory, two tiles in turn: the last round of the loop ends in its middle."""
    step = next(step for step in sgemm.STEPS if step.name == "sgemm_9_async")
    card, clocks = find("RTX A6000"), []
    for depth in (128, 256):
        made, grid = traced(step, depth)
        found = time(made, card, grid, longer=4096 / depth)
        assert not found.doubtful and 0.5 < found.share_of_peak < 0.9
        assert found.flops == 2 * 4096**3
        clocks.append(found.details.case.run.clocks)
    assert clocks[0] == pytest.approx(clocks[1], rel=0.01)
    model = found.details.case.run.model
    hasty = replace(model, sm=replace(model.sm, kept=KEPT))
    assert hasty.run()[1] in ("", "register banks", "float32 arithmetic")


@cuda.jit
def filled_by_loops(a, b, c):
    """A product by tiles of 64 x 8 and 8 x 64, which 64 threads fill in loops of their own."""
    tile_a = cuda.shared.array((64, 8), np.float32)
    tile_b = cuda.shared.array((8, 64), np.float32)
    sums = cuda.local.array(8, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = 64 * cuda.blockIdx.y, 64 * cuda.blockIdx.x
    for i in range(8):
        sums[i] = 0
    for start in range(0, a.shape[1], 8):
        for e in range(8 * y + x, 512, 64):
            tile_a[e // 8, e % 8] = a[top + e // 8, start + e % 8]
            tile_b[e // 64, e % 64] = b[start + e // 64, left + e % 64]
        cuda.syncthreads()
        for k in range(8):
            for i in range(8):
                sums[i] += tile_a[y + 8 * i, k] * tile_b[k, x]
        cuda.syncthreads()
    for i in range(8):
        c[top + y + 8 * i, left + x] = sums[i]


@pytest.mark.slow
def test_a_loop_with_loops_within_is_longer_as_a_whole():
    """From four rounds of it, and all of 32."""
    side, seconds = 1024, []
    for depth in (32, 256):
        shapes = ((side, depth), (depth, side), (side, side))
        arrays = [np.zeros(shape, np.float32) for shape in shapes]
        grid = (side // 64, side // 64)
        made = trace(filled_by_loops, grid, (8, 8), *arrays, sanitize=False, blocks_traced=2)
        seconds.append(time(made, "RTX A6000", longer=256 / depth).seconds)
    assert seconds[0] == pytest.approx(seconds[1], rel=0.1)

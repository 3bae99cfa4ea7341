"""``trace(...).time(device)``: ranges, what binds, and what is refused."""

from __future__ import annotations

import re
from math import inf, isinf
from pathlib import Path

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import LaunchError
from warpwise.kernels.sgemm import simple, thread_tiles
from warpwise.stopwatch import CARDS, Estimate, find
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
    assert found.low < found.seconds < found.high
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


def test_it_reads_as_a_sentence():
    found = trace(add, 64, 256, *vectors(64 * 256, 3)).time("H200", grid=2**17)
    number = r"[\d.]+"
    assert str(found) == repr(found)
    sentence = rf"{number} us \({number} to {number}\), bound by DRAM; modelled"
    assert re.fullmatch(sentence, str(found)), str(found)
    assert "Warps wait for: long scoreboard" in found.show()


def test_an_unknown_device_is_refused_with_the_known_ones():
    made = trace(add, 1, 32, *vectors(32, 3))
    with pytest.raises(LaunchError, match="does not know 'GTX 970'; it knows T4, V100"):
        made.time("GTX 970")
    with pytest.raises(LaunchError, match="can be A100 40 GB SXM, A100 80 GB SXM: say which"):
        made.time("A100")


@pytest.mark.parametrize("grid", [0, (1, 2, 3, 4), "many", (0, 1)])
def test_a_grid_that_is_none_is_refused(grid: object):
    with pytest.raises(LaunchError, match="a grid is one to three positive integers"):
        trace(add, 1, 32, *vectors(32, 3)).time("T4", grid=grid)


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


def test_every_figure_of_every_card_has_a_source():
    assert len(CARDS) >= 14
    for card in CARDS:
        assert card.sources.keys() == {"ghz", "l2_bytes_per_clock", "latencies"}
        assert all(map(str.strip, card.sources.values())) and card.core.source
        assert 100 < card.l2_latency < card.dram_latency < inf
        assert card.core.l1_path <= card.core.shared_path
        assert find(card.name) is card
        assert card.at(1.0).dram_bytes_per_clock == pytest.approx(card.device.dram_gb_per_s)


def test_an_estimate_is_a_value():
    made = Estimate("k", "T4", (1, 1, 1), 1e-3, 9e-4, 1.1e-3, "DRAM", flops=1e9, dram_bytes=1e8)
    assert str(made) == "1 ms (0.9 to 1.1), bound by DRAM; modelled"
    assert (made.flops_per_s, made.dram_bytes_per_s) == (1e12, 1e11)

"""The model: known answers, and the same answers from a slower account of the hardware."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.paths import ROOT

from warpwise import cuda, model, trace
from warpwise.devices import (
    A100,
    DEVICES,
    H100,
    H200,
    KB,
    L4,
    MULTIPROCESSORS,
    RTX_3090,
    RTX_4090,
    T4,
    V100,
    Device,
    Multiprocessor,
)
from warpwise.errors import LaunchError
from warpwise.metrics import Metrics
from warpwise.model import matmul
from warpwise.model.arguments import one_of

OF_EACH_KIND = {cc: Device(f"cc {cc}", cc, 10, 10, 10, 10, 1) for cc in MULTIPROCESSORS}
BLACKWELL = OF_EACH_KIND[12, 0]


@cuda.jit
def scale(x, y, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] * a


def scaled(blocks: int, threads: int = 256):
    x = np.ones(blocks * threads, np.float32)
    return trace(scale, blocks, threads, x, x.copy(), np.float32(3), record=())


# Occupancy


@pytest.mark.parametrize(
    ("device", "threads", "registers", "shared_bytes", "blocks", "fraction", "limiter"),
    [
        (V100, 128, 37, 0, 12, 0.75, "registers"),
        (V100, 320, 37, 0, 4, 0.625, "registers"),
        (H100, 256, 88, 16 * KB, 2, 0.25, "registers"),
        (L4, 256, 88, 16 * KB, 2, 1 / 3, "registers"),
        (T4, 256, 88, 16 * KB, 2, 0.5, "registers"),
        (RTX_3090, 1024, 32, 0, 1, 2 / 3, "warps"),
        (RTX_4090, 1024, 32, 0, 1, 2 / 3, "warps"),
        (BLACKWELL, 1024, 32, 0, 1, 2 / 3, "warps"),
        (V100, 1024, 32, 0, 2, 1, "warps"),
        (T4, 1024, 32, 0, 1, 1, "warps"),
        (A100, 1024, 32, 0, 2, 1, "warps"),
        (H100, 1024, 32, 0, 2, 1, "warps"),
        (H100, 32, 16, 0, 32, 0.5, "blocks"),
        (H100, 128, 32, 48 * KB, 4, 0.25, "shared memory"),  # 49 KB each of 228
        (H100, 128, 32, 227 * KB, 1, 0.0625, "shared memory"),
        (H100, 128, 32, 227 * KB + 1, 0, 0, "shared memory"),
        (H100, 1024, 255, 0, 0, 0, "registers"),
    ],
)
def test_occupancy_vectors(device, threads, registers, shared_bytes, blocks, fraction, limiter):
    found = model.occupancy(device, threads, registers, shared_bytes)
    assert (found.blocks, found.limiter) == (blocks, limiter)
    assert found.fraction == pytest.approx(fraction)
    assert found.warps == blocks * -(-threads // 32)


def filled(sm: Multiprocessor, threads: int, registers: int, shared_bytes: int) -> int:
    """Count blocks on an SM, put there one after another until the next does not fit."""
    warps = len(range(0, threads, 32))
    per_warp = next(n for n in range(0, 10**6, sm.registers_unit) if n >= 32 * registers)
    taken = next(
        n
        for n in range(0, 10**6, sm.shared_bytes_unit)
        if n >= shared_bytes + sm.shared_bytes_reserved
    )
    if not _dealt(sm, warps, per_warp):
        return 0
    # Beyond the first block, warps may go to any sub-partition that has registers for one more.
    free_warps, free_shared, room = (
        sm.warps,
        sm.shared_bytes,
        sum(1 for _ in _warps_with_registers(sm, per_warp)),
    )
    for blocks in range(sm.blocks):
        free_warps, free_shared, room = free_warps - warps, free_shared - taken, room - warps
        if min(free_warps, free_shared, room) < 0:
            return blocks
    return sm.blocks


def _dealt(sm: Multiprocessor, warps: int, per_warp: int) -> bool:
    """Return whether one block's warps, dealt in turn, find their registers."""
    free = [sm.registers // sm.sub_partitions] * sm.sub_partitions
    for warp in range(warps):
        free[warp % sm.sub_partitions] -= per_warp
    return min(free) >= 0


def _warps_with_registers(sm: Multiprocessor, per_warp: int):
    for _ in range(sm.sub_partitions):
        free = sm.registers // sm.sub_partitions
        while free >= per_warp:
            free -= per_warp
            yield per_warp


@given(
    st.sampled_from(sorted(MULTIPROCESSORS)),
    st.integers(1, 1024),
    st.integers(1, 255),
    st.one_of(st.just(0), st.integers(0, 8 * KB), st.integers(0, 250 * KB)),
)
@example((7, 0), 1024, 64, 0)
@example((7, 5), 1024, 65, 0)
@example((8, 0), 96, 168, 163 * KB)
@example((9, 0), 33, 255, 113 * KB)
def test_occupancy_is_what_filling_an_sm_block_by_block_gives(cc, threads, registers, shared_bytes):
    found = model.occupancy(OF_EACH_KIND[cc], threads, registers, shared_bytes)
    assert found.blocks == filled(MULTIPROCESSORS[cc], threads, registers, shared_bytes)
    limits = (
        found.blocks_by_warps,
        found.blocks_by_blocks,
        found.blocks_by_registers,
        found.blocks_by_shared_memory,
    )
    assert found.blocks == min(limits)
    assert getattr(found, f"blocks_by_{found.limiter.replace(' ', '_')}") == found.blocks
    assert 0 <= found.fraction <= 1 and found.warps <= MULTIPROCESSORS[cc].warps


def test_of_equal_limits_the_one_that_nobody_can_raise_is_named():
    found = model.occupancy(H100, 64, 32, 6 * KB)
    assert (
        found.blocks_by_warps
        == found.blocks_by_blocks
        == found.blocks_by_registers
        == found.blocks_by_shared_memory
        == 32
    )
    assert found.limiter == "warps"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "threads is 0; it can be 1 to 1,024"),
        ((1025,), "threads is 1,025; it can be 1 to 1,024"),
        ((1.5,), "threads is 1.5; it has to be a whole number"),
        (("256",), "threads is '256'; it has to be a whole number"),
        ((256, 0), "registers is 0; it can be 1 to 255"),
        ((256, 256), "registers is 256; it can be 1 to 255"),
        ((256, 32, -1), "shared_bytes is -1; it can be 0 or more"),
    ],
)
def test_bad_arguments_get_one_clear_line(arguments, message):
    with pytest.raises(LaunchError) as caught:
        model.occupancy(H100, *arguments)
    assert str(caught.value) == message


def test_numpy_integers_will_do():
    assert model.occupancy(H100, np.int32(256), np.uint8(32), np.int64(0)) == model.occupancy(
        H100, 256
    )


def test_one_of_some_words_or_a_line_that_lists_them():
    assert one_of("kind", "load", {"load": 1, "store": 2}) == "load"
    assert repr(one_of("tile", 16.0, (8, 16))) == "16"
    with pytest.raises(LaunchError, match=r"^tile is 7; it can be 8, 16$"):
        one_of("tile", 7, (8, 16))
    with pytest.raises(ValueError, match=r"^kind is \['load'\]; it can be load, store$"):
        one_of("kind", ["load"], {"load": 1, "store": 2})


def test_occupancy_in_words():
    assert (
        str(model.occupancy(V100, 128, 37))
        == "12 blocks, 48 warps (75 %) on each SM of V100 SXM2, limited by registers"
    )
    assert (
        str(model.occupancy(T4, 1, 32, 33 * KB))
        == "1 block, 1 warp (3 %) on each SM of T4, limited by shared memory"
    )
    assert (
        str(model.occupancy(H100, 1024, 255))
        == "no block fits on an SM of H100 SXM, for lack of registers"
    )


# Tiles and waves


def share_of_peak(n: int, device: Device, tile: tuple[int, int] = (256, 128)) -> float:
    """Return the share of the peak of an n x n product, one block on each SM."""
    cut = model.tiles(n, n, *tile)
    return cut.useful * model.waves(cut.count, device).useful


@pytest.mark.parametrize(
    ("n", "device", "count", "waves", "share"),
    [
        (1792, A100, 98, 1, 0.907),
        (1793, A100, 120, 2, 0.454),
        (1792, H100, 98, 1, 0.742),
        (1793, H100, 120, 1, 0.743),
        (2048, H200, 128, 1, 0.970),
        (2049, H200, 153, 2, 0.485),
    ],
)
def test_one_more_row_can_cost_a_wave(n, device, count, waves, share):
    cut = model.tiles(n, n, 256, 128)
    assert (cut.count, model.waves(cut.count, device).count) == (count, waves)
    assert share_of_peak(n, device) == pytest.approx(share, abs=5e-4)


def test_the_cliff_is_where_the_sms_run_out():
    """On 132 SMs the only drop by a third or more below 2,100 comes with the 133rd tile."""
    drops = [
        n for n in range(1700, 2100) if share_of_peak(n + 1, H100) < 2 / 3 * share_of_peak(n, H100)
    ]
    assert drops == [2048]


def test_tiles_of_a_ragged_matrix():
    assert model.tiles(256, 256, 128, 128) == model.Tiles(4, 1.0)
    ragged = model.tiles(257, 256, 128, 128)
    assert ragged.count == 6 and ragged.useful == pytest.approx(0.67, abs=5e-3)


@given(st.integers(1, 5000), st.sampled_from(DEVICES), st.integers(1, 32))
def test_waves_are_what_taking_slots_away_gives(blocks, device, per_sm):
    found, left, rounds = model.waves(blocks, device, per_sm), blocks, 0
    while left > 0:
        tail, left, rounds = left, left - per_sm * device.sms, rounds + 1
    assert (found.count, found.tail) == (rounds, tail)
    assert found.useful * found.count * found.slots == pytest.approx(blocks)


@pytest.mark.parametrize("blocks", [0, -1])
def test_no_blocks_make_no_waves(blocks):
    with pytest.raises(LaunchError, match=f"^blocks is {blocks}; it can be 1 or more"):
        model.waves(blocks, H100)


def test_waves_in_words():
    assert str(model.waves(16, H100, 8)) == "16 blocks of 1,056 at a time: 1.5 % of one wave"
    assert str(model.waves(264, H100)) == "264 blocks of 132 at a time: 2 waves, all full"
    assert (
        str(model.waves(1200, H100, 8))
        == "1,200 blocks of 1,056 at a time: 2 waves, the last 14 % full"
    )


# Matrix products


def turns_of_a_slice(width: int) -> int:
    """Count the loads and stores of lanes that nothing hides, for a column of A's tile and a row
    of B's."""
    turns = 0
    for _number in range(256 + 128):
        if width == 2:  # a copy past the registers moves 4 bytes or more
            turns += len(("into a register", "from there to shared memory"))
    return turns


@pytest.mark.parametrize(
    ("n", "width"), [(1792, 16), (1800, 16), (1796, 8), (1794, 4), (1793, 2), (8, 16), (1, 2)]
)
def test_the_widest_load_that_fits_every_row(n, width):
    assert matmul.load_width(n) == width
    assert all(2 * n * row % width == 0 for row in range(9))
    assert width == 16 or any(2 * n * row % (2 * width) for row in range(9))


@pytest.mark.parametrize("device", matmul.KNOWN, ids=str)
@pytest.mark.parametrize("n", [1792, 1793, 1794, 1796, 2048, 2049, 3001, 5000])
def test_a_product_takes_rounds_of_tiles_and_of_loads(n, device):
    """Every SM takes its turn, and every turn its products and its narrow loads."""
    rounds, left = 0, -(-n // 256) * -(-n // 128)
    while left > 0:
        left, rounds = left - device.sms, rounds + 1
    products = rounds * n * 2 * 256 * 128 / (device.tensor16_tflops * 1e12 / device.sms)
    waited = rounds * n * turns_of_a_slice(matmul.load_width(n)) / 32 / device.clock_hz
    assert matmul.product(n, device).seconds == pytest.approx(products + waited)


@pytest.mark.parametrize("device", matmul.KNOWN, ids=str)
def test_where_rows_are_even_tiles_and_waves_decide(device):
    for n in range(512, 4096, 2):
        assert matmul.product(n, device).share == pytest.approx(share_of_peak(n, device))


@pytest.mark.parametrize("device", matmul.KNOWN, ids=str)
def test_without_causes_there_is_the_peak_and_memory_alone_is_the_roofline(device):
    knee = 3 * device.tensor16_tflops * 1e12 / (device.dram_gb_per_s * 1e9)
    for n in range(64, 3073, 61):
        assert matmul.product(n, device, ()).share == pytest.approx(1)
        assert matmul.product(n, device, ("memory",)).share == pytest.approx(min(1, n / knee))


def test_the_causes_of_the_lecture_s_cliff():
    """1,792 to 1,793 on 108 SMs: the second wave halves the speed, odd rows take the rest."""
    before, after = matmul.product(1792, A100), matmul.product(1793, A100)
    assert (before.share, after.share) == (
        pytest.approx(0.907, abs=5e-4),
        pytest.approx(0.2595, abs=5e-4),
    )
    assert matmul.product(1793, A100, ("memory", "tiles", "waves")).share == pytest.approx(
        0.454, abs=5e-4
    )
    assert matmul.limiter(1792, A100)[0] == "waves" and matmul.limiter(1793, H100)[0] == "alignment"
    assert matmul.limiter(200, A100, ("memory", "alignment"))[0] == "memory" and matmul.limiter(
        200, A100, ()
    ) == ("", 1.0)
    assert matmul.limiter(2048, A100, ("alignment",)) == ("", 1.0)


@pytest.mark.parametrize("device", matmul.KNOWN, ids=str)
def test_the_slope_at_small_sizes_is_the_first_wave_s_and_not_memory_s(device):
    """As the gallery says. Without tiles and waves it is memory's, up to the knee."""
    without_memory = ("tiles", "waves", "alignment")
    for n in range(64, 3073):
        assert matmul.product(n, device) == matmul.product(n, device, without_memory)
    assert matmul.limiter(256, device, ("memory", "alignment"))[0] == "memory"


def test_the_model_of_products_says_what_it_does_not_know():
    with pytest.raises(
        LaunchError,
        match=(
            r"^the load/store units of T4 are not in the model; it knows A100 40 GB SXM, .*, "
            r"H200 SXM$"
        ),
    ):
        matmul.product(512, T4)
    with pytest.raises(LaunchError, match=r"^n is 0; it can be 1 or more$"):
        matmul.product(0, A100)


# Roofline

RELU = Metrics(
    flops_fp32=1024,
    global_load_sectors=128,
    global_load_sectors_distinct=128,
    global_store_sectors=128,
    global_store_sectors_distinct=128,
)


def test_relu_is_one_flop_for_eight_bytes():
    found = model.roofline(RELU, H100)
    assert found.flops_per_byte == (0.125, 0.125)
    assert found.knee == pytest.approx(67e12 / 3350e9)
    assert found.attainable_flops_per_s == pytest.approx((0.125 * 3350e9, 0.125 * 3350e9))
    assert found.side == "memory"


@pytest.mark.parametrize(
    ("flops", "side"),
    [
        (19, "memory"),
        (21, "memory or arithmetic"),
        (199, "memory or arithmetic"),
        (201, "arithmetic"),
    ],
)
def test_the_side_of_the_knee_is_known_where_both_bounds_agree(flops, side):
    """Ten times as many bytes may move as must; the knee is at 20 flops per byte."""
    m = Metrics(flops_fp32=32 * flops, global_load_sectors=10, global_load_sectors_distinct=1)
    assert model.roofline(m, H100).side == side


def test_float64_lowers_the_roof():
    half = model.roofline(Metrics(flops_fp32=10, flops_fp64=10), H100)
    assert half.peak_flops_per_s == pytest.approx(20 / (10 / 67e12 + 10 / 33.5e12))
    all_of_it = model.roofline(Metrics(flops_fp64=10), RTX_4090)
    assert all_of_it.peak_flops_per_s == pytest.approx(82.6e12 / 64)


def test_no_arithmetic_is_limited_by_memory_and_no_memory_by_arithmetic():
    assert model.roofline(Metrics(global_load_sectors=1), H100).side == "memory"
    free = model.roofline(Metrics(flops_fp32=1), H100)
    assert free.side == "arithmetic" and free.attainable_flops_per_s == pytest.approx(
        (67e12, 67e12)
    )


def test_a_launch_stands_where_its_metrics_do():
    t = scaled(4)
    assert model.roofline(t, H100) == model.roofline(t.metrics, H100)
    assert model.roofline(t, H100).flops_per_byte == (0.125, 0.125)
    assert "0.125 to 0.125 flops per byte, knee of H100 SXM at 20: limited by memory" in str(
        model.roofline(t, H100)
    )


# The bound on time

ONE_OF_EACH = [
    (Metrics(global_load_sectors_distinct=3350), "DRAM", 32 * 3350 / 3350e9),
    (Metrics(global_load_sectors=4 * 132), "L1", 1 / 1.9827e9),
    (
        Metrics(shared_load_wavefronts=100, shared_store_wavefronts=32),
        "shared memory",
        1 / 1.9827e9,
    ),
    (Metrics(flops_fp32=67 * 10**6), "float32 arithmetic", 1e-6),
    (Metrics(flops_fp64=67 * 10**6), "float64 arithmetic", 2e-6),
    (Metrics(op_special=16 * 132), "special functions", 1 / 1.9827e9),
    (Metrics(warp_instructions=4 * 132), "issue slots", 1 / 1.9827e9),
]


@pytest.mark.parametrize(
    ("metrics", "name", "seconds"),
    ONE_OF_EACH,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_resource_takes_its_own_time_at_its_peak(metrics, name, seconds):
    found = model.bound(metrics, H100)
    assert found.limiter == name
    assert found.seconds == pytest.approx(seconds, rel=1e-4)


def test_shared_memory_and_l1_take_twice_as_many_clocks_on_turing():
    wavefronts, sectors = Metrics(shared_load_wavefronts=40), Metrics(global_load_sectors=4 * 40)
    for metrics in (wavefronts, sectors):
        assert model.bound(metrics, T4).seconds * T4.clock_hz == pytest.approx(2)
        assert model.bound(metrics, V100).seconds * V100.clock_hz == pytest.approx(0.5)


def test_the_slowest_resource_sets_the_bound_and_all_are_cited():
    found = model.bound(sum((m for m, _, _ in ONE_OF_EACH), Metrics()), H100)
    assert {resource.name for resource in found.resources} == {name for _, name, _ in ONE_OF_EACH}
    assert found.limiter == "float64 arithmetic" and found.seconds == max(
        resource.seconds for resource in found.resources
    )
    assert all(resource.source and resource.unit for resource in found.resources)


def test_a_launch_that_does_nothing_takes_no_time():
    found = model.bound(Metrics(), H100)
    assert (found.seconds, found.limiter, found.resources) == (0, "", ())
    assert str(found) == "no time at all on H100 SXM (modelled)"


def seconds_of(name: str, launch, device: Device = H100) -> float:
    return next(
        resource.seconds
        for resource in model.bound(launch, device).resources
        if resource.name == name
    )


def test_an_sm_without_a_block_helps_nobody():
    """One block takes as long as 132, each on its own SM; 1,320 take ten times as long.

    DRAM is shared by all."""
    one, as_many_as_sms, ten_times = scaled(1), scaled(132), scaled(1320)
    for name in ("L1", "float32 arithmetic", "issue slots"):
        assert seconds_of(name, one) == pytest.approx(seconds_of(name, as_many_as_sms))
        assert seconds_of(name, ten_times) == pytest.approx(10 * seconds_of(name, as_many_as_sms))
    assert seconds_of("DRAM", as_many_as_sms) == pytest.approx(132 * seconds_of("DRAM", one))


def test_a_warp_stays_with_one_scheduler():
    assert seconds_of("issue slots", scaled(1, 32)) == pytest.approx(
        seconds_of("issue slots", scaled(1, 128))
    )
    assert seconds_of("issue slots", scaled(1, 256)) == pytest.approx(
        2 * seconds_of("issue slots", scaled(1, 128))
    )


def test_a_copy_of_many_blocks_is_bound_by_memory():
    t = scaled(1320)
    assert model.bound(t, H100).limiter == "DRAM"
    assert model.bound(t, H100).seconds == pytest.approx(8 * 1320 * 256 / 3350e9)
    assert model.bound(t, H200).seconds == pytest.approx(8 * 1320 * 256 / 4800e9)


def test_the_bound_in_words():
    words = str(model.bound(RELU, H100))
    assert words.startswith(
        "at least 2.45 ns on H100 SXM, set by DRAM; next L1, 0.245 ns"
    ) and words.endswith("(modelled)")


def test_the_model_needs_only_numpy():
    code = (
        "import sys; from warpwise import model; "
        "print(*sorted({'numpy', 'numba', 'dask', 'IPython'} & set(sys.modules)))"
    )
    assert subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.split() == ["numpy"]


@pytest.mark.parametrize("name", [name for name in model.__all__ if name.islower()])
def test_each_function_is_on_the_reference_page_with_its_arguments(name):
    page = (ROOT / "chapters/reference_metrics.md").read_text("utf-8")
    shown = re.search(rf"`model\.{name}\(([^)]*)\)`", page)
    assert shown, f"{name} is not on the page"
    parameters = inspect.signature(getattr(model, name)).parameters.values()
    assert shown[1] == ", ".join(
        p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters
    )


@pytest.mark.parametrize(
    "metrics", [m for m, _, _ in ONE_OF_EACH], ids=[name for _, name, _ in ONE_OF_EACH]
)
def test_each_resource_is_on_the_reference_page(metrics):
    page = (ROOT / "chapters/reference_metrics.md").read_text("utf-8")
    sentence = re.search(r"The resources are ([^;]*);", page)[1]
    words = model.bound(metrics, H100).limiter.removesuffix(" arithmetic")
    assert words in sentence

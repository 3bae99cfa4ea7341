"""The float32 matrix product: results, reads of shared memory, and sizes of the suites."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from warpwise import trace
from warpwise.devices import A100, H200
from warpwise.kernels import sgemm
from warpwise.kernels.sgemm import async_tiles, simple, vectorised, warp_tiles, wide_threads
from warpwise.measure.place import Place
from warpwise.measure.products import (
    BF16,
    FP16,
    FP32,
    TF32,
    as_float64,
    cublas,
    random,
    share_of_allowed,
)
from warpwise.measure.suites import matmul_plot, waves
from warpwise.model.matmul import _rounds
from warpwise.toolchain import compile_kernel

PLACE = Place(np, "the simulator", (9, 0), 132, 50 * 2**20, rehearsal=True)
IN_TILES = {
    6: (vectorised.sgemm_6_vectorised, 256),
    7: (warp_tiles.sgemm_7_warp_tile, 256),
    8: (wide_threads.sgemm_8_wide_thread, 128),
    9: (async_tiles.sgemm_9_async, 128),
}
BLOCK, LANES = 128, 32


def multiplied(step, m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a step's product of random matrices, and the right one."""
    rng = np.random.default_rng(m + 3 * n + 7 * k)
    a, b = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    c = np.full(m * n, np.nan, np.float32)
    step.run(m, n, k, a.reshape(-1), b.reshape(-1), c)
    return c.reshape(m, n), a.astype(np.float64) @ b.astype(np.float64)


@pytest.mark.parametrize("step", sgemm.STEPS, ids=lambda step: step.name)
@pytest.mark.parametrize("size", [(128, 128, 8), (256, 128, 32), (128, 256, 16)])
def test_a_step_multiplies(step, size):
    got, right = multiplied(step, *size)
    np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("step", sgemm.ANY_SIZE, ids=lambda step: step.name)
@pytest.mark.parametrize("size", [(100, 70, 37), (33, 130, 1), (1, 1, 9), (129, 64, 8)])
def test_the_first_steps_take_every_size(step, size):
    got, right = multiplied(step, *size)
    np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-5)


# --- the kernels ---


def traced(number: int, k: int, record=()):
    kernel, threads = IN_TILES[number]
    rng = np.random.default_rng(k)
    a, b = (rng.random(BLOCK * k, dtype=np.float32) for _ in range(2))
    c = np.zeros(BLOCK * BLOCK, np.float32)
    return trace(kernel, (1, 1), threads, np.uint32(BLOCK), np.uint32(k), a, b, c, record=record)


def test_a_warp_down_a_column_loads_and_stores_a_sector_for_each_lane():
    a, c = (np.ones(64 * 64, np.float32) for _ in range(2))
    sizes = (np.uint32(64),) * 3
    down, along = (
        trace(kernel, (2, 2), (32, 32), *sizes, a, a.copy(), c, record=()).metrics
        for kernel in (simple.sgemm_1_naive, simple.sgemm_2_coalesced)
    )
    assert down.global_store_sectors == LANES * down.global_store_requests
    assert along.global_store_sectors == 4 * along.global_store_requests
    # Sectors of A and of B, in each request of either.
    assert down.global_load_sectors / along.global_load_sectors == (LANES + 1) / (1 + 4)


@pytest.mark.slow
@pytest.mark.parametrize("number", IN_TILES)
def test_multiply_adds_are_as_many_as_the_product_needs(number):
    assert traced(number, 16).metrics.flops_fp32 == 2 * BLOCK * BLOCK * 16
    kernel, threads = IN_TILES[number]
    code = compile_kernel(kernel, warp_tiles.TYPES, (9, 0)).machine_code
    assert sum(i.opcode.startswith("FFMA") for i in code) == BLOCK * BLOCK * sgemm.DEPTH // threads


def test_warp_tiles_read_shared_memory_without_bank_conflicts_and_turn_a_over_without():
    assert traced(6, 16).metrics.shared_load_bank_conflicts > 0
    assert traced(9, 16).metrics.shared_load_bank_conflicts == 0
    for number in (7, 8):
        metrics = traced(number, 16).metrics
        assert metrics.shared_load_bank_conflicts == metrics.shared_store_bank_conflicts == 0


def test_larger_parts_of_c_read_less():
    read = {number: traced(number, 16).metrics.shared_load_bytes for number in IN_TILES}
    assert read[6] == read[7] == 4 * (8 + 8) * BLOCK * BLOCK * 16 // 64
    assert read[8] == read[9] == 4 * (8 + 16) * BLOCK * BLOCK * 16 // 128


@pytest.mark.parametrize("number", [7, 8, 9])
def test_sixteen_lanes_are_served_in_a_turn(number):
    """The module's two conditions hold for each read of 16 bytes.

    A half of a warp reads from banks of its own."""
    starts = [
        np.array(event.addresses)
        for event in traced(number, 8, record=(0,)).events
        if event.kind == "load"
        and event.space == "shared"
        and not np.any(np.array(event.addresses) % 16)
    ]
    reads = (8 + (8 if number == 7 else 16)) // 4
    assert len(starts) == reads * 8 * IN_TILES[number][1] // LANES
    lanes = np.arange(LANES)
    for addresses in starts:
        assert any(np.array_equal(addresses, addresses[lanes ^ bit]) for bit in (1, 2))
        for half in (addresses[:16], addresses[16:]):
            quads = np.unique(half // 16)
            assert len(np.unique(quads % 8)) == len(quads)


# --- products by libraries ---


@pytest.mark.parametrize("kind", [FP32, TF32, FP16, BF16], ids=lambda kind: kind.name)
def test_what_a_kind_of_arithmetic_may_differ_by(kind):
    n = 96
    a, b, c = (
        random(PLACE, kind, (n, n), 0),
        random(PLACE, kind, (n, n), 1),
        PLACE.empty((n, n), kind.item),
    )
    want = as_float64(kind, a) @ as_float64(kind, b)
    assert np.isnan(share_of_allowed(PLACE, kind, n, c, want))
    cublas(PLACE, kind, a, b, c)()
    assert share_of_allowed(PLACE, kind, n, c, want) < 1
    assert share_of_allowed(PLACE, kind, n, c.T, want) > 1
    c[n // 2, n // 2] = c[0, 0]
    assert share_of_allowed(PLACE, kind, n, c, want) > 1


def test_tf32_is_no_fp32():
    """Factors cut to TF32's 10 bits make a product that passes for TF32's only."""
    a, b = (random(PLACE, FP32, (256, 256), seed) for seed in (0, 1))
    short = [(x.view("uint32") & np.uint32(0xFFFFE000)).view("float32") for x in (a, b)]
    got, want = (
        (short[0].astype("float64") @ short[1]).astype("float32"),
        a.astype("float64") @ b.astype("float64"),
    )
    assert (
        share_of_allowed(PLACE, TF32, 256, got, want)
        < 1
        < share_of_allowed(PLACE, FP32, 256, got, want)
    )


def test_cublas_is_given_rows_as_columns(monkeypatch):
    """A stand-in for cuBLAS, column by column as the real one, finds C = A B.

    The three matrices have different sizes."""
    arrays: dict[int, np.ndarray] = {}

    def on_device(array):
        arrays[id(array)] = array
        return SimpleNamespace(data=SimpleNamespace(ptr=id(array)), shape=array.shape)

    def gemm(
        handle,
        ta,
        tb,
        m,
        n,
        k,
        one,
        a,
        a_type,
        lda,
        b,
        b_type,
        ldb,
        zero,
        c,
        c_type,
        ldc,
        sums,
        way,
    ):
        assert (ta, tb, a_type, b_type, c_type, sums, way) == (0, 0, 14, 14, 14, 68, -1)
        columns = (
            arrays[key].reshape(-1)[: ld * count].reshape(count, ld).T
            for key, ld, count in ((a, lda, k), (b, ldb, n))
        )
        left, right = columns
        arrays[c].reshape(-1)[:] = (left[:m] @ right[:k]).T.reshape(-1)

    library = SimpleNamespace(
        CUBLAS_OP_N=0, CUBLAS_COMPUTE_32F=68, CUBLAS_GEMM_DEFAULT=-1, gemmEx=gemm
    )
    for name in ("cupy_backends", "cupy_backends.cuda", "cupy_backends.cuda.libs"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["cupy_backends.cuda.libs"].cublas = library
    device = SimpleNamespace(runtime=SimpleNamespace(CUDA_R_16BF=14), get_cublas_handle=lambda: 0)
    place = SimpleNamespace(rehearsal=False, xp=SimpleNamespace(cuda=device))
    rng = np.random.default_rng(0)
    a, b, c = rng.random((3, 4)), rng.random((4, 5)), np.zeros((3, 5))
    cublas(place, BF16, *map(on_device, (a, b, c)))()
    np.testing.assert_allclose(c, a @ b)


# --- the sizes of the suites ---


def test_cliffs_are_where_the_model_sees_them():
    assert waves.cliffs(H200.sms, 4160)[0] == 2048
    assert waves.cliffs(A100.sms, 4160)[0] == 1792
    for device in (H200, A100):
        by_hand = [
            n
            for n in range(1, 4160)
            if _rounds(n + 1, device, ("tiles", "waves")) > _rounds(n, device, ("tiles", "waves"))
        ]
        assert list(waves.cliffs(device.sms, 4160)) == by_hand


def test_sizes_beside_a_cliff():
    assert set(waves.around_cliffs(132, 4160).values()) == set(waves.cliffs(132, 4160))
    assert waves.around_cliffs(132, 4160)[2049] == 2048
    assert waves.around_cliffs(132, 2000) == {}
    assert min(waves.around_cliffs(1, 1024)) > 0
    assert (
        len(set(waves.around_cliffs(20, 4160).values()))
        == waves.MOST_CLIFFS
        < len(waves.cliffs(20, 4160))
    )


@pytest.mark.parametrize("sms", [20, 108, 132])
def test_grids_fill_waves_and_begin_the_next(sms):
    grids, slots = waves.grids_of(sms, 3), 2 * sms
    assert {slots, slots + 1, 2 * slots, 2 * slots + 1, 3 * slots, 3 * slots + 1} <= set(grids)
    assert list(grids) == sorted(set(grids))
    assert min(grids) > 0
    case = waves.ours(
        PLACE, 3, 8, random(PLACE, FP32, 128 * 8, 0), random(PLACE, FP32, 128 * 8 * 3, 1)
    )
    assert case.flops == 2 * 128 * 3 * 128 * 8


def test_our_waves_are_as_full_as_the_compiler_lets_them_be():
    (built,) = waves.STEP.built
    assert (
        compile_kernel(built.kernel, built.types, (9, 0)).occupancy(built.threads).blocks
        == waves.BLOCKS_PER_SM
    )


def test_the_plots_sizes_have_every_class_and_both_sides_of_each_cliff():
    near = waves.cliffs(132, 4160)
    chosen = matmul_plot.sizes(128, near)
    assert (chosen[0], chosen[-1]) == (64, 4160)
    assert 250 <= len(chosen) <= 400
    counts = {c: sum(matmul_plot.size_class(n) == c for n in chosen) for c in matmul_plot.CLASSES}
    assert min(counts.values()) >= 30
    assert {n + beside for n in near for beside in (0, 1)} <= set(chosen)
    assert set(matmul_plot.sizes(512, near)) <= set(chosen)


def test_a_size_class_is_the_power_of_two_that_divides_it():
    for n in range(1, 4161):
        c = matmul_plot.size_class(n)
        assert n % c == 0
        assert c == 64 or n % (2 * c)

"""What TMA copies and warpgroup products count."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import cuda, hopper, trace
from warpwise.metrics import SECTOR_BYTES

pytestmark = pytest.mark.threads

BOX = 8, 16
BYTES = 8 * 16 * 4
ROWS, COLUMNS = 12, 28


@cuda.jit
def moved(x_map, out_map, row, column):
    """Copy a box from x to out."""
    t = cuda.threadIdx.x
    bars = cuda.shared.array(1, np.uint64)
    tile = cuda.shared.array(BOX, np.float32, alignment=128)
    if t == 0:
        hopper.mbarrier_init(bars, 0, 1)
    cuda.syncthreads()
    if t == 0:
        hopper.mbarrier_arrive_expect_tx(bars, 0, BYTES)
        hopper.tma_load(tile, x_map, (row, column), bars, 0)
        while not hopper.mbarrier_try_wait(bars, 0, 0):
            pass
        hopper.tma_store(out_map, (row, column), tile)
        hopper.tma_store_commit_group()
        hopper.tma_store_wait_group(0)


def run(corner: tuple[int, int], blocks: int = 1):
    x, out = (np.ones((ROWS, COLUMNS), np.float32) for _ in range(2))
    return trace(moved, blocks, 32, hopper.tensor_map(x, BOX), hopper.tensor_map(out, BOX), *corner)


def elements(corner: tuple[int, int]) -> list[int]:
    """Return the elements of the box that lie inside the array."""
    rows, columns = (range(first, first + n) for first, n in zip(corner, BOX, strict=True))
    return [r * COLUMNS + c for r in rows for c in columns if 0 <= r < ROWS and 0 <= c < COLUMNS]


@pytest.mark.parametrize("corner", [(0, 0), (5, 8), (-3, 20), (3, 5)], ids=str)
def test_a_box_counts_its_bytes_and_the_sectors_that_it_touches(corner: tuple[int, int]):
    m, inside = run(corner).metrics, elements(corner)
    sectors = len({4 * element // SECTOR_BYTES for element in inside})
    assert m.tma_load_bytes == m.tma_store_bytes == 4 * len(inside)
    assert m.tma_load_sectors == m.tma_store_sectors == sectors
    assert m.global_load_sectors_distinct == m.global_store_sectors_distinct == sectors
    assert m.global_bytes_distinct == 8 * len(inside)
    assert m.dram_bytes_moved == (2 * 32 * sectors, 2 * 32 * sectors)


def test_it_is_no_load_and_no_store_of_a_warp():
    m = run((0, 0)).metrics
    assert m.global_load_requests == m.global_store_requests == m.l1_bytes_moved == 0
    assert (
        m.global_bytes_moved
        == m.l2_bytes_moved[1]
        == 32 * (m.tma_load_sectors + m.tma_store_sectors)
    )


def test_a_box_that_is_read_twice_counts_once_among_the_distinct_ones():
    one, two = run((0, 0)).metrics, run((0, 0), blocks=2).metrics
    assert two.tma_load_sectors == 2 * one.tma_load_sectors
    assert two.global_load_sectors_distinct == one.global_load_sectors_distinct
    assert two.dram_bytes_moved == (one.dram_bytes_moved[0], 2 * one.dram_bytes_moved[1])


def test_a_box_beyond_the_array_moves_nothing():
    m = run((40, 0)).metrics
    assert (m.tma_load_bytes, m.tma_load_sectors, m.global_bytes_distinct) == (0, 0, 0)


def test_the_lines_of_copies_have_what_they_move():
    t = run((0, 0))
    of_copies = {
        t.source[line].strip().split("(")[0]: m
        for line, m in t.by_line.items()
        if m.tma_load_bytes or m.tma_store_bytes
    }
    assert {word: m.global_bytes_distinct for word, m in of_copies.items()} == {
        "hopper.tma_load": BYTES,
        "hopper.tma_store": BYTES,
    }


DEEP = 16


@cuda.jit
def squared(a_map, out):
    """Multiply 64 x 16 numbers and their transpose, 24 columns of it."""
    t = cuda.threadIdx.x
    bars = cuda.shared.array(1, np.uint64)
    a = cuda.shared.array((64, DEEP), np.float16, alignment=1024)
    if t == 0:
        hopper.mbarrier_init(bars, 0, 1)
    cuda.syncthreads()
    if t == 0:
        hopper.mbarrier_arrive_expect_tx(bars, 0, 64 * 2 * DEEP)
        hopper.tma_load(a, a_map, (0, 0), bars, 0)
    while not hopper.mbarrier_try_wait(bars, 0, 0):
        pass
    sums = cuda.local.array(12, np.float32)
    tile = hopper.wgmma_descriptor(a, 32)
    hopper.wgmma_fence()
    hopper.wgmma_mma_async(sums, tile, tile, 0)
    hopper.wgmma_commit_group()
    hopper.wgmma_wait_group(0)
    out[t] = sums[0]


def test_a_product_of_a_warpgroup_counts_its_operations_on_tensor_cores():
    a, out = np.ones((64, DEEP), np.float16), np.zeros(128, np.float32)
    m = trace(squared, 1, 128, hopper.tensor_map(a, a.shape, 32), out).metrics
    assert m.flops_tensor == m.flops == 2 * 64 * 24 * DEEP
    assert m.op_tensor == 128

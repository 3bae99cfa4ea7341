"""Who shares an array, judging by sizes, and what comes from DRAM."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.stopwatch import find
from warpwise.stopwatch.sass import Op
from warpwise.stopwatch.tables import Costs
from warpwise.stopwatch.traffic import (
    Use,
    dram_share,
    in_turn,
    read_for_nothing,
    together,
    uses_of,
)

A6000, A100, H200 = find("RTX A6000"), find("A100 80 GB SXM"), find("H200")
SIDE = 32


@cuda.jit
def product(k, a, b, c):
    col, row = cuda.grid(2)
    total = np.float32(0)
    for i in range(k):
        total += a[row, i] * b[i, col]
    c[row, col] = total


@cuda.jit
def largest(x, table, out):
    i = cuda.grid(1)
    if x[i] > table[cuda.threadIdx.x]:
        out[0] = 1


def uses(columns: int, rows: int, traced: tuple[int, int], k: int = 64) -> dict[str, str]:
    """Trace some blocks of a product of (rows x k) and (k x columns) elements."""
    a, b, c = (np.zeros(s, np.float32) for s in ((rows, k), (k, columns), (rows, columns)))
    made = trace(product, traced, (SIDE, SIDE), k, a, b, c, sanitize=False)
    grid = columns // SIDE, rows // SIDE, 1
    return {name: use.shared_by for name, use in uses_of(made, grid).items()}


@pytest.mark.parametrize("traced", [(8, 4), (1, 1)], ids=["all blocks", "one block"])
def test_a_product_shares_rows_of_a_and_columns_of_b(traced: tuple[int, int]):
    assert uses(8 * SIDE, 4 * SIDE, traced) == {"a": "row", "b": "column", "c": "none"}


def test_a_traced_part_with_arrays_of_its_own_size_stands_for_a_larger_grid():
    x, out = np.zeros(1024, np.float32), np.zeros(1, np.int32)
    made = trace(largest, 4, 256, x, x[:256].copy(), out)
    shared = {name: use.shared_by for name, use in uses_of(made, (100_000, 1, 1)).items()}
    assert shared["x"] == "none" and shared["table"] == "all"


@pytest.mark.parametrize(
    ("shared_by", "pieces"), [("none", 84), ("row", 2), ("column", 64), ("all", 1)]
)
def test_pieces_of_a_wave(shared_by: str, pieces: int):
    """84 blocks of a grid 64 wide are one row and 20 blocks of the next."""
    assert together(shared_by, (64, 64, 1), 84) == pieces


def test_dram_gives_each_piece_once_to_a_wave_and_what_l2_keeps_once_to_all():
    piece = 4096 * 32 * 4
    use = Use("a", piece, 0, 64 * piece, "row")
    assert dram_share(use, "load", (64, 64, 1), 84, A6000) == pytest.approx(2 / 84)
    small = Use("a", piece // 64, 0, piece, "row")
    assert dram_share(small, "load", (64, 64, 1), 84, A6000) == pytest.approx(1 / 64)
    alone = Use("c", 0, piece, 4096 * piece, "none")
    assert dram_share(alone, "store", (64, 64, 1), 84, A6000) == 1


@cuda.jit
def weighted(x, weights, out):
    i = cuda.grid(1)
    value = x[i]
    out[i] = value * weights[cuda.threadIdx.x]


def test_one_block_fetches_what_all_share_and_the_others_wait_for_l2():
    """Of 1,000 blocks each waits for DRAM for numbers of its own, and one for the weights."""
    blocks, wave = 1000, 84 * 6
    x, weights, out = (np.ones(n, np.float32) for n in (blocks * 256, 256, blocks * 256))
    made = trace(weighted, blocks, 256, x, weights, out, record=(0,), sanitize=False)
    grid = blocks, 1, 1
    costs = Costs(made, A6000, uses_of(made, grid), grid, wave, 64 * 1024)
    texts = {n: text for n, text in made.source.items() if "x[i]" in text or "weights[" in text}
    load = Op("LDG.E", "", 0, "", "LDG", "lsu", "", (), (), "global", "load", 4)
    own, shared = (costs.of(load, line).waits for line in sorted(texts)[-2:])
    assert own == 1 and shared == pytest.approx(1 / blocks)


def test_a_larger_l2_keeps_more():
    piece = 4096 * 32 * 4
    use = Use("a", piece, 0, 32 * piece, "row")
    of = [dram_share(use, "load", (32, 32, 1), 84, card) for card in (A6000, A100)]
    assert of[0] > of[1] == pytest.approx(1 / 32)


@cuda.jit
def gathered(x, out, stride):
    i = cuda.grid(1)
    out[i] = x[i * stride]


def read(stride: int, blocks: int = 4) -> float:
    x, out = np.zeros(blocks * 256 * stride, np.float32), np.zeros(blocks * 256, np.float32)
    made = trace(gathered, blocks, 256, x, out, stride, sanitize=False)
    grid = blocks, 1, 1
    return read_for_nothing(uses_of(made, grid)["x"], grid, H200)


@pytest.mark.parametrize(("stride", "times"), [(1, 1), (8, 1), (16, 2), (32, 2)])
def test_dram_that_is_read_by_64_bytes_brings_the_other_sector_too(stride: int, times: float):
    """From a stride of 8 floats to 16 the useful bandwidth of an H200 halves, and then no more."""
    assert read(stride) == pytest.approx(times, rel=0.01)


def test_the_other_sector_is_no_waste_where_another_block_loads_it():
    whole = Use("a", 1024, 0, 8 * 1024, "none", gaps=2.0)
    assert read_for_nothing(whole, (8, 1, 1), H200) == 1
    half = Use("a", 1024, 0, 16 * 1024, "none", gaps=2.0)
    assert read_for_nothing(half, (8, 1, 1), H200) == 2
    assert read_for_nothing(half, (8, 1, 1), A100) == 1, "nobody has measured its grain"


@cuda.jit
def counted(x, counts):
    i = cuda.grid(1)
    cuda.atomic.add(counts, x[i] % counts.size, 1)


@cuda.jit
def summed(x, total):
    i = cuda.grid(1)
    cuda.atomic.add(total, 0, x[i])


def test_atomics_on_one_address_go_one_after_the_other():
    x, total = np.ones(1024, np.float32), np.zeros(1, np.float32)
    made = trace(summed, 4, 256, x, total, sanitize=False)
    assert in_turn(made, (4, 1, 1)) == 1024
    assert in_turn(made, (100, 1, 1)) == 100 * 256


def test_on_many_addresses_only_those_on_the_busiest_wait_for_one_another():
    x = np.arange(1024, dtype=np.int32)
    made = trace(counted, 4, 256, x, np.zeros(64, np.int32), sanitize=False)
    assert in_turn(made, (4, 1, 1)) == 4 * 256 / 64
    one = trace(counted, 4, 256, x, np.zeros(1, np.int32), sanitize=False)
    assert in_turn(one, (4, 1, 1)) == 4 * 8, "of integers a warp's go as one"

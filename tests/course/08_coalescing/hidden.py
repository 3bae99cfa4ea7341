"""Hidden tests of lab 8: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Shapes include one row, one column, a single element, whole tiles
and ragged ones. Every array is fresh."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import numpy as np

from warpwise.labs import Call, InOut, Launch, Out

SMALL = ((1, 1), (1, 37), (41, 1), (7, 8))
BINS = 128
BUDGET_FROM = 24  # in shorter rows even a perfect kernel moves mostly bytes that nobody asked for
A_WARP = 32  # in four odd rows of 25 even the best kernel moves 1.52 times the bytes


def shapes(rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Draw small shapes, whole tiles, whole sectors in ragged tiles, and three of any size."""
    yield from SMALL
    rows, cols = (int(n) for n in rng.integers(2, 6, 2))
    yield 32 * rows, 32 * cols
    yield 8 * int(rng.integers(5, 20)) + 4, 8 * int(rng.integers(5, 20))
    for _ in range(3):
        yield tuple(int(n) for n in rng.integers(BUDGET_FROM, 170, 2))


def sectors(row_length: int) -> float:
    """Return the most sectors per request.

    There are 4 where each row begins on a sector of 8 floats, and one more where rows begin
    anywhere."""
    return 4.1 if row_length % 8 == 0 else 5.1


def budget(
    rows: int, cols: int, store_row: int, read: np.ndarray, written: np.ndarray, **more: float
) -> dict[str, float]:
    if min(rows, cols) < BUDGET_FROM:
        return {}
    sides = {
        "sectors_per_request_load": sectors(cols),
        "sectors_per_request_store": sectors(store_row),
        "global_store_bytes": written.nbytes,
        "most_bytes_stored_by_a_warp": 256,
    }
    return sides | {"global_bytes_moved": 1.5 * (read.nbytes + written.nbytes)} | more


def copy_matrix(rng: np.random.Generator) -> Iterator[Launch]:
    for rows, cols in shapes(rng):
        src = rng.normal(size=(rows, cols)).astype(np.float32)
        yield Launch(
            f"{rows} x {cols}",
            (ceil(cols / 32), ceil(rows / 8)),
            (32, 8),
            args=(src, Out(src.shape)),
            want=(src,),
            budget=budget(rows, cols, cols, src, src),
        )


def sectors_for(rng: np.random.Generator) -> Iterator[Call]:
    fixed = [(0, 0, 1), (1, 0, 4), (1, 1, 4), (8, 0, 4), (1, 0, 8), (2, 0, 8)]
    drawn = [
        (int(rng.integers(40)), int(rng.integers(300)), int(2 ** rng.integers(4)))
        for _ in range(20)
    ]
    for stride, offset, itemsize in fixed + drawn:
        first = itemsize * (offset + stride * np.arange(32))
        touched = np.unique((first[:, None] + np.arange(itemsize)) // 32)
        yield Call(
            f"stride {stride}, offset {offset}, itemsize {itemsize}",
            (stride, offset, itemsize),
            want=len(touched),
        )


def column_sums(rng: np.random.Generator) -> Iterator[Launch]:
    for rows, cols in shapes(rng):
        a = rng.uniform(0.5, 2, (rows, cols)).astype(np.float32)
        want = a.sum(axis=0, dtype=np.float64).astype(np.float32)
        yield Launch(
            f"{rows} x {cols}",
            ceil(cols / 32),
            (32, 32),
            args=(a, Out(cols)),
            want=(want,),
            rtol=1e-5,
            budget=budget(
                *(rows, cols, 8, a, want),
                flops_fp64=0,
                most_bytes_loaded_by_a_warp=256 * ceil(rows / 32),
            ),
        )


def planes(rng: np.random.Generator) -> Iterator[Launch]:
    whole, ragged = (8 * int(n) for n in rng.integers(10, 90, 2))
    for n in (
        1,
        7,
        8,
        63,
        whole,
        ragged + int(rng.integers(1, 8)),
        *(int(n) for n in rng.integers(A_WARP, 900, 3)),
    ):
        particles = rng.normal(size=(n, 4)).astype(np.float32)
        most = {
            "sectors_per_request_load": 4.1,
            "sectors_per_request_store": 4.1 if n % 8 == 0 else 7.1,
            "global_store_bytes": particles.nbytes,
            "most_bytes_stored_by_a_warp": 512,
        }
        yield Launch(
            f"{n} particles",
            ceil(4 * n / 256),
            256,
            args=(particles, Out((4, n))),
            want=(np.ascontiguousarray(particles.T),),
            budget=most | {"global_bytes_moved": 1.5 * 2 * particles.nbytes} if n >= A_WARP else {},
        )


def transpose(rng: np.random.Generator) -> Iterator[Launch]:
    for rows, cols in shapes(rng):
        src = rng.normal(size=(rows, cols)).astype(np.float32)
        blocks = ceil(cols / 32) * ceil(rows / 32)
        passes = {
            "shared_bank_conflicts": 0,
            "shared_load_requests": 64 * blocks,
            "shared_store_requests": 64 * blocks,
            "shared_bytes_per_block": 4608,
        }
        yield Launch(
            f"{rows} x {cols}",
            (ceil(cols / 32), ceil(rows / 32)),
            (32, 32),
            args=(src, Out((cols, rows))),
            want=(np.ascontiguousarray(src.T),),
            budget=budget(rows, cols, rows, src, src, **passes),
        )


def values(rng: np.random.Generator, n: int) -> Iterator[np.ndarray]:
    """Draw values: any, mostly small, one alone, and the first and the last bin only."""
    yield rng.integers(0, BINS, n)
    yield np.minimum(rng.exponential(12, n), BINS - 1)
    yield np.full(n, rng.integers(BINS))
    yield (BINS - 1) * rng.integers(0, 2, n)


def histogram(rng: np.random.Generator) -> Iterator[Launch]:
    sizes = [(int(n), int(rng.integers(2, 6))) for n in rng.integers(1500, 6000, 3)]
    for n, blocks in ((1, 1), (33, 2), (1024, 1), *sizes):
        for kind, drawn in enumerate(values(rng, n)):
            x = drawn.astype(np.int32)
            yield Launch(
                f"{n} values of kind {kind}, {blocks} blocks",
                blocks,
                256,
                args=(x, InOut(np.zeros(BINS, np.int32))),
                want=(np.bincount(x, minlength=BINS).astype(np.int32),),
                budget={
                    "global_atomic_requests": blocks * BINS // 32,
                    "sectors_per_request_load": 4.1,
                    "global_bytes_moved": 2.5 * (x.nbytes + blocks * 4 * BINS),
                    "most_bytes_loaded_by_a_warp": 128 * ceil(n / (256 * blocks)) + 4 * BINS,
                }
                if n >= BINS
                else {},
            )

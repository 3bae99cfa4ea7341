"""Hidden tests of lab 5: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Sizes include one element, less than a warp, whole warps and ragged
ones. Every array is fresh."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, sqrt

import numpy as np

from warpwise.labs import Call, Launch, Out

INFINITY = 0x7F800000


def rounded(pattern: int, drop: int) -> int:
    """Round one number's bits by its distances from its two neighbours.

    This is exact, with Python's integers and float64."""
    sign, low = pattern & 0x80000000, pattern & 0x7FFFFFFF
    below = low >> drop << drop
    if low > INFINITY:
        return sign | below | 0x00400000
    above, twice = below + (1 << drop), 2 * (low - below)
    odd = below >> drop & 1
    return sign | (above if twice > 1 << drop or (twice == 1 << drop and odd) else below)


def patterns(rng: np.random.Generator, drop: int) -> Iterator[tuple[str, np.ndarray]]:
    """Draw bits: any, ordinary, ties, subnormals, near the largest, infinities and NaN."""
    n = int(rng.integers(200, 400))
    anything = rng.integers(0, 2**32, n, dtype=np.uint32)
    signs = rng.integers(0, 2, n, dtype=np.uint32) << np.uint32(31)
    kept = np.uint32(0xFFFFFFFF >> drop << drop)
    yield "any bits", anything
    yield "ordinary numbers", rng.standard_normal(n).astype(np.float32).view(np.uint32)
    yield "ties", (anything & kept & np.uint32(0x7EFFFFFF)) | np.uint32(1 << (drop - 1)) | signs
    yield "subnormals", (anything & np.uint32(0x007FFFFF)) | signs
    yield (
        "near the largest",
        np.uint32(INFINITY) - rng.integers(0, 1 << (drop + 1), n, dtype=np.uint32) | signs,
    )
    fractions = (
        anything & np.uint32(0x007FFFFF) & rng.choice([0, 1, 0xFFFFFFFF], n).astype(np.uint32)
    )
    yield "infinities and NaN", np.uint32(INFINITY) | fractions | signs


def rounded_bits(rng: np.random.Generator) -> Iterator[Call]:
    for drop in (13, 16, int(rng.choice([1, 2, 5, 20, 22]))):
        for kind, bits in patterns(rng, drop):
            want = np.array([rounded(int(pattern), drop) for pattern in bits], np.uint32)
            yield Call(f"{kind}, drop {drop}", (bits, drop), want=want, typed=(0,))
    yield Call(
        "one number, drop 16",
        (np.array([0x3F818000], np.uint32), 16),
        want=np.array([0x3F820000], np.uint32),
        typed=(0,),
    )


def half(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float16)


def blend(rng: np.random.Generator) -> Iterator[Launch]:
    for n in (1, 31, 128, 129, 1024, *(int(n) for n in rng.integers(300, 3000, 4))):
        a, b, t = half(rng, n), half(rng, n), np.float32(rng.random())
        exact = (1 - float(t)) * a.astype(np.float64) + float(t) * b.astype(np.float64)
        yield Launch(
            f"{n} elements, t = {t:.3f}",
            ceil(n / 128),
            128,
            args=(a, b, t, Out(n, "float16")),
            want=(exact.astype(np.float16),),
            rtol=1e-3,
            atol=1e-6,
            budget={
                "global_bytes_moved": 3 * 32 * ceil(2 * n / 32),
                "op_fp64": 0,
                "most_bytes_stored_by_a_warp": 128,
            },
        )


# How the bound sqrt(K) / 2**16 was chosen. Over 12 seeds and the shapes below, the largest error of
# a launch, as a multiple of the bound:
#   products and sums in float32                        at most 0.24
#   the right sum, stored as float16 on the way         at least 11
#   products rounded to float16, sums in float32        at least 14
#   exact products, sums in float16                     at least 16
#   products and sums in float16                        at least 37
# A right answer may sum in its own order and stays below the bound; an answer that rounds to
# float16 cannot pass by luck.
def dot_columns(rng: np.random.Generator) -> Iterator[Launch]:
    drawn = (
        (int(K), int(cols))
        for K, cols in zip(rng.integers(300, 1500, 3), rng.integers(40, 200, 3), strict=True)
    )
    for K, cols in ((1, 1), (8, 40), (64, 128), (65, 31), (2000, 16), (70, 300), *drawn):
        w, m = half(rng, K), half(rng, K, cols)
        want = (w.astype(np.float64) @ m.astype(np.float64)).astype(np.float32)
        yield Launch(
            f"K = {K}, {cols} columns",
            ceil(cols / 64),
            64,
            args=(w, m, Out(cols)),
            want=(want,),
            atol=sqrt(K) / 2**16,
            budget={
                "op_fp64": 0,
                "sectors_per_request_load": 2.1 if cols % 16 == 0 else 3.1,
                "global_load_sectors": (3 if cols % 16 == 0 else 4) * K * 2 * ceil(cols / 64),
                "global_store_requests": ceil(cols / 32),
                "most_bytes_stored_by_a_warp": 256,
            },
        )


# Why columns of mean 1 and spread 0.015. Over 600 seeds, the largest error of a launch, as a
# multiple of what is allowed:
#   two passes in float32                               at most 0.4
#   the mean of squares minus the square of the mean    at least 5
#   the small constant outside the root                 at least 100
def standardise(rng: np.random.Generator) -> Iterator[Launch]:
    drawn = (
        (int(rows), int(cols))
        for rows, cols in zip(rng.integers(20, 90, 3), rng.integers(40, 200, 3), strict=True)
    )
    shapes = ((1, 1), (2, 33), (5, 64), (64, 128), *drawn)
    for rows, cols, mean, spread in (
        *((*shape, rng.uniform(-2, 2), 2) for shape in shapes),
        (16, 90, 1, 0.015),
    ):
        x, slope = (
            rng.normal(mean, spread, (rows, cols)).astype(np.float32),
            float(rng.uniform(0, 0.5)),
        )
        deep = x.astype(np.float64)
        v = (deep - deep.mean(axis=0)) / np.sqrt(deep.var(axis=0) + 1e-5)
        yield Launch(
            f"{rows} x {cols}, slope {slope:.3f}, spread {spread}",
            ceil(cols / 64),
            64,
            args=(x, Out(x.shape), slope),
            want=(np.where(v < 0, slope * v, v).astype(np.float32),),
            rtol=1e-4,
            atol=5e-5,
            budget={
                "flops_fp64": 0,
                "op_fp64": 0,
                "global_load_requests": 6 * rows * ceil(cols / 32),
                "global_store_requests": rows * ceil(cols / 32),
                "most_bytes_stored_by_a_warp": 192 * rows,
            },
        )


def quantised(row: np.ndarray) -> tuple[list[int], np.float32]:
    """Quantise one row, element by element: Python rounds halves to even. Its scale, too."""
    largest = max(abs(float(value)) for value in row)
    scale = np.float32(largest) / np.float32(127) if largest else np.float32(1)
    return [round(float(np.float32(value) / scale)) for value in row], scale


def without_near_halves(x: np.ndarray) -> np.ndarray:
    """Return x with 0 for anything too near a half; exact halves stay.

    There the type or the order of the operations would decide."""
    largest = np.abs(x).max(axis=1, keepdims=True).astype(np.float64)
    steps = np.abs(x.astype(np.float64)) * 127 / np.where(largest > 0, largest, 1)
    from_half = np.abs(steps - np.floor(steps) - 0.5)
    return np.where((from_half > 0) & (from_half < 1e-4), np.float32(0), x)


def quantise(rng: np.random.Generator) -> Iterator[Call]:
    for rows, K in (
        (1, 1),
        (1, 50),
        (37, 1),
        *((int(rows), int(K)) for rows, K in rng.integers(5, 60, (4, 2))),
    ):
        for kind in ("any", "halves", "sizes"):
            # Each scale is a power of two, and every second element lies between two whole numbers.
            if kind == "halves":
                x = rng.integers(-253, 254, (rows, K)) / 2
                x[:, 0] = 127 * rng.choice([-1, 1], rows)
                x *= 2.0 ** rng.integers(-6, 7, (rows, 1))
            else:
                x = rng.standard_normal((rows, K)) * (
                    10.0 ** rng.uniform(-3, 3, (rows, 1)) if kind == "sizes" else 1
                )
                x[rng.random(rows) < 0.15] = 0
                x[1::5] = 0
            x = without_near_halves(x.astype(np.float32))
            whole, scales = zip(*map(quantised, x), strict=True)
            want = np.array(whole, np.int8), np.array(scales)
            yield Call(f"{rows} x {K}, {kind}", (x,), want, rtol=1e-6, typed=(0,))


def quantised_matmul(rng: np.random.Generator) -> Iterator[Launch]:
    drawn = [
        (int(rng.integers(2, 40)), int(rng.integers(50, 400)), int(rng.integers(2, 60)))
        for _ in range(3)
    ]
    for M, K, N in ((3, 500, 64), (1, 1, 1), (8, 32, 32), (33, 7, 31), *drawn):
        qa, qb = (rng.integers(-127, 128, shape).astype(np.int8) for shape in ((M, K), (K, N)))
        sa, sb = (rng.uniform(0.001, 0.1, n).astype(np.float32) for n in (M, N))
        exact = (
            (qa.astype(np.int64) @ qb.astype(np.int64))
            * sa.astype(np.float64)[:, None]
            * sb.astype(np.float64)
        )
        yield Launch(
            f"{M} x {K} times {K} x {N}",
            (ceil(N / 32), ceil(M / 8)),
            (32, 8),
            args=(qa, sa, qb, sb, Out((M, N))),
            want=(exact.astype(np.float32),),
            rtol=1e-6,
            budget={
                "op_fp64": 0,
                "flops_fp32": 2 * M * N,
                "sectors_per_request_load": 2.1,
                "global_load_sectors": (3 * K + 6) * M * ceil(N / 32),
                "global_store_requests": M * ceil(N / 32),
                "most_bytes_stored_by_a_warp": 256,
            },
        )

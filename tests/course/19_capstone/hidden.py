"""Hidden tests of the capstone: cases for each variant, drawn from a secret seed.

The rules are those of the notebook. Lengths include 1, less than a block, whole tiles, ragged
ones and a long one; scores rise with every key, are all equal, are all far below 0, are in the
hundreds, or differ by hundreds from row to row. Values are compared with softmax over all scores in
float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, sqrt
from typing import Any

import numpy as np

from warpwise.labs import Launch, Out
from warpwise.labs.advice import HIDDEN_TILES

D, QUERIES, KEYS = 32, 8, 32
# queries; a row of scores fits neither into shared memory nor, with it, into local arrays
LONG = 352
LARGE = 60.0  # spread of q that makes scores of hundreds


def distance(n: int) -> np.ndarray:
    return np.arange(n)[:, None] - np.arange(n)[None, :]


def products(q: np.ndarray, k: np.ndarray, scale: np.float32) -> np.ndarray:
    return float(scale) * np.einsum("hid,hjd->hij", q.astype(np.float64), k.astype(np.float64))


def attention(scores: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    m = scores.max(axis=2, keepdims=True)
    p = np.exp(scores - m)
    total = p.sum(axis=2, keepdims=True)
    return (p / total @ v).astype(np.float32), (m + np.log(total))[:, :, 0].astype(np.float32)


def budget(heads: int, sees: np.ndarray) -> dict[str, float]:
    """Return 1.1 times the traffic when tiles in which nothing is seen are skipped.

    There is room for one parameter for each warp."""
    n, row = len(sees), 4 * D
    blocks = range(0, n, QUERIES)
    tiles = [
        start
        for first in blocks
        for start in range(0, n, KEYS)
        if sees[first : first + QUERIES, start : start + KEYS].any()
    ]
    keys = sum(min(KEYS, n - start) for start in tiles)
    return {
        "global_bytes_moved": 1.1
        * heads
        * (QUERIES * (row + 32) * len(blocks) + 2 * row * keys + (row + 32) * n),
        "global_store_bytes": 2 * heads * n * (row + 4),
        "op_special": heads * QUERIES * KEYS * (4 * len(tiles) + len(blocks)),
        "flops_fp64": 0,
        "shared_bank_conflicts": 0,
        "shared_load_requests": 3000 * heads * len(tiles),
        "shared_store_requests": 200 * heads * len(tiles),
        "shared_bytes_per_block": 12 * 1024,
        "local_bytes_per_thread": 16,
        "most_bytes_stored_by_a_warp": 12 * (D + 1),
    }


Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


def spread(rng: np.random.Generator, heads: int, n: int, size: float = 2.0) -> Arrays:
    q, k, v = (rng.standard_normal((heads, n, D)).astype(np.float32) for _ in "qkv")
    return np.float32(size) * q, k, v


def sloping(rng: np.random.Generator, heads: int, n: int, low: float, high: float) -> Arrays:
    """Return inputs with one score for each key, from ``low`` to ``high``, for all queries."""
    q, _, v = spread(rng, heads, n)
    q[:] = (np.sign(q[:1, :1]) + 0.5) / 1.5  # a direction with entries of size 1 and 1/3
    length = (q[0, 0] ** 2).sum() / sqrt(D)
    k = q * (np.linspace(low, high, n, dtype=np.float32) / length)[None, :, None]
    return q, np.ascontiguousarray(k), v


def far_above(rng: np.random.Generator, n: int) -> Arrays:
    """Return inputs in which each query scores its own key far above all others; every second one
    does so ten times as much, so that neighbouring rows differ by hundreds."""
    q, _, v = spread(rng, 1, n)
    k = np.float32(10) * q
    q[:, ::2] /= 10
    return q, k, v


def equal_at_the_end(rng: np.random.Generator) -> tuple[Arrays, np.ndarray]:
    """Return inputs and a slope with which the last query's two highest scores are equal, those of
    the last key of each of two tiles: float32 holds them exactly."""
    q, k, v = spread(rng, 1, 2 * KEYS, 0.0)
    k[:] = 0
    column = int(rng.integers(D))
    q[:, :, column], k[:, KEYS:, column] = 1, -KEYS
    return (q, k, v), np.array([1 / sqrt(D)], np.float32)


def launch(
    label: str,
    arrays: Arrays,
    parameter: Any,
    score: Callable[[np.ndarray], np.ndarray],
    sees: np.ndarray,
) -> Launch:
    q, k, v = arrays
    heads, n, _ = q.shape
    scale = np.float32(1 / sqrt(D))
    scores = np.where(sees, score(products(q, k, scale)), -np.inf)
    args = (q, k, v, Out(q.shape), Out((heads, n)), scale, parameter)
    blocks = ceil(n / QUERIES), heads
    return Launch(
        label,
        blocks,
        (KEYS, QUERIES),
        args,
        attention(scores, v),
        budget(heads, sees),
        advice={"global_bytes_moved": HIDDEN_TILES},
        rtol=1e-4,
        atol=3e-4,
    )


def inputs(rng: np.random.Generator) -> Iterator[tuple[str, Arrays]]:
    """Yield names and arrays that every variant is tested with."""
    sizes = [1, int(rng.integers(2, 8)), 64, int(rng.integers(33, 64)), int(rng.integers(65, 96))]
    sizes += [KEYS * int(rng.integers(1, 3)) + 1]  # one key is left for the last tile
    for n in sizes:
        heads = int(rng.integers(1, 4)) if n < 64 else 2
        yield f"{heads} x {n}", spread(rng, heads, n)
    n = int(rng.integers(50, 90))
    yield f"1 x {n}, ascending scores", sloping(rng, 1, n, 0, 4.0 * n)
    yield f"1 x {n}, scores far below 0", sloping(rng, 1, n, -180, -260)
    yield f"1 x {n + 3}, scores of hundreds", spread(rng, 1, n + 3, LARGE)
    yield f"1 x {n + 5}, own keys far above", far_above(rng, n + 5)
    n = LONG + int(rng.integers(40))
    yield f"1 x {n}", spread(rng, 1, n)
    n = int(rng.integers(40, 80))
    yield f"1 x {n}, all scores equal", spread(rng, 1, n, 0.0)


def sliding_window(rng: np.random.Generator) -> Iterator[Launch]:
    for name, arrays in inputs(rng):
        n = arrays[0].shape[1]
        window = n if n >= LONG else int(rng.integers(2, 25))
        sees = (distance(n) >= 0) & (distance(n) < window)
        yield launch(f"{name}, window {window}", arrays, window, lambda a: a, sees)
    n = int(rng.integers(66, 95))
    for window in (1, 10, 32, 33, n + 5):
        sees = (distance(n) >= 0) & (distance(n) < window)
        yield launch(f"1 x {n}, window {window}", spread(rng, 1, n), window, lambda a: a, sees)


def alibi(rng: np.random.Generator) -> Iterator[Launch]:
    drawn = [
        (name, arrays, rng.uniform(0.02, 1, len(arrays[0])).astype(np.float32))
        for name, arrays in inputs(rng)
    ]
    drawn += [("1 x 64, equal scores in the last row", *equal_at_the_end(rng))]
    for name, arrays, slopes in drawn:
        n = arrays[0].shape[1]
        bias = slopes[:, None, None].astype(np.float64) * distance(n)
        yield launch(
            f"{name}, slopes {slopes.round(2).tolist()}",
            arrays,
            slopes,
            lambda a, bias=bias: a - bias,
            distance(n) >= 0,
        )


def soft_cap(rng: np.random.Generator) -> Iterator[Launch]:
    caps = (1.0, 5.0, 8.0, 30.0, 3.0, 7.0, 1000.0, 900.0, 400.0, 500.0, 6.0, 4.0)
    for (name, arrays), cap in zip(inputs(rng), caps, strict=True):
        sees = distance(arrays[0].shape[1]) >= 0
        cap = float(np.float32(cap * rng.uniform(0.9, 1.1)))
        yield launch(
            f"{name}, cap {cap:.2f}",
            arrays,
            np.float32(cap),
            lambda a, cap=cap: cap * np.tanh(a / cap),
            sees,
        )

"""Hidden tests of lab 13: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Lengths are below a tile, whole tiles, and neither; queries and keys
differ in number. Scores lie around 0, and far from it, where exp without the log-sum-exp overflows
or a padded row counts; rows see all keys, some, or none. References are in float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from math import ceil

import numpy as np

from warpwise.labs import Call, InOut, Launch, Out
from warpwise.labs.advice import HIDDEN_TILES

TILE, WIDTH = 16, 32
MEMORY = 48 << 20  # bytes; a float32 matrix of LONG x LONG takes more than twice as many
LONG = 5_200


def draw(
    rng: np.random.Generator, n: int, n_keys: int, d: int, lift: float = 0.0
) -> tuple[np.ndarray, ...]:
    """Draw q, k, v, do in float32; scores have a spread of about 2 around ``lift``."""
    q, do = rng.normal(size=(2, n, d)) * 1.5
    k, v = rng.normal(size=(2, n_keys, d)) * 1.5
    push = math.sqrt(abs(lift) / math.sqrt(d))
    return tuple(a.astype(np.float32) for a in (q + push, k + math.copysign(push, lift), v, do))


def rows_of(
    q: np.ndarray, k: np.ndarray, scale: float, offset: int, first: int, last: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and log-sum-exp of some queries, in float64.

    The row of a query that sees nothing is 0 and -inf."""
    s = scale * (q[first:last].astype(float) @ k.astype(float).T)
    seen = np.arange(len(k)) <= np.arange(first, last)[:, None] + offset
    e = np.where(seen, s, -np.inf)
    most = e.max(axis=1, initial=-np.inf)
    with np.errstate(divide="ignore"):
        e = np.exp(e - np.where(np.isfinite(most), most, 0)[:, None])
        L = np.where(np.isfinite(most), most, 0) + np.log(e.sum(axis=1))
    return e / np.maximum(e.sum(axis=1), np.finfo(float).tiny)[:, None], L


def reference(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    do: np.ndarray,
    scale: float,
    offset: int,
    rows: int = 16,
) -> tuple[np.ndarray, ...]:
    """Return o, L, delta, dq, dk, dv in float64, some rows at a time."""
    v64, do64, k64 = v.astype(float), do.astype(float), k.astype(float)
    o, L, dq, dk, dv = (
        np.zeros(do.shape),
        np.zeros(len(q)),
        np.zeros(q.shape),
        np.zeros(k.shape),
        np.zeros(v.shape),
    )
    for first in range(0, len(q), rows):
        at = slice(first, first + rows)
        # None of these queries sees a key from here on.
        end = max(0, min(len(k), first + rows + offset))
        p, L[at] = rows_of(q, k[:end], scale, offset, first, min(first + rows, len(q)))
        o[at] = p @ v64[:end]
        dp = do64[at] @ v64[:end].T
        ds = p * (dp - (p * dp).sum(axis=1, keepdims=True))
        dq[at] = scale * ds @ k64[:end]
        dk[:end] += scale * ds.T @ q[at].astype(float)
        dv[:end] += p.T @ do64[at]
    return o, L, (do64 * o).sum(axis=1), dq, dk, dv


def tolerance(lift: float) -> float:
    return 2e-3 if lift else 1e-4


def around(rng: np.random.Generator, low: int, high: int) -> int:
    return int(rng.integers(low, high))


def a_scale(rng: np.random.Generator, d: int = WIDTH) -> np.float32:
    """Draw a scale other than one over the root of d, which no answer may build in."""
    return np.float32(rng.choice([0.9, 1.1, 1.2]) / math.sqrt(d))


def flash_backward(rng: np.random.Generator) -> Iterator[Call]:
    n, n_keys = around(rng, 20, 90), around(rng, 20, 90)
    some = around(rng, 30, 60)
    cases = [
        (1, 1, 4, 1, 0.0, None),
        (around(rng, 2, 12), around(rng, 2, 12), 8, 20, 0.0, None),
        (n, n_keys, 16, n_keys, 0.0, None),
        (some, some, 12, 0, 0.0, None),
        (n, n_keys, 8, n_keys - n, 120.0, None),
        (some, n_keys, 5, -around(rng, 3, 20), 0.0, None),
        # many queries see nothing, a whole tile of them in most answers
        (90 + some, n_keys, 8, -around(rng, 66, 90), 0.0, None),
        (n, some, 16, some, -120.0, None),
        (LONG, LONG + around(rng, 0, 50), 4, 0, 0.0, MEMORY),
    ]
    for n, n_keys, d, offset, lift, most in cases:
        q, k, v, do = draw(rng, n, n_keys, d, lift)
        scale = a_scale(rng, d)
        o, L, _, *want = reference(q, k, v, do, float(scale), offset)
        yield Call(
            (
                f"{n} queries, {n_keys} keys, d {d}, offset {offset}, scores about {lift:g}, "
                f"scale {scale:.3f}"
            ),
            (q, k, v, o.astype(np.float32), do, L.astype(np.float32), scale, offset),
            want=tuple(want),
            rtol=tolerance(lift),
            atol=tolerance(lift),
            most_bytes=most,
        )


def row_dots(rng: np.random.Generator) -> Iterator[Launch]:
    drawn = [(around(rng, 9, 70), around(rng, 1, 130)) for _ in range(4)]
    for n, d in [
        (1, 1),
        (7, 31),
        (8, 33),
        (9, 32),
        (around(rng, 17, 40), 8 * around(rng, 2, 17)),
        *drawn,
    ]:
        do, o = rng.normal(1, 1, size=(2, n, d)).astype(np.float32)
        yield Launch(
            f"{n} rows of {d}",
            ceil(n / 8),
            (32, 8),
            args=(do, o, Out(n)),
            want=((do.astype(float) * o).sum(axis=1).astype(np.float32),),
            rtol=1e-5,
            atol=1e-4,
            budget={
                "global_store_bytes": 4 * n,
                "global_load_requests": 2 * n * ceil(d / 32),
                "sectors_per_request_load": 4.1 if d % 8 == 0 else 5.1,
                "op_fp64": 0,
                "most_bytes_stored_by_a_warp": 12,
            },
        )


def tile_bytes(pairs: int, tiles: int) -> int:
    """Count the bytes of whole tiles, and of L and delta for each pair of tiles.

    A pair has eight warps, with two sectors of each."""
    return TILE * WIDTH * 4 * tiles + pairs * 8 * 2 * 64


def head(
    rng: np.random.Generator, n: int, n_keys: int, lift: float, offset: int, scale: np.float32
) -> list[np.ndarray]:
    """Return q, k, v, do, L, delta and the three gradients of one head, all float32."""
    q, k, v, do = draw(rng, n, n_keys, WIDTH, lift)
    _, L, delta, *want = reference(q, k, v, do, float(scale), offset)
    return [a.astype(np.float32) for a in (q, k, v, do, L, delta, *want)]


def dk_dv(rng: np.random.Generator) -> Iterator[Launch]:
    any_of = partial(around, rng, 17, 70)
    cases = [
        (any_of(), any_of(), 0.0),
        (1, 1, 0.0),
        (5, 40, 0.0),
        (48, 32, 0.0),
        (16, any_of(), 0.0),  # one whole tile, where a second trip is over the budget
        (any_of(), 7, -120.0),
        (any_of(), any_of(), 120.0),
    ]
    for n, n_keys, lift in [*cases, (16 * around(rng, 1, 4) + 1, any_of(), -120.0)]:
        scale = a_scale(rng)
        q, k, v, do, L, delta, _, dk, dv = head(rng, n, n_keys, lift, n_keys, scale)
        blocks, queries = ceil(n_keys / TILE), ceil(n / TILE)
        yield Launch(
            f"{n} queries, {n_keys} keys, scores about {lift:g}, scale {scale:.3f}",
            blocks,
            (TILE, TILE),
            args=(q, k, v, do, L, delta, scale, Out(k.shape), Out(v.shape)),
            want=(dk, dv),
            rtol=tolerance(lift),
            atol=tolerance(lift),
            budget={
                "global_bytes_moved": 1.1
                * tile_bytes(blocks * queries, 4 * blocks + 2 * blocks * queries),
                "shared_bank_conflicts": 0,
                "shared_load_requests": 4000 * blocks * queries,
                "shared_store_requests": 200 * blocks * queries,
                "op_special": 2 * TILE**2 * blocks * queries,
                "atomics": 0,
                "op_fp64": 0,
                "most_bytes_stored_by_a_warp": 32 * WIDTH,
            },
        )


def masks(
    rng: np.random.Generator, any_of: Callable[[], int]
) -> Iterator[tuple[int, int, int, float]]:
    """Draw (queries, keys, offset, lift) for masks of every kind.

    They lie on the diagonal and on both sides of it, hide whole rows, or hide nothing."""
    n, some, tiles = any_of(), any_of(), 16 * around(rng, 2, 4)
    ragged = 16 * around(rng, 1, 3) + around(rng, 1, 12)
    yield n, some, 0, 0.0
    yield some, some, some + around(rng, 200, 300), 0.0  # beyond all keys
    yield 1, 1, 0, 0.0
    yield 5, 33, 28, 0.0
    yield tiles, tiles + 16, 0, 120.0  # whole tiles, so that one too many is over the budget
    # the last queries see all keys, and beyond
    yield ragged + around(rng, 0, 9), ragged, around(rng, 8, 15), -150.0
    yield any_of() + 20, any_of(), -around(rng, 17, 36), 0.0
    yield any_of(), any_of(), -around(rng, 2, 15), -120.0
    yield 9, 12, -9, 0.0
    # of a block's last tile of keys, its last query sees the first key and no more
    yield 16 * around(rng, 2, 4), around(rng, 60, 70), 16 * around(rng, 0, 2) + 1, 0.0
    # one query and one key are left for the last tiles
    n_keys = 16 * around(rng, 1, 3) + 1
    yield 16 * around(rng, 1, 3) + 1, n_keys, n_keys, 0.0


def dq_rows(rng: np.random.Generator) -> Iterator[Launch]:
    for n, n_keys, offset, lift in masks(rng, partial(around, rng, 17, 70)):
        scale, blocks = a_scale(rng), ceil(n / TILE)
        q, k, v, do, L, delta, dq, _, _ = head(rng, n, n_keys, lift, offset, scale)
        pairs = sum(
            ceil(max(0, min(n_keys, TILE * (b + 1) + offset)) / TILE) for b in range(blocks)
        )
        yield Launch(
            (
                f"{n} queries, {n_keys} keys, offset {offset}, scores about {lift:g}, "
                f"scale {scale:.3f}"
            ),
            blocks,
            (TILE, TILE),
            args=(q, k, v, do, L, delta, scale, offset, Out(q.shape)),
            want=(dq,),
            rtol=tolerance(lift),
            atol=tolerance(lift),
            budget={
                "local_bytes_per_thread": 64,
                "shared_bytes_per_block": 16_384,
                "global_bytes_moved": 1.1 * tile_bytes(pairs, 3 * blocks + 2 * pairs),
                "shared_bank_conflicts": 0,
                "shared_load_requests": 4000 * pairs,
                "shared_store_requests": 200 * (pairs + blocks),
                "op_special": 2 * TILE**2 * pairs,
                "atomics": 0,
                "op_fp64": 0,
                "most_bytes_stored_by_a_warp": 16 * WIDTH,
            },
            advice={"global_bytes_moved": HIDDEN_TILES},
        )


def backward(rng: np.random.Generator) -> Iterator[Launch]:
    for n, n_keys, offset, lift in masks(rng, partial(around, rng, 17, 50)):
        scale, heads = a_scale(rng), around(rng, 1, 4)
        arrays = zip(
            *(head(rng, n, n_keys, lift, offset, scale) for _ in range(heads)), strict=True
        )
        q, k, v, do, L, delta, *want = (np.stack(a) for a in arrays)
        blocks, queries = ceil(n_keys / TILE), ceil(n / TILE)
        pairs = heads * sum(
            max(0, queries - max(0, TILE * b - offset) // TILE) for b in range(blocks)
        )
        of_pair = TILE * WIDTH // 32
        yield Launch(
            (
                f"{heads} heads, {n} queries, {n_keys} keys, offset {offset}, "
                f"scores about {lift:g}, scale {scale:.3f}"
            ),
            (blocks, heads),
            (TILE, TILE),
            args=(
                q,
                k,
                v,
                do,
                L,
                delta,
                scale,
                offset,
                InOut(np.zeros_like(q)),
                Out(k.shape),
                Out(v.shape),
            ),
            want=tuple(want),
            rtol=tolerance(lift),
            atol=tolerance(lift),
            budget={
                "local_bytes_per_thread": 64,
                "shared_bytes_per_block": 16_384,
                "global_atomic_requests": of_pair * heads * blocks * queries,
                "global_bytes_distinct": sum(a.nbytes for a in (q, k, v, do, L, delta, q, k, v)),
                "global_bytes_moved": 1.1
                * (tile_bytes(pairs, 4 * heads * blocks + 2 * pairs) + 128 * of_pair * pairs),
                "shared_bank_conflicts": 0,
                "shared_load_requests": 4000 * pairs,
                "shared_store_requests": 200 * (pairs + heads * blocks),
                "op_special": 2 * TILE**2 * pairs,
                "op_fp64": 0,
                "most_bytes_stored_by_a_warp": 32 * WIDTH + 16 * WIDTH * ceil(n / TILE),
            },
            advice={"global_bytes_moved": HIDDEN_TILES},
        )


def attention_memory(rng: np.random.Generator) -> Iterator[Call]:
    drawn = [
        (around(rng, 1, 65), around(rng, 2, 9000), around(rng, 8, 257), int(2 ** rng.integers(4)))
        for _ in range(8)
    ]
    for heads, n, d, size in [(1, 1, 1, 4), (16, 128, 64, 4), *drawn]:
        own, square, rows = heads * n * d * size, heads * n * n * size, 4 * heads * n
        want = 3 * own + square, 2 * square, 4 * own + rows, rows + 4 * heads * n * d
        yield Call(
            f"{heads} heads, {n} tokens, d {d}, {size} bytes", (heads, n, d, size), want=want
        )

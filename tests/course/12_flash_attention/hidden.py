"""Hidden tests of lab 12: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Scores come in kinds: spread, rising and falling along the keys, in
the hundreds, all far below zero, and equal, as the keys are. Sizes are seldom multiples of a tile,
and some lie below one. Every array is fresh."""

from __future__ import annotations

import math
from collections.abc import Iterator
from math import ceil

import numpy as np

from warpwise.labs import Call, Launch, Out
from warpwise.labs.advice import HIDDEN_TILES

WIDTH, TILE, D, CHUNK = 16, 16, 32, 64
SECTORS = D // 8  # of a row
KINDS = ("spread", "rising", "falling", "large", "low", "equal")
# float32 rounds a score in the hundreds by some 1e-5, and its exponential by as large a share
CLOSE = {"rtol": 1e-3, "atol": 5e-4}
ROWS_AT_ONCE = 512
# keys whose scores fit neither in the local arrays of a block nor beside its tiles in shared memory
TOO_LONG = 192


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, seen=None
) -> tuple[np.ndarray, np.ndarray]:
    """Return O and L by the definition, in float64, some rows at a time.

    ``seen`` maps a row's number to the number of keys that it sees."""
    n, keys = len(q), len(k)
    o, lse = np.zeros((n, v.shape[1])), np.full(n, -np.inf)
    for first in range(0, n if keys else 0, ROWS_AT_ONCE):
        rows = np.arange(first, min(first + ROWS_AT_ONCE, n))
        s = scale * (q[rows].astype(np.float64) @ k.T.astype(np.float64))
        if seen is not None:
            s[np.arange(keys) >= seen(rows)[:, None]] = -np.inf
        m = s.max(axis=1)
        some = m > -np.inf
        w = np.exp(s[some] - m[some, None])
        o[rows[some]] = w @ v / w.sum(axis=1, keepdims=True)
        lse[rows[some]] = m[some] + np.log(w.sum(axis=1))
    return o.astype(np.float32), lse.astype(np.float32)


def drawn(rng: np.random.Generator, n: int, keys: int, d: int, kind: str) -> tuple:
    """Draw q, k, v and scale."""
    q, k, v = (rng.normal(size=(rows, d)) for rows in (n, keys, keys))
    scale = 1 / math.sqrt(d)
    way = rng.normal(size=d)
    way /= np.linalg.norm(way)
    if kind in ("rising", "falling"):  # by some 5 from tile to tile, with noise
        slope = np.arange(keys) / TILE if kind == "rising" else np.arange(keys)[::-1] / TILE
        q, k, scale = 0.1 * q + 2.5 * way, 0.1 * k + 2 * slope[:, None] * way, 1.0
    elif kind == "low":  # about -300, where exp is 0
        q, k, scale = 0.05 * q + 20 * way, 0.05 * k - 15 * way, 1.0
    elif kind == "lowest":  # about -1000, where exp is 0 in float64, too
        q, k, scale = 0.05 * q + 40 * way, 0.05 * k - 25 * way, 1.0
    elif kind == "equal":  # three keys again and again, and scores that float32 holds exactly
        q, k = rng.integers(-2, 3, (n, d)), np.resize(rng.integers(-2, 3, (3, d)), (keys, d))
        scale = 0.5
    else:
        q *= 90 if kind == "large" else 2.5
    return *(array.astype(np.float32) for array in (q, k, v)), np.float32(scale)


def stacked(results) -> tuple[np.ndarray, np.ndarray]:
    """Stack all heads' O in one array, and all heads' L in another."""
    outputs, sums = zip(*results, strict=True)
    return np.stack(outputs), np.stack(sums)


def heads_drawn(
    rng: np.random.Generator, heads: int, n: int, keys: int, kind: str, kv_heads: int | None = None
) -> tuple:
    """Draw q, k, v of several heads, and the scale."""
    sets = [drawn(rng, n, keys, D, kind) for _ in range(heads)]
    # The queries were made for keys of the same kind; any of the sets will do.
    if kv_heads is not None:
        way = [sets[h * (heads // kv_heads)] for h in range(kv_heads)]
        queries = [drawn_for(rng, way[h // (heads // kv_heads)][0]) for h in range(heads)]
        return (
            np.stack(queries),
            np.stack([s[1] for s in way]),
            np.stack([s[2] for s in way]),
            sets[0][3],
        )
    return *(np.stack([s[i] for s in sets]) for i in range(3)), sets[0][3]


def with_peaks(q: np.ndarray, k: np.ndarray, scale: float, peaks: dict[int, float]) -> None:
    """Give keys these scores with the one query of each head, far above all others."""
    for key, score in peaks.items():
        k[:, [key]] = score * q / (scale * (q * q).sum(axis=2, keepdims=True))


#: the last key of a tile, and above it the first of the next
PEAKS = {TILE - 1: 150.0, TILE: 300.0}


def drawn_for(rng: np.random.Generator, q: np.ndarray) -> np.ndarray:
    """Draw other queries of the same kind: in another order, and a little larger or smaller."""
    return (q[rng.permutation(len(q))] * np.float32(rng.uniform(0.8, 1.2))).astype(np.float32)


def flash_numpy(rng: np.random.Generator) -> Iterator[Call]:
    n, keys, d = (int(rng.integers(*between)) for between in ((30, 70), (60, 120), (3, 20)))
    q, k, v, scale = drawn(rng, n, keys, d, "spread")
    for tile in (1, 7, int(rng.integers(8, 30)), max(n, keys), 500):  # the same answer for each
        yield numpy_call(q, k, v, scale, tile, "spread")
    for kind in KINDS[1:]:
        n, keys, d, tile = (
            int(rng.integers(*between)) for between in ((1, 60), (40, 150), (2, 24), (5, 40))
        )
        yield numpy_call(*drawn(rng, n, keys, d, kind), tile, kind)
    for n, keys, tile in ((1, 1, 4), (int(rng.integers(2, 9)), 0, 3), (5, 64, 16)):
        yield numpy_call(*drawn(rng, n, keys, int(rng.integers(2, 9)), "spread"), tile, "spread")
    # scores of 12 bits each take more than the budget, and those of a byte are too rough
    n, keys, tile = 1350 + int(rng.integers(50)), 24_800 + int(rng.integers(500)), 512
    yield numpy_call(*drawn(rng, n, keys, 4, "spread"), tile, "spread", most_bytes=48 << 20)
    # the scores of all queries with one tile of keys take more than twice the budget
    n, keys, tile = 60_000 + int(rng.integers(500)), 512 + int(rng.integers(200)), 512
    yield numpy_call(*drawn(rng, n, keys, 4, "spread"), tile, "spread", most_bytes=48 << 20)
    n, keys = (int(rng.integers(5, 40)) for _ in range(2))
    yield numpy_call(*drawn(rng, n, keys, 16, "lowest"), 5, "lowest")


def numpy_call(q, k, v, scale, tile: int, kind: str, most_bytes: int | None = None) -> Call:
    label = f"{len(q)} queries, {len(k)} keys, d = {q.shape[1]}, tile {tile}, {kind} scores"
    return Call(
        label,
        (q, k, v, scale, tile),
        want=attention(q, k, v, scale),
        most_bytes=most_bytes,
        typed=(0, 1),
        **CLOSE,
    )


def flash_rows(rng: np.random.Generator) -> Iterator[Launch]:
    sizes = [(1, 1), (64, 32), (129, int(rng.integers(20, 50)))]
    sizes += [tuple(int(size) for size in rng.integers(15, 100, 2)) for _ in KINDS[3:]]
    for (n, keys), kind in zip(sizes, KINDS, strict=True):
        q, k, v, scale = drawn(rng, n, keys, WIDTH, kind)
        want = attention(q, k, v, scale)
        yield Launch(
            f"{n} queries, {keys} keys, {kind} scores, drawn as {rng.integers(10**6):06}",
            ceil(n / 64),
            64,
            args=(q, k, v, Out((n, WIDTH)), Out(n), scale),
            want=want,
            **CLOSE,
            budget={
                "global_load_sectors": 2 * WIDTH * (n + keys * ceil(n / 32)),
                "global_store_bytes": 1.1 * 4 * (n * WIDTH + n),
                "op_special": n * (3 * keys + 1),
                "local_bytes_per_thread": 3 * 4 * WIDTH,
                "shared_bytes_per_block": 0,
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 192 * (WIDTH + 1),
            },
        )


def flash_tiles(rng: np.random.Generator) -> Iterator[Launch]:
    any_of = lambda low, high: int(rng.integers(low, high))  # noqa: E731
    cases = [
        (any_of(20, 50), 64, [64], "spread"),
        (1, 20, [TILE], "spread"),  # one whole tile, where a second trip is over the budget
        (any_of(3, 15), any_of(17, 31), [any_of(1, 15), 0], "spread"),
        (any_of(17, 31), 96, [any_of(82, 95), any_of(33, 47)], "rising"),
        (any_of(17, 31), 80, [any_of(65, 79)], "falling"),
        (any_of(33, 47), 60, [any_of(49, 59)], "large"),
        (16, 40, [any_of(33, 39), any_of(1, 15), 0], "low"),
        (1, 50, [any_of(17, 50)], "peaks"),
        (any_of(2, 15), TOO_LONG, [TOO_LONG - any_of(1, 15)], "spread"),
        # one query and one key are left for the last tiles
        (17, 70, [TILE * any_of(1, 5) + 1, 1], "spread"),
        (any_of(2, 15), 50, [any_of(36, 50)], "equal"),
    ]
    for n, keys, lengths, kind in cases:
        yield tiles_launch(rng, n, keys, np.array(lengths, np.int32), kind)


def tiles_launch(
    rng: np.random.Generator, n: int, keys: int, lengths: np.ndarray, kind: str
) -> Launch:
    heads, tiles, counted = len(lengths), ceil(n / TILE), int(lengths.sum())
    blocks = heads * tiles
    scores = tiles * sum(ceil(length / TILE) for length in lengths)  # tiles of them
    q, k, v, scale = heads_drawn(rng, heads, n, keys, kind)
    if kind == "peaks":
        with_peaks(q, k, scale, PEAKS)
    for h, length in enumerate(lengths):
        k[h, length:], v[h, length:] = np.inf, -np.inf
    want = stacked(attention(q[h], k[h, :c], v[h, :c], scale) for h, c in enumerate(lengths))
    return Launch(
        f"{n} queries, lengths {lengths.tolist()} of {keys}, {kind} scores",
        (tiles, heads),
        (TILE, TILE),
        args=(q, k, v, lengths, Out((heads, n, D)), Out((heads, n)), scale),
        want=want,
        **CLOSE,
        budget={
            "sectors_per_request_load": 4.1,
            "global_load_sectors": 1.1 * (SECTORS * (heads * n + 2 * tiles * counted) + 8 * blocks),
            "sectors_per_request_store": 4.1,
            "global_store_sectors": 2 * heads * n * (SECTORS + 1),
            "global_store_bytes": 2 * (want[0].nbytes + want[1].nbytes),
            "global_bytes_distinct": 4 * (heads * n * D + heads + 2 * counted * D)
            + want[0].nbytes
            + want[1].nbytes,
            "shared_bytes_per_block": 8192,
            "local_bytes_per_thread": 32,
            "shared_bank_conflicts": 100 * (scores + blocks),
            "shared_load_requests": 2500 * scores,
            "shared_store_requests": 400 * scores,
            "op_special": TILE**2 * (3 * scores + blocks),
            "flops_fp64": 0,
            "most_bytes_stored_by_a_warp": 16 * (D + 1),
        },
    )


def flash_causal(rng: np.random.Generator) -> Iterator[Launch]:
    any_of = lambda low, high: int(rng.integers(low, high))  # noqa: E731
    n = any_of(81, 95)
    yield causal_launch(rng, 2, 1, n, n, "spread")
    yield causal_launch(rng, 6, 3, any_of(17, 31), any_of(33, 47), "rising")
    yield causal_launch(rng, 4, 1, any_of(2, 15), any_of(49, 63), "large")
    yield causal_launch(rng, 2, 2, any_of(49, 63), any_of(18, 30), "falling")
    yield causal_launch(rng, 1, 1, any_of(35, 47), any_of(2, 15), "low")
    # one whole tile, where a second trip is over the budget
    yield causal_launch(rng, 1, 1, 1, TILE, "spread")
    yield causal_launch(rng, 1, 1, 1, any_of(17, 40), "peaks")
    yield causal_launch(rng, 3, 1, 64, 64, "rising")
    yield causal_launch(rng, 4, 1, any_of(2, 9), TOO_LONG - any_of(1, 15), "spread")
    n = TILE * any_of(1, 4) + 1  # one query and one key are left for the last tiles
    yield causal_launch(rng, 2, 1, n, n + TILE * any_of(0, 2), "rising")
    yield causal_launch(rng, 2, 1, any_of(17, 31), any_of(40, 60), "equal")


def causal_launch(
    rng: np.random.Generator, heads: int, kv_heads: int, n: int, keys: int, kind: str
) -> Launch:
    q, k, v, scale = heads_drawn(rng, heads, n, keys, kind, kv_heads)
    if kind == "peaks":
        with_peaks(q, k, scale, PEAKS)
    group, tiles = heads // kv_heads, ceil(n / TILE)
    sees = lambda row: row + 1 + keys - n  # noqa: E731
    want = stacked(attention(q[h], k[h // group], v[h // group], scale, sees) for h in range(heads))
    ends = [sees(min(TILE * (tile + 1), n) - 1) for tile in range(tiles)]
    seen = [ceil(end / TILE) for end in ends if end > 0]  # tiles of keys, by tile of queries
    loaded, scores = sum(min(keys, TILE * count) for count in seen), heads * sum(seen)
    return Launch(
        (
            f"heads {heads} on {kv_heads}, {n} queries, {keys} keys, {kind} scores, "
            f"drawn as {rng.integers(10**6):06}"
        ),
        (tiles, kv_heads),
        (TILE, TILE, group),
        args=(q, k, v, Out((heads, n, D)), Out((heads, n)), scale),
        want=want,
        **CLOSE,
        budget={
            "sectors_per_request_load": 4.1,
            "global_load_sectors": 1.1 * SECTORS * (heads * n + 2 * kv_heads * loaded),
            "sectors_per_request_store": 4.1,
            "global_store_sectors": 2 * heads * n * (SECTORS + 1),
            "global_store_bytes": 2 * (want[0].nbytes + want[1].nbytes),
            "global_bytes_distinct": sum(a.nbytes for a in (q, k, v, *want)),
            "shared_bytes_per_block": 17408,
            "local_bytes_per_thread": 32,
            "shared_bank_conflicts": 100 * (scores + heads * tiles),
            "shared_load_requests": 2500 * scores,
            "shared_store_requests": 400 * scores,
            "op_special": TILE**2 * (3 * scores + heads * tiles),
            "flops_fp64": 0,
            "most_bytes_stored_by_a_warp": 16 * (D + 1),
        },
        advice={"global_load_sectors": HIDDEN_TILES},
    )


def decode_partial(rng: np.random.Generator) -> Iterator[Launch]:
    keys = [
        64 * int(rng.integers(2, 5)),
        int(rng.integers(130, 190)),
        int(rng.integers(65, 127)),
        int(rng.integers(2, 31)),
        193,
        int(rng.integers(70, 125)),
        128,
    ]
    for count, kind in zip(keys, (*KINDS, "peaks"), strict=True):
        heads, chunks = int(rng.integers(1, 4)), ceil(count / CHUNK) + int(rng.integers(3))
        q, k, v, scale = heads_drawn(rng, heads, 1, count, kind)
        if kind == "peaks":  # the first key of a chunk and the last of another are far above
            with_peaks(q, k, scale, {0: 150.0, count - 1: 150.0})
        parts = [
            stacked(
                attention(q[h], k[h, cut], v[h, cut], scale)
                for cut in (slice(CHUNK * c, CHUNK * (c + 1)) for c in range(chunks))
            )
            for h in range(heads)
        ]
        outputs, sums = stacked(parts)
        yield Launch(
            (
                f"heads {heads}, keys {count}, chunks {chunks}, {kind} scores, "
                f"drawn as {rng.integers(10**6):06}"
            ),
            (chunks, heads),
            CHUNK,
            args=(
                np.ascontiguousarray(q[:, 0]),
                k,
                v,
                Out((heads, chunks, D)),
                Out((heads, chunks)),
                scale,
            ),
            want=(np.ascontiguousarray(outputs[:, :, 0]), np.ascontiguousarray(sums[:, :, 0])),
            **CLOSE,
            budget={
                "sectors_per_request_load": 4.1,
                "global_load_sectors": 1.1 * 2 * SECTORS * heads * (count + chunks),
                "global_store_bytes": 2 * (outputs.nbytes + sums.nbytes),
                "shared_bytes_per_block": 10240,
                "shared_bank_conflicts": 200 * heads * chunks,
                "shared_load_requests": 1000 * heads * chunks,
                "shared_store_requests": 200 * heads * chunks,
                "op_special": 2 * CHUNK * heads * chunks,
                "local_bytes_per_thread": 128,
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 8 * (D + 1),
            },
        )


def decode_merge(rng: np.random.Generator) -> Iterator[Launch]:
    any_of = lambda low, high: int(rng.integers(low, high))  # noqa: E731
    cases = [
        (any_of(2, 20), 0, 3, 0),
        (1, 5, 1, 0),
        (any_of(5, 9), 0, 2, 0.5),
        (any_of(2, 5), 0, 1, 1),
        (any_of(3, 12), 250, 60, 0.2),
        (any_of(3, 12), -300, 20, 0),
        (any_of(2, 9), any_of(-5, 6), 0, 0),  # all equal
    ]
    for chunks, middle, spread, empty in cases:
        heads = any_of(5, 9)
        o_part = rng.normal(size=(heads, chunks, D)).astype(np.float32)
        L_part = (middle + spread * rng.normal(size=(heads, chunks))).astype(np.float32)
        nothing = rng.random((heads, chunks)) < empty
        o_part[nothing], L_part[nothing] = 0, -np.inf
        yield Launch(
            (
                f"heads {heads}, chunks {chunks}, empty in all {nothing.sum()}, L about {middle}, "
                f"drawn as {rng.integers(10**6):06}"
            ),
            heads,
            D,
            args=(o_part, L_part, Out((heads, D)), Out(heads)),
            want=stacked(map(merged, o_part, L_part)),
            rtol=1e-4,
            atol=1e-5,
            budget={
                "sectors_per_request_load": 4.1,
                "global_load_sectors": 1.1 * (o_part.nbytes / 32 + 2 * L_part.size),
                "global_store_bytes": 2 * 4 * heads * (D + 1),
                "local_bytes_per_thread": 128,
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 8 * (D + 1),
            },
        )


def merged(o_part: np.ndarray, L_part: np.ndarray) -> tuple[np.ndarray, np.float32]:
    """Return o and L of one head: the weighted chunks that hold keys."""
    some = L_part > -np.inf
    if not some.any():
        return np.zeros(o_part.shape[1], np.float32), np.float32(-np.inf)
    m = L_part[some].max()
    weights = np.exp(L_part[some].astype(np.float64) - m)
    o = weights @ o_part[some] / weights.sum()
    return o.astype(np.float32), np.float32(m + np.log(weights.sum()))

"""Hidden tests of lab 16: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Results are worked out by other means than the solutions and the
checks: key by key in float64, with the keys that a query sees picked out one at a time, and numbers
of E4M3 from a table of all of them. Scores come in kinds: spread, rising and falling along the
keys, in the hundreds, far below zero, equal, and with a first key far above all others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np

from warpwise import hopper
from warpwise.labs import Call, Launch, Out

D, TILE, PAGE, WARPS, ROWS, WIDTH = 32, 32, 16, 4, 8, 16
SECTORS = D // 8  # of a row
# float32 rounds a score in the hundreds by some 1e-5, and its exponential by as large a share
CLOSE = {"rtol": 1e-3, "atol": 5e-4}
OF_GROUPS = {
    "global_load_sectors": "all heads of the group need the same keys and values: "
    "which warp loads a row into shared memory, and who reads it there?"
}
OF_PAGES = {
    "global_load_sectors": "an entry of the table serves the 16 tokens of its page, and a "
    "length the whole request: what is read again that could be kept in a variable? And do the "
    "32 lanes read one row of a key together, or each a row of its own?",
    "op_special": "do all 32 lanes compute the weight of the same token? If lane r keeps the "
    "score of row r, one exponential of a warp serves the whole page",
}
OF_WINDOWS = {
    "global_load_sectors": "which rows does the block load that none of its 8 queries sees, "
    "and which does it load twice?"
}
OF_CORRECTIONS = {
    "op_special": "the factor is a power too: is it computed where nothing is corrected?",
    "flops_fp32": "are the sums multiplied by a factor where nothing is corrected?",
}


def attended(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float) -> tuple:
    """Return o and L of one query, which sees all of these keys: in float64, one after another."""
    s = [float(scale) * math.fsum(q.astype(float) * key) for key in k.astype(float)]
    w = [math.exp(score - max(s)) for score in s]
    o = sum(one * row for one, row in zip(w, v.astype(float), strict=True)) / math.fsum(w)
    return o.astype(np.float32), np.float32(max(s) + math.log(math.fsum(w)))


def stacked(results: Sequence[tuple]) -> tuple[np.ndarray, np.ndarray]:
    outputs, sums = zip(*results, strict=True)
    return np.array(outputs), np.array(sums)


def drawn(rng: np.random.Generator, queries: int, keys: int, kind: str) -> tuple:
    """Draw queries, and keys and values for them, and the scale."""
    q, k, v = (rng.normal(size=(rows, D)) for rows in (queries, keys, keys))
    way, scale = rng.normal(size=D), 1 / math.sqrt(D)
    way /= np.linalg.norm(way)
    if kind in ("rising", "falling"):  # by some 5 from tile to tile, with noise
        slope = np.arange(keys) if kind == "rising" else np.arange(keys)[::-1]
        q, k, scale = 0.1 * q + 2.5 * way, 0.1 * k + slope[:, None] / 16 * way, 1.0
    elif kind == "peak":  # the first key has a score of 150
        q, k, scale = 0.1 * q + 2.5 * way, 0.1 * k, 1.0
        k[0] = 60 * way
    elif kind == "low":  # about -300, where exp is 0
        q, k, scale = 0.05 * q + 20 * way, 0.05 * k - 15 * way, 1.0
    elif kind == "equal":  # all keys the same, and scores that float32 holds exactly
        q, k = rng.integers(-2, 3, (queries, D)), np.tile(rng.integers(-2, 3, D), (keys, 1))
        scale = 0.5
    else:
        q *= 90 if kind == "large" else 2.5
    return *(array.astype(np.float32) for array in (q, k, v)), np.float32(scale)


def decode_packed(rng: np.random.Generator) -> Iterator[Launch]:
    any_of = lambda low, high: int(rng.integers(low, high))  # noqa: E731
    cases = [
        (8, 2, 32 * any_of(1, 4), "spread"),
        (6, 2, any_of(33, 63), "rising"),
        (15, 3, any_of(65, 95), "falling"),
        (7, 1, any_of(2, 31), "large"),
        (4, 4, any_of(70, 127), "low"),
        (16, 2, any_of(40, 60), "equal"),
        (12, 2, 1, "spread"),
        (16, 2, 32 * any_of(2, 4) + 1, "spread"),  # one key is left for the last tile
        (6, 2, any_of(40, 90), "peak"),
    ]
    for heads, kv_heads, keys, kind in cases:
        yield packed_launch(rng, heads, kv_heads, keys, kind)


def packed_launch(
    rng: np.random.Generator, heads: int, kv_heads: int, keys: int, kind: str
) -> Launch:
    group, tiles = heads // kv_heads, ceil(keys / TILE)
    sets = [drawn(rng, group, keys, kind) for _ in range(kv_heads)]
    results = [attended(query, k, v, scale) for qs, k, v, scale in sets for query in qs]
    return Launch(
        (
            f"query heads {heads}, heads of keys {kv_heads}, {keys} keys, {kind} scores, "
            f"drawn as {rng.integers(10**6):06}"
        ),
        kv_heads,
        (32, group),
        args=(
            np.concatenate([one[0] for one in sets]),
            *(np.stack([one[part] for one in sets]) for part in (1, 2)),
            Out((heads, D)),
            Out(heads),
            sets[0][3],
        ),
        want=stacked(results),
        **CLOSE,
        advice=OF_GROUPS,
        budget={
            "global_load_sectors": SECTORS * (heads + 2 * kv_heads * keys),
            "global_store_bytes": 4 * heads * (D + 1),
            "shared_bytes_per_block": 12288,
            "shared_bank_conflicts": 0,
            "shared_load_requests": 200 * heads * tiles,
            "shared_store_requests": 64 * kv_heads * tiles + 4 * heads * tiles,
            "op_special": 32 * heads * (3 * tiles + 1),
            "local_bytes_per_thread": 0,
            "flops_fp64": 0,
            "most_bytes_stored_by_a_warp": 4 * (D + 1),
        },
    )


def decode_paged(rng: np.random.Generator) -> Iterator[Launch]:
    any_of = lambda low, high: int(rng.integers(low, high))  # noqa: E731
    cases = [
        ([64, 16, 128], 0, "spread"),
        ([any_of(90, 150), any_of(65, 90)], 0, "rising"),
        ([any_of(130, 200), any_of(2, 15), any_of(17, 31)], 0, "falling"),
        ([any_of(50, 60), any_of(33, 47)], 2, "large"),
        ([any_of(70, 90), any_of(40, 60), any_of(80, 99)], 0, "low"),
        ([any_of(20, 40), any_of(81, 95)], 1, "equal"),
        ([16 * any_of(2, 9) + 1, 1, 15, 16, 17], 0, "spread"),
        ([any_of(97, 127)] * 3, 5, "spread"),
        ([any_of(70, 99), any_of(130, 150), 64, any_of(65, 80)], 0, "peak"),
    ]
    for lengths, shared, kind in cases:
        yield paged_launch(rng, np.array(lengths, np.int32), shared, kind)


def paged_launch(rng: np.random.Generator, lengths: np.ndarray, shared: int, kind: str) -> Launch:
    """Requests of these lengths; the first ``shared`` pages are the same in all of them."""
    requests, used = len(lengths), [ceil(length / PAGE) for length in lengths]
    pages = sum(used) + int(rng.integers(1, 9))
    q, texts_k, texts_v, scale = drawn(rng, requests, PAGE * max(used), kind)
    k = np.full((pages, PAGE, D), 3, np.float32)  # what no token fills
    v = np.full((pages, PAGE, D), np.inf, np.float32)
    table = np.full((requests, max(used) + 2), 2**30, np.int32)
    free, results = list(rng.permutation(pages)), []
    for b, length in enumerate(lengths):
        keys = texts_k.copy()
        if kind == "peak":  # in page b, which is warp b's
            keys[[0, PAGE * b]] = keys[[PAGE * b, 0]]
        mine = rng.normal(size=(length, D)).astype(np.float32)
        mine[: PAGE * shared] = texts_v[: min(PAGE * shared, length)]
        for i in range(used[b]):
            kept = i < shared and b > 0
            table[b, i] = table[0, i] if kept else free.pop()
            tokens = range(PAGE * i, min(PAGE * (i + 1), length))
            if not kept:
                k[table[b, i], : len(tokens)] = keys[tokens]
                v[table[b, i], : len(tokens)] = mine[tokens]
        results.append(attended(q[b], keys[:length], mine, scale))
    tokens, filled = int(lengths.sum()), sum(used)
    return Launch(
        (
            f"requests of {lengths.tolist()} tokens, pages shared {shared}, {kind} scores, "
            f"drawn as {rng.integers(10**6):06}"
        ),
        requests,
        (32, WARPS),
        args=(q, k, v, table, lengths, Out((requests, D)), Out(requests), scale),
        want=stacked(results),
        **CLOSE,
        advice=OF_PAGES,
        budget={
            "global_load_sectors": 2 * SECTORS * tokens + filled + (SECTORS + 1) * WARPS * requests,
            "global_store_bytes": 4 * requests * (D + 1),
            "shared_bytes_per_block": 1024,
            "op_special": 64 * filled + 32 * WARPS * (WARPS + 1) * requests,
            "local_bytes_per_thread": 0,
            "flops_fp64": 0,
            "most_bytes_stored_by_a_warp": 4 * (D + 1),
        },
    )


def window_sinks(rng: np.random.Generator) -> Iterator[Launch]:
    any_of = lambda low, high: int(rng.integers(low, high))  # noqa: E731
    cases = [  # heads, n, window, sinks
        (1, 64, any_of(17, 30), any_of(2, 6), "spread"),
        (2, any_of(41, 55), any_of(4, 12), 4, "rising"),
        (1, any_of(33, 47), any_of(18, 32), any_of(1, 9), "falling"),
        (2, any_of(25, 31), any_of(60, 90), any_of(1, 9), "large"),
        (1, any_of(50, 63), any_of(9, 20), 0, "low"),
        (1, any_of(42, 47), any_of(2, 8), any_of(10, 32), "equal"),
        (1, any_of(65, 79), 1, 32, "spread"),
        (1, any_of(65, 79), any_of(2, 9), any_of(34, 50), "spread"),
        (1, any_of(2, 8), any_of(2, 8), 1, "spread"),
        (1, 65, 32, 1, "rising"),  # of the last block's 33 keys one is left for the last tile
        (1, any_of(57, 64), any_of(35, 50), any_of(1, 6), "peak"),
    ]
    for heads, n, window, sinks, kind in cases:
        yield window_launch(rng, heads, n, window, sinks, kind)


def window_launch(
    rng: np.random.Generator, heads: int, n: int, window: int, sinks: int, kind: str
) -> Launch:
    sets = [drawn(rng, n, n, kind) for _ in range(heads)]
    sees = [
        sorted({*range(max(0, i + 1 - window), i + 1)} | {*range(min(sinks, i + 1))})
        for i in range(n)
    ]
    results = [
        stacked([attended(q[i], k[sees[i]], v[sees[i]], scale) for i in range(n)])
        for q, k, v, scale in sets
    ]
    read = [len({j for one in sees[i : i + ROWS] for j in one}) for i in range(0, n, ROWS)]
    steps = sum(ceil(keys / TILE) for keys in read)
    return Launch(
        (
            f"heads {heads}, {n} queries, window {window}, sinks {sinks}, {kind} scores, "
            f"drawn as {rng.integers(10**6):06}"
        ),
        (ceil(n / ROWS), heads),
        (32, ROWS),
        args=(
            *(np.stack([one[part] for one in sets]) for part in range(3)),
            Out((heads, n, D)),
            Out((heads, n)),
            window,
            sinks,
            sets[0][3],
        ),
        want=stacked(results),
        **CLOSE,
        advice=OF_WINDOWS,
        budget={
            "global_load_sectors": SECTORS * heads * (n + 2 * sum(read)),
            "global_store_bytes": 4 * heads * n * (D + 1),
            "shared_bytes_per_block": 12288,
            "shared_bank_conflicts": 0,
            "shared_load_requests": 200 * ROWS * heads * steps,
            "op_special": 32 * ROWS * heads * (3 * steps + ceil(n / ROWS)),
            "local_bytes_per_thread": 0,
            "flops_fp64": 0,
            "most_bytes_stored_by_a_warp": 4 * (D + 1),
        },
    )


def rescale_rarely(rng: np.random.Generator) -> Iterator[Launch]:
    any_of = lambda low, high: int(rng.integers(low, high))  # noqa: E731
    cases = [
        (32, any_of(60, 90), 8, "random"),
        (64, any_of(40, 60), 3, "random"),
        (96, any_of(20, 40), 5, "one row of many"),
        (32, any_of(80, 99), 8, "rising"),
        (64, any_of(40, 50), 8, "falling"),
        (32, any_of(30, 50), 0, "random"),
        (64, any_of(50, 60), 4, "rising in steps of tau"),
        (32, any_of(50, 70), 100, "low"),
    ]
    for n, keys, tau, kind in cases:
        yield rarely_launch(rng, n, keys, tau, kind)


def rarely_launch(rng: np.random.Generator, n: int, keys: int, tau: int, kind: str) -> Launch:
    # whole numbers and half of them: float32 holds each score, in whatever order it is added up
    q, k = (rng.integers(-2, 3, (rows, WIDTH)).astype(np.float32) for rows in (n, keys))
    if kind in ("rising", "falling"):
        q[:, 3], k[:, 3] = 1, np.arange(keys) if kind == "rising" else -np.arange(keys)
    elif kind == "one row of many":  # in each warp, and not the first
        q[:, 5] = 0
        q[np.arange(0, n, 32) + rng.integers(1, 32, n // 32), 5] = 1
        k[:, 5] = 2 * np.arange(keys)
    elif kind == "rising in steps of tau":
        q[:], k[:] = 0, 0
        q[:, 7], k[:, 7] = 1, 2 * tau * np.arange(keys)
    elif kind == "low":
        q[:, 9], k[:, 9] = 20, -20
    v = rng.normal(size=(keys, WIDTH)).astype(np.float32)
    scale, s = np.float32(0.5), 0.5 * (q.astype(float) @ k.T.astype(float))
    w = np.exp2(s - s.max(axis=1)[:, None])
    o = (w / w.sum(axis=1)[:, None]) @ v.astype(float)
    times = [corrections(s[i : i + 32].tolist(), tau) for i in range(0, n, 32)]
    return Launch(
        f"{n} queries, {keys} keys, tau {tau}, {kind} scores, drawn as {rng.integers(10**6):06}",
        n // 32,
        32,
        args=(q, k, v, Out((n, WIDTH)), Out(n // 32, "int32"), scale, np.float32(tau)),
        want=(o.astype(np.float32), np.array(times, np.int32)),
        rtol=1e-3,
        atol=1e-4,
        advice=OF_CORRECTIONS,
        budget={
            "op_special": n * keys + 32 * sum(times),
            "flops_fp32": n * keys * (4 * WIDTH + 8)
            + 32 * sum(times) * (WIDTH + 4)
            + 2 * n * WIDTH,
            "flops_fp64": 0,
            "global_load_sectors": 2 * WIDTH * (n + keys * n // 32),
            "global_store_bytes": 4 * n * WIDTH + 4 * n // 32,
            "local_bytes_per_thread": 3 * 4 * WIDTH,
            "shared_bytes_per_block": 0,
            "most_bytes_stored_by_a_warp": 128 * WIDTH + 4,
        },
    )


def corrections(scores: list[list[float]], tau: float) -> int:
    """Return how often a warp with these rows of scores corrects."""
    kept, times = [-math.inf] * len(scores), 0
    for column in zip(*scores, strict=True):
        if any(score - one > tau for score, one in zip(column, kept, strict=True)):
            kept, times = [*map(max, column, kept)], times + 1
    return times


# --- 5: powers ---

WITHOUT_THE_UNIT = {
    "op_special": "without the unit a power is an addition to the bits of an exponent, "
    "and a polynomial of the fraction"
}


def powers(rng: np.random.Generator) -> Iterator[Launch]:
    n = int(rng.integers(200, 380))
    yield _powers(f"{n} scores", rng.uniform(-25, 0, n))
    yield _powers("all exponents", rng.uniform(-126, 0, 513))
    yield _powers("small ones", -rng.uniform(0, 1, 200) * 10.0 ** rng.integers(-8, 0, 200))
    whole = -np.arange(rng.integers(90, 127))
    yield _powers(f"{len(whole)} whole numbers", whole)
    above = np.nextafter(whole[1:].astype(np.float32), np.float32(0))
    yield _powers(f"just above {len(whole) - 1} of them", above)
    below = np.nextafter(-np.arange(120, dtype=np.float32), np.float32(-200))
    yield _powers("just below whole numbers", np.append(below, rng.uniform(-9, 0, 20)))
    yield _powers(
        "far below", np.append(-np.geomspace(126, 3e38, 150), rng.uniform(-300, -120, 41))
    )
    masked = np.where(rng.random(222) < 0.3, -np.inf, rng.uniform(-30, 0, 222))
    yield _powers("some masked", masked)


def _powers(label: str, numbers: np.ndarray) -> Launch:
    x = numbers.astype(np.float32)
    n = x.size
    warps = (n + 31) // 32
    return Launch(
        f"{label}, the last of which is {x[-1]}",
        (n + 127) // 128,
        128,
        (x, Out(n)),
        ((2.0 ** x.astype(np.float64)).astype(np.float32),),
        rtol=1e-4,
        atol=2.0**-125,
        advice=WITHOUT_THE_UNIT,
        budget={
            "global_load_bytes": 4 * n,
            "global_load_requests": warps,
            "op_special": 0,
            "flops_fp32": 9 * n,
            "flops_fp64": 0,
            "thread_instructions": 32 * n,
            "op_communication": 0,
            "shared_load_requests": 0,
            "global_store_bytes": 4 * n,
            "global_store_requests": warps,
            "most_bytes_stored_by_a_warp": 128,
        },
    )


# --- 6: two groups ---


def two_groups(rng: np.random.Generator) -> Iterator[Launch]:
    steps = int(rng.choice([4, 6, 8, 9]))
    for n, m in ((128, 32), (256, 16), (128, 48), (384, 32), (128, 16 * steps)):
        q, k = (rng.uniform(-1, 1, (rows, 32)).astype(np.float16) for rows in (n, m))
        k = (k * np.linspace(0.5, 2, m)[:, None]).astype(np.float16)  # so that maxima grow
        v = rng.uniform(-1, 1, (32, m)).astype(np.float16)
        yield _two_groups(n, m, (q, k, v))


def _two_groups(n: int, m: int, given: tuple[np.ndarray, ...]) -> Launch:
    q, k, v = given
    blocks, steps = n // 128, m // 16
    powers_of_scores = 2.0 ** np.einsum("nd,md->nm", q.astype(np.float64), k.astype(np.float64))
    outputs = np.einsum("nm,dm->nd", powers_of_scores, v.astype(np.float64))
    return Launch(
        f"{n} queries, {m} keys",
        blocks,
        288,
        (
            hopper.tensor_map(q, (64, 32), 64),
            hopper.tensor_map(k, (16, 32), 64),
            hopper.tensor_map(v, (32, 16), 32),
            Out((n, 32)),
            steps,
        ),
        ((outputs / powers_of_scores.sum(axis=1, keepdims=True)).astype(np.float32),),
        rtol=1e-3,
        atol=1e-3,
        budget={
            "tma_load_bytes": (2048 * steps + 8192) * blocks,
            "global_load_requests": 0,
            "global_load_bytes": 0,
            "shared_load_requests": 0,
            "shared_store_requests": 64 * steps * blocks,
            "shared_bytes_per_block": 17408,
            "barriers": 9 * blocks,
            "op_communication": 1024 * (steps + 1) * blocks,
            "op_special": 2560 * steps * blocks,
            "flops_tensor": 262144 * steps * blocks,
            "flops_fp64": 0,
            "global_store_bytes": 16384 * blocks,
            "global_store_requests": 128 * blocks,
            "most_bytes_stored_by_a_warp": 2048,
        },
    )


# --- 7: eight bits ---

#: the numbers of E4M3 that are not below 0, in order: eight to each exponent
E4M3 = np.array([c * 2.0**-9 if c < 8 else (8 + c % 8) * 2.0 ** (c // 8 - 10) for c in range(127)])


def attend8(rng: np.random.Generator) -> Iterator[Call]:
    for n, m, d in ((32, 64, 16), (64, 32, 32), (96, 64, 16), (32, 96, 64)):
        q, k, v = (rng.normal(size=(rows, d)) for rows in (n, m, m))
        for x in (q, k, v):
            x *= np.repeat(2.0 ** rng.uniform(-1.5, 1, len(x) // 32), 32)[:, None]
        given = q, k, v, rng.choice([-1.0, 1.0], d)
        yield Call(f"like {q[0, 0]:.3f}, d = {d}", given, _eights(*given), atol=1e-3)
    for n, m in ((32, 32), (96, 64), (64, 96)):
        q, k, v = rng.normal(size=(n, 64)), rng.normal(size=(m, 64)), rng.uniform(-1, 1, (m, 64))
        element = int(rng.integers(64))
        for x in (q, k):
            x[:, element] = rng.uniform(8, 12, len(x)) * rng.choice([-1, 1], len(x))
        want = _attention(q @ k.T / 8, v)
        given = q, k, v, rng.choice([-1.0, 1.0], 64)
        yield Call(f"an outlier at {element} of {n} by {m}", given, want, atol=0.6)


def _attention(scores: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    weights = np.exp(scores - scores.max(axis=1)[:, None])
    return scores, weights @ v / weights.sum(axis=1)[:, None]


def _eights(q: np.ndarray, k: np.ndarray, v: np.ndarray, signs: np.ndarray):
    numbers = np.arange(len(signs))
    ones = np.array([[(i & j).bit_count() % 2 for j in numbers.tolist()] for i in numbers.tolist()])
    turn = np.diag(signs) @ (1 - 2 * ones) / np.sqrt(len(signs))
    scores = _near(q @ turn) @ _near(k @ turn).T / np.sqrt(len(signs))
    weights = np.exp(scores - scores.max(axis=1)[:, None])
    return scores, _near(weights) @ _near(v) / weights.sum(axis=1)[:, None]


def _near(x: np.ndarray) -> np.ndarray:
    """Return for each number the nearest that E4M3 has for its block's scale."""
    out = np.empty_like(x)
    for first in range(0, len(x), 32):
        block = x[first : first + 32]
        table = E4M3 * np.abs(block).max() / 448
        at = np.searchsorted((table[:-1] + table[1:]) / 2, np.abs(block))
        out[first : first + 32] = np.copysign(table[at], block)
    return out

"""Hidden tests of lab 11: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Rows ascend, so that the maximum changes at every step; lie in the
hundreds, where exp overflows or vanishes; span hundreds within one row; have one element far above
the others; have equal values, the maximum among them; are masked in front, in part and in full; are
shorter than a warp and no multiple of one. Every array is fresh."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from math import ceil

import numpy as np

from warpwise.labs import Call, Launch, Out

IGNORED = -100
LONGEST = 256  # elements of a row in softmax_once
KINDS = ("random", "ascending", "descending", "high", "low", "wide", "masked", "peaks", "equal")
PEAKS = 0, 127, 128, -1  # where a row of that kind has its maximum, if it is as long


def drawn(rng: np.random.Generator, rows: int, n: int, kind: str) -> np.ndarray:
    """Draw scores of one kind, float32 of shape (rows, n).

    Of several masked rows one is masked in full, in the middle or at an end."""
    x = rng.normal(0, 3, (rows, n))
    if kind in ("ascending", "descending"):
        x = np.linspace(-1, 1, n) * rng.uniform(4, 12, (rows, 1)) * (
            1 if kind == "ascending" else -1
        ) + rng.normal(0, 1, (rows, 1))
    elif kind in ("high", "low"):
        x += rng.uniform(150, 700, (rows, 1)) * (1 if kind == "high" else -1)
    elif kind == "wide":
        x = rng.uniform(-400, 400, (rows, n))
    elif kind == "peaks":
        for row, place in zip(x, itertools.cycle(PEAKS), strict=False):
            row[min(place, n - 1)] += rng.uniform(150, 700)
    elif kind == "equal":  # two numbers, and the larger one at least twice
        larger = rng.random((rows, n)) < 0.5
        larger[:, -2:] = True
        low = rng.normal(0, 3, (rows, 1))
        x = np.where(larger, low + rng.uniform(0.5, 2, (rows, 1)), low)
    elif kind == "masked":
        x[rng.random((rows, n)) < 0.5] = -np.inf
        x[:, : n // 3] = -np.inf
        x[rng.integers(rows)] = -np.inf
    return x.astype(np.float32)


def state(row: np.ndarray) -> tuple[float, float]:
    if not row.size or row.max() == -np.inf:
        return -math.inf, 0.0
    return float(row.max()), math.fsum(np.exp(row - row.max()))


def softmax(x: np.ndarray) -> np.ndarray:
    states = [state(row.astype(np.float64)) for row in x]
    rows = [
        np.exp(row.astype(np.float64) - m) / d if d else np.zeros(row.size)
        for row, (m, d) in zip(x, states, strict=True)
    ]
    return np.array(rows, np.float32)


def states(rows: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    m, d = np.array([state(row) for row in rows]).reshape(-1, 2).T
    return m, d


def running_state(rng: np.random.Generator) -> Iterator[Call]:
    rows = [
        (f"{kind}, {n} values", drawn(rng, 1, n, kind)[0].astype(np.float64))
        for kind in KINDS
        for n in rng.integers(3, 90, 2)
    ]
    part = rng.uniform(-1000, 1000, int(rng.integers(20, 60)))
    rows += [
        (f"from -1000 to 1000, {part.size} values", part),
        ("no values", part[:0]),
        ("one value", part[:1]),
    ]
    rows += [
        ("one masked value", np.full(1, -np.inf)),
        (f"{part.size} masked values", np.full(part.size, -np.inf)),
    ]
    mixed = np.concatenate([np.full(3, -np.inf), part, np.full(2, -np.inf), part + 1])
    for label, row in [*rows, ("masked in front and between", mixed)]:
        yield Call(label, (row,), want=states([row[:j] for j in range(1, row.size + 1)]), rtol=1e-9)
    steps = rng.uniform(0.01, 0.03) * np.arange(20_000 + int(rng.integers(2000)))
    climb = rng.uniform(-500, 300) + steps  # so long that a loop for each element is too slow
    want = climb, np.cumsum(np.exp(-steps))
    yield Call(f"ascending, {climb.size} values", (climb,), want=want, rtol=1e-9)


def merge(rng: np.random.Generator) -> Iterator[Call]:
    for kind in (*KINDS, "masked"):
        rows, n = (int(size) for size in rng.integers((4, 6), (40, 30)))
        x = (
            rng.uniform(-1000, 1000, (rows, n))
            if kind == "wide"
            else drawn(rng, rows, n, kind).astype(np.float64)
        )
        cuts = rng.integers(0, n + 1, rows)
        cuts[:2] = 0, n  # one part is empty
        first = states([row[:cut] for row, cut in zip(x, cuts, strict=True)])
        second = states([row[cut:] for row, cut in zip(x, cuts, strict=True)])
        yield Call(
            f"{rows} rows of {n}, {kind}", (*first, *second), want=states(list(x)), rtol=1e-9
        )
    m, count = rng.uniform(-1000, 1000, 9), int(rng.integers(1, 9))
    d, other = rng.uniform(1, 9, (2, 9))
    yield Call(
        f"equal maxima from {m[0]:.3f}", (m, d, m.copy(), other), want=(m, d + other), rtol=1e-9
    )
    nothing = np.full(count, -np.inf), np.zeros(count)
    yield Call(f"{count} times nothing with nothing", (*nothing, *nothing), want=nothing, rtol=1e-9)


def shapes(rng: np.random.Generator, longest: int) -> Iterator[tuple[int, int, str]]:
    """Draw rows, their length and a kind: 1, less than a warp, whole warps, and any length.

    The longest give each of 128 threads three elements, if ``longest`` is 384 or more."""
    yield int(rng.integers(2, 7)), 1, "random"
    yield 5, int(rng.integers(2, 31)), "masked"
    yield int(rng.integers(2, 7)), int(rng.integers(2, 31)), "low"
    yield int(rng.integers(2, 7)), 32 * int(rng.integers(2, 5)), "high"
    for kind in KINDS:
        yield int(rng.integers(3, 11)), int(rng.integers(33, longest)), kind
    for kind in ("wide", "random", "ascending", "peaks", "equal"):
        yield 4, longest, kind


def pieces_budget(rows: int, n: int, loads: int) -> dict[str, float]:
    pieces, sectors = ceil(n / 32), 4.1 if n % 8 == 0 else 5.1
    return {
        "global_load_requests": loads * rows * pieces,
        "global_store_requests": rows * pieces,
        "sectors_per_request_load": sectors,
        "sectors_per_request_store": sectors,
        "op_fp64": 0,
    }


def softmax_twice(rng: np.random.Generator) -> Iterator[Launch]:
    for rows, n, kind in shapes(rng, int(rng.integers(400, 500))):
        x = drawn(rng, rows, n, kind)
        yield Launch(
            f"{rows} x {n}, {kind}",
            rows,
            128,
            args=(x, Out(x.shape)),
            want=(softmax(x),),
            rtol=3e-5,
            atol=1e-9,
            budget=pieces_budget(rows, n, 2) | {"most_bytes_stored_by_a_warp": 256 * ceil(n / 128)},
        )


def softmax_once(rng: np.random.Generator) -> Iterator[Launch]:
    for rows, n, kind in shapes(rng, LONGEST):
        x = drawn(rng, rows, n, kind)
        yield Launch(
            f"{rows} x {n}, {kind}",
            ceil(rows / 4),
            128,
            args=(x, Out(x.shape)),
            want=(softmax(x),),
            rtol=3e-5,
            atol=1e-9,
            budget=pieces_budget(rows, n, 1)
            | {"shared_store_requests": 0, "most_bytes_stored_by_a_warp": 6 * n},
        )


def labelled(rng: np.random.Generator, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw labels that name no masked word; return them with log-sum-exps and losses.

    The first and the last word are among them, where some row has them."""
    labels = np.array(
        [
            rng.choice(words) if (words := np.flatnonzero(row > -np.inf)).size else IGNORED
            for row in x
        ],
        np.int32,
    )
    labels[rng.random(len(x)) < 0.2] = IGNORED
    for word, which in ((0, slice(1)), (x.shape[1] - 1, slice(-1, None))):
        labels[np.flatnonzero(x[:, word] > -np.inf)[which]] = word
    states = [state(row.astype(np.float64)) for row in x]
    lse = np.array([m + math.log(d) if d else -math.inf for m, d in states])
    loss = [
        0 if label == IGNORED else top - float(row[label])
        for row, label, top in zip(x, labels, lse, strict=True)
    ]
    return labels, lse.astype(np.float32), np.array(loss, np.float32)


def cross_entropy(rng: np.random.Generator) -> Iterator[Launch]:
    for rows, n, kind in shapes(rng, int(rng.integers(300, 500))):
        x = drawn(rng, rows, n, kind)
        labels, *want = labelled(rng, x)
        yield Launch(
            f"{rows} x {n}, {kind}",
            ceil(rows / 4),
            128,
            args=(x, labels, Out(rows), Out(rows)),
            want=tuple(want),
            rtol=1e-5,
            atol=2e-4,
            budget={
                "global_load_requests": rows * (ceil(n / 32) + 2),
                "global_store_requests": 2 * rows,
                "global_store_bytes": 8 * rows,
                "sectors_per_request_load": 4.1 if n % 8 == 0 else 5.1,
                "shared_store_requests": 0,
                "local_bytes_per_thread": 32,
                "op_fp64": 0,
                "most_bytes_stored_by_a_warp": 12,
            },
        )

"""Hidden tests of lab 2: lengths, conditions and rows other than its checks', for each seed.

Sizes below one warp, whole warps, ragged ends and several blocks are always among them. Budgets are
those of the lab."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import numpy as np

from warpwise.labs import Call, Launch, Out
from warpwise.labs.advice import GIVEN_ORDER


def vector(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.uniform(0.25, 4, n).astype(np.float32)


def efficiency(taken: np.ndarray, n_a: int, n_b: int) -> float:
    """Return active lanes over issued lanes in the two sides of a branch."""
    warps = ceil(taken.size / 32)
    first, second = np.zeros((2, 32 * warps), bool)
    first[: taken.size], second[: taken.size] = taken, ~taken
    sides = ((first.reshape(warps, 32), n_a), (second.reshape(warps, 32), n_b))
    active = sum(n * lanes.sum() for lanes, n in sides)
    issued = sum(n * lanes.any(axis=1).sum() for lanes, n in sides)
    return float(active / (32 * issued))


def branch_efficiency(rng: np.random.Generator) -> Iterator[Call]:
    i = np.arange(1024)
    k, m = int(rng.integers(1, 31)), int(rng.integers(2, 9))
    fixed = [
        (f"the first {k} of a warp", i[:32] < k),
        (f"the first {k} of a block", i < k),
        (f"one in {m}", i[: 32 * m + 5] % m == 0),
        ("every other warp", i[:160] // 32 % 2 == 1),
        ("one thread", i[:1] == 0),
        (f"all but one of {m} warps and one more", i[: 32 * m + 1] % 32 > 0),
        ("all of two warps and a half", i[:80] >= 0),
        (f"the last of each of {m} warps", i[: 32 * m] % 32 == 31),
    ]
    drawn = [
        (f"{share:.0%} at random", rng.random(int(rng.integers(20, 1024))) < share)
        for share in (0.01, 0.1, 0.5, 0.98)
    ]
    for label, taken in fixed + drawn:
        n_a, n_b = (int(n) for n in rng.integers(1, 20, 2))
        args = (taken, n_a, n_b)
        yield Call(
            f"{label}, {taken.size} threads, n_a {n_a}, n_b {n_b}",
            args,
            want=efficiency(*args),
            rtol=1e-9,
        )


def filtered(x: np.ndarray, a: np.float32, b: np.float32) -> np.ndarray:
    left, right = x.copy(), x.copy()
    for _ in range(8):
        left -= a * left * left
    for _ in range(6):
        right /= b + right
    return np.where(np.arange(x.size) % 2 == 0, left, right)


def stereo(rng: np.random.Generator) -> Iterator[Launch]:
    lengths = [
        256 * int(rng.integers(3, 9)),
        2,
        1,
        2 * int(rng.integers(520, 1500)) + 1,
        2 * int(rng.integers(5, 60)) + 1,
    ]
    for n in (*lengths, int(rng.integers(1000, 3000)), int(rng.integers(129, 900))):
        x, a, b = (
            vector(rng, n) / 4,
            np.float32(rng.uniform(0.05, 0.2)),
            np.float32(rng.uniform(0.4, 0.9)),
        )
        yield Launch(
            f"{n} elements",
            ceil(n / 128),
            128,
            args=(x, Out(n), a, b),
            want=(filtered(x, a, b),),
            rtol=1e-5,
            budget={
                "divergent_branches": 0 if n % 256 == 0 else 4,
                "flops_fp32": 24 * ((n + 1) // 2) + 12 * (n // 2),
                "global_load_requests": ceil(n / 32) + 4,
                "global_store_requests": ceil(n / 32) + 4,
                "warp_efficiency": 0.85 if n >= 1000 else 0,
                "warp_instructions": 2 * n + 200,
                "most_bytes_stored_by_a_warp": 512,
            },
        )


def settle(rng: np.random.Generator) -> Iterator[Launch]:
    lengths = (
        32 * int(rng.integers(20, 60)),
        *(int(n) for n in rng.integers(257, 2000, 3)),
        int(rng.integers(2, 31)),
        1,
    )
    for n, least in zip(lengths, (20, 20, 30, 1, 2, 1), strict=True):
        steps = least + int(rng.integers(0, 15))
        up, down = (np.float32(share) for share in rng.permutation([0.02, 0.2]))
        x = rng.standard_normal(n).clip(-4, 4).astype(np.float32)
        v, rate = x.copy(), np.where(x < 0, -up, down)
        for _ in range(steps):
            v -= rate * v * v
        yield Launch(
            f"{n} elements, rates {up:g} and {down:g}, rounds: {steps}",
            ceil(n / 256),
            256,
            args=(x, Out(n), up, down, steps),
            want=(v,),
            rtol=1e-5,
            advice={"warp_instructions": GIVEN_ORDER},
            budget={
                "flops_fp32": (3 * steps + 4) * n,
                "flops_fp64": 0,
                "global_load_requests": 3 * ceil(n / 32),
                "global_store_requests": ceil(n / 32),
                "warp_instructions": 8 * ceil(n / 256) * (6 * steps + 20),
                "most_bytes_stored_by_a_warp": 256,
            },
        )


def warp_sums(rng: np.random.Generator) -> Iterator[Launch]:
    for n in (
        128 * int(rng.integers(2, 9)),
        int(rng.integers(2, 31)),
        32,
        *(int(n) for n in rng.integers(129, 2000, 3)),
        1,
    ):
        x = vector(rng, n)
        want = np.add.reduceat(x.astype(np.float64), np.arange(0, n, 32)).astype(np.float32)
        yield Launch(
            f"{n} elements",
            ceil(n / 128),
            128,
            args=(x, Out(want.size)),
            want=(want,),
            rtol=1e-5,
            budget={
                "global_load_requests": want.size,
                "global_store_requests": want.size,
                "op_fp64": 0,
                "shared_load_requests": 0,
                "atomics": 0,
                "warp_instructions": 60 * 4 * ceil(n / 128),
                "most_bytes_stored_by_a_warp": 8,
            },
        )


def row_sums(rng: np.random.Generator) -> Iterator[Launch]:
    rows = int(rng.integers(50, 120))
    skewed = np.where(
        np.arange(rows) % 13 == int(rng.integers(13)),
        rng.integers(300, 900),
        rng.integers(0, 70, rows),
    )
    shapes = {
        "a few long rows": skewed,
        "long rows": rng.integers(100, 400, int(rng.integers(5, 30))),
        "short rows": rng.integers(0, 7, 61),
        "whole pieces": 32 * rng.integers(0, 5, 22),
        "no values": np.zeros(3, int),
        "one value": np.array([1]),
        "one row": rng.integers(33, 700, 1),
    }
    for label, lengths in shapes.items():
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        # One more than the rows have, as in tables with room to grow.
        values = vector(rng, int(offsets[-1]) + 1)
        before = np.concatenate([[0], np.cumsum(values, dtype=np.float64)])
        want = (before[offsets[1:]] - before[offsets[:-1]]).astype(np.float32)
        pieces = sum(ceil(length / 32) for length in lengths)
        yield Launch(
            f"{label}: {want.size} rows, {offsets[-1]} values",
            ceil(want.size / 4),
            128,
            args=(values, offsets, Out(want.size)),
            want=(want,),
            rtol=1e-5,
            budget={
                "global_load_requests": pieces + 2 * want.size,
                "global_load_sectors": 5 * pieces + 2 * want.size,
                "global_store_requests": want.size,
                "op_fp64": 0,
                "shared_load_requests": 0,
                "atomics": 0,
                "warp_efficiency": 0.6 if lengths.mean() >= 40 else 0,
                "warp_instructions": 100 * want.size + 10 * pieces,
                "most_bytes_stored_by_a_warp": 8,
            },
        )

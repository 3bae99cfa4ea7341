"""Hidden tests of lab 4: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Counts of exercise 1 come from closed forms here, where the lab has
traces; each array of the others is fresh."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import numpy as np

from warpwise.labs import Call, Launch, Out

IMPOSSIBLE, PLAUSIBLE, ROOM_FOR_COPIES, ANOTHER_CAUSE = range(4)
GOOD_ENOUGH = 4


def uniform(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.uniform(-1, 1, shape).astype(np.float32)


def count_work(rng: np.random.Generator) -> Iterator[Call]:
    drawn = [
        (int(n), int(k))
        for n, k in zip(rng.integers(2, 5000, 6), rng.integers(1, 300, 6), strict=True)
    ]
    for n, k in [(1, 0), (1, 1), (2, 9), (64, 0), (100_000, 4), *drawn]:
        rows = [
            (n + n, 4 * (n + n) + 4 * n),
            (2 * n + n, 4 * (n + 2) + 4 * n),
            (n * (2 * k + k), 4 * (k + 1 + n) + 4 * n),
            (n * n, 4 * (n + n) + 4 * n * n),
            (n * (n + n), 4 * (n * n + n) + 4 * n),
            (n * n * (n + n), 4 * (2 * n * n) + 4 * n * n),
        ]
        yield Call(f"n = {n}, k = {k}", (n, k), want=np.array(rows, dtype=np.int64))


def devices(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw peaks in TFLOP/s and bandwidths in GB/s, no two alike."""
    return rng.uniform(5, 120, count), rng.uniform(200, 6000, count)


def kernels(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw FLOP and bytes, from far left of any knee to far right; the first is a copy."""
    moved = rng.uniform(1e6, 1e10, count)
    flop = moved * 10 ** rng.uniform(-2, 4, count)
    flop[0] = 0
    return flop, moved


def judge_kernels(rng: np.random.Generator) -> Iterator[Call]:
    for count in (1, 1, 2, 3, 20, int(rng.integers(4, 60))):
        (peak, *_), (rate, *_) = devices(rng, 1)
        flop, moved = kernels(rng, count)
        if count == 1:
            flop = moved * rng.uniform(0.01, 1000, 1)
        of_bytes, of_flop = moved / (rate * 1e9), flop / (peak * 1e12)
        least = np.where(of_bytes > of_flop, of_bytes, of_flop)
        percent = rng.uniform(2, 99, count)
        seconds = least / (percent / 100)
        height = np.where(of_bytes > of_flop, flop / of_bytes / 1e12, peak)
        want = np.stack([height, 100 * of_flop / seconds, percent], axis=1)
        args = (flop, moved, 1e3 * seconds, float(peak), float(rate))
        yield Call(
            f"{count} kernels, peak {peak:.1f}, {rate:.0f} GB/s", args, want, rtol=1e-9, atol=1e-12
        )


def fastest(rng: np.random.Generator) -> Iterator[Call]:
    for number, (count, choices) in enumerate([(1, 1), (1, 6), (12, 2), (30, 5), (8, 8), (40, 11)]):
        peaks, rates = devices(rng, choices)
        flop, moved = kernels(rng, count)
        if number == 4:  # each device twice
            peaks[4:], rates[4:] = peaks[:4], rates[:4]
        if number == 5:  # one peak for all: right of their knees, the first wins
            peaks[:] = peaks[0]
        want = []
        for f, b in zip(flop, moved, strict=True):
            times = [max(f / (1e12 * p), b / (1e9 * r)) for p, r in zip(peaks, rates, strict=True)]
            want.append(times.index(min(times)))
        label = f"{count} kernels, {choices} devices, the first of {peaks[0]:.2f} TFLOP/s"
        yield Call(label, (flop, moved, peaks, rates), np.array(want))


def polynomial(rng: np.random.Generator) -> Iterator[Launch]:
    sizes = [1, 31, 33, 128, 129, 2048, *(int(n) for n in rng.integers(130, 3000, 4))]
    degrees = [0, 1, 2, 6, 3, 24, *(int(k) for k in rng.integers(4, 20, 4))]
    for n, k in zip(sizes, degrees, strict=True):
        c, x, blocks = uniform(rng, k + 1), uniform(rng, n), ceil(n / 128)
        want = sum(
            c[j].astype(np.float64) * x.astype(np.float64) ** j for j in range(k + 1)
        ) + np.zeros(n)
        yield Launch(
            f"{n} elements, degree {k}",
            blocks,
            128,
            args=(c, x, Out(n)),
            want=(want.astype(np.float32),),
            budget={
                "flops_fp32": 2 * (k + 1) * n,
                "op_fp32": 2 * (k + 1) * n,
                "flops_fp64": 0,
                "global_bytes_moved": 32 * (k + 9) * 4 * blocks,
                "most_bytes_stored_by_a_warp": 256,
            },
            atol=1e-5,
        )


def four_products(rng: np.random.Generator) -> Iterator[Launch]:
    drawn = [
        (int(n), int(k))
        for n, k in zip(rng.integers(130, 700, 4), rng.integers(2, 90, 4), strict=True)
    ]
    for n, k in [(1, 1), (5, 60), (32, 8), (128, 31), *drawn]:
        at, xs, blocks = uniform(rng, k, n), uniform(rng, k, 4), ceil(n / 128)
        want = np.einsum("jv,ji->vi", xs.astype(np.float64), at.astype(np.float64)).astype(
            np.float32
        )
        yield Launch(
            f"{n} rows, {k} columns",
            blocks,
            128,
            args=(at, xs, Out((4, n))),
            want=(want,),
            budget={
                "global_bytes_moved": 32 * (9 * k + 20) * 4 * blocks,
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 1024,
            },
            atol=1e-4,
        )


def on_the_borders() -> Iterator[Call]:
    """Yield times that are exactly those of the table, in whatever units and order they are worked
    out."""
    for peak, rate, link, least, copies in (
        (2.0, 24.0, 3.0, 1.0, 4.0),
        (8.0, 8.0, 0.75, 1.5, 16.0),
    ):
        for ms in (least, GOOD_ENOUGH * least, least + copies):
            verdict = ROOM_FOR_COPIES if ms > GOOD_ENOUGH * least else PLAUSIBLE
            want = np.array([2 / ms, 100 * least / ms, 100 * copies / ms, verdict])
            yield Call(
                f"n = 1000, exactly {ms} ms, peak {peak}",
                (1000, ms, peak, rate, link),
                want,
                rtol=1e-9,
            )


def examine(rng: np.random.Generator) -> Iterator[Call]:
    """Draw times on every border and on both its sides, left and right of the knee.

    Some links take much longer than the kernel."""
    yield from on_the_borders()
    sizes = (
        1,
        16,
        *(int(n) for n in rng.integers(20, 400, 2)),
        *(int(n) for n in rng.integers(1000, 9000, 3)),
    )
    for number, n in enumerate(sizes):
        (peak, *_), (rate, *_) = devices(rng, 1)
        matrices = 12 * n * n
        least = max(2 * n**3 / (peak * 1e9), matrices / (rate * 1e6))
        link = (
            float(matrices / (least * 1e6 * rng.uniform(1.2, 2)))
            if number % 2
            else float(rng.uniform(3, 60))
        )
        copies = matrices / (link * 1e6)
        both = least + copies
        beside = copies + 0.5 * least  # enough for the copies, and not for the kernel beside them
        for ms in (
            0.5 * least,
            0.97 * least,
            1.03 * least,
            3.9 * least,
            4.1 * least,
            0.97 * both,
            beside,
            1.03 * both,
            30 * both,
        ):
            if ms < least:
                verdict = IMPOSSIBLE
            elif ms <= GOOD_ENOUGH * least:
                verdict = PLAUSIBLE
            else:
                verdict = ROOM_FOR_COPIES if ms >= least + copies else ANOTHER_CAUSE
            want = np.array([2 * n**3 / (ms * 1e9), 100 * least / ms, 100 * copies / ms, verdict])
            yield Call(
                f"n = {n}, {ms:.6g} ms, peak {peak:.1f}",
                (n, float(ms), float(peak), float(rate), link),
                want,
                rtol=1e-9,
            )

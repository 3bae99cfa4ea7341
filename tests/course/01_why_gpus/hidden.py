"""Hidden tests of lab 1: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Sizes include one element, fewer than a block, whole blocks, and one
more and one less than that. Every array is fresh."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warpwise.labs import Call, Launch, Out

SIZES = (32, 64, 128, 256, 512, 1024)


def up(n: int, by: int) -> int:
    """Return the quotient, rounded up."""
    return -(-n // by)


def floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape).astype(np.float32)


def lengths(rng: np.random.Generator, threads: int) -> Iterator[int]:
    """Draw lengths: 1, less than a block, whole blocks and their neighbours, and two more."""
    whole = threads * int(rng.integers(2, 7))
    yield from (1, int(rng.integers(2, threads)), whole - 1, whole, whole + 1)
    yield from (int(n) for n in rng.integers(2 * threads, 2 * threads + 900, 2))


def square(rng: np.random.Generator) -> Iterator[Launch]:
    for threads in (32, 96, 256):
        for n in lengths(rng, threads):
            x = floats(rng, n)
            yield Launch(
                f"{n} elements, blocks of {threads}",
                up(n, threads),
                threads,
                args=(x, Out(n)),
                want=(x * x,),
                budget={
                    "global_load_requests": 2 * up(n, 32),
                    "global_store_requests": up(n, 32),
                    "most_bytes_stored_by_a_warp": 256,
                },
            )


def place(rng: np.random.Generator) -> Iterator[Call]:
    for threads in (1, 32, 100, int(rng.integers(3, 300)), 1024):
        for n in lengths(rng, max(threads, 3)):
            for i in {0, n - 1, min(threads, n - 1), int(rng.integers(n))}:
                block, thread = divmod(i, threads)
                label = f"{n} elements, blocks of {threads}, element {i}"
                yield Call(
                    label,
                    (n, threads, i),
                    want=np.array([up(n, threads), -n % threads, block, thread]),
                )


def add(rng: np.random.Generator) -> Iterator[Launch]:
    drawn = [tuple(int(n) for n in rng.integers(65, 700, 2)) for _ in range(4)]
    long, short = (int(n) for n in (rng.integers(400, 600), rng.integers(2, 60)))
    for n, m in [(1, 1), (64, 64), (long, short), (short, long), (long, long), *drawn]:
        a, b = floats(rng, n), floats(rng, m)
        least = min(n, m)
        yield Launch(
            f"{n} and {m} elements",
            up(max(n, m), 64),
            64,
            args=(a, b, Out(least)),
            want=(a[:least] + b[:least],),
            budget={
                "global_load_requests": up(n, 32) + up(m, 32),
                "global_store_requests": up(least, 32),
                "most_bytes_stored_by_a_warp": 256,
            },
        )


def centre(rng: np.random.Generator) -> Iterator[Launch]:
    down, along = (8 * int(rng.integers(2, 6)), 16 * int(rng.integers(2, 6)))
    drawn = [tuple(int(n) for n in rng.integers(1, 90, 2)) for _ in range(4)]
    for rows, cols in [(1, 1), (1, 70), (70, 1), (down, along), (down + 1, along + 1), *drawn]:
        x, mean = floats(rng, rows, cols), floats(rng, cols)
        blocks = up(cols, 16) * up(rows, 8)
        yield Launch(
            f"{rows} x {cols}",
            (up(cols, 16), up(rows, 8)),
            (16, 8),
            args=(x, mean, Out(x.shape)),
            want=(x - mean,),
            budget={
                "global_load_requests": 8 * blocks,
                "global_store_requests": 4 * blocks,
                "most_bytes_stored_by_a_warp": 256,
            },
        )


def choose_launch(rng: np.random.Generator) -> Iterator[Call]:
    for sms in (1, 2, 40, 108, 148, int(rng.integers(3, 200))):
        edges = [threads * (sms - 1) + shift for threads in SIZES for shift in (0, 1)]
        drawn = [int(n) for n in np.exp(rng.uniform(0, np.log(3e6), 6))]
        for n in sorted({max(1, n) for n in edges + drawn}):
            fitting = [threads for threads in SIZES if up(n, threads) >= sms] or [32]
            yield Call(
                f"{n:,} elements, {sms} SMs",
                (n, sms),
                want=np.array([up(n, fitting[-1]), fitting[-1]]),
            )


def reverse(rng: np.random.Generator) -> Iterator[Launch]:
    for blocks, threads in ((1, 32), (1, 64), (3, 32), (2, 64), (4, 64)):
        every = blocks * threads
        for n in (
            1,
            every,
            every + 1,
            int(rng.integers(2, every)),
            int(rng.integers(2 * every, 1500)),
        ):
            x = floats(rng, n)
            yield Launch(
                f"{n} elements, {blocks} x {threads} threads",
                blocks,
                threads,
                args=(x, Out(n)),
                want=(x[::-1].copy(),),
                budget={
                    "global_load_requests": up(n, 32) + 8,
                    "global_store_requests": up(n, 32) + 8,
                    "global_load_sectors": 5 * (up(n, 32) + 8),
                    "global_store_sectors": 5 * (up(n, 32) + 8),
                    "most_bytes_stored_by_a_warp": 256 * up(n, blocks * threads),
                },
            )

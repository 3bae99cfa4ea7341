"""Hidden tests of lab 3: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Lengths include one element, less than a warp, less than a block,
whole blocks and ragged ones. All data are fresh."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import numpy as np

from warpwise.labs import Call, Launch, Out

BLOCK, RADIUS = 128, 4
#: Registers, local, shared, constant, global: users at most, outlives, written, same element,
#: dynamic index, most bytes.
REGISTER, LOCAL, SHARED, CONSTANT, GLOBAL = range(5)
LIMITS = {REGISTER: 1_020, LOCAL: 524_288, SHARED: 49_152, CONSTANT: 65_536}


def lengths(rng: np.random.Generator) -> Iterator[int]:
    """Draw lengths: 1, less than a warp or block, whole blocks, their neighbours, and any."""
    yield 1
    yield int(rng.integers(2, 32))
    yield int(rng.integers(33, 127))
    yield BLOCK * int(rng.integers(2, 5))
    yield BLOCK * int(rng.integers(2, 5)) + 1
    yield BLOCK * int(rng.integers(2, 5)) - 1
    yield int(rng.integers(500, 1500))


def pieces(x: np.ndarray) -> list[np.ndarray]:
    return [x[start : start + BLOCK] for start in range(0, len(x), BLOCK)]


def memory(users: int, outlives: int, written: int, same: int, dynamic: int, size: int) -> int:
    """Return the first memory that can hold such a variable, from a table."""
    can = {
        REGISTER: users == 1 and not outlives and not dynamic,
        LOCAL: users == 1 and not outlives,
        SHARED: users < 3 and not outlives,
        CONSTANT: users == 3 and bool(same) and not written,
    }
    return next((code for code, fits in can.items() if fits and size <= LIMITS[code]), GLOBAL)


def variables(rng: np.random.Generator, count: int) -> np.ndarray:
    """Draw random variables.

    Half of the sizes are near a limit, and one that does not outlive the kernel is written by
    it."""
    rows = []
    for _ in range(count):
        users, outlives, same, dynamic = (
            int(rng.integers(1, 4)),
            int(rng.random() < 0.4),
            int(rng.integers(2)),
            int(rng.integers(2)),
        )
        written = int(rng.integers(2)) if outlives else 1
        near = int(rng.choice(list(LIMITS.values()))) + int(rng.integers(-1, 2))
        rows.append(
            (
                users,
                outlives,
                written,
                same,
                dynamic,
                near if rng.random() < 0.5 else int(rng.integers(1, 1_600_000)),
            )
        )
    return np.array(rows, dtype=np.int64)


def every_kind(rng: np.random.Generator) -> np.ndarray:
    """Draw every kind of variable that the lab allows, in any order.

    Sizes lie around each limit, or are a few bytes."""
    sizes = [limit + more for limit in LIMITS.values() for more in (-1, 0, 1)] + [
        4 * int(rng.integers(1, 200))
    ]
    kinds = [
        (users, *last, *read)
        for users in (1, 2, 3)
        for last in ((0, 1), (1, 0), (1, 1))
        for read in np.ndindex(2, 2)
    ]
    return rng.permutation(
        np.array([(*kind, size) for kind in kinds for size in sizes], dtype=np.int64)
    )


def choose_memory(rng: np.random.Generator) -> Iterator[Call]:
    for table in (*(variables(rng, count) for count in (1, 1, 7, 40)), every_kind(rng)):
        count = len(table)
        want = np.array([memory(*row) for row in table.tolist()], dtype=np.int64)
        yield Call(f"{count} variables, {table[:, 5].sum()} bytes in all", (table,), want)


def minus_mirror(rng: np.random.Generator) -> Iterator[Launch]:
    for n in lengths(rng):
        x = rng.normal(size=n).astype(np.float32)
        blocks = ceil(n / BLOCK)
        yield Launch(
            f"n = {n}, x[0] = {x[0]:.3f}",
            blocks,
            BLOCK,
            args=(x, Out(n)),
            want=(np.concatenate([piece - piece[::-1] for piece in pieces(x)]),),
            budget={
                "global_load_requests": ceil(n / 32),
                "global_load_bytes": 4 * n,
                "global_store_requests": ceil(n / 32),
                "barriers": 4 * blocks,
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 256,
            },
        )


def centre(rng: np.random.Generator) -> Iterator[Launch]:
    for n in lengths(rng):
        x = rng.random(n, dtype=np.float32)
        number = ceil(n / BLOCK)
        for blocks in sorted({number, max(1, number - 1), int(rng.integers(1, number + 1))}):
            yield Launch(
                f"n = {n}, blocks = {blocks}, x[0] = {x[0]:.3f}",
                blocks,
                BLOCK,
                args=(x, Out(n)),
                want=(
                    np.concatenate(
                        [piece - piece.mean(dtype=np.float64) for piece in pieces(x)]
                    ).astype(np.float32),
                ),
                rtol=1e-5,
                atol=1e-5,
                budget={
                    "global_load_requests": ceil(n / 32),
                    "global_load_bytes": 4 * n,
                    "global_store_requests": ceil(n / 32),
                    "barriers": 9 * 4 * number,
                    "flops_fp64": 0,
                    "most_bytes_stored_by_a_warp": 256 * ceil(n / (blocks * BLOCK)),
                },
            )


def neighbour_sums(rng: np.random.Generator) -> Iterator[Launch]:
    for n in lengths(rng):
        x = rng.uniform(0.5, 2, n).astype(np.float32)
        blocks = ceil(n / BLOCK)
        want = np.convolve(x.astype(np.float64), np.ones(2 * RADIUS + 1), mode="full")[
            RADIUS : RADIUS + n
        ].astype(np.float32)
        yield Launch(
            f"n = {n}, x[0] = {x[0]:.3f}",
            blocks,
            BLOCK,
            args=(x, Out(n)),
            want=(want,),
            rtol=1e-5,
            budget={
                "global_load_requests": 6 * blocks,
                "global_load_bytes": 4 * (BLOCK + 2 * RADIUS) * blocks,
                "global_store_requests": 4 * blocks,
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 256,
            },
        )


def ends(durations: np.ndarray, buffers: int) -> np.ndarray:
    """Return when each step ends, by relaxing until nothing changes.

    It is the longest way through the steps that it waits for."""
    n = len(durations)
    done = np.zeros((n, 3))
    while True:
        begins = np.zeros((n, 3))
        begins[:, 1:] = done[:, :2]
        begins[1:] = np.maximum(begins[1:], done[:-1])
        begins[buffers:, 0] = np.maximum(begins[buffers:, 0], done[: max(n - buffers, 0), 2])
        if np.array_equal(begins + durations, done):
            return done
        done = begins + durations


def chunk_ends(rng: np.random.Generator) -> Iterator[Call]:
    for n in (1, 2, 5, *(int(k) for k in rng.integers(6, 20, 3))):
        durations = rng.uniform(0.1, 5, (n, 3))
        for pinned, buffers in (
            (True, 1),
            (True, 2),
            (True, int(rng.integers(3, 7))),
            (False, int(rng.integers(2, 7))),
        ):
            yield Call(
                f"{n} chunks, pinned {pinned}, buffers {buffers}, first copy {durations[0, 0]:.3f}",
                (*(durations[:, step].copy() for step in range(3)), pinned, buffers),
                want=ends(durations, buffers if pinned else 1),
                rtol=1e-9,
            )

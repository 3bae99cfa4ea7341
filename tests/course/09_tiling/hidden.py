"""Hidden tests of lab 9: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Among the sizes: one element, whole tiles, each of M, K and N ragged
on its own, all ragged, and less than one tile of K with many of C."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import numpy as np

from warpwise.labs import Launch, Out

# Rows and columns of c: in a smaller product most lanes idle, whatever the kernel.
BUDGET_FROM = 16
Size = tuple[int, int, int]  # M, K, N


def sizes(rng: np.random.Generator) -> Iterator[Size]:
    """Draw products for tiles whose sides divide 32, smallest first."""
    yield 1, 1, 1
    yield tuple(int(n) for n in rng.integers(2, 8, 3))
    yield int(rng.integers(17, 25)), int(rng.integers(18, 31)), int(rng.integers(25, 32))
    whole = 32 * int(rng.integers(2, 4))
    odd = (int(2 * n + 1) for n in rng.integers(17, 31, 6))
    yield 32, whole, 64
    yield 32, next(odd), 32
    yield next(odd), 32, 32
    yield 32, 32, next(odd)
    yield 64, int(rng.integers(2, 7)), 64
    yield next(odd), next(odd), next(odd)


def asked_bytes(m: int, k: int, n: int, height: int, width: int) -> int:
    """Return the bytes that blocks of ``height`` x ``width`` results ask for.

    Each block asks for each element once."""
    return 4 * (m * k * ceil(n / width) + k * n * ceil(m / height))


def launch(
    rng: np.random.Generator,
    size: Size,
    height: int,
    width: int,
    threads: tuple[int, int],
    **budget: float,
) -> Launch:
    m, k, n = size
    a, b = (
        rng.uniform(0.5, 2, (m, k)).astype(np.float32),
        rng.uniform(0.5, 2, (k, n)).astype(np.float32),
    )
    want = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    return Launch(
        f"({m}, {k}) by ({k}, {n})",
        (ceil(n / width), ceil(m / height)),
        threads,
        args=(a, b, Out((m, n))),
        want=(want,),
        rtol=1e-5,
        budget={"global_store_bytes": want.nbytes}
        | budget
        | {
            "flops_fp64": 0,
            "most_bytes_stored_by_a_warp": 256 * height * width // (threads[0] * threads[1]),
        }
        if min(m, n) >= BUDGET_FROM
        else {},
    )


def blocks(size: Size, height: int, width: int) -> int:
    """Count the blocks of ``height`` x ``width`` results."""
    m, _, n = size
    return ceil(m / height) * ceil(n / width)


def pairs(size: Size, height: int, width: int, depth: int) -> int:
    """Count the pairs of tiles that all blocks go through."""
    return blocks(size, height, width) * ceil(size[1] / depth)


def sectors(size: Size, ragged: float) -> float:
    """Return the most sectors of a load request.

    There is one for each eight floats, or more where rows of a or b begin inside a sector."""
    return 4.1 if size[1] % 8 == size[2] % 8 == 0 else ragged


def matmul_coalesced(rng: np.random.Generator) -> Iterator[Launch]:
    for size in sizes(rng):
        even = size[2] % 8 == 0
        yield launch(
            rng,
            size,
            8,
            32,
            (32, 8),
            global_load_requests=2 * 8 * pairs(size, 8, 32, 1),
            sectors_per_request_load=2.6 if even else 3.1,
            global_store_requests=8 * blocks(size, 8, 32),
            sectors_per_request_store=4.1 if even else 5.1,
        )


def matmul_tiled(rng: np.random.Generator) -> Iterator[Launch]:
    for size in sizes(rng):
        count = pairs(size, 16, 16, 16)
        yield launch(
            rng,
            size,
            16,
            16,
            (16, 16),
            global_load_requests=2 * 8 * count,
            global_load_bytes=asked_bytes(*size, 16, 16),
            sectors_per_request_load=sectors(size, 6.1),
            barriers=2 * 8 * count,
            shared_bank_conflicts=0,
            shared_load_requests=2 * 16 * 8 * count,
            shared_store_requests=2 * 2 * 8 * count,
        )


def matmul_rectangular(rng: np.random.Generator) -> Iterator[Launch]:
    for size in sizes(rng):
        count = pairs(size, 8, 32, 16)
        yield launch(
            rng,
            size,
            8,
            32,
            (32, 8),
            global_load_requests=24 * count,
            global_load_bytes=asked_bytes(*size, 8, 32),
            sectors_per_request_load=sectors(size, 6.1),
            barriers=2 * 8 * count,
            shared_bank_conflicts=0,
            shared_load_requests=2 * 16 * 8 * count,
            shared_store_requests=2 * 24 * count,
            most_bytes_loaded_by_a_warp=1024 * ceil(size[1] / 16),
        )


def matmul_column(rng: np.random.Generator) -> Iterator[Launch]:
    for size in sizes(rng):
        count = pairs(size, 32, 32, 8)
        yield launch(
            rng,
            size,
            32,
            32,
            (32, 8),
            shared_load_requests=5 * 8 * 8 * count,
            op_communication=0,
            global_load_requests=2 * 8 * count,
            global_load_bytes=asked_bytes(*size, 32, 32),
            sectors_per_request_load=sectors(size, 8.1),
            barriers=2 * 8 * count,
            shared_bank_conflicts=0,
            shared_store_requests=2 * 2 * 8 * count,
        )


def matmul_patch(rng: np.random.Generator) -> Iterator[Launch]:
    for size in sizes(rng):
        count = pairs(size, 32, 32, 8)
        yield launch(
            rng,
            size,
            32,
            32,
            (8, 8),
            shared_load_requests=8 * 8 * 2 * count,
            op_communication=0,
            global_load_requests=8 * 2 * count,
            global_load_bytes=asked_bytes(*size, 32, 32),
            sectors_per_request_load=sectors(size, 8.1),
            sectors_per_request_store=4.1 if size[2] % 8 == 0 else 8.1,
            global_store_requests=16 * 2 * blocks(size, 32, 32),
            barriers=2 * 2 * count,
            shared_bank_conflicts=0,
            shared_store_requests=2 * 8 * 2 * count,
        )


def matmul_double(rng: np.random.Generator) -> Iterator[Launch]:
    for size in sizes(rng):
        count = pairs(size, 16, 16, 16)
        yield launch(
            rng,
            size,
            16,
            16,
            (16, 16),
            barriers=8 * count,
            shared_bytes_per_block=4352,
            global_load_requests=2 * 8 * count,
            global_load_bytes=asked_bytes(*size, 16, 16),
            sectors_per_request_load=sectors(size, 6.1),
            shared_bank_conflicts=0,
            shared_load_requests=2 * 16 * 8 * count,
            shared_store_requests=2 * 2 * 8 * count,
        )

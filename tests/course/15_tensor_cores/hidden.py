"""Hidden tests of lab 15: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Results are worked out by other means than the solutions: products
in float64, places of chunks bit by bit, codes from NumPy's significands."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from warpwise import hopper
from warpwise.kernels.bfloat16 import from_bfloat16, to_bfloat16
from warpwise.labs import Call, Launch, Out

Size = tuple[int, int, int]  # M, K, N
CONFLICTS = "shared_bank_conflicts"
OF_PITCH = {
    CONFLICTS: "the 8 rows of a matrix, 4 words each, are read in one turn: "
    "in which bank does each of them begin, and which pitch keeps them apart?"
}
OF_WAITS = {
    "loads_stored_at_once": "wait for a stage when it is due, after the products of the one "
    "before, and not where its copies start",
}
OF_SWIZZLE = {
    CONFLICTS: "place chunk c of row r at c ^ r % 8 of its row, both where "
    "the copies write and where ldmatrix reads"
}


def factors(rng: np.random.Generator, rows: int, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw numbers of bfloat16; return them as words, and as float64."""
    drawn = to_bfloat16(rng.uniform(-1, 1, (rows, depth)).astype(np.float32))
    return drawn.view(np.uint32), from_bfloat16(drawn).astype(np.float64)


def times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("mk,nk->mn", a, b).astype(np.float32)


def one_tile(rng: np.random.Generator) -> Iterator[Launch]:
    across = int(rng.integers(4, 7))
    for m, n in ((32, 16), (16, 16), (64, 8), (48, 24), (16, 8 * across)):
        (a, of_a), (b, of_b) = factors(rng, m, 16), factors(rng, n, 16)
        blocks = m * n // 128
        yield Launch(
            f"({m}, 16) by (16, {n})",
            (n // 8, m // 16),
            32,
            (a, b, Out((m, n))),
            (times(of_a, of_b),),
            atol=1e-4,
            budget={
                "global_load_bytes": 768 * blocks,
                "global_load_requests": 6 * blocks,
                "op_communication": 0,
                "shared_load_requests": 0,
                "global_store_bytes": 4 * m * n,
                "global_store_requests": 4 * blocks,
                "op_tensor": 32 * blocks,
                "flops_fp32": 0,
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 512,
            },
        )


def padded(rng: np.random.Generator) -> Iterator[Launch]:
    deep = 64 * int(rng.integers(2, 5))
    for m, k, n in ((16, 64, 16), (32, 64, 16), (16, 256, 8), (32, 128, 24), (64, deep, 8)):
        (a, of_a), (b, of_b) = factors(rng, m, k), factors(rng, n, k)
        blocks = m * n // 128
        steps = blocks * k // 64
        yield Launch(
            f"({m}, {k}) by ({k}, {n})",
            (n // 8, m // 16),
            32,
            (a, b, Out((m, n))),
            (times(of_a, of_b),),
            atol=1e-4,
            advice=OF_PITCH,
            budget={
                "global_load_bytes": 3072 * steps,
                "global_load_requests": 24 * steps,
                "shared_load_requests": 4 * steps,
                "shared_store_requests": 16 * steps,
                "shared_bank_conflicts": 0,
                "shared_bytes_per_block": 2304,
                "barriers": 2 * steps,
                "op_communication": 0,
                "global_store_bytes": 4 * m * n,
                "global_store_requests": 4 * blocks,
                "op_tensor": 128 * steps,
                "flops_fp32": 0,
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 512,
            },
        )


def place(row: int, chunk: int, width: int) -> int:
    """Return the place of a chunk, whose bits those of the line turn over."""
    first = row * width
    line = first // 8
    bits = [(chunk >> bit & 1) != (line >> bit & 1) for bit in range(width.bit_length() - 1)]
    return first + sum(2**bit for bit, is_set in enumerate(bits) if is_set)


def swizzle(rng: np.random.Generator) -> Iterator[Call]:
    for width in (2, 4, 8):
        rows = int(rng.integers(20, 60))
        everywhere = np.indices((rows, width))
        yield _placed(f"all of {rows} rows of {width}", *everywhere, width)
        some = rng.integers(0, 1000, 12), rng.integers(0, width, 12)
        yield _placed(f"rows like {some[0][0]} of {width}", *some, width)


def _placed(label: str, rows: np.ndarray, chunks: np.ndarray, width: int) -> Call:
    pairs = zip(rows.ravel().tolist(), chunks.ravel().tolist(), strict=True)
    want = np.array([place(row, chunk, width) for row, chunk in pairs], np.int64)
    return Call(label, (rows, chunks, width), want=want.reshape(rows.shape))


def pipeline(rng: np.random.Generator) -> Iterator[Launch]:
    steps = int(rng.choice([3, 5, 6, 7]))
    for m, k, n in ((32, 64, 16), (32, 128, 32), (64, 64, 16), (32, 64 * steps, 16), (64, 128, 32)):
        (a, of_a), (b, of_b) = factors(rng, m, k), factors(rng, n, k)
        yield pipeline_launch((m, k, n), a, b, times(of_a, of_b))


def pipeline_launch(size: Size, a: np.ndarray, b: np.ndarray, want: np.ndarray) -> Launch:
    m, k, n = size
    blocks = m * n // 512
    steps = blocks * k // 64
    return Launch(
        f"({m}, {k}) by ({k}, {n})",
        (n // 16, m // 32),
        64,
        (a.ravel(), b.ravel(), Out((m, n)), k),
        (want,),
        atol=1e-4,
        advice=OF_SWIZZLE | OF_WAITS,
        budget={
            "global_load_bytes": 6144 * steps,
            "global_load_requests": 12 * steps,
            "global_load_sectors": 192 * steps,
            "shared_load_requests": 16 * steps,
            "shared_store_requests": 12 * steps,
            "shared_bank_conflicts": 0,
            "shared_bytes_per_block": 12288,
            "barriers": 2 * steps,
            "loads_stored_at_once": 12 * blocks,
            "op_communication": 0,
            "global_store_bytes": 4 * m * n,
            "global_store_requests": 16 * blocks,
            "op_tensor": 512 * steps,
            "flops_fp32": 0,
            "flops_fp64": 0,
            "most_bytes_stored_by_a_warp": 1024,
        },
    )


def codes_of(x: np.ndarray, scale: int) -> np.ndarray:
    """Return the codes of a block: its numbers as significands and exponents, rounded by NumPy."""
    size = np.minimum(np.abs(x.astype(np.float64)) * 2.0 ** (127 - scale), 448.0)
    exponent = np.where(size < 2.0**-6, -6, np.frexp(size)[1] - 1)  # of the smallest: -6
    eighths = np.rint(size * 2.0 ** (3 - exponent)).astype(np.int64)  # 8 to 16; below 8, if small
    codes = np.minimum(8 * (exponent + 6) + eighths, 126)
    return (codes + np.where(x < 0, 128, 0)).astype(np.uint8)


def blocks_of(rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    yield "a normal distribution", rng.normal(size=192)
    yield "sizes far apart", rng.normal(size=96) * 2.0 ** rng.integers(-20, 12, 96)
    top = 2.0 ** int(rng.integers(-3, 9))
    yield "ties", np.append([15.5 * top], rng.integers(16, 250, 31) * top / 16)
    yield "ties of small ones", np.append([-256.0], np.arange(-15, 16) * 2.0**-10)
    yield "the largest and more", rng.uniform(400, 511.9, 64) * rng.choice([-1, 1], 64)
    yield "zeros between", np.concatenate([rng.normal(size=32), np.zeros(32), [1e-38] * 32])
    yield "many blocks", rng.normal(size=34 * 32)
    yield "powers of two", 2.0 ** rng.integers(-12, 9, 64)


def quantise(rng: np.random.Generator) -> Iterator[Launch]:
    for least, (label, numbers) in zip(count(192, 32), blocks_of(rng), strict=False):
        rest = rng.normal(size=max(least - numbers.size, 0))
        x = np.append(numbers, rest).astype(np.float32)
        n = x.size
        fields = x.view(np.uint32) >> 23 & 255
        scales = np.maximum(fields.reshape(-1, 32).max(axis=1).astype(np.int64) - 8, 0)
        pairs = zip(x.reshape(-1, 32), scales.tolist(), strict=True)
        codes = np.concatenate([codes_of(*pair) for pair in pairs])
        yield Launch(
            f"{label}, {n} the last of which is {x[-1]}",
            -(-n // 64),
            64,
            (x, Out(n // 32, "uint8"), Out(n, "uint8")),
            (scales.astype(np.uint8), codes),
            budget={
                "global_load_bytes": 4 * n,
                "global_load_requests": n // 32,
                "op_communication": 5 * n,
                "shared_load_requests": 0,
                "global_store_bytes": n + n // 32,
                "global_store_requests": 2 * (n // 32),
                "sectors_per_request_store": 1,
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 33,
            },
        )


def consumer(rng: np.random.Generator) -> Iterator[Launch]:
    steps = int(rng.choice([6, 8, 9, 10]))
    for m, k, n in (
        (64, 128, 16),
        (128, 32, 16),
        (64, 64, 32),
        (64, 32 * steps, 16),
        (64, 160, 16),
    ):
        a, b = (rng.uniform(-1, 1, (rows, k)).astype(np.float16) for rows in (m, n))
        blocks = m * n // 1024
        yield Launch(
            f"({m}, {k}) by ({k}, {n})",
            (n // 16, m // 64),
            160,
            (
                hopper.tensor_map(a, (64, 32), 64),
                hopper.tensor_map(b, (16, 32), 64),
                Out((m, n)),
                k // 32,
            ),
            (times(a.astype(np.float64), b.astype(np.float64)),),
            atol=1e-4,
            budget={
                "global_load_requests": 0,
                "global_load_bytes": 0,
                "shared_load_requests": 0,
                "shared_bytes_per_block": 11264,
                "barriers": 5 * blocks,
                "op_communication": 0,
                "global_store_bytes": 4 * m * n,
                "global_store_requests": 32 * blocks,
                "flops_fp32": 0,
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 1024,
            },
        )

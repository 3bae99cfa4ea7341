"""Hidden tests of lab 14: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Matrices are multiples of a block's part of C, with one block and
several in either direction, and with one step and an odd and an even number of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from warpwise.labs import Call, Launch, Out

Size = tuple[int, int, int]  # M, K, N
LANES = range(32)
EACH_ONCE = {
    "shared_load_requests": "for each k a thread reads 8 elements of a and 8 of b, each once, into "
    "variables or local arrays, and uses each in 8 products; a patch of 16 x 4 results needs 20 "
    "elements",
}
FOUR_AT_ONCE = {
    "shared_load_requests": "for each k a thread reads 8 elements of b one by one, and its 8 of a "
    "by two load4: they are neighbours if the thread has neighbouring rows and the tile is "
    "transposed",
    "shared_load_wavefronts": "a load4 takes two turns if each lane wants the same 16 bytes as "
    "lane ^ 1, or each the same as lane ^ 2, and otherwise four: let neighbouring lanes have the "
    "same rows",
    "local_bytes_per_thread": "a thread needs its 64 sums, and for one k at a time 8 elements of a "
    "and up to 8 of b",
}
IN_TIME = {
    "local_bytes_per_thread": "a thread needs its 64 sums, for one k at a time 8 elements of a and "
    "up to 8 of b, and 8 of each tile of the next pair",
    "loads_stored_at_once": "load the next pair into local arrays before the loop that multiplies, "
    "and store it after that loop",
}


def asked(rng: np.random.Generator) -> Iterator[Call]:
    for _ in range(12):
        r, s = (int(2**n) for n in rng.integers(0, 5, 2))
        side = max(r, s) * int(rng.integers(1, 9))
        m, n = (side * int(count) for count in rng.integers(1, 6, 2))
        k = int(rng.integers(1, 100))
        from_global = (m // side) * (n // side) * 2 * side * k
        from_shared = (m // r) * (n // s) * (r + s) * k
        yield Call(
            f"{m} x {n} of depth {k}, side {side}, {r} x {s} a thread",
            (m, n, k, side, r, s),
            want=(from_global, from_shared),
        )


def served(pieces: list[int]) -> int:
    """Count the turns of 32 pieces, in words of the rule."""
    alike = any(all(pieces[i] == pieces[i ^ bit] for i in LANES) for bit in (1, 2))
    size = 16 if alike else 8
    groups = [set(pieces[first : first + size]) for first in range(0, 32, size)]
    return sum(max(Counter(piece % 8 for piece in group).values()) for group in groups)


def patterns(rng: np.random.Generator) -> Iterator[tuple[str, list[int]]]:
    pitch, other = (int(n) for n in rng.integers(2, 30, 2))
    first = int(rng.integers(0, 50))
    yield "in order", [first + i for i in LANES]
    yield "one for all", [first] * 32
    yield f"a pitch of {pitch}", [first + pitch * i for i in LANES]
    yield f"a pitch of {8 * other}", [first + 8 * other * i for i in LANES]
    yield "pairs", [first + pitch * (i // 2) for i in LANES]
    odd = pitch | 1  # an even pitch takes as many turns by eights as by sixteens
    yield "every other lane alike", [first + odd * (i % 2 + i // 4 * 2) for i in LANES]
    yield "halves alike", [first + other * (i % 16) for i in LANES]
    yield "fours alike", [first + other * (i // 4) for i in LANES]
    yield "pairs but for one lane", [first + (i // 2 if i != 9 else 99) for i in LANES]
    yield "neighbours by four", [first + i // 4 + 8 * (i % 4) for i in LANES]
    for _ in range(4):
        yield "anywhere", [int(piece) for piece in rng.integers(0, 64, 32)]


def turns(rng: np.random.Generator) -> Iterator[Call]:
    for label, pieces in patterns(rng):
        addresses = 16 * np.array(pieces, np.int64)
        yield Call(f"{label}, from {pieces[0]}", (addresses,), want=served(pieces))


def sizes(rng: np.random.Generator) -> Iterator[Size]:
    """Draw sizes of products; all but the first differ from those of the lab in M, K or N.

    A thread loops 80 times for each column of A, and a mutant has 5,000 steps: so 56 are most."""
    shallow = int(rng.integers(1, 4))
    yield 64, 16, 64
    yield 64, 56, 64
    yield 128, 8, 128
    yield 64, 40, 192
    yield 64 * int(rng.integers(3, 6)), 8 * shallow, 64
    yield 128, 8 * int(rng.integers(2, 5)), 128


def launch(
    rng: np.random.Generator,
    size: Size,
    barriers: int,
    shared: int,
    reads: int = 16,
    advice: Mapping[str, str] = {},
    **budget: int,
) -> Launch:
    m, k, n = size
    a, b = (rng.uniform(0.5, 2, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    want = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    blocks = (m // 64) * (n // 64)
    steps = blocks * k // 8
    return Launch(
        f"({m}, {k}) by ({k}, {n})",
        (n // 64, m // 64),
        (8, 8),
        args=(a, b, Out((m, n))),
        want=(want,),
        rtol=1e-5,
        advice=advice,
        budget={
            "global_load_bytes": 4096 * steps,
            "global_load_requests": 32 * steps,
            "sectors_per_request_load": 4.1,
            "shared_load_requests": 16 * reads * steps,
            "shared_store_requests": 32 * steps,
            "shared_bank_conflicts": 0,
            "op_communication": 0,
            "barriers": barriers * steps,
            "shared_bytes_per_block": shared,
            "global_store_bytes": want.nbytes,
            "global_store_requests": 128 * blocks,
            "sectors_per_request_store": 4.1,
            "flops_fp32": 2 * m * n * k,
            "flops_fp64": 0,
            "most_bytes_stored_by_a_warp": 16384,
        }
        | budget,
        compiled={
            "registers_per_thread": 200,
            "spilled_bytes": 0,
            "local_memory_bytes": 0,
            "flops_per_issue_slot": 16,
        },
    )


def wavefronts(size: Size) -> int:
    """Count those of loads from shared memory: for each k of a warp 8 reads, and 2 of two each."""
    m, k, n = size
    return 2 * (8 + 2 * 2) * k * (m // 64) * (n // 64)


def patch(rng: np.random.Generator) -> Iterator[Launch]:
    for size in sizes(rng):
        yield launch(rng, size, barriers=4, shared=4352, advice=EACH_ONCE)


def turned(rng: np.random.Generator) -> Iterator[Launch]:
    for size in sizes(rng):
        yield launch(
            rng,
            size,
            4,
            4352,
            10,
            FOUR_AT_ONCE,
            shared_load_wavefronts=wavefronts(size),
            local_bytes_per_thread=320,
        )


def ahead(rng: np.random.Generator) -> Iterator[Launch]:
    for size in sizes(rng):
        m, _, n = size
        yield launch(
            rng,
            size,
            2,
            8704,
            10,
            FOUR_AT_ONCE | IN_TIME,
            local_bytes_per_thread=384,
            loads_stored_at_once=32 * (m // 64) * (n // 64),
            shared_load_wavefronts=wavefronts(size),
        )


def in_order(rows: int, cols: int, group: int) -> list[tuple[int, int]]:
    """List the places of all blocks in the order of their numbers."""
    tops = range(0, rows, group)
    return [
        (row, col)
        for top in tops
        for col in range(cols)
        for row in range(top, min(top + group, rows))
    ]


def place(rng: np.random.Generator) -> Iterator[Call]:
    for _ in range(8):
        rows, cols = (int(n) for n in rng.integers(2, 12, 2))
        group = int(rng.integers(1, rows + 3))
        everywhere = in_order(rows, cols, group)
        for number in {
            0,
            len(everywhere) - 1,
            *(int(n) for n in rng.integers(len(everywhere), size=3)),
        }:
            yield Call(
                f"block {number} of {rows} x {cols} in groups of {group}",
                (number, rows, cols, group),
                want=everywhere[number],
            )

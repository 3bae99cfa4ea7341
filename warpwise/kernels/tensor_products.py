"""Products of matrices on tensor cores, whose factors are bfloat16 or rounded to TF32.

out[i, j] is the sum over d of A(i, d) B(j, d), as in ``warpwise.gpt2.kernels``. Sums are float32.
Where memory stays float32, a factor is rounded to nearest on its way to shared memory: bytes are
those of float32, and arithmetic is that of tensor cores, which is half of what training in bfloat16
gains. Matrices that are ``packed`` are bfloat16 in memory, two in a word, and bring the other half.

A is (rows, depth), or, lying ``across``, (depth, rows); so is B. Both come flat, with a stride: how
many numbers lie from row to row. ``finish(total, row, column, out, bias, before)``, a device
function, stores a result. Rows and columns of ``out`` are multiples of SIDE, the depth is one of
DEEP, and no matrix has 2^32 numbers. ``tensor_core`` says which numbers a lane has of a fragment.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from warpwise import cuda
from warpwise.kernels.attention_tf32 import high
from warpwise.kernels.bfloat16 import pack_bfloat16
from warpwise.kernels.tensor_core import add_part, ldmatrix_x4, ldmatrix_x4_trans, mma_tf32
from warpwise.kernels.wide import load4, store4

THREADS, SIDE, DEEP = 256, 128, 32  # of a block: threads, results on a side, depth of its tiles
# from row to row of a tile: 16 bytes more than a row, so that eight rows begin in different banks
WORDS, WORDS_ACROSS = DEEP // 2 + 4, SIDE // 2 + 4  # of two bfloat16
NUMBERS, NUMBERS_ACROSS = DEEP + 4, SIDE + 8  # of TF32, which four lanes read row by row
TWO, QUAD, EIGHT, OF_WARP = np.uint32(2), np.uint32(4), np.uint32(8), np.uint32(32)


@cuda.jit(device=True, forceinline=True)
def place(line, pitch, chunk, numbers):
    """Return where a chunk of a line begins."""
    return np.uint32(np.uint32(line) * np.uint32(pitch) + np.uint32(chunk) * np.uint32(numbers))


@cuda.jit(device=True, forceinline=True)
def begin(across, first, line, stride, chunk, numbers):
    """Return where a thread's first chunk of a matrix lies, and how far on that of the next tile.

    ``first``: the block's first row or column."""
    if across:
        at, step = np.uint32(place(line, stride, chunk, numbers) + first), np.uint32(DEEP * stride)
    else:
        at, step = place(first + line, stride, chunk, numbers), np.uint32(DEEP)
    return at, step


@cuda.jit(device=True, forceinline=True)
def sub_tile(thread):
    """Return the first row and column of a warp's results in the block's: 64 x 32 of them."""
    warp = thread // OF_WARP
    return np.uint32(warp // QUAD * np.uint32(64)), np.uint32(warp % QUAD * OF_WARP)


@cuda.jit(device=True, forceinline=True)
def keep(finish, sums, s, row, column, out, bias, before):
    """Store a lane's four sums of a 16 x 8 tile."""
    finish(sums[s], row, column, out, bias, before)
    finish(sums[s + 1], row, column + np.uint32(1), out, bias, before)
    finish(sums[s + 2], row + EIGHT, column, out, bias, before)
    finish(sums[s + 3], row + EIGHT, column + np.uint32(1), out, bias, before)


# --- bfloat16 ---


@cuda.jit(device=True, forceinline=True)
def eight(source, at):
    """Load eight neighbours, and return them as four words of bfloat16."""
    x0, x1, x2, x3 = load4(source, at)
    y0, y1, y2, y3 = load4(source, at + QUAD)
    return (
        pack_bfloat16(x0, x1),
        pack_bfloat16(x2, x3),
        pack_bfloat16(y0, y1),
        pack_bfloat16(y2, y3),
    )


@cuda.jit(device=True, forceinline=True)
def eight_packed(source, at):
    """Load the four words of eight neighbours that are bfloat16 already."""
    return load4(source, at // TWO)


@cuda.jit(device=True, forceinline=True)
def of_a(across, lane, row, pitch):
    """Return the row of a 8 x 8 matrix that a lane names, of the four of a 16 x 16 part of A."""
    low, middle, upper = lane % EIGHT, lane // EIGHT % TWO, lane // np.uint32(16)
    if across:
        at = np.uint32((low + EIGHT * upper) * np.uint32(pitch) + row // TWO + QUAD * middle)
    else:
        at = np.uint32((row + low + EIGHT * middle) * np.uint32(pitch) + QUAD * upper)
    return at


@cuda.jit(device=True, forceinline=True)
def of_b(across, lane, column, pitch):
    """Return it for B, of whose 16 columns the first eight come first, 16 deep."""
    low, middle, upper = lane % EIGHT, lane // EIGHT % TWO, lane // np.uint32(16)
    if across:
        at = np.uint32((low + EIGHT * middle) * np.uint32(pitch) + column // TWO + QUAD * upper)
    else:
        at = np.uint32((column + low + EIGHT * upper) * np.uint32(pitch) + QUAD * middle)
    return at


@functools.cache
def product_bf16(across_a: bool, across_b: bool, finish: Any, packed: bool = False) -> Any:
    """Make the product whose factors are rounded to bfloat16, or, ``packed``, are so in memory."""
    take = eight_packed if packed else eight
    pitch_a, pitch_b = (WORDS_ACROSS if across else WORDS for across in (across_a, across_b))
    words_a, words_b = (
        pitch * (DEEP if across else SIDE)
        for pitch, across in ((pitch_a, across_a), (pitch_b, across_b))
    )
    # chunks of eight numbers in a line of a tile; lines that the block loads at once
    chunks_a, chunks_b = ((SIDE if across else DEEP) // 8 for across in (across_a, across_b))
    lines_a, lines_b = THREADS // chunks_a, THREADS // chunks_b
    # words to the next 16 rows or columns, and to the next 16 of the depth
    next_a, next_b = (8 if across else 16 * WORDS for across in (across_a, across_b))
    deep_a, deep_b = (16 * WORDS_ACROSS if across else 8 for across in (across_a, across_b))
    read_a, read_b = (
        ldmatrix_x4_trans if across else ldmatrix_x4 for across in (across_a, across_b)
    )

    @cuda.jit(launch_bounds=(THREADS, 2))
    def matmul_bf16(a, b, out, bias, before, stride_a, stride_b, depth):
        """A block of 8 warps makes 128 x 128 results, a warp 64 x 32 of them, 32 deep at a time."""
        tile_a = cuda.shared.array(words_a, np.uint32, alignment=16)
        tile_b = cuda.shared.array(words_b, np.uint32, alignment=16)
        sums = cuda.local.array(64, np.float32)
        part = cuda.local.array(16, np.uint32)
        for i in range(64):
            sums[i] = np.float32(0)
        thread, lane = np.uint32(cuda.threadIdx.x), np.uint32(cuda.laneid)
        top, left = np.uint32(cuda.blockIdx.y * SIDE), np.uint32(cuda.blockIdx.x * SIDE)
        row, column = sub_tile(thread)
        line_a, chunk_a = thread // np.uint32(chunks_a), thread % np.uint32(chunks_a)
        line_b, chunk_b = thread // np.uint32(chunks_b), thread % np.uint32(chunks_b)
        to_a, to_b = place(line_a, pitch_a, chunk_a, 4), place(line_b, pitch_b, chunk_b, 4)
        a_from, step_a = begin(across_a, top, line_a, stride_a, chunk_a, 8)
        b_from, step_b = begin(across_b, left, line_b, stride_b, chunk_b, 8)
        more_a = np.uint32(np.uint32(lines_a) * stride_a)
        more_b = np.uint32(np.uint32(lines_b) * stride_b)
        a_at = of_a(across_a, lane, row, pitch_a)
        b_at = of_b(across_b, lane, column, pitch_b)
        for _ in range(depth // np.uint32(DEEP)):
            w0, w1, w2, w3 = take(a, a_from)
            x0, x1, x2, x3 = take(a, a_from + more_a)
            y0, y1, y2, y3 = take(b, b_from)
            z0, z1, z2, z3 = take(b, b_from + more_b)
            cuda.syncthreads()
            store4(tile_a, to_a, w0, w1, w2, w3)
            store4(tile_a, to_a + np.uint32(lines_a * pitch_a), x0, x1, x2, x3)
            store4(tile_b, to_b, y0, y1, y2, y3)
            store4(tile_b, to_b + np.uint32(lines_b * pitch_b), z0, z1, z2, z3)
            cuda.syncthreads()
            a_from, b_from = np.uint32(a_from + step_a), np.uint32(b_from + step_b)
            for deep in range(2):
                for i in range(4):
                    p, at = 4 * i, a_at + np.uint32(i * next_a + deep * deep_a)
                    part[p], part[p + 1], part[p + 2], part[p + 3] = read_a(tile_a, at)
                for j in range(2):
                    at = b_at + np.uint32(j * next_b + deep * deep_b)
                    b0, b1, b2, b3 = read_b(tile_b, at)
                    for i in range(4):
                        add_part(sums, 16 * i + 8 * j, part, 4 * i, b0, b1)
                        add_part(sums, 16 * i + 8 * j + 4, part, 4 * i, b2, b3)
        r = np.uint32(top + row + lane // QUAD)
        c = np.uint32(left + column + lane % QUAD * TWO)
        for i in range(4):
            for j in range(4):
                here, there = r + np.uint32(16 * i), c + np.uint32(8 * j)
                keep(finish, sums, 16 * i + 4 * j, here, there, out, bias, before)

    return matmul_bf16


# --- TF32 ---


@cuda.jit(device=True, forceinline=True)
def four(source, at):
    """Load four neighbours, rounded to TF32."""
    x0, x1, x2, x3 = load4(source, at)
    return high(x0), high(x1), high(x2), high(x3)


@functools.cache
def product_tf32(across_a: bool, across_b: bool, finish: Any) -> Any:
    """Make the product whose factors are rounded to TF32."""
    pitch_a, pitch_b = (NUMBERS_ACROSS if across else NUMBERS for across in (across_a, across_b))
    size_a, size_b = (
        pitch * (DEEP if across else SIDE)
        for pitch, across in ((pitch_a, across_a), (pitch_b, across_b))
    )
    chunks_a, chunks_b = ((SIDE if across else DEEP) // 4 for across in (across_a, across_b))
    lines_a, lines_b = THREADS // chunks_a, THREADS // chunks_b
    # numbers to the next row or column of the results, and to the next of the depth
    next_a, next_b = (1 if across else NUMBERS for across in (across_a, across_b))
    deep_a, deep_b = (NUMBERS_ACROSS if across else 1 for across in (across_a, across_b))

    @cuda.jit(launch_bounds=(THREADS, 2))
    def matmul_tf32(a, b, out, bias, before, stride_a, stride_b, depth):
        """A block of 8 warps makes 128 x 128 results, a warp 64 x 32 of them, 32 deep at a time."""
        tile_a = cuda.shared.array(size_a, np.float32, alignment=16)
        tile_b = cuda.shared.array(size_b, np.float32, alignment=16)
        sums = cuda.local.array(64, np.float32)
        part = cuda.local.array(16, np.float32)
        for i in range(64):
            sums[i] = np.float32(0)
        thread, lane = np.uint32(cuda.threadIdx.x), np.uint32(cuda.laneid)
        top, left = np.uint32(cuda.blockIdx.y * SIDE), np.uint32(cuda.blockIdx.x * SIDE)
        row, column = sub_tile(thread)
        line_a, chunk_a = thread // np.uint32(chunks_a), thread % np.uint32(chunks_a)
        line_b, chunk_b = thread // np.uint32(chunks_b), thread % np.uint32(chunks_b)
        to_a, to_b = place(line_a, pitch_a, chunk_a, 4), place(line_b, pitch_b, chunk_b, 4)
        a_from, step_a = begin(across_a, top, line_a, stride_a, chunk_a, 4)
        b_from, step_b = begin(across_b, left, line_b, stride_b, chunk_b, 4)
        more_a = np.uint32(np.uint32(lines_a) * stride_a)
        more_b = np.uint32(np.uint32(lines_b) * stride_b)
        g, q = lane // QUAD, lane % QUAD
        a_at = np.uint32((row + g) * np.uint32(next_a) + q * np.uint32(deep_a))
        b_at = np.uint32((column + g) * np.uint32(next_b) + q * np.uint32(deep_b))
        for _ in range(depth // np.uint32(DEEP)):
            cuda.syncthreads()
            for i in range(4):
                x0, x1, x2, x3 = four(a, a_from + np.uint32(i) * more_a)
                store4(tile_a, to_a + np.uint32(i * lines_a * pitch_a), x0, x1, x2, x3)
            for i in range(4):
                x0, x1, x2, x3 = four(b, b_from + np.uint32(i) * more_b)
                store4(tile_b, to_b + np.uint32(i * lines_b * pitch_b), x0, x1, x2, x3)
            cuda.syncthreads()
            a_from, b_from = np.uint32(a_from + step_a), np.uint32(b_from + step_b)
            for deep in range(4):
                for i in range(4):
                    at = a_at + np.uint32(16 * i * next_a + 8 * deep * deep_a)
                    part[4 * i] = tile_a[at]
                    part[4 * i + 1] = tile_a[at + np.uint32(8 * next_a)]
                    part[4 * i + 2] = tile_a[at + np.uint32(4 * deep_a)]
                    part[4 * i + 3] = tile_a[at + np.uint32(8 * next_a + 4 * deep_a)]
                for j in range(4):
                    at = b_at + np.uint32(8 * j * next_b + 8 * deep * deep_b)
                    b0, b1 = tile_b[at], tile_b[at + np.uint32(4 * deep_b)]
                    for i in range(4):
                        add_tf32(sums, 16 * i + 4 * j, part, 4 * i, b0, b1)
        r = np.uint32(top + row + g)
        c = np.uint32(left + column + q * TWO)
        for i in range(4):
            for j in range(4):
                here, there = r + np.uint32(16 * i), c + np.uint32(8 * j)
                keep(finish, sums, 16 * i + 4 * j, here, there, out, bias, before)

    return matmul_tf32


@cuda.jit(device=True, forceinline=True)
def add_tf32(sums, s, part, p, b0, b1):
    """Add the product of the A that begins at ``part[p]`` and B to four sums of this lane."""
    a0, a1, a2, a3 = part[p], part[p + 1], part[p + 2], part[p + 3]
    c0, c1, c2, c3 = sums[s], sums[s + 1], sums[s + 2], sums[s + 3]
    sums[s], sums[s + 1], sums[s + 2], sums[s + 3] = mma_tf32(
        a0, a1, a2, a3, b0, b1, c0, c1, c2, c3
    )

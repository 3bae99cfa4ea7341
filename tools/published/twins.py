"""The kernels of kernels.cu for the simulator: the same accesses, of which a trace has addresses.

Tags such as [k3.a] stand on the line of the kernel in CUDA C++ that does the same. Nothing of a
twin's machine code is used."""

from __future__ import annotations

import numpy as np

from warpwise import cuda

F32 = np.float32
TILE, SIDE_1D, DEPTH, OWN, SIDE, THREADS = 32, 64, 8, 8, 128, 256
HALF = SIDE // OWN
ROWS_AT_ONCE, DEEP, DEEP_ROWS = THREADS // DEPTH, 16, THREADS // 16
BLOCK = 256
WITH_MORE = BLOCK + 32


@cuda.jit
def sgemm_naive(k, a, b, c):
    row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    col = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if row < c.shape[0] and col < c.shape[1]:
        total = F32(0)
        for i in range(k):
            total += a[row, i] * b[i, col]  # [k1.fma]
        c[row, col] = total  # [k1.c]


@cuda.jit
def sgemm_coalesced(k, a, b, c):
    row = cuda.blockIdx.x * TILE + cuda.threadIdx.x // TILE
    col = cuda.blockIdx.y * TILE + cuda.threadIdx.x % TILE
    if row < c.shape[0] and col < c.shape[1]:
        total = F32(0)
        for i in range(k):
            total += a[row, i] * b[i, col]  # [k2.fma]
        c[row, col] = total  # [k2.c]


@cuda.jit
def sgemm_shared(k, a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), F32)
    tile_b = cuda.shared.array((TILE, TILE), F32)
    tx, ty = cuda.threadIdx.x % TILE, cuda.threadIdx.x // TILE
    row, col = cuda.blockIdx.x * TILE + ty, cuda.blockIdx.y * TILE + tx
    total = F32(0)
    for start in range(0, k, TILE):
        tile_a[ty, tx] = a[row, start + tx]  # [k3.a]
        tile_b[ty, tx] = b[start + ty, col]  # [k3.b]
        cuda.syncthreads()  # [k3.ready]
        for i in range(TILE):
            total += tile_a[ty, i] * tile_b[i, tx]  # [k3.fma]
        cuda.syncthreads()  # [k3.read]
    c[row, col] = total  # [k3.c]


@cuda.jit
def sgemm_tile_1d(k, a, b, c):
    tile_a = cuda.shared.array((SIDE_1D, DEPTH), F32)
    tile_b = cuda.shared.array((DEPTH, SIDE_1D), F32)
    sums = cuda.local.array(OWN, F32)
    t = cuda.threadIdx.x
    col, group = t % SIDE_1D, t // SIDE_1D
    a_row, a_col = t // DEPTH, t % DEPTH
    top, left = cuda.blockIdx.y * SIDE_1D, cuda.blockIdx.x * SIDE_1D
    for i in range(OWN):
        sums[i] = F32(0)
    for start in range(0, k, DEPTH):
        tile_a[a_row, a_col] = a[top + a_row, start + a_col]  # [k4.a]
        tile_b[group, col] = b[start + group, left + col]  # [k4.b]
        cuda.syncthreads()  # [k4.ready]
        for d in range(DEPTH):
            of_b = tile_b[d, col]  # [k4.of_b]
            for i in range(OWN):
                sums[i] += tile_a[group * OWN + i, d] * of_b  # [k4.fma]
        cuda.syncthreads()  # [k4.read]
    for i in range(OWN):
        c[top + group * OWN + i, left + col] = sums[i]  # [k4.c]


@cuda.jit
def sgemm_tile_2d(k, a, b, c):
    tile_a = cuda.shared.array((SIDE, DEPTH), F32)
    tile_b = cuda.shared.array((DEPTH, SIDE), F32)
    sums = cuda.local.array((OWN, OWN), F32)
    of_a, of_b = cuda.local.array(OWN, F32), cuda.local.array(OWN, F32)
    t = cuda.threadIdx.x
    col, row = t % HALF, t // HALF
    top, left = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * SIDE
    for i in range(OWN):
        for j in range(OWN):
            sums[i, j] = F32(0)
    for start in range(0, k, DEPTH):
        for part in range(0, SIDE, ROWS_AT_ONCE):
            at = t // DEPTH + part
            tile_a[at, t % DEPTH] = a[top + at, start + t % DEPTH]  # [k5.a]
        for part in range(0, DEPTH, 2):
            at = t // SIDE + part
            tile_b[at, t % SIDE] = b[start + at, left + t % SIDE]  # [k5.b]
        cuda.syncthreads()  # [k5.ready]
        for d in range(DEPTH):
            for i in range(OWN):
                of_a[i] = tile_a[row * OWN + i, d]  # [k5.of_a]
            for i in range(OWN):
                of_b[i] = tile_b[d, col * OWN + i]  # [k5.of_b]
            for i in range(OWN):
                for j in range(OWN):
                    sums[i, j] += of_a[i] * of_b[j]  # [k5.fma]
        cuda.syncthreads()  # [k5.read]
    for i in range(OWN):
        for j in range(OWN):
            c[top + row * OWN + i, left + col * OWN + j] = sums[i, j]  # [k5.c]


@cuda.jit
def sgemm_tile_2d_deep(k, a, b, c):
    tile_a = cuda.shared.array((SIDE, DEEP), F32)
    tile_b = cuda.shared.array((DEEP, SIDE), F32)
    sums = cuda.local.array((OWN, OWN), F32)
    of_a, of_b = cuda.local.array(OWN, F32), cuda.local.array(OWN, F32)
    t = cuda.threadIdx.x
    col, row = t % HALF, t // HALF
    top, left = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * SIDE
    for i in range(OWN):
        for j in range(OWN):
            sums[i, j] = F32(0)
    for start in range(0, k, DEEP):
        for part in range(0, SIDE, DEEP_ROWS):
            at = t // DEEP + part
            tile_a[at, t % DEEP] = a[top + at, start + t % DEEP]  # [k5.a]
        for part in range(0, DEEP, 2):
            at = t // SIDE + part
            tile_b[at, t % SIDE] = b[start + at, left + t % SIDE]  # [k5.b]
        cuda.syncthreads()  # [k5.ready]
        for d in range(DEEP):
            for i in range(OWN):
                of_a[i] = tile_a[row * OWN + i, d]  # [k5.of_a]
            for i in range(OWN):
                of_b[i] = tile_b[d, col * OWN + i]  # [k5.of_b]
            for i in range(OWN):
                for j in range(OWN):
                    sums[i, j] += of_a[i] * of_b[j]  # [k5.fma]
        cuda.syncthreads()  # [k5.read]
    for i in range(OWN):
        for j in range(OWN):
            c[top + row * OWN + i, left + col * OWN + j] = sums[i, j]  # [k5.c]


@cuda.jit
def sgemm_vectorised(k, a, b, c):
    tile_a = cuda.shared.array((DEPTH, SIDE), F32, alignment=16)
    tile_b = cuda.shared.array((DEPTH, SIDE), F32, alignment=16)
    sums = cuda.local.array((OWN, OWN), F32)
    of_a, of_b = cuda.local.array(OWN, F32), cuda.local.array(OWN, F32)
    four = cuda.local.array(4, F32)
    t = cuda.threadIdx.x
    col, row = t % HALF, t // HALF
    a_row, a_col = t // 2, t % 2
    b_row, b_col = t // 32, t % 32
    top, left = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * SIDE
    for i in range(OWN):
        for j in range(OWN):
            sums[i, j] = F32(0)
    for start in range(0, k, DEPTH):
        for i in range(4):
            four[i] = a[top + a_row, start + a_col * 4 + i]  # [k6.a]
        tile_a[a_col * 4, a_row] = four[0]  # [k6.a0]
        tile_a[a_col * 4 + 1, a_row] = four[1]  # [k6.a1]
        tile_a[a_col * 4 + 2, a_row] = four[2]  # [k6.a2]
        tile_a[a_col * 4 + 3, a_row] = four[3]  # [k6.a3]
        for i in range(4):
            four[i] = b[start + b_row, left + b_col * 4 + i]  # [k6.b]
        for i in range(4):
            tile_b[b_row, b_col * 4 + i] = four[i]  # [k6.b0]
        cuda.syncthreads()  # [k6.ready]
        for d in range(DEPTH):
            for i in range(OWN):
                of_a[i] = tile_a[d, row * OWN + i]  # [k6.of_a]
            for i in range(OWN):
                of_b[i] = tile_b[d, col * OWN + i]  # [k6.of_b]
            for i in range(OWN):
                for j in range(OWN):
                    sums[i, j] += of_a[i] * of_b[j]  # [k6.fma]
        cuda.syncthreads()  # [k6.read]
    for i in range(OWN):
        for j in range(OWN):
            c[top + row * OWN + i, left + col * OWN + j] = sums[i, j]  # [k6.c]


@cuda.jit
def stream_init(a, b, c):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = 0.25  # [s.init]


@cuda.jit
def stream_read(a, b, c):
    i = cuda.grid(1)
    if i < a.size:
        x = b[i]  # [s.read]
        if x == 123.0:
            a[i] = x


@cuda.jit
def stream_scale(a, b, c):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = b[i] * 1.5  # [s.scale]


@cuda.jit
def stream_triad(a, b, c):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = b[i] * 1.5 + c[i]  # [s.triad]


@cuda.jit
def stream_3pt(a, b, c):
    i = cuda.grid(1)
    if 1 <= i < a.size - 1:
        a[i] = 0.5 * b[i - 1] - b[i] + 0.25 * b[i + 1]  # [s.3pt]


@cuda.jit
def stream_5pt(a, b, c):
    i = cuda.grid(1)
    if 2 <= i < a.size - 2:
        a[i] = 0.5 * b[i - 2] + 0.25 * b[i - 1] - b[i] + 0.25 * b[i + 1] + 0.5 * b[i + 2]  # [s.5pt]


@cuda.jit
def add_float(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]  # [e.add]


@cuda.jit
def add_float4(a, b, c):
    i = 4 * cuda.grid(1)
    x, y = cuda.local.array(4, F32), cuda.local.array(4, F32)
    for j in range(4):
        x[j] = a[i + j]  # [e.a]
    for j in range(4):
        y[j] = b[i + j]  # [e.b]
    for j in range(4):
        c[i + j] = x[j] + y[j]  # [e.c]


@cuda.jit
def reduce_modulo(x, sums):
    part = cuda.shared.array(BLOCK, F32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.blockIdx.x * BLOCK + t]  # [r0.load]
    cuda.syncthreads()  # [r0.ready]
    step = 1
    while step < BLOCK:
        if t % (2 * step) == 0:
            part[t] += part[t + step]  # [r0.add]
        cuda.syncthreads()  # [r0.done]
        step *= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]  # [r0.out]


@cuda.jit
def reduce_strided(x, sums):
    part = cuda.shared.array(BLOCK, F32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.blockIdx.x * BLOCK + t]  # [r1.load]
    cuda.syncthreads()  # [r1.ready]
    step = 1
    while step < BLOCK:
        at = 2 * step * t
        if at < BLOCK:
            part[at] += part[at + step]  # [r1.add]
        cuda.syncthreads()  # [r1.done]
        step *= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]  # [r1.out]


@cuda.jit
def reduce_halves(x, sums):
    part = cuda.shared.array(BLOCK, F32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.blockIdx.x * BLOCK + t]  # [r2.load]
    cuda.syncthreads()  # [r2.ready]
    step = BLOCK // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]  # [r2.add]
        cuda.syncthreads()  # [r2.done]
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]  # [r2.out]


@cuda.jit
def reduce_two_loads(x, sums):
    part = cuda.shared.array(BLOCK, F32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK * 2 + t
    part[t] = x[i] + x[i + BLOCK]  # [r3.load]
    cuda.syncthreads()  # [r3.ready]
    step = BLOCK // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]  # [r3.add]
        cuda.syncthreads()  # [r3.done]
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]  # [r3.out]


@cuda.jit
def reduce_last_warp(x, sums):
    part = cuda.shared.array(WITH_MORE, F32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK * 2 + t
    part[t] = x[i] + x[i + BLOCK]  # [r4.load]
    cuda.syncthreads()  # [r4.ready]
    step = BLOCK // 2
    while step > 32:
        if t < step:
            part[t] += part[t + step]  # [r4.add]
        cuda.syncthreads()  # [r4.done]
        step //= 2
    if t < 32:
        for i in range(6):
            part[t] += part[t + (32 >> i)]  # [r4.last]
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]  # [r4.out]


@cuda.jit
def reduce_unrolled(x, sums):
    part = cuda.shared.array(WITH_MORE, F32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK * 2 + t
    part[t] = x[i] + x[i + BLOCK]  # [r5.load]
    cuda.syncthreads()  # [r5.ready]
    for step in (128, 64):
        if t < step:
            part[t] += part[t + step]  # [r5.add]
        cuda.syncthreads()  # [r5.done]
    if t < 32:
        for i in range(6):
            part[t] += part[t + (32 >> i)]  # [r5.last]
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]  # [r5.out]


@cuda.jit
def reduce_many_loads(x, sums):
    part = cuda.shared.array(WITH_MORE, F32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK * 2 + t
    total = F32(0)
    while i < x.size:
        total += x[i] + x[i + BLOCK]  # [r6.load]
        i += BLOCK * 2 * cuda.gridDim.x
    part[t] = total  # [r6.part]
    cuda.syncthreads()  # [r6.ready]
    for step in (128, 64):
        if t < step:
            part[t] += part[t + step]  # [r6.add]
        cuda.syncthreads()  # [r6.done]
    if t < 32:
        for i in range(6):
            part[t] += part[t + (32 >> i)]  # [r6.last]
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]  # [r6.out]

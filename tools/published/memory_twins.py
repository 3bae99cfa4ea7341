"""The kernels of memory.cu for the simulator, as in ``twins``.

A twin stands for all kernels of one shape: the block's size and arguments tell them apart."""

from __future__ import annotations

import numpy as np

from warpwise import cuda

F32, I32 = np.float32, np.int32
TILE, PADDED, LARGEST = 32, 33, 64 * 65
BLOCK, LARGE_BLOCK, WITH_MORE = 256, 512, 512 + 32


@cuda.jit
def copy(to, source):
    i = cuda.grid(1)
    if i < to.size:
        to[i] = source[i]  # [c.move]


@cuda.jit
def copy_fours(to, source):
    i = 4 * cuda.grid(1)
    four = cuda.local.array(4, F32)
    for j in range(4):
        four[j] = source[i + j]  # [c4.load]
    for j in range(4):
        to[i + j] = four[j]  # [c4.store]


@cuda.jit
def arithmetic(a, b, out, items, steps):
    first = cuda.threadIdx.x + cuda.blockIdx.x * BLOCK * items
    total = F32(0)
    for i in range(0, items, 2):
        x = a[first + i * BLOCK]  # [f.x]
        y = b[first + i * BLOCK]  # [f.y]
        x2 = a[first + (i + 1) * BLOCK]  # [f.x2]
        y2 = b[first + (i + 1) * BLOCK]  # [f.y2]
        v, v2 = x - y, x2 - y2
        for _ in range(steps):
            v, v2 = v * x - y, v2 * x2 - y2  # [f.v]
        total += v + v2  # [f.sum]
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = total  # [f.out]


@cuda.jit
def arithmetic_none(a, b, out, items, steps):
    first = cuda.threadIdx.x + cuda.blockIdx.x * BLOCK * items
    total = F32(0)
    for i in range(0, items, 2):
        x = a[first + i * BLOCK]  # [f.x]
        y = b[first + i * BLOCK]  # [f.y]
        x2 = a[first + (i + 1) * BLOCK]  # [f.x2]
        y2 = b[first + (i + 1) * BLOCK]  # [f.y2]
        v, v2 = x - y, x2 - y2
        total += v + v2  # [f.sum]
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = total  # [f.out]


@cuda.jit
def transpose_scatter(source, to):
    x, y = cuda.grid(2)
    to[x, y] = source[y, x]  # [t1.move]


@cuda.jit
def transpose_gather(source, to):
    x, y = cuda.grid(2)
    to[y, x] = source[x, y]  # [t2.move]


@cuda.jit
def transpose_tiled(source, to):
    tile = cuda.shared.array((TILE, TILE), F32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    for j in range(0, TILE, cuda.blockDim.y):
        tile[ty + j, tx] = source[top + ty + j, left + tx]  # [t3.load]
    cuda.syncthreads()  # [t3.ready]
    for j in range(0, TILE, cuda.blockDim.y):
        to[left + ty + j, top + tx] = tile[tx, ty + j]  # [t3.store]


@cuda.jit
def transpose_padded(source, to):
    tile = cuda.shared.array((TILE, PADDED), F32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    for j in range(0, TILE, cuda.blockDim.y):
        tile[ty + j, tx] = source[top + ty + j, left + tx]  # [t3.load]
    cuda.syncthreads()  # [t3.ready]
    for j in range(0, TILE, cuda.blockDim.y):
        to[left + ty + j, top + tx] = tile[tx, ty + j]  # [t3.store]


@cuda.jit
def transpose_wide(source, to):
    tile = cuda.shared.array(LARGEST, F32)
    four = cuda.local.array(4, F32)
    side, pitch = 4 * cuda.blockDim.x, 4 * cuda.blockDim.x + 1
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * side, cuda.blockIdx.y * side
    for j in range(0, side, cuda.blockDim.y):
        for k in range(4):
            four[k] = source[top + ty + j, left + tx * 4 + k]  # [t4.load]
        at = (ty + j) * pitch + tx * 4
        tile[at] = four[0]  # [t4.0]
        tile[at + 1] = four[1]  # [t4.1]
        tile[at + 2] = four[2]  # [t4.2]
        tile[at + 3] = four[3]  # [t4.3]
    cuda.syncthreads()  # [t4.ready]
    for j in range(0, side, cuda.blockDim.y):
        at = tx * 4 * pitch + ty + j
        four[0] = tile[at]  # [t4.x]
        four[1] = tile[at + pitch]  # [t4.y]
        four[2] = tile[at + 2 * pitch]  # [t4.z]
        four[3] = tile[at + 3 * pitch]  # [t4.w]
        for k in range(4):
            to[left + ty + j, top + tx * 4 + k] = four[k]  # [t4.store]


@cuda.jit
def norm_warps(to, mean, rstd, source, weight, bias):
    lane = cuda.threadIdx.x % 32
    row = cuda.blockIdx.x * (cuda.blockDim.x // 32) + cuda.threadIdx.x // 32
    c = source.shape[1]
    total = F32(0)
    for i in range(lane, c, 32):
        total += source[row, i]  # [n3.sum]
    m = total / F32(c)
    if lane == 0:
        mean[row] = m  # [n3.mean]
    total = F32(0)
    for i in range(lane, c, 32):
        total += (source[row, i] - m) * (source[row, i] - m)  # [n3.square]
    s = total / F32(c)
    if lane == 0:
        rstd[row] = s  # [n3.rstd]
    for i in range(lane, c, 32):
        to[row, i] = s * (source[row, i] - m) * weight[i] + bias[i]  # [n3.out]


@cuda.jit
def norm_blocks(to, mean, rstd, source, weight, bias):
    sums, squares = cuda.shared.array(32, F32), cuda.shared.array(32, F32)
    t, row, c = cuda.threadIdx.x, cuda.blockIdx.x, source.shape[1]
    lane, warp = t % 32, t // 32
    total, square = F32(0), F32(0)
    for i in range(t, c, cuda.blockDim.x):
        own = source[row, i]  # [n5.load]
        total += own  # [n5.sum]
        square += own * own  # [n5.square]
    if lane == 0:  # every lane of the original stores the same
        sums[warp] = total  # [n5.sums]
        squares[warp] = square  # [n5.squares]
    cuda.syncthreads()  # [n5.ready]
    if lane < cuda.blockDim.x // 32:
        total = sums[lane]  # [n5.a]
        square = squares[lane]  # [n5.b]
    m, s = total / F32(c), square / F32(c)
    if t == 0:
        mean[row] = m  # [n5.mean]
        rstd[row] = s  # [n5.rstd]
    for i in range(t, c, cuda.blockDim.x):
        to[row, i] = s * (source[row, i] - m) * weight[i] + bias[i]  # [n5.out]


@cuda.jit
def norm_shared(to, mean, rstd, source, weight, bias):
    kept = cuda.shared.array(0, F32)
    four = cuda.local.array(4, F32)
    tx, ty, c = cuda.threadIdx.x, cuda.threadIdx.y, source.shape[1]
    for i in range((tx + 32 * ty) * 4, c, cuda.blockDim.y * 128):
        for k in range(4):
            kept[i + k] = weight[i + k]  # [n6.w]
        for k in range(4):
            kept[c + i + k] = bias[i + k]  # [n6.b]
    cuda.syncthreads()  # [n6.ready]
    row, own = cuda.blockIdx.x * cuda.blockDim.y + ty, (2 + ty) * c
    total, square = F32(0), F32(0)
    for i in range(tx * 4, c, 128):
        for k in range(4):
            four[k] = source[row, i + k]  # [n6.x]
        total += four[0] + four[1] + four[2] + four[3]  # [n6.sum]
        for k in range(4):
            kept[own + i + k] = four[k]  # [n6.own]
    m = total / F32(c)
    for i in range(tx * 4, c, 128):
        for k in range(4):
            four[k] = kept[own + i + k]  # [n6.again]
        for k in range(4):
            four[k] = four[k] - m  # [n6.less]
        for k in range(4):
            square += four[k] * four[k]  # [n6.square]
    s = square / F32(c)
    for i in range(tx * 4, c, 128):
        for k in range(4):
            four[k] = kept[own + i + k] - m  # [n6.last]
        for k in range(4):
            four[k] *= s * kept[i + k]  # [n6.weight]
        for k in range(4):
            four[k] += kept[c + i + k]  # [n6.bias]
        for k in range(4):
            to[row, i + k] = four[k]  # [n6.out]
    if tx == 0:
        mean[row] = m  # [n6.mean]
        rstd[row] = s  # [n6.rstd]


@cuda.jit
def norm_shared_once(to, mean, rstd, source, weight, bias):
    kept = cuda.shared.array(0, F32)
    four = cuda.local.array(4, F32)
    tx, ty, c = cuda.threadIdx.x, cuda.threadIdx.y, source.shape[1]
    for i in range((tx + 32 * ty) * 4, c, cuda.blockDim.y * 128):
        for k in range(4):
            kept[i + k] = weight[i + k]  # [n6.w]
        for k in range(4):
            kept[c + i + k] = bias[i + k]  # [n6.b]
    cuda.syncthreads()  # [n6.ready]
    row, own = cuda.blockIdx.x * cuda.blockDim.y + ty, (2 + ty) * c
    total, square = F32(0), F32(0)
    for i in range(tx * 4, c, 128):
        for k in range(4):
            four[k] = source[row, i + k]  # [n6.x]
        total += four[0] + four[1] + four[2] + four[3]  # [n6.sum]
        for k in range(4):
            square += four[k] * four[k]  # [n6.once]
        for k in range(4):
            kept[own + i + k] = four[k]  # [n6.own]
    m, s = total / F32(c), square / F32(c)
    for i in range(tx * 4, c, 128):
        for k in range(4):
            four[k] = kept[own + i + k] - m  # [n6.last]
        for k in range(4):
            four[k] *= s * kept[i + k]  # [n6.weight]
        for k in range(4):
            four[k] += kept[c + i + k]  # [n6.bias]
        for k in range(4):
            to[row, i + k] = four[k]  # [n6.out]
    if tx == 0:
        mean[row] = m  # [n6.mean]
        rstd[row] = s  # [n6.rstd]


@cuda.jit
def total(x, out, items):
    part = cuda.shared.array(WITH_MORE, I32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * LARGE_BLOCK + t
    own = I32(0)
    for j in range(items):
        own += x[i * items + j]  # [u.load]
    part[t] = own  # [u.part]
    cuda.syncthreads()  # [u.ready]
    for step in (256, 128, 64):
        if t < step:
            part[t] += part[t + step]  # [u.add]
        cuda.syncthreads()  # [u.done]
    for k in range(6):
        if t < 32 >> k:
            part[t] += part[t + (32 >> k)]  # [u.last]
    if t == 0:
        cuda.atomic.add(out, 0, part[0])  # [u.out]


@cuda.jit
def total_wide(x, out, items):
    part = cuda.shared.array(WITH_MORE, I32)
    four = cuda.local.array(4, I32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * LARGE_BLOCK + t
    own = I32(0)
    for j in range(0, items, 4):
        for k in range(4):
            four[k] = x[i * items + j + k]  # [u.wide]
        own += four[0] + four[1] + four[2] + four[3]
    part[t] = own  # [u.part]
    cuda.syncthreads()  # [u.ready]
    for step in (256, 128, 64):
        if t < step:
            part[t] += part[t + step]  # [u.add]
        cuda.syncthreads()  # [u.done]
    for k in range(6):
        if t < 32 >> k:
            part[t] += part[t + (32 >> k)]  # [u.last]
    if t == 0:
        cuda.atomic.add(out, 0, part[0])  # [u.out]

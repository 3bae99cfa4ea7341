"""Swizzles by rows of XOR, exponents by ilogb, and a consumer that is one product behind."""
# ruff: noqa: F821

import numpy as np

from warpwise import cuda


@cuda.jit
def one_tile(a, b, c):
    words = cuda.local.array(6, np.uint32)
    sums = cuda.local.array(4, np.float32)
    lane = cuda.threadIdx.x
    for i in range(4):
        words[i] = a[16 * cuda.blockIdx.y + lane // 4 + i % 2 * 8, lane % 4 + i // 2 * 4]
    for i in range(2):
        words[4 + i] = b[8 * cuda.blockIdx.x + lane // 4, lane % 4 + 4 * i]
    for i in range(4):
        sums[i] = 0
    sums[0], sums[1], sums[2], sums[3] = mma_bf16(
        words[0], words[1], words[2], words[3], words[4], words[5], sums[0], sums[1], sums[2], 0
    )
    for i in range(4):
        line = 16 * cuda.blockIdx.y + lane // 4 + i // 2 * 8
        c[line, 8 * cuda.blockIdx.x + lane % 4 * 2 + i % 2] = sums[i]


@cuda.jit
def padded(a, b, c):
    """No padding: word w of row r lies at w ^ 4 * (r % 8) of it."""
    tile = cuda.shared.array(512, np.uint32, alignment=16)
    sums = cuda.local.array(4, np.float32)
    lane = cuda.threadIdx.x
    g, q = divmod(lane, 4)
    for i in range(4):
        sums[i] = np.float32(0)
    for step in range(a.shape[1] // 32):
        for r in range(16):
            tile[32 * r + (lane ^ 4 * (r % 8))] = a[16 * cuda.blockIdx.y + r, 32 * step + lane]
        cuda.syncthreads()
        for chunk in range(0, 8, 2):
            there = (chunk + lane // 16) ^ (lane % 8)
            x0, x1, x2, x3 = ldmatrix_x4(tile, lane % 16 * 32 + there * 4)
            at = 32 * step + 4 * chunk + q
            y0, y1 = b[8 * cuda.blockIdx.x + g, at], b[8 * cuda.blockIdx.x + g, at + 4]
            sums[0], sums[1], sums[2], sums[3] = mma_bf16(
                x0, x1, x2, x3, y0, y1, sums[0], sums[1], sums[2], sums[3]
            )
        cuda.syncthreads()
    for i in range(4):
        c[16 * cuda.blockIdx.y + g + i // 2 * 8, 8 * cuda.blockIdx.x + 2 * q + i % 2] = sums[i]


def swizzle(rows, chunks, width):
    shift = {2: 2, 4: 1, 8: 0}[width]
    return width * rows + np.bitwise_xor(chunks, (rows >> shift) & (width - 1))


@cuda.jit
def pipeline(a, b, c, k):
    """The last stage is multiplied in a trip of its own, in which nothing is copied."""
    tile = cuda.shared.array(3072, np.uint32, alignment=16)
    sums = cuda.local.array((2, 4), np.float32)
    lane, warp = cuda.laneid, cuda.threadIdx.x // 32
    for i in range(2):
        for j in range(4):
            sums[i, j] = 0
    steps = k // 64
    for trip in range(steps + 1):
        if trip > 0:
            cp_async_wait(0)
            cuda.syncthreads()
        if trip < steps:
            first = trip % 2 * 1536
            for e in range(cuda.threadIdx.x, 256, 64):
                begin = (32 * cuda.blockIdx.y + e // 8) * k // 2 + 32 * trip + e % 8 * 4
                cp_async16(tile, first + e // 8 * 32 + (e % 8 ^ e // 8 % 8) * 4, a, begin)
            for e in range(cuda.threadIdx.x, 128, 64):
                begin = (16 * cuda.blockIdx.x + e // 8) * k // 2 + 32 * trip + e % 8 * 4
                cp_async16(tile, first + 1024 + e // 8 * 32 + (e % 8 ^ e // 8 % 8) * 4, b, begin)
        cp_async_commit()
        if trip > 0:
            first = 1536 - trip % 2 * 1536
            for chunk in range(lane // 16, 8, 2):
                moved = first + lane % 16 * 32 + (chunk ^ lane % 8) * 4
                f0, f1, f2, f3 = ldmatrix_x4(tile, moved + 512 * warp)
                h0, h1, h2, h3 = ldmatrix_x4(tile, moved + 1024)
                for j in range(2):
                    u, v = (h1, h3) if j else (h0, h2)
                    sums[j, 0], sums[j, 1], sums[j, 2], sums[j, 3] = mma_bf16(
                        f0, f1, f2, f3, u, v, sums[j, 0], sums[j, 1], sums[j, 2], sums[j, 3]
                    )
    for j in range(2):
        for i in range(4):
            line = 32 * cuda.blockIdx.y + 16 * warp + i // 2 * 8 + lane // 4
            c[line, 16 * cuda.blockIdx.x + 8 * j + lane % 4 * 2 + i % 2] = sums[j, i]


@cuda.jit
def quantise(x, scales, codes):
    """A number is a whole multiple of its last place: 8 to 16 of it, and of the smallest 0 to 8."""
    place = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if place >= x.size:
        return
    number = x[place]
    largest = cuda.libdevice.fabsf(number)
    lanes = 1
    while lanes < 32:
        other = cuda.shfl_xor_sync(0xFFFFFFFF, largest, lanes)
        if other > largest:
            largest = other
        lanes *= 2
    power = max(cuda.libdevice.ilogbf(largest) + 119, 0)
    ratio = cuda.libdevice.ldexpf(cuda.libdevice.fabsf(number), 127 - power)
    ratio = min(ratio, np.float32(448))
    exponent = max(cuda.libdevice.ilogbf(ratio), -6)
    eighths = cuda.libdevice.rintf(cuda.libdevice.ldexpf(ratio, 3 - exponent))
    code = np.uint8(8 * (exponent + 6) + np.int32(eighths))
    codes[place] = code | (128 if number < 0 else 0)
    if cuda.laneid == 0:
        scales[place // 32] = power


@cuda.jit
def consumer(a_map, b_map, c, steps):
    """A stage is given back when the products of the next one have been started."""
    full = cuda.shared.array(2, np.uint64)
    empty = cuda.shared.array(2, np.uint64)
    left = cuda.shared.array((2, 64, 32), np.float16, alignment=1024)
    right = cuda.shared.array((2, 16, 32), np.float16, alignment=1024)
    warp = cuda.threadIdx.x // 32
    if cuda.threadIdx.x == 0:
        prepare(full, empty)
    cuda.syncthreads()
    if warp == 4:
        if cuda.laneid == 0:
            produce(a_map, b_map, left, right, full, empty, steps)
        return
    held = cuda.local.array(8, np.float32)
    now, turn = 0, 0
    for s in range(steps):
        while not hopper.mbarrier_try_wait(full, now, turn):
            pass
        hopper.wgmma_fence()
        for part in range(2):
            hopper.wgmma_mma_async(
                held,
                hopper.wgmma_descriptor(left[now], 64) + 2 * part,
                hopper.wgmma_descriptor(right[now], 64) + 2 * part,
                s + part > 0,
            )
        hopper.wgmma_commit_group()
        if s > 0:
            hopper.wgmma_wait_group(1)
            hopper.mbarrier_arrive(empty, 1 - now)
        now = 1 - now
        if now == 0:
            turn = 1 - turn
    hopper.wgmma_wait_group(0)
    for half in range(2):
        line = 64 * cuda.blockIdx.y + warp * 16 + half * 8 + cuda.laneid // 4
        for pair in range(4):
            side = 16 * cuda.blockIdx.x + pair // 2 * 8 + cuda.laneid % 4 * 2 + pair % 2
            c[line, side] = held[pair // 2 * 4 + half * 2 + pair % 2]

"""Parts of arrays in place of offsets, wide fetches, codes by bisection, and rounds of the ring."""
# ruff: noqa: F821

import numpy as np

from warpwise import cuda
from warpwise.kernels.wide import load4, store4


@cuda.jit
def one_tile(a, b, c):
    up, left = cuda.blockIdx.y, cuda.blockIdx.x
    rows, columns = a[16 * up : 16 * up + 16], b[8 * left : 8 * left + 8]
    tile = c[16 * up : 16 * up + 16, 8 * left : 8 * left + 8]
    lane = cuda.threadIdx.x
    across = lane % 4
    down = (lane - across) // 4
    zero = np.float32(0)
    left_up, right_up = rows[down][across], rows[down][across + 4]
    left_low, right_low = rows[down + 8][across], rows[down + 8][across + 4]
    upper, lower = columns[down][across], columns[down][across + 4]
    made = mma_bf16(left_up, left_low, right_up, right_low, upper, lower, zero, zero, zero, zero)
    pair = across + across
    tile[down, pair], tile[down, pair + 1] = made[0], made[1]
    tile[down + 8, pair], tile[down + 8, pair + 1] = made[2], made[3]


@cuda.jit
def padded(a, b, c):
    """A lane fetches four words at a time, and two parts of a step share a fetch of b."""
    tile = cuda.shared.array(576, np.uint32, alignment=16)
    up, left, lane = cuda.blockIdx.y, cuda.blockIdx.x, cuda.laneid
    all_words, deep = a.reshape(-1), a.shape[1]
    column = b[8 * left + (lane >> 2)]
    row_of_mine, half_of_mine = lane & 15, lane >> 4
    p = q = r = s = np.float32(0)
    first = 0
    while first < deep:
        for quarter in range(4):
            row = 4 * quarter + (lane >> 3)
            w, x, y, z = load4(all_words, (16 * up + row) * deep + first + 4 * (lane & 7))
            store4(tile, 36 * row + 4 * (lane & 7), w, x, y, z)
        cuda.syncthreads()
        for deeper in range(4):
            w, x, y, z = ldmatrix_x4(tile, 36 * row_of_mine + 4 * half_of_mine + 8 * deeper)
            near = first + 8 * deeper + (lane & 3)
            p, q, r, s = mma_bf16(w, x, y, z, column[near], column[near + 4], p, q, r, s)
        cuda.syncthreads()
        first += 32
    for lower in range(2):
        line = c[16 * up + 8 * lower + (lane >> 2)]
        line[8 * left + 2 * (lane & 3)] = r if lower else p
        line[8 * left + 2 * (lane & 3) + 1] = s if lower else q


def swizzle(rows, chunks, width):
    places = np.empty(rows.size, np.int64)
    for n, (row, chunk) in enumerate(zip(rows.ravel(), chunks.ravel(), strict=True)):
        order = [place ^ (row // (8 // width)) % width for place in range(width)]
        places[n] = row * width + order[chunk]
    return places.reshape(rows.shape)


@cuda.jit(device=True)
def fetched(tile, begin, source, first, pitch, times):
    """Start copying ``times`` times 8 rows of 8 chunks."""
    down, across = divmod(cuda.threadIdx.x, 8)
    for n in range(times):
        to = begin + 32 * (8 * n + down) + 4 * (across ^ down)
        cp_async16(tile, to, source, first + (8 * n + down) * pitch + 4 * across)


@cuda.jit
def pipeline(a, b, c, k):
    """One ldmatrix reads 8 columns of two products, and each warp has its own 16 rows."""
    rows = cuda.shared.array(2048, np.uint32, alignment=16)
    columns = cuda.shared.array(1024, np.uint32, alignment=16)
    left_sums = cuda.local.array(4, np.float32)
    right_sums = cuda.local.array(4, np.float32)
    for n in range(4):
        left_sums[n] = right_sums[n] = 0
    lane, half = cuda.threadIdx.x & 31, cuda.threadIdx.x >> 5
    pitch, begin_a, begin_b = k // 2, 16 * cuda.blockIdx.y * k, 8 * cuda.blockIdx.x * k
    turn, ahead = 0, 32
    fetched(rows, 0, a, begin_a, pitch, 4)
    fetched(columns, 0, b, begin_b, pitch, 2)
    cp_async_commit()
    while ahead <= pitch:
        cp_async_wait(0)
        cuda.syncthreads()
        now, turn = turn, 1 - turn
        if ahead < pitch:
            fetched(rows, turn << 10, a, begin_a + ahead, pitch, 4)
            fetched(columns, turn << 9, b, begin_b + ahead, pitch, 2)
            cp_async_commit()
        ahead += 32
        spot = (now << 10) + 32 * (16 * half + (lane & 15))
        for both in range(2):
            corner = (now << 9) + 32 * (lane & 7) + 4 * (4 * both + (lane >> 3) ^ (lane & 7))
            l0, l1, l2, l3 = ldmatrix_x4(columns, corner)
            r0, r1, r2, r3 = ldmatrix_x4(columns, corner + 256)
            w, x, y, z = ldmatrix_x4(rows, spot + 4 * (4 * both + (lane >> 4) ^ (lane & 7)))
            add(left_sums, w, x, y, z, l0, l1)
            add(right_sums, w, x, y, z, r0, r1)
            w, x, y, z = ldmatrix_x4(rows, spot + 4 * (4 * both + 2 + (lane >> 4) ^ (lane & 7)))
            add(left_sums, w, x, y, z, l2, l3)
            add(right_sums, w, x, y, z, r2, r3)
    mine = c[32 * cuda.blockIdx.y + 16 * half :, 16 * cuda.blockIdx.x + 2 * (lane & 3) :]
    for n in range(4):
        mine[(lane >> 2) + 8 * (n >> 1), n & 1] = left_sums[n]
        mine[(lane >> 2) + 8 * (n >> 1), 8 + (n & 1)] = right_sums[n]


@cuda.jit(device=True)
def add(sums, w, x, y, z, upper, lower):
    p, q, r, s = mma_bf16(w, x, y, z, upper, lower, sums[0], sums[1], sums[2], sums[3])
    sums[0], sums[1] = p, q
    sums[2], sums[3] = r, s


@cuda.jit(device=True)
def worth(code):
    """The number of a code, in 512ths."""
    whole = code % 8 + 8 if code >= 8 else code
    return np.float32(whole << max(code // 8 - 1, 0))


@cuda.jit
def quantise(x, scales, codes):
    """The code is found bit by bit: the largest whose number is no larger, or the one after it."""
    i = cuda.grid(1)
    if i >= x.size:
        return
    bits = x[i].view(np.int32)
    unsigned = np.int32(bits & 0x7FFFFFFF)
    high = unsigned
    for shift in range(5):
        high = max(high, cuda.shfl_xor_sync(0xFFFFFFFF, high, 1 << shift))
    byte = (high >> 23) - 8 if high >= 8 << 23 else 0
    here = unsigned.view(np.float32)
    here *= np.int32((254 - byte) << 23).view(np.float32)
    here = np.float32(512) * here
    code = 0
    for bit in (64, 32, 16, 8, 4, 2, 1):
        if code + bit < 127 and worth(code + bit) <= here:
            code += bit
    if code < 126:
        below, above = here - worth(code), worth(code + 1) - here
        if above < below or (above == below and code % 2 == 1):
            code += 1
    codes[i] = code if bits >= 0 else 128 + code
    if cuda.threadIdx.x % 32 == 31:
        scales[i >> 5] = byte


@cuda.jit
def consumer(a_map, b_map, c, steps):
    """Rounds of the ring: in each, every stage has the same parity."""
    bars_of_full = cuda.shared.array(2, np.uint64)
    bars_of_empty = cuda.shared.array(2, np.uint64)
    high = cuda.shared.array((2, 64, 32), np.float16, alignment=1024)
    wide = cuda.shared.array((2, 16, 32), np.float16, alignment=1024)
    t = cuda.threadIdx.x
    if t == 128:
        prepare(bars_of_full, bars_of_empty)
    cuda.syncthreads()
    if t >= 128:
        if t == 159:
            produce(a_map, b_map, high, wide, bars_of_full, bars_of_empty, steps)
    else:
        results = cuda.local.array(8, np.float32)
        for n in range(8):
            results[n] = np.float32(0)
        for around in range((steps + 1) >> 1):
            for which in range(2):
                if 2 * around + which < steps:
                    while not hopper.mbarrier_try_wait(bars_of_full, which, around & 1):
                        pass
                    multiplied(results, high[which], wide[which])
                    hopper.mbarrier_arrive(bars_of_empty, which)
        mine = c[64 * cuda.blockIdx.y + (t >> 5) * 16 + ((t & 31) >> 2) :]
        for n in range(8):
            line = mine[8 * (n >> 1 & 1)]
            line[16 * cuda.blockIdx.x + 2 * (t & 3) + 8 * (n >> 2) + (n & 1)] = results[n]


@cuda.jit(device=True)
def multiplied(results, high, wide):
    x, y = hopper.wgmma_descriptor(high, 64), hopper.wgmma_descriptor(wide, 64)
    hopper.wgmma_fence()
    for deeper in (0, 2):
        hopper.wgmma_mma_async(results, x + deeper, y + deeper, 1)
        hopper.wgmma_commit_group()
    hopper.wgmma_wait_group(0)

"""Scores in units of log 2, runs of pages in place of every fourth, tiles that begin anywhere, and
a warp that corrects unless no lane needs it."""
# ruff: noqa: F821

import math

import numpy as np

from warpwise import cuda, hopper

IN_TWOS = np.float32(1.4426950408889634)
LN_TWO = np.float32(0.6931471805599453)


@cuda.jit(device=True)
def share(score, best):
    """The new maximum, the factor of what was summed, and a lane's weight."""
    larger = max(best, warp_max(score))
    return larger, math.exp2(best - larger), math.exp2(score - larger)


@cuda.jit
def decode_packed(q, k, v, o, L, scale):
    kt = cuda.shared.array((D, 33), np.float32)  # columns of keys, elements of rows
    vt = cuda.shared.array((32, D), np.float32)
    x, y, kv = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.x
    mine = q[kv * cuda.blockDim.y + y, x] * (scale * IN_TWOS)
    best, total, upper, lower = np.float32(-1e30), np.float32(0), np.float32(0), np.float32(0)
    for tile in range((k.shape[1] + 31) // 32):
        rows = min(32, k.shape[1] - 32 * tile)
        cuda.syncthreads()
        for n in range(32 * y + x, 32 * rows, 32 * cuda.blockDim.y):
            kt[n % 32, n // 32] = k[kv, 32 * tile + n // 32, n % 32]
            vt[n // 32, n % 32] = v[kv, 32 * tile + n // 32, n % 32]
        cuda.syncthreads()
        s = np.float32(0)
        for e in range(D):
            element = cuda.shfl_sync(ALL, mine, e)
            if x < rows:
                s += element * kt[e, x]
        best, fix, p = share(s if x < rows else np.float32(-math.inf), best)
        total = total * fix + p
        upper, lower = upper * fix, lower * fix
        for c in range(0, rows, 2):
            upper += cuda.shfl_sync(ALL, p, c) * vt[c, x]
            if c + 1 < rows:
                lower += cuda.shfl_sync(ALL, p, c + 1) * vt[c + 1, x]
    total = warp_sum(total)
    o[kv * cuda.blockDim.y + y, x] = (upper + lower) / total
    if x == y:
        L[kv * cuda.blockDim.y + y] = (best + math.log2(total)) * LN_TWO


@cuda.jit
def decode_paged(q, k, v, table, lengths, o, L, scale):
    """Warp w takes a run of pages; a part is handed over as an average and a logarithm."""
    logs = cuda.shared.array(4, np.float32)
    averages = cuda.shared.array((32, 5), np.float32)
    x, w, b = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.x
    length = lengths[b]
    filled = -(-length // 16)
    run = -(-filled // 4)
    mine = q[b, x] * (scale * IN_TWOS)
    best, total, acc = np.float32(-1e30), np.float32(0), np.float32(0)
    for i in range(w * run, min(filled, (w + 1) * run)):
        page = table[b, i]
        s = np.float32(-math.inf)
        tokens = min(16, length - 16 * i) if i == filled - 1 else 16
        for r in range(tokens):
            one = mine * k[page, r, x]
            for far in (16, 8, 4, 2, 1):
                one += cuda.shfl_down_sync(ALL, one, far)
            one = cuda.shfl_sync(ALL, one, 0)
            s = one if x == r else s
        best, fix, p = share(s, best)
        total, acc = total * fix + warp_sum(p), acc * fix
        for r in range(tokens):
            acc += v[page, r, x] * cuda.shfl_sync(ALL, p, r)
    averages[x, w] = acc / total if total > np.float32(0) else np.float32(0)
    if x == 0:
        logs[w] = best + math.log2(total) if total > np.float32(0) else np.float32(-math.inf)
    cuda.syncthreads()
    if w == 1:
        top = max(max(logs[0], logs[1]), max(logs[2], logs[3]))
        over = under = np.float32(0)
        for part in range(4):
            weight = math.exp2(logs[part] - top)
            under += weight
            over += weight * averages[x, part]
        o[b, x] = over / under
        if x == 0:
            L[b] = (top + math.log2(under)) * LN_TWO


@cuda.jit(device=True)
def key_of(at, few, begin):
    return at if at < few else at + (begin - few)


@cuda.jit
def window_sinks(q, k, v, o, L, window, sinks, scale):
    ks = cuda.shared.array((32, 33), np.float32)
    vs = cuda.shared.array((32, 33), np.float32)
    x, y, h = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    n, row = q.shape[1], 8 * cuda.blockIdx.x + y
    begin = max(8 * cuda.blockIdx.x + 1 - window, 0)
    few = min(begin, sinks)
    length = few + min(8 * (cuda.blockIdx.x + 1), n) - begin
    mine = q[h, row, x] * (scale * IN_TWOS) if row < n else np.float32(0)
    best, total, acc = np.float32(-1e30), np.float32(0), np.float32(0)
    tile = (length - 1) // 32
    while tile >= 0:  # from the last tile to the first
        for r in range(y, 32, 8):
            if 32 * tile + r < length:
                ks[r, x] = k[h, key_of(32 * tile + r, few, begin), x]
                vs[r, x] = v[h, key_of(32 * tile + r, few, begin), x]
        cuda.syncthreads()
        at = 32 * tile + x
        key = key_of(at, few, begin)
        hidden = at >= length or key > row or (key + window <= row and key >= sinks)
        s = np.float32(0)
        for e in range(32):
            element = cuda.shfl_sync(ALL, mine, e)
            if at < length:
                s += element * ks[x, e]
        best, fix, p = share(np.float32(-math.inf) if hidden else s, best)
        total, acc = total * fix + p, acc * fix
        for c in range(min(32, length - 32 * tile)):
            acc += cuda.shfl_sync(ALL, p, c) * vs[c, x]
        cuda.syncthreads()
        tile -= 1
    total = warp_sum(total)
    if row < n:
        o[h, row, x] = acc / total
        if x == 7:
            L[h, row] = (best + math.log2(total)) * LN_TWO


@cuda.jit
def rescale_rarely(q, k, v, o, times, scale, tau):
    i = cuda.grid(1)
    row = cuda.local.array(WIDTH, np.float32)
    acc = cuda.local.array(WIDTH, np.float32)
    for e in range(WIDTH):
        row[e], acc[e] = q[i, e], 0
    c, limit, total = np.float32(-math.inf), np.float32(-math.inf), np.float32(0)
    corrected = 0
    j = 0
    while j < k.shape[0]:
        s = row[0] * k[j, 0]
        for e in range(1, WIDTH):
            s += row[e] * k[j, e]
        s = scale * s
        if not cuda.all_sync(ALL, s <= limit):
            fix = math.exp2(c - max(c, s))
            c = max(c, s)
            limit = c + tau
            corrected += 1
            total = total * fix
            for e in range(WIDTH):
                acc[e] = acc[e] * fix
        p = math.exp2(s - c)
        total = total + p
        for e in range(WIDTH):
            acc[e] = acc[e] + p * v[j, e]
        j += 1
    for e in range(WIDTH):
        o[i, e] = acc[e] / total
    if cuda.threadIdx.x == 0:
        times[cuda.blockIdx.x] = corrected


# A factor made of bits, sums that are multiplied while scores are, and tiles scaled afterwards.


@cuda.jit
def powers(x, y):
    """The power of the whole number is a float32 of its own, and below -127 it is 0."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= x.size:
        return
    low = min(-x[i], np.float32(127))  # the size of x
    above = cuda.libdevice.ceilf(low)
    f = above - low
    factor = np.int32((127 - int(above)) << 23).view(np.float32)
    square = f * f
    near = np.float32(1) + np.float32(0.69514614) * f
    y[i] = factor * (near + square * (np.float32(0.22756439) + np.float32(0.07711909) * f))


@cuda.jit
def two_groups(q_map, k_map, v_map, o, steps):
    """The scores of a tile are multiplied beside the sums of the tile before it."""
    full = cuda.shared.array(2, np.uint64)
    empty = cuda.shared.array(2, np.uint64)
    weights = cuda.shared.array((2, 2, 64, 8), np.float16, alignment=1024)
    queries = cuda.shared.array((2, 64, 32), np.float16, alignment=1024)
    keys = cuda.shared.array((2, 16, 32), np.float16, alignment=1024)
    values = cuda.shared.array((2, 32, 16), np.float16, alignment=1024)
    warp = cuda.threadIdx.x // 32
    if cuda.threadIdx.x == 0:
        make_barriers(full, empty, 2 * 128)
    cuda.syncthreads()
    if warp == 8:
        if cuda.laneid == 0:
            copy_tiles(q_map, k_map, v_map, queries, keys, values, full, empty, steps)
        return
    group = warp // 4
    scores = cuda.local.array(8, np.float32)
    sums = cuda.local.array(16, np.float32)
    most = cuda.local.array(2, np.float32)
    total = cuda.local.array(2, np.float32)
    held = hopper.wgmma_descriptor(weights[group, 0], 0)
    for s in range(steps + 1):
        stage = s % 2
        hopper.wgmma_fence()
        if s > 0:
            before = hopper.wgmma_descriptor(values[1 - stage], 32)
            hopper.wgmma_mma_async(sums, held, before, s > 1)
            hopper.wgmma_commit_group()
        if s < steps:
            while not hopper.mbarrier_try_wait(full, stage, s // 2 % 2):
                pass
            for part in range(0, 4, 2):
                hopper.wgmma_mma_async(
                    scores,
                    hopper.wgmma_descriptor(queries[group], 64) + part,
                    hopper.wgmma_descriptor(keys[stage], 64) + part,
                    part > 0,
                )
            hopper.wgmma_commit_group()
        hopper.wgmma_wait_group(0)
        if s > 0:
            hopper.mbarrier_arrive(empty, 1 - stage)
        if s < steps:
            weigh(scores, sums, most, total, weights[group], s == 0)
            hopper.fence_proxy_async()
    for half in range(2):
        mine = total[half]
        mine += cuda.shfl_xor_sync(0xFFFFFFFF, mine, 2)
        mine += cuda.shfl_xor_sync(0xFFFFFFFF, mine, 1)
        line = 128 * cuda.blockIdx.x + 16 * warp + 8 * half + cuda.laneid // 4
        for pair in range(8):
            side = pair // 2 * 8 + cuda.laneid % 4 * 2 + pair % 2
            o[line, side] = sums[pair // 2 * 4 + 2 * half + pair % 2] / mine


def attend8(q, k, v, signs):
    """Numbers of the format are multiplied, and each tile then has its two scales."""
    n, d = q.shape

    def codes(x):
        made, scales = np.zeros_like(x), np.zeros(len(x) // 32)
        for b in range(len(x) // 32):
            block = x[32 * b : 32 * b + 32]
            scales[b] = max(block.max(), -block.min()) / 448
            made[32 * b : 32 * b + 32] = e4m3(block / scales[b])
        return made, scales

    def butterfly(x):
        x, width = x * signs, 1
        while width < d:
            pairs = x.reshape(len(x), -1, 2, width)
            x = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
            width *= 2
        return x.reshape(-1, d) / d**0.5

    (of_q, scale_q), (of_k, scale_k) = codes(butterfly(q)), codes(butterfly(k))
    scores = of_q @ of_k.T
    for i, a in enumerate(scale_q):
        for j, b in enumerate(scale_k):
            scores[32 * i : 32 * i + 32, 32 * j : 32 * j + 32] *= a * b
    scores /= d**0.5
    weights = np.exp(scores - scores.max(axis=1).reshape(n, 1))
    of_w, scale_w = codes(weights)
    of_v, scale_v = codes(v)
    sums = np.zeros((n, d))
    for j, b in enumerate(scale_v):
        sums += b * of_w[:, 32 * j : 32 * j + 32] @ of_v[32 * j : 32 * j + 32]
    return scores, sums * np.repeat(scale_w, 32)[:, None] / weights.sum(axis=1).reshape(n, 1)

"""Weights pass through shared memory, a lane reads many places of the table at once, sinks and
window are two loops, and a ballot decides."""
# ruff: noqa: F821

import math

import numpy as np

from warpwise import cuda, hopper


@cuda.jit(device=True)
def dot(row, column):
    s = np.float32(0)
    for e in range(32):
        s = row[e] * column[e] + s
    return s


@cuda.jit
def decode_packed(q, k, v, o, L, scale):
    keys_held = cuda.shared.array((32, 33), np.float32)
    values_held = cuda.shared.array((32, 32), np.float32)
    query = cuda.shared.array((8, 32), np.float32)
    weights = cuda.shared.array((8, 32), np.float32)
    lane, member = cuda.laneid, cuda.threadIdx.y
    head = cuda.blockIdx.x * cuda.blockDim.y + member
    query[member, lane] = scale * q[head, lane]
    best, total, sums = np.float32(-math.inf), np.float32(0), np.float32(0)
    start = 0
    while start < k.shape[1]:
        for row in range(member, 32, cuda.blockDim.y):
            there = start + row < k.shape[1]
            keys_held[row, lane] = k[cuda.blockIdx.x, start + row, lane] if there else 0
            values_held[row, lane] = v[cuda.blockIdx.x, start + row, lane] if there else 0
        cuda.syncthreads()
        score = dot(query[member], keys_held[lane])
        weights[member, lane] = score if start + lane < k.shape[1] else np.float32(-math.inf)
        cuda.syncwarp()
        larger = best
        for c in range(32):
            larger = max(weights[member, c], larger)
        factor = math.exp(best - larger)
        best = larger
        cuda.syncwarp()
        weights[member, lane] = math.exp(weights[member, lane] - larger)
        cuda.syncwarp()
        total, sums = factor * total, factor * sums
        for c in range(32):
            total += weights[member, c]
            sums += weights[member, c] * values_held[c, lane]
        cuda.syncthreads()
        start += 32
    o[head, lane] = sums / total
    if lane == 31:
        L[head] = math.log(total) + best


@cuda.jit
def decode_paged(q, k, v, table, lengths, o, L, scale):
    held = cuda.shared.array((4, 34), np.float32)
    lane, warp, b = cuda.laneid, cuda.threadIdx.y, cuda.blockIdx.x
    length = lengths[b]
    element = scale * q[b, lane]
    place = warp + 4 * lane  # of the page that this lane looks up
    known = table[b, place] if 16 * place < length else 0
    best, total, sums = np.float32(-math.inf), np.float32(0), np.float32(0)
    trips = 0
    while 16 * (warp + 4 * trips) < length:
        first = 16 * (warp + 4 * trips)
        page = cuda.shfl_sync(ALL, known, trips)
        score = np.float32(-math.inf)
        for r in range(16):
            if first + r < length:
                of_row = warp_sum(element * k[page, r, lane])
                score = of_row if lane == r else score
        larger = max(warp_max(score), best)
        factor, weight = math.exp(best - larger), math.exp(score - larger)
        best = larger
        total = factor * total + warp_sum(weight)
        sums *= factor
        for r in range(16):
            w = cuda.shfl_sync(ALL, weight, r)
            if first + r < length:
                sums += w * v[page, r, lane]
        trips += 1
    held[warp, lane] = sums
    if lane < 2:
        held[warp, 32 + lane] = best if lane else total
    cuda.syncthreads()
    # the four parts, each measured against the largest maximum
    largest = max(max(held[0, 33], held[1, 33]), max(held[2, 33], held[3, 33]))
    over, under = np.float32(0), np.float32(0)
    for part in range(4):
        weight = math.exp(held[part, 33] - largest)
        over, under = over + weight * held[part, lane], under + weight * held[part, 32]
    if warp == 3:
        o[b, lane] = over / under
        if lane == 3:
            L[b] = largest + math.log(under)


@cuda.jit
def window_sinks(q, k, v, o, L, window, sinks, scale):
    keys_held = cuda.shared.array((32, 33), np.float32)
    values_held = cuda.shared.array((32, 32), np.float32)
    query = cuda.shared.array((8, 33), np.float32)
    lane, warp, head = cuda.laneid, cuda.threadIdx.y, cuda.blockIdx.y
    top = 8 * cuda.blockIdx.x
    mine, bottom = top + warp, min(top + 8, q.shape[1])
    exists = mine < q.shape[1]
    query[warp, lane] = q[head, mine, lane] if exists else 0
    from_here = top - window + 1 if top >= window else 0
    best, total, sums = np.float32(-1e30), np.float32(0), np.float32(0)
    for of_sinks in range(2):
        begin = 0 if of_sinks else from_here
        end = min(sinks, from_here) if of_sinks else bottom
        for start in range(begin, end, 32):
            for row in range(warp, 32, 8):
                if start + row < end:
                    keys_held[row, lane] = k[head, start + row, lane]
                    values_held[row, lane] = v[head, start + row, lane]
            cuda.syncthreads()
            key = start + lane
            near = key <= mine and mine - key < window
            score = np.float32(-math.inf)
            if key < end and (near or (key < sinks and key <= mine)):
                score = scale * dot(query[warp], keys_held[lane])
            larger = max(best, warp_max(score))
            factor, weight = math.exp(best - larger), math.exp(score - larger)
            best = larger
            total = total * factor + weight
            sums *= factor
            for c in range(min(32, end - start)):
                sums += cuda.shfl_sync(ALL, weight, c) * values_held[c, lane]
            cuda.syncthreads()
    total = warp_sum(total)
    if exists:
        o[head, mine, lane] = sums / total
    if exists and lane == 0:
        L[head, mine] = best + math.log(total)


@cuda.jit
def rescale_rarely(q, k, v, o, times, scale, tau):
    mine = 32 * cuda.blockIdx.x + cuda.laneid
    query = cuda.local.array(16, np.float32)
    sums = cuda.local.array(17, np.float32)  # the last one is the total
    for e in range(17):
        sums[e] = 0
    for e in range(16):
        query[e] = scale * q[mine, e]
    kept, often = np.float32(-math.inf), np.int32(0)
    for j in range(k.shape[0]):
        score = np.float32(0)
        for e in range(16):
            score += k[j, e] * query[e]
        if cuda.ballot_sync(ALL, score - kept > tau):
            often += 1
            former, kept = kept, max(score, kept)
            factor = math.exp2(former - kept)
            for e in range(17):
                sums[e] *= factor
        weight = math.exp2(score - kept)
        for e in range(16):
            sums[e] += weight * v[j, e]
        sums[16] += weight
    if cuda.laneid == 31:
        times[cuda.blockIdx.x] = often
    for e in range(16):
        o[mine, e] = sums[e] / sums[16]


# Parts of arrays in place of offsets, functions of the answer's own, and rounds of the ring.


@cuda.jit(device=True)
def on_the_curve(f):
    p = cuda.fma(np.float32(0.07711909), f, np.float32(0.22756439))
    p = cuda.fma(p, f, np.float32(0.69514614))
    return cuda.fma(p, f, np.float32(1))


@cuda.jit
def powers(x, y):
    """int() cuts off towards 0, and is put right; what is too low is 0 without any arithmetic."""
    i = cuda.grid(1)
    if i < x.size:
        number, bits = x[i], np.uint32(0)
        if number >= np.float32(-126):
            whole = np.int32(number)
            if np.float32(whole) > number:
                whole -= np.int32(1)
            curve = on_the_curve(number - np.float32(whole)).view(np.uint32)
            bits = np.uint32(curve & 0x7FFFFF | (curve >> 23) + whole << 23)
        y[i] = bits.view(np.float32)


@cuda.jit(device=True)
def added(sums, left, right, first):
    """Products of 16 numbers at a time: one, or two."""
    hopper.wgmma_fence()
    hopper.wgmma_mma_async(sums, left, right, not first)
    hopper.wgmma_commit_group()


@cuda.jit
def two_groups(q_map, k_map, v_map, o, steps):
    """Each round of the ring has one parity, and a stage is one step of it."""
    queries = cuda.shared.array((2, 64, 32), np.float16, alignment=1024)
    stages_of_keys = cuda.shared.array((2, 16, 32), np.float16, alignment=1024)
    stages_of_values = cuda.shared.array((2, 32, 16), np.float16, alignment=1024)
    all_weights = cuda.shared.array((2, 2, 64, 8), np.float16, alignment=1024)
    have, free = cuda.shared.array(2, np.uint64), cuda.shared.array(2, np.uint64)
    t = cuda.threadIdx.x
    if t == 287:
        make_barriers(have, free, cuda.blockDim.x - 32)
    cuda.syncthreads()
    if t == 270:
        copy_tiles(
            q_map, k_map, v_map, queries, stages_of_keys, stages_of_values, have, free, steps
        )
    elif t < 256:
        scores = cuda.local.array(8, np.float32)
        sums = cuda.local.array(16, np.float32)
        rows = cuda.local.array((2, 2), np.float32)
        mine, weights = queries[t >> 7], all_weights[t >> 7]
        for around in range((steps + 1) >> 1):
            for which in range(2):
                if 2 * around + which < steps:
                    start = around + which == 0
                    while not hopper.mbarrier_try_wait(have, which, around & 1):
                        pass
                    x = hopper.wgmma_descriptor(mine, 64)
                    y = hopper.wgmma_descriptor(stages_of_keys[which], 64)
                    added(scores, x, y, True)
                    added(scores, x + 2, y + 2, False)
                    hopper.wgmma_wait_group(0)
                    weigh(scores, sums, rows[0], rows[1], weights, start)
                    hopper.fence_proxy_async()
                    x = hopper.wgmma_descriptor(weights[0], 0)
                    added(sums, x, hopper.wgmma_descriptor(stages_of_values[which], 32), start)
                    hopper.wgmma_wait_group(0)
                    hopper.mbarrier_arrive(free, which)
        out = o[128 * cuda.blockIdx.x + (t >> 5) * 16 + ((t & 31) >> 2) :, 2 * (t & 3) :]
        for half in range(2):
            pair = rows[1, half] + cuda.shfl_xor_sync(0xFFFFFFFF, rows[1, half], 1)
            share = np.float32(1) / (pair + cuda.shfl_xor_sync(0xFFFFFFFF, pair, 2))
            for n in range(4):
                out[8 * half, 8 * n] = sums[4 * n + 2 * half] * share
                out[8 * half, 8 * n + 1] = sums[4 * n + 2 * half + 1] * share


def attend8(q, k, v, signs):
    """Blocks in a list comprehension, and rows of e to the scores in place of a matrix."""
    turn = np.diag(signs) @ hadamard(signs.size)

    def eights(x):
        parts = np.split(x, x.shape[0] // 32)
        sizes = [float(np.abs(part).max()) for part in parts]
        return np.concatenate(
            [size / 448 * e4m3(448 / size * p) for size, p in zip(sizes, parts, strict=True)]
        )

    scores = np.einsum("nd,md->nm", eights(q @ turn), eights(k @ turn)) * q.shape[1] ** -0.5
    w = np.array([np.exp(row - row.max()) for row in scores])
    return scores, ((eights(w) @ eights(v)).T / w.sum(axis=1)).T

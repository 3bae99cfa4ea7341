"""Device functions for blocks, grid-stride loops over warps, and two exponentials where one would do."""
# ruff: noqa: F821

import math

import numpy as np

from warpwise import cuda


@cuda.jit(device=True)
def normal_form(value, centre, inverse):
    return (value - centre) * inverse


@cuda.jit(device=True)
def total_of_block(value, room):  # room: (8,) of shared memory; for every thread
    value = warp_sum(value)
    if cuda.laneid == 0:
        room[cuda.threadIdx.x // 32] = value
    cuda.syncthreads()
    value = room[0] + room[1] + room[2] + room[3] + room[4] + room[5] + room[6] + room[7]
    cuda.syncthreads()
    return value


@cuda.jit(device=True)
def most_of_block(value, room):
    value = warp_max(value)
    if cuda.laneid == 0:
        room[cuda.threadIdx.x // 32] = value
    cuda.syncthreads()
    value = warp_max(room[cuda.laneid % 8])
    cuda.syncthreads()
    return value


@cuda.jit
def norm_backward(dout, x, weight, mean, rstd, dx, dweights, dbiases):
    sums = cuda.shared.array((ROWS, C), np.float32)
    mine = cuda.local.array((2, 2), np.float32)
    mine[0, 0] = mine[0, 1] = mine[1, 0] = mine[1, 1] = np.float32(0)
    lane, warp, n = cuda.laneid, cuda.threadIdx.x // 32, np.float32(C)
    low, high = weight[lane], weight[lane + 32]
    for first in range(ROWS * cuda.blockIdx.x, x.shape[0], ROWS * cuda.gridDim.x):
        r = first + warp
        if r < x.shape[0]:
            centre, inverse = mean[r], rstd[r]
            p, q = normal_form(x[r, lane], centre, inverse), normal_form(x[r, lane + 32], centre, inverse)
            d, e = dout[r, lane], dout[r, lane + 32]
            mine[0, 0] += d * p
            mine[0, 1] += e * q
            mine[1, 0] += d
            mine[1, 1] += e
            d *= low
            e *= high
            plain, mixed = warp_sum(d + e) / n, warp_sum(d * p + e * q) / n
            dx[r, lane] += inverse * (d - (plain + p * mixed))
            dx[r, lane + 32] += inverse * (e - (plain + q * mixed))
    for which in range(2):  # both sums take the same place, one after the other
        sums[warp, lane], sums[warp, lane + 32] = mine[which, 0], mine[which, 1]
        cuda.syncthreads()
        if warp >= 2:
            column = cuda.threadIdx.x - 64
            found = ((sums[3, column] + sums[2, column]) + sums[1, column]) + sums[0, column]
            if which == 0:
                dweights[cuda.blockIdx.x, column] = found
            else:
                dbiases[cuda.blockIdx.x, column] = found
        cuda.syncthreads()


@cuda.jit
def residual_norm(x, more, weight, bias, total, out, mean, rstd):
    lane = cuda.laneid
    for r in range(cuda.grid(1) // 32, x.shape[0], cuda.gridsize(1) // 32):
        kept = cuda.local.array(2, np.float32)
        for half in (0, 1):
            c = lane + 32 * half
            h = x[r, c] + more[r, c]
            kept[half] = h
            total[r, c] = h
        centre = warp_sum(kept[0] + kept[1]) * np.float32(1 / 64)
        var = warp_sum((kept[0] - centre) * (kept[0] - centre) + (kept[1] - centre) * (kept[1] - centre)) * np.float32(1 / 64)
        inverse = np.float32(1) / math.sqrt(var + np.float32(0.00001))
        for half in (0, 1):
            c = lane + 32 * half
            out[r, c] = normal_form(kept[half], centre, inverse) * weight[c] + bias[c]
        if lane == 16:
            mean[r] = centre
            rstd[r] = inverse


@cuda.jit
def classifier(logits, targets, losses, vocabulary):
    room = cuda.shared.array(8, np.float32)
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    rows, columns = logits.shape
    best, powers = np.float32(-1e30), np.float32(0)
    for c in range(t, columns, THREADS):
        if c < vocabulary:
            z = logits[r, c]
            above = max(best, z)
            powers = powers * math.exp(best - above) + math.exp(z - above)
            best = above
    peak = most_of_block(best, room)
    lse = peak + math.log(total_of_block(powers * math.exp(best - peak), room))
    target = targets[r]
    if target % THREADS == t:
        losses[r] = lse - logits[r, target]
    for c in range(t, columns, THREADS):
        if c >= vocabulary:
            logits[r, c] = np.float32(0)
        elif c == target:
            logits[r, c] = (math.exp(logits[r, c] - lse) - np.float32(1)) / np.float32(rows)
        else:
            logits[r, c] = math.exp(logits[r, c] - lse) / np.float32(rows)


@cuda.jit
def bias_gradient(dout, dbias):
    places = cuda.shared.array(THREADS, np.float32)
    column = 32 * cuda.blockIdx.x + cuda.laneid
    places[cuda.threadIdx.x] = np.float32(0)
    r, own = cuda.threadIdx.x // 32, np.float32(0)
    if column < dout.shape[1]:
        while r < dout.shape[0]:
            own = own + dout[r, column]
            r += THREADS // 32
        places[cuda.threadIdx.x] = own
    cuda.syncthreads()
    if cuda.threadIdx.x >= THREADS - 32 and column < dout.shape[1]:
        for other in range(cuda.laneid, THREADS - 32, 32):
            own += places[other]
        dbias[column] = own


@cuda.jit(device=True)
def blended(old, new, share):
    return share * old + (np.float32(1) - share) * new


@cuda.jit
def adamw(gradient, master, mean, square, weight, scale, rate, decay, correct1, correct2):
    for i in range(cuda.grid(1), master.size, cuda.gridsize(1)):
        g = gradient[i] * scale
        mean[i] = m = blended(mean[i], g, BETA1)
        square[i] = v = blended(square[i], g * g, BETA2)
        old = master[i]
        new = old - rate * decay * old - rate * (m / correct1) / (math.sqrt(v / correct2) + EPSILON)
        master[i] = weight[i] = new


def block_backward(dend, x, p, heads):
    a, w = block(x, p, heads), tensors(p, x.shape[1])
    dact, dw4, db4 = linear_back(dend, a["gelu"], w["fcprojw"])
    dln2, dw3, db3 = linear_back(gelu_back(dact, a["fch"]), a["ln2"], w["fcw"])
    dmiddle, dg2, dh2 = norm_back(dln2, a["middle"], w["ln2w"])
    dmiddle = dmiddle + dend
    datty, dw2, db2 = linear_back(dmiddle, a["atty"], w["attprojw"])
    dln1, dw1, db1 = linear_back(attention_back(datty, a["qkv"], heads), a["ln1"], w["qkvw"])
    dx, dg1, dh1 = norm_back(dln1, x, w["ln1w"])
    parts = dg1, dh1, dw1, db1, dw2, db2, dg2, dh2, dw3, db3, dw4, db4
    return dx + dmiddle, np.hstack([part.flatten() for part in parts])


def step_bytes(batch, positions, vocabulary, layers, heads, channels, fused):
    """Formulas in whole rows of channels, 12 c^2 + 13 c parameters a layer."""
    n, c = batch * positions, channels
    norms = (2 * layers + 1) * (5 * n * c + 5 * c + 4 * n) + layers * n * c * (6 if fused else 12)
    products = layers * (36 * c * c + 48 * n * c + 18 * c + 9 * n * c)
    products += layers * n * c * (8 if fused else 20 + 18) + 3 * (vocabulary * (n + c) + n * c)
    attention = layers * n * (17 * c + 6 * heads)
    classifier = n * (vocabulary + 1) * (2 if fused else 4)
    parameters = (vocabulary + positions + 2) * c + layers * (12 * c * c + 13 * c)
    return tuple(4 * part for part in (norms, products, attention, classifier, 7 * parameters))

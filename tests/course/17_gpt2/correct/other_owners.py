"""Named registers in place of arrays, warps that meet through trees, and the thread that stores is another one."""

import math

import numpy as np

from warpwise import cuda

ZERO, ONE = np.float32(0), np.float32(1)
EVERY = 0xFFFFFFFF


@cuda.jit(device=True)
def along(value):  # the sum over a warp, in lane 0
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(EVERY, value, step)
    return value


@cuda.jit
def norm_backward(dout, x, weight, mean, rstd, dx, dweights, dbiases):
    tables = cuda.shared.array((8, 64), np.float32)
    lane = cuda.laneid
    warp = cuda.threadIdx.x >> 5
    w0, w1 = weight[lane], weight[lane + 32]
    a0, a1, b0, b1 = ZERO, ZERO, ZERO, ZERO
    r = 4 * cuda.blockIdx.x + warp
    while r < dout.shape[0]:
        d0, d1 = dout[r, lane], dout[r, lane + 32]
        h0 = (x[r, lane] - mean[r]) * rstd[r]
        h1 = (x[r, lane + 32] - mean[r]) * rstd[r]
        a0 += d0 * h0
        a1 += d1 * h1
        b0 += d0
        b1 += d1
        plain = along(d0 * w0 + d1 * w1)
        mixed = along(d0 * w0 * h0 + d1 * w1 * h1)
        plain = cuda.shfl_sync(EVERY, plain, 0) / np.float32(64)
        mixed = cuda.shfl_sync(EVERY, mixed, 0) / np.float32(64)
        dx[r, lane] = dx[r, lane] + rstd[r] * (d0 * w0 - plain - h0 * mixed)
        dx[r, lane + 32] = dx[r, lane + 32] + rstd[r] * (d1 * w1 - plain - h1 * mixed)
        r += 4 * cuda.gridDim.x
    tables[warp, lane], tables[warp, lane + 32] = a0, a1
    tables[4 + warp, lane], tables[4 + warp, lane + 32] = b0, b1
    cuda.syncthreads()
    column = cuda.threadIdx.x % 64
    first = 4 * (cuda.threadIdx.x // 64)
    pairs = (tables[first, column] + tables[first + 1, column]) + (tables[first + 2, column] + tables[first + 3, column])
    if first == 0:
        dweights[cuda.blockIdx.x, column] = pairs
    else:
        dbiases[cuda.blockIdx.x, column] = pairs


@cuda.jit
def residual_norm(x, more, weight, bias, total, out, mean, rstd):
    r = cuda.blockIdx.x * 4 + cuda.threadIdx.x // 32
    lane = cuda.laneid
    if r >= x.shape[0]:
        return
    a = x[r, lane] + more[r, lane]
    b = x[r, lane + 32] + more[r, lane + 32]
    total[r, lane], total[r, lane + 32] = a, b
    centre = cuda.shfl_sync(EVERY, along(a + b), 0) / np.float32(64)
    a -= centre
    b -= centre
    var = cuda.shfl_sync(EVERY, along(a * a + b * b), 0) / np.float32(64)
    scale = ONE / math.sqrt(var + np.float32(1e-5))
    out[r, lane] = a * scale * weight[lane] + bias[lane]
    out[r, lane + 32] = b * scale * weight[lane + 32] + bias[lane + 32]
    if lane == 31:
        mean[r] = centre
        rstd[r] = scale


@cuda.jit
def classifier(logits, targets, losses, vocabulary):
    states = cuda.shared.array((8, 2), np.float32)
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    m, s = np.float32(-3e38), ZERO
    for c in range(t, vocabulary, cuda.blockDim.x):
        z = logits[r, c]
        higher = max(m, z)
        s = s * math.exp(m - higher) + math.exp(z - higher)
        m = higher
    for step in (1, 2, 4, 8, 16):
        other_m = cuda.shfl_xor_sync(EVERY, m, step)
        other_s = cuda.shfl_xor_sync(EVERY, s, step)
        higher = max(m, other_m)
        s = s * math.exp(m - higher) + other_s * math.exp(other_m - higher)
        m = higher
    if cuda.laneid == 0:
        states[t // 32, 0] = m
        states[t // 32, 1] = s
    target = targets[r]
    target_logit = logits[r, target] if t == 0 else ZERO
    cuda.syncthreads()
    m, s = states[0, 0], states[0, 1]
    for k in range(1, 8):
        higher = max(m, states[k, 0])
        s = s * math.exp(m - higher) + states[k, 1] * math.exp(states[k, 0] - higher)
        m = higher
    if t == 0:
        losses[r] = math.log(s) + m - target_logit
    for c in range(t, logits.shape[1], cuda.blockDim.x):
        hit = ONE if c == target else ZERO
        if c < vocabulary:
            logits[r, c] = (math.exp(logits[r, c] - m) / s - hit) / np.float32(logits.shape[0])
        else:
            logits[r, c] = ZERO


@cuda.jit
def bias_gradient(dout, dbias):
    sums = cuda.shared.array((8, 32), np.float32)
    lane, warp = cuda.laneid, cuda.threadIdx.x >> 5
    column = cuda.blockIdx.x * 32 + lane
    share = (dout.shape[0] + 7) // 8  # rows of a warp, one after another
    mine = ZERO
    for r in range(share * warp, min(share * warp + share, dout.shape[0])):
        if column < dout.shape[1]:
            mine += dout[r, column]
    sums[warp, lane] = mine
    half = 4
    while half > 0:
        cuda.syncthreads()
        if warp < half:
            sums[warp, lane] += sums[warp + half, lane]
        half //= 2
    if warp == 0 and column < dout.shape[1]:
        dbias[column] = sums[0, lane]


@cuda.jit
def adamw(gradient, master, mean, square, weight, scale, rate, decay, correct1, correct2):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= gradient.size:
        return
    new1, new2 = np.float32(0.1), np.float32(0.001)
    g, m, v = scale * np.float32(gradient[i]), mean[i], square[i]
    m += new1 * (g - m)
    v += new2 * (g * g - v)
    kept = (np.float32(1) - rate * decay) * master[i]
    kept -= rate / correct1 * m / (math.sqrt(v) / math.sqrt(correct2) + EPSILON)
    weight[i] = np.float16(kept)
    master[i] = kept
    square[i] = v
    mean[i] = m


def block_backward(dend, x, p, heads):
    """From the end to the beginning, with one gradient that adds up on its way."""
    a, c = block(x, p, heads), x.shape[1]
    w, found = tensors(p, c), {}

    def through(name, dy, took, back):
        dx, found[f"{name}w"], found[f"{name}b"] = back(dy, took, w[f"{name}w"])
        return dx

    res = dend.copy()
    d = gelu_back(through("fcproj", res, a["gelu"], linear_back), a["fch"])
    res += through("ln2", through("fc", d, a["ln2"], linear_back), a["middle"], norm_back)
    d = attention_back(through("attproj", res, a["atty"], linear_back), a["qkv"], heads)
    res += through("ln1", through("qkv", d, a["ln1"], linear_back), x, norm_back)
    return res, np.concatenate([found[name].ravel() for name in w])


def step_bytes(batch, positions, vocabulary, layers, heads, channels, fused):
    n, c, v = batch * positions, channels, vocabulary
    sums = np.zeros(4, object)

    def moves(which, times, *shapes):
        sums[which] += 4 * times * sum(math.prod(shape) for shape in shapes)

    rows, wide, one, few = (n, c), (n, 4 * c), (n,), (n, heads)
    moves(0, 2 * layers + 1, rows, (c,), (c,), rows, one, one)
    moves(0, 2 * layers + 1, rows, rows, (c,), one, one, rows, (c,), (c,))
    moves(0, 2 * layers, *[rows] * (3 if fused else 6))
    parameters = v * c + positions * c + (2 * layers + 1) * 2 * c
    for k, m in ((c, 3 * c), (c, c), (c, 4 * c), (4 * c, c)):
        moves(1, 3 * layers, (n, k), (m, k), (n, m))
        moves(1, layers, (m,), (n, m), (m,))
        if not fused:
            moves(1, layers, (n, m), (n, m))
        parameters += layers * (m * k + m)
    moves(1, 3, rows, (v, c), (n, v))
    moves(1, layers, *[wide] * (2 if fused else 5))
    moves(2, layers, (n, 3 * c), rows, few)
    moves(2, layers, rows, rows, few)
    for gradients in (2, 1):
        moves(2, layers, (n, 3 * c), rows, few, few, (n, gradients * c))
    moves(3, 1, *[(n, v), one] * (2 if fused else 4))
    return *(int(total) for total in sums), 4 * 7 * parameters

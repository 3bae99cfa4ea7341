"""The kernels of a training step, each from the chapter of the course that its docstring names.

Matrices are float32, row by row, and a row of activations is a token: N = batch x positions rows.
No sum uses atomics, so that every run gives the same bits. A kernel made by a function is compiled
for the size that the function is given. Sizes: N, and both sides of every matrix of weights, are
multiples of a tile's side.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from warpwise import cuda
from warpwise.kernels.gelu import POWER1, POWER3, gelu
from warpwise.kernels.softmax import block_max, block_sum, warp_sum

THREADS = 256  # of a block, unless a kernel says otherwise
ROWS, TWICE = 4, 8  # of LayerNorm in a block: a warp has one
SIDE, DEPTH = 16, 16  # threads along a side of a product's block; depth of its tiles
PITCH = SIDE + 1  # of a shared tile, so that a column is in 16 banks
ALL = 0xFFFFFFFF
LOWEST, EPSILON = np.float32(-1e30), np.float32(1e-5)
ZERO, ONE, THREE, LN2 = np.float32(0), np.float32(1), np.float32(3), np.float32(math.log(2))


# --- tokens to vectors, and back ---


@cuda.jit
def encoder(tokens, wte, wpe, out):
    """A thread for each number: neighbours read neighbours (chapters/08_coalescing.md)."""
    i = cuda.grid(1)
    row, c = i // out.shape[1], i % out.shape[1]
    if row < out.shape[0]:
        out[row, c] = wte[tokens[row], c] + wpe[row % wpe.shape[0], c]


@cuda.jit
def encoder_backward_tokens(order, starts, tokens, dout, dwte):
    """A block owns a token's row, so no two add to one number (chapters/13_flash_backward.md).

    ``order``: rows by token, those of one token from ``starts[b]`` to ``starts[b + 1]``.
    """
    b = cuda.blockIdx.x
    token = tokens[order[starts[b]]]
    for c in range(cuda.threadIdx.x, dwte.shape[1], cuda.blockDim.x):
        total = dwte[token, c]  # what the last product has put there
        for k in range(starts[b], starts[b + 1]):
            total += dout[order[k], c]
        dwte[token, c] = total


@cuda.jit
def encoder_backward_positions(dout, dwpe):
    """A thread owns a number, and adds it up over the batch (chapters/13_flash_backward.md)."""
    i = cuda.grid(1)
    position, c = i // dwpe.shape[1], i % dwpe.shape[1]
    if position < dwpe.shape[0]:
        total = ZERO
        for row in range(position, dout.shape[0], dwpe.shape[0]):
            total += dout[row, c]
        dwpe[position, c] = total


# --- LayerNorm, a warp for each row ---


@functools.cache
def layernorm(width: int, fused: bool) -> Any:
    """Make LayerNorm for rows of ``width``; ``fused``: of the sum of two rows, which it stores."""
    own = width // 32

    @cuda.jit
    def layernorm_forward(x, more, weight, bias, total, out, mean, rstd):
        """One read, and a row in registers: fusion with the residual (chapters/06_fusion.md)."""
        values = cuda.local.array(own, np.float32)
        lane, row = cuda.threadIdx.x % 32, cuda.blockIdx.x * ROWS + cuda.threadIdx.x // 32
        sum_ = ZERO
        for i in range(own):
            c = lane + 32 * i
            values[i] = x[row, c]
            if fused:
                values[i] += more[row, c]
                total[row, c] = values[i]
            sum_ += values[i]
        m = warp_sum(sum_) / np.float32(width)
        sum_ = ZERO
        for i in range(own):
            sum_ += (values[i] - m) * (values[i] - m)
        r = ONE / math.sqrt(warp_sum(sum_) / np.float32(width) + EPSILON)
        for i in range(own):
            c = lane + 32 * i
            out[row, c] = (values[i] - m) * r * weight[c] + bias[c]
        if lane == 0:
            mean[row] = m
            rstd[row] = r

    return layernorm_forward


@functools.cache
def layernorm_backward(width: int, adds: bool) -> Any:
    """Make its backward pass; ``adds``: dx is added to what is there, the residual's gradient."""
    own = width // 32

    @cuda.jit
    def layernorm_backward_rows(dout, x, weight, mean, rstd, dx, dweights, dbiases):
        """The rows' dx, and a block's sums for weight and bias (chapters/13_flash_backward.md).

        ``dweights``, ``dbiases``: a row for each block, to be added up by ``column_sums``.
        """
        sums = cuda.shared.array((TWICE, width), np.float32)
        dw = cuda.local.array(own, np.float32)
        db = cuda.local.array(own, np.float32)
        lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
        for i in range(own):
            dw[i] = db[i] = ZERO
        for row in range(cuda.blockIdx.x * ROWS + warp, x.shape[0], cuda.gridDim.x * ROWS):
            m, r = mean[row], rstd[row]
            of_d = of_product = ZERO
            for i in range(own):
                c = lane + 32 * i
                norm, d = (x[row, c] - m) * r, dout[row, c]
                dw[i] += d * norm
                db[i] += d
                of_d += d * weight[c]
                of_product += d * weight[c] * norm
            of_d = warp_sum(of_d) / np.float32(width)
            of_product = warp_sum(of_product) / np.float32(width)
            for i in range(own):
                c = lane + 32 * i
                norm = (x[row, c] - m) * r
                inner = (dout[row, c] * weight[c] - of_d - norm * of_product) * r
                if adds:
                    inner += dx[row, c]
                dx[row, c] = inner
        for i in range(own):
            sums[warp, lane + 32 * i] = dw[i]
            sums[ROWS + warp, lane + 32 * i] = db[i]
        cuda.syncthreads()
        for c in range(cuda.threadIdx.x, width, 32 * ROWS):
            of_weight = of_bias = ZERO
            for w in range(ROWS):
                of_weight += sums[w, c]
                of_bias += sums[ROWS + w, c]
            dweights[cuda.blockIdx.x, c] = of_weight
            dbiases[cuda.blockIdx.x, c] = of_bias

    return layernorm_backward_rows


@cuda.jit
def column_sums(x, sums):
    """The sum of each column; a warp reads 32 neighbours of a row (chapters/08_coalescing.md)."""
    parts = cuda.shared.array((8, 32), np.float32)
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    c, total = cuda.blockIdx.x * 32 + lane, ZERO
    for row in range(warp, x.shape[0], 8):
        total += x[row, c]
    parts[warp, lane] = total
    cuda.syncthreads()
    if warp == 0:
        for w in range(1, 8):
            total += parts[w, lane]
        sums[c] = total


# --- products of matrices ---


@cuda.jit(device=True)
def as_rows(tile, source, first, depth, side, t):
    """tile[d, r] = source[first + r, depth + d]: lanes go along a row of the source."""
    for i in range(side // SIDE):
        d, r = t % DEPTH, t // DEPTH + SIDE * i
        tile[d, r] = source[first + r, depth + d]


@cuda.jit(device=True)
def as_columns(tile, source, first, depth, side, t):
    """tile[d, r] = source[depth + d, first + r]."""
    for i in range(side // SIDE):
        at = t + THREADS * i
        tile[at // side, at % side] = source[depth + at // side, first + at % side]


@cuda.jit(device=True)
def plain(total, row, c, out, bias, before):
    out[row, c] = total


@cuda.jit(device=True)
def with_bias(total, row, c, out, bias, before):
    out[row, c] = total + bias[c]


@cuda.jit(device=True)
def with_bias_and_gelu(total, row, c, out, bias, before):
    """Keep what GELU was taken of, for its slope."""
    x = total + bias[c]
    before[row, c] = x
    out[row, c] = gelu(x)


@cuda.jit(device=True, fastmath=True)
def slope_of_gelu(x):
    """GELU is x times 1 / (1 + 2^power), and so this is its slope."""
    sigmoid = ONE / (ONE + math.exp2(x * (POWER1 + POWER3 * x * x)))
    return sigmoid - x * sigmoid * (ONE - sigmoid) * LN2 * (POWER1 + THREE * POWER3 * x * x)


@cuda.jit(device=True)
def with_slope_of_gelu(total, row, c, out, bias, before):
    """GELU's backward pass, from what it was taken of."""
    out[row, c] = total * slope_of_gelu(before[row, c])


@functools.cache
def product(patch: int, load_a: Any, load_b: Any, finish: Any) -> Any:
    """Make out[i, j] = the sum over d of A(i, d) B(j, d), whose operands lie as their loads say.

    A thread has ``patch`` x ``patch`` results, a block of 256 threads 16 times as many a side.
    """
    side = SIDE * patch
    results = patch * patch
    pitch_a, pitch_b = (side + 2 * (load is as_rows) for load in (load_a, load_b))  # no conflicts

    @cuda.jit
    def matmul(a, b, out, bias, before, depth):
        """Tiles, and a patch for each thread (chapters/09_tiling.md), then what is fused to its end
        (chapters/06_fusion.md)."""
        tile_a = cuda.shared.array((DEPTH, pitch_a), np.float32)
        tile_b = cuda.shared.array((DEPTH, pitch_b), np.float32)
        totals = cuda.local.array(results, np.float32)
        t = cuda.threadIdx.x
        x, y = t % SIDE, t // SIDE
        first_row, first_column = cuda.blockIdx.y * side, cuda.blockIdx.x * side
        for i in range(results):
            totals[i] = ZERO
        for start in range(0, depth, DEPTH):
            load_a(tile_a, a, first_row, start, side, t)
            load_b(tile_b, b, first_column, start, side, t)
            cuda.syncthreads()
            for d in range(DEPTH):
                for i in range(patch):
                    for j in range(patch):
                        totals[patch * i + j] += tile_a[d, y + SIDE * i] * tile_b[d, x + SIDE * j]
            cuda.syncthreads()
        for i in range(patch):
            for j in range(patch):
                row, c = first_row + y + SIDE * i, first_column + x + SIDE * j
                finish(totals[patch * i + j], row, c, out, bias, before)

    return matmul


# --- attention: blocks of 16 x 16 threads have a tile of 16 queries or keys of one head ---


@cuda.jit(device=True)
def load(tile, source, first, column, width):
    """tile[r, c] = source[first + r, column + c]; a warp takes neighbours."""
    for i in range(width // SIDE):
        at = SIDE * cuda.threadIdx.y + cuda.threadIdx.x + THREADS * i
        tile[at // width, at % width] = source[first + at // width, column + at % width]


@cuda.jit(device=True)
def row_sum(own):
    """Return the sum over the 16 lanes of a row, in all of them."""
    for mask in (8, 4, 2, 1):
        own += cuda.shfl_xor_sync(ALL, own, mask)
    return own


@cuda.jit(device=True)
def row_max(own):
    for mask in (8, 4, 2, 1):
        own = max(own, cuda.shfl_xor_sync(ALL, own, mask))
    return own


@functools.cache
def attention(width: int) -> Any:
    """Make causal attention for heads of ``width`` channels.

    ``qkv``: rows of queries, keys and values of all heads. ``lse``, a number for each row and head:
    the logarithm of the sum of exponentials. Blocks: tiles of a text, heads, texts.
    """
    pitch, own, scale = width + 1, width // SIDE, np.float32(1 / math.sqrt(width))

    @cuda.jit
    def attention_forward(qkv, out, lse, positions):
        """Scores live on the chip alone (chapters/12_flash_attention.md)."""
        q = cuda.shared.array((SIDE, pitch), np.float32)
        k = cuda.shared.array((SIDE, pitch), np.float32)
        v = cuda.shared.array((SIDE, pitch), np.float32)
        p = cuda.shared.array((SIDE, PITCH), np.float32)
        acc = cuda.local.array(own, np.float32)
        x, y, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
        text, tile, column = cuda.blockIdx.z * positions, cuda.blockIdx.x * SIDE, head * width
        row = text + tile + y
        load(q, qkv, text + tile, column, width)
        for i in range(own):
            acc[i] = ZERO
        m, total = LOWEST, ZERO
        for start in range(0, tile + SIDE, SIDE):
            load(k, qkv, text + start, out.shape[1] + column, width)
            load(v, qkv, text + start, 2 * out.shape[1] + column, width)
            cuda.syncthreads()
            s = ZERO
            for c in range(width):
                s += q[y, c] * k[x, c]
            s = s * scale if start + x <= tile + y else LOWEST
            above = max(m, row_max(s))
            fix, e = math.exp(m - above), math.exp(s - above)
            m, total = above, total * fix + row_sum(e)
            p[y, x] = e
            cuda.syncthreads()
            for i in range(own):
                sum_ = ZERO
                for j in range(SIDE):
                    sum_ += p[y, j] * v[j, x + SIDE * i]
                acc[i] = acc[i] * fix + sum_
            cuda.syncthreads()
        for i in range(own):
            out[row, column + x + SIDE * i] = acc[i] / total
        if x == 0:
            lse[row, head] = m + math.log(total)

    return attention_forward


@functools.cache
def row_dots(width: int) -> Any:
    """Make the dots of two rows, head by head: a row of 16 lanes for each."""
    own = width // SIDE

    @cuda.jit
    def attention_row_dots(a, b, dots):
        """Delta, the sum of dO times O (chapters/13_flash_backward.md)."""
        at = cuda.blockIdx.x * SIDE + cuda.threadIdx.y
        row, head = at // dots.shape[1], at % dots.shape[1]
        total = ZERO
        for i in range(own):
            c = head * width + cuda.threadIdx.x + SIDE * i
            total += a[row, c] * b[row, c]
        total = row_sum(total)
        if cuda.threadIdx.x == 0:
            dots[row, head] = total

    return attention_row_dots


@functools.cache
def attention_keys(width: int) -> Any:
    """Make the gradients of keys and values; a block owns a tile of keys."""
    pitch, own, scale = width + 1, width // SIDE, np.float32(1 / math.sqrt(width))

    @cuda.jit
    def attention_backward_keys(qkv, dout, lse, delta, dqkv, positions):
        """Two kernels, no atomics (chapters/13_flash_backward.md)."""
        q = cuda.shared.array((SIDE, pitch), np.float32)
        k = cuda.shared.array((SIDE, pitch), np.float32)
        v = cuda.shared.array((SIDE, pitch), np.float32)
        do = cuda.shared.array((SIDE, pitch), np.float32)
        p = cuda.shared.array((SIDE, PITCH), np.float32)  # a row for each key
        ds = cuda.shared.array((SIDE, PITCH), np.float32)
        dk = cuda.local.array(own, np.float32)
        dv = cuda.local.array(own, np.float32)
        x, y, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
        text, tile, column = cuda.blockIdx.z * positions, cuda.blockIdx.x * SIDE, head * width
        load(k, qkv, text + tile, dout.shape[1] + column, width)
        load(v, qkv, text + tile, 2 * dout.shape[1] + column, width)
        for i in range(own):
            dk[i] = dv[i] = ZERO
        for start in range(tile, positions, SIDE):
            load(q, qkv, text + start, column, width)
            load(do, dout, text + start, column, width)
            cuda.syncthreads()
            s = dp = ZERO
            for c in range(width):
                s += q[x, c] * k[y, c]
                dp += do[x, c] * v[y, c]
            weight, row = ZERO, text + start + x
            if tile + y <= start + x:
                weight = math.exp(scale * s - lse[row, head])
            p[y, x] = weight
            ds[y, x] = scale * weight * (dp - delta[row, head])
            cuda.syncthreads()
            for i in range(own):
                for j in range(SIDE):
                    dv[i] += p[y, j] * do[j, x + SIDE * i]
                    dk[i] += ds[y, j] * q[j, x + SIDE * i]
            cuda.syncthreads()
        for i in range(own):
            c = dout.shape[1] + column + x + SIDE * i
            dqkv[text + tile + y, c] = dk[i]
            dqkv[text + tile + y, dout.shape[1] + c] = dv[i]

    return attention_backward_keys


@functools.cache
def attention_queries(width: int) -> Any:
    """Make the gradients of queries; a block owns a tile of them."""
    pitch, own, scale = width + 1, width // SIDE, np.float32(1 / math.sqrt(width))

    @cuda.jit
    def attention_backward_queries(qkv, dout, lse, delta, dqkv, positions):
        """The other of two kernels (chapters/13_flash_backward.md)."""
        q = cuda.shared.array((SIDE, pitch), np.float32)
        k = cuda.shared.array((SIDE, pitch), np.float32)
        v = cuda.shared.array((SIDE, pitch), np.float32)
        do = cuda.shared.array((SIDE, pitch), np.float32)
        ds = cuda.shared.array((SIDE, PITCH), np.float32)  # a row for each query
        dq = cuda.local.array(own, np.float32)
        x, y, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
        text, tile, column = cuda.blockIdx.z * positions, cuda.blockIdx.x * SIDE, head * width
        row = text + tile + y
        load(q, qkv, text + tile, column, width)
        load(do, dout, text + tile, column, width)
        for i in range(own):
            dq[i] = ZERO
        for start in range(0, tile + SIDE, SIDE):
            load(k, qkv, text + start, dout.shape[1] + column, width)
            load(v, qkv, text + start, 2 * dout.shape[1] + column, width)
            cuda.syncthreads()
            s = dp = ZERO
            for c in range(width):
                s += q[y, c] * k[x, c]
                dp += do[y, c] * v[x, c]
            weight = ZERO
            if start + x <= tile + y:
                weight = math.exp(scale * s - lse[row, head])
            ds[y, x] = scale * weight * (dp - delta[row, head])
            cuda.syncthreads()
            for i in range(own):
                for j in range(SIDE):
                    dq[i] += ds[y, j] * k[j, x + SIDE * i]
            cuda.syncthreads()
        for i in range(own):
            dqkv[row, column + x + SIDE * i] = dq[i]

    return attention_backward_queries


# --- the loss, and the update ---


@cuda.jit
def classifier(logits, targets, losses, vocabulary):
    """Online softmax, a loss, and its gradient over the logits (chapters/11_online_softmax.md)."""
    maxima = cuda.shared.array(8, np.float32)
    sums = cuda.shared.array(8, np.float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    most, total = LOWEST, ZERO
    for c in range(t, vocabulary, THREADS):
        z = logits[row, c]
        above = max(most, z)
        total = total * math.exp(most - above) + math.exp(z - above)
        most = above
    target, most_of_all = targets[row], block_max(most, maxima)
    total = block_sum(total * math.exp(most - most_of_all), sums)
    if t == 0:
        losses[row] = math.log(total) + most_of_all - logits[row, target]
    cuda.syncthreads()  # the target's logit was read: now it may go
    share = ONE / np.float32(logits.shape[0])
    for c in range(t, logits.shape[1], THREADS):
        p = math.exp(logits[row, c] - most_of_all) / total if c < vocabulary else ZERO
        logits[row, c] = (p - ONE) * share if c == target else p * share


@cuda.jit
def squares(x, partials):
    """A block's sum of squares: warps, then blocks (chapters/11_online_softmax.md)."""
    sums = cuda.shared.array(8, np.float32)
    total = ZERO
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i] * x[i]
    total = block_sum(total, sums)
    if cuda.threadIdx.x == 0:
        partials[cuda.blockIdx.x] = total


@cuda.jit
def norm_of(partials, norm):
    """The root of the partial sums' sum, by one block (chapters/11_online_softmax.md)."""
    sums = cuda.shared.array(8, np.float32)
    total = ZERO
    for i in range(cuda.threadIdx.x, partials.size, THREADS):
        total += partials[i]
    total = block_sum(total, sums)
    if cuda.threadIdx.x == 0:
        norm[0] = math.sqrt(total)


@cuda.jit
def adamw(weight, gradient, mean, square, norm, clip, new1, new2, rate, root, small, kept):
    """An update in one pass over four arrays (chapters/06_fusion.md).

    ``clip``: the largest norm of the gradient, which is scaled down to it. ``new1``, ``new2``: 1 -
    beta. ``rate`` is divided by 1 - beta1^step, ``root`` is 1 over the root of 1 - beta2^step,
    ``kept`` is 1 less rate times decay.
    """
    i = cuda.grid(1)
    if i < weight.size:
        g = gradient[i] * min(ONE, clip / norm[0])
        m, s = mean[i] + new1 * (g - mean[i]), square[i] + new2 * (g * g - square[i])
        mean[i] = m
        square[i] = s
        weight[i] = kept * weight[i] - rate * m / (math.sqrt(s) * root + small)

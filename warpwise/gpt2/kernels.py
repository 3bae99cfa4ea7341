"""The kernels of a training step, each from the chapter of the course that its docstring names.

Matrices lie row by row; a row of activations is a token. What is narrowed and widened is float32 or
bfloat16, as its array; all is computed in float32. No sum uses atomics, so that all runs give the
same bits. A kernel made by a function is compiled for the size that it is given.
"""

import functools
import math
from typing import Any

import numpy as np

from warpwise import cuda
from warpwise.kernels.bfloat16 import narrow, widen
from warpwise.kernels.gelu import gelu, through_gelu
from warpwise.kernels.softmax import block_max, block_sum, max_of_16, sum_of_16, warp_sum

THREADS = 256  # of a block, unless a kernel says otherwise
ROWS, TWICE = 4, 8  # of LayerNorm in a block: a warp has one
SIDE, DEPTH = 16, 16  # threads along a side of a tile's block; depth of a product's tiles
PITCH = SIDE + 1  # of a shared tile, so that a column is in 16 banks
ZERO: Any = np.float32(0)
ONE, LOWEST, EPSILON = np.float32(1), np.float32(-1e30), np.float32(1e-5)


# --- tokens to vectors, and back ---


@cuda.jit
def encoder(tokens, wte, wpe, out):
    """A thread for each number: neighbours read neighbours (chapters/08_coalescing.md)."""
    i = cuda.grid(1)
    row, c = i // out.shape[1], i % out.shape[1]
    if row < out.shape[0]:
        position = widen(wpe[row % wpe.shape[0], c])
        out[row, c] = narrow(widen(wte[tokens[row], c]) + position, out)


@cuda.jit
def encoder_backward(order, starts, tokens, dout, dwte):
    """A block owns a token's row, so no two add to one number (chapters/13_flash_backward.md).

    ``order``: rows by token, those of one token from ``starts[b]`` to ``starts[b + 1]``."""
    b = cuda.blockIdx.x
    token = tokens[order[starts[b]]]
    for c in range(cuda.threadIdx.x, dwte.shape[1], cuda.blockDim.x):
        total = widen(dwte[token, c])  # what the last product has put there
        for k in range(starts[b], starts[b + 1]):
            total += widen(dout[order[k], c])
        dwte[token, c] = narrow(total, dwte)


@cuda.jit
def column_sums(x, sums):
    """The sum of each column; a warp reads 32 neighbours of a row (chapters/08_coalescing.md)."""
    parts = cuda.shared.array((8, 32), np.float32)
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    c, total = cuda.blockIdx.x * 32 + lane, ZERO
    for row in range(warp, x.shape[0], 8):
        total += widen(x[row, c])
    parts[warp, lane] = total
    cuda.syncthreads()
    if warp == 0:
        for w in range(1, 8):
            total += parts[w, lane]
        sums[c] = narrow(total, sums)


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
        m = r = ZERO
        for i in range(own):
            c = lane + 32 * i
            values[i] = widen(x[row, c])
            if fused:
                values[i] += widen(more[row, c])
                total[row, c] = narrow(values[i], total)
            m += values[i]
        m = warp_sum(m) / np.float32(width)
        for i in range(own):
            r += (values[i] - m) * (values[i] - m)
        r = ONE / math.sqrt(warp_sum(r) / np.float32(width) + EPSILON)
        for i in range(own):
            c = lane + 32 * i
            norm = (values[i] - m) * r
            out[row, c] = narrow(norm * widen(weight[c]) + widen(bias[c]), out)
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

        ``dweights``, ``dbiases``: a row for each block, to be added up by ``column_sums``."""
        sums = cuda.shared.array((TWICE, width), np.float32)
        dw = cuda.local.array(own, np.float32)
        db = cuda.local.array(own, np.float32)
        lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
        for i in range(own):
            dw[i] = db[i] = ZERO
        for row in range(cuda.blockIdx.x * ROWS + warp, x.shape[0], cuda.gridDim.x * ROWS):
            of_d, of_product, m, r = ZERO, ZERO, mean[row], rstd[row]
            for i in range(own):
                c = lane + 32 * i
                norm, d = (widen(x[row, c]) - m) * r, widen(dout[row, c])
                dw[i] += d * norm
                db[i] += d
                d *= widen(weight[c])
                of_d += d
                of_product += d * norm
            of_d = warp_sum(of_d) / np.float32(width)
            of_product = warp_sum(of_product) / np.float32(width)
            for i in range(own):
                c = lane + 32 * i
                norm, d = (widen(x[row, c]) - m) * r, widen(dout[row, c]) * widen(weight[c])
                d = (d - of_d - norm * of_product) * r
                dx[row, c] = narrow(widen(dx[row, c]) + d if adds else d, dx)
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


# --- products of matrices ---


@cuda.jit(device=True)
def as_rows(tile, source, first, depth, side, t):
    """tile[d, r] = source[first + r, depth + d]: lanes go along a row of the source."""
    for i in range(side // SIDE):
        d, r = t % DEPTH, t // DEPTH + SIDE * i
        tile[d, r] = widen(source[first + r, depth + d])


@cuda.jit(device=True)
def as_columns(tile, source, first, depth, side, t):
    """tile[d, r] = source[depth + d, first + r]: 16 rows as they lie, neighbours by neighbours."""
    for i in range(side // SIDE):
        at = t + THREADS * i
        tile[at // side, at % side] = widen(source[depth + at // side, first + at % side])


@cuda.jit(device=True)
def plain(total, row, c, out, bias, before):
    out[row, c] = narrow(total, out)


@cuda.jit(device=True)
def with_bias(total, row, c, out, bias, before):
    out[row, c] = narrow(total + widen(bias[c]), out)


@cuda.jit(device=True)
def with_bias_and_gelu(total, row, c, out, bias, before):
    total += widen(bias[c])
    before[row, c] = narrow(total, before)  # for the slope
    out[row, c] = narrow(gelu(total), out)


@cuda.jit(device=True)
def with_slope_of_gelu(total, row, c, out, bias, before):
    out[row, c] = narrow(through_gelu(total, widen(before[row, c])), out)


@functools.cache
def product(patch: int, load_a: Any, load_b: Any, finish: Any) -> Any:
    """Make out[i, j] = the sum over d of A(i, d) B(j, d), whose operands lie as their loads say.

    A thread has ``patch`` x ``patch`` results, a block of 256 threads 16 times as many a side."""
    side, results = SIDE * patch, patch * patch
    pitch_a, pitch_b = (side + 2 * (load is as_rows) for load in (load_a, load_b))  # no conflicts

    @cuda.jit
    def matmul(a, b, out, bias, before, depth):
        """Tiles, and a patch for each thread (chapters/09_tiling.md), with what is fused to the end
        of a product (chapters/06_fusion.md)."""
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
        for i in range(results):
            row, c = first_row + y + SIDE * (i // patch), first_column + x + SIDE * (i % patch)
            finish(totals[i], row, c, out, bias, before)

    return matmul


# --- causal attention: a block of 16 x 16 threads has 16 queries, or keys, of a head ---
# A row of ``qkv`` has queries, keys and values of all heads, C numbers of each; ``lse`` and
# ``delta`` have a number for each row and head. Blocks: tiles of a text, heads, texts.


@functools.cache
def attention(width: int) -> Any:
    """Make attention for heads of ``width`` channels."""
    pitch, own, scale = width + 1, width // SIDE, np.float32(1 / math.sqrt(width))

    @cuda.jit
    def attention_forward(qkv, out, lse, positions):
        """Scores live on the chip alone (chapters/12_flash_attention.md)."""
        q = cuda.shared.array((SIDE, pitch), np.float32)
        k = cuda.shared.array((SIDE, pitch), np.float32)
        v = cuda.shared.array((SIDE, pitch), np.float32)
        p = cuda.shared.array((SIDE, PITCH), np.float32)
        acc = cuda.local.array(own, np.float32)
        head, y, x = cuda.blockIdx.y, cuda.threadIdx.y, cuda.threadIdx.x
        t = SIDE * y + x
        text, tile, column = cuda.blockIdx.z * positions, cuda.blockIdx.x * SIDE, head * width
        as_columns(q, qkv, column, text + tile, width, t)
        for i in range(own):
            acc[i] = ZERO
        m, total = LOWEST, ZERO
        for start in range(0, tile + SIDE, SIDE):
            as_columns(k, qkv, out.shape[1] + column, text + start, width, t)
            as_columns(v, qkv, 2 * out.shape[1] + column, text + start, width, t)
            cuda.syncthreads()
            s = ZERO
            for c in range(width):
                s += q[y, c] * k[x, c]
            s = s * scale if start + x <= tile + y else LOWEST
            above = max(m, max_of_16(s))
            fix, weight = math.exp(m - above), math.exp(s - above)
            m, total = above, total * fix + sum_of_16(weight)
            p[y, x] = weight
            cuda.syncthreads()
            for i in range(own):
                acc[i] *= fix
                for j in range(SIDE):
                    acc[i] += p[y, j] * v[j, x + SIDE * i]
            cuda.syncthreads()
        for i in range(own):
            out[text + tile + y, column + x + SIDE * i] = narrow(acc[i] / total, out)
        if x == 0:
            lse[text + tile + y, head] = m + math.log(total)

    return attention_forward


@cuda.jit
def attention_backward_delta(a, b, dots):
    """Delta: dO times O, summed by row and head, by 16 lanes (chapters/13_flash_backward.md)."""
    at, total = cuda.blockIdx.x * SIDE + cuda.threadIdx.y, ZERO
    row, head, width = at // dots.shape[1], at % dots.shape[1], a.shape[1] // dots.shape[1]
    for c in range(head * width + cuda.threadIdx.x, head * width + width, SIDE):
        total += widen(a[row, c]) * widen(b[row, c])
    total = sum_of_16(total)
    if cuda.threadIdx.x == 0:
        dots[row, head] = total


@cuda.jit(device=True)
def load_both(a, b, qkv, dout, row, column, width, of_keys, t):
    """Load keys and values into a and b, or else queries and dO."""
    if of_keys:
        as_columns(a, qkv, dout.shape[1] + column, row, width, t)
        as_columns(b, qkv, 2 * dout.shape[1] + column, row, width, t)
    else:
        as_columns(a, qkv, column, row, width, t)
        as_columns(b, dout, column, row, width, t)


@functools.cache
def attention_backward(width: int, of_keys: bool) -> Any:
    """Make the gradients of keys and values, whose block owns keys; or those of queries, which are
    the same with the roles exchanged."""
    pitch, own, scale = width + 1, width // SIDE, np.float32(1 / math.sqrt(width))
    of_queries = not of_keys

    @cuda.jit
    def attention_backward_tiles(qkv, dout, lse, delta, dqkv, positions):
        """Two kernels, no atomics (chapters/13_flash_backward.md)."""
        mine_a = cuda.shared.array((SIDE, pitch), np.float32)
        mine_b = cuda.shared.array((SIDE, pitch), np.float32)
        other_a = cuda.shared.array((SIDE, pitch), np.float32)
        other_b = cuda.shared.array((SIDE, pitch), np.float32)
        p = cuda.shared.array((SIDE, PITCH), np.float32)  # a row for each that the block owns
        ds = cuda.shared.array((SIDE, PITCH), np.float32)
        da = cuda.local.array(own, np.float32)
        db = cuda.local.array(own, np.float32)
        head, y, x = cuda.blockIdx.y, cuda.threadIdx.y, cuda.threadIdx.x
        t = SIDE * y + x
        text, tile, column = cuda.blockIdx.z * positions, cuda.blockIdx.x * SIDE, head * width
        load_both(mine_a, mine_b, qkv, dout, text + tile, column, width, of_keys, t)
        for i in range(own):
            da[i] = db[i] = ZERO
        first, end = (tile, positions) if of_keys else (0, tile + SIDE)
        for start in range(first, end, SIDE):
            load_both(other_a, other_b, qkv, dout, text + start, column, width, of_queries, t)
            cuda.syncthreads()
            s = dp = weight = ZERO
            for c in range(width):
                s += mine_a[y, c] * other_a[x, c]
                dp += mine_b[y, c] * other_b[x, c]
            query, key = (start + x, tile + y) if of_keys else (tile + y, start + x)
            if key <= query:
                weight = math.exp(scale * s - lse[text + query, head])
            p[y, x] = weight
            ds[y, x] = scale * weight * (dp - delta[text + query, head])
            cuda.syncthreads()
            for i in range(own):
                for j in range(SIDE):
                    da[i] += ds[y, j] * other_a[j, x + SIDE * i]
                    if of_keys:
                        db[i] += p[y, j] * other_b[j, x + SIDE * i]
            cuda.syncthreads()
        for i in range(own):
            c = column + x + SIDE * i
            if of_keys:
                dqkv[text + tile + y, dout.shape[1] + c] = narrow(da[i], dqkv)
                dqkv[text + tile + y, 2 * dout.shape[1] + c] = narrow(db[i], dqkv)
            else:
                dqkv[text + tile + y, c] = narrow(da[i], dqkv)

    return attention_backward_tiles


# --- the loss, and the update ---


@cuda.jit
def classifier(logits, targets, losses, vocabulary):
    """Online softmax, a loss, and its gradient over the logits (chapters/11_online_softmax.md)."""
    maxima = cuda.shared.array(8, np.float32)
    sums = cuda.shared.array(8, np.float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    own, total = LOWEST, ZERO
    for c in range(t, vocabulary, THREADS):
        z = widen(logits[row, c])
        above = max(own, z)
        total = total * math.exp(own - above) + math.exp(z - above)
        own = above
    target, most = targets[row], block_max(own, maxima)
    total = block_sum(total * math.exp(own - most), sums)
    if t == 0:
        losses[row] = math.log(total) + most - widen(logits[row, target])
    cuda.syncthreads()  # the target's logit was read: now it may go
    share = ONE / np.float32(logits.shape[0])
    for c in range(t, logits.shape[1], THREADS):
        p = math.exp(widen(logits[row, c]) - most) / total if c < vocabulary else ZERO
        logits[row, c] = narrow((p - ONE) * share if c == target else p * share, logits)


@cuda.jit
def norm(g, norms):
    """A block's part of a norm; that of all parts is that of g (chapters/11_online_softmax.md)."""
    sums = cuda.shared.array(8, np.float32)
    total = ZERO
    for i in range(cuda.grid(1), g.size, cuda.gridsize(1)):
        total += widen(g[i]) * widen(g[i])
    total = block_sum(total, sums)
    if cuda.threadIdx.x == 0:
        norms[cuda.blockIdx.x] = math.sqrt(total)


@cuda.jit
def adamw(weight, gradient, mean, square, copy, norm, clip, new1, new2, rate, root, small, kept):
    """An update in one pass over four arrays (chapters/06_fusion.md); ``copy`` gets the weight in
    bfloat16, and is empty where nobody wants that.

    ``clip``: the largest norm of the gradient, which is scaled down to it. ``new1``, ``new2``: 1 -
    beta. ``rate`` is divided by 1 - beta1^step, ``root`` is 1 over the root of 1 - beta2^step,
    ``kept`` is 1 less rate times decay."""
    i = cuda.grid(1)
    if i < weight.size:
        g, m, s = widen(gradient[i]) * min(ONE, clip / norm[0]), mean[i], square[i]
        m, s = m + new1 * (g - m), s + new2 * (g * g - s)
        mean[i] = m
        square[i] = s
        w = kept * weight[i] - rate * m / (math.sqrt(s) * root + small)
        weight[i] = w
        if i < copy.size:
            copy[i] = narrow(w, copy)

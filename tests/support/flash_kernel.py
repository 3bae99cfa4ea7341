"""A one-pass FlashAttention kernel, to compare the model and its widget with.

It has square tiles, and a thread for each query."""

from __future__ import annotations

import math

import numpy as np

from warpwise import cuda


def flash(tile: int, d: int):
    """Return the kernel for ``tile`` x ``tile`` scores and rows of ``d`` elements.

    Launch it with ``tile`` threads in a block."""

    @cuda.jit
    def kernel(Q, K, V, R, scale, causal):
        q = cuda.local.array(d, "float32")
        acc = cuda.local.array(d, "float32")
        Ks = cuda.shared.array((tile, d), "float32")
        Vs = cuda.shared.array((tile, d), "float32")
        t, n = cuda.threadIdx.x, Q.shape[0]
        first = cuda.blockIdx.x * tile
        row = first + t
        for k in range(d):
            q[k] = Q[row, k] if row < n else 0
            acc[k] = 0
        m, total = np.float32(-np.inf), np.float32(0)
        end = min(n, first + tile) if causal else n
        for start in range(0, end, tile):
            cuda.syncthreads()
            if start + t < n:
                for k in range(d):
                    Ks[t, k] = K[start + t, k]
                    Vs[t, k] = V[start + t, k]
            cuda.syncthreads()
            for c in range(min(tile, n - start)):
                if not causal or start + c <= row:
                    s = np.float32(0)
                    for k in range(d):
                        s += q[k] * Ks[c, k]
                    s *= scale
                    above = max(m, s)
                    fix, p = math.exp(m - above), math.exp(s - above)
                    total = total * fix + p
                    for k in range(d):
                        acc[k] = acc[k] * fix + p * Vs[c, k]
                    m = above
        if row < n:
            for k in range(d):
                R[row, k] = acc[k] / total

    return kernel


def arguments(n: int, d: int, causal: bool) -> tuple:
    """Draw float32 Q, K and V; add an empty result, the scale and the mask."""
    rng = np.random.default_rng(n)
    Q, K, V = (rng.normal(size=(n, d)).astype(np.float32) for _ in range(3))
    return Q, K, V, np.zeros_like(Q), np.float32(1 / math.sqrt(d)), causal

"""Attention in one pass, with a running maximum and sum for each row, and a ragged last tile."""

import math

import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)

BR = 16
BC = 16
D = 8


@cuda.jit
def flash(Q, K, V, R, scale):
    q = cuda.local.array(D, float32)
    acc = cuda.local.array(D, float32)
    Ks = cuda.shared.array((BC, D), float32)
    Vs = cuda.shared.array((BC, D), float32)
    S = cuda.shared.array((BR, BC), float32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x * BR + t
    n = Q.shape[0]
    for d in range(D):
        q[d] = Q[row, d] if row < n else 0
        acc[d] = 0
    m = float32(-np.inf)
    z = float32(0)
    for start in range(0, n, BC):
        for d in range(D):
            if start + t < n:
                Ks[t, d] = K[start + t, d]
                Vs[t, d] = V[start + t, d]
        cuda.syncthreads()
        cols = min(BC, n - start)
        mt = m
        for c in range(cols):
            s = float32(0)
            for d in range(D):
                s += q[d] * Ks[c, d]
            s *= scale
            S[t, c] = s
            mt = max(mt, s)
        alpha = math.exp(m - mt)
        z *= alpha
        for d in range(D):
            acc[d] *= alpha
        for c in range(cols):
            p = math.exp(S[t, c] - mt)
            z += p
            for d in range(D):
                acc[d] += p * Vs[c, d]
        m = mt
        cuda.syncthreads()
    if row < n:
        for d in range(D):
            R[row, d] = acc[d] / z


def check():
    n = 50
    Q, K, V = (rng.normal(size=(n, D)).astype(np.float32) for _ in range(3))
    R = np.zeros_like(Q)
    flash[4, BR](Q, K, V, R, np.float32(1 / math.sqrt(D)))
    s = Q @ K.T / math.sqrt(D)
    p = np.exp(s - s.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    assert np.allclose(R, p @ V, atol=1e-5)

"""A sparse matrix times a vector, in four formats."""

import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def csr(row_ptr, col, val, x, y):
    row = cuda.grid(1)
    if row < y.size:
        s = float32(0)
        for k in range(row_ptr[row], row_ptr[row + 1]):
            s += x[col[k]] * val[k]
        y[row] += s


@cuda.jit
def coo(r, c, v, x, y):
    for i in range(cuda.grid(1), len(v), cuda.gridsize(1)):
        cuda.atomic.add(y, r[i], x[c[i]] * v[i])


@cuda.jit
def ell(nnz, col, val, x, y):
    row = cuda.grid(1)
    if row < nnz.size:
        s = 0.0
        for t in range(nnz[row]):
            i = t * nnz.size + row
            s += x[col[i]] * val[i]
        y[row] = s


@cuda.jit
def csr_vector(row_ptr, col, val, x, y):
    warp = cuda.grid(1) // 32
    lane = cuda.laneid
    if warp < y.size:
        s = float32(0)
        for k in range(row_ptr[warp] + lane, row_ptr[warp + 1], 32):
            s += x[col[k]] * val[k]
        for d in (16, 8, 4, 2, 1):
            s += cuda.shfl_down_sync(0xFFFFFFFF, s, d)
        if lane == 0:
            y[warp] = s


def check():
    n = 50
    M = rng.integers(1, 5, (n, n)).astype(np.float32) * (rng.random((n, n)) < 0.2)
    x = rng.integers(0, 5, n).astype(np.float32)
    r, c = map(np.ascontiguousarray, np.nonzero(M))
    v = M[r, c]
    ptr = np.r_[0, np.cumsum((M != 0).sum(1))].astype(np.int32)
    ref = M @ x
    for k, args, g in (
        (csr, (ptr, c.astype(np.int32), v), 2),
        (coo, (r, c, v), 2),
        (csr_vector, (ptr, c, v), n // 4 + 1),
    ):
        y = np.zeros(n, np.float32)
        k[g, 128](*args, x, y)
        assert np.allclose(y, ref), k
    nnz = (M != 0).sum(1)
    w = nnz.max()
    ec = np.zeros((w, n), np.int64)
    ev = np.zeros((w, n), np.float32)
    for i in range(n):
        cc = np.nonzero(M[i])[0]
        ec[: len(cc), i] = cc
        ev[: len(cc), i] = M[i, cc]
    y = np.zeros(n, np.float32)
    ell[2, 32](nnz, ec.ravel(), ev.ravel(), x, y)
    assert np.allclose(y, ref)

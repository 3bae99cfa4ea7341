"""Matrix product with a transposed matrix, turned in a padded tile."""

import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)

T = 16
T1 = T + 1


@cuda.jit
def mm_colB(A, Bt, C):  # Bt holds B transposed: B[k, n] = Bt[n, k]; corner turning: coalesced loads
    a = cuda.shared.array((T, T), float32)
    b = cuda.shared.array((T, T1), float32)
    bx, by, tx, ty = cuda.blockIdx.x, cuda.blockIdx.y, cuda.threadIdx.x, cuda.threadIdx.y
    row, col = by * T + ty, bx * T + tx
    acc = float32(0.0)
    for ph in range((A.shape[1] + T - 1) // T):
        a[ty, tx] = A[row, ph * T + tx] if row < A.shape[0] and ph * T + tx < A.shape[1] else 0
        n, k = bx * T + ty, ph * T + tx
        b[tx, ty] = Bt[n, k] if n < Bt.shape[0] and k < Bt.shape[1] else 0
        cuda.syncthreads()
        for k in range(T):
            acc += a[ty, k] * b[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


def check():
    A = rng.integers(0, 5, (33, 40)).astype(np.float32)
    Bt = rng.integers(0, 5, (20, 40)).astype(np.float32)
    C = np.zeros((33, 20), np.float32)
    mm_colB[(2, 3), (T, T)](A, Bt, C)
    assert (C == A @ Bt.T).all()

"""Matrix product in which a thread computes a square of results in local arrays."""

import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)

BM = BN = 32
BK = 8
TM = TN = 4


@cuda.jit
def sgemm(A, B, C):
    As = cuda.shared.array((BK, BM), float32)
    Bs = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    ra = cuda.local.array(TM, float32)
    rb = cuda.local.array(TN, float32)
    t = cuda.threadIdx.x
    _, K = A.shape
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = 0
    tr, tc = divmod(t, BN // TN)
    for k0 in range(0, K, BK):
        for e in range(t, BM * BK, cuda.blockDim.x):
            r, c = e // BK, e % BK
            As[c, r] = A[cuda.blockIdx.y * BM + r, k0 + c]
        for e in range(t, BN * BK, cuda.blockDim.x):
            r, c = e // BN, e % BN
            Bs[r, c] = B[k0 + r, cuda.blockIdx.x * BN + c]
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                ra[i] = As[k, tr * TM + i]
            for j in range(TN):
                rb[j] = Bs[k, tc * TN + j]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += ra[i] * rb[j]
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            C[cuda.blockIdx.y * BM + tr * TM + i, cuda.blockIdx.x * BN + tc * TN + j] = acc[i, j]


def check():
    A = rng.integers(0, 5, (64, 24)).astype(np.float32)
    B = rng.integers(0, 5, (24, 96)).astype(np.float32)
    C = np.zeros((64, 96), np.float32)
    sgemm[(3, 2), 64](A, B, C)
    assert (C == A @ B).all()

"""Functions that count and reverse bits, and operators on them."""

import numpy as np

from warpwise import cuda


@cuda.jit
def k(x, o):
    i = cuda.grid(1)
    v = x[i]
    o[i, 0] = cuda.popc(v)
    o[i, 1] = cuda.clz(v)
    o[i, 2] = cuda.ffs(v)
    o[i, 3] = ~v & 0xFF
    o[i, 4] = (v << 3) ^ (v >> 1) | 1
    o[i, 5] = cuda.brev(v)


def check():
    x = np.arange(32, dtype=np.int32) * 37
    o = np.zeros((32, 6), np.int64)
    k[1, 32](x, o)
    assert (o[:, 0] == [bin(v).count("1") for v in x]).all()
    assert (o[:, 1] == [32 - int(v).bit_length() for v in x]).all()
    assert (
        (o[:, 2] == [(int(v) & -int(v)).bit_length() for v in x]).all()
        and (o[:, 3] == ~x & 255).all()
        and (o[:, 4] == ((x << 3) ^ (x >> 1) | 1)).all()
    )

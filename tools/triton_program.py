"""Run chapters/programs/attend_triton.py in Triton's interpreter, and compare it with NumPy.

``pip install triton`` first: it is no dependency. No GPU is needed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported
sys.path.insert(0, str(Path(__file__).parents[1] / "chapters/programs"))

import numpy as np
from attend_triton import attend

N, D, TILE = 75, 32, 16


class Tensor:
    """An array with the methods that the interpreter asks of a tensor."""

    dtype = "fp32"

    def __init__(self, array):
        self.array = array

    def data_ptr(self):
        return self.array.ctypes.data

    def untyped_storage(self):
        return self

    cpu = untyped_storage

    def new_empty(self, *size, device):
        return Tensor(self.array)

    def set_(self, storage, *layout):
        self.array = storage.array

    def storage_offset(self):
        return 0

    def size(self):
        return self.array.shape

    def stride(self):
        return self.array.strides

    def copy_(self, other):
        """Do nothing: both are the same memory."""


def main() -> None:
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(N, D)).astype(np.float32) for _ in range(3))
    o = np.zeros((N, D), np.float32)
    scale = D**-0.5
    given = (*map(Tensor, (q, k, v, o)), N, scale * float(np.log2(np.e)))
    attend[(-(-N // TILE),)](*given, D=D, ROWS=TILE, KEYS=TILE)
    s = q @ k.T * scale
    p = np.exp(s - s.max(axis=1, keepdims=True))
    off = abs(o - p / p.sum(axis=1, keepdims=True) @ v).max()
    print(f"off by {off:.1e}")
    assert off < 1e-6


if __name__ == "__main__":
    main()

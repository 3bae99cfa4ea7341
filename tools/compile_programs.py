"""Compile chapters/programs/attend_cutile.py and attend_cute.py with their makers' compilers.

``pip install numpy 'cuda-tile[tileiras]' nvidia-cutlass-dsl`` first: they are no dependencies. No
GPU is needed: what CuTe DSL made is run by ``ptx_block``, and what cuTile made is not run."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from io import BytesIO
from pathlib import Path

import numpy as np
from ptx_block import Block, from_bfloat16, to_bfloat16

KEPT = tempfile.TemporaryDirectory()
os.environ["CUTE_DSL_ARCH"] = "sm_80"  # before CuTe DSL is imported, which asks for a GPU otherwise
os.environ["CUTE_DSL_DUMP_DIR"] = KEPT.name
sys.path.insert(0, str(Path(__file__).parents[1] / "chapters/programs"))

N = 192  # queries and keys: three tiles
COUNTED = ("mma.sync", "ldmatrix", "cp.async.cg", "ex2.approx", "shfl.sync.bfly", "bar.sync")


def compile_cutile(gpu: str) -> int:
    """Return the bytes of its machine code for bfloat16, d = 64 and tiles of 128 x 64."""
    import cuda.tile as ct
    from attend_cutile import attend
    from cuda.tile import compilation

    array = compilation.ArrayConstraint(
        ct.bfloat16,
        2,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        stride_constant=(None, 1),
        alias_groups=(),
        may_alias_internally=False,
    )
    scalars = map(compilation.ScalarConstraint, (ct.int32, ct.float32))
    signature = compilation.KernelSignature(
        [*4 * [array], *scalars, 64, 128, 64], compilation.CallingConvention.cutile_python_v2()
    )
    made = BytesIO()
    compilation.export_kernel(attend, [signature], made, gpu_code=gpu, output_format="cubin")
    return len(made.getvalue())


def compile_cute() -> str:
    """Return PTX for an A100, for N queries and keys."""
    from attend_cute import D, launch
    from cutlass import BFloat16, Float32, cute
    from cutlass.cute.runtime import make_fake_compact_tensor

    tensors = [
        make_fake_compact_tensor(BFloat16, (N, D), stride_order=(1, 0), assumed_align=16)
        for _ in range(4)
    ]
    return cute.compile[cute.KeepPTX()](launch, *tensors, Float32(1)).__ptx__


def run_cute(ptx: str) -> float:
    """Return the largest difference of the outputs from NumPy's, block by block."""
    from attend_cute import ROWS, WARPS, D

    given = np.random.default_rng(0).normal(size=(3, N, D)).astype(np.float32)
    bits = to_bfloat16(given).astype(np.uint16)
    q, k, v = from_bfloat16(bits).astype(np.float64)
    memory = np.append(bits.ravel(), np.zeros(N * D, np.uint16)).view(np.uint8)
    scale = np.float32(D**-0.5 * np.log2(np.e))
    parameters = [np.uint64(2 * N * D * i) for i in range(4)] + [scale.view(np.uint32)]
    for block in range(N // ROWS):
        Block(ptx, 32 * WARPS, block, parameters, memory).run()
    p = np.exp(q @ k.T * D**-0.5)
    o = from_bfloat16(memory[2 * 3 * N * D :].view(np.uint16)).reshape(N, D)
    return float(abs(o - p / p.sum(axis=1, keepdims=True) @ v).max())


def main() -> None:
    for gpu in ("sm_80", "sm_90", "sm_100"):
        print(f"cuTile, {gpu}: {compile_cutile(gpu):,} bytes")
    ptx = compile_cute()
    counted = {word: len(re.findall(rf"\b{word}\b", ptx)) for word in COUNTED}
    print("CuTe DSL, sm_80:", *(f"{word} {times}" for word, times in counted.items()))
    # two products of 16 x 64 x 64 by each warp, in pieces of 16 x 8 x 16
    assert counted["mma.sync"] == 2 * 8 * 4
    off = run_cute(ptx)
    print(f"its PTX, interpreted: off by {off:.1e}, and bfloat16 rounds by up to 2 ** -8")
    assert off < 2**-8


if __name__ == "__main__":
    main()

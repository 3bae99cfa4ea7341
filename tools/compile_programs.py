"""Compile chapters/programs/attend_cutile.py and attend_cute.py with their makers' compilers.

``pip install 'cuda-tile[tileiras]' nvidia-cutlass-dsl`` first: they are no dependencies. No GPU is
needed, and nothing is launched."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections import Counter
from io import BytesIO
from pathlib import Path

KEPT = tempfile.TemporaryDirectory()
os.environ["CUTE_DSL_ARCH"] = "sm_80"  # before CuTe DSL is imported, which asks for a GPU otherwise
os.environ["CUTE_DSL_DUMP_DIR"] = KEPT.name
sys.path.insert(0, str(Path(__file__).parents[1] / "chapters/programs"))

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


def compile_cute() -> Counter[str]:
    """Return how often PTX for an A100 has instructions of each kind."""
    from attend_cute import D, launch
    from cutlass import BFloat16, Float32, cute
    from cutlass.cute.runtime import make_fake_compact_tensor

    n = cute.sym_int32(divisibility=64)
    tensors = [
        make_fake_compact_tensor(BFloat16, (n, D), stride_order=(1, 0), assumed_align=16)
        for _ in range(4)
    ]
    ptx = cute.compile[cute.KeepPTX()](launch, *tensors, Float32(1)).__ptx__
    return Counter({word: len(re.findall(rf"\b{word}\b", ptx)) for word in COUNTED})


def main() -> None:
    for gpu in ("sm_80", "sm_90", "sm_100"):
        print(f"cuTile, {gpu}: {compile_cutile(gpu):,} bytes")
    counted = compile_cute()
    print("CuTe DSL, sm_80:", *(f"{word} {times}" for word, times in counted.items()))
    # two products of 16 x 64 x 64 by each warp, in pieces of 16 x 8 x 16
    assert counted["mma.sync"] == 2 * 8 * 4


if __name__ == "__main__":
    main()

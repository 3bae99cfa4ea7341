"""Products on tensor cores and their fragments: counted, recorded, and refused.

Their values are compared with the tables of the PTX ISA in ``tests/kernels/test_tensor_core.py``.
"""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import trace
from warpwise.errors import KernelError, KernelTypeError, MisalignedError, WarpMaskError
from warpwise.simt import kernels_in

HEAD = """
import numpy as np
from warpwise import cuda
from warpwise.kernels.tensor_core import ldmatrix_x4, ldmatrix_x4_trans, mma_bf16, mma_tf32

@cuda.jit
def kernel(x, out, pitch):
    tile = cuda.shared.array(2048, np.uint32, alignment=16)
    t, zero, word = cuda.threadIdx.x, np.float32(0), x[0]
    for i in range(t, 2048, 32):
        tile[i] = x[i % x.size]
    cuda.syncthreads()
"""
BF16 = "c = mma_bf16(word, word, word, word, word, word, zero, zero, zero, zero)"
TF32 = "c = mma_tf32(zero, zero, zero, zero, zero, zero, zero, zero, zero, zero)"
LOAD = "c = ldmatrix_x4(tile, t * pitch)"


def run(body: str, threads: int = 32, pitch: int = 4):
    kernel = kernels_in(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))["kernel"]
    out = np.zeros(threads, np.float32)
    return trace(kernel, 1, threads, np.arange(128, dtype=np.uint32), out, pitch)


def on(t, text: str):
    """Return the counters of the one line that has a text."""
    (line,) = (n for n, source in t.source.items() if text in source)
    return t.by_line[line]


@pytest.mark.parametrize(("line", "flops"), ((BF16, 2 * 16 * 8 * 16), (TF32, 2 * 16 * 8 * 8)))
def test_op_tensor_and_flops_tensor_count_a_product(line, flops):
    for warps in (1, 2):
        m = on(run(line, 32 * warps), "c = mma")
        assert m.op_tensor == 32 * warps and m.flops_tensor == warps * flops == m.flops
        assert m.warp_instructions == warps and m.flops_fp32 == 0


def test_a_trace_has_a_product_for_each_warp():
    t = run(BF16, 64)
    assert [(e.kind, e.warp, len(e.lanes)) for e in t.events if e.kind == "mma"] == [
        ("mma", 0, 32),
        ("mma", 1, 32),
    ]


@pytest.mark.parametrize("name", ("ldmatrix_x4", "ldmatrix_x4_trans"))
@pytest.mark.parametrize(("pitch", "times"), ((4, 1), (12, 1), (8, 2), (16, 4), (32, 8), (36, 1)))
def test_ldmatrix_loads_a_matrix_in_a_wavefront_where_its_rows_meet_in_no_bank(name, pitch, times):
    m = on(run(LOAD.replace("ldmatrix_x4", name), pitch=pitch), f"{name}(tile")
    assert m.shared_load_requests == 1 and m.shared_load_bytes == 512
    assert m.shared_load_wavefronts == 4 * times
    assert m.shared_load_bank_conflicts == 4 * (times - 1)


def test_a_fragment_that_nobody_wrote_is_no_fragment():
    with pytest.raises(KernelError, match="nothing was written there"):
        run(
            "other = cuda.shared.array(128, np.uint32, alignment=16)\nc = ldmatrix_x4(other, 4 * t)"
        )


REFUSED = {
    BF16.replace("(word", "(zero"): (KernelTypeError, "a0 of mma_bf16 is a word with two bfloat16"),
    BF16.replace("word, zero", "zero, zero"): (KernelTypeError, "b1 of mma_bf16 is a word"),
    TF32.replace("(zero", "(word"): (KernelTypeError, "mma_bf16 multiplies words"),
    TF32.replace("(zero", "(1.0"): (KernelTypeError, r"Try: np.float32\(1.0\)"),
    BF16.replace(", zero)", ")"): (KernelError, "takes 10 arguments"),
    "c = ldmatrix_x4(x, 4 * t)": (KernelTypeError, "takes a shared array of uint32"),
    "c = ldmatrix_x4(tile, t)": (MisalignedError, "from index 1 on"),
    f"if t < 20:\n    {BF16}": (WarpMaskError, "takes all 32 lanes of a warp, and only lanes 0-19"),
    f"if t == 9:\n    {LOAD}": (WarpMaskError, "ldmatrix_x4 takes .* and only lane 9 gets here"),
}


@pytest.mark.parametrize("body", REFUSED)
def test_a_mistake_about_fragments_is_named(body):
    kind, said = REFUSED[body]
    with pytest.raises(kind, match=said):
        run(body)


def test_a_block_that_fills_no_warp_has_no_products():
    with pytest.raises(WarpMaskError, match="only lanes 0-15 get here"):
        run(BF16, threads=48)


def test_one_warp_of_a_ragged_block_may_multiply():
    assert on(run(f"if t < 32:\n    {BF16}", threads=48), "c = mma").op_tensor == 32

"""Kernels as Numba compiles them for a GPU, at the sizes of GPT-2: types, registers, spills.

Those with many registers; the others are compiled by the stopwatch, in ``test_program``."""

from __future__ import annotations

import pytest
from support.as_on_a_gpu import answer
from support.share import THOROUGH

pytestmark = pytest.mark.slow

# In a process where nobody puts Numba's names for ours, as on a GPU. M, V: a matrix, numbers in a
# row; H, W: of bfloat16. Heads of 64, 768 channels, patches of 8 x 8.
PROGRAM = """
import pickle, sys
from support.share import THOROUGH
from warpwise.gpt2 import kernels as k
from warpwise.toolchain import compilation

M, V, n = "float32[:, ::1]", "float32[::1]", "int64"
H, W = "uint16[:, ::1]", "uint16[::1]"
rows, columns = k.as_rows, k.as_columns
KERNELS = {
    "layernorm of a sum": (k.layernorm(768, True), (M, M, V, V, M, M, V, V)),
    "layernorm_backward": (k.layernorm_backward(768, True), (M, M, V, V, V, M, M, M)),
    "product, bias, gelu": (k.product(8, rows, rows, k.with_bias_and_gelu), (M, M, M, V, M, n)),
    "product dX": (k.product(8, rows, columns, k.with_slope_of_gelu), (M, M, M, M, M, n)),
    "product dW": (k.product(8, columns, columns, k.plain), (M, M, M, M, M, n)),
    "attention": (k.attention(64), (M, M, M, n)),
    "attention dK dV": (k.attention_backward(64, True), (M, M, M, M, M, n)),
    "attention dQ": (k.attention_backward(64, False), (M, M, M, M, M, n)),
    "bf16 layernorm of a sum": (k.layernorm(768, True), (H, H, W, W, H, H, V, V)),
    "bf16 layernorm_backward": (k.layernorm_backward(768, True), (H, H, W, V, V, H, M, M)),
    "bf16 product, gelu": (k.product(8, rows, rows, k.with_bias_and_gelu), (H, H, H, W, H, n)),
    "bf16 product dX": (k.product(8, rows, columns, k.with_slope_of_gelu), (H, H, H, H, H, n)),
    "bf16 product dW": (k.product(8, columns, columns, k.plain), (H, H, H, H, H, n)),
    "bf16 attention": (k.attention(64), (H, H, M, n)),
    "bf16 attention dK dV": (k.attention_backward(64, True), (H, H, M, M, H, n)),
    "bf16 attention dQ": (k.attention_backward(64, False), (H, H, M, M, H, n)),
}
# Compiled only in a thorough run: in float32 they have the same source, and the same limits.
LATER = "layernorm_backward", "product, gelu", "product dW", "attention dK dV", "attention dQ"
if not THOROUGH:
    for name in LATER:
        del KERNELS["bf16 " + name]
compilation.for_numba = lambda kernel: kernel.function
found = {
    name: compilation.compile_kernel(kernel, ", ".join(types), (9, 0))
    for name, (kernel, types) in KERNELS.items()
}
sys.stdout.buffer.write(pickle.dumps(found))
"""
#: Registers of a thread, at most: 2 blocks of 256 threads on an SM leave 128 for each, one 255.
MOST = {"product dX": 176, "product dW": 176, "layernorm_backward": 160}
DOUBLE = ("DADD", "DMUL", "DFMA", "F2F.F64", "MUFU.RCP64H")


@pytest.fixture(scope="module")
def compiled() -> dict:
    return answer(PROGRAM)


def test_all_are_compiled_without_spills_local_memory_or_float64(compiled):
    assert len(compiled) == (16 if THOROUGH else 11)
    for name, code in compiled.items():
        spilled = code.spill_load_bytes, code.spill_store_bytes, code.stack_bytes
        assert spilled == (0, 0, 0), name
        most = MOST.get(name.removeprefix("bf16 "), 128)
        assert code.registers <= most, (name, code.registers)
        doubles = [i.text for i in code.machine_code if i.opcode.startswith(DOUBLE)]
        assert doubles == [], name


def test_a_product_s_loop_is_mostly_multiply_adds(compiled):
    """A depth has 64 for 16 loads from shared memory: what the patch is for."""
    for name in ("product, bias, gelu", "product dX", "product dW"):
        opcodes = [i.opcode for i in compiled[name].machine_code]
        loads = sum(one.startswith("LDS") for one in opcodes)
        assert loads == 16 and sum(one.startswith("FFMA") for one in opcodes) >= 64, name


def test_bfloat16_is_loaded_stored_and_rounded_by_an_instruction_each(compiled):
    for name in ("layernorm of a sum", "attention", "product dX"):
        opcodes, of_float32 = (
            [i.opcode for i in compiled[f"{kind}{name}"].machine_code] for kind in ("bf16 ", "")
        )
        for wanted in ("LDG.E.U16", "STG.E.U16", "F2FP.BF16"):
            assert any(one.startswith(wanted) for one in opcodes), (name, wanted)
            assert not any(one.startswith(wanted) for one in of_float32), (name, wanted)

"""Products of float32 matrices on tensor cores: their numbers, races, and machine code."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from support.as_on_a_gpu import answer
from support.share import THOROUGH

from warpwise import cuda
from warpwise.cuda import RaceWarning
from warpwise.gpt2 import kernels as k
from warpwise.kernels import tensor_products as t
from warpwise.kernels.bfloat16 import from_bfloat16, to_bfloat16

# each factor is off by half of the last of 8 or 11 bits, at most
MAKERS = {"bf16": (t.product_bf16, 2.0**-9), "tf32": (t.product_tf32, 2.0**-12)}
PACKED = partial(t.product_bf16, packed=True)
ROWS, COLUMNS, DEPTH = 128, 256, 64


def numbers(rows: int, columns: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)


def multiplied(kind: str, a, b, across_a: bool, across_b: bool, end=k.plain, bias=None):
    """Return out, and what the end has kept in ``before``."""
    kernel = MAKERS[kind][0](across_a, across_b, end)
    out, before = (cuda.to_device(np.full((len(a), len(b)), np.nan, np.float32)) for _ in "ab")
    lying = [
        np.ascontiguousarray(m.T if across else m) for m, across in ((a, across_a), (b, across_b))
    ]
    flat = (cuda.to_device(one.reshape(-1)) for one in lying)
    strides = (np.uint32(one.shape[1]) for one in lying)
    bias = out if bias is None else cuda.to_device(bias)
    blocks = len(b) // t.SIDE, len(a) // t.SIDE
    with warnings.catch_warnings():
        warnings.simplefilter("error", RaceWarning)
        kernel[blocks, t.THREADS](*flat, out, bias, before, *strides, np.uint32(a.shape[1]))
    return out.copy_to_host(), before.copy_to_host()


@pytest.mark.parametrize("across", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("kind", MAKERS)
def test_a_product_is_that_of_rounded_factors(kind: str, across: tuple[bool, bool]):
    a, b, half = numbers(ROWS, DEPTH, 0), numbers(COLUMNS, DEPTH, 1), MAKERS[kind][1]
    got, _ = multiplied(kind, a, b, *across)
    sizes = np.abs(a.astype(float)) @ np.abs(b.astype(float)).T
    far = np.abs(got - a.astype(float) @ b.astype(float).T)
    assert (far <= 2.1 * half * sizes).all()
    assert far.max() > 0.2 * half * sizes.mean(), "as exact as float32: nothing was rounded"


@pytest.mark.parametrize("kind", MAKERS)
def test_numbers_that_need_no_rounding_are_multiplied_exactly(kind: str):
    """Rounded before, in float32's sums of few bits: the layouts of fragments alone count."""
    a, b = (from_bfloat16(to_bfloat16(np.rint(4 * numbers(n, 32, n)))) for n in (ROWS, COLUMNS))
    got, _ = multiplied(kind, a, b, False, True)
    assert np.array_equal(got, a @ b.T)


@pytest.mark.parametrize("kind", MAKERS)
def test_what_is_fused_to_the_end_is_the_model_s(kind: str):
    a, b, bias = numbers(ROWS, 32, 2), numbers(t.SIDE, 32, 3), numbers(1, t.SIDE, 4)[0]
    plain, _ = multiplied(kind, a, b, False, False)
    with_bias, _ = multiplied(kind, a, b, False, False, k.with_bias, bias)
    assert np.array_equal(with_bias, plain + bias)
    _, before = multiplied(kind, a, b, False, False, k.with_bias_and_gelu, bias)
    assert np.array_equal(before, with_bias)


@pytest.mark.parametrize("across", [(False, False), (False, True), (True, True)])
def test_packed_factors_give_the_bits_of_those_that_are_rounded_on_the_way(across):
    a, b = numbers(ROWS, DEPTH, 5), numbers(COLUMNS, DEPTH, 6)
    want, _ = multiplied("bf16", a, b, *across)
    lying = [
        np.ascontiguousarray(m.T if over else m) for m, over in zip((a, b), across, strict=True)
    ]
    halves = [cuda.to_device(to_bfloat16(one).reshape(-1)) for one in lying]
    out = cuda.to_device(np.zeros((ROWS, COLUMNS), np.float32))
    sizes = (np.uint32(one.shape[1]) for one in lying)
    words = (one.view(np.uint32) for one in halves)
    kernel = PACKED(*across, k.plain)
    blocks = COLUMNS // t.SIDE, ROWS // t.SIDE
    kernel[blocks, t.THREADS](*words, out, out, out, *sizes, np.uint32(DEPTH))
    assert np.array_equal(out.copy_to_host(), want)


# In a process where nobody puts Numba's names for ours, as on a GPU.
PROGRAM = """
import pickle, sys
from functools import partial
from support.share import THOROUGH
from warpwise.gpt2 import kernels as k
from warpwise.kernels import tensor_products as t
from warpwise.measure.gpt2.step import products
from warpwise.toolchain import compilation

M, V, n = "float32[:, ::1]", "float32[::1]", "uint32"
HALVES = {M: "uint16[:, ::1]", V: "uint16[::1]"}
compilation.for_numba = lambda kernel: kernel.function
MAKERS = {"bf16": t.product_bf16, "tf32": t.product_tf32}
MAKERS["packed"] = partial(t.product_bf16, packed=True)
found = {}
for a, b, end in products(8).values():
    bias = V if end in (k.with_bias, k.with_bias_and_gelu) else M
    for name, make in MAKERS.items():
        types = (V, V, M, bias, M, n, n, n)
        if name == "packed":
            types = "uint32[::1]", "uint32[::1]", *(HALVES.get(one, one) for one in types[2:])
        types = ", ".join(types)
        both = ((8, 0), (9, 0))
        for capability in both if THOROUGH else (both[len(found) % 2],):
            key = name, a, b, end.py_func.__name__, capability
            found[key] = compilation.compile_kernel(make(a, b, end), types, capability)
sys.stdout.buffer.write(pickle.dumps(found))
"""
WANTED = {
    "bf16": ("HMMA.16816.F32.BF16", "LDSM.16", "LDG.E.128", "STS.128"),
    "packed": ("HMMA.16816.F32.BF16", "LDSM.16", "LDG.E.128", "STS.128", "STG.E.U16"),
    "tf32": ("HMMA.1688.F32.TF32", "LDG.E.128", "STS.128"),
}


@pytest.mark.slow
def test_all_that_the_model_takes_are_compiled_for_two_gpus_without_spills():
    """An ordinary run compiles each for one of the two, by turns."""
    compiled = answer(PROGRAM)
    assert len(compiled) == 6 * 3 * (2 if THOROUGH else 1)
    assert len({(key[0], key[-1]) for key in compiled}) == 3 * 2  # each maker for each GPU
    for key, code in compiled.items():
        assert (code.spill_load_bytes, code.spill_store_bytes, code.stack_bytes) == (0, 0, 0), key
        assert code.occupancy(t.THREADS).blocks == 2, (key, code.registers, code.shared_bytes)
        opcodes = [i.opcode for i in code.machine_code]
        for wanted in WANTED[key[0]]:
            assert any(opcode.startswith(wanted) for opcode in opcodes), (key, wanted)
        assert not any(
            opcode.startswith(("DADD", "DMUL", "DFMA", "LDL", "STL")) for opcode in opcodes
        )

"""bfloat16: the upper half of a float32, with 8 bits of significand, in arrays of uint16.

NumPy has no such type. Kernels move these numbers in pairs, as uint32: the first of two neighbours
is the lower half, as in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warpwise import cuda
from warpwise.kernels.native import native, ptx

NAN = 0x7FFF  # every NaN, as PTX's cvt makes it
# the largest relative error of rounding to nearest: half the distance from 1 to the next number
EPSILON = 2.0**-8


def to_bfloat16(numbers: Any) -> Any:
    """Return float32 (NumPy or CuPy) as bfloat16 in uint16, rounded to nearest, ties to even."""
    bits = numbers.view("uint32")
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = ((bits + (np.uint32(0x7FFF) + odd)) >> np.uint32(16)).astype("uint16")
    rounded[numbers != numbers] = NAN
    return rounded


def from_bfloat16(halves: Any) -> Any:
    """Return bfloat16 in uint16 as float32, which holds all of them exactly."""
    return (halves.astype("uint32") << np.uint32(16)).view("float32")


def _pack(low, high):
    word = np.uint32(0)
    for place in range(2):
        number = low if place == 0 else high
        bits = np.uint32(cuda.libdevice.float_as_int(number))
        rounded = np.uint32(
            bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
        ) >> np.uint32(16)
        if number != number:
            rounded = np.uint32(NAN)
        word = np.uint32(word | np.uint32(rounded << np.uint32(16 * place)))
    return word


@native(_pack)
def pack_bfloat16(typingctx, low, high):
    """``word = pack_bfloat16(low, high)``: two float32 as two bfloat16 in a uint32.

    They are rounded to nearest, ties to even.
    """
    from llvmlite import ir
    from numba import types

    def generate(context, builder, signature, args):
        low, high = (
            context.cast(builder, value, t, types.float32)
            for value, t in zip(args, signature.args, strict=True)
        )
        return ptx(
            builder,
            "cvt.rn.bf16x2.f32 $0, $1, $2;",
            ir.IntType(32),
            ["r"],
            [("f", high), ("f", low)],
        )

    return types.uint32(low, high), generate


@cuda.jit(device=True)
def unpack_bfloat16(word):
    """``low, high = unpack_bfloat16(word)``: the two numbers of a uint32, as float32."""
    low = cuda.libdevice.int_as_float(np.int32(word << np.uint32(16)))
    high = cuda.libdevice.int_as_float(np.int32(word & np.uint32(0xFFFF0000)))
    return low, high

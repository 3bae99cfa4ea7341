"""bfloat16: the upper half of a float32, with 8 bits of significand, in arrays of uint16.

NumPy has no such type. Kernels move these numbers one by one with ``widen`` and ``narrow``, and the
same kernel takes arrays of float32; or in pairs, as uint32: the first of two neighbours is the
lower half, as in memory.
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


def numbers(array: Any) -> Any:
    """Return an array of the device on the host, as float32 where it holds bfloat16."""
    found = array.copy_to_host()
    return from_bfloat16(found) if found.dtype == np.uint16 else found


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


@native("bfloat16.widen")
def widen(typingctx, number):
    """``x = widen(number)``: a bfloat16, read from an array of uint16, as float32.

    A float32 is left as it is.
    """
    from llvmlite import ir
    from numba import types

    def generate(context, builder, signature, args):
        if signature.args[0] == types.float32:
            return args[0]
        word = builder.shl(builder.zext(args[0], ir.IntType(32)), ir.Constant(ir.IntType(32), 16))
        return builder.bitcast(word, ir.FloatType())

    return (types.float32(number), generate) if _stored(number) else None


@native("bfloat16.narrow")
def narrow(typingctx, number, array):
    """``array[i] = narrow(x, array)``: a float32 as ``array`` keeps it.

    For an array of uint16 it is rounded to bfloat16, to nearest, ties to even.
    """
    from llvmlite import ir
    from numba import types

    def generate(context, builder, signature, args):
        x = context.cast(builder, args[0], signature.args[0], types.float32)
        if signature.return_type == types.float32:
            return x
        return ptx(builder, "cvt.rn.bf16.f32 $0, $1;", ir.IntType(16), ["h"], [("f", x)])

    return (array.dtype(number, array), generate) if _stored(array.dtype) else None


def _stored(kind: Any) -> bool:
    """True for what a number may be in memory."""
    from numba import types

    return kind in (types.uint16, types.float32)

"""Loads and stores of 16 bytes by one thread: four neighbouring 4-byte numbers in a request.

Numba itself makes such requests of shared memory if it can see that addresses are multiples of 16,
and of global memory never. The simulator counts one request too, and in shared memory the
wavefronts of eight lanes at a time.

An index counts elements and must be a multiple of 4. The array must begin at a multiple of 16
bytes, as every device array does, and every shared array made with ``alignment=16``.
"""

from __future__ import annotations

from warpwise.kernels.native import address, native


@native("wide.load4")
def load4(typingctx, array, index):
    """``a, b, c, d = load4(array, index)``: load four elements of a 1-D global or shared array."""
    from llvmlite import ir
    from numba import types

    def generate(context, builder, signature, args):
        array_type, index_type = signature.args
        vector = builder.load(
            address(context, builder, array_type, args[0], index_type, args[1], 4), align=16
        )
        parts = [builder.extract_element(vector, ir.Constant(ir.IntType(32), k)) for k in range(4)]
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(array.dtype, 4)(array, index), generate


@native("wide.store4")
def store4(typingctx, array, index, a, b, c, d):
    """``store4(array, index, a, b, c, d)``: store four elements of a 1-D global or shared array."""
    from llvmlite import ir
    from numba import types

    def generate(context, builder, signature, args):
        array_type, index_type = signature.args[:2]
        vector = ir.Constant(
            ir.VectorType(context.get_value_type(array_type.dtype), 4), ir.Undefined
        )
        for k in range(4):
            value = context.cast(builder, args[2 + k], signature.args[2 + k], array_type.dtype)
            vector = builder.insert_element(vector, value, ir.Constant(ir.IntType(32), k))
        builder.store(
            vector, address(context, builder, array_type, args[0], index_type, args[1], 4), align=16
        )
        return context.get_dummy_value()

    return types.void(array, index, a, b, c, d), generate

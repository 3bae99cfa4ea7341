"""Tensor cores and their operands: warp-wide instructions, and asynchronous copies.

A fragment is a lane's part of a small matrix. With ``g = lane // 4`` and ``q = lane % 4``, and each
register of A and B a pair of bfloat16 (see ``bfloat16``), ``mma_bf16`` has them like this (PTX ISA,
"Matrix Fragments for mma.m16n8k16"):

- A, 16 x 16: ``a0`` is row g, columns 2q and 2q+1; ``a1`` eight rows on; ``a2`` eight columns on;
  ``a3`` both.
- B, 16 x 8: ``b0`` is column g, rows 2q and 2q+1; ``b1`` eight rows on.
- C, 16 x 8, in float32: ``c0, c1`` are row g, columns 2q and 2q+1; ``c2, c3`` eight rows on.

``mma_tf32`` multiplies float32 of which the lowest 13 bits are ignored ("mma.m16n8k8"):

- A, 16 x 8: ``a0`` is row g, column q; ``a1`` eight rows on; ``a2, a3`` four columns on.
- B, 8 x 8: ``b0`` is row q, column g; ``b1`` four rows on. C is as above.

Every lane of the warp must take part in a product and in ``ldmatrix``. Shared arrays must be made
with ``alignment=16``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warpwise import cuda
from warpwise.kernels.native import address, native, ptx

# --- the product of two small matrices ---


@native("tensor_core.mma_bf16")
def mma_bf16(typingctx, a0, a1, a2, a3, b0, b1, c0, c1, c2, c3):
    """``d0, d1, d2, d3 = mma_bf16(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3)``: C + A B.

    The sum is in float32, in an unspecified order.
    """
    from llvmlite import ir
    from numba import types

    text = (
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};"
    )

    def generate(context, builder, signature, args):
        wanted = [types.uint32] * 6 + [types.float32] * 4
        values = [
            context.cast(builder, *one) for one in zip(args, signature.args, wanted, strict=True)
        ]
        four = ir.LiteralStructType([ir.FloatType()] * 4)
        sums = ptx(builder, text, four, "ffff", list(zip("rrrrrrffff", values, strict=True)))
        return context.make_tuple(
            builder, signature.return_type, [builder.extract_value(sums, k) for k in range(4)]
        )

    return types.UniTuple(types.float32, 4)(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3), generate


@native("tensor_core.mma_tf32")
def mma_tf32(typingctx, a0, a1, a2, a3, b0, b1, c0, c1, c2, c3):
    """``d0, d1, d2, d3 = mma_tf32(...)``: C + A B of a warp in float32.

    The lowest 13 bits of A and B are ignored.
    """
    from llvmlite import ir
    from numba import types

    text = (
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};"
    )

    def generate(context, builder, signature, args):
        words = [builder.bitcast(value, ir.IntType(32)) for value in args[:6]]
        four = ir.LiteralStructType([ir.FloatType()] * 4)
        sums = ptx(
            builder, text, four, "ffff", list(zip("rrrrrrffff", [*words, *args[6:]], strict=True))
        )
        return context.make_tuple(
            builder, signature.return_type, [builder.extract_value(sums, k) for k in range(4)]
        )

    return types.UniTuple(types.float32, 4)(*[types.float32] * 10), generate


@cuda.jit(device=True, forceinline=True)
def add_product(sums, s, a0, a1, a2, a3, b0, b1):
    """Add the product of A and B to four sums of this lane, from ``sums[s]`` on."""
    c0, c1, c2, c3 = mma_bf16(
        a0, a1, a2, a3, b0, b1, sums[s], sums[s + 1], sums[s + 2], sums[s + 3]
    )
    sums[s] = c0
    sums[s + 1] = c1
    sums[s + 2] = c2
    sums[s + 3] = c3


@cuda.jit(device=True, forceinline=True)
def add_part(sums, s, part, p, b0, b1):
    """Add the product of the A that begins at ``part[p]`` and B to four sums of this lane."""
    add_product(sums, s, part[p], part[p + 1], part[p + 2], part[p + 3], b0, b1)


# --- fragments from any memory ---


@cuda.jit(device=True, forceinline=True)
def halves_of(column):
    """Return, for ``column_pair``, which halves of two words a column is in."""
    return np.int32(0x7632 if column % np.uint32(2) else 0x5410)


@cuda.jit(device=True, forceinline=True)
def column_pair(array, at, pitch, halves):
    """Return two numbers of a column, one below the other, as a word.

    ``at``: the word with the upper one. ``pitch``: words from row to row.
    """
    return np.uint32(
        cuda.libdevice.byte_perm(np.int32(array[at]), np.int32(array[at + pitch]), halves)
    )


# --- fragments from shared memory ---


def _ldmatrix(trans: str) -> Any:
    def typing(typingctx, array, index):
        from llvmlite import ir
        from numba import types

        def generate(context, builder, signature, args):
            at = shared_address(
                context, builder, signature.args[0], args[0], signature.args[1], args[1]
            )
            four = ir.LiteralStructType([ir.IntType(32)] * 4)
            text = f"ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{$0, $1, $2, $3}}, [$4];"
            words = ptx(builder, text, four, "rrrr", [("r", at)], volatile=True)
            return context.make_tuple(
                builder, signature.return_type, [builder.extract_value(words, k) for k in range(4)]
            )

        return types.UniTuple(types.uint32, 4)(array, index), generate

    typing.__name__ = f"ldmatrix_x4{trans.replace('.', '_')}"
    return typing


def shared_address(
    context: Any, builder: Any, array_type: Any, array: Any, index_type: Any, index: Any
) -> Any:
    """Return the address of ``array[index]`` within shared memory, in 32 bits.

    Instructions for shared memory alone take it.
    """
    from llvmlite import ir

    place = address(context, builder, array_type, array, index_type, index)
    shared = builder.addrspacecast(
        place, ir.PointerType(context.get_data_type(array_type.dtype), 3)
    )
    return builder.ptrtoint(shared, ir.IntType(32))


#: ``r0, r1, r2, r3 = ldmatrix_x4(array, index)``: four 8 x 8 matrices of bfloat16 from a shared
#: array of uint32. Lane ``8 m + r`` gives the index at which row r of matrix m begins, a multiple
#: of 4. Of matrix m, lane 4 r + p gets word p (two numbers) of row r.
ldmatrix_x4 = native("tensor_core.ldmatrix_x4")(_ldmatrix(""))

#: The same, each matrix transposed: lane 4 c + p gets rows 2p and 2p + 1 of column c.
ldmatrix_x4_trans = native("tensor_core.ldmatrix_x4_trans")(_ldmatrix(".trans"))


# --- asynchronous copies ---


@native("tensor_core.cp_async16")
def cp_async16(typingctx, shared, index, source, position):
    """``cp_async16(shared, index, source, position)``: start copying 16 bytes to shared memory.

    The source is global. Elements have 4 bytes, and both indices are multiples of 4. The copy is
    complete when a wait for its group ends, and until then nothing may use its place.
    """
    from llvmlite import ir
    from numba import types

    def generate(context, builder, signature, args):
        to = shared_address(
            context, builder, signature.args[0], args[0], signature.args[1], args[1]
        )
        place = address(context, builder, signature.args[2], args[2], signature.args[3], args[3])
        source = builder.ptrtoint(place, context.get_value_type(types.uint64))
        text = (
            "{ .reg .u64 from; cvta.to.global.u64 from, $1; "
            "cp.async.cg.shared.global [$0], [from], 16; }"
        )
        ptx(builder, text, ir.VoidType(), (), [("r", to), ("l", source)], volatile=True)
        return context.get_dummy_value()

    return types.void(shared, index, source, position), generate


def _alone(text: str) -> Any:
    """Return the code generator of an instruction without operands and results."""

    def generate(context, builder, signature, args):
        from llvmlite import ir

        ptx(builder, text, ir.VoidType(), (), (), volatile=True)
        return context.get_dummy_value()

    return generate


@native("tensor_core.cp_async_commit")
def cp_async_commit(typingctx):
    """Make a group of the copies that this thread started since its last commit, perhaps none."""
    from numba import types

    return types.void(), _alone("cp.async.commit_group;")


@native("tensor_core.cp_async_wait")
def cp_async_wait(typingctx, groups):
    """``cp_async_wait(n)``: wait for all of this thread's groups but the last ``n``, a constant.

    A barrier makes the copies visible to other threads.
    """
    from numba import types

    if not isinstance(groups, types.IntegerLiteral):
        return None  # Numba calls this again with the constant itself
    return types.void(groups), _alone(f"cp.async.wait_group {groups.literal_value};")

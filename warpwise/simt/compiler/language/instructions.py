"""Instructions of the machine that ``warpwise.kernels`` gives a name, by module and name.

Numba has no word for them. A kernel imports them as functions: ``from warpwise.kernels.wide import
load4``. In examples ``words`` is a shared array of 128 ``uint32`` that has been written, ``flat`` a
global one, and one warp runs."""

from __future__ import annotations

from functools import partial

from warpwise.simt.compiler import bfloat16_calls, tensor_calls, wide_calls
from warpwise.simt.compiler.context import Call
from warpwise.simt.compiler.entries import Entry
from warpwise.simt.machine.tensor import BF16, TF32

REGISTERS = f"({', '.join(tensor_calls.REGISTERS)})"
COPY = "cp_async16(words, 4 * i, flat, 4 * i)\ncp_async_commit()\ncp_async_wait(0)"


def _mma(kind: str, factor: str) -> Entry[Call]:
    factors = ", ".join([factor] * 6)
    example = f"c = np.float32(0)\nc, d, e, f = mma_{kind}({factors}, c, c, c, c)\nout[i] = d"
    handler = partial(tensor_calls.mma, kind=kind)
    return Entry(f"tensor_core.mma_{kind}", REGISTERS, handler, example)


def _ldmatrix(name: str, transposed: bool) -> Entry[Call]:
    handler = partial(tensor_calls.ldmatrix, transposed=transposed)
    example = f"a, b, c, d = {name}(words, 4 * i)\nout[i] = d"
    return Entry(f"tensor_core.{name}", "(array, index)", handler, example)


def _alone(name: str, shown: str, handler: Call) -> Entry[Call]:
    return Entry(f"tensor_core.{name}", shown, handler, COPY)


INSTRUCTIONS: tuple[Entry[Call], ...] = (
    Entry(
        "wide.load4",
        "(array, index)",
        wide_calls.load4,
        "a, b, c, d = load4(flat, 4 * i)\nout[i] = a + d",
    ),
    Entry(
        "wide.store4",
        "(array, index, a, b, c, d)",
        wide_calls.store4,
        "store4(flat, 4 * i, 1, 2, 3, 4)",
    ),
    Entry(
        "bfloat16.widen",
        "(number)",
        bfloat16_calls.widen,
        "out[i] = widen(np.uint16(flat[i]))",
    ),
    Entry(
        "bfloat16.narrow",
        "(number, array)",
        bfloat16_calls.narrow,
        "out[i] = narrow(np.float32(i), out)",
    ),
    _mma(BF16, "flat[i]"),
    _mma(TF32, "np.float32(i)"),
    _ldmatrix("ldmatrix_x4", False),
    _ldmatrix("ldmatrix_x4_trans", True),
    _alone("cp_async16", "(shared, index, source, position)", tensor_calls.cp_async16),
    _alone("cp_async_commit", "()", tensor_calls.commit),
    _alone("cp_async_wait", "(groups)", tensor_calls.wait),
)

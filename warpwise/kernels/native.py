"""Instructions that Numba has no name for: an intrinsic, and what the simulator runs in its place.

The compiler's half is written with llvmlite, as a function of Numba's typing context. The other
half is a word of the simulator's language, which counts and checks it as one instruction, or
plain Python for each thread, with the functions that any kernel may use. Without Numba only that
half exists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from warpwise.simt.frontend.names import CudaName


def native(meaning: Callable[..., Any] | str) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a typing function as ``numba.extending.intrinsic`` does.

    ``meaning``: what the simulator runs in its place: a function, or a word of its language by its
    path. The typing function takes Numba's typing context and the types of the arguments, and
    returns a signature and a code generator. It runs only when a kernel is compiled, so it may
    import Numba.
    """

    def decorate(typing: Callable[..., Any]) -> Any:
        try:
            from numba.cuda.extending import intrinsic
        except ImportError:
            return _simulated(meaning)
        made: Any = intrinsic(typing)
        if isinstance(meaning, str):
            made.cuda_word = CudaName(meaning)
        else:
            made.py_func = meaning
        return made

    return decorate


def _simulated(meaning: Callable[..., Any] | str) -> Any:
    from warpwise import cuda

    return CudaName(meaning) if isinstance(meaning, str) else cuda.jit(device=True)(meaning)


def address(
    context: Any,
    builder: Any,
    array_type: Any,
    array: Any,
    index_type: Any,
    index: Any,
    items: int = 1,
) -> Any:
    """Return the address of ``array[index]``, as a pointer to an element or to a vector of them."""
    from llvmlite import ir
    from numba import types

    first = context.make_array(array_type)(context, builder, array).data
    place = builder.gep(first, [context.cast(builder, index, index_type, types.intp)])
    if items == 1:
        return place
    return builder.bitcast(
        place, ir.VectorType(context.get_value_type(array_type.dtype), items).as_pointer()
    )


def ptx(
    builder: Any,
    text: str,
    result: Any,
    outputs: Sequence[str],
    inputs: Sequence[tuple[str, Any]],
    volatile: bool = False,
) -> Any:
    """Emit one instruction of PTX.

    ``result``: its LLVM type (a literal struct for several outputs). ``outputs``: their constraint
    letters. ``inputs``: pairs of a constraint letter (r: 32-bit integer, l: 64-bit, f: float, h:
    16-bit) and a value. ``volatile``: the instruction has side effects, so it is neither removed
    nor reordered. No instruction is moved to where fewer lanes are active: some act for a whole
    warp.
    """
    from llvmlite import ir

    constraints = ",".join(
        [
            *(f"={letter}" for letter in outputs),
            *(letter for letter, _ in inputs),
            *(["~{memory}"] if volatile else []),
        ]
    )
    values = [value for _, value in inputs]
    asm = ir.InlineAsm(
        ir.FunctionType(result, [v.type for v in values]), text, constraints, side_effect=volatile
    )
    return builder.call(asm, values, attrs=("convergent",))

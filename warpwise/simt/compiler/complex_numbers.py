"""Functions of complex numbers: casts, and those of ``cmath`` and NumPy, with Numba's typing.

Operators are in ``arithmetic``. A complex number is one access of 8 or 16 bytes here; Numba's
compiler loads the two parts one after the other, as it cannot know that they are aligned together,
so that a GPU counts two requests, which touch the same sectors."""

from __future__ import annotations

import ast
import cmath
from collections.abc import Callable

import numpy as np

from warpwise.simt import types
from warpwise.simt.builtins import complex_functions
from warpwise.simt.builtins.complex_functions import complex_of
from warpwise.simt.compiler.arguments import arguments, numbers
from warpwise.simt.compiler.arithmetic import binary, part_type
from warpwise.simt.compiler.closures import Code, Number, converted
from warpwise.simt.compiler.context import Context
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import (
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    DType,
    TupleType,
    Value,
    is_complex,
)

_SAME = "exp log log10 sqrt sin cos tan sinh cosh tanh"
_INVERSE = "asin acos atan asinh acosh atanh"
#: Functions of ``cmath`` -> what computes them.
FUNCTIONS: dict[object, Callable[[Value], Value]] = {
    getattr(cmath, n): getattr(complex_functions, n, None) or getattr(np, n) for n in _SAME.split()
}
FUNCTIONS |= {getattr(cmath, n): getattr(np, f"arc{n[1:]}") for n in _INVERSE.split()}
TESTS: dict[object, Callable[[Value], Value]] = {
    cmath.isnan: np.isnan,
    cmath.isinf: np.isinf,
    cmath.isfinite: np.isfinite,
}
CASTS: dict[object, DType] = {
    complex: COMPLEX128,
    np.complex64: COMPLEX64,
    np.complex128: COMPLEX128,
}


def function(
    c: Context, node: ast.Call, compute: Callable[[Value], Value], is_test: bool
) -> Number:
    """Compile one of ``FUNCTIONS`` or ``TESTS``."""
    if compute is np.log and len(node.args) == 2:
        return _logarithm(c, node)
    argument = _complex_argument(c, node)
    run, t = argument.run, argument.type
    c.cost.special(part_type(t))
    return Number(lambda f, m: compute(run(f, m)), BOOL if is_test else t)


def _logarithm(c: Context, node: ast.Call) -> Number:
    """Compile ``cmath.log(z, base)``."""
    found = [_as_complex(argument) for argument in arguments(c, node, 2)]
    for argument in found:
        c.cost.special(part_type(argument.type))
    of_both = [_log_of(argument) for argument in found]
    return binary(c, node, of_both[0], ast.Div(), of_both[1])


def _log_of(argument: Number) -> Number:
    run = argument.run
    return Number(lambda f, m: np.log(run(f, m)), argument.type)


def _complex_argument(c: Context, node: ast.Call) -> Number:
    """Compile the one argument, as a complex number."""
    (argument,) = arguments(c, node, 1)
    return _as_complex(argument)


def _as_complex(argument: Number) -> Number:
    is_one = is_complex(argument.type)
    return converted(argument, argument.type if is_one else complex_type(argument.type))


def complex_(c: Context, node: ast.Call) -> Number:
    """Compile ``complex(z)`` and ``complex(x, y)``."""
    given = numbers(c, node)
    if len(given) == 2:
        return _joined_parts(given)
    if len(given) != 1:
        arguments(c, node, 1)  # refuses them
    (argument,) = given
    return _cast(c, argument, COMPLEX64 if argument.type == FLOAT32 else COMPLEX128)


def cast(c: Context, node: ast.Call, t: DType) -> Number:
    """Compile ``np.complex64(z)`` and the like."""
    (argument,) = arguments(c, node, 1)
    return _cast(c, argument, t)


def _cast(c: Context, argument: Number, t: DType) -> Number:
    c.cost.add("conversion", int(argument.type != t))
    return converted(argument, t)


def _joined_parts(parts: list[Number]) -> Number:
    if any(is_complex(part.type) for part in parts):
        raise types.TypeMismatch("complex(x, y) takes two real numbers", "x + 1j * y")
    real, imaginary, t = _in_one_type(parts)
    to = complex_type(t)
    return Number(lambda f, m: complex_of(real(f, m), imaginary(f, m), to), to)


def _in_one_type(
    parts: list[Number],
) -> tuple[Callable[..., Value], Callable[..., Value], DType]:
    t = FLOAT32 if all(part.type == FLOAT32 for part in parts) else FLOAT64
    first, second = (converted(part, t).run for part in parts)
    return first, second, t


def rect(c: Context, node: ast.Call) -> Number:
    """Compile ``cmath.rect(r, phi)``."""
    radius, angle, t = _in_one_type(arguments(c, node, 2))
    c.cost.special(t)

    def run(frame: Frame, mask: Mask) -> Value:
        r, phi = radius(frame, mask), angle(frame, mask)
        return complex_of(*complex_functions.rect(r, phi), complex_type(t))

    return Number(run, complex_type(t))


def phase(c: Context, node: ast.Call) -> Number:
    """Compile ``cmath.phase(z)``."""
    argument = _complex_argument(c, node)
    c.cost.special(part_type(argument.type))
    run = argument.run
    return Number(lambda f, m: np.angle(run(f, m)), part_type(argument.type))


def polar(c: Context, node: ast.Call) -> Code:
    """Compile ``cmath.polar(z)``."""
    argument = _complex_argument(c, node)
    c.cost.special(part_type(argument.type))
    run, part = argument.run, part_type(argument.type)

    def both(frame: Frame, mask: Mask) -> Value:
        value = run(frame, mask)
        return np.abs(value), np.angle(value)

    return Code(both, TupleType((part, part)))


def of_numpy(c: Context, node: ast.Call, compute: Callable[..., Value]) -> Number:
    """Compile ``np.conjugate(z)`` and ``np.angle(z)``."""
    (argument,) = arguments(c, node, 1)
    if not is_complex(argument.type):
        what = f"{ast.unparse(node.func)} takes a complex number here"
        raise types.TypeMismatch(what, "make it one: complex(x)")
    run = argument.run
    t = argument.type if compute is np.conjugate else part_type(argument.type)
    return Number(lambda f, m: compute(run(f, m)), t)


def part(c: Context, node: ast.Call, name: str) -> Number:
    """Compile ``np.real(z)`` and ``np.imag(z)``."""
    (argument,) = arguments(c, node, 1)
    return part_of_number(argument, name)


def part_of_number(base: Number, name: str) -> Number:
    """Compile ``z.real`` and ``z.imag``; a real number has them too."""
    run, t = base.run, base.type
    if is_complex(t):
        wanted = np.dtype(f"f{t.itemsize // 2}")
        return Number(lambda f, m: getattr(np.asarray(run(f, m)), name)[()], wanted)
    return base if name == "real" else Number(lambda f, m: types.cast(0, t), t)


def absolute(c: Context, argument: Number) -> Number:
    run = argument.run
    c.cost.special(part_type(argument.type))
    return Number(lambda f, m: np.abs(run(f, m)), part_type(argument.type))


def complex_type(t: DType) -> DType:
    """Return the complex type for a real one, as ``cmath`` takes it."""
    return COMPLEX64 if t == FLOAT32 else COMPLEX128

"""Functions of ``math``, NumPy and Python in a kernel, with NumPy counterparts and typing rules.

CUDA's own functions of numbers are in ``bit_functions`` and ``libdevice``; ``calls`` compiles all
of them alike. Left out are NumPy's functions of whole arrays, and those of ``math`` that Numba's
CUDA target lacks (``gcd``, ``dist`` ...)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from warpwise.simt import types
from warpwise.simt.builtins.overloads import Rule, Signature, by_rule, one_of
from warpwise.simt.types import BOOL, FLOAT64, INT64, DType, TupleType, Type, Value, math_half

Compute: TypeAlias = Callable[..., Value]  #: values of the types of a signature -> the result


@dataclass(frozen=True)
class Function:
    """A function of numbers.

    ``sign(*argument types)`` gives its ``Signature``; ``run`` works on arrays and scalars of those
    types."""

    name: str
    arity: int
    run: Compute
    sign: Rule
    flops: int = 0
    op_class: str = "special"  #: of the instruction mix; "" for that of the type computed in


def slow(function: Callable[[float], float]) -> Compute:
    """Map a function of Python's ``math`` over arrays, for the few that NumPy lacks.

    Outside its domain it is NaN, not an error."""

    def one(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    over = np.vectorize(one, otypes=[np.float64])

    def run(x: Value) -> Value:
        return over(x).astype(x.dtype)[()]

    return run


def to_bool(t: Type) -> DType:
    return BOOL


# --- math ---


def _math(
    name: str,
    run: Compute,
    takes: Callable[..., DType] = types.math_unary,
    arity: int = 1,
    gives: Callable[[DType], DType] = types.same,
    **more: Any,
) -> Function:
    return Function(f"math.{name}", arity, run, by_rule(takes, gives), **more)


def _signed(name: str, run: Compute, text: str) -> Function:
    sign = one_of(text)
    return Function(f"math.{name}", text.partition(")")[0].count(",") + 1, run, sign)


def _pow(x: Value, y: Value) -> Value:
    return np.power(x, types.cast(y, x.dtype))


def frexp(x: Value) -> Value:
    """Split into mantissa and int32 exponent."""
    return np.frexp(x)


def modf(x: Value) -> Value:
    """Split into fraction and whole part; the fraction of an infinity is 0, with its sign."""
    return np.modf(x)


def ieee_remainder(a: Value, b: Value) -> Value:
    """Subtract the nearest multiple of ``b`` (the even one of two): exact, as C's ``remainder``."""
    rest = np.fmod(a, b)
    size, half = np.abs(rest), np.abs(b)
    below = half - size  # to the next multiple; exact, as both are multiples of one unit
    odd = np.fmod(np.abs(a), half + half) >= half  # the multiple taken is an odd one
    up = (size > below) | ((size == below) & odd)
    exact = np.where(up, np.copysign(below, -rest), rest)
    return np.where(np.isinf(b) & np.isfinite(a), a, exact).astype(np.result_type(a, b))[()]


def _of_numpy(names: str, **more: Any) -> list[Function]:
    """Functions that NumPy has under the same name."""
    return [_math(name, getattr(np, name), **more) for name in names.split()]


_INVERSE = "sin cos tan sinh cosh tanh"
_MATH = [
    *_of_numpy("exp exp2 log log2 log10 sin cos", takes=math_half),
    _math("sqrt", np.sqrt, math_half, flops=1),
    *_of_numpy("floor ceil fabs trunc", takes=math_half, op_class=""),
    *_of_numpy("expm1 log1p tan sinh cosh tanh radians degrees"),
    *(_math(f"a{name}", getattr(np, f"arc{name}")) for name in _INVERSE.split()),
    *(_math(name, slow(getattr(math, name))) for name in "erf erfc gamma lgamma".split()),
    *_of_numpy("isnan isinf isfinite", gives=to_bool, op_class=""),
    _signed("pow", _pow, "f4(f4,f4) f8(f8,f8) f4(f4,i4) f8(f8,i4)"),
    _math("atan2", np.arctan2, types.math_binary, 2),
    _math("hypot", np.hypot, types.math_binary, 2),
    _math("fmod", np.fmod, types.math_close, 2),
    _math("copysign", np.copysign, types.math_close, 2, op_class=""),
    _math("nextafter", np.nextafter, types.math_close, 2),
    _math("remainder", ieee_remainder, types.math_close, 2),
    _signed("frexp", frexp, "f4*i4(f4) f8*i4(f8)"),
    _signed("ldexp", np.ldexp, "f4(f4,i4) f8(f8,i4)"),
    _signed("modf", modf, "f8*f8(f8) f4*f4(f4)"),
]
FUNCTIONS: dict[object, Function] = {getattr(math, f.name.partition(".")[2]): f for f in _MATH}

# --- NumPy ---

_LOOPS = "?bBhHiIlLfd"  # the scalar types for which Numba has NumPy's loops: no float16
# Those for which Numba's CUDA target has code; the others end in an error of its compiler.
_SIMPLE = (
    "maximum minimum fmax fmin equal not_equal less less_equal greater greater_equal logical_and "
    "logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor invert left_shift "
    "right_shift isnan"
).split()
_SPECIAL = (
    "divide log log2 log10 sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh "
    "arctan2 hypot deg2rad rad2deg degrees radians"
).split()


def _numpy_rule(ufunc: np.ufunc) -> Rule:
    """Return NumPy's typing rule over the loops that Numba has.

    Beside a float, an integer does not matter."""
    known = [loop.split("->") for loop in ufunc.types]
    loops = [(i, o) for i, o in known if set(i + o) <= set(_LOOPS) and len(set(i)) == 1]

    def rule(*arguments: DType) -> Signature:
        floats = [t for t in arguments if types.is_float(t)]
        deciding = [np.result_type(np.float32, *floats)] if floats else arguments
        for inputs, outputs in loops:
            if all(np.can_cast(t, inputs[0], "safe") for t in deciding):
                results = tuple(map(np.dtype, outputs))
                result = results[0] if ufunc.nout == 1 else TupleType(results)
                return Signature((np.dtype(inputs[0]),) * ufunc.nin, result)
        what = f"np.{ufunc.__name__} needs integers, not {' and '.join(map(str, arguments))}"
        raise types.TypeMismatch(what, "int(x) makes a number whole")

    return rule


def _numpy_function(name: str, op_class: str) -> Function:
    ufunc, flops = getattr(np, name), int(name == "divide")
    return Function(f"np.{name}", ufunc.nin, ufunc, _numpy_rule(ufunc), flops, op_class)


FUNCTIONS |= {getattr(np, name): _numpy_function(name, "") for name in _SIMPLE}
FUNCTIONS |= {getattr(np, name): _numpy_function(name, "special") for name in _SPECIAL}

# --- Python ---


def _round(x: Value) -> Value:
    return types.cast(np.rint(x), INT64)


def _round_digits(x: Value, digits: Value) -> Value:
    """``round(x, digits)`` as Numba does it: scale in float64, round, scale back.

    Beyond a float's range ``x`` is unchanged."""
    wide, digits = np.asarray(x, np.float64), np.asarray(digits)
    first, second = 10.0 ** np.minimum(np.abs(digits), 22), 10.0 ** np.clip(digits - 22, 0, None)
    scaled = np.where(digits >= 0, wide * second * first, wide / 10.0 ** np.abs(digits))
    rounded = np.rint(scaled)
    result = np.where(digits >= 0, rounded / first / second, rounded * 10.0 ** np.abs(digits))
    return np.where(np.isfinite(scaled), result, wide).astype(x.dtype)[()]


ROUND = Function("round", 1, _round, by_rule(types.math_unary, lambda t: INT64))
ROUND_DIGITS = Function("round", 2, _round_digits, one_of("f4(f4,i8) f8(f8,i8)"))


def _always(t: DType) -> Callable[[Type], DType]:
    return lambda _: t


#: What is called as a cast -> the type that it gives for an argument type.
CASTS: dict[object, Callable[[Type], DType]] = {
    int: lambda t: t if types.is_integer(t) and t != BOOL else INT64,
    float: lambda t: t if types.is_float(t) else FLOAT64,
    bool: to_bool,
} | {t.type: _always(t) for t in types.SCALARS}

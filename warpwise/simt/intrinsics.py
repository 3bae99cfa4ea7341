"""What a kernel can call: functions of ``math``, Python and NumPy, each with its NumPy counterpart and its typing rule.

The simulator's own words (``cuda.grid``, ``cuda.shared.array`` ...) are compiled in ``expressions``; this is the table of the rest.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from warpwise.simt import types
from warpwise.simt.types import BOOL, FLOAT64, INT64


@dataclass(frozen=True)
class Function:
    """``run`` works on arrays and scalars of type ``takes(*argument types)``; the result has type ``gives(that type)``."""

    name: str
    arity: int
    run: Callable
    takes: Callable
    gives: Callable = staticmethod(lambda t: t)
    flops: int = 0


def _unary(name: str, run: Callable, **more) -> Function:
    return Function(f"math.{name}", 1, run, types.math_unary, **more)


def _binary(name: str, run: Callable) -> Function:
    return Function(f"math.{name}", 2, run, types.math_binary)


def _slow(function: Callable) -> Callable:
    """A function of Python's ``math`` over arrays, for the few that NumPy lacks."""
    over = np.vectorize(function, otypes=[np.float64])

    def run(x):
        return over(x).astype(x.dtype)[()]

    return run


def _to_bool(t):
    return BOOL


_MATH = [
    _unary("sqrt", np.sqrt, flops=1), _unary("exp", np.exp), _unary("expm1", np.expm1), _unary("log", np.log), _unary("log2", np.log2),
    _unary("log10", np.log10), _unary("log1p", np.log1p), _unary("sin", np.sin), _unary("cos", np.cos), _unary("tan", np.tan),
    _unary("asin", np.arcsin), _unary("acos", np.arccos), _unary("atan", np.arctan), _unary("sinh", np.sinh), _unary("cosh", np.cosh),
    _unary("tanh", np.tanh), _unary("asinh", np.arcsinh), _unary("acosh", np.arccosh), _unary("atanh", np.arctanh),
    _unary("floor", np.floor), _unary("ceil", np.ceil), _unary("fabs", np.fabs), _unary("radians", np.radians), _unary("degrees", np.degrees),
    _unary("erf", _slow(math.erf)), _unary("erfc", _slow(math.erfc)), _unary("gamma", _slow(math.gamma)), _unary("lgamma", _slow(math.lgamma)),
    _unary("isnan", np.isnan, gives=_to_bool), _unary("isinf", np.isinf, gives=_to_bool), _unary("isfinite", np.isfinite, gives=_to_bool),
    _binary("pow", np.power), _binary("atan2", np.arctan2), _binary("fmod", np.fmod), _binary("hypot", np.hypot), _binary("copysign", np.copysign),
]  # fmt: skip


def _round(x):
    return types.cast(np.rint(x), INT64)


FUNCTIONS: dict[object, Function] = {getattr(math, f.name.partition(".")[2]): f for f in _MATH}
FUNCTIONS |= {
    builtins.round: Function("round", 1, _round, types.math_unary, lambda t: INT64),
    math.trunc: Function("math.trunc", 1, np.trunc, types.math_unary),
}
FUNCTIONS |= {
    getattr(np, numpy_name): FUNCTIONS[getattr(math, name)]
    for numpy_name, name in [
        *((n, n) for n in "sqrt exp expm1 log log2 log10 log1p sin cos tan sinh cosh tanh floor ceil fabs isnan isinf hypot".split()),
        ("arcsin", "asin"), ("arccos", "acos"), ("arctan", "atan"), ("arctan2", "atan2"),
    ]
}  # fmt: skip

#: Casts: what is called -> the type it gives for an argument type.
CASTS: dict[object, Callable] = {
    int: lambda t: t if types.is_integer(t) and t != BOOL else INT64,
    float: lambda t: t if types.is_float(t) else FLOAT64,
    bool: _to_bool,
} | {t.type: (lambda _, t=t: t) for t in types.SCALARS}

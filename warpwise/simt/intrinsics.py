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
from warpwise.simt.types import BOOL, FLOAT64, INT64, math_half


@dataclass(frozen=True)
class Function:
    """``run`` works on arrays and scalars of type ``takes(*argument types)``; the result has type ``gives(that type)``."""

    name: str
    arity: int
    run: Callable
    takes: Callable
    gives: Callable = types.same
    flops: int = 0
    op_class: str = "special"  #: of the instruction mix; "" for that of the type computed in


def _unary(name: str, run: Callable, takes: Callable = types.math_unary, **more) -> Function:
    return Function(f"math.{name}", 1, run, takes, **more)


def _binary(name: str, run: Callable, takes: Callable) -> Function:
    return Function(f"math.{name}", 2, run, takes)


def _slow(function: Callable) -> Callable:
    """A function of Python's ``math`` over arrays, for the few that NumPy lacks. Outside its domain it is NaN, not an error."""

    def one(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    over = np.vectorize(one, otypes=[np.float64])

    def run(x):
        return over(x).astype(x.dtype)[()]

    return run


def _to_bool(t):
    return BOOL


_MATH = [
    _unary("sqrt", np.sqrt, math_half, flops=1), _unary("exp", np.exp, math_half), _unary("log", np.log, math_half),
    _unary("log2", np.log2, math_half), _unary("log10", np.log10, math_half), _unary("sin", np.sin, math_half),
    _unary("cos", np.cos, math_half), _unary("floor", np.floor, math_half, op_class=""), _unary("ceil", np.ceil, math_half, op_class=""),
    _unary("fabs", np.fabs, math_half, op_class=""), _unary("trunc", np.trunc, math_half, op_class=""),
    _unary("expm1", np.expm1), _unary("log1p", np.log1p), _unary("tan", np.tan),
    _unary("asin", np.arcsin), _unary("acos", np.arccos), _unary("atan", np.arctan), _unary("sinh", np.sinh), _unary("cosh", np.cosh),
    _unary("tanh", np.tanh), _unary("asinh", np.arcsinh), _unary("acosh", np.arccosh), _unary("atanh", np.arctanh),
    _unary("radians", np.radians), _unary("degrees", np.degrees), _unary("erf", _slow(math.erf)), _unary("erfc", _slow(math.erfc)),
    _unary("gamma", _slow(math.gamma)), _unary("lgamma", _slow(math.lgamma)),
    _unary("isnan", np.isnan, gives=_to_bool, op_class=""), _unary("isinf", np.isinf, gives=_to_bool, op_class=""),
    _unary("isfinite", np.isfinite, gives=_to_bool, op_class=""),
    _binary("pow", np.power, types.math_power), _binary("atan2", np.arctan2, types.math_binary),
    _binary("hypot", np.hypot, types.math_binary), _binary("fmod", np.fmod, types.math_close),
    _binary("copysign", np.copysign, types.math_close),
]  # fmt: skip


def _round(x):
    return types.cast(np.rint(x), INT64)


FUNCTIONS: dict[object, Function] = {getattr(math, f.name.partition(".")[2]): f for f in _MATH}
FUNCTIONS[builtins.round] = Function("round", 1, _round, types.math_unary, lambda t: INT64)

_NUMPY = {
    types.numpy_unary: "sqrt exp expm1 log log2 log10 log1p sin cos tan sinh cosh tanh arcsin arccos arctan fabs",
    types.numpy_binary: "hypot arctan2",
    types.numpy_rounding: "floor ceil",
}
for _takes, _names in _NUMPY.items():
    for _name in _names.split():
        _run = getattr(np, _name)
        FUNCTIONS[_run] = Function(f"np.{_name}", _run.nin, _run, _takes, flops=int(_name == "sqrt"))
FUNCTIONS |= {f: Function(f"np.{f.__name__}", 1, f, types.math_half, _to_bool) for f in (np.isnan, np.isinf)}

#: Casts: what is called -> the type it gives for an argument type.
CASTS: dict[object, Callable] = {
    int: lambda t: t if types.is_integer(t) and t != BOOL else INT64,
    float: lambda t: t if types.is_float(t) else FLOAT64,
    bool: _to_bool,
} | {t.type: (lambda _, t=t: t) for t in types.SCALARS}

"""Functions that a kernel calls by Python's own names: Python's, ``math``'s, NumPy's, and types.

The key is the function itself, so that it does not matter by which name a kernel calls it."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from warpwise.simt.builtins import intrinsics
from warpwise.simt.builtins.intrinsics import Function
from warpwise.simt.compiler import calls, complex_numbers, operator_calls, outputs
from warpwise.simt.compiler.context import Call
from warpwise.simt.compiler.entries import Entry
from warpwise.simt.types import FLOAT32, NONE, TypeMismatch


def of_numbers(name: str, function: Function, path: str = "") -> Entry[Call]:
    """Make the entry of a function in a table of ``builtins``; ``path``: CUDA's name of it."""
    shown = f"({', '.join('abcd'[: function.arity])})"
    handler = partial(calls.function_call, function=function)
    return Entry(path or name, shown, handler, _call(name, function))


def _call(name: str, function: Function) -> str:
    """Return a line of a kernel that calls a function of numbers, of integers if it must be."""
    try:
        value, result = "x[i]", function.sign(*[FLOAT32] * function.arity).result
    except TypeMismatch:
        value, result = "i", None
    call = f"{name}({', '.join([value] * function.arity)})"
    return call if result is NONE else f"v = {call}"


def _type(t: type) -> Entry[Call]:
    name = t.__name__ if t.__module__ == "builtins" else f"np.{t.__name__}"
    handler = partial(calls.cast, rule=intrinsics.CASTS[t])
    return Entry(name, "(a)", handler, f"v = {name}(x[i])")


_MIN = partial(calls.extreme, on_ints=min, ufunc=np.fmin)
_MAX = partial(calls.extreme, on_ints=max, ufunc=np.fmax)
PYTHON: dict[object, Entry[Call]] = {
    abs: Entry("abs", "(a)", calls.absolute, "v = abs(-i)"),
    divmod: Entry("divmod", "(a, b)", calls.divmod_, "q, r = divmod(i, 3)"),
    len: Entry("len", "(a)", calls.length, "v = len(x) + len((1, i))"),
    max: Entry("max", "(a, b)", _MAX, "v = max(i, 3, x[i])"),
    min: Entry("min", "(a, b)", _MIN, "v = min(i, 3, x[i])"),
    pow: Entry("pow", "(a, b)", calls.power, "v = pow(i, 2)"),
    print: Entry("print", "(a, b)", outputs.print_, "print('thread', i)"),
    round: Entry("round", "(a)", calls.round_, "v = round(x[i]) + round(x[i], 1)"),
    sum: Entry("sum", "(a)", calls.sum_, "v = sum((i, 2))"),
}

TYPES: dict[object, Entry[Call]] = {t: _type(t) for t in intrinsics.CASTS if isinstance(t, type)}
TYPES |= {
    complex: Entry("complex", "(a)", complex_numbers.complex_, "v = complex(x[i], 1).real"),
    **{
        t: Entry(
            f"np.{dtype.name}",
            "(a)",
            partial(complex_numbers.cast, t=dtype),
            f"v = np.{dtype.name}(x[i])",
        )
        for t, dtype in complex_numbers.CASTS.items()
        if t is not complex
    },
}

#: Functions of real numbers: ``math.sqrt``, ``np.add`` ...
OF_NUMBERS: dict[object, Entry[Call]] = {
    called: of_numbers(function.name, function) for called, function in intrinsics.FUNCTIONS.items()
}


def _of_complex(called: object, compute: Callable[..., Any], is_test: bool) -> Entry[Call]:
    name = f"cmath.{getattr(called, '__name__', '')}"
    handler = partial(complex_numbers.function, compute=compute, is_test=is_test)
    return Entry(name, "(z)", handler, f"v = {name}(x[i] + 2j)")


def _complex_part(called: object, name: str) -> Entry[Call]:
    handler = partial(complex_numbers.part, name=name)
    return Entry(f"np.{name}", "(z)", handler, f"v = np.{name}(x[i] + 2j)")


_CONJUGATE = partial(complex_numbers.of_numpy, compute=np.conjugate)
_ANGLE = partial(complex_numbers.of_numpy, compute=np.angle)
_PHASE, _POLAR, _RECT = complex_numbers.phase, complex_numbers.polar, complex_numbers.rect
OF_COMPLEX: dict[object, Entry[Call]] = {
    **{f: _of_complex(f, ufunc, False) for f, ufunc in complex_numbers.FUNCTIONS.items()},
    **{f: _of_complex(f, ufunc, True) for f, ufunc in complex_numbers.TESTS.items()},
    cmath.phase: Entry("cmath.phase", "(z)", _PHASE, "v = cmath.phase(x[i] + 2j)"),
    cmath.polar: Entry("cmath.polar", "(z)", _POLAR, "r, phi = cmath.polar(x[i] + 2j)"),
    cmath.rect: Entry("cmath.rect", "(r, phi)", _RECT, "v = cmath.rect(x[i], 2.0)"),
    np.conjugate: Entry("np.conjugate", "(z)", _CONJUGATE, "v = np.conjugate(x[i] + 2j)"),
    np.real: _complex_part(np.real, "real"),
    np.imag: _complex_part(np.imag, "imag"),
    np.angle: Entry("np.angle", "(z)", _ANGLE, "v = np.angle(x[i] + 2j)"),
}


def _operator(function: Callable[..., object], handler: Call, arguments: str) -> Entry[Call]:
    name = f"operator.{function.__name__}"
    shown = "(a, b)" if "," in arguments else "(a)"
    return Entry(name, shown, handler, f"v = {name}({arguments})")


OPERATORS: dict[object, Entry[Call]] = {
    **{
        f: _operator(f, partial(operator_calls.binary_call, op=op), "i, 3")
        for f, op in operator_calls.BINARY.items()
    },
    **{
        f: _operator(f, partial(operator_calls.comparison_call, op=op), "i, 3")
        for f, op in operator_calls.COMPARE.items()
    },
    **{
        f: _operator(f, partial(operator_calls.unary_call, op=op), "i")
        for f, op in operator_calls.UNARY.items()
    },
}

FUNCTIONS = PYTHON | TYPES | OF_NUMBERS | OF_COMPLEX | OPERATORS

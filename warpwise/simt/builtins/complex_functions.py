"""Functions of complex numbers by the formulas of Numba's CUDA target, over lanes.

They differ from NumPy's at infinities and NaN, and where a part overflows: ``exp(1000 + 0j)`` is
``inf + nan j`` on a GPU. The functions that are not here are NumPy's, which agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from warpwise.simt.types import DType, Lanes, Value

Parts = tuple[Any, Any]  #: real and imaginary
Formula = Callable[[Lanes, Lanes], Parts]


def complex_of(real: Value, imaginary: Value, dtype: DType) -> Value:
    """Return complex numbers of a type, given their parts."""
    real, imaginary = np.broadcast_arrays(real, imaginary)
    out = np.empty(real.shape, dtype)
    out.real, out.imag = real, imaginary
    return out[()]


def _of(formula: Formula) -> Callable[[Value], Value]:
    """Return the function of complex numbers that a formula of their parts computes."""

    def compute(value: Value) -> Value:
        z = np.asarray(value)
        return complex_of(*formula(z.real, z.imag), z.dtype)

    return compute


def _exp(x: Lanes, y: Lanes) -> Parts:
    cos, sin, radius = np.cos(y), np.sin(y), np.exp(x)
    ends = np.isneginf(x) & ~np.isfinite(y)
    real = np.where(np.isposinf(x) & (cos == 0), 0, radius * cos)
    imaginary = np.where(np.isposinf(x) & (sin == 0), sin, radius * sin)
    real = np.where(np.isposinf(x) & ~np.isfinite(y), x, np.where(ends, 0, real))
    return real, np.where(np.isnan(x) & (y == 0), y, np.where(ends, 0, imaginary))


def _cosh(x: Lanes, y: Lanes) -> Parts:
    cos, sin = np.cos(y), np.sin(y)
    keeps = np.isnan(y) | (y == 0)
    real = np.where(keeps, np.abs(x), np.copysign(x, cos))
    imaginary = np.where(keeps, y, np.copysign(x, sin))
    imaginary = np.where(x < 0, -imaginary, imaginary)
    return _at_infinity(x, (real, imaginary), (cos * np.cosh(x), sin * np.sinh(x)))


def _sinh(x: Lanes, y: Lanes) -> Parts:
    cos, sin = np.cos(y), np.sin(y)
    real = np.where(np.isnan(y), x, np.where(cos == 0, cos, cos * x))
    imaginary = np.where(np.isnan(y), y, np.where(sin == 0, sin, sin * np.abs(x)))
    return _at_infinity(x, (real, imaginary), (cos * np.sinh(x), sin * np.cosh(x)))


def _tanh(x: Lanes, y: Lanes) -> Parts:
    one, small = np.copysign(1, x), np.copysign(0, np.sin(2 * y))
    tan_x, tan_y, cos = np.tanh(x), np.tan(y), 1 / np.cosh(x)
    product = tan_x * tan_y
    below = 1 + product * product
    finite = tan_x * (1 + tan_y * tan_y) / below, tan_y / below * cos * cos
    return _at_infinity(x, (one, np.where(np.isinf(y), 0, small)), finite)


def _at_infinity(x: Lanes, there: Parts, otherwise: Parts) -> Parts:
    real, imaginary = (np.where(np.isinf(x), a, b) for a, b in zip(there, otherwise, strict=True))
    return real, imaginary


def _log10(x: Lanes, y: Lanes) -> Parts:
    ten = x.dtype.type(2.302585092994045684)
    return np.log(np.hypot(x, y)) / ten, np.arctan2(y, x) / ten


def _turned(formula: Formula) -> Formula:
    """Return the function of ``z`` that is ``-j`` times the formula's of ``j z``."""

    def compute(x: Lanes, y: Lanes) -> Parts:
        real, imaginary = formula(-y, x)
        return imaginary, -real

    return compute


exp, cosh, sinh, tanh, log10 = map(_of, (_exp, _cosh, _sinh, _tanh, _log10))
sin, tan = map(_of, map(_turned, (_sinh, _tanh)))
cos = _of(lambda x, y: _cosh(-y, x))


def rect(radius: Value, angle: Value) -> Parts:
    """Return the parts of the number at a radius and an angle."""
    real, imaginary = np.cos(angle), np.sin(angle)
    far, lost = np.isinf(radius), ~np.isfinite(angle)
    real = np.where((real == 0) & far, real / radius, real * radius)
    imaginary = np.where((imaginary == 0) & far, imaginary / radius, imaginary * radius)
    real = np.where(lost & (far | (radius == 0)), np.where(far, radius, 0), real)
    return real, np.where(lost & far, angle, np.where(lost & (radius == 0), 0, imaginary))

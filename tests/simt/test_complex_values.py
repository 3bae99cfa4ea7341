"""Functions of complex numbers at zeros, infinities and NaN, where a part overflows, and elsewhere.

Numba's formulas run as Python, with NumPy's functions in the place of ``math``, which raises."""

import cmath
from types import FunctionType, SimpleNamespace

import numpy as np
import pytest
from numba import cuda, types
from numba.cuda.cpython import cmathimpl

from warpwise import trace

ENDS = [0.0, -0.0, 1.0, -2.5, 800.0, -800.0, np.inf, -np.inf, np.nan]
Z = np.array([complex(x, y) for x in ENDS for y in ENDS])
NAMES = {"atan2": "arctan2", "isfinite": "isfinite", "copysign": "copysign", "hypot": "hypot"}
NAMES |= {name: name for name in "cos sin tan cosh sinh tanh exp log isinf isnan".split()}
MATH = SimpleNamespace(**{name: getattr(np, of_numpy) for name, of_numpy in NAMES.items()})


def formula(function):
    """Return Numba's formula as a function of Python."""
    known = {"math": MATH, "complex": complex, "NAN": np.nan}
    log = SimpleNamespace(log=lambda z: complex(np.log(np.abs(z)), np.arctan2(z.imag, z.real)))
    cells = function.__closure__
    return FunctionType(function.__code__, known | {"cmath": log}, None, None, cells)


def exp(z):
    inner = cmathimpl.exp_impl
    while inner.__closure__:
        (cell,) = [c for c in inner.__closure__ if isinstance(c.cell_contents, FunctionType)]
        inner = cell.cell_contents
    return formula(inner)(z.real, z.imag, np.isfinite(z.real), np.isfinite(z.imag))


def of_overload(name):
    return formula(getattr(cmathimpl, f"impl_cmath_{name}")(types.complex128))


def same(got, want):
    for a, b in ((got.real, want.real), (got.imag, want.imag)):
        np.testing.assert_allclose(a, b, rtol=1e-13)
        np.testing.assert_array_equal(np.signbit(a[a == 0]), np.signbit(b[a == 0]))


@cuda.jit
def each(z, exps, coshs, sinhs, tanhs, logs):
    i = cuda.grid(1)
    if i < z.size:
        exps[i], coshs[i], sinhs[i] = cmath.exp(z[i]), cmath.cosh(z[i]), cmath.sinh(z[i])
        tanhs[i], logs[i] = cmath.tanh(z[i]), cmath.log10(z[i])


@cuda.jit
def turned(z, coses, sines, tans):
    i = cuda.grid(1)
    if i < z.size:
        coses[i], sines[i], tans[i] = cmath.cos(z[i]), cmath.sin(z[i]), cmath.tan(z[i])


@cuda.jit
def rect(r, phi, out):
    i = cuda.grid(1)
    if i < r.size:
        out[i] = cmath.rect(r[i], phi[i])


@pytest.fixture(scope="module")
def found():
    arrays = [np.zeros_like(Z) for _ in range(8)]
    trace(each, 3, 32, Z, *arrays[:5])
    trace(turned, 3, 32, Z, *arrays[5:])
    return dict(zip("exp cosh sinh tanh log10 cos sin tan".split(), arrays, strict=True))


@pytest.mark.parametrize("name", ["exp", "cosh", "sinh", "tanh", "log10"])
def test_the_formulas_are_numbas(name, found):
    compute = exp if name == "exp" else of_overload(name)
    with np.errstate(all="ignore"):
        same(found[name], np.array([compute(z) for z in Z]))


@pytest.mark.parametrize(("name", "other"), [("cos", "cosh"), ("sin", "sinh"), ("tan", "tanh")])
def test_circular_functions_are_turned_ones(name, other, found):
    with np.errstate(all="ignore"):
        want = np.array([of_overload(other)(complex(-z.imag, z.real)) for z in Z])
    same(found[name], want if name == "cos" else np.array([complex(w.imag, -w.real) for w in want]))


def test_rect_is_numbas():
    out = np.zeros_like(Z)
    trace(rect, 3, 32, Z.real.copy(), Z.imag.copy(), out)
    compute = formula(cmathimpl.impl_cmath_rect(types.float64, types.float64))
    with np.errstate(all="ignore"):
        same(out, np.array([complex(compute(z.real, z.imag)) for z in Z]))


@cuda.jit
def logarithms(z, base, out):
    i = cuda.grid(1)
    if i < z.size:
        out[i] = cmath.log(z[i], base)


def test_a_logarithm_has_a_base():
    z, out = np.array([1 + 2j, -3, 4j]), np.zeros(3, np.complex128)
    trace(logarithms, 1, 32, z, 10.0, out)
    np.testing.assert_allclose(out, [cmath.log(value, 10) for value in z])

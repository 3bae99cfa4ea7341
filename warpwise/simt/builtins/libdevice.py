"""``cuda.libdevice``: NVIDIA's library of device functions, with its names and signatures.

A name that ends in f takes float32; its namesake without the f takes float64. What a GPU
approximates (``fast_sinf``) is computed exactly here. Left out: sums and products rounded down, up
or to zero (``fadd_rz`` ...), Bessel functions and their like."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np

from warpwise.simt.builtins import bit_functions as bits
from warpwise.simt.builtins.intrinsics import (
    Compute,
    Function,
    frexp,
    ieee_remainder,
    modf,
    slow,
)
from warpwise.simt.builtins.overloads import one_of
from warpwise.simt.types import Value

_NORMAL = NormalDist()


def _quantile(p: float) -> float:
    return _NORMAL.inv_cdf(p) if 0 < p < 1 else math.inf * (2 * p - 1) if p in (0, 1) else math.nan


def _away(x: Value) -> Value:
    """Round to the nearest integer, halves away from zero."""
    whole = np.trunc(x)
    outward = whole + np.copysign(x.dtype.type(1), x)
    return np.where(np.abs(x - whole) >= 0.5, outward, whole).astype(x.dtype)[()]


def _saturate(x: Value) -> Value:
    """Clamp to 0 through 1; NaN becomes 0."""
    return np.fmin(np.fmax(x, x.dtype.type(0)), x.dtype.type(1))


def _sinpi(x: float) -> float:
    rest = math.fmod(x, 2)
    return 0.0 * rest if rest in (0, 1, -1) else math.sin(math.pi * rest)


def _cospi(x: float) -> float:
    rest = math.fmod(abs(x), 2)
    return 0.0 if rest in (0.5, 1.5) else math.cos(math.pi * rest)


def _both(x: Value) -> tuple[Value, Value]:
    return np.sin(x), np.cos(x)


def _power_of(base: int) -> Compute:
    return lambda x: np.power(x.dtype.type(base), x)


def _integer_power(x: Value, n: Value) -> Value:
    return np.power(np.float64(x), n).astype(x.dtype)


def _exponent(x: Value) -> Value:
    """Return the exponent of a float as an int32: 1 <= abs(x) / 2**exponent < 2.

    Those of 0, infinity and NaN are the library's."""
    _, exponent = np.frexp(x)
    odd = np.where(np.isinf(x), 2**31 - 1, -(2**31))
    return np.where(np.isfinite(x) & (x != 0), exponent - 1, odd).astype(np.int32)[()]


def _logb(x: Value) -> Value:
    finite = np.where(np.isnan(x), x, np.frexp(x)[1] - 1.0)
    return np.select([x == 0, np.isinf(x)], [-np.inf, np.inf], finite).astype(x.dtype)[()]


_AS_IN_NUMPY = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh sqrt cbrt floor ceil trunc rint"
)
# Of float64, and of float32 with an f at the end. The "fast_" and "_rn" names are added below.
_ONE: dict[str, Compute] = {
    **{name: getattr(np, name) for name in _AS_IN_NUMPY.split()},
    **{f"a{name}": getattr(np, f"arc{name}") for name in "sin cos tan sinh cosh tanh".split()},
    **{name: slow(getattr(math, name)) for name in ("erf", "erfc", "lgamma")},
    "tgamma": slow(math.gamma),
    "exp10": _power_of(10),
    "rsqrt": lambda x: x.dtype.type(1) / np.sqrt(x),
    "rcbrt": lambda x: x.dtype.type(1) / np.cbrt(x),
    "fabs": np.fabs,
    "round": _away,
    "nearbyint": np.rint,
    "sinpi": slow(_sinpi),
    "cospi": slow(_cospi),
    "normcdf": slow(lambda x: math.erfc(-x / math.sqrt(2)) / 2),
    "normcdfinv": slow(_quantile),
    "erfinv": slow(lambda x: _quantile((x + 1) / 2) / math.sqrt(2)),
    "erfcinv": slow(lambda x: -_quantile(x / 2) / math.sqrt(2)),
    "logb": _logb,
}
_TWO: dict[str, Compute] = {
    "pow": np.power,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "fmod": np.fmod,
    "copysign": np.copysign,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "remainder": ieee_remainder,
    "nextafter": np.nextafter,
    "fdim": lambda x, y: np.where(x <= y, x.dtype.type(0), x - y)[()],
}
# not for the special-function unit
_PLAIN = "floor ceil trunc rint fabs round nearbyint copysign fmax fmin fdim".split()


def _function(
    name: str, run: Compute, text: str, op_class: str = "special", flops: int = 0
) -> Function:
    arity = text.partition("(")[2].count(",") + 1
    return Function(f"libdevice.{name}", arity, run, one_of(text), flops, op_class)


def _pair(name: str, run: Compute, text: str, **more: Any) -> list[Function]:
    """A float64 function and its float32 twin; ``text``: the signature, with T for the type."""
    return [
        _function(name, run, text.replace("T", "f8"), **more),
        _function(f"{name}f", run, text.replace("T", "f4"), **more),
    ]


def _of_floats() -> list[Function]:
    found = []
    for table, text in ((_ONE, "T(T)"), (_TWO, "T(T,T)")):
        for name, run in table.items():
            of_class = "" if name in _PLAIN else "special"
            found += _pair(name, run, text, op_class=of_class, flops=int(name == "sqrt"))
    for name in "sin cos tan exp log log2 log10 exp10".split():
        found.append(_function(f"fast_{name}f", _ONE[name], "f4(f4)"))
    found.append(_function("fast_powf", np.power, "f4(f4,f4)"))
    found.append(_function("fast_fdividef", np.true_divide, "f4(f4,f4)", flops=1))
    found.append(_function("saturatef", _saturate, "f4(f4)", op_class=""))
    found += _pair("fma", bits.fma, "T(T,T,T)", op_class="", flops=2)
    scaled: dict[str, Compute] = {"powi": _integer_power, "ldexp": np.ldexp, "scalbn": np.ldexp}
    for name, run in scaled.items():
        found += _pair(name, run, "T(T,i4)")
    found += _pair("frexp", frexp, "T*i4(T)")
    found += _pair("modf", modf, "T*T(T)")
    found += _pair("sincos", _both, "T*T(T)")
    found += _pair("ilogb", _exponent, "i4(T)")
    found.append(_function("fast_sincosf", _both, "f4*f4(f4)"))
    return found


def _rounded_to_nearest() -> list[Function]:
    """``fadd_rn``, ``dmul_rn`` ...: the same as the plain operators."""
    operators = {"add": np.add, "mul": np.multiply, "div": np.true_divide, "sub": np.subtract}
    found = []
    for letter, t, fma in (("f", "f4", "fmaf_rn"), ("d", "f8", "fma_rn")):
        for name, run in operators.items():
            if (letter, name) != ("d", "sub"):  # which the library lacks
                found.append(_function(f"{letter}{name}_rn", run, f"{t}({t},{t})", "", 1))
        found.append(_function(f"{letter}sqrt_rn", np.sqrt, f"{t}({t})", flops=1))
        found.append(_function(f"{letter}rcp_rn", np.reciprocal, f"{t}({t})", flops=1))
        found.append(_function(fma, bits.fma, f"{t}({t},{t},{t})", op_class="", flops=2))
    return [*found, _function("frsqrt_rn", _ONE["rsqrt"], "f4(f4)")]


# --- conversions ---

_ROUND = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
# integer in a name: type that gives the range, type of the result
_TARGETS = {"int": ("i4", "i4"), "uint": ("u4", "i4"), "ll": ("i8", "i8"), "ull": ("u8", "i8")}


def _to_integer(rounding: Compute, target: str, shown: str) -> Compute:
    """Convert floats to integers: out of range to the nearest end, NaN to 0.

    Unsigned results are given as the signed type of the same bits."""
    info = np.iinfo(target)

    def run(x: Value) -> Value:
        whole = rounding(np.float64(x))
        inside = np.where((whole >= info.min) & (whole < float(info.max)), whole, 0).astype(target)
        low = np.where(whole < info.min, np.array(info.min, target), inside)
        return np.where(whole >= float(info.max), np.array(info.max, target), low).view(shown)[()]

    return run


def _from_integer(source: str, target: str) -> Compute:
    return lambda x: np.asarray(x, f"i{source[1]}").view(source).astype(target)[()]


def _viewed_as(t: str) -> Compute:
    return lambda x: np.asarray(x).view(t)[()]


def _conversions() -> list[Function]:
    converting = {}
    for word, t in (("float", "f4"), ("double", "f8")):
        for name, (target, shown) in _TARGETS.items():
            for mode, rounding in _ROUND.items():
                run = _to_integer(rounding, target, shown)
                converting[f"{word}2{name}_{mode}", f"{shown}({t})"] = run
            converting[f"{name}2{word}_rn", f"{t}({shown})"] = _from_integer(target, t)
    converting |= {
        ("double2float_rn", "f4(f8)"): lambda x: x.astype(np.float32),
        ("float_as_int", "i4(f4)"): _viewed_as("i4"),
        ("int_as_float", "f4(i4)"): _viewed_as("f4"),
        ("double_as_longlong", "i8(f8)"): _viewed_as("i8"),
        ("longlong_as_double", "f8(i8)"): _viewed_as("f8"),
        ("float2half_rn", "i2(f4)"): lambda x: x.astype(np.float16).view(np.int16),
        ("half2float", "f4(i2)"): lambda x: np.asarray(x).view("f2").astype(np.float32)[()],
        ("llrint", "i8(f8)"): _to_integer(np.rint, "i8", "i8"),
        ("llrintf", "i8(f4)"): _to_integer(np.rint, "i8", "i8"),
        ("llround", "i8(f8)"): _to_integer(_away, "i8", "i8"),
        ("llroundf", "i8(f4)"): _to_integer(_away, "i8", "i8"),
    }
    return [_function(name, run, text, "conversion") for (name, text), run in converting.items()]


def _tests() -> list[Function]:
    tests = {
        np.isnan: ("isnand", "isnanf"),
        np.isinf: ("isinfd", "isinff"),
        np.isfinite: ("isfinited", "finitef"),
        np.signbit: ("signbitd", "signbitf"),
    }
    found = []
    for run, names in tests.items():
        for name, t in zip(names, ("f8", "f4"), strict=True):
            found.append(_function(name, bits.typed(run, "i4"), f"i4({t})", op_class=""))
    return found


# --- integers ---


def _on_unsigned(run: Compute) -> Compute:
    """Wrap ``run`` to take the same bits as unsigned integers, and to return signed ones."""

    def signed(*arguments: Value) -> Value:
        result = run(*map(bits.unsigned, arguments))
        return result.view(f"i{result.dtype.itemsize}")

    return signed


def _in_64_bits(run: Compute) -> Compute:
    """Wrap ``run`` of int32 to compute without overflow and return the low half."""
    return lambda *arguments: run(*(np.int64(a) for a in arguments)).astype(np.int32)


def _in_unsigned_64_bits(run: Compute) -> Compute:
    return lambda *arguments: (
        run(*(bits.unsigned(a).astype(np.uint64) for a in arguments))
        .astype(np.uint32)
        .view(np.int32)
    )


def _low_24_bits(x: Value) -> Value:
    return (x & np.int64(0xFFFFFF) ^ np.int64(0x800000)) - np.int64(0x800000)


def _high_unsigned(a: Value, b: Value) -> Value:
    """Return the high half of the 128-bit product of two uint64."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a1, a0, b1, b0 = a >> half, a & low, b >> half, b & low
    middle = a1 * b0 + (a0 * b0 >> half)
    return a1 * b1 + (middle >> half) + ((middle & low) + a0 * b1 >> half)


def _high(a: Value, b: Value) -> Value:
    """Return the high half of the 128-bit product of two int64."""
    a, b = (np.int64(x) if type(x) is int else x for x in (a, b))
    high = _high_unsigned(bits.unsigned(a), bits.unsigned(b)).view(np.int64)
    return high - np.where(a < 0, b, 0) - np.where(b < 0, a, 0)


def _byte_perm(x: Value, y: Value, selector: Value) -> Value:
    """Pick four of the eight bytes of ``x`` (0 to 3) and ``y`` (4 to 7).

    Each nibble of the selector picks one."""
    eight = np.bitwise_or(np.left_shift(y.astype(np.uint64), np.uint64(32)), x.astype(np.uint64))
    out = np.uint64(0)
    for place in range(4):
        chosen = selector.astype(np.uint64) >> np.uint64(4 * place) & np.uint64(7)
        out = out | (eight >> chosen * np.uint64(8) & np.uint64(255)) << np.uint64(8 * place)
    return out.astype(np.uint32)


def _integers() -> list[Function]:
    signed, unsigned = _in_64_bits, _in_unsigned_64_bits
    of_two: dict[str, Compute] = {
        "mulhi": signed(lambda a, b: a * b >> 32),
        "umulhi": unsigned(lambda a, b: a * b >> np.uint64(32)),
        "mul24": signed(lambda a, b: _low_24_bits(a) * _low_24_bits(b)),
        "umul24": unsigned(lambda a, b: (a & np.uint64(0xFFFFFF)) * (b & np.uint64(0xFFFFFF))),
        "rhadd": signed(lambda a, b: a + b + 1 >> 1),
        "uhadd": unsigned(lambda a, b: a + b >> np.uint64(1)),
        "urhadd": unsigned(lambda a, b: a + b + np.uint64(1) >> np.uint64(1)),
        "min": np.minimum,
        "max": np.maximum,
        "umin": _on_unsigned(np.minimum),
        "umax": _on_unsigned(np.maximum),
    }
    of_wide: dict[str, Compute] = {
        "mul64hi": _high,
        "umul64hi": _on_unsigned(_high_unsigned),
        "llmin": np.minimum,
        "llmax": np.maximum,
        "ullmin": _on_unsigned(np.minimum),
        "ullmax": _on_unsigned(np.maximum),
    }
    of_three = {
        "sad": signed(lambda a, b, c: np.abs(a - b) + c),
        "byte_perm": _on_unsigned(_byte_perm),
        "usad": unsigned(lambda a, b, c: np.where(a > b, a - b, b - a) + c),
    }
    counts = {"popc": bits.popc, "clz": bits.clz, "ffs": bits.ffs}
    counts = {name: bits.typed(count, "i4") for name, count in counts.items()}
    found = []
    for text, functions in (
        ("i4(i4,i4)", of_two),
        ("i8(i8,i8)", of_wide),
        ("i4(i4,i4,i4)", of_three),
        ("i4(i4)", counts),
        ("i4(i8)", {f"{name}ll": count for name, count in counts.items()}),
    ):
        found += [_function(name, run, text, "integer") for name, run in functions.items()]
    brev = _on_unsigned(bits.brev)
    for name, wide, run in (("brev", "brevll", brev), ("abs", "llabs", np.abs)):
        found.append(_function(name, run, "i4(i4)", "integer"))
        found.append(_function(wide, run, "i8(i8)", "integer"))
    return found


_PARTS = (_of_floats, _rounded_to_nearest, _conversions, _tests, _integers)
LIBDEVICE: dict[str, Function] = {f.name: f for part in _PARTS for f in part()}

"""CUDA's functions of numbers below ``cuda``: bits of integers, fused multiply-add, selection, and float16 operations.

``INTRINSICS`` has them by their path (``popc``, ``fp16.hadd``), with Numba's signatures. Left out: ``cuda.bf16``, as NumPy has no
bfloat16, and the warp's functions, which are compiled in ``warp_calls``.
"""

from __future__ import annotations

import operator

import numpy as np

from warpwise.simt.functions.intrinsics import Function
from warpwise.simt.functions.overloads import Signature, one_of
from warpwise.simt.types import BOOL, FLOAT16, FLOAT64, NONE, TypeMismatch

# --- bits; ``x``: integers of any width, a Python int for a uniform int64 ---


def unsigned(x):
    """The same bits as an unsigned integer."""
    bits = np.int64(x) if type(x) is int else x
    return bits.view(f"u{bits.dtype.itemsize}")


def popc(x):
    """How many bits are 1."""
    return np.bitwise_count(unsigned(x))


def clz(x):
    """How many of the highest bits are 0."""
    bits = unsigned(x)
    width = 8 * bits.dtype.itemsize
    shift = 1
    while shift < width:
        bits = bits | bits >> bits.dtype.type(shift)
        shift *= 2
    return np.uint8(width) - np.bitwise_count(bits)


def ffs(x):
    """The place of the lowest bit that is 1, counted from 1; 0 if there is none."""
    bits = unsigned(x)
    return np.where(bits == 0, np.uint8(0), np.bitwise_count(bits ^ (bits - bits.dtype.type(1))))[()]


def brev(x):
    """The bits in reverse order."""
    bits = unsigned(x)
    width = 8 * bits.dtype.itemsize
    shift = 1
    while shift < width:  # swap neighbours, then pairs, then fours ...
        low = bits.dtype.type((2**width - 1) // (2**shift + 1))
        step = bits.dtype.type(shift)
        bits = (bits & low) << step | bits >> step & low
        shift *= 2
    return bits


def typed(run, name: str):
    """``run`` with its result as a type of fixed width."""
    t = np.dtype(name).type
    return lambda *arguments: _as_type(run(*arguments), t)


def _as_type(value, t: type):
    return value.astype(t)


# --- fused multiply-add: one rounding. After Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008. ---


def _two_sum(a, b):
    """The sum and what it lost to rounding, exactly."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a, b):
    """The product and what it lost to rounding, exactly (Dekker); ``a``, ``b``: float64 within 1e±150."""
    split = 134217729.0  # 2**27 + 1
    high_a, high_b = a * split, b * split
    high_a, high_b = high_a - (high_a - a), high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    product = a * b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


def _odd_sum(a, b):
    """``a + b`` in float64, rounded to odd: a second rounding to fewer bits is then as good as one."""
    total, lost = _two_sum(a, b)
    total = np.asarray(total)
    even = (total.view(np.int64) & 1) == 0
    toward = np.where(np.signbit(lost), -np.inf, np.inf)
    return np.where((lost != 0) & np.isfinite(lost) & even, np.nextafter(total, toward), total)[()]


def _fma64(a, b, c):
    a, b, c = np.broadcast_arrays(a, b, c)
    high, low = _two_product(a, b)
    c_high, c_low = _two_sum(c, low)
    sum_high, sum_low = _two_sum(high, c_high)
    fused = sum_high + _odd_sum(c_low, sum_low)
    return np.where(np.isfinite(fused) & np.isfinite(low), fused, a * b + c)[()]


def fma(a, b, c):
    """``a * b + c`` with one rounding; all of one float type."""
    if np.result_type(a) == FLOAT64:
        return _fma64(a, b, c)
    wide = _odd_sum(np.float64(a) * np.float64(b), np.float64(c))  # the product of two float32 is exact in float64
    return wide.astype(np.result_type(a))


def _selection(test: np.dtype, a: np.dtype, b: np.dtype) -> Signature:
    if a != b or a.name not in ("float64", "float32", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        what = f"cuda.selp chooses between two numbers of one type, not {a} and {b}"
        raise TypeMismatch(what, "a if condition else b")
    return Signature((BOOL, a, b), a)


def _selp(test, a, b):
    return np.where(test, a, b)[()]


_ALL = "i1 i2 i4 i8 u1 u2 u4 u8".split()
_SAME = one_of(" ".join(f"{t}({t})" for t in _ALL))


def _widths(run):
    """A count of bits, in the type of the argument: an int8 has an int8 of them."""

    def counted(x):
        return run(x).astype(np.int64 if type(x) is int else x.dtype)

    return counted


_INTEGER = [
    Function("popc", 1, _widths(popc), _SAME), Function("clz", 1, _widths(clz), _SAME),
    Function("ffs", 1, typed(ffs, "u4"), one_of(" ".join(f"u4({t})" for t in _ALL))),
    Function("brev", 1, brev, one_of("u4(u4) u8(u8)")),
]  # fmt: skip

# --- float16 ---


def _half(name: str, count: int, run, flops: int = 0, op_class: str = "", result: str = "f2") -> Function:
    sign = one_of(f"{result}({','.join(['f2'] * count)})")
    return Function(f"fp16.{name}", count, run, sign, flops, op_class)


def in_float32(run):
    """A float16 function computed in float32 and rounded, as the device computes it."""
    return lambda x: run(np.float32(x)).astype(FLOAT16)


_TWO = {"hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.true_divide}
_COMPARED = {"heq": np.equal, "hne": np.not_equal, "hge": np.greater_equal, "hgt": np.greater, "hle": np.less_equal, "hlt": np.less}
_WHOLE = {"hceil": np.ceil, "hfloor": np.floor, "htrunc": np.trunc, "hrint": np.rint, "habs": np.abs, "hneg": operator.neg}
_CURVED = {
    "hsin": np.sin, "hcos": np.cos, "hlog": np.log, "hlog2": np.log2, "hlog10": np.log10, "hexp": np.exp, "hexp2": np.exp2,
    "hexp10": lambda x: np.power(np.float32(10), x), "hsqrt": np.sqrt, "hrsqrt": lambda x: np.float32(1) / np.sqrt(x),
    "hrcp": np.reciprocal, "htanh": np.tanh, "htanh_approx": np.tanh,
}  # fmt: skip
_HALF = [
    *(_half(name, 2, run, flops=1) for name, run in _TWO.items()),
    *(_half(name, 2, run, result="b1") for name, run in _COMPARED.items()),
    *(_half(name, 1, run) for name, run in _WHOLE.items()),
    *(_half(name, 1, in_float32(run), op_class="special") for name, run in _CURVED.items()),
    _half("hfma", 3, fma, flops=2), _half("hmax", 2, np.fmax), _half("hmin", 2, np.fmin),
]  # fmt: skip

INTRINSICS: dict[str, Function] = {
    f.name: f
    for f in [
        *(Function(f.name, f.arity, f.run, f.sign, op_class="integer") for f in _INTEGER),
        Function("fma", 3, fma, one_of("f4(f4,f4,f4) f8(f8,f8,f8)"), flops=2, op_class=""),
        Function("cbrt", 1, np.cbrt, one_of("f4(f4) f8(f8)")),
        Function("selp", 3, _selp, _selection, op_class="integer"),
        Function("nanosleep", 1, lambda ns: None, lambda t: Signature((np.dtype(np.uint32),), NONE), op_class="control"),
        *_HALF,
    ]
}

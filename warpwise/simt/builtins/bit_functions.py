"""CUDA's functions of numbers: bits of integers, fused multiply-add, selection, and float16.

``INTRINSICS`` has them by their path (``popc``, ``fp16.hadd``), with Numba's signatures. Left out:
``cuda.bf16``, as NumPy has no bfloat16, and the functions of a warp (``warp_calls``)."""

from __future__ import annotations

import operator

import numpy as np

from warpwise.simt.builtins.intrinsics import Compute, Function
from warpwise.simt.builtins.overloads import Signature, one_of
from warpwise.simt.types import BOOL, FLOAT16, FLOAT64, DType, TypeMismatch, Value

# --- bits; ``x``: integers of any width, a Python int for a uniform int64 ---


def unsigned(x: Value) -> Value:
    """Return the same bits as an unsigned integer."""
    bits = np.int64(x) if type(x) is int else x
    return bits.view(f"u{bits.dtype.itemsize}")


def popc(x: Value) -> Value:
    """Count the bits that are 1."""
    return np.bitwise_count(unsigned(x))


def clz(x: Value) -> Value:
    """Count the leading zero bits."""
    bits = unsigned(x)
    width = 8 * bits.dtype.itemsize
    shift = 1
    while shift < width:
        bits = bits | bits >> bits.dtype.type(shift)
        shift *= 2
    return np.uint8(width) - np.bitwise_count(bits)


def ffs(x: Value) -> Value:
    """Find the lowest bit that is 1, counted from 1; 0 if there is none."""
    bits = unsigned(x)
    place = np.bitwise_count(bits ^ (bits - bits.dtype.type(1)))
    return np.where(bits == 0, np.uint8(0), place)[()]


def brev(x: Value) -> Value:
    """Reverse the order of the bits."""
    bits = unsigned(x)
    width = 8 * bits.dtype.itemsize
    shift = 1
    while shift < width:  # swap neighbours, then pairs, then fours ...
        low = bits.dtype.type((2**width - 1) // (2**shift + 1))
        step = bits.dtype.type(shift)
        bits = (bits & low) << step | bits >> step & low
        shift *= 2
    return bits


def typed(run: Compute, name: str) -> Compute:
    """Wrap ``run`` so that its result has a type of fixed width."""
    t = np.dtype(name).type
    return lambda *arguments: run(*arguments).astype(t)


# --- fused multiply-add: one rounding ---
# After Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008.


def _two_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """Return the sum and its exact rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: Value, b: Value) -> tuple[Value, Value]:
    """Return the product and its exact rounding error (Dekker); float64 within 1e±150."""
    split = 134217729.0  # 2**27 + 1
    high_a, high_b = a * split, b * split
    high_a, high_b = high_a - (high_a - a), high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    product = a * b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


def _odd_sum(a: Value, b: Value) -> Value:
    """``a + b`` in float64, rounded to odd: rounding again to fewer bits then does no harm."""
    total, lost = _two_sum(a, b)
    total = np.asarray(total)
    even = (total.view(np.int64) & 1) == 0
    toward = np.where(np.signbit(lost), -np.inf, np.inf)
    return np.where((lost != 0) & np.isfinite(lost) & even, np.nextafter(total, toward), total)[()]


def _fma64(a: Value, b: Value, c: Value) -> Value:
    a, b, c = np.broadcast_arrays(a, b, c)
    high, low = _two_product(a, b)
    c_high, c_low = _two_sum(c, low)
    sum_high, sum_low = _two_sum(high, c_high)
    fused = sum_high + _odd_sum(c_low, sum_low)
    return np.where(np.isfinite(fused) & np.isfinite(low), fused, a * b + c)[()]


def fma(a: Value, b: Value, c: Value) -> Value:
    """``a * b + c`` with one rounding; all of one float type."""
    if np.result_type(a) == FLOAT64:
        return _fma64(a, b, c)
    # the product of two float32 is exact in float64
    wide = _odd_sum(np.float64(a) * np.float64(b), np.float64(c))
    return wide.astype(np.result_type(a))


_SELECTED = "float64 float32 int16 uint16 int32 uint32 int64 uint64".split()


def _selection(test: DType, a: DType, b: DType) -> Signature:
    if a != b or a.name not in _SELECTED:
        what = f"cuda.selp chooses between two numbers of one type, not {a} and {b}"
        raise TypeMismatch(what, "a if condition else b")
    return Signature((BOOL, a, b), a)


def _selp(test: Value, a: Value, b: Value) -> Value:
    selected: Value = np.where(test, a, b)
    return selected[()]


_ALL = "i1 i2 i4 i8 u1 u2 u4 u8".split()
_SAME = one_of(" ".join(f"{t}({t})" for t in _ALL))


def _in_argument_type(count: Compute) -> Compute:
    """Wrap a count of bits so that it has the type of its argument: an int8 has an int8 of them."""
    return lambda x: count(x).astype(np.int64 if type(x) is int else x.dtype)


_FFS = one_of(" ".join(f"u4({t})" for t in _ALL))
_INTEGER = [
    Function("popc", 1, _in_argument_type(popc), _SAME, op_class="integer"),
    Function("clz", 1, _in_argument_type(clz), _SAME, op_class="integer"),
    Function("ffs", 1, typed(ffs, "u4"), _FFS, op_class="integer"),
    Function("brev", 1, brev, one_of("u4(u4) u8(u8)"), op_class="integer"),
]

# --- float16 ---


def _half(
    name: str, arity: int, run: Compute, flops: int = 0, op_class: str = "", result: str = "f2"
) -> Function:
    sign = one_of(f"{result}({','.join(['f2'] * arity)})")
    return Function(f"fp16.{name}", arity, run, sign, flops, op_class)


def in_float32(run: Compute) -> Compute:
    """Compute a float16 function in float32 and round, as the device does."""
    return lambda x: run(np.float32(x)).astype(FLOAT16)


_TWO: dict[str, Compute] = {
    "hadd": np.add,
    "hsub": np.subtract,
    "hmul": np.multiply,
    "hdiv": np.true_divide,
}
_COMPARED: dict[str, Compute] = {
    "heq": np.equal,
    "hne": np.not_equal,
    "hge": np.greater_equal,
    "hgt": np.greater,
    "hle": np.less_equal,
    "hlt": np.less,
}
_WHOLE: dict[str, Compute] = {
    "hceil": np.ceil,
    "hfloor": np.floor,
    "htrunc": np.trunc,
    "hrint": np.rint,
    "habs": np.abs,
    "hneg": operator.neg,
}
_CURVED: dict[str, Compute] = {
    "hsin": np.sin,
    "hcos": np.cos,
    "hlog": np.log,
    "hlog2": np.log2,
    "hlog10": np.log10,
    "hexp": np.exp,
    "hexp2": np.exp2,
    "hexp10": lambda x: np.power(np.float32(10), x),
    "hsqrt": np.sqrt,
    "hrsqrt": lambda x: np.float32(1) / np.sqrt(x),
    "hrcp": np.reciprocal,
    "htanh": np.tanh,
    "htanh_approx": np.tanh,
}
_HALF = [
    *(_half(name, 2, run, flops=1) for name, run in _TWO.items()),
    *(_half(name, 2, run, result="b1") for name, run in _COMPARED.items()),
    *(_half(name, 1, run) for name, run in _WHOLE.items()),
    *(
        _half(name, 1, in_float32(run), int(name in ("hsqrt", "hrcp")), "special")
        for name, run in _CURVED.items()
    ),
    _half("hfma", 3, fma, flops=2),
    _half("hmax", 2, np.fmax),
    _half("hmin", 2, np.fmin),
]

_OTHERS = [
    Function("fma", 3, fma, one_of("f4(f4,f4,f4) f8(f8,f8,f8)"), flops=2, op_class=""),
    Function("cbrt", 1, np.cbrt, one_of("f4(f4) f8(f8)")),
    Function("selp", 3, _selp, _selection, op_class="integer"),
    Function("nanosleep", 1, lambda ns: None, one_of("-(u4)"), op_class="control"),
]
INTRINSICS: dict[str, Function] = {f.name: f for f in [*_INTEGER, *_OTHERS, *_HALF]}

"""Functions of numbers against their definitions: bits, FMA, float16, libdevice, print, casts."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from warpwise import trace
from warpwise.errors import KernelTypeError
from warpwise.simt import kernels_in
from warpwise.simt.builtins import CUDA_FUNCTIONS
from warpwise.simt.types import FLOAT16, FLOAT32, FLOAT64

N = 64
HEAD = (
    "import math\n"
    "import numpy as np\n"
    "from numba import cuda\n"
    "from numba.cuda import libdevice, fp16\n"
)


def computed(expression: str, result, *arrays: np.ndarray) -> np.ndarray:
    """Evaluate the expression over the elements of arrays named a, b, c."""
    names = "abc"[: len(arrays)]
    body = "".join(f"    {name} = {name}_[i]\n" for name in names)
    text = (
        f"{HEAD}@cuda.jit\n"
        f"def k({''.join(f'{name}_, ' for name in names)}out):\n"
        "    i = cuda.grid(1)\n"
        f"{body}    out[i] = {expression}\n"
    )
    out = np.zeros(len(arrays[0]), result)
    trace(kernels_in(text)["k"], 1, len(arrays[0]), *arrays, out)
    return out


def integers(dtype, seed=0):
    info = np.iinfo(dtype)
    some = np.random.default_rng(seed).integers(info.min, info.max, N, dtype=dtype, endpoint=True)
    some[:6] = 0, 1, info.max, info.min, info.max // 2, 2
    return some


def floats(dtype, low=-4.0, high=4.0, seed=0):
    return np.random.default_rng(seed).uniform(low, high, N).astype(dtype)


def bits_of(value, dtype) -> str:
    """Return the bits, highest first."""
    width = 8 * np.dtype(dtype).itemsize
    return f"{int(value) % 2**width:0{width}b}"


BITS = {
    "cuda.popc": lambda b: b.count("1"),
    "cuda.clz": lambda b: len(b) - len(b.lstrip("0")),
    "cuda.ffs": lambda b: 0 if "1" not in b else len(b) - b.rindex("1"),
}


@pytest.mark.parametrize("dtype", "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split())
@pytest.mark.parametrize("name", BITS)
def test_bits_are_counted(name, dtype):
    a = integers(dtype)
    assert computed(f"{name}(a)", np.int64, a).tolist() == [
        BITS[name](bits_of(x, dtype)) for x in a
    ]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("cuda.brev", np.uint32), ("cuda.brev", np.uint64), ("libdevice.brev", np.int32)],
)
def test_bits_are_reversed(name, dtype):
    a = integers(dtype)
    found = computed(f"{name}(a)", dtype, a)
    assert [bits_of(x, dtype) for x in found] == [bits_of(x, dtype)[::-1] for x in a]


def test_bits_of_the_threads_index_which_is_no_array():
    found = computed("cuda.popc(i) + cuda.clz(5) + cuda.popc(-1)", np.int64, np.zeros(N))
    assert found.tolist() == [i.bit_count() + 61 + 64 for i in range(N)]


def rounded(value: Fraction, dtype) -> float:
    """Round a fraction once to a type, ties to even.

    The neighbours of the rounded float64 decide."""
    near = np.array(float(value)).astype(dtype)[()]
    beside = [np.nextafter(near, dtype(side)) for side in (-np.inf, np.inf)]
    return min(
        [near, *beside],
        key=lambda x: (
            abs(Fraction(float(x)) - value),
            int(np.array(x).view(f"u{np.dtype(dtype).itemsize}")) & 1,
        ),
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_fma_rounds_once(dtype):
    a, b = floats(dtype, seed=1), floats(dtype, seed=2)
    c = (-(a * b)).astype(dtype)  # the sum is what the product loses to rounding
    c[::3] = floats(dtype, -1e-3, 1e-3)[::3]
    name = "fp16.hfma" if dtype == np.float16 else "cuda.fma"
    found = computed(f"{name}(a, b, c)", dtype, a, b, c)
    exact = [
        Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        for x, y, z in zip(a, b, c, strict=True)
    ]
    assert found.tolist() == [float(rounded(e, dtype)) for e in exact]
    assert (found != a * b + c).any()


def test_fma_where_a_product_overflows():
    big = np.array([1e308, np.inf, np.nan, 1e200])
    np.testing.assert_array_equal(
        computed("cuda.fma(a, a, -a)", np.float64, big), [np.inf, np.nan, np.nan, np.inf]
    )


HALVES = {
    "hadd(a, b)": lambda a, b: a + b,
    "hsub(a, b)": lambda a, b: a - b,
    "hmul(a, b)": lambda a, b: a * b,
    "hdiv(a, b)": lambda a, b: a / b,
    "hneg(a)": lambda a, b: -a,
    "habs(a)": lambda a, b: abs(a),
    "hmax(a, b)": np.maximum,
    "hmin(a, b)": np.minimum,
    "hfloor(a)": lambda a, b: np.floor(a),
    "hceil(a)": lambda a, b: np.ceil(a),
    "htrunc(a)": lambda a, b: np.trunc(a),
    "hrint(a)": lambda a, b: np.rint(a),
    "heq(a, b)": np.equal,
    "hne(a, b)": np.not_equal,
    "hlt(a, b)": np.less,
    "hle(a, b)": np.less_equal,
    "hgt(a, b)": np.greater,
    "hge(a, b)": np.greater_equal,
}
CURVES = {
    "hsin": np.sin,
    "hcos": np.cos,
    "hexp": np.exp,
    "hexp2": np.exp2,
    "hexp10": lambda x: 10**x,
    "hlog": np.log,
    "hlog2": np.log2,
    "hlog10": np.log10,
    "hsqrt": np.sqrt,
    "hrsqrt": lambda x: 1 / np.sqrt(x),
    "hrcp": lambda x: 1 / x,
    "htanh": np.tanh,
    "htanh_approx": np.tanh,
}


@pytest.mark.parametrize("call", HALVES)
def test_float16(call):
    a, b = floats(np.float16, seed=1), floats(np.float16, seed=2)
    b[:5] = a[:5]
    np.testing.assert_array_equal(
        computed(f"fp16.{call}", np.float16, a, b), HALVES[call](a, b).astype(np.float16)
    )


@pytest.mark.parametrize("name", CURVES)
def test_float16_curves_are_rounded_from_more_bits(name):
    a = floats(np.float16, 0.1, 3)
    np.testing.assert_allclose(
        computed(f"cuda.fp16.{name}(a)", np.float16, a),
        CURVES[name](a.astype(np.float64)),
        rtol=1e-3,
    )


def test_every_float16_function_is_tested():
    tested = {call.partition("(")[0] for call in HALVES} | set(CURVES) | {"hfma"}
    assert {
        path.removeprefix("fp16.") for path in CUDA_FUNCTIONS if path.startswith("fp16.")
    } == tested


#: A function of libdevice, without its final f -> the same in Python or NumPy.
LIBRARY = {
    **{
        n: getattr(math, n)
        for n in (
            "exp exp2 expm1 sin cos tan sinh cosh tanh atan asinh erf erfc floor ceil trunc fabs"
        ).split()
    },
    "rint": np.rint,
    "nearbyint": np.rint,
    "round": lambda x: math.copysign(math.floor(abs(x) + 0.5), x),
    "exp10": lambda x: 10.0**x,
    "cbrt": np.cbrt,
    "sinpi": lambda x: math.sin(math.pi * x),
    "cospi": lambda x: math.cos(math.pi * x),
    "normcdf": lambda x: (1 + math.erf(x / math.sqrt(2))) / 2,
}
POSITIVE = {
    **{n: getattr(math, n) for n in "sqrt log log1p log2 log10 lgamma".split()},
    "tgamma": math.gamma,
    "rsqrt": lambda x: x**-0.5,
    "rcbrt": lambda x: x ** (-1 / 3),
    "acosh": lambda x: math.acosh(x + 1),
    "logb": lambda x: math.floor(math.log2(x)),
}
PAIRS = {
    "pow(abs(a), b)": lambda a, b: abs(a) ** b,
    "atan2(a, b)": np.arctan2,
    "hypot(a, b)": np.hypot,
    "fmod(a, b)": np.fmod,
    "copysign(a, b)": np.copysign,
    "fmax(a, b)": np.maximum,
    "fmin(a, b)": np.minimum,
    "remainder(a, b)": np.vectorize(math.remainder),
    "nextafter(a, b)": np.nextafter,
    "fdim(a, b)": lambda a, b: np.maximum(a - b, 0),
    "fma(a, b, a)": lambda a, b: a * b + a,
    "powi(a, 3)": lambda a, b: a**3,
    "ldexp(a, 3)": lambda a, b: a * 8,
    "scalbn(a, -2)": lambda a, b: a / 4,
    "asin(a / 5)": lambda a, b: np.arcsin(a / 5),
    "acos(a / 5)": lambda a, b: np.arccos(a / 5),
    "atanh(a / 5)": lambda a, b: np.arctanh(a / 5),
    "frexp(a)[0]": lambda a, b: np.frexp(a)[0],
    "frexp(a)[1]": lambda a, b: np.frexp(a)[1],
    "modf(a)[0]": lambda a, b: np.modf(a)[0],
    "sincos(a)[1]": lambda a, b: np.cos(a),
    "ilogb(a)": lambda a, b: np.frexp(a)[1] - 1,
    "normcdf(normcdfinv(abs(a) / 5))": lambda a, b: abs(a) / 5,
    "erf(erfinv(a / 5))": lambda a, b: a / 5,
    "erfc(erfcinv(abs(a) / 3))": lambda a, b: abs(a) / 3,
    "llrint(a)": lambda a, b: np.rint(a),
    "llround(a)": lambda a, b: np.trunc(a + np.copysign(0.5, a)),
}
CALLS = {
    f"{n}({'abs(a) + 1' if n == 'acosh' else 'abs(a)' if n in POSITIVE else 'a'})": f
    for n, f in (LIBRARY | POSITIVE).items()
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("call", [*CALLS, *PAIRS])
def test_libdevice(call, dtype):
    a, b = floats(dtype, seed=3), floats(dtype, seed=4)
    wide = a.astype(np.float64)
    one = CALLS.get(call)
    want = (
        np.vectorize(one)(abs(wide) if "abs" in call else wide)
        if one
        else PAIRS[call](a if "nextafter" in call else wide, b)
    )
    close = {"rtol": 3e-5, "atol": 3e-6} if dtype == np.float32 else {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(
        computed(in_library(call, "f" * (dtype == np.float32)), np.float64, a, b), want, **close
    )


def in_library(call: str, suffix: str = "") -> str:
    """Return a call in which every name is ``libdevice.<name><suffix>``.

    Constants become float32 with the suffix."""
    text = re.sub(
        r"\b([a-z]\w*)\(",
        lambda m: m[0] if suffix and m[1] == "abs" else f"libdevice.{m[1]}{suffix}(",
        call,
    )
    return (
        re.sub(r"/ (\d)", r"/ np.float32(\1)", text)
        if suffix
        else text.replace("libdevice.abs(a)", "abs(a)")
    )


WHOLE = {
    "mulhi(a, b)": lambda a, b: a * b >> 32,
    "mul24(a, b)": lambda a, b: low24(a) * low24(b),
    "rhadd(a, b)": lambda a, b: (a + b + 1) >> 1,
    "umulhi(a, b)": lambda a, b: (a % 2**32) * (b % 2**32) >> 32,
    "umul24(a, b)": lambda a, b: (a % 2**24) * (b % 2**24),
    "uhadd(a, b)": lambda a, b: (a % 2**32 + b % 2**32) >> 1,
    "urhadd(a, b)": lambda a, b: (a % 2**32 + b % 2**32 + 1) >> 1,
    "sad(a, b, a)": lambda a, b: abs(a - b) + a,
    "usad(a, b, a)": lambda a, b: abs(a % 2**32 - b % 2**32) + a,
    "min(a, b)": min,
    "max(a, b)": max,
    "umin(a, b)": lambda a, b: min(a % 2**32, b % 2**32),
    "umax(a, b)": lambda a, b: max(a % 2**32, b % 2**32),
    "popc(a)": lambda a, b: (a % 2**32).bit_count(),
    "clz(a)": lambda a, b: 32 - (a % 2**32).bit_length(),
    "abs(a)": lambda a, b: abs(a),
    "ffs(a)": lambda a, b: (a & -a).bit_length(),
    "byte_perm(a, b, 0x5410)": lambda a, b: a % 2**16 + (b % 2**16 << 16),
    "byte_perm(a, b, 0x0123)": lambda a, b: int.from_bytes(
        (a % 2**32).to_bytes(4, "little"), "big"
    ),
    "int_as_float(a) != 0.1": lambda a, b: 1,
    "float_as_int(int_as_float(b % 1000000))": lambda a, b: b % 1000000,
}
LONG = {
    "mul64hi(a, b)": lambda a, b: a * b >> 64,
    "umul64hi(a, b)": lambda a, b: (a % 2**64) * (b % 2**64) >> 64,
    "llmin(a, b)": min,
    "llmax(a, b)": max,
    "ullmax(a, b)": lambda a, b: max(a % 2**64, b % 2**64),
    "ullmin(a, b)": lambda a, b: min(a % 2**64, b % 2**64),
    "popcll(a)": lambda a, b: (a % 2**64).bit_count(),
    "clzll(a)": lambda a, b: 64 - (a % 2**64).bit_length(),
    "ffsll(a)": lambda a, b: (a & -a).bit_length(),
    "llabs(a)": lambda a, b: abs(a),
}


def low24(x: int) -> int:
    return (x + 2**23) % 2**24 - 2**23


def wrapped(x, bits: int) -> int:
    return (int(x) + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


@pytest.mark.parametrize(
    ("calls", "dtype"), [(WHOLE, np.int32), (LONG, np.int64)], ids=["32 bits", "64 bits"]
)
def test_libdevice_of_integers(calls, dtype):
    a, b = integers(dtype, 1), integers(dtype, 2)[::-1].copy()
    for call, function in calls.items():
        text = re.sub(r"\b([a-z]\w+)\(", r"libdevice.\1(", call)
        want = [
            wrapped(function(int(x), int(y)), 8 * a.itemsize) for x, y in zip(a, b, strict=True)
        ]
        assert computed(text, dtype, a, b).tolist() == want, call


@pytest.mark.parametrize(
    ("mode", "rounding"), [("rn", np.rint), ("rz", np.trunc), ("rd", np.floor), ("ru", np.ceil)]
)
@pytest.mark.parametrize(("word", "dtype"), [("float", np.float32), ("double", np.float64)])
def test_floats_become_integers_in_four_ways_and_stay_in_range(mode, rounding, word, dtype):
    a = floats(dtype, -100, 100)
    np.testing.assert_array_equal(
        computed(f"libdevice.{word}2int_{mode}(a)", np.int32, a), rounding(a)
    )
    np.testing.assert_array_equal(
        computed(f"libdevice.{word}2ll_{mode}(a)", np.int64, a), rounding(a)
    )
    odd = np.array([np.nan, np.inf, -np.inf, 3e9, -3e9], dtype)
    low, high = -(2**31), 2**31 - 1
    assert computed(f"libdevice.{word}2int_{mode}(a)", np.int64, odd).tolist() == [
        0,
        high,
        low,
        high,
        low,
    ]
    unsigned = computed(f"np.uint32(libdevice.{word}2uint_{mode}(a))", np.int64, odd)
    assert unsigned.tolist() == [0, 2**32 - 1, 0, 3_000_000_000, 0]


def test_float16_bits():
    a = floats(np.float32)
    np.testing.assert_array_equal(
        computed("libdevice.half2float(libdevice.float2half_rn(a))", np.float32, a),
        a.astype(np.float16),
    )
    assert computed(
        "libdevice.saturatef(a)", np.float32, np.float32([-1, 0.5, 2, np.nan])
    ).tolist() == [0, 0.5, 1, 0]


def test_counts_of_fma_special_and_conversion():
    text = f"{HEAD}@cuda.jit\ndef k(x, out):\n    i = cuda.grid(1)\n"
    lines = {
        "cuda.fma(x[i], x[i], x[i])": ("flops_fp32", 2),
        "math.sin(x[i])": ("op_special", 1),
        "np.float64(x[i])": ("op_conversion", 1),
        "cuda.popc(i)": ("op_integer", 1),
        "cuda.fp16.hadd(np.float16(1), np.float16(2))": ("op_fp16", 1),
    }
    for call, (field, count) in lines.items():
        t = trace(
            kernels_in(f"{text}    out[i] = {call}\n")["k"],
            1,
            32,
            np.ones(32, np.float32),
            np.zeros(32),
        )
        assert getattr(t.by_line[8], field) == 32 * count, call


def test_random_types_go_through_casts():
    """Casts are int(), float() and NumPy's types, with integers that wrap around."""
    a = np.array([300, -1, 2**31 + 5, 70000])
    for t in "int8 uint8 int16 uint16 int32 uint32".split():
        np.testing.assert_array_equal(computed(f"np.{t}(a)", np.int64, a), a.astype(t))
    assert computed("int(a) + float(2) + bool(a)", np.float64, np.array([2.9, -2.9])).tolist() == [
        5.0,
        1.0,
    ]
    assert {FLOAT16, FLOAT32, FLOAT64} == {np.dtype(f"f{n}") for n in (2, 4, 8)}


WHOLE = """
from numba import cuda
import numpy as np
@cuda.jit
def kernel(x, y, out):
    np.{call}
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("cos(x, out)", lambda x, y: np.cos(x)),
        ("maximum(x, y, out)", lambda x, y: np.maximum(x, y)),
        ("minimum(out, y, out)", lambda x, y: np.minimum(7.0, y) + 0 * x),
    ],
)
def test_a_function_of_numpy_takes_whole_arrays_and_one_for_its_results(call, expected):
    x, y, out = np.arange(6.0).reshape(2, 3), np.arange(3.0) - 1, np.full((2, 3), 7.0)
    t = trace(kernels_in(WHOLE.format(call=call))["kernel"], 1, 1, x, y, out)
    np.testing.assert_allclose(out, expected(x, y))
    assert not t.races


def test_whole_arrays_without_one_for_the_results_are_refused():
    text = WHOLE.format(call="cos(x)")
    with pytest.raises(KernelTypeError, match="a number is needed here"):
        trace(kernels_in(text)["kernel"], 1, 1, *np.ones((3, 4)))

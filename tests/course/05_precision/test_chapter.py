"""Chapter 5: its form, and its claims, against NumPy's formats and exact fractions."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from support.chapter_form import ChapterForm, Question, number, run

from warpwise import cuda, trace
from warpwise.devices import A100, DEVICES, H100, L4
from warpwise.toolchain import compile_kernel, load, missing

pytestmark = pytest.mark.slow  # its cells are run

STEM = "05_precision"


class TestForm(ChapterForm):
    stem = STEM
    sourced = {
        "16": "bits of the short formats",
        "754": "number of the standard (ieee754)",
        "19": "bits that TF32 keeps (cuda_math_tf32)",
        "14": "bits of an H100's sums of 8-bit products (deepseek_v3, section 3.3.2)",
        "1,979": "TFLOP/s with sparsity, on the H100's data sheet",
    }
    chosen = {
        "45": "minutes",
        "90": "minutes, as the lab says",
        "120": "minutes, as the lab says",
        "8": "bits of an int8",
        "32": "bits of a float32",
        "4": "number of the chapter on the roofline",
        "2": "bytes of a float16",
        "15": "the bias of float16",
        "0": "a bit; the least of the numbers to be added; a row",
        "1": "a bit; the number that is added; the weight; an error of all",
        "10": "fraction bits of float16 and TF32",
        "11": "digits of float16: 10 stored, and the 1",
        "22": "digits of a product of two of them",
        "24": "digits of float32: 23 stored, and the 1",
        "0.0001": "the update",
        "256": "values of 8 bits",
    }


@pytest.fixture
def glued() -> dict[str, str]:
    return run(STEM).glued


@pytest.fixture
def printed() -> str:
    return run(STEM).printed


def finite(exponent_bits: int, fraction_bits: int, extended: bool = False) -> list[Fraction]:
    """Return all finite numbers of a format that are not negative, exactly.

    ``extended``: only the last pattern is no number."""
    bias, numbers = 2 ** (exponent_bits - 1) - 1, []
    for exponent in range(2**exponent_bits - (not extended)):
        for fraction in range(2**fraction_bits):
            lead, power = (0, 1 - bias) if exponent == 0 else (1, exponent - bias)
            numbers.append((lead + Fraction(fraction, 2**fraction_bits)) * Fraction(2) ** power)
    return numbers[:-1] if extended else numbers


def row(printed: str, name: str) -> list[float]:
    """Return the numbers about this format in the table of limits."""
    (line,) = re.findall(rf"^{re.escape(name)} +(.*, step after .*)$", printed, re.MULTILINE)
    rest, step = line.split(", step after 1: 1/")
    found = [number(one) for one in re.findall(r"[\d.,]+(?:e[-+]\d+)?", rest) if one.strip(",.")]
    return [*found, 1 / number(step)]


@pytest.mark.parametrize(
    ("name", "bits", "extended"),
    [("float16", (5, 10), False), ("fp8 e5m2", (5, 2), False), ("fp8 e4m3", (4, 3), True)],
)
def test_limits_of_short_formats_are_those_of_all_their_numbers(printed, name, bits, extended):
    every = sorted(finite(*bits, extended=extended))
    normal, step = Fraction(2) ** (2 - 2 ** (bits[0] - 1)), Fraction(1, 2 ** bits[1])
    assert row(printed, name) == pytest.approx(
        [float(v) for v in (every[1], normal, every[-1], step)], rel=0.05
    )


def test_limits_of_long_formats_are_those_of_float32_with_other_fractions(printed):
    for name, fraction in (("float32", 23), ("TF32", 10), ("bfloat16", 7)):
        expected = [
            2.0 ** (-126 - fraction),
            2.0**-126,
            (2 - 2.0**-fraction) * 2.0**127,
            2.0**-fraction,
        ]
        assert row(printed, name) == pytest.approx(expected, rel=0.05)


def test_range_of_float16_and_e4m3(glued):
    assert number(glued["largest_16"]) == np.finfo(np.float16).max == max(finite(5, 10))
    assert number(glued["largest_e4"]) == 448 == max(finite(4, 3, extended=True))
    # Against IEEE's rule: "almost doubles".
    assert 448 / max(finite(4, 3)) == pytest.approx(1.87, abs=0.01)
    assert number(glued["coarser"]) == 2 ** (10 - 7)


def test_relu_moves_eight_and_four_bytes_for_a_flop(glued):
    assert (number(glued["relu_32"]), number(glued["relu_16"])) == (4 + 4, 2 + 2)
    assert (number(glued["intensity_32"]), number(glued["intensity_16"])) == (1 / 8, 1 / 4)
    assert (number(glued["sectors_32"]), number(glued["sectors_16"])) == (32 * 4 / 32, 32 * 2 / 32)


@pytest.mark.skipif(bool(missing()), reason="no compiler here")
def test_half_the_bytes_are_not_half_the_time(printed, glued):
    found = re.findall(
        r"^(H100 SXM|A100 80) +(float\d\d): +([\d,]+) us, bound by", printed, re.MULTILINE
    )
    us = {(device, dtype): number(time) for device, dtype, time in found}
    # Not below the bytes: 8 or 4 of them, of 2^28 elements, at 3,350 and 2,039 GB/s.
    for device, rate in (("H100 SXM", 3.35e6), ("A100 80", 2.039e6)):
        assert us[device, "float32"] > 8 * 2**28 / rate
        assert us[device, "float16"] > 4 * 2**28 / rate
    gains = [us[name, "float32"] / us[name, "float16"] for name in ("H100 SXM", "A100 80")]
    assert [number(glued[name]) for name in ("relu_gain", "relu_gain_a100")] == pytest.approx(
        gains, abs=0.01
    )
    assert all(1 < gain < 1.5 for gain in gains)


def test_memory_time_halves_with_the_bits(glued):
    for name, itemsize in (("ms_32", 4), ("ms_16", 2), ("ms_8", 1)):
        assert number(glued[name]) == pytest.approx(
            1e3 * 2 * itemsize * number(glued["elements"]) / 3.35e12, abs=0.005
        )
    assert H100.dram_gb_per_s == 3350


def test_exponentials_that_float16_cannot_hold():
    assert np.exp(11.0) < 65504 < np.exp(12.0)
    assert np.exp(-17.0) > 2.0**-25 > np.exp(-18.0)  # half of the least subnormal number


def test_tf32_keeps_19_bits(glued):
    assert (number(glued["kept_bits"]), number(glued["dropped_bits"])) == (1 + 8 + 10, 23 - 10)
    # TFLOP/s of TF32 in NVIDIA's data sheet
    assert number(glued["tf32_gain"]) == round(156 / A100.fp32_tflops)


def test_products_of_16_bit_numbers_are_exact_in_float32():
    rng = np.random.default_rng(3)
    for digits in (11, 8):
        factors = rng.integers(2 ** (digits - 1), 2**digits, (1000, 2))
        assert all(int(np.float32(a) * np.float32(b)) == int(a) * int(b) for a, b in factors)
    # 13 digits would not do.
    assert int(np.float32(2**13 - 1) * np.float32(2**13 - 1)) != (2**13 - 1) ** 2


def test_sums_of_ones_stop_where_the_step_is_two(glued):
    total = np.float16(0)
    for _ in range(3000):
        total = np.float16(total + np.float16(1))
    assert number(glued["stall_16"]) == total == 2**11
    assert number(glued["stall_b16"]) == 2**8


def test_a_float16_sum_of_4096_products_is_wrong_by_percents(glued):
    a, b = np.random.default_rng(12).random((2, 100, 4096)).astype(np.float16)
    total = np.zeros(100, np.float16)
    for k in range(4096):
        total = (total + a[:, k] * b[:, k]).astype(np.float16)
    exact = (a.astype(np.float64) * b).sum(axis=1)
    error = 100 * np.abs(total / exact - 1).mean()
    assert number(glued["error_16"]) == pytest.approx(error, abs=1.5)


def test_rounding_of_numbers_nearly_cancels_and_that_of_products_does_not():
    a, b = np.random.default_rng(12).random((2, 100, 4096)).astype(np.float16)
    off = {}
    for name, terms in (("numbers", a), ("products", a * b)):
        sums = np.cumsum(terms, axis=1, dtype=np.float16)[:, -1].astype(np.float64)
        off[name] = (sums / terms.astype(np.float64).sum(axis=1) - 1).mean()
    assert off["products"] < 8 * off["numbers"] < 0
    assert (a * b < 0.25).mean() > 0.55  # half of the step between 512 and 1,024


def test_a_wide_accumulator_costs_no_bytes(printed):
    moved = 64 * 4096 * 2 + 64 * 2
    found = re.findall(r"^(sums_\d): ([\d,]+) bytes, mean error ([\d.]+)%", printed, re.MULTILINE)
    assert [(name, number(size)) for name, size, _ in found] == [
        ("sums_1", moved),
        ("sums_2", moved),
    ]
    # The limit is half a step of float16.
    assert number(found[0][2]) > 0.5 > 100 * 2.0**-11 > number(found[1][2])


def test_small_updates_vanish_in_16_bits(printed):
    weight = np.float16(1)
    for _ in range(1000):
        weight = np.float16(weight + np.float16(1e-4))
    assert weight == 1 and 1e-4 < 2.0**-11 < 2.0**-8
    assert re.search(r"float32 +1\.1000, .*\n.*float16 +1\.0000, .*\n.*bfloat16 1\.0000,", printed)


def test_gradients_lost_without_loss_scaling(glued):
    decades = np.log10(2.0**-25) + 10  # seven decades, evenly filled
    assert number(glued["lost_before"]) == pytest.approx(100 * decades / 7, abs=1)
    assert number(glued["lost_after"]) == 0 and 1024 * 1e-10 > 2.0**-25


def test_one_literal_makes_every_operation_float64(printed):
    flops = f"{512 * 512 * 2:,}"  # threads, turns, a product and a sum
    assert f"polynomial_1: 0 float32 FLOP, {flops} float64 FLOP" in printed
    assert f"polynomial_2: {flops} float32 FLOP, 0 float64 FLOP" in printed


def test_float64_is_twice_or_many_times_slower(glued, printed):
    lanes = {
        (7, 0): (64, 32),
        (7, 5): (64, 2),
        (8, 0): (64, 32),
        (8, 6): (128, 2),
        (8, 9): (128, 2),
    }
    lanes |= {(9, 0): (128, 64), (10, 0): (128, 64)}
    for device in DEVICES:
        single, double = lanes[device.compute_capability]
        assert re.search(
            rf"^{re.escape(device.name)} +[\d.]+ +[\d.]+ +{single // double} times slower$",
            printed,
            re.MULTILINE,
        )
    assert (number(glued["l4_slower"]), number(glued["h100_slower"])) == (64, 2)
    # FLOP per byte: right of both knees, so arithmetic is the limit
    assert 512 * 2 / 8 > 30.3e12 / 300e9 > 67e12 / 3350e9
    assert (L4.compute_capability, H100.compute_capability) == ((8, 9), (9, 0))


def test_ways_to_float64(printed):
    lines = re.findall(r"^(float\d\d)  y\[(\d), i\]", printed, re.MULTILINE)
    assert lines == [*(("float64", str(k)) for k in range(5)), ("float32", "5")]


def test_scales_for_rows_keep_the_small_rows(glued):
    assert number(glued["values_all"]) <= 5 < 40 < number(glued["values_rows"]) <= 64
    assert number(glued["safe_k"]) == (2**31 - 1) // 127**2
    assert number(glued["bits_product"]) == len(bin(127 * 127)[2:]) + 1


def test_rates_double_with_each_halving_of_the_bits(printed, glued):
    found = re.findall(
        r"^(H100 SXM|B200) +(TF32|16 bits|fp8, int8|fp4) +([\d,]+) TFLOP", printed, re.M
    )
    rates = {(device, name): number(rate) for device, name, rate in found}
    # The data sheets' dense rates: H100 495, 989, 1,979; B200 1,125, 2,250, 4,500, 9,000.
    sheets = {"H100 SXM": (494.5, 989, 1978), "B200": (1125, 2250, 4500, 9000)}
    for device, rows in sheets.items():
        shown = [rate for (of, _), rate in rates.items() if of == device]
        assert shown == pytest.approx(rows, abs=0.6)
    assert glued["fp32_h100"] == "67" and glued["dense_h100"] == "989"
    assert pytest.approx(1979, abs=1) == 2 * 989  # with sparsity, which counts zeros too


def test_a_block_s_scale_adds_a_fraction_of_a_bit(printed):
    found = dict(re.findall(r"^(\w+): ([\d.]+) bits a number$", printed, re.MULTILINE))
    assert found == {"MXFP8": "8.25", "MXFP4": "4.25", "NVFP4": "4.50"}


def test_quiz_on_bytes_and_ranges():
    quiz = run(STEM).quiz
    assert quiz["precision-relu"].right == f"{3 * 4} and {3 * 2}"
    assert quiz["precision-range"].right == "bfloat16" and 65_504 < 100_000 < 3e38
    assert "same" in quiz["precision-tf32"].right


def test_quiz_on_updates():
    question: Question = run(STEM).quiz["precision-update"]
    spacing = Fraction(4) / 2**7
    assert (
        question.right == "At 4" and spacing == Fraction(1, 32) and Fraction(1, 100) < spacing / 2
    )


def test_quiz_on_float64():
    @cuda.jit
    def offered(x, y):
        i = cuda.grid(1)
        v, n = x[i], x.shape[0]
        y[i] = v / n
        y[i] = v * np.float32(0.1)
        y[i] = 0.1 * v
        y[i] = max(v, 0)

    t = trace(offered, 1, 32, np.ones(32, np.float32), np.zeros(32, np.float32))
    in_float32 = [
        t.source[line].strip() for line, m in t.by_line.items() if m.op_fp32 and not m.op_fp64
    ]
    assert in_float32 == ["y[i] = v * np.float32(0.1)"]
    assert run(STEM).quiz["precision-float64"].right == "`v * np.float32(0.1)`"


KERNELS = """
from warpwise import cuda

@cuda.jit
def literal(x, y, a):
    i = cuda.grid(1)
    y[i] = 2.0 * x[i]

@cuda.jit
def length(x, y, a):
    i = cuda.grid(1)
    y[i] = x[i] / x.size

@cuda.jit
def argument(x, y, a):
    i = cuda.grid(1)
    y[i] = a * x[i]

@cuda.jit
def chain(x, y, a):
    i = cuda.grid(1)
    v = x[i]
    total = v
    for _ in range(512):
        total = total * v + 0.5
    y[i] = total
"""


@pytest.mark.skipif(
    bool(missing()), reason=f"no {', '.join(missing())}: python -m pip install -e '.[toolchain]'"
)
def test_the_compiler_takes_back_a_lone_product_only(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    kernels = load(tmp_path / "kernels.py").kernels
    ptx = {
        name: compile_kernel(kernel, "float32[::1], float32[::1], float64").ptx
        for name, kernel in kernels.items()
    }
    double = {name for name, text in ptx.items() if re.search(r"(mul|div|fma)\.(rn\.)?f64", text)}
    assert double == {"length", "argument", "chain"}

"""bfloat16, tensor-core instructions in the simulator, and the kernels built from them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from warpwise import cuda
from warpwise.kernels import attention_bf16, hgemm
from warpwise.kernels.attention_bf16.online_softmax import exp2_approximate
from warpwise.kernels.bfloat16 import (
    EPSILON,
    NAN,
    from_bfloat16,
    pack_bfloat16,
    to_bfloat16,
    unpack_bfloat16,
)
from warpwise.kernels.tensor_core import (
    column_pair,
    cp_async16,
    cp_async_commit,
    cp_async_wait,
    halves_of,
    ldmatrix_x4,
    ldmatrix_x4_trans,
)
from warpwise.kernels.tensor_core import mma_bf16 as mma
from warpwise.measure.place import in_simulator
from warpwise.measure.suites import attention, sgemm_ladder
from warpwise.toolchain import compile_kernel

RNG = np.random.default_rng
HALVES = [
    1 + 2.0**-8,
    1 + 3 * 2.0**-8,
    -1 - 2.0**-8,
    -1 - 3 * 2.0**-8,
    2.0**-133 * 1.5,
    2.0**-134,
    3 * 2.0**-134,
]
EDGES = [0.0, -0.0, np.inf, -np.inf, 3.4028234e38, -3.4028234e38, 3.3895314e38, 2.0**-149, *HALVES]


def rounded(numbers: np.ndarray) -> np.ndarray:
    """Round to bfloat16 by float64 arithmetic alone.

    That is 8 bits of significand and float32's exponents, halves to even."""
    part, exponent = np.frexp(numbers.astype(np.float64))
    unit = np.maximum(exponent - 8, -133)
    near = np.ldexp(np.rint(np.ldexp(part, exponent - unit)), unit)
    return np.where(
        np.isfinite(numbers),
        np.where(np.abs(near) < 2.0**128, near, np.copysign(np.inf, numbers)),
        numbers,
    )


def numbers(count: int) -> np.ndarray:
    """Draw float32 numbers of every exponent, no NaN among them; then edges."""
    drawn = RNG(1).integers(0, 2**32, count, dtype=np.uint32).view(np.float32)
    return np.concatenate([drawn[~np.isnan(drawn)], np.array(EDGES, np.float32)])


def test_bfloat16_is_rounded_to_nearest_and_halves_to_even():
    x = numbers(10_000)
    back = from_bfloat16(to_bfloat16(x))
    assert np.array_equal(back, rounded(x)) and np.array_equal(np.signbit(back), np.signbit(x))
    assert np.array_equal(to_bfloat16(back), to_bfloat16(x))
    # Down to even, up to even.
    assert from_bfloat16(to_bfloat16(np.array(HALVES[:2], np.float32))).tolist() == [1, 1 + 2.0**-6]
    normal = np.abs(x[(np.abs(x) > 2.0**-126) & np.isfinite(back)])
    assert 0.99 * EPSILON < (np.abs(rounded(normal) - normal) / normal).max() <= EPSILON


def test_every_nan_is_the_same_bfloat16():
    odd = np.array([0x7F800001, 0x7FFFFFFF, 0xFF800001, 0xFFFFFFFF, 0x7FC00000], np.uint32).view(
        np.float32
    )
    assert (to_bfloat16(odd) == NAN).all() and np.isnan(from_bfloat16(to_bfloat16(odd))).all()


@cuda.jit
def packed(x, words, back):
    i = cuda.grid(1)
    words[i] = pack_bfloat16(x[2 * i], x[2 * i + 1])
    back[2 * i], back[2 * i + 1] = unpack_bfloat16(words[i])


def test_a_kernel_packs_as_the_host_rounds():
    x = np.append(numbers(1000), np.float32(np.nan))[:992]
    x[17] = np.nan
    words, back = np.zeros(496, np.uint32), np.zeros(992, np.float32)
    packed[31, 16](x, words, back)
    assert np.array_equal(words.view(np.uint16), to_bfloat16(x))
    assert np.array_equal(back, from_bfloat16(to_bfloat16(x)), equal_nan=True)


# --- instructions ---
# The tables are those of "Warp-level matrix instructions" in the PTX ISA, element by element.


def of_a(lane: int, i: int) -> tuple[int, int]:
    return lane // 4 + (8 if i in (2, 3, 6, 7) else 0), lane % 4 * 2 + i % 2 + (8 if i >= 4 else 0)


def of_b(lane: int, i: int) -> tuple[int, int]:
    return lane % 4 * 2 + i % 2 + (8 if i >= 2 else 0), lane // 4


def of_c(lane: int, i: int) -> tuple[int, int]:
    return lane // 4 + (8 if i >= 2 else 0), lane % 4 * 2 + i % 2


def fragments(matrix: np.ndarray, places, count: int) -> np.ndarray:
    return np.array([[matrix[places(lane, i)] for i in range(count)] for lane in range(32)])


@cuda.jit
def multiplied(a, b, c):
    t = 4 * cuda.threadIdx.x
    h = 2 * cuda.threadIdx.x
    c[t], c[t + 1], c[t + 2], c[t + 3] = mma(
        a[t], a[t + 1], a[t + 2], a[t + 3], b[h], b[h + 1], c[t], c[t + 1], c[t + 2], c[t + 3]
    )


def test_mma_multiplies_the_matrices_of_the_tables():
    a, b, c = (
        RNG(k).integers(-100, 100, shape).astype(np.float32)
        for k, shape in enumerate(((16, 16), (16, 8), (16, 8)))
    )
    words = [
        to_bfloat16(fragments(m, places, n)).view(np.uint32).ravel()
        for m, places, n in ((a, of_a, 8), (b, of_b, 4))
    ]
    sums = fragments(c, of_c, 4).ravel()
    multiplied[1, 32](*words, sums)
    assert np.array_equal(sums, fragments(c + a @ b, of_c, 4).ravel())  # integers below 2^24: exact


@cuda.jit
def matrices_loaded(source, rows, plain, turned):
    tile = cuda.shared.array(256, np.uint32, alignment=16)
    t = cuda.threadIdx.x
    for half in range(2):
        cp_async16(tile, np.uint32(4 * t + 128 * half), source, np.uint32(4 * t + 128 * half))
        cp_async_commit()
    cp_async_wait(0)
    cuda.syncthreads()
    plain[t, 0], plain[t, 1], plain[t, 2], plain[t, 3] = ldmatrix_x4(tile, rows[t])
    turned[t, 0], turned[t, 1], turned[t, 2], turned[t, 3] = ldmatrix_x4_trans(tile, rows[t])


def test_ldmatrix_gives_each_lane_its_words_plain_and_transposed():
    halves = RNG(3).integers(0, 2**16, 512).astype(np.uint16)
    rows = RNG(4).permutation(64)[:32].astype(np.uint32) * 4
    plain, turned = np.zeros((32, 4), np.uint32), np.zeros((32, 4), np.uint32)
    matrices_loaded[1, 32](halves.view(np.uint32), rows, plain, turned)
    for m in range(4):
        matrix = np.array([halves[2 * rows[8 * m + r] :][:8] for r in range(8)])
        assert np.array_equal(plain[:, m], matrix.view(np.uint32).ravel())
        assert np.array_equal(turned[:, m], matrix.T.copy().view(np.uint32).ravel())


@cuda.jit
def columns_read(matrix, out):
    column = np.uint32(cuda.threadIdx.x)
    out[column] = column_pair(
        matrix, np.uint32(3 * 4 + column // 2), np.uint32(4), halves_of(column)
    )


def test_a_column_pair_is_two_numbers_one_below_the_other():
    halves, out = RNG(5).integers(0, 2**16, (8, 8)).astype(np.uint16), np.zeros(8, np.uint32)
    columns_read[1, 8](halves.view(np.uint32).ravel(), out)
    assert np.array_equal(out.view(np.uint16).reshape(8, 2).T, halves[3:5])


@cuda.jit
def instructions(source, out):
    tile = cuda.shared.array(256, np.uint32, alignment=16)
    t = np.uint32(cuda.threadIdx.x)
    cp_async16(tile, np.uint32(4 * t), source, np.uint32(4 * t))
    cp_async_commit()
    cp_async_wait(0)
    cuda.syncthreads()
    a0, a1, a2, a3 = ldmatrix_x4(tile, np.uint32(4 * t))
    b0, b1, b2, b3 = ldmatrix_x4_trans(tile, np.uint32(4 * t))
    zero = np.float32(0)
    c0, c1, c2, c3 = mma(a0, a1, a2, a3, b0, b1, zero, zero, zero, zero)
    c0, c1, c2, c3 = mma(a0, a1, a2, a3, b2, b3, c0, c1, c2, c3)
    out[t] = pack_bfloat16(c0 + c2, exp2_approximate(c1 + c3))
    mma(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3)  # its sums are used nowhere, so it may go


def test_each_instruction_is_one_of_the_machine():
    code = compile_kernel(instructions, "uint32[::1], uint32[::1]", (9, 0)).machine_code
    wanted = {
        "LDGSTS.E.BYPASS.128": 1,
        "LDSM.16.M88.4": 1,
        "LDSM.16.MT88.4": 1,
        "HMMA.16816.F32.BF16": 2,
        "MUFU.EX2": 1,
        "F2FP.BF16": 1,
    }
    assert {name: sum(i.opcode.startswith(name) for i in code) for name in wanted} == wanted


# --- kernels ---


@pytest.fixture(autouse=True)
def _a_race_is_an_error():
    with warnings.catch_warnings(action="error"):
        yield


def random(shape: tuple[int, ...], seed: int, high: float = 1) -> np.ndarray:
    return to_bfloat16(RNG(seed).uniform(-high, high, shape).astype(np.float32))


def words(halves: np.ndarray) -> np.ndarray:
    return halves.view(np.uint32).reshape(-1)


def exact(halves: np.ndarray) -> np.ndarray:
    return from_bfloat16(halves).astype(np.float64)


# Tiles in both directions; more rows of tiles than a group has, and no full second group; the
# shortest k. Step 1 knows no groups: a few of its tiles of 16 x 8 are enough.
PRODUCTS = [
    (hgemm.STEPS[0], 64, 128, 64),
    *((step, *size) for step in hgemm.STEPS[1:] for size in ((256, 512, 128), (1152, 256, 64))),
]


@pytest.mark.slow
@pytest.mark.parametrize("step, m, n, k", PRODUCTS, ids=lambda it: getattr(it, "name", it))
def test_a_matrix_product_is_right(step, m, n, k):
    a, b, c = random((m, k), 1), random((k, n), 2), np.full((m, n), NAN, np.uint16)
    step.run(n, k, words(a), words(b), words(c))
    want = exact(a) @ exact(b)
    assert (np.abs(exact(c) - want) <= EPSILON * np.abs(want) + k * 2.0**-20).all()


# One block and one head; several; and scores so far apart that powers of two would overflow without
# the largest taken off.
ATTENTIONS = ((1, 128, 2), (2, 256, 3), (1, 128, 12))


@pytest.mark.slow
@pytest.mark.parametrize("heads, n, high", ATTENTIONS)
@pytest.mark.parametrize("step", attention_bf16.STEPS, ids=lambda step: step.name)
def test_flash_attention_is_right(step, heads, n, high):
    q, k, v, out = (
        *(random((heads, n, 64), seed, h) for seed, h in ((1, high), (2, high), (3, 1))),
        np.full((heads, n, 64), NAN, np.uint16),
    )
    step.run(n, *map(words, (q, k, v, out)))
    scores = exact(q) @ exact(k).swapaxes(1, 2) / 8
    powers = np.exp(scores - scores.max(axis=2, keepdims=True))
    want = powers @ exact(v) / powers.sum(axis=2, keepdims=True)
    assert (np.abs(exact(out) - want) <= EPSILON * (1 + np.abs(want))).all()


@pytest.mark.parametrize(
    "module, cases", ((sgemm_ladder, "hgemm_cases"), (attention, "bf16_cases"))
)
def test_cases_have_a_variant_for_each_step(module, cases, monkeypatch):
    monkeypatch.setenv("WARPWISE_BACKEND", "simulator")  # which in_simulator sets, to be set back
    steps = hgemm.STEPS if module is sgemm_ladder else attention_bf16.STEPS
    for case in getattr(module, cases)(in_simulator()):
        assert [variant.name for variant in case.variants] == [step.name for step in steps]
        assert case.flops and case.bytes and case.want

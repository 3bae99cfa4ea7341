"""Fragments of tensor cores in another order are named of a wrong result, never of a right one.

Mistakes with their twins are in ``chapters/mistakes/fragment_orders``, tested with the others."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.kernels import attention_bf16, hgemm
from warpwise.kernels.bfloat16 import from_bfloat16, pack_bfloat16, to_bfloat16
from warpwise.kernels.tensor_core import ldmatrix_x4_trans, mma_bf16, mma_tf32
from warpwise.labs import Launch, Out
from warpwise.labs.fragments import misplaced
from warpwise.labs.fragments.orders import slots_of
from warpwise.labs.fragments.provenance import products_of
from warpwise.labs.judge import judge_launch
from warpwise.simt import as_kernel

RNG = np.random.default_rng


def words(rows: int, columns: int) -> np.ndarray:
    """Draw bfloat16 in words, flat, row by row."""
    return to_bfloat16(RNG(5).normal(size=(rows, columns)).astype(np.float32)).view("u4").ravel()


def kernel_of(step):
    return as_kernel(step.built[0].kernel)


# --- what is right ---


@pytest.mark.parametrize("number", range(4))
def test_the_products_of_the_hgemm_ladder_are_in_order(number):
    n, k, threads = 256, 64, (32, 256, 128, 256)[number]
    grid = [(n // 8, 128 // 16), 2, 2, 1][number]
    args = [words(128, k), words(k, n), np.zeros(128 * n // 2, np.uint32), np.uint32(n)]
    launch = kernel_of(hgemm.STEPS[number]), grid, threads, [*args, np.uint32(k)]
    assert misplaced(*launch) is None
    assert all((one.a >= 0).all() and (one.b >= 0).all() for one in products_of(*launch))


@pytest.mark.parametrize("number", range(3))
def test_those_of_attention_are_in_order_though_the_weights_are_computed(number):
    n, rows, threads = 128, (16, 64, 128)[number], (32, 128, 128)[number]
    parts = [words(n, 64) for _ in range(3)]
    args = [*parts, np.zeros(n * 32, np.uint32), np.uint32(n)]
    launch = kernel_of(attention_bf16.STEPS[number]), (n // rows, 1), threads, args
    assert misplaced(*launch) is None
    known = [(one.a >= 0).all() for one in products_of(*launch) if (one.b >= 0).all()]
    assert any(known) and not all(known)  # of the queries, and of the weights


@cuda.jit
def in_another_order(a, b, out):
    """Bring the depths of A and of B in another order, the same for both."""
    lane = cuda.threadIdx.x
    g, q, zero = lane // 4, lane % 4, np.float32(0)
    a0, a1, a2, a3 = a[g, 2 * q], a[g + 8, 2 * q], a[g, 2 * q + 1], a[g + 8, 2 * q + 1]
    b0, b1 = b[2 * q, g], b[2 * q + 1, g]
    c = mma_tf32(a0, a1, a2, a3, b0, b1, zero, zero, zero, zero)
    out[g, 2 * q], out[g, 2 * q + 1] = c[0], c[1]
    out[g + 8, 2 * q], out[g + 8, 2 * q + 1] = c[2], c[3]


def matrices():
    return [RNG(3).integers(-9, 9, s).astype(np.float32) for s in ((16, 8), (8, 8))]


def test_depths_that_are_in_the_same_other_order_are_not_named():
    a, b = matrices()
    out = np.zeros((16, 8), np.float32)
    trace(in_another_order, 1, 32, a, b, out)
    np.testing.assert_array_equal(out, a @ b)
    assert misplaced(as_kernel(in_another_order), 1, 32, [a, b, out]) is None


@cuda.jit
def of_computed_elements(a, b, out):
    """Multiply squares, which are elements of nothing, with registers in no order at all."""
    lane = cuda.threadIdx.x
    x, y, zero = a[lane // 2, lane % 8], b[lane % 8, lane // 4], np.float32(0)
    c = mma_tf32(x * x, x * x, x * x, x * x, y * y, y * y, zero, zero, zero, zero)
    out[lane // 2, lane % 8] = c[0]


@cuda.jit
def where_an_element_is_positive(a, b, out):
    """Choose by an element what is loaded, so that other elements are another program."""
    lane = cuda.threadIdx.x
    zero, x = np.float32(0), a[lane // 2, lane % 8]
    if a[0, 0] > zero:
        c = mma_tf32(x, x, x, x, b[0, 0], b[0, 0], zero, zero, zero, zero)
        x = c[0]
    out[lane // 2, lane % 8] = x


def test_of_computed_elements_nothing_is_said():
    a, b = matrices()
    out = np.zeros((16, 8), np.float32)
    assert misplaced(as_kernel(of_computed_elements), 1, 32, [a, b, out]) is None


def test_a_kernel_that_fails_on_labels_is_left_alone():
    a, b = matrices()
    a[0, 0] = 1
    out = np.zeros((16, 8), np.float32)
    misplaced(as_kernel(where_an_element_is_positive), 1, 32, [a, b, out])
    assert misplaced(as_kernel(in_another_order), 2000, 32, [a[:0], b, out]) is None


def test_no_argument_is_changed():
    a, b = matrices()
    given = [a.copy(), b.copy(), np.ones((16, 8), np.float32)]
    misplaced(as_kernel(in_another_order), 1, 32, given)
    for one, other in zip(given, (a, b, np.ones((16, 8))), strict=True):
        np.testing.assert_array_equal(one, other)


# --- slots ---


@pytest.mark.parametrize("parts", [1, 2])
def test_a_register_stands_for_what_the_instruction_says(parts):
    lane = np.arange(32)
    g, q, deep = lane // 4, lane % 4, 4 * parts
    for part in range(parts):
        for register, (rows, columns) in enumerate([(0, 0), (8, 0), (0, deep), (8, deep)]):
            of_a = slots_of("A", parts)[:, register, part]
            assert of_a.tolist() == np.stack([g + rows, parts * q + part + columns], 1).tolist()
        for register in range(2):
            of_b = slots_of("B", parts)[:, register, part]
            assert of_b.tolist() == np.stack([parts * q + part + deep * register, g], 1).tolist()


# --- what is said in a lab ---


@cuda.jit
def columns_that_are_off(a, b, out):
    """Bring columns 2 and 3 of A first, and 0 and 1 last: an order that has no name."""
    lane = cuda.threadIdx.x
    g, q, zero = lane // 4, 2 * (lane % 4), np.float32(0)
    p = (q + 2) % 8
    a0 = pack_bfloat16(a[g, p], a[g, p + 1])
    a1 = pack_bfloat16(a[g + 8, p], a[g + 8, p + 1])
    a2 = pack_bfloat16(a[g, p + 8], a[g, p + 9])
    a3 = pack_bfloat16(a[g + 8, p + 8], a[g + 8, p + 9])
    b0 = pack_bfloat16(b[q, g], b[q + 1, g])
    b1 = pack_bfloat16(b[q + 8, g], b[q + 9, g])
    c = mma_bf16(a0, a1, a2, a3, b0, b1, zero, zero, zero, zero)
    out[g, q], out[g, q + 1] = c[0], c[1]
    out[g + 8, q], out[g + 8, q + 1] = c[2], c[3]


@cuda.jit
def stored_elsewhere(a, b, out):
    """Have the fragments in order, and the results in wrong rows."""
    lane = cuda.threadIdx.x
    g, q, zero = lane // 4, 2 * (lane % 4), np.float32(0)
    a0 = pack_bfloat16(a[g, q], a[g, q + 1])
    a1 = pack_bfloat16(a[g + 8, q], a[g + 8, q + 1])
    a2 = pack_bfloat16(a[g, q + 8], a[g, q + 9])
    a3 = pack_bfloat16(a[g + 8, q + 8], a[g + 8, q + 9])
    b0 = pack_bfloat16(b[q, g], b[q + 1, g])
    b1 = pack_bfloat16(b[q + 8, g], b[q + 9, g])
    c = mma_bf16(a0, a1, a2, a3, b0, b1, zero, zero, zero, zero)
    out[g + 8, q], out[g + 8, q + 1] = c[0], c[1]
    out[g, q], out[g, q + 1] = c[2], c[3]


def told(kernel) -> str:
    """Return what a student reads of a wrong answer, without the advice."""
    a, b = (
        from_bfloat16(to_bfloat16(RNG(2).normal(size=s).astype(np.float32)))
        for s in ((16, 16), (16, 8))
    )
    launch = Launch("one tile", 1, 32, (a, b, Out((16, 8))), (a @ b,), rtol=1e-4, atol=1e-4)
    verdict = judge_launch(kernel, launch)
    assert not verdict.passed
    return verdict.detail


def test_a_wrong_result_is_told_of_the_fragment():
    text = told(columns_that_are_off)
    assert "has A in another order: lane 3 brings a[0, 0] and a[0, 1] in a0" in text
    assert "where row 0, columns 6 and 7 of A belong" in text


def test_what_to_try_is_how_registers_are_laid_out():
    a, b = np.ones((16, 16), np.float32), np.ones((16, 8), np.float32)
    out = np.zeros((16, 8), np.float32)
    found = misplaced(as_kernel(columns_that_are_off), 1, 32, [a, b, out])
    assert "a0 is row g, columns 2q and 2q + 1" in found.causes[0]


def test_a_wrong_result_of_fragments_in_order_is_told_something_else():
    assert "in another order" not in told(stored_elsewhere)


BY_TWO_WAYS = "with each 8 x 8 part of it transposed or with a1 and a2 exchanged"


@cuda.jit
def transposed_rows(a, b, out):
    """Load A, which lies by rows, as if it lay by columns."""
    tile = cuda.shared.array(128, np.uint32, alignment=16)
    lane = cuda.threadIdx.x
    for i in range(lane, 128, 32):
        tile[i] = a[i]
    cuda.syncwarp()
    a0, a1, a2, a3 = ldmatrix_x4_trans(tile, 8 * (lane % 16) + 4 * (lane // 16))
    b0, b1, zero = b[lane], b[lane + 32], np.float32(0)
    c = mma_bf16(a0, a1, a2, a3, b0, b1, zero, zero, zero, zero)
    out[lane] = c[0]


def test_what_two_mistakes_may_have_made_is_told_of_both_the_likelier_first():
    args = [words(16, 16), words(8, 16), np.zeros(32, np.float32)]
    found = misplaced(as_kernel(transposed_rows), 1, 32, args)
    assert f"has A in another order, {BY_TWO_WAYS}: lane 0 brings" in found.seen
    assert found.causes[0].startswith("ldmatrix gives") and found.causes[1].startswith("a1 is")

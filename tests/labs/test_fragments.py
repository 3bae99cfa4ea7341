"""Fragments of tensor cores in another order are named of a wrong result, never of a right one.

Mistakes with their twins are in ``chapters/mistakes/fragment_orders``, tested with the others."""

from __future__ import annotations

import re

import numpy as np
import pytest

from warpwise import cuda, hopper, trace
from warpwise.kernels import attention_bf16, hgemm
from warpwise.kernels.bfloat16 import from_bfloat16, pack_bfloat16, to_bfloat16
from warpwise.kernels.tensor_core import ldmatrix_x4, ldmatrix_x4_trans, mma_bf16, mma_tf32
from warpwise.labs import Launch, Out, fragments
from warpwise.labs.fragments import misplaced
from warpwise.labs.fragments.orders import slots_of
from warpwise.labs.fragments.provenance import Multiplied, products_of
from warpwise.labs.judge import judge_launch
from warpwise.simt import as_kernel, kernels_in

RNG = np.random.default_rng


def words(rows: int, columns: int) -> np.ndarray:
    """Draw bfloat16 in words, flat, row by row."""
    return to_bfloat16(RNG(5).normal(size=(rows, columns)).astype(np.float32)).view("u4").ravel()


def kernel_of(step):
    return as_kernel(step.built[0].kernel)


# --- what is right ---


def looked_at(monkeypatch, *launch) -> tuple[fragments.Misplaced | None, list[Multiplied]]:
    """Return what is misplaced in a launch, and the products that were looked at for it."""
    products = list(products_of(*launch))
    monkeypatch.setattr(fragments, "products_of", lambda *given: products)
    return misplaced(*launch), products


@pytest.mark.parametrize("number", range(4))
def test_the_products_of_the_hgemm_ladder_are_in_order(number, monkeypatch):
    n, k, threads = 256, 64, (32, 256, 128, 256)[number]
    grid = [(n // 8, 128 // 16), 2, 2, 1][number]
    args = [words(128, k), words(k, n), np.zeros(128 * n // 2, np.uint32), np.uint32(n)]
    launch = kernel_of(hgemm.STEPS[number]), grid, threads, [*args, np.uint32(k)]
    found, products = looked_at(monkeypatch, *launch)
    assert found is None
    assert all((one.a >= 0).all() and (one.b >= 0).all() for one in products)


@pytest.mark.parametrize("number", range(3))
def test_those_of_attention_are_in_order_though_the_weights_are_computed(number, monkeypatch):
    n, rows, threads = 128, (16, 64, 128)[number], (32, 128, 128)[number]
    parts = [words(n, 64) for _ in range(3)]
    args = [*parts, np.zeros(n * 32, np.uint32), np.uint32(n)]
    launch = kernel_of(attention_bf16.STEPS[number]), (n // rows, 1), threads, args
    found, products = looked_at(monkeypatch, *launch)
    assert found is None
    known = [(one.a >= 0).all() for one in products if (one.b >= 0).all()]
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


@cuda.jit
def of_one_element(a, b, out):
    """Multiply one element of a flat array in all places by one of another."""
    x, y, zero = a[0], b[0], np.float32(0)
    c = mma_tf32(x, x, x, x, y, y, zero, zero, zero, zero)
    out[cuda.threadIdx.x] = c[0]


def test_of_one_element_in_all_places_nothing_is_said():
    a, b = (one.ravel() for one in matrices())
    assert misplaced(as_kernel(of_one_element), 1, 32, [a, b, np.zeros(32, np.float32)]) is None


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


# --- swizzles ---


@cuda.jit
def swizzled_twice(a, b, out, written, read):
    """Multiply 16 x 64 by 64 x 8: a row of A has 8 chunks, moved where they are stored and read."""
    tile = cuda.shared.array(512, np.uint32, alignment=16)
    lane = cuda.threadIdx.x
    c0 = c1 = c2 = c3 = np.float32(0)
    for i in range(16):
        tile[32 * i + (lane ^ 4 * (i & written))] = a[32 * i + lane]
    cuda.syncwarp()
    for part in range(4):
        chunk = 2 * part + lane // 16 ^ lane & read
        a0, a1, a2, a3 = ldmatrix_x4(tile, 32 * (lane % 16) + 4 * chunk)
        at = 32 * (lane // 4) + 8 * part + lane % 4
        c0, c1, c2, c3 = mma_bf16(a0, a1, a2, a3, b[at], b[at + 4], c0, c1, c2, c3)
    out[lane // 4, lane % 4 * 2] = c0


def swizzled(written: int, read: int):
    args = [words(16, 64), words(8, 64), np.zeros((16, 8), np.float32), written, read]
    return misplaced(as_kernel(swizzled_twice), 1, 32, args)


@pytest.mark.parametrize("rows", [0, 1, 3, 7])
def test_the_same_swizzle_on_both_sides_is_none(rows):
    assert swizzled(rows, rows) is None


@pytest.mark.parametrize(
    ("pair", "lane", "brings"),
    [
        ((7, 0), 4, r"a\[36\] \(row 1, word 4\) in a0, .*: a\[32\] \(row 1, word 0\)"),
        ((7, 3), 16, r"a\[144\] \(row 4, word 16\) in a0, .*: a\[128\] \(row 4, word 0\)"),
        ((7, 1), 8, r"a\[72\] \(row 2, word 8\) in a0, .*: a\[64\] \(row 2, word 0\)"),
        ((3, 1), 8, r"a\[72\] \(row 2, word 8\) in a0, .*: a\[64\] \(row 2, word 0\)"),
    ],
)
def test_two_swizzles_are_told_with_what_they_bring_whichever_side_has_which(pair, lane, brings):
    one, other = (mask + 1 for mask in pair)
    for found in (swizzled(*pair), swizzled(*reversed(pair))):
        assert re.search(f"lane {lane} brings {brings}", found.seen)
        assert ("without the swizzle" in found.seen) == (other == 1)
        there = f"c ^ r % {other}" if other > 1 else "c"
        assert f"at c ^ r % {one} of its row, and the other at {there}" in found.causes[0]


# --- depths ---


@cuda.jit
def steps_of_k(a, b, out, of_a, of_b, steps):
    """Multiply ``steps`` times 16 of K, whose first words are so far apart in A and in B."""
    lane = cuda.threadIdx.x
    g, q = lane // 4, lane % 4
    c0 = c1 = c2 = c3 = np.float32(0)
    for s in range(steps):
        i, j = of_a * s + q, of_b * s + q
        a0, a1, a2, a3 = a[g, i], a[g + 8, i], a[g, i + 4], a[g + 8, i + 4]
        c0, c1, c2, c3 = mma_bf16(a0, a1, a2, a3, b[g, j], b[g, j + 4], c0, c1, c2, c3)
    out[g, 2 * q], out[g, 2 * q + 1] = c0, c1
    out[g + 8, 2 * q], out[g + 8, 2 * q + 1] = c2, c3


DEPTHS = {
    (8, 8, 4): "",
    (8, 0, 4): "columns 16 to 31 of A by rows 0 to 15 of B: it begins with a[0, 8] and b[0, 0]",
    (0, 8, 4): "columns 0 to 15 of A by rows 16 to 31 of B: it begins with a[0, 0] and b[0, 8]",
    (0, 0, 4): "of the 64 columns of A and rows of B are multiplied: "
    "0 to 15 more than once, 16 to 63 never",
    (16, 16, 2): "are multiplied: 16 to 31, 48 to 63 never",
    (4, 4, 7): "are multiplied: 8 to 55 more than once",
    (8, 8, 3): "are multiplied: 48 to 63 never",
}


@pytest.mark.parametrize("steps", DEPTHS)
def test_depths_that_do_not_meet_or_not_once_are_told(steps):
    a, b = words(16, 64).reshape(16, 32), words(8, 64).reshape(8, 32)
    out = np.zeros((16, 8), np.float32)
    found = misplaced(as_kernel(steps_of_k), 1, 32, [a, b, out, *steps])
    assert (found is None) == (not DEPTHS[steps])
    assert found is None or DEPTHS[steps] in found.seen


def test_a_product_that_two_warps_make_is_multiplied_once():
    a, b = words(16, 64).reshape(16, 32), words(8, 64).reshape(8, 32)
    args = [a, b, np.zeros((16, 8), np.float32), 8, 8, 4]
    assert misplaced(as_kernel(steps_of_k), 3, 32, args) is None


def test_of_products_that_were_not_all_looked_at_none_is_missing(monkeypatch):
    a, b = words(16, 64).reshape(16, 32), words(8, 64).reshape(8, 32)
    args = [a, b, np.zeros((16, 8), np.float32), 8, 8, 3]
    assert misplaced(as_kernel(steps_of_k), 1, 32, args) is not None
    monkeypatch.setattr("warpwise.labs.fragments.depths.MOST_PRODUCTS", 2)
    assert misplaced(as_kernel(steps_of_k), 1, 32, args) is None


@pytest.mark.threads
def test_the_depths_of_a_warpgroups_products_are_known_too():
    """The kernels of the producer and the consumer, and A that is moved along alone."""
    right = kernels_in(WARPGROUP.format(of_b="of_b + 2 * k"))["product"]
    wrong = kernels_in(WARPGROUP.format(of_b="of_b"))["product"]
    a, b = (RNG(4).uniform(-1, 1, (rows, 32)).astype(np.float16) for rows in (64, 16))
    maps = hopper.tensor_map(a, (64, 32), 64), hopper.tensor_map(b, (16, 32), 64)
    args = [*maps, np.zeros((64, 16), np.float32)]
    assert len(list(products_of(right, 1, 128, args))) == 8
    assert misplaced(right, 1, 128, args) is None
    found = misplaced(wrong, 1, 128, args)
    assert "multiplies columns 16 to 31 of A by rows 0 to 15 of B" in found.seen


WARPGROUP = """
import numpy as np
from warpwise import cuda, hopper

@cuda.jit
def product(a_map, b_map, out):
    tile_a = cuda.shared.array((64, 32), np.float16, alignment=512)
    tile_b = cuda.shared.array((16, 32), np.float16, alignment=512)
    bars, t = cuda.shared.array(1, np.uint64), cuda.threadIdx.x
    sums = cuda.local.array(8, np.float32)
    if t == 0:
        hopper.mbarrier_init(bars, 0, 1)
    cuda.syncthreads()
    if t == 0:
        hopper.mbarrier_arrive_expect_tx(bars, 0, 80 * 64)
        hopper.tma_load(tile_a, a_map, (0, 0), bars, 0)
        hopper.tma_load(tile_b, b_map, (0, 0), bars, 0)
    while not hopper.mbarrier_try_wait(bars, 0, 0):
        pass
    of_a, of_b = hopper.wgmma_descriptor(tile_a, 64), hopper.wgmma_descriptor(tile_b, 64)
    hopper.wgmma_fence()
    for k in range(2):
        hopper.wgmma_mma_async(sums, of_a + 2 * k, {of_b}, k > 0)
    hopper.wgmma_commit_group()
    hopper.wgmma_wait_group(0)
    out[t // 2, t % 2] = sums[0]
"""


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


def test_of_depths_that_do_not_meet_no_change_of_the_text_is_looked_for(monkeypatch):
    """The mistake itself is seen, so a student gets it at once."""

    def repaired(*given):
        raise AssertionError

    monkeypatch.setattr("warpwise.labs.repairs.repair", repaired)
    a, b = words(16, 64).reshape(16, 32), words(8, 64).reshape(8, 32)
    args = (a, b, Out((16, 8)), 8, 0, 4)
    launch = Launch("one tile", 1, 32, args, (np.full((16, 8), 3, np.float32),))
    verdict = judge_launch(steps_of_k, launch)
    assert "columns 16 to 31 of A by rows 0 to 15 of B" in verdict.detail
    assert verdict.advice.startswith("a column of A goes with the row of B of the same number")


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

"""What a wrong kernel does on ones and zeros: how many terms its sums have, and should have."""

from __future__ import annotations

import math

import numpy as np
import pytest

from warpwise import cuda
from warpwise.labs import Call, Launch, Out
from warpwise.labs.plain_inputs import counted

RNG = np.random.default_rng(22)


def product(a, b):
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)


def product_launch(m: int, k: int, n: int, reference=product) -> Launch:
    a, b = RNG.random((m, k), dtype=np.float32), RNG.random((k, n), dtype=np.float32)
    blocks = -(-n // 4), -(-m // 4)
    args = (a, b, Out((m, n)))
    return Launch("", blocks, (4, 4), args, (product(a, b),), rtol=1e-5, reference=reference)


@cuda.jit
def whole_tiles_only(a, b, c):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1] // 16 * 16):
            total += a[row, k] * b[k, col]
        c[row, col] = total


@cuda.jit
def the_last_one_twice(a, b, c):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = a[row, a.shape[1] - 1] * b[a.shape[1] - 1, col]
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total


@cuda.jit
def b_transposed(a, b, c):
    col, row = cuda.grid(2)
    total = np.float32(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[col, k]
    c[row, col] = total


def test_products_that_are_missing_are_counted():
    told = counted(whole_tiles_only, product_launch(6, 41, 5)).told
    assert told == "with ones everywhere c[0, 0] should be 41 and is 32: 9 terms are missing"


def test_one_too_many_is_counted():
    told = counted(the_last_one_twice, product_launch(6, 41, 5)).told
    assert told == "with ones everywhere c[0, 0] should be 41 and is 42: 1 term too many"


def test_as_many_terms_as_there_should_be_are_other_ones():
    told = counted(b_transposed, product_launch(8, 8, 8)).told
    assert told.startswith("with ones everywhere c is right: each sum has as many terms as it")


def test_without_a_reference_nothing_is_known():
    assert counted(whole_tiles_only, product_launch(6, 41, 5, reference=None)).told == ""


def test_ones_tell_whether_the_result_is_right_where_all_terms_are_alike():
    found = [
        counted(kernel, product_launch(8, 8, 8)).right
        for kernel in (b_transposed, the_last_one_twice)
    ]
    assert found == [True, False]
    assert counted(b_transposed, product_launch(8, 8, 8, reference=None)).right is None


def test_a_sum_of_two_is_no_count():
    assert counted(whole_tiles_only, product_launch(4, 2, 4)).told == ""


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return (e / e.sum(1, keepdims=True)).astype(np.float32)


def of_too_few(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e[:, :-3].sum(1, keepdims=True)


def of_all_and_the_masked(x):
    e = np.where(np.isfinite(x), np.exp(x - x.max(1, keepdims=True)), 1)
    return e / e.sum(1, keepdims=True)


def log_sum_exp(x):
    return np.logaddexp.reduce(x, axis=1).astype(np.float32)


def half_of_it(x):
    return np.log(np.exp(x[:, ::2]).sum(1)).astype(np.float32)


def maximum_only(x):
    return x.max(1)


X = RNG.normal(size=(4, 20)).astype(np.float32)
MASKED = np.where(np.arange(20) % 5 == 3, -np.inf, X).astype(np.float32)


@pytest.mark.parametrize(
    ("function", "x", "reference", "told"),
    [
        (
            of_too_few,
            X,
            softmax,
            "with ones everywhere of_too_few(...)[0, 0] should be 1 / 20 and is 1 / 17: "
            "3 terms are missing",
        ),
        (
            half_of_it,
            X,
            log_sum_exp,
            "with zeros everywhere half_of_it(...)[0] should be log(20) and is log(10): "
            "10 terms are missing",
        ),
        (
            maximum_only,
            X,
            log_sum_exp,
            "with zeros everywhere maximum_only(...)[0] should be log(20) and is log(1): "
            "19 terms are missing",
        ),
        (np.negative, X, softmax, ""),
    ],
)
def test_sums_below_and_within_a_logarithm_are_counted(function, x, reference, told: str):
    call = Call("", (x,), want=reference(x), rtol=1e-5, reference=reference)
    assert counted(function, call).told == told


def test_what_is_masked_stays_masked():
    call = Call("", (MASKED,), want=log_sum_exp(MASKED), rtol=1e-5, reference=log_sum_exp)
    with np.errstate(all="ignore"):
        told = counted(lambda x: np.log(np.where(np.isfinite(x), np.exp(x), 1).sum(1)), call).told
    assert "should be log(16) and is log(20): 4 terms too many" in told


def test_numbers_that_only_look_like_counts_are_none():
    def scaled(x):
        return (math.pi * x.sum(1)).astype(np.float32)

    call = Call("", (X,), want=scaled(X), rtol=1e-5, reference=scaled)
    assert counted(lambda x: math.pi * x[:, 1:].sum(1), call).told == ""


def test_a_function_that_raises_on_plain_inputs_says_nothing():
    def divided(x):
        return 1 // int(x[0, 0] != x[0, 1]) * x.sum(1)

    call = Call("", (X,), want=X.sum(1), rtol=1e-5, reference=lambda x: x.sum(1))
    assert counted(divided, call).told == ""

"""What sets a wrong case apart from those that are right: small inputs, far ones, a tail."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise.labs.patterns import Failure, find

RNG = np.random.default_rng(5)
ROWS = RNG.normal(size=(6, 64)).astype(np.float32)


def found(x, *before, words=()):
    """Return what is seen and advised of a result that is wrong by noise, for an input ``x``."""
    want = RNG.normal(size=x.shape)
    got = want * RNG.uniform(1.5, 9, x.shape)
    inputs = [{"x": values} for values in before]
    failure = Failure(
        "y", got, want, got != want, {"x": x}, before=tuple(inputs), words=frozenset(words)
    )
    pattern = find(failure)
    return "\n".join((pattern.seen, *pattern.causes)) if pattern else ""


def test_small_numbers_point_to_a_small_constant():
    told = found(ROWS / 100, ROWS, 2 * ROWS)
    size = np.sqrt((ROWS.astype(float) ** 2).mean())
    assert f"x are about {size / 100:.2g} here, and {size:.2g} or more in the cases" in told
    assert "a small constant that is added, such as eps" in told


def test_numbers_far_from_0_point_to_lost_digits():
    told = found(ROWS + 10_000, ROWS, ROWS)
    assert f"x lies about {float(f'{10_000 / ROWS.std():.2g}'):,.0f} times as far from 0" in told
    assert "a mean of squares and the square of a mean" in told


@pytest.mark.parametrize(
    ("x", "before"),
    [
        (ROWS / 100, ()),  # nothing is known to be right
        (ROWS / 100, (ROWS, ROWS / 100)),  # small ones were right, too
        (ROWS + 10_000, (ROWS, ROWS + 9_000)),
        (ROWS / 5, (ROWS,)),  # not much smaller
        (ROWS.astype(np.int64), (100 * ROWS,)),
    ],
)
def test_inputs_like_those_that_are_right_tell_nothing(x, before):
    told = found(x, *before)
    assert "small constant" not in told and "digits are lost" not in told


def test_a_length_that_is_no_multiple_is_named_by_its_axis():
    told = found(RNG.normal(size=(5, 300)), ROWS[:, :32], RNG.normal(size=(6, 256)))
    assert "the cases where x.shape[1] is a multiple of 32 are right" in told
    assert "where it is 300, is not" in told and "last tile, block or row" in told
    assert "as if all had as many" not in told


def test_of_one_length_nothing_is_told_of_others():
    told = found(RNG.normal(size=(5, 300)), RNG.normal(size=(6, 256)))
    assert "right where x.shape[1] is 256, and wrong here, where it is 300" in told
    assert "multiple" not in told


def test_means_may_be_of_parts_that_differ():
    told = found(RNG.normal(size=(5, 300)), RNG.normal(size=(6, 256)), words=("means",))
    assert "put together as if all had as many" in told


def test_lengths_like_those_that_are_right_tell_nothing():
    assert found(RNG.normal(size=(5, 300)), RNG.normal(size=(5, 300))) == ""

"""Numbers in messages: the digits of their type, and bit patterns in base 16."""

import numpy as np
import pytest

from warpwise.labs.calls import judge_call
from warpwise.labs.digits import all_digits, digits
from warpwise.labs.exercise import Call

FLOATS = np.random.default_rng(3).normal(size=200).astype(np.float32) * np.float32(1e3)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.float32(0.1), "0.1"),
        (np.float32(2), "2"),
        (np.float32(2**24), "16777216"),
        (np.float32(1e-8), "1e-08"),
        (np.float32(-np.inf), "-inf"),
        (np.float16(0.1), "0.1"),
        (np.float64(0.1), "0.1"),
        (np.float64(1 / 3), "0.333333333"),
        (np.int8(-3), "-3"),
        (np.uint8(200), "200"),
        (np.uint32(0x3F804000), "0x3f804000"),
        (3, "3"),
        (np.bool_(True), "True"),
    ],
    ids=repr,
)
def test_a_number_has_the_digits_of_its_type(value, shown):
    assert digits(value) == shown


@pytest.mark.parametrize("numbers", [FLOATS, FLOATS * np.float32(1e-9), FLOATS * np.float32(1e9)])
def test_digits_tell_a_float32_from_its_neighbours(numbers):
    for number in numbers:
        assert np.float32(digits(number)) == number


def test_an_array_is_shown_by_its_axes():
    assert all_digits(np.array([[1, 2]], np.int8)) == "[[1, 2]]"
    assert all_digits(np.array([[0.1, 2], [3, 4]], np.float32)) == "[[0.1, 2.0], [3.0, 4.0]]"


def scaled(x):
    return x * np.float32(0.2)


def test_no_message_shows_digits_that_a_float32_lacks():
    call = Call("", (np.array([0.1, 0.7, 1.3, 1.9, 2.3, 2.9], np.float32),), want=FLOATS[:6])
    told = judge_call(scaled, call).detail
    assert "[0.1, 0.7, 1.3, 1.9, 2.3, 2.9]" in told
    assert f"[0] should be {digits(FLOATS[0])} and is 0.02" in told

"""The other inputs for which a wrong result would be right, and results that none explains."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from warpwise.labs import Call
from warpwise.labs.as_if import explained
from warpwise.labs.looked import looked

RNG = np.random.default_rng(23)
Q, K, V = RNG.normal(size=(3, 9, 9)).astype(np.float32)
SCALE = np.float32(0.4)


def attention(q, k, v, scale, window):
    s = scale * (q.astype(np.float64) @ k.T)
    gap = np.arange(len(q))[:, None] - np.arange(len(k))
    e = np.where((gap >= 0) & (gap < window), np.exp(s - s.max(1, keepdims=True)), 0)
    total = e.sum(1, keepdims=True)
    return (e / np.where(total > 0, total, 1) @ v).astype(np.float32)


def call(reference=attention) -> Call:
    args = (Q, K, V, SCALE, 4)
    return Call("", args, want=attention(*args), rtol=1e-4, atol=1e-5, reference=reference)


WRONG = {
    "scale were 1": lambda q, k, v, scale, window: attention(q, k, v, 1, window),
    "scale were 1 / sqrt(q.shape[0])": lambda q, k, v, scale, window: attention(
        q, k, v, 1 / math.sqrt(9), window
    ),
    "scale were scale * scale": lambda q, k, v, scale, window: attention(
        q, k, v, scale * scale, window
    ),
    "window were 5, not 4": lambda q, k, v, scale, window: attention(q, k, v, scale, window + 1),
    "k were transposed": lambda q, k, v, scale, window: attention(q, k.T, v, scale, window),
    "k and v were exchanged": lambda q, k, v, scale, window: attention(q, v, k, scale, window),
    "k stood where v should": lambda q, k, v, scale, window: attention(q, k, k, scale, window),
    "q were all zeros": lambda q, k, v, scale, window: attention(0 * q, k, v, scale, window),
}


@pytest.mark.parametrize("told", WRONG)
def test_the_input_that_would_make_it_right_is_named(told: str):
    assert explained(WRONG[told], call()) == f"if {told}, this <lambda>(...) would be right"


@pytest.mark.parametrize(
    "function",
    [
        lambda q, k, v, scale, window: attention(q, k, v, 1.3 * scale, window),
        lambda q, k, v, scale, window: attention(q, k, v, scale, window)[:-1],
        attention,
        lambda q, k, v, scale, window: 0 * v,
        lambda *given: 1 / 0,
        lambda *given: sys.exit(),
    ],
)
def test_nothing_is_said_of_what_no_other_input_explains(function):
    assert explained(function, call()) == ""


def test_without_a_reference_nothing_is_known():
    assert explained(WRONG["scale were 1"], call(reference=None)) == ""


def test_all_that_is_found_stands_in_sentences():
    found = looked(WRONG["window were 5, not 4"], call(), seconds=100)
    assert found.difference is not None and "should not" in found.difference.say()
    last = "If window were 5, not 4, this <lambda>(...) would be right"
    assert found.told == f"{found.difference.say()}. {last}"


def test_nothing_is_looked_for_without_time():
    assert looked(WRONG["scale were 1"], call(), seconds=0).told == ""

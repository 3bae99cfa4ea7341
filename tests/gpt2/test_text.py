"""Batches of the text that ships, and what a trained model writes."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from support.gpt2_reference import adamw, loss_and_gradient

from warpwise.errors import LaunchError
from warpwise.gpt2.config import MINIATURE, initial
from warpwise.gpt2.model import GPT2
from warpwise.gpt2.train import TEXT, batches, written

BYTES = TEXT.read_bytes()


def test_the_text_is_what_it_is_said_to_be():
    """The first kilobyte of ``input.txt`` of karpathy/char-rnn, which begins with Coriolanus."""
    assert BYTES.startswith(b"First Citizen:\nBefore we proceed any further, hear me speak.\n")
    assert hashlib.sha256(BYTES).hexdigest() == SHA256


SHA256 = "dd95711302202f44363bd040cc21b09bb365a3dc2c979646f1555ca138f878c0"


def test_batches_come_in_turn_and_targets_follow_tokens():
    model = GPT2(MINIATURE, initial(MINIATURE))
    found = batches(BYTES, model, 2)
    first, second, third = (next(found) for _ in range(3))
    assert first[0].tobytes() == BYTES[:128] and first[1].tobytes() == BYTES[1:129]
    assert second[0].tobytes() == BYTES[128:256] and second[0].shape == (4, 32)
    assert np.array_equal(third[0], first[0])


def test_a_text_that_is_too_short_is_named():
    model = GPT2(MINIATURE, initial(MINIATURE))
    with pytest.raises(LaunchError, match="the text needs 1,025 bytes, and has 1,000"):
        batches(BYTES, model, 8)


@pytest.mark.slow
def test_after_fifty_steps_words_come_where_noise_was():
    """Trained in NumPy, which is faster; written by the kernels."""
    parameters = initial(MINIATURE)
    assert written(GPT2(MINIATURE, parameters), b"F", 8) != BYTES[1:9]
    mean, square = np.zeros_like(parameters), np.zeros_like(parameters)
    batch = next(batches(BYTES, GPT2(MINIATURE, parameters)))
    for number in range(1, 51):
        _, gradient, _ = loss_and_gradient(MINIATURE, parameters, *batch)
        adamw(parameters, gradient, mean, square, number)
    model = GPT2(MINIATURE, parameters)
    assert written(model, b"F", 34) == BYTES[1:35]  # beyond one row of positions
    assert written(model, b"F", 4, seed=1, heat=100) != BYTES[1:5]  # nearly even odds

"""Batches of the text that ships, and what a trained model writes."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from support.gpt2_reference import adamw, loss_and_gradient

from warpwise.errors import LaunchError
from warpwise.gpt2.config import MINIATURE, Config, initial
from warpwise.gpt2.model import GPT2
from warpwise.gpt2.train import TEXT, batches, written

BYTES = TEXT.read_bytes()
FEW = Config(positions=16, vocabulary=100, layers=1, heads=2, channels=32, padded=112)


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


def test_a_byte_that_is_no_token_is_named():
    model = GPT2(FEW, initial(FEW), batch=1)
    with pytest.raises(LaunchError, match=r"^105 is no token: the model's are below 100$"):
        batches(BYTES, model)
    assert next(batches(b"A" * 17 + b"i", model))[1].max() == 65  # beyond the batch


def test_without_heat_the_likeliest_byte_is_written():
    parameters = initial(FEW)
    model = GPT2(FEW, parameters, batch=1)
    window = np.full((1, 16), 65, np.int32)
    _, _, logits = loss_and_gradient(FEW, parameters, window, window)
    first = int(logits.reshape(16, -1)[0, :100].argmax())
    assert {written(model, b"A", 1, seed, heat=0) for seed in range(3)} == {bytes([first])}
    for heat in (-1, float("nan")):
        with pytest.raises(LaunchError, match=f"^heat must be at least 0, and is {heat}$"):
            written(model, b"A", 1, heat=heat)


def test_nothing_is_drawn_from_what_is_no_number():
    model = GPT2(FEW, np.full(FEW.parameters, np.nan), batch=1)
    with pytest.raises(LaunchError, match="no longer numbers: try a smaller learning rate"):
        written(model, b"A", 1)


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

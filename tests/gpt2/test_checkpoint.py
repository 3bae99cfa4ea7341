"""llm.c's files: written here byte by byte as its ``train_gpt2.py`` does, and read back."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from support.gpt2_reference import loss_and_gradient

from warpwise.errors import LaunchError
from warpwise.gpt2.checkpoint import read_model, write_model
from warpwise.gpt2.config import MINIATURE, Config, initial
from warpwise.gpt2.model import GPT2
from warpwise.gpt2.train import run
from warpwise.kernels.bfloat16 import to_bfloat16
from warpwise.measure.gpt2.debug_state import State, read_state, write_state

SMALL = Config(positions=16, vocabulary=40, layers=2, heads=2, channels=32, padded=48)
# The tensors as llm.c orders them, each for all layers, with their sizes in channels.
ORDER = "wte wpe ln1w ln1b qkvw qkvb attprojw attprojb ln2w ln2b fcw fcb fcprojw fcprojb lnfw lnfb"


def header(*numbers: int) -> bytes:
    return struct.pack("<256i", *numbers, *[0] * (256 - len(numbers)))


def model_file(flat: np.ndarray, version: int = 3) -> bytes:
    head = header(20240326, version, 16, 40, 2, 2, 32, 48)
    if version == 3:
        return head + struct.pack(f"<{flat.size}f", *flat)
    return head + struct.pack(f"<{flat.size}H", *to_bfloat16(flat))


def state_file(x, y, logits, loss: float, gradient) -> bytes:
    head = header(20240327, 2, *x.shape)
    tokens = struct.pack(f"<{2 * x.size}i", *x.ravel(), *y.ravel())
    floats = (*logits.ravel(), loss, *gradient)
    return head + tokens + struct.pack(f"<{len(floats)}f", *floats)


def test_tensors_lie_in_the_order_of_llm_c():
    assert list(SMALL.shapes) == ORDER.split()
    c, n = 32, 2
    matrices = 3 * c * c + c * c + 4 * c * c + 4 * c * c
    rows = 2 * c + 3 * c + c + 2 * c + 4 * c + c
    assert SMALL.parameters == 48 * c + 16 * c + n * (matrices + rows) + 2 * c
    assert MINIATURE.parameters == 118_528
    assert Config(1024, 50257, 12, 12, 768, 50304).parameters == 124_475_904


def test_a_model_goes_to_a_file_and_back(tmp_path: Path):
    flat, path = initial(SMALL), tmp_path / "model.bin"
    path.write_bytes(model_file(flat))
    config, found = read_model(path)
    assert config == SMALL and np.array_equal(found, flat) and found.dtype == np.float32
    write_model(tmp_path / "again.bin", config, found)
    assert (tmp_path / "again.bin").read_bytes() == path.read_bytes()


def test_bfloat16_is_read_as_float32(tmp_path: Path):
    flat, path = initial(SMALL), tmp_path / "model.bin"
    path.write_bytes(model_file(flat, version=5))
    config, found = read_model(path)
    assert config == SMALL and found.dtype == np.float32
    assert 0 < np.abs(found - flat).max() < 2**-8 * np.abs(flat).max()


@pytest.mark.slow
def test_a_debug_state_is_what_a_model_computes(tmp_path: Path):
    """As ``test_gpt2.cu`` compares float32: logits within 1e-3, the loss within 1e-5, gradients
    within 1e-6 and some of the number itself."""
    flat, rng = initial(SMALL), np.random.default_rng(2)
    x, y = rng.integers(0, 40, (2, 2, 16))
    loss, gradient, logits = loss_and_gradient(SMALL, flat.astype(float), x, y)
    path = tmp_path / "state.bin"
    path.write_bytes(state_file(x, y, logits, loss, gradient))
    state = read_state(path, SMALL)
    assert np.array_equal(state.tokens, x) and np.array_equal(state.targets, y)
    assert state.logits.shape == (2, 16, 40)

    model = GPT2(SMALL, flat, batch=2)
    model.set_batch(state.tokens, state.targets)
    run(model.forward)
    found = model.acts["logits"].copy_to_host().reshape(2, 16, 48)[..., :40]
    assert np.abs(found - state.logits).max() < 1e-3
    run(model.backward)
    assert model.loss() == pytest.approx(state.loss, abs=1e-5)
    got = model.flat_gradient.copy_to_host()
    assert np.allclose(got, state.gradient, rtol=1e-3, atol=1e-6)

    write_state(tmp_path / "again.bin", state)
    assert (tmp_path / "again.bin").read_bytes() == path.read_bytes()
    own = State(x, y, found, model.loss(), got)
    write_state(path, own)
    back = read_state(path, SMALL)
    assert back.loss == own.loss and np.array_equal(back.gradient, got)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "begins with 0 and 0, not 20240326 and 3 or 5"),
        (header(20240327, 2), "begins with 20240327 and 2, not 20240326 and 3 or 5"),
        (header(20240326, 4), "begins with 20240326 and 4"),
        (header(20240326, 3, 16, 40, 2, 2, 32, 48), "needs 110,080 bytes after .* has 0"),
        (header(20240326, 3), ": each size must be at least 1"),
        (header(20240326, 5, 16, 40, 2, 0, 32, 48), ": each size must be at least 1"),
    ],
)
def test_a_file_that_is_no_model_is_named(content: bytes, what: str, tmp_path: Path):
    path = tmp_path / "model.bin"
    path.write_bytes(content)
    with pytest.raises(LaunchError, match=f"model.bin ?{what}"):
        read_model(path)


def test_only_all_of_a_models_parameters_are_written(tmp_path: Path):
    path = tmp_path / "model.bin"
    with pytest.raises(LaunchError, match=r"^27,519 parameters, not the 27,520 of Config"):
        write_model(path, SMALL, initial(SMALL)[1:])
    assert not path.exists()


def test_a_state_of_another_model_is_named(tmp_path: Path):
    flat, path = initial(SMALL), tmp_path / "state.bin"
    x = np.zeros((1, 16), np.int64)
    path.write_bytes(state_file(x, x, np.zeros((1, 16, 40)), 1.5, flat))
    assert read_state(path, SMALL).loss == 1.5
    with pytest.raises(LaunchError, match=r"state\.bin needs .* bytes after its header"):
        read_state(path, MINIATURE)
    with pytest.raises(LaunchError, match="begins with 20240327 and 2, not 20240326"):
        read_model(path)

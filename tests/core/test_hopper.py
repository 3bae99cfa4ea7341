"""The host's part of ``warpwise.hopper``: tensor maps, and the words that kernels find there."""

from __future__ import annotations

import re

import numpy as np
import pytest

from warpwise import cuda, hopper
from warpwise.errors import LaunchError, UnsupportedError
from warpwise.simt.compiler.language import LANGUAGE

X = np.zeros((64, 64), np.float32)
REFUSED = {
    "a swizzle that is none": ((X, (8, 8), 48), "a swizzle is 0, 32, 64 or 128 bytes"),
    "a box of other axes": ((X, (8,)), "a box with one length for each"),
    "a long box": ((X, (512, 8)), "1 to 256 elements"),
    "a box of halves": ((X, (8.5, 8)), "a tuple of whole numbers, one for each axis"),
    "a box that is a number": ((X, 64), "a tuple of whole numbers, one for each axis"),
    "a list": ((X.tolist(), (8, 8)), "NumPy's or one on the device"),
    "complex numbers": ((X.astype("c16"), (8, 8)), "of up to 8 bytes, not complex128"),
    "objects": ((X.astype(object), (8, 8)), "of up to 8 bytes, not object"),
    "a short row": ((X, (8, 3)), "a row of the box has 12 bytes"),
    "an odd step": ((np.zeros((8, 7), "f4"), (8, 4)), "step from row to row has 28 bytes"),
    "columns": ((X.T, (8, 8)), "one after another"),
    "a row beyond the swizzle": ((X, (8, 64), 128), "a row of the box has 256 bytes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_tma_does_not_take_is_refused(name: str):
    arguments, words = REFUSED[name]
    with pytest.raises(LaunchError, match=re.escape(words)):
        hopper.tensor_map(*arguments)


def test_a_tensor_map_takes_device_arrays():
    made = hopper.tensor_map(cuda.to_device(X), (8, 32), 128)
    assert (made.box, made.swizzle, hopper.bytes_of(made)) == ((8, 32), 128, 1024)


def test_the_module_has_the_words_of_the_language_and_no_others():
    words = [f"hopper.{word}" for word in dir(hopper) if word in hopper.WORDS]
    assert sorted(words) == sorted(w for w in LANGUAGE.words if w.startswith("hopper."))
    for word in words:
        assert repr(getattr(hopper, word.removeprefix("hopper."))) == word
    with pytest.raises(AttributeError, match="not a word of the model"):
        _ = hopper.wgmma


def test_a_word_outside_of_a_kernel_is_named_as_it_was_written():
    with pytest.raises(UnsupportedError, match=r"^hopper\.mbarrier_init means something inside of"):
        hopper.mbarrier_init(X, 0, 1)


def test_on_a_gpu_one_line_says_where_it_runs(monkeypatch):
    monkeypatch.setattr(hopper, "backend", lambda: "gpu")
    with pytest.raises(LaunchError, match="runs in the simulator only"):
        _ = hopper.tma_load

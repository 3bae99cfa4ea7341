"""The memory of training GPT-2, against the miniature's arrays, llm.c's sizes, and by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warpwise.errors import LaunchError
from warpwise.gpt2.config import MINIATURE, initial
from warpwise.gpt2.model import GPT2
from warpwise.model.training_memory import (
    GIB,
    LAYERS,
    ONCE,
    STATE,
    largest_batch,
    memory,
    total,
)
from warpwise.model.transformer import GPT2 as SIZES
from warpwise.model.transformer import Transformer

SMALL = SIZES["124M"]


def size(array) -> int:
    return array.size * array.dtype.itemsize


def named(buffers) -> dict[str, int]:
    return {one.name: one.size_bytes for one in buffers}


@pytest.mark.parametrize(("recomputed", "gib"), [(0, 24.8), (1, 20.7), (2, 18.5)])
def test_activations_of_64_texts_are_as_published(recomputed, gib):
    found = memory(SMALL, 64, recomputed=recomputed)
    assert round(total(found, LAYERS, ONCE) / GIB, 1) == gib


@pytest.mark.parametrize("itemsize", [2, 4])
def test_the_state_takes_16_bytes_a_parameter_either_way(itemsize):
    found = total(memory(SMALL, 1, itemsize), STATE)
    assert found == 16 * 124_475_904
    assert found / GIB == pytest.approx(1.855, abs=1e-3)


def test_the_cpu_version_keeps_as_many_floats_as_llm_c_says():
    """train_gpt2.c: 4 texts of 64 tokens, an array for each result."""
    short = replace(SMALL, positions=64)
    found = memory(short, 4, 4, flash=False, shared=False)
    assert total(found, LAYERS, ONCE) == 4 * 73_347_840


def test_the_miniature_keeps_for_its_layers_what_the_formula_says():
    model = GPT2(MINIATURE, initial(MINIATURE))
    found = memory(Transformer(2, 64, 4, 32, 256), 4, 4)
    kept = sum(size(array) for layer in model.kept for array in layer.values())
    assert total(found, LAYERS) == kept
    flats = model.flat, model.flat_gradient, model.flat_mean, model.flat_square
    assert total(found, STATE) == sum(map(size, flats))
    logits = size(model.acts["logits"]) + size(model.acts["losses"])
    assert named(found)["logits"] == logits


def test_recomputing_saves_gelu_and_then_layernorm():
    """Of 32 C bytes a token and layer 8 C, for one buffer of 8 C; then 4 C more."""
    none, gelu, both = (total(memory(SMALL, 1, recomputed=r), LAYERS, ONCE) for r in (0, 1, 2))
    unit = 1024 * 768
    assert none - gelu == (12 - 1) * 8 * unit
    assert gelu - both == 12 * 4 * unit


def test_scores_double_what_a_layer_keeps():
    flash, plain = (total(memory(SMALL, 1, flash=f), LAYERS) for f in (True, False))
    assert plain - flash == 12 * 1024 * (2 * 12 * 1024 - 4 * 12)
    assert plain / flash == pytest.approx(2, abs=0.01)


def test_the_largest_batch_fits_and_one_more_does_not():
    for gib in (16, 24, 80):
        most = largest_batch(SMALL, gib)
        assert total(memory(SMALL, most)) <= gib * GIB < total(memory(SMALL, most + 1))
    assert largest_batch(SIZES["1558M"], 16) == 0


def test_layernorms_of_the_largest_model():
    """llm.c, issue 478: 9,600 MiB for a batch of 32: two of 48 layers, and those are all."""
    of = SIZES["1558M"]
    found = named(memory(of, 32))["LayerNorm"] - 16 * 32 * 1024 * of.layers
    assert found == 9600 * 2**20


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"batch": 0}, "batch is 0; it can be 1 or more"),
        ({"itemsize": 8}, "itemsize is 8; it can be 2, 4"),
        ({"recomputed": -1}, "recomputed is -1; it can be 0, 1, 2"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        memory(SMALL, **{"batch": 1, **wrong})
    assert str(caught.value) == message

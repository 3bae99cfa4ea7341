"""The training memory widget without a browser, against the model; and refusals."""

from __future__ import annotations

import random
import re
from itertools import product

import pytest
from support.drawn_marks import Script

from warpwise.errors import LaunchError
from warpwise.model import training_memory as model
from warpwise.model.transformer import GPT2
from warpwise.views import training_memory as view

BUFFER = re.compile(
    r'<text class="" x="1" y="[\d.]+">([^<]+)</text><rect.*?<text class="end"[^>]*>([\d.]+)<'
)


@pytest.fixture(scope="module")
def script() -> Script:
    return Script("training_memory")


def cases() -> list[tuple]:
    """All models, formats, recomputations and both attentions, with a batch that is drawn."""
    draw = random.Random("training_memory")
    every = product(GPT2, "24", "012", (False, True))
    return [(*one, draw.randint(1, view.MOST), draw.choice(view.CARDS)) for one in every]


@pytest.mark.parametrize("case", cases(), ids=str)
def test_buffers_and_the_largest_batch_are_the_models(script, case):
    size, b, again, flash, batch, gib = case
    state = {"size": size, "batch": batch, "recomputed": again, "flash": flash}
    made = script.shown(view.explorer().data, state | {"itemsize": b, "gib": str(gib)}, 620)
    of, kind = GPT2[size], (int(b), int(again), flash)
    found = model.memory(of, batch, *kind)
    (_, every, fits), (_, acts, _), (_, most, _) = made["rows"]
    whole = model.total(found) / model.GIB
    near = {"abs": 0.00501, "rel": 1e-3}
    assert float(every.removesuffix(" GiB")) == pytest.approx(whole, **near)
    assert fits == ("fits" if whole <= gib else "does not fit")
    activations = model.total(found, model.LAYERS, model.ONCE) / model.GIB
    assert float(acts.removesuffix(" GiB")) == pytest.approx(activations, **near)
    assert most == model.largest_batch(of, gib, *kind)
    said = BUFFER.findall(made["picture"])
    assert [name for name, _ in said] == [one.name for one in found]
    for (_, shown), one in zip(said, found, strict=True):
        assert float(shown) == pytest.approx(one.size_bytes / model.GIB, **near)


def test_what_it_says_at_first():
    assert view.explorer().sentence == (
        "Training GPT-2, 124M, on 64 texts takes 26.70 GiB: 1.85 for parameters, gradients and "
        "Adam, and 24.84 for activations. It fits into 40 GiB, where the largest batch has 98 "
        "texts."
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"size": "124B"}, "size is '124B'; it can be 124M, 350M, 774M, 1558M"),
        ({"batch": 0}, "batch is 0; it can be 1 to 128"),
        ({"number": "fp8"}, "number is 'fp8'"),
        ({"recomputed": 3}, "recomputed is 3; it can be 0, 1, 2"),
        ({"gib": 81}, "gib is 81; it can be 24, 40, 80, 141, 180"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        view.explorer(**wrong)
    assert message in str(caught.value)

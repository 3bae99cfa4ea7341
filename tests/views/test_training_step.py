"""The training step widget without a browser, against the model; and refusals."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from itertools import product

import pytest
from support.drawn_marks import Script

from warpwise import devices
from warpwise.devices import DEVICES
from warpwise.errors import LaunchError
from warpwise.model import training_step as model
from warpwise.model.training_step import FUSIONS
from warpwise.model.transformer import GPT2
from warpwise.views import training_step as view

KIND = re.compile(
    r'<text class="" x="1" y="[\d.]+">([\w ]+)</text>.*?<text class="end"[^>]*>([\d.]+)<'
)


@pytest.fixture(scope="module")
def script() -> Script:
    return Script("training_step")


def cases() -> list[tuple]:
    """All sets of fusions, each on a device with a batch and a format that are drawn."""
    draw = random.Random("training_step")
    sets = product((False, True), repeat=len(FUSIONS))
    return [
        (draw.choice(DEVICES).name, draw.randint(1, view.MOST), draw.choice("24"), on)
        for on in sets
    ]


@pytest.mark.parametrize("case", cases(), ids=str)
def test_times_and_launches_are_the_models(script, case):
    name, batch, itemsize, chosen = case
    on = dict(zip(FUSIONS, chosen, strict=True))
    state = {"device": name, "batch": batch, "itemsize": itemsize, **on}
    made = script.shown(view.explorer().data, state, 620)
    device, fused = devices.known(name), [one for one in FUSIONS if on[one]]
    kernels = model.step(GPT2["124M"], batch, int(itemsize), fused)
    (_, least, unfused), (_, tokens, _), (_, launches, _) = made["rows"]
    seconds = model.seconds(kernels, device, int(itemsize))
    near = {"abs": 0.0501, "rel": 1e-3}
    assert float(least.removesuffix(" ms")) == pytest.approx(1e3 * seconds, **near)
    apart = model.step(GPT2["124M"], batch, int(itemsize), ())
    alone = 1e3 * model.seconds(apart, device, int(itemsize))
    assert float(unfused.removesuffix(" unfused")) == pytest.approx(alone, **near)
    assert int(tokens.replace(",", "")) == pytest.approx(1024 * batch / seconds, abs=0.51)
    assert int(launches.replace(",", "")) == model.launches(kernels)
    of_kind = defaultdict(float)
    for one in kernels:
        of_kind[one.kind] += 1e3 * one.launches * one.seconds(device, int(itemsize))
    said = {kind: float(time) for kind, time in KIND.findall(made["picture"])}
    assert set(of_kind) <= set(said)
    for kind, time in said.items():
        assert time == pytest.approx(of_kind[kind], **near), kind


def test_bars_of_what_binds_add_up_to_the_kind(script):
    opened = view.explorer("V100 SXM2", 8)
    made = script.shown(opened.data, opened.values, 620)
    kernels = model.step(GPT2["124M"], 8)
    device = devices.known("V100 SXM2")
    bound = defaultdict(float)
    for one in kernels:
        bound[one.binds(device)] += 1e3 * one.launches * one.seconds(device)
    (tensor, moved) = re.findall(r"of which ([\d.]+) are .*? and ([\d.]+) by bytes", made["text"])[
        0
    ]
    assert float(tensor) == pytest.approx(bound[model.PRODUCTS], abs=0.0501)
    assert float(moved) == pytest.approx(bound[model.BYTES], abs=0.0501)


def test_what_it_says_at_first():
    assert view.explorer().sentence == (
        "A step of GPT-2, 124M, on A100 40 GB SXM with 16,384 tokens: at least 51.9 ms, of which "
        "42.4 are bound by tensor cores and 9.54 by bytes; 358 launches. With no fusion it would "
        "be 94.9 ms. Modelled: every kernel at a peak."
    )


def test_each_fusion_has_kernels_of_its_own():
    for packed in view.explorer().data["kernels"].values():
        names = [one[0] for one in packed["same"]]
        assert len(names) == len(set(names)) and set(packed["fusions"]) == set(FUSIONS)
        assert all(apart for apart, _ in packed["fusions"].values())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"device": "B300"}, "B300"),
        ({"batch": 65}, "batch is 65; it can be 1 to 64"),
        ({"number": "fp8"}, "number is 'fp8'; it can be bfloat16, TF32"),
        ({"fused": ["loss"]}, "fused is 'loss'"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        view.explorer(**wrong)
    assert message in str(caught.value)

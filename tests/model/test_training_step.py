"""A step of GPT-2 by formula, against the miniature's traces, a profile, and published figures."""

from __future__ import annotations

from collections import defaultdict

import pytest

from warpwise.devices import A100, A100_40, B200, H100, H200
from warpwise.errors import LaunchError
from warpwise.gpt2.config import MINIATURE, initial
from warpwise.gpt2.model import GPT2, AdamW
from warpwise.gpt2.train import TEXT, batches, step, tracing
from warpwise.model import training_step as model
from warpwise.model.training_step import FUSIONS
from warpwise.model.transformer import GPT2 as SIZES
from warpwise.model.transformer import Transformer

SMALL = SIZES["124M"]
MINI = Transformer(2, 64, 4, 32, 256)
#: llm.c, pull request 378, before it: launches, and per cent of 140 ms at batch 24
PROFILE = {
    "product": (147, 63),
    "attention": (24, 13),
    "bias gradient": (48, 3.3),
    "LayerNorm": (25, None),
    "residual": (24, None),
    "LayerNorm backward": (25, 5.3),
    "GELU": (24, 5.2),
    "classifier": (1, 3.5),
    "encoder": (2, None),
    "AdamW": (1, None),
}
OF_PROFILE = {"bias", "classifier", "attention"}
#: bytes per second that the profile's times come to (facts worked out beside it)
RATES = {"LayerNorm backward": 505e9, "bias gradient": 873e9, "classifier": 1007e9}


def by_name(kernels) -> dict[str, model.Kernel]:
    return {one.name: one for one in kernels}


@pytest.fixture(scope="module")
def traced() -> dict[str, list]:
    """Return the metrics of the miniature's launches by name, as ``fc dX``; layers in a row."""
    gpt2, traces = GPT2(MINIATURE, initial(MINIATURE)), []
    step(gpt2, *next(batches(TEXT.read_bytes(), gpt2)), AdamW(), tracing(traces))
    launches = (*gpt2.forward, *gpt2.backward, *gpt2.update(AdamW()))
    found = defaultdict(list)
    for launch, one in zip(launches, traces, strict=True):
        found[launch.name].append(one.metrics)
    return found


def test_parameters_are_those_that_the_files_of_llm_c_have():
    assert SMALL.parameters == 124_475_904
    assert MINI.parameters == MINIATURE.parameters
    millions = {name: round(of.parameters / 1e6) for name, of in SIZES.items()}
    assert millions["774M"] == 774 and millions["1558M"] == 1558


def test_flop_of_a_token_are_as_counted_by_hand():
    """247 M forward in products and 37.7 M in dense attention; 854 M a step."""
    assert round(SMALL.product_flops / 1e6) == 247
    kernels = model.step(SMALL, 1, fused={"attention"} ^ set(FUSIONS))
    dense = sum(one.launches * one.flops for one in kernels if one.kind == "attention") / 1024
    assert dense / 3 / 1e6 == pytest.approx(37.7, abs=0.05)
    products = sum(one.launches * one.flops for one in kernels if one.kind == "product") / 1024
    assert (products + dense) / 1e6 == pytest.approx(854, abs=1)


def test_the_launches_are_those_of_the_profile():
    kernels = model.step(SMALL, 24, fused=OF_PROFILE, clip=False)
    assert model.launches(kernels) == 405
    found = defaultdict(int)
    for one in kernels:
        found[one.kind] += one.launches
    assert found == {kind: launches for kind, (launches, _) in PROFILE.items()}
    helpers = sum(one.helpers * one.launches for one in kernels)
    assert helpers == 48 + 24 + 12  # casts, attention's, halves of a product


@pytest.mark.parametrize("kind", [kind for kind, (_, share) in PROFILE.items() if share])
def test_the_profile_s_times_are_longer_than_the_least_and_less_than_four_times(kind):
    kernels = model.step(SMALL, 24, fused=OF_PROFILE, clip=False)
    least = model.seconds([one for one in kernels if one.kind == kind], A100_40)
    published = 0.140 * PROFILE[kind][1] / 100
    assert least < published < 4 * least


@pytest.mark.parametrize("kind", RATES)
def test_bytes_over_the_profile_s_times_give_its_rates(kind):
    kernels = model.step(SMALL, 24, fused=OF_PROFILE, clip=False)
    moved = sum(one.launches * one.bytes_moved for one in kernels if one.kind == kind)
    assert moved / (0.140 * PROFILE[kind][1] / 100) == pytest.approx(RATES[kind], rel=0.04)


@pytest.mark.parametrize("way", ["", " dX", " dW"])
@pytest.mark.parametrize("product", ["qkv", "attproj", "fc", "fcproj", "head"])
def test_products_move_and_do_what_the_miniature_s_traces_count(traced, product, way):
    """Least bytes to a bias' row; FLOP to a bias, a GELU or its slope of each result."""
    one = by_name(model.step(MINI, 4, 4))[product + way]
    found = traced[product + way]
    assert len(found) == one.launches
    rows = 4 * 4 * 64  # a bias of at most 4 C
    for m in found:
        assert 0 <= m.global_bytes_distinct - one.bytes_moved <= rows
        results = 128 * 256
        assert 0 <= m.flops - one.flops <= 25 * results


@pytest.mark.parametrize(
    ("name", "counted", "more"),
    [
        ("residual + LayerNorm", ("ln2", "lnf"), 2 * 64 * 4),  # weight and bias
        ("attention", ("attention",), 0),
        ("classifier", ("classifier",), 1024 + 32),
    ],
)
def test_other_kernels_move_what_the_traces_count(traced, name, counted, more):
    one = by_name(model.step(MINI, 4, 4))[name]
    for m in (m for key in counted for m in traced[key]):
        least = m.dram_bytes_moved[0]  # what is read and written counts twice
        assert 0 <= least - one.bytes_moved <= more


def test_the_miniature_launches_as_often(traced):
    found = {name: len(one) for name, one in traced.items()}
    kernels = by_name(model.step(MINI, 4, 4))
    assert sum(found[one] for one in ("ln1", "ln2", "lnf")) == 2 * MINI.layers + 1
    assert kernels["residual + LayerNorm"].launches + kernels["LayerNorm"].launches == 5
    biases = sum(found[f"{one} db"] for one in ("qkv", "attproj", "fc", "fcproj"))
    assert biases == kernels["bias gradient"].launches
    assert sum(found[f"{one} dX"] for one in ("ln1", "ln2", "lnf")) == 5
    assert kernels["LayerNorm backward"].launches == 5


def test_adamw_moves_28_bytes_a_parameter(traced):
    kernels = by_name(model.step(MINI, 4, 4))
    counted = sum(
        m.dram_bytes_moved[0]
        for key, found in traced.items()
        for m in found
        if key.startswith("adamw")
    )
    assert kernels["AdamW"].bytes_moved == 28 * MINI.parameters
    assert counted == pytest.approx(28 * MINI.parameters, rel=0.001)


def test_what_each_fusion_leaves_out():
    """In passes over the activations of a token and layer, of two bytes, by hand."""
    n, c, layers = 4096, 768, 12
    unit = n * c * layers * 2
    whole = sum(one.launches * one.bytes_moved for one in model.step(SMALL, 4))
    for fusion, passes in (("bias", 2 * 9), ("gelu", 20 - 8), ("residual", 2 * (5 - 4))):
        apart = model.step(SMALL, 4, fused=set(FUSIONS) - {fusion})
        moved = sum(one.launches * one.bytes_moved for one in apart)
        assert moved - whole == passes * unit, fusion
    apart = model.step(SMALL, 4, fused=set(FUSIONS) - {"classifier"})
    moved = sum(one.launches * one.bytes_moved for one in apart) - whole
    assert moved == 2 * n * 50_304 * 2 + 8 * n


def test_without_flash_scores_travel_eleven_times():
    flash, plain = (
        sum(one.launches * one.bytes_moved for one in model.step(SMALL, 2, fused=fused))
        for fused in (FUSIONS, set(FUSIONS) - {"attention"})
    )
    scores = 2 * 12 * 1024 * 1024 * 2
    assert plain - flash == 12 * (11 * scores - 2 * 4 * 2 * 1024 * 12)


def test_recomputing_adds_what_it_reads_and_writes():
    moved = [
        sum(one.launches * one.bytes_moved for one in model.step(SMALL, 1, recomputed=r))
        for r in model.RECOMPUTED
    ]
    unit = 1024 * 768 * 12 * 2
    assert [moved[1] - moved[0], moved[2] - moved[1]] == [8 * unit, 2 * 2 * unit]


def test_faster_devices_take_less_and_float32_more():
    kernels = model.step(SMALL, 16)
    times = [model.seconds(kernels, device) for device in (A100_40, A100, H100, H200, B200)]
    assert times == sorted(times, reverse=True)
    wide = model.step(SMALL, 16, 4)
    assert 1.9 < model.seconds(wide, A100, 4) / times[1] < 2.01


def test_a_kernel_is_bound_by_what_takes_longest():
    kernels = by_name(model.step(SMALL, 16))
    assert kernels["fc"].binds(A100) == model.PRODUCTS
    assert kernels["AdamW"].binds(A100) == model.BYTES
    one = kernels["AdamW"]
    assert one.seconds(A100) == 28 * 124_475_904 / 2039e9
    lanes = model.Kernel("", "", model.FORWARD, 1, 1, 10**12)
    assert lanes.binds(A100) == model.LANES and lanes.seconds(A100) == 1 / 19.5


def test_launches_hide_behind_long_kernels_and_not_behind_short_ones():
    by = model.Launching(0, 5.0)
    assert model.launched([10.0] * 4, by, 0) == 5 + 40
    assert model.launched([1.0] * 4, by, 0) == 20 + 1
    assert model.launched([1.0] * 4, model.Launching(2, 0), 1) == 2 + 4 * 2
    kernels = model.step(SMALL, 24, fused=OF_PROFILE, clip=False)
    times = model.in_turn(kernels, A100_40)
    assert len(times) == 405 and sum(times) == pytest.approx(model.seconds(kernels, A100_40))
    hidden = model.launched(times, model.FROM_C, 0) - sum(times)
    assert 0 < hidden < 1e-4 and 405 * model.FROM_C.each_s == pytest.approx(0.0019, abs=1e-4)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"batch": 0}, "batch is 0; it can be 1 or more"),
        ({"itemsize": 1}, "itemsize is 1; it can be 2, 4"),
        ({"recomputed": 3}, "recomputed is 3; it can be 0, 1, 2"),
        ({"fused": ["loss"]}, "fused has ['loss']"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        model.step(SMALL, **{"batch": 1, **wrong})
    assert message in str(caught.value)

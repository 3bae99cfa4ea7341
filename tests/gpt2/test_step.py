"""A step of the miniature: losses and gradients against NumPy, again and again the same bits."""

from __future__ import annotations

import time

import numpy as np
import pytest
from support.gpt2_reference import adamw, loss_and_gradient, loss_of
from support.pace import pace

from warpwise.errors import LaunchError
from warpwise.gpt2.config import MINIATURE, Config, initial
from warpwise.gpt2.model import GPT2, AdamW
from warpwise.gpt2.train import TEXT, batches, run, step, tracing
from warpwise.traces import Trace

# Of the step in NumPy, written down before there were kernels: the same batch ten times.
LOSSES = (
    *(5.509415, 5.042625, 4.745451, 4.498344, 4.237941),
    *(4.00329, 3.83194, 3.613613, 3.389308, 3.214213),
)
TEXT_BYTES = TEXT.read_bytes()


def of_text(model: GPT2) -> tuple[np.ndarray, np.ndarray]:
    return next(batches(TEXT_BYTES, model))


@pytest.fixture(scope="module")
def traced() -> tuple[GPT2, np.ndarray, list[Trace]]:
    """Return a model after a step in which every launch was counted and searched for races; the
    gradient of that step; and the traces."""
    model, traces = GPT2(MINIATURE, initial(MINIATURE)), []
    step(model, *of_text(model), AdamW(), tracing(traces, sanitize=True))
    return model, model.flat_gradient.copy_to_host(), traces


@pytest.mark.slow
def test_ten_losses_are_the_reference_s_step_by_step():
    model, parameters = GPT2(MINIATURE, initial(MINIATURE)), initial(MINIATURE)
    mean, square = np.zeros_like(parameters), np.zeros_like(parameters)
    x, y = of_text(model)
    for number, known in enumerate(LOSSES, 1):
        loss = step(model, x, y, AdamW())
        want, gradient, _ = loss_and_gradient(MINIATURE, parameters, x, y)
        adamw(parameters, gradient, mean, square, number)
        assert loss == pytest.approx(float(want), abs=2e-5)
        assert loss == pytest.approx(known, abs=1e-4)
    assert np.abs(model.flat.copy_to_host() - parameters).max() < 1e-3


@pytest.mark.slow
def test_gradients_are_those_of_float64_within_a_millionth(traced):
    model, gradient, _ = traced
    wide = initial(MINIATURE, dtype=np.float64)
    assert np.array_equal(wide.astype(np.float32), initial(MINIATURE))
    want = loss_and_gradient(MINIATURE, wide, *of_text(model))[1]
    of, wanted = MINIATURE.tensors(gradient), MINIATURE.tensors(want)
    for name in of:
        assert np.abs(of[name] - wanted[name]).max() < 1e-5 * np.abs(wanted[name]).max(), name


@pytest.mark.slow
def test_gradients_are_finite_differences_of_the_loss_in_float64(traced):
    """Of each tensor its largest number, and a random direction through all of them; of the
    reference only the forward pass is trusted."""
    model, gradient, _ = traced
    wide, batch, rng, h = (
        initial(MINIATURE, dtype=np.float64),
        of_text(model),
        np.random.default_rng(0),
        1e-5,
    )
    for name, at in MINIATURE.places().items():
        part = gradient[at].astype(float)
        largest, signs = np.zeros(part.size), rng.choice([-1.0, 1.0], part.size)
        largest[np.abs(part).argmax()] = 1
        for way, scale in ((largest, np.abs(part).max()), (signs, np.linalg.norm(part))):
            found = []
            for by in (h, -h):
                moved = wide.copy()
                moved[at] += by * way
                found.append(loss_of(MINIATURE, moved, *batch))
            slope = (found[0] - found[1]) / (2 * h)
            assert abs(slope - part @ way) < 1e-4 * scale, name


@pytest.mark.slow
def test_no_launch_races_or_uses_atomics_or_float64(traced):
    _, _, traces = traced
    assert [race for one in traces for race in one.races] == []
    assert {one.metrics.atomics for one in traces} == {0}
    assert {one.metrics.flops_fp64 for one in traces} == {0}


@pytest.mark.slow
def test_flops_and_bytes_are_the_formulas(traced):
    """``head`` has no end that is fused to it; an update reads four arrays and writes three."""
    model, _, traces = traced
    named = dict(zip((one.name for one in (*model.forward, *model.backward)), traces, strict=False))
    n, c, v = model.rows, MINIATURE.channels, MINIATURE.padded
    for name in ("head", "head dX", "head dW"):
        assert named[name].metrics.flops_fp32 == 2 * n * c * v, name
    updates = [one.metrics for one in traces if one.kernel == "adamw"]
    assert len(updates) == 16
    assert sum(m.global_store_bytes for m in updates) == 12 * MINIATURE.parameters
    at_the_norm = sum(m.global_load_bytes for m in updates) - 16 * MINIATURE.parameters
    assert at_the_norm == 4 * MINIATURE.parameters  # each thread reads it
    matmuls = sum(one.metrics.flops_fp32 for one in traces if one.kernel == "matmul")
    in_all = 6 * n * (12 * c * c * MINIATURE.layers + v * c)
    assert in_all < matmuls < 1.03 * in_all


@pytest.mark.slow
def test_a_counted_step_gives_the_bits_of_one_that_is_not(traced):
    model, gradient, _ = traced
    other = GPT2(MINIATURE, initial(MINIATURE))
    loss = step(other, *of_text(other), AdamW())
    assert loss == model.loss()
    assert np.array_equal(gradient, other.flat_gradient.copy_to_host())
    assert np.array_equal(model.flat.copy_to_host(), other.flat.copy_to_host())


@pytest.mark.slow
def test_a_step_with_all_counters_takes_at_most_a_second_and_a_half():
    """Processor time, of the best of three; the first also compiles."""
    model, seconds = GPT2(MINIATURE, initial(MINIATURE)), []
    for _ in range(3):
        began = time.process_time()
        step(model, *of_text(model), AdamW(), tracing([]))
        seconds.append(time.process_time() - began)
    assert min(seconds) < 1.5 * pace()


# A model with every size at its least, and each different: two texts of 16, two heads of 16.
SMALL = Config(positions=16, vocabulary=40, layers=1, heads=2, channels=32, padded=48)


def small_batch(model: GPT2, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, SMALL.vocabulary, (2, model.batch, SMALL.positions))
    return x, y


@pytest.mark.parametrize("patch", [1, 2])
def test_padding_patches_and_clipping(patch: int):
    """Tokens beyond the vocabulary get no gradient; a patch of 2 needs 32 rows a tile."""
    config = Config(16, 40, 1, 2, 32, 48) if patch == 1 else Config(16, 40, 1, 2, 32, 64)
    parameters = initial(config)
    config.tensors(parameters)["wte"][40:] = 7  # would be seen if it counted
    model = GPT2(config, parameters, batch=2, patch=patch)
    x, y = small_batch(model, 3)
    by = AdamW(rate=1e-2, decay=0.1, clip=0.5)
    loss = step(model, x, y, by)
    want, gradient, _ = loss_and_gradient(config, parameters, x, y)
    assert loss == pytest.approx(float(want), abs=1e-5)
    got = model.flat_gradient.copy_to_host()
    assert not config.tensors(got)["wte"][40:].any()
    assert np.abs(got - gradient).max() < 1e-6
    norm = np.linalg.norm(gradient.astype(float))
    assert float(model.norm.copy_to_host()[0]) == pytest.approx(norm, rel=1e-5) and norm > 0.5
    check_update(config, parameters, gradient * 0.5 / norm, model.flat.copy_to_host(), by)


def check_update(config: Config, before, gradient, after, by: AdamW) -> None:
    """At the first step the means are the gradient's own: it moves by the rate, to its sign."""
    got, was = config.tensors(after), config.tensors(before)
    for name, g in config.tensors(gradient.astype(float)).items():
        matrix = g.ndim - (name not in ("wte", "wpe", "lnfw", "lnfb")) > 1
        kept = 1 - by.rate * by.decay if matrix else 1
        want = kept * was[name] - by.rate * g / (np.abs(g) + by.epsilon)
        assert np.allclose(got[name], want, rtol=1e-5, atol=2e-5), name


def test_two_layers_and_texts_of_two_tiles_differ_by_nothing_but_rounding():
    config = Config(positions=32, vocabulary=16, layers=2, heads=1, channels=32, padded=16)
    parameters = initial(config, seed=5) * np.float32(3)  # far from where all logits are alike
    model = GPT2(config, parameters, batch=1)
    x, y = np.random.default_rng(4).integers(0, 16, (2, 1, 32))
    model.set_batch(x, y)
    for launches in (model.forward, model.backward):
        run(launches)
    want, gradient, logits = loss_and_gradient(config, parameters.astype(float), x, y)
    assert model.loss() == pytest.approx(want, abs=1e-5)
    assert np.abs(model.flat_gradient.copy_to_host() - gradient).max() < 1e-5
    run(model.forward)
    assert np.abs(model.acts["logits"].copy_to_host() - logits).max() < 1e-4


def test_a_later_token_changes_no_earlier_logit():
    model = GPT2(SMALL, initial(SMALL), batch=1)
    x = np.arange(16, dtype=np.int64)[None]
    found = []
    for last in (15, 30):
        x[0, -1] = last
        model.set_batch(x, x)
        run(model.forward)
        found.append(model.acts["logits"].copy_to_host())
    assert np.array_equal(found[0][:-1], found[1][:-1])
    assert not np.array_equal(found[0][-1], found[1][-1])


@pytest.mark.parametrize(
    ("changed", "size"),
    [({"channels": 40, "heads": 1}, "40"), ({"positions": 24}, "24"), ({"padded": 50}, "50")],
)
def test_sizes_that_tiles_do_not_divide_are_named(changed: dict, size: str):
    config = Config(**({"positions": 16, "vocabulary": 40, "layers": 1, "heads": 2, "channels": 32,
                        "padded": 48} | changed))  # fmt: skip
    with pytest.raises(LaunchError, match=f"^{size} of the model's sizes"):
        GPT2(config, initial(config), batch=2)

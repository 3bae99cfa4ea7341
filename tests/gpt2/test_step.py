"""A step of the miniature: losses and gradients against NumPy, again and again the same bits."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from support.gpt2_reference import adamw, as_bfloat16, loss_and_gradient, loss_of
from support.pace import pace
from support.share import THOROUGH

from warpwise.errors import LaunchError
from warpwise.gpt2.config import MINIATURE, Config, initial
from warpwise.gpt2.model import GPT2, AdamW
from warpwise.gpt2.train import TEXT, batches, run, step, tracing
from warpwise.kernels.bfloat16 import EPSILON, numbers, to_bfloat16
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


# --- in bfloat16 ---


@pytest.fixture(scope="module")
def packed() -> tuple[GPT2, np.ndarray, list[Trace]]:
    """Return the same of a model whose memory is bfloat16."""
    model, traces = GPT2(MINIATURE, initial(MINIATURE), bf16=True), []
    step(model, *of_text(model), AdamW(), tracing(traces, sanitize=True))
    return model, numbers(model.flat_gradient), traces


@pytest.mark.slow
def test_bfloat16_s_losses_stay_beside_those_of_float32_and_repeat_bit_for_bit():
    again, model = (GPT2(MINIATURE, initial(MINIATURE), bf16=True) for _ in range(2))
    losses = LOSSES if THOROUGH else LOSSES[:6]
    found = [step(model, *of_text(model), AdamW()) for _ in losses]
    assert found[:2] == [step(again, *of_text(again), AdamW()) for _ in range(2)]
    far = np.abs(np.subtract(found, losses))
    assert far[0] < 5e-4 and far[:5].max() < 5e-3 and far.max() < 2e-2
    assert far.max() > 1e-3, "as exact as float32: nothing was rounded"


@pytest.mark.slow
def test_bfloat16_s_gradients_are_those_of_a_step_that_rounds_at_the_same_places(packed):
    """Sums in another order round to the neighbour now and then, which the next kernels see; by
    itself a rounding is off by up to a 256th. Without rounding most numbers would differ."""
    model, gradient, _ = packed
    start, batch = initial(MINIATURE), of_text(model)
    loss, want, _ = loss_and_gradient(MINIATURE, start, *batch, as_bfloat16)
    assert model.loss() == pytest.approx(float(loss), abs=1e-5)
    assert (gradient == want).mean() > 0.75
    exact = loss_and_gradient(MINIATURE, start, *batch)[1]
    assert (as_bfloat16(exact) == want).mean() < 0.5
    for at in MINIATURE.places().values():
        size = np.linalg.norm(exact[at])
        assert np.linalg.norm(gradient[at] - want[at]) < EPSILON * size
        assert np.linalg.norm(gradient[at] - exact[at]) < 2 * EPSILON * size


@pytest.mark.slow
def test_an_update_keeps_weights_in_float32_and_a_copy_in_bfloat16(packed):
    model, gradient, _ = packed
    master = model.flat.copy_to_host()
    assert master.dtype == model.flat_mean.dtype == model.flat_square.dtype == np.float32
    assert np.array_equal(model.flat_copy.copy_to_host(), to_bfloat16(master))
    want, (mean, square) = initial(MINIATURE), np.zeros((2, master.size), np.float32)
    adamw(want, gradient, mean, square, 1)
    assert np.abs(master - want).max() < 1e-6


@pytest.mark.slow
def test_bfloat16_halves_the_bytes_of_what_waits_for_memory(traced, packed):
    """LayerNorm's statistics and the partial sums of its weights are float32, and so is the sum
    that ``column_sums`` makes of those."""
    whole, half = ({}, {})
    for found, traces in ((whole, traced[2]), (half, packed[2])):
        assert [race for one in traces for race in one.races] == []
        assert {one.metrics.flops_fp64 for one in traces} == {0}
        for one in traces:
            moved = one.metrics.dram_bytes_moved[0]
            found[one.kernel] = found.get(one.kernel, 0) + moved
    share = {kernel: half[kernel] / whole[kernel] for kernel in whole}
    for kernel in ("matmul", "norm", "classifier", "layernorm_forward", "encoder"):
        assert 0.49 < share[kernel] < 0.51, (kernel, share[kernel])
    for kernel in ("attention_forward", "attention_backward_tiles", "attention_backward_delta"):
        assert 0.49 < share[kernel] < 0.53, (kernel, share[kernel])
    assert share["layernorm_backward_rows"] < 0.57 and share["column_sums"] < 0.57
    assert half["adamw"] == whole["adamw"]  # 28 bytes a parameter, either way


# --- sizes ---

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
    [
        ({"channels": 40, "heads": 1}, r"channels \(40\) must be a multiple of 32"),
        ({"channels": 288, "heads": 12}, r"channels / heads \(24\) must be a multiple of 16"),
        ({"positions": 24}, r"positions \(24\) must be a multiple of 16"),
        ({"padded": 50}, r"padded \(50\) must be a multiple of 16"),
    ],
)
def test_sizes_that_tiles_do_not_divide_are_named(changed: dict, size: str):
    config = Config(**({"positions": 16, "vocabulary": 40, "layers": 1, "heads": 2, "channels": 32,
                        "padded": 48} | changed))  # fmt: skip
    with pytest.raises(LaunchError, match=f"^{size} if patch=1$"):
        GPT2(config, initial(config), batch=2)


def test_a_patch_needs_larger_sizes():
    wanted = r"^channels \(64\) must be a multiple of 128 if patch=8$"
    with pytest.raises(LaunchError, match=wanted):
        GPT2(MINIATURE, initial(MINIATURE), patch=8)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"heads": 0}, "each size must be at least 1"),
        ({"layers": -1}, "each size must be at least 1"),
        ({"vocabulary": 49}, "padded must be at least vocabulary"),
        ({"heads": 3}, "channels must be a multiple of heads"),
    ],
)
def test_sizes_that_no_model_has_are_refused(changed: dict, what: str):
    with pytest.raises(LaunchError, match=rf"^{what}: Config\(positions=16, "):
        replace(SMALL, **changed)


def test_parameters_of_another_model_are_refused():
    with pytest.raises(LaunchError, match=r"^16,864 parameters, not the 118,528 of Config"):
        GPT2(MINIATURE, np.zeros(16_864))


@pytest.mark.parametrize("other", [-1, 40, 47])  # rows of ``wte`` from 40 on are padding
def test_what_is_no_token_is_refused(other: int):
    model = GPT2(SMALL, initial(SMALL), batch=1)
    good, bad = np.zeros((2, 1, 16), np.int64)
    bad[0, 3] = other
    for batch in ((bad, good), (good, bad)):
        with pytest.raises(LaunchError, match=f"^{other} is no token: the model's are below 40$"):
            model.set_batch(*batch)


def test_a_loss_that_is_no_number_is_told():
    parameters = initial(SMALL)
    parameters[0] = np.nan
    model = GPT2(SMALL, parameters, batch=1)
    zeros = np.zeros((1, 16), np.int64)
    with pytest.raises(LaunchError, match="no longer numbers: try a smaller learning rate"):
        step(model, zeros, zeros, AdamW())

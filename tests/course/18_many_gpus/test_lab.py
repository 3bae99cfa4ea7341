"""The lab's last cells and its plans: the miniature on two ranks, and the chapter's planner."""

from __future__ import annotations

import contextlib
import io
import re

import numpy as np
import pytest
from support import gpt2_reference
from support.lab_cases import cells, names_of, visible_cases

import warpwise.labs
from warpwise.devices import H100
from warpwise.gpt2.config import MINIATURE, initial
from warpwise.model import planner
from warpwise.model.large_model import LLAMA_70B

STEM = "18_many_gpus"


@pytest.mark.slow
def test_the_miniature_trains_on_two_ranks_as_on_one(monkeypatch):
    monkeypatch.setattr(warpwise.labs, "passed", {"ring_all_reduce"}.__contains__)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(cells(STEM, "explore")[0], dict(names_of(STEM)))
    pairs = re.findall(r"two ranks ([\d.]+), on one ([\d.]+)", out.getvalue())
    assert len(pairs) == 2
    for loss, alone in pairs:
        assert float(loss) == pytest.approx(float(alone), abs=2e-4)


def test_the_layers_of_the_lab_are_the_miniature():
    """Against a reference that shares no code with it, with parameters of which none is 0 or 1."""
    names, rng = names_of(STEM), np.random.default_rng(7)
    flat = initial(MINIATURE, dtype=np.float64) + rng.normal(size=MINIATURE.parameters) / 20
    x, y = rng.integers(0, MINIATURE.vocabulary, (2, 3, MINIATURE.positions))
    loss, gradient, _ = gpt2_reference.loss_and_gradient(MINIATURE, flat, x, y)
    found, slopes = names["of_texts"](names["as_layers"](MINIATURE, flat), x, y)
    assert found == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(slopes, names["as_layers"](MINIATURE, gradient), 1e-9, 1e-15)


def test_the_first_loss_of_the_check_is_that_of_the_kernels():
    (gpt, *_) = (c for c in visible_cases(STEM)["data_parallel"] if "GPT" in c.label)
    losses, _ = gpt.want[0]
    assert losses[0] == pytest.approx(5.509415, abs=2e-6)
    assert losses[1] < losses[0] - 0.5


@pytest.mark.slow
def test_replicas_of_the_miniature_hide_all_sums_but_the_last(monkeypatch):
    monkeypatch.setattr(warpwise.labs, "passed", {"data_parallel"}.__contains__)
    (cell,) = (one for one in cells(STEM, "explore") if "without_overlap" in one)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(cell, dict(names_of(STEM)) | {"passed": warpwise.labs.passed})
    figures = re.findall(r"([\d.]+) ms\nloss ([\d.]+)", out.getvalue())
    (beside, loss), (between, same) = ((float(ms), float(of)) for ms, of in figures)
    bucket_ms = names_of(STEM)["sum_us"](2, 2 * 288 * 64 * 8) / 1000
    assert loss == same == pytest.approx(5.509415, abs=2e-6)
    assert beside == pytest.approx(8 * 3 + bucket_ms, abs=0.01)
    assert between == pytest.approx(8 * 3 + 4 * bucket_ms, abs=0.02)


def test_the_ring_is_timed_over_three_networks(monkeypatch):
    monkeypatch.setattr(warpwise.labs, "passed", {"ring_all_reduce"}.__contains__)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        for cell in cells(STEM, "explore"):
            if "def one_sum" in cell:
                names = dict(names_of(STEM)) | {"passed": warpwise.labs.passed}
                exec(cell, names)
    assert len(re.findall(r"^ +[\d.]+ us  \w", out.getvalue(), re.MULTILINE)) == 6


def test_the_chapter_s_planner_takes_a_plan_of_the_lab_for_a_good_one():
    """Another model of the same: it has latencies, norms, a vocabulary and a gated MLP too."""
    (call,) = (c for c in visible_cases(STEM)["plan_run"] if c.label == "70B on 512 GPUs")
    data, tensor, pipeline, zero, *_ = call.want
    on = planner.cluster(H100, 512, 80)
    mesh = planner.Mesh(data, tensor, pipeline, zero=zero)
    found = planner.search(LLAMA_70B, on, 512)
    near = planner.plan(LLAMA_70B, on, mesh, 512).seconds / found[0].seconds
    assert near == pytest.approx(1, abs=0.15)

"""ZeRO: what a rank keeps, and what it sends, against published figures and the cluster."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import cluster
from warpwise.errors import LaunchError
from warpwise.model.zero import STAGES, elements_sent, kept


def test_the_paper_s_example():
    """7.5 billion parameters on 64 ranks: 120, 31.4, 16.6 and 1.9 GB (arXiv 1910.02054)."""
    found = [round(kept(7.5e9, 64, stage).total / 1e9, 1) for stage in STAGES]
    assert found == [120.0, 31.4, 16.6, 1.9]


def test_float32_gradients_are_two_bytes_more():
    assert kept(1e9, 1, 0, gradient=4).total == 18e9
    assert kept(1e9, 10, 2, gradient=4).gradients == 4e8


@pytest.mark.parametrize("p", [2, 3, 8, 64])
@pytest.mark.parametrize("stage", STAGES)
def test_elements_sent_are_those_of_the_cluster(stage, p):
    size = 4 * p

    def step(dist):
        part, whole = np.zeros(4, np.float32), np.ones(size, np.float32)
        if stage == 0:
            dist.all_reduce(whole)
            return
        if stage == 3:
            dist.all_gather_into_tensor(whole, part)
        if stage == 3:
            dist.all_gather_into_tensor(whole, part)
        dist.reduce_scatter_tensor(part, whole)
        if stage < 3:
            dist.all_gather_into_tensor(whole, part)

    sent = {rank.bytes_sent for rank in cluster.run(step, p).ranks}
    assert sent == {4 * elements_sent(size, p, stage)}


def test_micro_batches_multiply_what_is_not_kept():
    one, four = (elements_sent(100, 4, 3, m) for m in (1, 4))
    assert four == 4 * one
    assert elements_sent(100, 4, 1, 4) == elements_sent(100, 4, 1)
    assert elements_sent(100, 4, 2, 4) == pytest.approx(75 * 5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [((1e9, 8, 4), "stage is 4; it can be 0, 1, 2, 3"), ((1e9, 0, 1), "ranks is 0; it can be 1")],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        kept(*wrong)
    assert message in str(caught.value)

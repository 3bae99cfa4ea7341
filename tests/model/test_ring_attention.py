"""A ring of GPUs, against counted scores and the formula for hidden transfers."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise.devices import A100
from warpwise.errors import LaunchError
from warpwise.model.ring_attention import MASKS, hidden_from, ring

PIECE = 64  #: tokens of a piece, in the counts below


def held(gpu: int, gpus: int, mask: str) -> np.ndarray:
    """Return the tokens of a GPU."""
    if mask != "zigzag":
        return np.arange(PIECE) + gpu * PIECE
    pieces = np.arange(2 * gpus * PIECE).reshape(2 * gpus, PIECE)
    return np.concatenate([pieces[gpu], pieces[2 * gpus - 1 - gpu]])


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("gpus", [2, 3, 8])
def test_work_is_the_share_of_scores_that_the_mask_leaves(gpus, mask):
    found = ring(gpus, 1, 0, mask)
    for gpu, steps in enumerate(found.work):
        for step, work in enumerate(steps):
            queries, keys = held(gpu, gpus, mask), held((gpu - step) % gpus, gpus, mask)
            seen = mask == "none" or keys[None] <= queries[:, None]
            assert work == pytest.approx(np.mean(seen), abs=1 / PIECE)


def test_a_link_is_hidden_from_flops_over_bandwidth():
    """Of an A100 and its NVLink 1,040 tokens, which the paper's table gives as 1.0 thousand."""
    least = hidden_from(A100.tensor16_flops_per_s, 300e9)
    assert least == pytest.approx(1040)
    assert ring(8, 1040, least).busy == pytest.approx(1)
    assert ring(8, 520, least).time == pytest.approx(7 * 2 + 1)
    assert ring(8, 520, least).busy == pytest.approx(8 / 15)


def test_causal_pieces_in_order_leave_nearly_half_of_the_gpus_idle_and_pairs_none():
    in_order, in_pairs = (ring(8, 10**6, 0, mask) for mask in ("causal", "zigzag"))
    assert in_order.time == 7.5 and in_pairs.time == 4
    assert in_order.busy == pytest.approx(4 / 7.5) and in_pairs.busy == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ((1, 1, 0), "gpus is 1; it can be 2 or more"),
        ((2, 0, 0), "tokens is 0; it can be 1 or more"),
        ((2, 1, 0, "striped"), "mask is 'striped'; it can be none, causal, zigzag"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        ring(*wrong)
    assert str(caught.value) == message

"""What the check of lab 12 refuses and the grader, who measures whole processes, cannot."""

from __future__ import annotations

import numpy as np
from support.lab_cases import names_of, visible_cases

from warpwise.labs.exercise import Reason
from warpwise.labs.judge import judge

STEM = "12_flash_attention"


def flash_numpy(q, k, v, scale, tile):
    """Compute one query after the other, each with its scores for all keys."""
    o, lse = np.empty_like(q), np.empty(len(q), np.float32)
    for i in range(len(q)):
        s = scale * (q[i] @ k.T)
        m = s.max()
        np.exp(s - m, out=s)
        total = s.sum()
        o[i], lse[i] = s @ v / total, m + np.log(total)
    return o, lse


def test_the_scores_of_one_query_with_all_keys_are_too_many():
    calls = [c for c in visible_cases(STEM)["flash_numpy"] if c.args[1].size]
    *before, last = judge(flash_numpy, calls)
    assert all(verdict.passed for verdict in before) and len(before) == len(calls) - 1
    assert last.reason == Reason.TOO_MUCH_MEMORY, last.message


def with_tiles_of_64(q, k, v, scale, tile):
    """Do what the solution does, whatever tile it is asked for."""
    return names_of(STEM)["flash_numpy"](q, k, v, scale, 64)


def test_a_tile_of_ones_own_takes_more_than_a_small_one():
    calls = visible_cases(STEM)["flash_numpy"]
    last = judge(with_tiles_of_64, calls)[-1]
    assert last.reason == Reason.TOO_MUCH_MEMORY and "tile 2" in last.case, last.message

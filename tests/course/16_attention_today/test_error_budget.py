"""What lab 16 says of eight bits: with the rotation scores keep the budget, and without it none."""

from __future__ import annotations

import numpy as np
import pytest
from support.lab_cases import hidden_cases, names_of

STEM, MOST = "16_attention_today", 0.6


@pytest.mark.parametrize("seed", range(10))
def test_only_rotated_outliers_keep_the_error_budget(seed):
    names = names_of(STEM)
    outliers = [case for case in hidden_cases(STEM, "attend8", seed) if case.atol == MOST]
    assert len(outliers) == 3
    for case in outliers:
        scores, outputs = case.want
        assert 8 < np.abs(scores).max() < 30
        rotated = names["attend8"](*case.args)
        assert max(np.abs(rotated[0] - scores).max(), np.abs(rotated[1] - outputs).max()) < 0.55
        assert np.abs(names["recipe"](*case.args, turn=names["plain"])[0] - scores).max() > 0.8

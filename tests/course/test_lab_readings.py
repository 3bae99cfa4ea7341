"""The readings that labs name: each runs, and gives another result than the exercise asks for."""

from __future__ import annotations

import numpy as np
import pytest
from support.lab_cases import STEMS, visible_cases

from warpwise.labs.compare import compare
from warpwise.labs.exercise import Case, Program, read_as


def other(case: Case) -> dict[str, bool]:
    """Say of each reading of a case if its result is another one than the case asks for."""
    if isinstance(case, Program):
        ranks = [other(case.of_rank(rank)) for rank in range(case.ranks)]
        return {clause: any(rank[clause] for rank in ranks) for clause in case.readings}
    wants = case.want if isinstance(case.want, tuple) else (case.want,)
    found: dict[str, bool] = {}
    for number, want in enumerate(wants):
        for clause, value in read_as(case, number).items():
            differs = compare(value, np.asarray(want), case.rtol, case.atol) is not None
            found[clause] = found.get(clause, False) or differs
    return found


@pytest.mark.parametrize("stem", STEMS)
def test_each_reading_can_be_told_from_the_right_one(stem: str):
    for name, cases in visible_cases(stem).items():
        told: dict[str, bool] = {}
        for case in cases:
            told |= {
                clause: told.get(clause, False) or is_other
                for clause, is_other in other(case).items()
            }
        assert all(told.values()), (name, told)


def test_labs_have_readings():
    with_readings = [
        c for stem in STEMS for cs in visible_cases(stem).values() for c in cs if c.readings
    ]
    assert len(with_readings) > 9

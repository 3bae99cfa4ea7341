"""What a student reads of a wrong answer names the mistake that was made."""

from __future__ import annotations

import math

import pytest
from support.causes_named import is_named, looked_at, told, verdict
from support.lab_cases import STEMS
from support.share import share_of_kinds
from support.wrong_answers import kind, wrong_answers

LONG = 5.0  #: seconds of processor time
NAMED = share_of_kinds(
    (answer for stem in STEMS for answer in wrong_answers(stem) if answer.names), kind, one_in=5
)


@pytest.mark.slow
@pytest.mark.parametrize("answer", NAMED, ids=lambda answer: f"{answer.lab}-{answer.name}")
def test_the_cause_of_a_wrong_answer_is_named(answer, monkeypatch):
    """By what is seen in the numbers, or by running it again, or by a change that is tried."""
    with monkeypatch.context() as untried:
        untried.setattr("warpwise.labs.repairs.repair", lambda *given: None)
        found = verdict(answer)
        seen = told(found)
    assert found.reason == answer.reason
    if not is_named(answer, seen):
        seen = told(found, looked_at(answer, found))
    # with more time than a check has, on whatever machine: changes name most of what is left
    if not is_named(answer, seen):
        monkeypatch.setattr("warpwise.labs.repairs.SECONDS", math.inf)
        seen = told(verdict(answer))
    if not is_named(answer, seen):
        seen = told(found, looked_at(answer, found, seconds=LONG))
    assert is_named(answer, seen), seen


def test_a_message_is_searched_whatever_the_case_of_letters():
    answer = NAMED[0]
    assert not is_named(answer, "work it out by hand")

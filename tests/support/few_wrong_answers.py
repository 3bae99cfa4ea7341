"""The wrong answers that an ordinary run takes where each goes through the same: a few of each lab,
with one of each reason and of each exercise; ``make thorough`` takes all."""

from __future__ import annotations

from support.share import share
from support.wrong_answers import WrongAnswer, wrong_answers


def few(lab: str, one_in: int) -> list[WrongAnswer]:
    """Return one in so many of a lab's wrong answers, beside the first of each kind."""
    answers = wrong_answers(lab)
    kept = {answer.name for answer in share(answers, one_in)}
    for kind in ("reason", "exercise"):
        first = {getattr(answer, kind): answer.name for answer in reversed(answers)}
        kept |= set(first.values())
    return [answer for answer in answers if answer.name in kept]

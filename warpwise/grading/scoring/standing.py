"""What the gradebook makes of one submission, in words for its student's page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from warpwise.grading.scoring.course import Course, LabSettings
from warpwise.grading.scoring.lateness import days
from warpwise.grading.scoring.scores import Score


@dataclass(frozen=True)
class Standing:
    """A submission in the gradebook: its student's ``name``, and ``rows`` of what counts and why.

    ``over_budget`` is the percentage that a right result over budget earns."""

    name: str
    rows: tuple[tuple[str, str], ...]
    over_budget: float = 0


Standings = Mapping[tuple[str, str], Standing]  #: by file and lab


def standings(scores: Iterable[Score], course: Course) -> dict[tuple[str, str], Standing]:
    """Return the standing of every graded submission that counts."""
    found = {}
    for score in scores:
        if score.file and score.lab and not score.not_yet:
            settings = course.lab(score.lab)
            rows = tuple(_rows(score, settings))
            standing = Standing(score.student.full_name, rows, settings.over_budget)
            found[score.file, score.lab] = standing
    return found


def _rows(score: Score, settings: LabSettings) -> Iterator[tuple[str, str]]:
    yield "In the gradebook", f"{score.score:g} of {score.possible:g} points"
    if settings.weight != 1:
        yield "Weight in the course", f"{settings.weight:g} (a lab has 1 unless the course says so)"
    if score.due:
        yield "Due", _moment(score.due) + (", by an extension of yours" if score.extended else "")
    if score.submitted:
        late = f", {days(score.late_days)} late" if score.late_days else ", on time"
        zone = score.due.tzinfo if score.due else None
        moment = score.submitted.astimezone(zone) if zone else score.submitted
        yield "Handed in", _moment(moment) + (late if score.due else "")
    if score.penalty:
        lost = f"{score.penalty / score.raw:.0%} of {score.raw:g}"
        points = "1 point" if score.penalty == 1 else f"{score.penalty:g} points"
        yield "Late penalty", f"{points} off ({lost})"
    for words in score.by_hand:
        yield "By your instructor", words


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} (UTC{moment:%z})"

"""A table that a platform imports: its rows, and what has no place in it.

A platform imports a file as it is or not at all, so nothing may stand in it that the platform did
not ask for. Scores without a row, such as those of students whom the platform does not know, go
into a table of their own, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpwise.grading.scoring import sheet
from warpwise.grading.scoring.roster import Student
from warpwise.grading.scoring.scores import Score

LEFT_OUT = tuple("student name email lab score possible file reason".split())


@dataclass(frozen=True)
class LeftOut:
    """A score that is not in the table, and why."""

    score: Score
    reason: str


@dataclass(frozen=True)
class Filled:
    """A table for a platform. ``remarks`` are lines for the instructor.

    Cells that are in ``as_is`` look like formulas, but are the platform's own words."""

    rows: tuple[Sequence[str], ...]
    left_out: tuple[LeftOut, ...] = ()
    remarks: tuple[str, ...] = ()
    as_is: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return sheet.written(self.rows, self.as_is)

    @property
    def left_out_text(self) -> str:
        """The scores that are left out, as CSV text."""
        return sheet.written([LEFT_OUT, *map(_row, self.left_out)])


def labs_of(scores: Iterable[Score]) -> list[str]:
    return sorted({score.lab for score in scores if score.lab})


def by_student(scores: Iterable[Score]) -> dict[Student, dict[str, Score]]:
    found: dict[Student, dict[str, Score]] = {}
    for score in scores:
        found.setdefault(score.student, {})[score.lab] = score
    return found


def placed(scores: Iterable[Score]) -> list[Score]:
    """Return the scores that a platform can have a place for."""
    return [score for score in scores if not _why_nowhere(score)]


def without(scores: Iterable[Score], left_out: Iterable[LeftOut]) -> list[Score]:
    """Return scores without those that are left out."""
    out = {left.score for left in left_out}
    return [score for score in scores if score not in out]


def unplaced(scores: Iterable[Score]) -> Iterator[LeftOut]:
    """Yield what was handed in, or set by hand, and has no place on any platform."""
    for score in scores:
        if (why := _why_nowhere(score)) and (score.file or score.overridden):
            yield LeftOut(score, why)


def _why_nowhere(score: Score) -> str:
    """Explain why no platform has a place for a score; "" if it can have one."""
    expected = score.lab and score.counts and not score.not_yet
    return score.student.unlisted or ("" if expected else score.note)


def is_left_out(path: Path) -> bool:
    """True if a file is one of ``left_out_text``."""
    try:
        return path.read_text("utf-8").startswith(",".join(LEFT_OUT) + "\n")
    except (OSError, UnicodeDecodeError):
        return False


def number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def points_of(cell: str) -> float | None:
    """Read points as a platform writes them, with a point or a comma; None if it is no number."""
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return None


def _row(left: LeftOut) -> list[str]:
    score, student = left.score, left.score.student
    points = ["", ""] if score.blank else [number(score.score), number(score.possible)]
    about = [student.id, student.full_name, student.email, score.lab]
    return [*about, *points, score.file, left.reason]

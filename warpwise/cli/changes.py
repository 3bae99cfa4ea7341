"""Changed grades in a terminal: a table, and the question before any is replaced."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from warpwise.cli.table import print_table

if TYPE_CHECKING:
    from warpwise.grading.changes import Change, Confirm
    from warpwise.grading.history import Step
    from warpwise.grading.record import Record


def confirmed(yes: bool) -> Confirm:
    """Return what shows changes and has an instructor agree, or agrees by itself.

    Without a terminal nobody can agree."""

    def confirm(changes: Sequence[Change]) -> bool:
        _show(changes)
        asked = sum(change.asked and change.differs for change in changes)
        if yes or not asked:
            return True
        grades = "this grade" if asked == 1 else f"these {asked} grades"
        try:
            return sys.stdin.isatty() and typer.confirm(f"Replace {grades}?")
        except typer.Abort:
            return False

    return confirm


def _show(changes: Sequence[Change]) -> None:
    """Print who has other points than before, why, and how many go up and down."""
    differing = [change.step for change in changes if change.differs]
    if differing:
        rows = ((who(s.record), s.record.lab, *grades(s), reasons(s)) for s in differing)
        print_table(("student", "lab", "before", "after", "why"), rows)
    ways = Counter(_way(change) for change in changes)
    counts = ", ".join(f"{ways[way]} {way}" for way in ("up", "down", "the same"))
    typer.echo(f"{submissions_in_words(len(changes))} graded again: {counts}")


def _way(change: Change) -> str:
    before, after = (
        grade.points / grade.possible if grade.possible else 0
        for grade in (change.step.before, change.step.after)
    )
    return "up" if after > before else "down" if after < before else "the same"


def grades(step: Step) -> tuple[str, str]:
    """Return the grades before and after a change."""
    from warpwise.grading.history import outcome

    return printable(outcome(step.before)), printable(outcome(step.after))


def reasons(step: Step) -> str:
    """Return why a grade changed, and what the instructor said."""
    return "; ".join(filter(None, [step.before.why, printable(step.before.said)]))


def who(record: Record) -> str:
    """Name the student of a record."""
    named = f"{record.student} ({record.name})" if record.name else record.student
    return printable(named)


def printable(text: str) -> str:
    """Return a text without what would move a terminal's cursor."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


def submissions_in_words(count: int) -> str:
    """Count submissions, as in "2 submissions"."""
    return "1 submission" if count == 1 else f"{count} submissions"

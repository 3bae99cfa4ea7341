"""Wording of students, numbers and texts from outside in the report on a class."""

from __future__ import annotations

from collections.abc import Sequence

from warpwise.grading.class_report.overview import Exceeded
from warpwise.grading.record import Record
from warpwise.labs.budgets import figure
from warpwise.metrics import MORE_IS_BETTER

MOST_NAMES = 4  # of the students in a group that are named


def printable(text: str) -> str:
    """Replace characters that move a terminal's cursor or reverse the direction of writing."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )


def who(record: Record) -> str:
    """Name a student as the gradebook and the platform do."""
    named = record.name and record.name != record.student
    return printable(f"{record.name} ({record.student})" if named else record.student)


def names(records: Sequence[Record]) -> str:
    """Name the first few students of some records, and count the others."""
    students = list(dict.fromkeys(map(who, records)))
    more = len(students) - MOST_NAMES
    return ", ".join(students[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def plural(number: int, thing: str) -> str:
    """Write a number of things: "1 pair", "2 pairs"."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def how_far(exceeded: Exceeded) -> str:
    """Say how far a counter is beyond its budget: "4 times", "1/3 of it", "by 7"."""
    if exceeded.times is None:
        return f"by {figure(exceeded.value - exceeded.limit)}"
    share = f"{exceeded.times:.2g}" if exceeded.times < 10 else f"{exceeded.times:,.0f}"
    return f"1/{share} of it" if exceeded.counter in MORE_IS_BETTER else f"{share} times"


def share(part: int, whole: int) -> str:
    """Write a part of a whole in percent."""
    return f"{part / whole:.0%}" if whole else "0%"


def sentence(text: str) -> str:
    """Give a text a capital letter."""
    return text[:1].upper() + text[1:]

"""The command that checks an instructor's settings: ``course check``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpwise.cli.example import command
from warpwise.cli.grade import ROSTER
from warpwise.cli.table import print_table

if TYPE_CHECKING:
    from warpwise.grading.scoring.check import Check
    from warpwise.grading.scoring.course import LatePolicy

course = typer.Typer(help="Check a course's settings.", no_args_is_help=True)


def add(app: typer.Typer) -> None:
    """Put these commands into the command line."""
    command(course, check, "course check")
    app.add_typer(course, name="course")


@course.callback()
def settings() -> None:
    """Check a course's settings."""


def check(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Course folder or a course.toml; by default the checkout.", metavar="COURSE"
        ),
    ] = None,
    graded: Annotated[
        Path | None,
        typer.Option(help="Also check overrides.csv and times.csv of this graded folder."),
    ] = None,
    roster: Annotated[Path | None, ROSTER] = None,
) -> None:
    """Check course.toml, and the files of a graded folder, and show what they mean.

    Every mistake is a line with its place and what was probably meant, all of them at once. With
    --graded graded --roster class.csv, overrides and extensions of unknown students are found too.
    Below it stands what is understood: points, weights, due times and late policy of each lab.
    Exits with status 1 if there is a mistake; nothing is written."""
    from warpwise.grading.scoring.check import check as check_all

    found = check_all(folder, graded, roster)
    for line in found.problems:
        typer.echo(line)
    for line in found.warnings:
        typer.echo(f"perhaps not meant: {line}")
    if not found.problems:
        _summarise(found)
    raise typer.Exit(1 if found.problems else 0)


def _summarise(found: Check) -> None:
    """Print what is understood."""
    from warpwise.grading.scoring import schedule

    used = found.course
    typer.echo(f"{found.file} is right" if found.file else "there is no course.toml: all defaults")
    if used.title or used.term:
        typer.echo(", ".join(filter(None, (used.title, used.term))))
    rows = []
    for stem, lab in found.labs.items():
        settings = used.lab(stem)
        points = f"{schedule.points(settings, lab):g}"
        due = schedule.moment(settings.due) if settings.due else "-"
        rows.append((stem, points, f"{settings.weight:g}", due, _late(settings.late)))
    print_table(("lab", "points", "weight", "due", "late"), rows)
    for line in _counts(found):
        typer.echo(line)


def _counts(found: Check) -> Iterator[str]:
    extended = found.course.extensions
    if extended:
        students = len({student for student, _ in extended})
        yield f"extensions: {len(extended)}, of {students} student{'s' if students > 1 else ''}"
    if found.by_hand is not None:
        rows = len(found.by_hand)
        yield f"overrides.csv: {rows} row{'' if rows == 1 else 's'}"


def _late(policy: LatePolicy) -> str:
    from warpwise.grading.scoring.lateness import days

    parts = [f"{policy.percent_per_day:g} % a day"] if policy.percent_per_day else []
    if policy.days is not None:
        parts.append(f"nothing after {days(policy.days)}")
    if parts and policy.grace_minutes:
        parts.append(f"{policy.grace_minutes:g} min grace")
    return ", ".join(parts) or "free"

"""Commands that read what a run of the grader wrote: ``gradebook`` and ``feedback``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """The forms of a gradebook."""

    csv = "csv"
    canvas = "canvas"
    gradescope = "gradescope"
    nbgrader = "nbgrader"


def add(app: typer.Typer) -> None:
    """Put these commands into the command line."""
    app.command()(gradebook)
    app.command()(feedback)


GRADED = typer.Argument(help="A folder that grade wrote.", metavar="DIR")


def gradebook(
    folder: Annotated[Path, GRADED],
    format: Annotated[Format, typer.Option(help="Who reads it; csv is everything in one table.")] = Format.csv,
    out: Annotated[Path | None, typer.Option(help="The file to write; printed if left out.")] = None,
    roster: Annotated[Path | None, typer.Option(help="Who is in the class: a platform's CSV, or one with id, name and email.")] = None,
    course: Annotated[Path | None, typer.Option(help="A course.toml, or the folder it is in.")] = None,
    due: Annotated[str | None, typer.Option(help="When every lab is due, such as 2026-12-01T23:59+01:00; extensions stay.")] = None,
    late_policy: Annotated[str | None, typer.Option(help="Such as percent_per_day=10,days=3,grace_minutes=15, for every lab.")] = None,
) -> None:
    """Write the gradebook of a graded folder for Canvas, Gradescope, nbgrader or a spreadsheet.

    Points, weights, due times, late policy and extensions are those of course.toml; what is given here, or was given to
    grade, goes before it. DIR/overrides.csv (student,lab,exercise,points,reason) goes before everything. A late
    submission loses so many percent of its points for each day that has begun. Everybody on the roster is in the
    gradebook; so is, with a note, whoever is not on it. Labs that nobody handed in are left out.
    """
    from warpwise.grading.scoring import folder as graded
    from warpwise.grading.scoring.export import export

    made = graded.gradebook(folder, course, roster, due, late_policy)
    text = export(made.scores, format.value, made.labs, made.course, made.roster)
    if out is None:
        typer.echo(text, nl=False)
    else:
        graded.save(out, text)
        typer.echo(f"{len({score.student for score in made.scores})} students: see {out}")
    for line in made.warnings:
        typer.echo(f"warpwise: {line}", err=True)


def feedback(
    folder: Annotated[Path, GRADED],
    student: Annotated[str, typer.Argument(help="An id, e-mail address or name.", metavar="STUDENT")],
    text: Annotated[bool, typer.Option("--text", help="Print the page as text instead of where it is.")] = False,
) -> None:
    """Say where a student's page of feedback is, or print it."""
    from warpwise.grading.scoring.folder import pages

    for page in pages(folder, student, ".txt" if text else ".html"):
        typer.echo(_printable(page.read_text("utf-8")) if text else str(page), nl=not text)


def _printable(text: str) -> str:
    """Text without what would steer a terminal: a student's code may have written it."""
    return "".join(character for character in text if character.isprintable() or character in "\n\t")

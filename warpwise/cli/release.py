"""Commands that hand out: ``release`` to students and to an nbgrader course, ``bundle`` to Gradescope."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

bundle = typer.Typer(help="Pack a lab's grader for a platform that runs it.", no_args_is_help=True)
COURSE = "The course's folder, with solutions/ and labs/; the checkout of this package if left out."


def add(app: typer.Typer) -> None:
    """Put these commands into the command line."""
    app.command()(release)
    app.add_typer(bundle, name="bundle")


def release(
    student: Annotated[Path | None, typer.Option(help="A new folder, for students: labs, the package, the book.", metavar="DIR")] = None,
    nbgrader: Annotated[Path | None, typer.Option(help="A new folder, for an nbgrader course: its source/.", metavar="DIR")] = None,
    term: Annotated[str, typer.Option(help="A term, such as 'Spring 2027', that is written into each lab and the README.")] = "",
    site: Annotated[bool, typer.Option("--site", help="Build the students' book into site/ too, which takes some minutes.")] = False,
    course: Annotated[Path | None, typer.Option(help=COURSE, metavar="FOLDER")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier release in which nothing was changed.")] = False,
) -> None:
    """Make what students are handed.

    --student writes a folder to give away: labs/, the package as a wheel in dist/, the book, requirements.txt and a README. It is
    searched for solutions, hidden tests, wrong answers and teaching guides before it is put in place.

    --nbgrader writes a folder for the instructor, WITH SOLUTIONS: its source/ goes into an nbgrader course, whose
    `nbgrader generate_assignment` makes what students get. nbgrader believes the process that runs the student's code, so that its
    points are not safe from a student who sets out to fool it. Those of `warpwise grade` are.
    """
    from warpwise.errors import LabError
    from warpwise.labs import nbgrader as for_nbgrader
    from warpwise.labs.release import release as for_students

    if student is None and nbgrader is None:
        raise LabError("say where to: --student DIR, --nbgrader DIR, or both")
    if site and student is None:
        raise LabError("--site goes with --student DIR")
    lines = for_students(student, course, term, site, force) if student else ()
    lines += for_nbgrader.release(nbgrader, course, term, force) if nbgrader else ()
    for line in lines:
        typer.echo(line)


@bundle.command()
def gradescope(
    target: Annotated[Path, typer.Argument(help="The zip to write, for Gradescope's Configure Autograder.", metavar="LAB.zip")],
    lab: Annotated[str | None, typer.Option(help="The lab's stem, such as 08_coalescing; the zip's name if left out.")] = None,
    seed: Annotated[int | None, typer.Option(help="The secret that hidden tests draw their inputs from; new if left out.")] = None,
    course: Annotated[Path | None, typer.Option(help=COURSE, metavar="FOLDER")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the zip if there is one.")] = False,
) -> None:
    """Pack one lab's grader for Gradescope.

    Upload the zip as the assignment's autograder, with the base image Ubuntu 22.04. It holds hidden tests and the seed, so that it is
    not for students. Points are those of `warpwise grade --seed`; every submission meets the same seed. The notebook's own checks are
    not run again there, and lateness is left to Gradescope.
    """
    from warpwise.grading.gradescope import bundle

    typer.echo(bundle(target, lab, seed, course, force))

"""Commands that hand out labs (``release``) and graders (``bundle``)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpwise.cli.example import command

bundle = typer.Typer(help="Pack a lab's grader for a platform that runs it.", no_args_is_help=True)
COURSE = typer.Option(
    help="Course folder with solutions/, labs/ and pyproject.toml; by default the checkout.",
    metavar="FOLDER",
)


def add(app: typer.Typer) -> None:
    """Put these commands into the command line."""
    command(app, release, "release --student handout --lab 8")
    command(bundle, gradescope, "bundle gradescope lab8.zip --lab 8")
    app.add_typer(bundle, name="bundle")


def release(
    student: Annotated[
        Path | None,
        typer.Option(help="New folder for students: labs, the package, the book.", metavar="DIR"),
    ] = None,
    nbgrader: Annotated[
        Path | None,
        typer.Option(help="New folder for an nbgrader course: its source/.", metavar="DIR"),
    ] = None,
    term: Annotated[
        str, typer.Option(help="Term to write into the labs and the README, such as 'Spring 2027'.")
    ] = "",
    site: Annotated[
        bool,
        typer.Option(
            "--site", help="Also put the built book into site/; takes minutes the first time."
        ),
    ] = False,
    lab: Annotated[
        list[str] | None,
        typer.Option(
            help="Hand out only this lab, such as 8, 08_coalescing or coalescing; may be repeated."
        ),
    ] = None,
    course: Annotated[Path | None, COURSE] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace an earlier release in which nothing was changed."),
    ] = False,
) -> None:
    """Release labs to students or to an nbgrader course.

    --student writes a folder to hand out: labs/, the package as a wheel in dist/, the book,
    requirements.txt and a README with the points, due times and late policy of course.toml. It is
    searched for solutions, hidden tests, wrong answers and teaching guides before it is put in
    place. The book is without the pages for instructors.

    Week by week: --student handout --lab 8 hands out lab 8, and next week --lab 9 adds lab 9 to the
    same folder. The labs that are there stay as they were handed out, unless they are named again,
    and so does whatever else lies in the folder, such as .git. It stops if a file that it had
    written was changed since.

    --nbgrader writes a folder for the instructor, WITH SOLUTIONS: its source/ goes into an nbgrader
    course, where `nbgrader generate_assignment` makes the students' version. nbgrader trusts the
    process that runs student code, so its points are not safe from a student who sets out to fool
    it; those of `warpwise grade` are."""
    from warpwise.errors import LabError
    from warpwise.grading.scoring import course as courses
    from warpwise.grading.scoring import schedule
    from warpwise.labs import nbgrader as for_nbgrader
    from warpwise.labs.release import course_folder
    from warpwise.labs.release import release as for_students
    from warpwise.labs.source import load_lab

    if student is None and nbgrader is None:
        raise LabError("say where to: --student DIR, --nbgrader DIR, or both")
    if site and student is None:
        raise LabError("--site goes with --student DIR")
    root, labs, lines = course_folder(course), lab or [], tuple[str, ...]()
    settings = courses.find(root)
    term = term or settings.term
    if student:
        sources = sorted((root / "solutions").glob("*.md"))
        plan = schedule.plan(settings, {path.stem: load_lab(path) for path in sources})
        lines += for_students(student, root, term, site, force, labs, plan)
    if nbgrader:
        lines += for_nbgrader.release(nbgrader, root, term, force, labs)
    for line in lines:
        typer.echo(line)


def gradescope(
    target: Annotated[
        Path,
        typer.Argument(
            help="Zip to write, for Gradescope's Configure Autograder.", metavar="LAB.zip"
        ),
    ],
    lab: Annotated[
        str | None,
        typer.Option(help="The lab, such as 8, 08_coalescing or coal; by default the zip's name."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Secret seed of the hidden tests' inputs; by default new.")
    ] = None,
    course: Annotated[Path | None, COURSE] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the zip if it exists.")] = False,
) -> None:
    """Pack one lab's grader for Gradescope.

    Upload the zip as the assignment's autograder, with the base image Ubuntu 22.04. It contains
    hidden tests and the seed, so keep it from students. Points are those of `warpwise
    grade` with --seed; every submission is graded with the same seed. The notebook's own checks are
    not run again there, and lateness is left to Gradescope."""
    from warpwise.grading.gradescope import bundle

    typer.echo(bundle(target, lab, seed, course, force))

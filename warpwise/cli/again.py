"""Commands about grades that change: ``regrade`` and ``history``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpwise.cli.changes import confirmed, grades, reasons, submissions_in_words, who
from warpwise.cli.example import command
from warpwise.cli.grade import GRADED, JOBS, WHY, YES, finished
from warpwise.cli.table import print_table

if TYPE_CHECKING:
    from warpwise.grading.record import Record
    from warpwise.grading.store import Run

STUDENT = typer.Option(help="Only this student: id, e-mail address or name; may be repeated.")
LAB = typer.Option(help="Only this lab, such as 8, 08_coalescing or coal.")


def add(app: typer.Typer) -> None:
    """Put these commands into the command line."""
    command(app, regrade, "regrade graded --student ada")
    command(app, history, "history graded --lab 8")


def regrade(
    folder: Annotated[Path, GRADED],
    student: Annotated[list[str] | None, STUDENT] = None,
    lab: Annotated[str | None, LAB] = None,
    jobs: Annotated[int, JOBS] = 1,
    yes: Annotated[bool, YES] = False,
    why: Annotated[str, WHY] = "",
) -> None:
    """Grade submissions again with the same seed, and show what changed.

    With --student, those alone, whatever else has changed, and without a question:

    warpwise regrade graded --student ada --why "your second cell counts"

    Without --student everyone, or everyone's --lab, is graded again, and nothing is replaced before
    you agree, here or with --yes. The submissions must still be where they were. Overrides are
    kept, and so are the old grades: see `warpwise history`. After hidden tests or a lab have
    changed, `warpwise grade` grades again whatever they affect."""
    from warpwise.grading import store
    from warpwise.grading.execution import Execution
    from warpwise.grading.regrade import outdated
    from warpwise.grading.regrade import regrade as grade_again

    run = store.load(folder)
    wanted = _wanted(run, student or (), lab)
    grade_again(
        folder,
        wanted,
        execution=Execution(jobs),
        progress=True,
        confirm=confirmed(yes or bool(student)),
        why=why,
    )
    count, changed = outdated(folder)
    if count:
        records = "1 other record was" if count == 1 else f"{count} other records were"
        typer.echo(
            f"{records} graded before this changed: {changed}; "
            "`warpwise grade` brings them up to date",
            err=True,
        )
    if not finished(folder):
        raise typer.Exit(1)


def history(
    folder: Annotated[Path, GRADED],
    student: Annotated[list[str] | None, STUDENT] = None,
    lab: Annotated[str | None, LAB] = None,
) -> None:
    """Show which grades changed, when and why.

    DIR/history.csv has every grade that was replaced, exercise by exercise:

    warpwise history graded --student ada"""
    from warpwise.grading import history as kept_grades
    from warpwise.grading import store

    run = store.load(folder)
    wanted = _wanted(run, student or (), lab)
    steps = [s for kept in run.records.kept() for s in kept_grades.steps(kept) if wanted(s.record)]
    shown = [step for step in steps if kept_grades.differs(step)]
    rows = [
        (step.before.when, who(step.record), step.record.lab, *grades(step), reasons(step))
        for step in sorted(shown, key=lambda step: step.before.when)
    ]
    if rows:
        print_table(("when", "student", "lab", "before", "after", "why"), rows)
    same = len(steps) - len(shown)
    changes = "1 change" if len(rows) == 1 else f"{len(rows)} changes"
    typer.echo(f"{changes}; {submissions_in_words(same)} graded again came out the same")


def _wanted(run: Run, students: Sequence[str], lab: str | None) -> Callable[[Record], bool]:
    """Return what chooses records. Raises GradingError for an unknown student or lab."""
    from warpwise.cli.meant import labs_meant
    from warpwise.errors import GradingError
    from warpwise.grading.scoring.folder import submitters

    if lab is not None:
        labs = sorted({record.lab for record in run.records} - {""})
        [lab] = labs_meant(labs, [lab], f"nothing of lab {{}} was graded in {run.folder}")
    names = {name for student in students for name in submitters(run, student)}
    if students and not names:
        named = ", ".join(map(repr, students))
        raise GradingError(f"{named} handed nothing in, so there is nothing to grade again")

    def wanted(record: Record) -> bool:
        return (not students or record.student in names) and lab in (None, record.lab)

    return wanted

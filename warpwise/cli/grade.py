"""Commands that grade: ``grade`` and ``merge``."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpwise.cli.changes import confirmed, submissions_in_words
from warpwise.cli.example import command

if TYPE_CHECKING:
    from warpwise.grading.cluster import Tls
    from warpwise.grading.record import Record


class Unexpected(StrEnum):
    """What to do with notebooks of a lab that was not assigned."""

    grade = "grade"
    leave_out = "leave-out"


def add(app: typer.Typer) -> None:
    """Put these commands into the command line."""
    command(app, grade, "grade submissions --out graded --jobs 2")
    command(app, merge, "merge graded part1 part2")


GRADED = typer.Argument(help="A folder written by warpwise grade.", metavar="DIR")
TIMES = typer.Option(
    help="When work was handed in: a platform's export, or a CSV with student, lab, submitted. "
    "LAB=FILE where the file does not say the lab; may be repeated.",
    metavar="[LAB=]FILE",
)
ROSTER = typer.Option(help="Class list: a platform's export, or a CSV with id, name and email.")
JOBS = typer.Option(min=1, help="Number of submissions to grade at a time on this machine.")
YES = typer.Option("--yes", help="Replace changed grades without asking.")
WHY = typer.Option(help="Reason for changed grades, kept in history.csv and shown to students.")


def grade(
    submissions: Annotated[
        Path, typer.Argument(help="A folder or an archive; see above.", metavar="SUBMISSIONS")
    ],
    out: Annotated[
        Path, typer.Option(help="Folder for grades.csv, feedback/ and the records of the run.")
    ],
    lab: Annotated[
        str | None,
        typer.Option(help="The lab, such as 8, 08_coalescing or coal; recognised if left out."),
    ] = None,
    layout: Annotated[
        str | None,
        typer.Option(
            help="How SUBMISSIONS lie: plain, canvas, moodle, gradescope, nbgrader; or guessed."
        ),
    ] = None,
    unexpected: Annotated[
        Unexpected | None,
        typer.Option(help="What to do with notebooks of another lab than most; asked if left out."),
    ] = None,
    roster: Annotated[Path | None, ROSTER] = None,
    times: Annotated[list[str] | None, TIMES] = None,
    due: Annotated[
        str | None,
        typer.Option(help="Due time, such as 2026-12-01T23:59+01:00; overrides course.toml."),
    ] = None,
    late_policy: Annotated[
        str | None,
        typer.Option(help="Late policy, such as percent_per_day=10,days=3,grace_minutes=15."),
    ] = None,
    jobs: Annotated[int, JOBS] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Address of a running Dask scheduler, such as tls://head:8786."),
    ] = None,
    tls_ca: Annotated[
        Path | None,
        typer.Option(help="The scheduler's certificate authority; by default Dask's setting."),
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option(help="Client certificate for the scheduler.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Client key for the scheduler.")] = None,
    shard: Annotated[
        str | None,
        typer.Option(help="Part to grade, such as 2/8; needs --seed. Join the parts with merge."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Secret seed of the hidden tests' inputs; by default new, see run.json."),
    ] = None,
    course: Annotated[
        Path | None,
        typer.Option(help="Folder with solutions/, labs/, tests/course/; by default the checkout."),
    ] = None,
    gpu: Annotated[
        bool,
        typer.Option(
            "--gpu",
            help="Also run and time passing kernels on this machine's GPU; gives no points.",
        ),
    ] = False,
    unsafe_local: Annotated[
        bool,
        typer.Option("--unsafe-local", help="Run without a sandbox, and mark the gradebook so."),
    ] = False,
    yes: Annotated[bool, YES] = False,
    why: Annotated[str, WHY] = "",
) -> None:
    """Grade submissions.

    SUBMISSIONS is a folder with one notebook or one folder per student, nbgrader's submitted/, or
    a download from Canvas, Moodle or Gradescope, packed or unpacked. Without --layout it is what
    most names look like, as the first line says. An entry that is nobody's stops the run before
    it begins, and so does, with a question, a notebook of another lab than most.

    Kernels are interpreted, never executed; host functions and the notebook's own checks run in a
    sandbox. Every submission gets a line in grades.csv and a page in feedback/, whatever is wrong
    with it. To resume a run that was stopped, give the same command again: finished submissions
    are not graded twice.

    Where hidden tests, a lab or this program have changed, everyone they concern is graded again.
    A table shows old and new points, and nothing is replaced before you agree, here or with --yes.
    What a student hands in anew takes the place of the old without a question. history.csv keeps
    both grades, when and why:

    warpwise grade submissions --out graded --why "exercise 2 was too strict"

    With --gpu, gpu.csv in the output folder holds the time of each kernel that passed, beside that
    of the lab's solution."""
    from warpwise.cli.meant import labs_meant
    from warpwise.grading import grade as grade_all
    from warpwise.grading import material
    from warpwise.grading.execution import Execution
    from warpwise.grading.scoring import course as courses
    from warpwise.grading.scoring import roster as rosters
    from warpwise.grading.scoring import times as known_times

    # Mistakes in these are reported before the work, not after it.
    if roster is not None:
        rosters.load(roster)
    if due is not None:
        courses.due(due)
    if late_policy is not None:
        courses.late_policy(late_policy)
    there = material.stems(material.course_folder(course, submissions))
    if lab is not None:
        [lab] = labs_meant(there, [lab], material.WITHOUT_TESTS)
    given = known_times.given(times or (), lab, there)
    settings = {"roster": roster and str(roster.resolve()), "due": due, "late_policy": late_policy}
    execution = Execution(jobs, scheduler, _tls(tls_ca, tls_cert, tls_key), _shard(shard), gpu)
    records = grade_all(
        submissions,
        out,
        lab=lab,
        seed=seed,
        unsafe_local=unsafe_local,
        progress=True,
        course=course,
        execution=execution,
        settings={name: value for name, value in settings.items() if value} | given,
        layout=layout,
        unexpected=unexpected or (_asked if _at_a_terminal() else ""),
        confirm=confirmed(yes),
        why=why,
    )
    typer.echo(f"{submissions_in_words(len(records))} graded: {_where_results_are(out)}")
    _report_left_over(out, records)
    if finished(out) or execution.shard[1] > 1:
        return
    raise typer.Exit(1)


def merge(
    out: Annotated[Path, typer.Argument(help="Folder for the joined run.", metavar="OUT")],
    parts: Annotated[
        list[Path],
        typer.Argument(help="Folders written by warpwise grade --shard.", metavar="PART..."),
    ],
) -> None:
    """Join the parts of a run that were graded with --shard.

    All parts need the same seed and the same version of the labs. The gradebook and the feedback
    are those of an undivided run. Of two grades of a submission the later counts. Exits with status
    1 while submissions of another part are missing."""
    from warpwise.grading.regrade import merge as merge_all

    records = merge_all(out, parts)
    typer.echo(f"{submissions_in_words(len(records))} joined: {_where_results_are(out)}")
    if not finished(out):
        raise typer.Exit(1)


def finished(folder: Path) -> bool:
    """Return whether a run is finished; where it is not, say so on standard error."""
    from warpwise.grading import unfinished

    if said := unfinished.said(folder):
        typer.echo(f"warpwise: {said}", err=True)
    return not said


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _asked(unexpected: str) -> str:
    """Ask what to do with unexpected notebooks."""
    from warpwise.grading.assignment import CHOICES

    typer.echo(unexpected, err=True)
    for name, what in CHOICES.items():
        typer.echo(f"  {name}: {what}", err=True)
    while (answer := str(typer.prompt(" or ".join(CHOICES), err=True)).strip()) not in CHOICES:
        pass
    return answer


def _report_left_over(out: Path, records: Collection[Record]) -> None:
    """Name the records in the folder whose submissions were not found this time.

    They are kept, so that nothing is lost."""
    from warpwise.grading import store

    mine = {(record.file, record.lab) for record in records}
    labs = {record.lab for record in records}
    left = [
        record
        for record in store.load(out).records
        if record.lab in labs and (record.file, record.lab) not in mine
    ]
    if left:
        named = ", ".join(repr(record.file) for record in left[:3])
        more = ", ..." if len(left) > 3 else ""
        kept = f"{submissions_in_words(len(left))} from earlier, not found this time"
        typer.echo(f"{out} also keeps {kept}: {named}{more}", err=True)


def _where_results_are(out: Path) -> str:
    return f"see {out / 'grades.csv'} and {out / 'feedback'}"


def _shard(text: str | None) -> tuple[int, int]:
    from warpwise.errors import GradingError

    if text is None:
        return 1, 1
    i, slash, n = text.partition("/")
    if not (slash and i.isdecimal() and n.isdecimal()):
        raise GradingError(f"--shard is {text!r}; it should be like 2/8, the second of eight parts")
    return int(i), int(n)


def _tls(*paths: Path | None) -> Tls:
    from warpwise.errors import GradingError
    from warpwise.grading.cluster import Tls

    for path in filter(None, paths):
        if not os.access(path, os.R_OK):
            raise GradingError(f"{path} cannot be read")
    return Tls(*(None if path is None else str(path) for path in paths))

"""Commands that grade: ``grade``, ``merge`` and ``regrade``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def add(app: typer.Typer) -> None:
    """Put these commands into the command line."""
    app.command()(grade)
    app.command()(merge)
    app.command()(regrade)


JOBS = typer.Option(min=1, help="How many submissions are graded at a time on this machine.")
LAB = typer.Option(help="The lab's stem, such as 08_coalescing; found from the notebooks if left out.")
GRADED = typer.Argument(help="A folder that grade wrote.", metavar="DIR")


def grade(
    submissions: Annotated[Path, typer.Argument(help="A folder or an archive: see below.", metavar="SUBMISSIONS")],
    out: Annotated[Path, typer.Option(help="Where grades.csv, feedback/ and what is kept of the run are written.")],
    lab: Annotated[str | None, LAB] = None,
    roster: Annotated[Path | None, typer.Option(help="Who is in the class: a platform's CSV, or one with id, name and email.")] = None,
    due: Annotated[str | None, typer.Option(help="When it is due, such as 2026-12-01T23:59+01:00; goes before course.toml.")] = None,
    late_policy: Annotated[str | None, typer.Option(help="Such as percent_per_day=10,days=3,grace_minutes=15.")] = None,
    jobs: Annotated[int, JOBS] = 1,
    scheduler: Annotated[str | None, typer.Option(help="A Dask scheduler that runs already, such as tls://head:8786.")] = None,
    tls_ca: Annotated[Path | None, typer.Option(help="The scheduler's certificate authority; Dask's settings if left out.")] = None,
    tls_cert: Annotated[Path | None, typer.Option(help="Our certificate for the scheduler.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Our key for the scheduler.")] = None,
    shard: Annotated[str | None, typer.Option(help="Grade one part of n, such as 2/8; needs --seed. `merge` joins them.")] = None,
    seed: Annotated[int | None, typer.Option(help="The secret that hidden tests draw their inputs from; new and kept in run.json.")] = None,
    course: Annotated[Path | None, typer.Option(help="The folder with solutions/, labs/, tests/hidden/; else this checkout.")] = None,
    gpu: Annotated[bool, typer.Option("--gpu", help="Run kernels that pass on this machine's GPU too, and time them. No points.")] = False,
    unsafe_local: Annotated[bool, typer.Option("--unsafe-local", help="Run without a sandbox; the gradebook is marked so.")] = False,
) -> None:
    """Grade submissions.

    They are a folder with one notebook or one folder a student, nbgrader's submitted/, or what Canvas, Moodle and
    Gradescope give to download, packed or unpacked.

    Kernels are interpreted, never executed; host functions and the notebook's own checks run in a sandbox. Every
    submission gets a line in grades.csv and a page in feedback/, whatever is wrong with it. A run that was stopped goes
    on when the same command is given again; what was graded already costs nothing.

    With --gpu, DIR/gpu.csv has the time of each kernel that passed, beside that of the lab's solution.
    """
    from warpwise.grading import grade as grade_all
    from warpwise.grading.engine import Where
    from warpwise.grading.scoring import course as courses
    from warpwise.grading.scoring import roster as rosters

    for path, read in ((roster, rosters.load), (due, courses.due), (late_policy, courses.late_policy)):
        if path is not None:
            read(path)  # a mistake in these is told before the work, not after it
    settings = {"roster": roster and str(roster.resolve()), "due": due, "late_policy": late_policy}
    where = Where(jobs, scheduler, _tls(tls_ca, tls_cert, tls_key), _shard(shard), gpu)
    given = {name: value for name, value in settings.items() if value}
    records = grade_all(
        submissions, out, lab=lab, seed=seed, unsafe_local=unsafe_local, progress=True, course=course, where=where, settings=given
    )
    typer.echo(f"{_counted(len(records))} graded: see {out / 'grades.csv'} and {out / 'feedback'}")
    _say_left_over(out, records)


def merge(
    out: Annotated[Path, typer.Argument(help="Where the whole is written.", metavar="OUT")],
    parts: Annotated[list[Path], typer.Argument(help="The folders that grade --shard wrote.", metavar="PART...")],
) -> None:
    """Join the parts of a run that were graded with --shard.

    They must have one seed and one version of the labs. The gradebook and the feedback are those of a run in one piece.
    """
    from warpwise.grading.again import merge as merge_all

    records = merge_all(out, parts)
    typer.echo(f"{_counted(len(records))} joined: see {out / 'grades.csv'} and {out / 'feedback'}")


def regrade(
    folder: Annotated[Path, GRADED],
    student: Annotated[list[str] | None, typer.Option(help="Only this student; may be given again.")] = None,
    lab: Annotated[str | None, typer.Option(help="Only this lab.")] = None,
    jobs: Annotated[int, JOBS] = 1,
) -> None:
    """Grade again, with the same seed, and say what changed.

    The submissions have to be where they were. Overrides stay as they are. Where hidden tests or a lab have changed
    since, `grade` does this by itself: what they decide is graded anew.
    """
    from warpwise.grading.again import regrade as grade_again
    from warpwise.grading.engine import Where

    pairs = grade_again(
        folder, lambda r: (not student or r.student in student) and lab in (None, r.lab), where=Where(jobs), progress=True
    )
    changed = [(before, after) for before, after in pairs if (before.points, before.problem) != (after.points, after.problem)]
    for before, after in changed:
        was, is_now = (one.problem or f"{one.points:g} points" for one in (before, after))
        typer.echo(f"{after.student!r}  {after.lab}: {was} before, {is_now} now")
    typer.echo(f"{_counted(len(pairs))} graded again, {len(changed)} with another result")


def _say_left_over(out: Path, records) -> None:
    """What is kept in the folder of submissions that were not found this time: nothing is lost, and nothing goes unsaid."""
    from warpwise.grading import store

    mine, labs = {(record.file, record.lab) for record in records}, {record.lab for record in records}
    left = [record for record in store.load(out).records if record.lab in labs and (record.file, record.lab) not in mine]
    if left:
        named = ", ".join(repr(record.file) for record in left[:3]) + (", ..." if len(left) > 3 else "")
        typer.echo(f"{out} also keeps {_counted(len(left))} that are not among these: {named}", err=True)


def _counted(count: int) -> str:
    return "1 submission" if count == 1 else f"{count} submissions"


def _shard(text: str | None) -> tuple[int, int]:
    from warpwise.errors import GradingError

    if text is None:
        return 1, 1
    i, slash, n = text.partition("/")
    if not (slash and i.isdecimal() and n.isdecimal()):
        raise GradingError(f"--shard is {text!r}; it should be like 2/8, the second of eight parts")
    return int(i), int(n)


def _tls(*paths: Path | None):
    from warpwise.errors import GradingError
    from warpwise.grading.cluster import Tls

    for path in filter(None, paths):
        if not os.access(path, os.R_OK):
            raise GradingError(f"{path} cannot be read")
    return Tls(*(path and str(path) for path in paths))

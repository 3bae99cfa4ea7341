"""Grade a folder of submissions: find them, grade each, keep records, write grades and feedback.

Every record is kept as soon as it is there, under a key of everything that decides it: a run that
is killed goes on where it was, and one that is repeated costs nothing. The other files of the
folder are made from the records."""

from __future__ import annotations

import errno
import hashlib
import json
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from warpwise.errors import GradingError
from warpwise.grading import (
    assignment,
    collect,
    gpu,
    gradebook,
    hidden,
    material,
    notebook,
    sandbox,
    scratch,
    store,
)
from warpwise.grading.assignment import Assigned
from warpwise.grading.grader import Grader, Task
from warpwise.grading.layouts import Submission
from warpwise.grading.material import Material
from warpwise.grading.record import Record
from warpwise.grading.scoring import course as courses
from warpwise.grading.scoring import folder, times
from warpwise.grading.scoring.course import Course
from warpwise.grading.scoring.standing import standings
from warpwise.grading.store import Kept, Records

if TYPE_CHECKING:  # Dask takes long to import, and most runs need none
    from warpwise.grading.cluster import Tls

Progress = bool | Callable[[int, int, Record], None]


@dataclass(frozen=True)
class Execution:
    """A run's place of execution: this process, ``jobs`` local ones, or a Dask cluster.

    ``shard`` is ``(i, n)``, to grade the i-th of n parts, counted from 1. With ``gpu``, this
    machine's GPU runs the kernels that pass, one at a time."""

    jobs: int = 1
    scheduler: str | None = None
    tls: Tls | None = None
    shard: tuple[int, int] = (1, 1)
    gpu: bool = False

    def __post_init__(self) -> None:
        i, n = self.shard
        if not 1 <= i <= n:
            raise GradingError(f"there is no shard {i}/{n}; of {n} there are 1/{n} to {n}/{n}")
        if self.gpu and (self.jobs > 1 or self.scheduler):
            alone = "leave out --jobs and --scheduler, or grade shards on several machines"
            raise GradingError(f"--gpu times one kernel at a time: {alone}")

    def has(self, submission: Submission) -> bool:
        """True if a submission is in this part."""
        i, n = self.shard
        return int(hashlib.sha256(submission.file.encode()).hexdigest(), 16) % n == i - 1


@dataclass(frozen=True)
class _Run:
    """One call of ``grade``, once everything was found to be in order."""

    out: Path
    seed: int
    mode: str
    materials: Mapping[str, Material]
    told: Sequence[Submission]
    again: Callable[[Record], bool]
    digests: Mapping[str, str] = field(default_factory=dict)
    gpu: str = ""  #: the name of the GPU, if kernels run on it too

    def task(self, submission: Submission) -> Task:
        """Make a submission's task, with a problem if its notebook cannot be read."""
        s, read, problem = submission, None, submission.problem
        if not problem:
            try:
                read = notebook.read(s.path)
            except GradingError as error:
                problem = str(error)
            except Exception as error:
                problem = f"the grader failed on this ({type(error).__name__}: {error})"[:300]
        submitted = s.submitted.isoformat() if s.submitted else ""
        known = Record(s.student, s.file, s.lab, (), problem)
        known = replace(known, name=s.name, submitted=submitted, late=s.late)
        known = replace(known, version=read.version if read else "")
        grader = (material.grader_version(), self.digests.get(s.lab), self.seed, self.mode)
        decides: list[Any] = [*grader, s.lab, problem, asdict(read) if read else None]
        decides += filter(None, [self.gpu])
        return Task(known, hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:32], read)


def grade(
    submissions: str | Path,
    out: str | Path,
    lab: str | None = None,
    seed: int | None = None,
    unsafe_local: bool = False,
    jobs: int = 1,
    progress: Progress = False,
    course: str | Path | None = None,
    execution: Execution | None = None,
    settings: Mapping[str, str] | None = None,
    again: Callable[[Record], bool] = lambda record: False,
    layout: str | None = None,
    unexpected: str | assignment.Choose = "",
) -> Records:
    """Grade every notebook in ``submissions``, and return the records, which lie in ``out``.

    ``out`` gets ``grades.csv``, ``feedback/``, ``records/`` and ``run.json``. ``lab`` names the one
    lab to grade; without it each notebook's lab is recognised. ``seed`` draws the hidden cases, and
    is secret and new unless given or kept in ``run.json`` from a run before. Submissions with a
    kept record are not graded again, unless ``again`` is true of it. ``unsafe_local`` runs student
    code without a sandbox and marks the grades so. ``progress`` is True for a bar on standard error
    with a line for each submission, or is called with the number done, the number in all and the
    record. ``course`` is the folder with solutions, labs and hidden tests. ``execution`` takes the
    place of ``jobs``. ``settings`` are kept in ``run.json`` for those who read the folder.
    ``layout`` is one of ``layouts.LAYOUTS``; without it that of a run before, or a guess.
    ``unexpected`` is one of ``assignment.CHOICES``, for notebooks of labs that were not assigned;
    or is asked for it, unless a run before was told.

    Raises GradingError, before anything is written, if there is nothing to grade, an entry that is
    nobody's, unexpected notebooks and no choice, no such lab, or no way to isolate student code;
    and where ``out`` cannot be written: then what was graded is kept."""
    source, target, execution = Path(submissions), Path(out), execution or Execution(jobs)
    mode = sandbox.NONE if unsafe_local else sandbox.isolation()
    with scratch.folder() as unpacked:
        _check_target(target, source)
        sources = {lab or "": str(source.resolve())}
        known = layout or _layout_before(target, sources)
        found = collect.find(source, unpacked, known)
        root = material.course_folder(course, source)
        stems = material.stems(root, lab)
        seed = _seed(target, seed, execution)
        materials = {stem: material.load(root, stem, seed) for stem in stems}
        ids = {stem: {e.id for e in m.lab.exercises} for stem, m in materials.items()}
        stem, choose = Path(lab).stem if lab else None, _choice(target, sources, unexpected)
        all_stems = material.stems(root)
        assigned = assignment.assign_labs(found.submissions, all_stems, stem, ids, choose)
        told = assigned.submissions
        if mode != sandbox.NONE:
            _check_hidden(root, source, target, unpacked)
        digests = {stem: material.digest(root, stem) for stem in stems}
        mine, device = [s for s in told if execution.has(s)], gpu.name() if execution.gpu else ""
        run = _Run(target, seed, mode, materials, mine, again, digests, device)
        scoring, laid_out = courses.find(root), {lab or "": found.layout.platform}
        settings = times.settled(settings or {}, all_stems, assigned.labs, scoring.zone)
        untimed = _untimed(run, assigned, found.layout.platform, scoring, settings)
        if progress is True and not known:
            print(f"{source} is {found.layout.said}", file=sys.stderr)
        said = [*([assigned.said] if assigned.choice else []), *untimed]
        _say(said if progress is True else ())
        with writing(target):
            (target / "records").mkdir(parents=True, exist_ok=True)
            _begin(run, sources, laid_out, {"course": str(root)} | settings, assigned)
            records = _records(run, execution, progress)
            write(target)
        _say(untimed if progress is True else ())
        return records


def write(out: Path) -> None:
    """Write the files made from the records in ``out``.

    Raises OSError, or GradingError for damaged records."""
    run = store.load(out)
    scored = folder.of_run(run)
    labs = {stem: scored.labs[stem] for stem in sorted(run.about["labs"])}
    store.write_about(out, run.about | {"isolated": all(record.isolated for record in run.records)})
    gradebook.write(run, labs, standings(scored.scores, scored.course))


def _records(run: _Run, execution: Execution, progress: Progress) -> Records:
    """Grade the submissions, and return all records, those kept before included.

    Each record is written and let go, so that memory does not grow with the class."""
    slow: set[tuple[str, str]] = set()  # the file and the lab of what timed out
    waiting = list(_waiting(run, slow))
    say = progress if callable(progress) else lambda done, all, record: None
    done = len(run.told) - len(waiting)
    counts: dict[str, Any] = {"total": len(run.told), "initial": done, "unit": "submission"}
    with tqdm(**counts, smoothing=0.05, disable=progress is not True) as bar:
        execution = replace(execution, jobs=min(execution.jobs, len(waiting)))
        tasks = (run.task(submission) for submission in waiting)
        for task, record in _graded(run, execution, tasks, len(waiting)) if waiting else ():
            store.keep(run.out, Kept(task.key, 1, record))
            if record.timed_out:
                slow.add((record.file, record.lab))
            if progress is True:
                bar.write(_line(record), file=sys.stderr)
            bar.update()
            done += 1
            say(done, len(run.told), record)
    for submission in run.told:
        if (submission.file, submission.lab) in slow:
            _once_more(run, submission)
    return Records(run.out, [store.path(run.out, s.file, s.lab).name for s in run.told])


def _waiting(run: _Run, slow: set[tuple[str, str]]) -> Iterator[Submission]:
    """Yield the submissions to be graded; of the others, add what timed out once to ``slow``."""
    for submission in run.told:
        place = store.path(run.out, submission.file, submission.lab)
        if place.exists():
            kept, task = store.read(place), run.task(submission)
            if kept.key == task.key and not run.again(kept.record):
                _renew(run, kept, task)
                if kept.record.timed_out and kept.tries == 1:
                    slow.add((submission.file, submission.lab))
                continue
        yield submission


def _renew(run: _Run, kept: Kept, task: Task) -> None:
    """Bring a kept record up to date with the platform's present data."""
    names = ("student", "name", "submitted", "late", "version")
    today = {name: getattr(task.record, name) for name in names}
    record = replace(kept.record, **today)
    if record != kept.record:
        store.keep(run.out, replace(kept, record=record))


def _graded(
    run: _Run, execution: Execution, tasks: Iterable[Task], count: int
) -> Iterator[tuple[Task, Record]]:
    jobs, scheduler = execution.jobs, execution.scheduler
    if jobs <= 1 and not scheduler:
        with Grader(run.materials, run.mode, run.gpu) as grader:
            for task in tasks:
                yield task, grader.record(task)
        return
    from warpwise.grading import cluster

    labs = {stem: m.lab for stem, m in run.materials.items()}
    files = {stem: material.files(m.course, stem) for stem, m in run.materials.items()}
    version = material.grader_version() if scheduler else ""
    kit = cluster.Kit(files, run.seed, run.mode == sandbox.NONE, version)
    tls = execution.tls or cluster.Tls()
    with cluster.connect(scheduler, tls) if scheduler else cluster.local_workers(jobs) as client:
        yield from cluster.graded(tasks, count, kit, client, labs)


def _once_more(run: _Run, submission: Submission) -> None:
    """Grade a submission that timed out again, alone: a busy machine may have been to blame."""
    task = run.task(submission)
    with Grader(run.materials, run.mode, run.gpu) as grader:
        store.keep(run.out, Kept(task.key, 2, grader.record(task)))


def _begin(
    run: _Run,
    sources: dict[str, str],
    laid_out: dict[str, str],
    settings: dict[str, str],
    assigned: Assigned,
) -> None:
    """Write ``run.json``, so that the run can be killed and started again from here on.

    ``sources`` maps each lab to the folder that it was found in, ``laid_out`` to its layout."""
    ((lab, source),) = sources.items()
    before = store.about(run.out)
    labs = {stem: m.lab.version for stem, m in run.materials.items()}
    isolated = run.mode != sandbox.NONE
    said: dict[str, Any] = {
        "seed": run.seed,
        "warpwise": gradebook.installed(),
        "isolated": isolated,
    }
    kept: dict[str, dict[str, Any]] = {
        "labs": labs,
        "sources": sources,
        "layouts": laid_out,
        "settings": settings,
        "assigned": {lab or source: assigned.labs},
        "unexpected": {source: assigned.choice} if assigned.choice else {},
    }
    for name, new in kept.items():
        said[name] = before.get(name, {}) | new
    store.write_about(run.out, said)


def _choice(out: Path, sources: dict[str, str], told: str | assignment.Choose) -> assignment.Choose:
    """Return what says what to do with unexpected notebooks: what was told, now or before."""
    (source,) = sources.values()
    known = told if isinstance(told, str) else ""
    known = known or store.about(out).get("unexpected", {}).get(source, "")
    if known:
        return lambda unexpected: known
    return assignment.refuse if isinstance(told, str) else told


def _layout_before(out: Path, sources: dict[str, str]) -> str | None:
    """Return the layout that the same folder had in a run before."""
    ((lab, source),) = sources.items()
    before = store.about(out)
    same = before.get("sources", {}).get(lab) == source
    return before.get("layouts", {}).get(lab) if same else None


def _seed(out: Path, seed: int | None, execution: Execution) -> int:
    kept: int | None = store.about(out).get("seed")
    if seed is not None and kept not in (None, seed):
        other = "give another folder, or leave --seed out"
        raise GradingError(f"{out} was graded with another seed; {other}")
    given = kept if seed is None else seed
    if given is None and execution.shard[1] > 1:
        raise GradingError("shards need one --seed: the same secret number for all of them")
    return secrets.randbits(63) if given is None else given


def _check_target(out: Path, submissions: Path) -> None:
    if out.exists() and not out.is_dir():
        raise GradingError(f"{out} is a file; --out names a folder")
    if submissions.resolve() in (out.resolve(), *out.resolve().parents):
        raise GradingError(f"{out} lies inside the submissions folder; grades go elsewhere")


def _check_hidden(course: Path, submissions: Path, out: Path, unpacked: Path) -> None:
    """Raise GradingError if a folder of the run, or what a link in it leads to, is in sandboxes."""
    paths = {"the course": course, "the submissions folder": submissions, "the output": out}
    paths |= {f"the course's {name}": course / name for name in ("solutions", hidden.FOLDER)}
    paths |= {f"the output's {name}": out / name for name in ("records", "run.json")}
    sandbox.check_hidden(paths | {"the temporary folder": unpacked})


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Turn an OSError into one line; files that were written stay."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        then = "; what was graded is kept: make room and run the same command again" if full else ""
        raise GradingError(f"{out} cannot be written: {error.strerror or error}{then}") from error


def _untimed(
    run: _Run, assigned: Assigned, platform: str, course: Course, settings: Mapping[str, str]
) -> list[str]:
    """Return a line, if there are due times and nobody knows when anything was handed in."""
    if any(s.submitted for s in run.told) or (run.out / times.NAME).exists():
        return []
    known = store.about(run.out).get("settings", {}) | dict(settings)
    return list(filter(None, [times.untimed(platform, known, course, assigned.labs)]))


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        print(f"warpwise: {line}", file=sys.stderr)


def _line(record: Record) -> str:
    outcome = record.problem or f"{record.points:g} of {record.possible:g} points"
    return f"{record.file!r}  {outcome}  ({record.seconds:.1f} s)"

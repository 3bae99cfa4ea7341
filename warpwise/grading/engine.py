"""Grade a folder of submissions: find them, have each graded on its own, keep what comes of it, write the gradebook and the feedback.

Every record is kept as soon as it is there, under a key of all that decides it: a run that is killed goes on where it was, and one
that is repeated costs nothing. What the folder holds beside the records is made from them.
"""

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
from tempfile import TemporaryDirectory

from tqdm import tqdm

from warpwise.errors import GradingError
from warpwise.grading import collect, gpu, gradebook, material, notebook, sandbox, store
from warpwise.grading.collect import Submission
from warpwise.grading.grader import Grader, Task
from warpwise.grading.material import Material
from warpwise.grading.record import Record
from warpwise.grading.scoring import course as courses
from warpwise.grading.scoring import folder
from warpwise.grading.store import Kept

Progress = bool | Callable[[int, int, Record], None]


@dataclass(frozen=True)
class Where:
    """Who does the work: this process, ``jobs`` processes of this machine, or a Dask cluster's; and which part of it.

    ``shard`` is ``(i, n)``: the i-th of n parts, counted from 1. ``tls`` is a ``cluster.Tls``. With ``gpu``, this machine's GPU runs
    the kernels that pass, one at a time.
    """

    jobs: int = 1
    scheduler: str | None = None
    tls: object = None
    shard: tuple[int, int] = (1, 1)
    gpu: bool = False

    def __post_init__(self) -> None:
        i, n = self.shard
        if not 1 <= i <= n:
            raise GradingError(f"there is no shard {i}/{n}; of {n} there are 1/{n} to {n}/{n}")
        if self.gpu and (self.jobs > 1 or self.scheduler):
            raise GradingError("--gpu times one kernel at a time: leave out --jobs and --scheduler, or grade shards on several machines")

    def has(self, submission: Submission) -> bool:
        """Whether a submission is in this part."""
        return int(hashlib.sha256(submission.file.encode()).hexdigest(), 16) % self.shard[1] == self.shard[0] - 1


@dataclass(frozen=True)
class _Run:
    """One call of ``grade``, once everything is found to be in order."""

    out: Path
    seed: int
    mode: str
    materials: Mapping[str, Material]
    told: Sequence[Submission]
    again: Callable[[Record], bool]
    digests: Mapping[str, str] = field(default_factory=dict)
    gpu: str = ""  #: its name, where kernels run on it too

    def task(self, submission: Submission) -> Task:
        """The task that a submission is. A notebook that cannot be read is a problem."""
        s, read, problem = submission, None, submission.problem
        if not problem:
            try:
                read = notebook.read(s.path)
            except GradingError as error:
                problem = str(error)
            except Exception as error:
                problem = f"the grader failed on this ({type(error).__name__}: {error})"[:300]
        submitted = s.submitted.isoformat() if s.submitted else ""
        known = Record(s.student, s.file, s.lab, (), problem, name=s.name, submitted=submitted, late=s.late)
        known = replace(known, version=read.version if read else "")
        decides = [material.grader_version(), self.digests.get(s.lab), self.seed, self.mode, s.lab, problem, asdict(read) if read else None]
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
    where: Where | None = None,
    settings: Mapping[str, str] | None = None,
    again: Callable[[Record], bool] = lambda record: False,
) -> tuple[Record, ...]:
    """Grade every notebook in ``submissions``; ``out`` gets ``grades.csv``, ``feedback/``, ``records/`` and ``run.json``.

    ``lab`` names the one lab to grade; without it each notebook's lab is recognised. ``seed`` draws the hidden cases, and is
    secret and new unless given or kept in ``run.json`` from a run before. What is kept there is not graded again, unless ``again`` says
    so of its record. ``unsafe_local`` runs student code without a sandbox and marks the grades so. ``progress`` is True for a bar on
    standard error with a line for each submission, or is called with the number done, the number in all and the record. ``course`` is
    the folder with solutions, labs and hidden tests. ``where`` takes the place of ``jobs`` where more is to be said. ``settings`` are
    kept in ``run.json`` for those who read the folder.

    Raises GradingError, before anything is written, if there is nothing to grade, no such lab, or no way to keep student code
    apart; and where ``out`` cannot be written: then what was graded is kept.
    """
    source, target, where = Path(submissions), Path(out), where or Where(jobs)
    with TemporaryDirectory(prefix="warpwise-", ignore_cleanup_errors=True) as unpacked:
        found = collect.find(source, Path(unpacked))
        _check_target(target, source)
        root = material.course_folder(course, source)
        courses.find(root)
        stems = material.stems(root, lab)
        seed = _seed(target, seed, where)
        materials = {stem: material.load(root, stem, seed) for stem in stems}
        ids = {stem: {e.id for e in m.lab.exercises} for stem, m in materials.items()}
        told = collect.recognised(found, material.stems(root), Path(lab).stem if lab else None, ids)
        mode = sandbox.NONE if unsafe_local else sandbox.isolation()
        digests = {stem: material.digest(root, stem) for stem in stems}
        run = _Run(target, seed, mode, materials, [s for s in told if where.has(s)], again, digests, gpu.name() if where.gpu else "")
        with writing(target):
            (target / "records").mkdir(parents=True, exist_ok=True)
            _begin(run, {lab or "": str(source.resolve())}, {"course": str(root), **(settings or {})})
            records = _records(run, where, progress)
            write(target)
        return records


def write(out: Path) -> None:
    """Write what is made from the records in ``out``. Raises OSError, or GradingError for damaged records."""
    run, scored = store.load(out), folder.gradebook(out)
    labs = {stem: scored.labs[stem] for stem in sorted(run.about["labs"])}
    store.write_about(out, run.about | {"isolated": all(record.isolated for record in run.records)})
    gradebook.write(run, labs, {score.file: folder.told(score) for score in scored.scores if score.file and folder.told(score)})


def _records(run: _Run, where: Where, progress: Progress) -> tuple[Record, ...]:
    """A record for each submission, those that are kept already included."""
    records: dict[tuple[str, str], Record] = {}
    waiting = list(_waiting(run, records))
    say = progress if callable(progress) else lambda done, all, record: None
    with tqdm(total=len(run.told), initial=len(records), unit="submission", smoothing=0.05, disable=progress is not True) as bar:
        where = replace(where, jobs=min(where.jobs, len(waiting)))
        tasks = (run.task(submission) for submission in waiting)
        for task, record in _graded(run, where, tasks, len(waiting)) if waiting else ():
            store.keep(run.out, Kept(task.key, 1, record))
            records[record.file, record.lab] = record
            if progress is True:
                bar.write(_line(record), file=sys.stderr)
            bar.update()
            say(len(records), len(run.told), record)
    for submission in run.told:
        _once_more(run, submission, records)
    return tuple(records[s.file, s.lab] for s in run.told)


def _waiting(run: _Run, records: dict) -> Iterator[Submission]:
    """The submissions of which no record with the same key is kept; the others' records go into ``records``."""
    for submission in run.told:
        place = store.path(run.out, submission.file, submission.lab)
        if place.exists():
            kept, task = store.read(place), run.task(submission)
            if kept.key == task.key and not run.again(kept.record):
                records[submission.file, submission.lab] = _renewed(run, kept, task)
                continue
        yield submission


def _renewed(run: _Run, kept: Kept, task: Task) -> Record:
    """A kept record with what the platform says of it today."""
    today = {name: getattr(task.record, name) for name in ("student", "name", "submitted", "late", "version")}
    record = replace(kept.record, **today)
    if record != kept.record:
        store.keep(run.out, replace(kept, record=record))
    return record


def _graded(run: _Run, where: Where, tasks: Iterable[Task], count: int) -> Iterator[tuple[Task, Record]]:
    if where.jobs <= 1 and not where.scheduler:
        with Grader(run.materials, run.mode, run.gpu) as grader:
            for task in tasks:
                yield task, grader.record(task)
        return
    from warpwise.grading import cluster

    labs = {stem: m.lab for stem, m in run.materials.items()}
    files = {stem: material.files(m.course, stem) for stem, m in run.materials.items()}
    version = material.grader_version() if where.scheduler else ""
    kit = cluster.Kit(files, run.seed, run.mode == sandbox.NONE, version)
    there = cluster.at(where.scheduler, where.tls or cluster.Tls()) if where.scheduler else cluster.here(where.jobs)
    with there as client:
        yield from cluster.graded(tasks, count, kit, client, labs)


def _once_more(run: _Run, submission: Submission, records: dict) -> None:
    """Grade once more, alone, what the wall clock ended: a busy machine may have been to blame."""
    record = records[submission.file, submission.lab]
    if not record.timed_out or store.read(store.path(run.out, record.file, record.lab)).tries > 1:
        return
    task = run.task(submission)
    with Grader(run.materials, run.mode, run.gpu) as grader:
        records[submission.file, submission.lab] = grader.record(task)
    store.keep(run.out, Kept(task.key, 2, records[submission.file, submission.lab]))


def _begin(run: _Run, sources: dict[str, str], settings: dict[str, str]) -> None:
    """Write ``run.json``: from here on the run can be killed and started again. ``sources`` says which folder each lab was found in."""
    before = store.about(run.out)
    labs = {stem: m.lab.version for stem, m in run.materials.items()}
    said = {"seed": run.seed, "warpwise": gradebook.installed(), "isolated": run.mode != sandbox.NONE}
    for name, new in (("labs", labs), ("sources", sources), ("settings", settings)):
        said[name] = before.get(name, {}) | new
    store.write_about(run.out, said)


def _seed(out: Path, seed: int | None, where: Where) -> int:
    kept = store.about(out).get("seed")
    if kept is not None and seed not in (None, kept):
        raise GradingError(f"{out} was graded with another seed; give another folder, or leave --seed out")
    if seed is None and kept is None and where.shard[1] > 1:
        raise GradingError("shards need one --seed: the same secret number for all of them")
    return secrets.randbits(63) if seed is None and kept is None else kept if seed is None else seed


def _check_target(out: Path, submissions: Path) -> None:
    if out.exists() and not out.is_dir():
        raise GradingError(f"{out} is a file; --out names a folder")
    if submissions.resolve() in (out.resolve(), *out.resolve().parents):
        raise GradingError(f"{out} lies inside the submissions folder; grades go elsewhere")


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Whatever keeps files from being written is said in one line; what was written stays."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        then = "; what was graded is kept: make room and run the same command again" if full else ""
        raise GradingError(f"{out} cannot be written: {error.strerror or error}{then}") from error


def _line(record: Record) -> str:
    outcome = record.problem or f"{record.points:g} of {record.possible:g} points"
    return f"{record.file!r}  {outcome}  ({record.seconds:.1f} s)"

"""Grade a folder of submissions: find them, grade each, keep records, write grades and feedback.

Every record is kept as soon as it is there, under a key of everything that decides it: a run that
is killed goes on where it was, and one that is repeated costs nothing. The other files of the
folder are made from the records."""

from __future__ import annotations

import errno
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from warpwise.errors import GradingError
from warpwise.grading import (
    assignment,
    beginning,
    changes,
    collect,
    compiling,
    decisions,
    gpu,
    gradebook,
    material,
    notebook,
    sandbox,
    scratch,
    store,
    unfinished,
)
from warpwise.grading.changes import Change, Confirm
from warpwise.grading.execution import Execution, Means, graded
from warpwise.grading.grader import Task
from warpwise.grading.layouts import Submission
from warpwise.grading.record import NO_COMPILER, Record
from warpwise.grading.scoring import course as courses
from warpwise.grading.scoring import folder, times
from warpwise.grading.scoring.standing import standings
from warpwise.grading.store import PENDING, RECORDS, Kept, Records

Progress = bool | Callable[[int, int, Record], None]
Place = tuple[str, str]  #: a submission's file and lab, which tell it from all others


@dataclass(frozen=True)
class _Run:
    """One call of ``grade``, once everything was found to be in order.

    ``by_hand`` is True if what is told is to be graded again, whatever is kept of it."""

    out: Path
    means: Means
    told: Sequence[Submission]
    digests: Mapping[str, Mapping[str, str]]
    by_hand: bool = False
    why: str = ""  #: the instructor's own words, for changed grades

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
        parts = {
            decisions.WORK: decisions.digest([s.lab, problem, asdict(read) if read else None]),
            decisions.FILE: decisions.of_file(s.path) if read else "",
            "grader": material.grader_version(),
            "seed": decisions.digest(self.means.seed),
            "mode": self.means.mode,
            "gpu": self.means.gpu,
            **self.digests.get(s.lab, {}),
        }
        return Task(known, decisions.key(parts), read, parts)


@dataclass
class _State:
    """What a run has still to grade, and what became of submissions that were graded before.

    ``asked`` maps those whose new grade waits until somebody agrees to the reason, ``keys`` maps
    the others that are graded again to their new keys, and ``slow`` timed out once."""

    todo: list[Submission] = field(default_factory=list)
    asked: dict[Place, str] = field(default_factory=dict)
    keys: dict[Place, str] = field(default_factory=dict)
    slow: set[Place] = field(default_factory=set)
    changed: dict[Place, Change] = field(default_factory=dict)

    def notice(self, kept: Kept) -> None:
        """Remember a record that timed out once."""
        if kept.record.timed_out and kept.tries == 1:
            self.slow.add((kept.record.file, kept.record.lab))


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
    layout: str | None = None,
    unexpected: str | assignment.Choose = "",
    only: Collection[Place] | None = None,
    confirm: Confirm = lambda changes: True,
    why: str = "",
) -> Records:
    """Grade every notebook in ``submissions``, and return the records, which lie in ``out``.

    ``out`` gets ``grades.csv``, ``feedback/``, ``records/`` and ``run.json``. ``lab`` names the one
    lab to grade, as ``labs.chosen`` takes it; without it each notebook's lab is recognised.
    ``seed`` draws the hidden cases, and is secret and new unless given or kept in ``run.json`` from
    a run before. ``unsafe_local`` runs student code without a sandbox and marks the grades so.
    ``progress`` is True for a bar on standard error with a line for each submission, or is called
    with the number done, the number in all and the record. ``course`` is the folder with solutions,
    labs and hidden tests.
    ``execution`` takes the place of ``jobs``. ``settings`` are kept in ``run.json`` for those who
    read the folder. ``layout`` is one of ``layouts.LAYOUTS``; without it that of a run before, or a
    guess. ``unexpected`` is one of ``assignment.CHOICES``, for notebooks of labs that were not
    assigned; or is asked for it, unless a run before was told.

    A submission is graded again if what decides its record has changed. ``confirm`` is then shown
    the changes; where they are not the student's own doing and some points differ, nothing is
    replaced unless it returns True. ``only`` names the files and labs to grade again, whatever else
    has changed. ``why`` is kept with every changed grade, and shown to the student.

    Raises GradingError, before anything is written, if there is nothing to grade, an entry that is
    nobody's, unexpected notebooks and no choice, no such lab, or no way to isolate student code;
    where ``out`` cannot be written: then what was graded is kept; and where ``confirm`` says no:
    then what was new is kept aside."""
    source, target, execution = Path(submissions), Path(out), execution or Execution(jobs)
    mode = sandbox.NONE if unsafe_local else sandbox.isolation()
    with scratch.folder() as unpacked:
        beginning.check_target(target, source)
        root = material.course_folder(course, source)
        stems = material.stems(root, lab or None)
        [lab] = stems if lab else [""]
        sources = {lab: str(source.resolve())}
        known = layout or beginning.layout_before(target, sources)
        found = collect.find(source, unpacked, known)
        seed = beginning.seed_of(target, seed, whole=execution.shard[1] == 1)
        labs = {stem: material.source(root, stem) for stem in stems}
        ids = {stem: {e.id for e in one.exercises} for stem, one in labs.items()}
        choose = beginning.choice(target, sources, unexpected)
        all_stems = material.stems(root)
        assigned = assignment.assign_labs(found.submissions, all_stems, lab or None, ids, choose)
        told = assigned.submissions
        beginning.check_source(target, sources, told)
        if mode != sandbox.NONE:
            beginning.check_hidden(root, source, target, unpacked)
        handed_in = {s.lab for s in told}  # drawing the cases of all labs takes long
        materials = {stem: material.load(root, stem, seed) for stem in stems if stem in handed_in}
        digests = {stem: material.digests(root, stem) for stem in stems}
        for stem, one in materials.items():
            digests[stem] |= compiling.digest(one, mode)
        mine = [s for s in told if execution.has(s) and (only is None or (s.file, s.lab) in only)]
        means = Means(materials, seed, mode, gpu.name() if execution.gpu else "")
        run = _Run(target, means, mine, digests, by_hand=only is not None, why=why)
        scoring = courses.find(root)
        settings = times.settled(settings or {}, all_stems, assigned.labs, scoring.zone)
        untimed = beginning.untimed(
            target, mine, assigned.labs, found.layout.platform, scoring, settings
        )
        if progress is True and not known:
            print(f"{source} is {found.layout.said}", file=sys.stderr)
        said = [*([assigned.said] if assigned.choice else []), *untimed]
        if any(one.get(compiling.PART) == "" for one in digests.values()):
            said.append(NO_COMPILER)
        _say(said if progress is True else ())
        with writing(target):
            (target / RECORDS).mkdir(parents=True, exist_ok=True)
            state = _look(run)
            if only is None:
                unfinished.begin(target, sources, told, state.keys, execution.shard)
                about: dict[str, dict[str, Any]] = {
                    "labs": {stem: one.version for stem, one in labs.items()},
                    "sources": sources,
                    "layouts": {lab: found.layout.platform},
                    "settings": {"course": str(root)} | settings,
                    "assigned": {lab or str(source.resolve()): assigned.labs},
                    "unexpected": {str(source.resolve()): assigned.choice}
                    if assigned.choice
                    else {},
                }
                beginning.write(target, seed, mode, about)
                _mark_unfinished(run, state)
            records = _records(run, state, execution, progress)
            unfinished.end(target)
            write(target)  # before the question, whose answer may take long
            if not _settled(run, state, confirm):
                raise changes.refused(target, len(state.asked))
            if state.asked:
                write(target)
        _say(untimed if progress is True else ())
        return records


def write(out: Path, students: Collection[str] | None = None) -> None:
    """Write the files made from the records in ``out``; pages of these students alone, if given.

    Raises OSError, or GradingError for damaged records."""
    run = store.load(out)
    scored = folder.of_run(run)
    labs = {stem: scored.labs[stem] for stem in scored.there if stem in scored.labs}
    isolated = gradebook.write(run, labs, standings(scored.scores, scored.course), students)
    if students is None:
        store.write_about(out, run.about | {"isolated": isolated})


def _look(run: _Run) -> _State:
    """Compare the submissions with what is kept of them."""
    state = _State()
    for s in run.told:
        at, path = (s.file, s.lab), store.path(run.out, s.file, s.lab)
        if not path.exists():
            state.todo.append(s)
            continue
        kept, task = store.read(path), run.task(s)
        if kept.key == task.key and not run.by_hand:
            changes.drop(run.out, *at)
            _renew(run, kept, task)
            state.notice(kept)
        elif not run.by_hand and decisions.of_the_student(kept.parts, task.parts):
            changes.drop(run.out, *at)
            state.keys[at] = task.key
            state.todo.append(s)
        else:
            state.asked[at] = changes.reason(kept, task.key, task.parts)
            if waits := changes.waits(run.out, *at, task.key):
                state.notice(waits)
            else:
                state.todo.append(s)
    return state


def _mark_unfinished(run: _Run, state: _State) -> None:
    """Write grades and pages that say what is not graded yet, in case the run is stopped."""
    new = {s.student for s in state.todo if (s.file, s.lab) not in state.asked}
    if new:
        write(run.out, new)


def _records(run: _Run, state: _State, execution: Execution, progress: Progress) -> Records:
    """Grade the submissions, and return all records, those kept before included.

    Each record is written and let go, so that memory does not grow with the class."""
    waiting = state.todo
    say = progress if callable(progress) else lambda done, all, record: None
    done = len(run.told) - len(waiting)
    if progress is True and state.asked and not run.by_hand:
        print(_announced(state), file=sys.stderr)
    counts: dict[str, Any] = {"total": len(run.told), "initial": done, "unit": "submission"}
    with tqdm(**counts, smoothing=0.05, disable=progress is not True) as bar:
        execution = replace(execution, jobs=min(execution.jobs, len(waiting)))
        tasks = (run.task(submission) for submission in waiting)
        for task, record in graded(run.means, execution, tasks, len(waiting)) if waiting else ():
            kept = Kept(task.key, 1, record, task.parts)
            _keep(run, state, changes.replaced(run.out, kept, run.why))
            state.notice(kept)
            if progress is True:
                bar.write(_line(record), file=sys.stderr)
            bar.update()
            done += 1
            say(done, len(run.told), record)
    for submission in run.told:
        if (submission.file, submission.lab) in state.slow:
            _once_more(run, state, submission)
    return Records(run.out, [store.path(run.out, s.file, s.lab).name for s in run.told])


def _keep(run: _Run, state: _State, new: Kept) -> None:
    """Write a record, or keep it aside where somebody has to agree."""
    at = (new.record.file, new.record.lab)
    if at in state.asked:
        (run.out / PENDING).mkdir(exist_ok=True)
        store.keep(run.out, new, PENDING)
        return
    store.keep(run.out, new)
    if at in state.keys:
        state.changed[at] = changes.last(new, asked=False)


def _settled(run: _Run, state: _State, confirm: Confirm) -> bool:
    """Show what was graded again, and take the new grades; False if somebody does not agree."""
    asked = [changes.last(kept, asked=True) for kept in changes.waiting(run.out, state.asked)]
    found = [*state.changed.values(), *asked]
    if found and not confirm(found) and any(change.differs for change in asked):
        return False
    changes.take(run.out, state.asked, run.why)
    return True


def _announced(state: _State) -> str:
    """Say what is graded again though nothing else was handed in."""
    reasons = ", ".join(f"{why} ({n})" for why, n in Counter(state.asked.values()).most_common())
    return f"kept grades are worked out again and compared before any is replaced: {reasons}"


def _renew(run: _Run, kept: Kept, task: Task) -> None:
    """Bring a kept record up to date with the platform's present data."""
    names = ("student", "name", "submitted", "late", "version")
    today = {name: getattr(task.record, name) for name in names}
    new = replace(kept, record=replace(kept.record, **today), parts=task.parts)
    if new != kept:
        store.keep(run.out, new)


def _once_more(run: _Run, state: _State, submission: Submission) -> None:
    """Grade a submission that timed out again, alone: a busy machine may have been to blame."""
    task = run.task(submission)
    place = PENDING if (submission.file, submission.lab) in state.asked else RECORDS
    first = store.read(store.path(run.out, submission.file, submission.lab, place))
    with run.means.grader() as grader:
        _keep(run, state, replace(first, tries=2, record=grader.record(task)))


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Turn an OSError into one line; files that were written stay."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        then = "; what was graded is kept: make room and run the same command again" if full else ""
        raise GradingError(f"{out} cannot be written: {error.strerror or error}{then}") from error


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        print(f"warpwise: {line}", file=sys.stderr)


def _line(record: Record) -> str:
    outcome = record.problem or f"{record.points:g} of {record.possible:g} points"
    return f"{record.file!r}  {outcome}  ({record.seconds:.1f} s)"

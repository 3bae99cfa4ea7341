"""Time the grader at the size of a class: submissions, workers, memory."""

from __future__ import annotations

import json
import os
import random
import resource
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import nbformat
import psutil
from bench_row import Row, seconds
from support.wrong_answers import EXPECT, wrong_answers

from warpwise.errors import GradingError
from warpwise.grading import grade
from warpwise.grading.execution import Execution
from warpwise.labs.source import load_lab, solved_notebook

ROOT = Path(__file__).parent.parent
STEM = "08_coalescing"
CLASS, FEW = 1000, 60
SEED = 20_26


def grader(say: Callable[[str], None]) -> Iterator[Row]:
    """Time a few submissions on one core, in one process.

    The start of the warm processes, which many share, does not count."""
    say("the grader, six submissions on one core ...")
    with one_core() as note:
        try:
            records = graded(notebooks(6, hostile=0), jobs=1)
        except GradingError as error:
            yield Row("grader, a submission", None, "s", 5, at_most=True, note=str(error))
            return
    yield Row(
        "grader, a submission",
        max(record.seconds for record in records[1:]),
        "s",
        5,
        at_most=True,
        note=note,
    )


def a_class(say: Callable[[str], None]) -> Iterator[Row]:
    """Time right and wrong answers by turns, one in ten hostile, no two notebooks the same."""
    memory, done = Memory(), []

    def told(count: int, of: int, record) -> None:
        done.append((count, memory.own()))
        say(f"a class: {count} of {of} submissions graded ...")

    with memory:
        taken = seconds(lambda: graded(notebooks(CLASS, hostile=10), jobs=2, progress=told))
    early, late = done[len(done) // 4][1], done[-1][1]
    yield Row(
        f"{CLASS} submissions, two jobs",
        taken / 60,
        "min",
        10,
        at_most=True,
        note=f"{taken / CLASS:.2f} s each; one in ten hostile",
    )
    yield Row(
        "memory of the grader, at most",
        late / 1e6,
        "MB",
        1000,
        at_most=True,
        note=f"{early / 1e6:.0f} MB after a quarter of them",
    )
    yield Row(
        "memory of all its processes, at most",
        memory.most / 1e6,
        "MB",
        note="workers, warm processes and sandboxes too",
    )


def workers(say: Callable[[str], None]) -> Iterator[Row]:
    """Time two Dask workers of this machine against one, both running already."""
    import dask.config
    from distributed import LocalCluster

    from warpwise.grading.cluster import QUIET

    taken = {}
    for count in (1, 2):
        say(f"{FEW} submissions by {count} Dask worker{'s' * (count > 1)} ...")
        settings = {
            "n_workers": count,
            "threads_per_worker": 1,
            "dashboard_address": None,
            "memory_limit": 0,
            "silence_logs": 50,
        }
        with dask.config.set(QUIET), LocalCluster(**settings) as cluster:
            execution = Execution(scheduler=cluster.scheduler_address)
            graded(notebooks(2, hostile=0), execution=execution)
            taken[count] = seconds(
                lambda execution=execution: graded(notebooks(FEW, hostile=0), execution=execution)
            )
    yield Row(
        "two Dask workers against one",
        taken[1] / taken[2],
        "x",
        1.9,
        note=f"{FEW} submissions: {taken[1]:.0f} s, {taken[2]:.0f} s",
    )


def graded(made: Iterator[tuple[str, str]], **how) -> tuple:
    """Return the records of some notebooks, given by name and text."""
    with tempfile.TemporaryDirectory() as folder:
        submissions = Path(folder, "submissions")
        submissions.mkdir()
        for name, text in made:
            (submissions / f"{name}.ipynb").write_text(text)
        return grade(submissions, Path(folder, "grades"), lab=STEM, seed=SEED, course=ROOT, **how)


def notebooks(count: int, hostile: int, stem: str = STEM) -> Iterator[tuple[str, str]]:
    """Return solved notebooks and ones with a wrong answer, by turns.

    Every ``hostile``-th has an attack in place of an answer, if not 0."""
    solved, drawn = solved_notebook(load_lab(stem)), random.Random(SEED)
    paths = sorted((ROOT / f"tests/course/{stem}/attacks").glob("*.py"))
    attacks = [(EXPECT.match(text)[1], text) for text in (path.read_text() for path in paths)]
    wrong = [(answer.exercise, answer.text) for answer in wrong_answers(stem)]
    for number in range(count):
        attack = attacks and hostile and number % hostile == hostile - 1
        exercise, text = (
            drawn.choice(attacks) if attack else drawn.choice(wrong) if number % 2 else ("", "")
        )
        made = nbformat.from_dict(solved)
        for cell in made.cells:
            if text and cell.metadata.get("warpwise", {}).get("id") == exercise:
                cell.source = text
        made.cells.append(nbformat.v4.new_code_cell(f"# student {number}", id=f"own-{number}"))
        yield f"student{number:05}", json.dumps(made)


class Memory:
    """A watch on the memory of this process and those it started, twice a second.

    It keeps the most of all together, in bytes."""

    def __init__(self):
        self.most, self.over = 0, threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Memory:
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.over.set()
        self.thread.join()

    @staticmethod
    def own() -> int:
        """Return the most that this process has held so far."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    @staticmethod
    def now() -> int:
        """Return what this process holds now."""
        resident: int = psutil.Process().memory_info().rss
        return resident

    @staticmethod
    def of_all() -> int:
        """Return what this process and those it started hold now, less what they share."""
        mine, total = psutil.Process(), 0
        for process in (mine, *mine.children(recursive=True)):
            with suppress(psutil.Error):
                total += process.memory_info().rss - process.memory_info().shared
        return total

    def _look(self) -> None:
        while not self.over.wait(0.5):
            self.most = max(self.most, self.of_all())


@contextmanager
def one_core() -> Iterator[str]:
    """Keep this process and those it starts on one core, if the system can, and say so."""
    if not hasattr(os, "sched_setaffinity"):
        yield "on all cores"
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield (
            "on one core, the nbval re-run included; the slowest of five, "
            "after one that starts the warm processes"
        )
    finally:
        os.sched_setaffinity(0, cores)

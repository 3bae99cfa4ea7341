"""From one notebook to its record: kernels are simulated, host functions run in the sandbox, the notebook is run again for its checks.

Whatever a notebook does, it ends in a record. A grader keeps warm processes, so it belongs to one thread, and it is closed when done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from warpwise.errors import GradingError
from warpwise.grading import gpu, hidden, notebook, sandbox, simulate, visible
from warpwise.grading.functions import judge_function
from warpwise.grading.material import Material
from warpwise.grading.record import NOT_GRADED, NOT_REACHED, Finding, Record, Result, Visible, missing
from warpwise.grading.warm import Broken, Warm
from warpwise.labs.source import Exercise, Lab

JOBS_PER_PROCESS = 200  #: then a warm process is started anew, whatever memory it may have gathered


@dataclass(frozen=True)
class Task:
    """A submission to be graded: what is known of it (``record``, with a ``problem`` if it cannot be graded) and its code."""

    record: Record
    key: str  #: of what decides its record
    notebook: notebook.Notebook | None = None


class Grader:
    """Grades submissions of some labs, one after another. ``mode`` is how student code is kept apart: see ``sandbox.isolation``.

    ``gpu`` is the name of the GPU on which kernels that passed run too; empty for none.
    """

    def __init__(self, materials: Mapping[str, Material], mode: str, gpu: str = ""):
        self.materials, self.mode, self.gpu = materials, mode, gpu
        self.simulation = Served(simulate.serving)
        self.notebooks = Served(lambda: sandbox.warm(sandbox.NOTEBOOK, mode)) if mode != sandbox.NONE else None

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """End the warm processes."""
        for served in filter(None, (self.simulation, self.notebooks)):
            served.close()

    def record(self, task: Task) -> Record:
        """The record of one submission; an error of whatever kind becomes its problem."""
        start = time.monotonic()
        material = self.materials.get(task.record.lab)
        record = replace(task.record, isolated=self.mode != sandbox.NONE)
        try:
            if record.problem:
                raise GradingError(record.problem)
            record = replace(record, results=self._tried(material, task.notebook))
        except Exception as error:
            problem = str(error) if isinstance(error, GradingError) else failure(error)
            record = replace(record, problem=problem, results=tuple(ungraded(material and material.lab)))
        return replace(record, seconds=time.monotonic() - start)

    def _tried(self, material: Material, submitted: notebook.Notebook) -> tuple[Result, ...]:
        """The results; once more where a warm process broke, which is nobody's fault that is graded."""
        try:
            return tuple(self._results(material, submitted))
        except Broken:
            return tuple(self._results(material, submitted))

    def _results(self, material: Material, submitted: notebook.Notebook) -> Iterator[Result]:
        answers = notebook.answers(submitted, material.lab.exercises)
        judged = self._simulated(material, [a for a in answers.values() if a])
        again = visible.with_answers(material.reference, answers)
        shown = visible.run_again(again, self.mode, self.notebooks.get() if self.notebooks else None)
        for exercise in material.lab.exercises:
            answer, found = answers[exercise.id], judged.get(exercise.id)
            finding = missing(exercise.name) if found is None else found.finding or self._called(material, exercise, found.text)
            seen, prints = shown.get(exercise.id, Visible(NOT_REACHED)), found.prints if found else ()
            text = answer.text if answer else ""
            on_gpu = gpu.looked_at(answer, material, self.gpu) if self.gpu and exercise.kind == "kernel" and finding.passed else None
            yield Result(exercise.id, exercise.points, finding, seen, exercise.choice, text, prints, on_gpu)

    def _simulated(self, material: Material, answers: Sequence[notebook.Answer]) -> dict[str, simulate.Simulated]:
        if not answers:
            return {}
        return simulate.simulate(material.course, material.lab.stem, material.seed, answers, material.given, self.simulation.get())

    def _called(self, material: Material, exercise: Exercise, text: str) -> Finding:
        return judge_function(text, exercise.name, hidden.cases(material.tests, exercise.id, material.seed), self.mode)


class Served:
    """A warm process, started when it is first needed and anew when it has served long; None from ``get`` where none starts here."""

    def __init__(self, start: Callable[[], Warm]):
        self.start, self.warm, self.jobs, self.cold = start, None, 0, False

    def get(self) -> Warm | None:
        if self.warm is None or self.warm.broken or self.jobs >= JOBS_PER_PROCESS:
            self.close()
            if not self.cold:
                self._begin()
        self.jobs += 1
        return self.warm

    def close(self) -> None:
        if self.warm is not None:
            self.warm.close()
        self.warm = None

    def _begin(self) -> None:
        self.jobs, self.cold = 0, True
        with suppress(Broken):
            self.warm, self.cold = self.start(), False


def failure(error: BaseException) -> str:
    """The problem of a submission on which this program failed."""
    return f"the grader failed on this ({type(error).__name__}: {error})"[:300]


def ungraded(lab: Lab | None) -> Iterator[Result]:
    """The results of a submission that was not graded: one for each exercise of its lab, if that is known."""
    for exercise in lab.exercises if lab else ():
        yield Result(exercise.id, exercise.points, Finding(False, NOT_GRADED), choice=exercise.choice)

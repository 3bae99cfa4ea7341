"""Grade one notebook: simulate kernels, run host functions in the sandbox, run its checks again.

Whatever a notebook does, it gets a record. A grader keeps warm processes, so it belongs to one
thread, and has to be closed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from warpwise.errors import GradingError
from warpwise.grading import (
    compiling,
    gpu,
    hidden,
    notebook,
    older,
    parts,
    sandbox,
    simulate,
    visible,
)
from warpwise.grading.host import judge_function
from warpwise.grading.material import Material
from warpwise.grading.record import (
    NOT_GRADED,
    NOT_REACHED,
    USED_UP,
    Finding,
    Record,
    Result,
    Visible,
    missing,
)
from warpwise.grading.warm import Broken, Warm
from warpwise.labs.source import Exercise, Lab

JOBS_PER_PROCESS = 200  #: then a warm process is restarted, in case it gathers memory


@dataclass(frozen=True)
class Task:
    """A submission to be graded: its record so far, perhaps with a ``problem``, and its code."""

    record: Record
    key: str  #: digest of everything that decides its record
    notebook: notebook.Notebook | None = None
    parts: Mapping[str, str] = field(default_factory=dict)  #: of that digest, by name


class Grader:
    """Grades submissions of some labs, one after another.

    ``mode`` isolates student code, as ``sandbox.isolation`` returns it. ``gpu`` is the name of the
    GPU on which kernels that passed run too; empty for none."""

    def __init__(self, materials: Mapping[str, Material], mode: str, gpu: str = ""):
        self.materials, self.mode, self.gpu = materials, mode, gpu
        self.simulation = Served(simulate.serving)
        self.notebooks = self._rooms(parts.NOTEBOOK)
        self.functions = self._rooms(parts.FUNCTIONS)
        self.compiling = self._rooms(parts.COMPILER)
        self.compiler = compiling.Compiler(mode)

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the warm processes."""
        warm = (self.simulation, self.notebooks, self.functions, self.compiling)
        for served in filter(None, warm):
            served.close()

    def _rooms(self, part: parts.Part) -> Served | None:
        start = partial(sandbox.warm, part, self.mode)
        return Served(start) if self.mode != sandbox.NONE else None

    def record(self, task: Task) -> Record:
        """Grade one submission; an error of whatever kind becomes its record's problem."""
        start = time.monotonic()
        material = self.materials.get(task.record.lab)
        record = replace(task.record, isolated=self.mode != sandbox.NONE)
        try:
            if record.problem or material is None or task.notebook is None:
                raise GradingError(record.problem or "there is nothing to grade")
            tried = self._tried(material, task.notebook)
            found, note = older.graded(tried, task.notebook, material.today)
            record = replace(record, results=found, note=note)
        except Exception as error:
            problem = str(error) if isinstance(error, GradingError) else failure(error)
            results = tuple(ungraded(material.lab if material else None))
            record = replace(record, problem=problem, results=results)
        return replace(record, seconds=time.monotonic() - start)

    def _tried(self, material: Material, submitted: notebook.Notebook) -> tuple[Result, ...]:
        """Return the results; try again where a warm process broke, no fault of the student's."""
        try:
            return tuple(self._results(material, submitted))
        except Broken:
            return tuple(self._results(material, submitted))

    def _results(self, material: Material, submitted: notebook.Notebook) -> Iterator[Result]:
        answers = notebook.answers(submitted, material.lab.exercises, material.given)
        simulated = self._simulated(material, [a for a in answers.values() if a])
        by_id = {exercise.id: exercise for exercise in material.lab.exercises}
        findings = {
            id: found.finding or self._called(material, by_id[id], found)
            for id, found in simulated.items()
        }
        stopped = {id for id, finding in findings.items() if finding.reason in USED_UP}
        again = visible.with_answers(material.reference, answers)
        warm = self.notebooks.get() if self.notebooks else None
        shown = visible.run_again(again, self.mode, warm, stopped)
        for exercise in material.lab.exercises:
            answer, finding = answers[exercise.id], findings.get(exercise.id)
            result = Result(
                exercise.id,
                exercise.points,
                missing(exercise.name),
                shown.get(exercise.id, Visible(NOT_REACHED)),
                exercise.choice,
                answer.text if answer else "",
            )
            if answer is None or finding is None:
                yield result
                continue
            result = replace(result, finding=finding, prints=simulated[exercise.id].prints)
            if exercise.kind == "kernel" and finding.passed:
                result = self._compiled(material, answer, simulated[exercise.id].causes, result)
            if self.gpu and exercise.kind == "kernel" and finding.passed:
                result = replace(result, gpu=gpu.run_on_gpu(answer, material, self.gpu))
            yield result

    def _simulated(
        self, material: Material, answers: Sequence[notebook.Answer]
    ) -> dict[str, simulate.Simulated]:
        if not answers:
            return {}
        about = (material.course, material.lab.stem, material.seed)
        return simulate.simulate(*about, answers, material.given, self.simulation.get())

    def _compiled(
        self, material: Material, answer: notebook.Answer, causes: Mapping[str, str], result: Result
    ) -> Result:
        """Hold a kernel that passed to its budget for the compiler, if it has one."""
        about = (answer, material, result.finding, causes)
        start = self.compiling.get if self.compiling else lambda: None
        found, said = self.compiler.held(*about, start)
        return replace(result, finding=found, compiler=said)

    def _called(self, material: Material, exercise: Exercise, found: simulate.Simulated) -> Finding:
        about = (material.tests, exercise.id, material.seed)
        more = partial(hidden.more_calls, *about)
        warm = self.functions.get() if self.functions else None
        calls = hidden.calls(*about)
        text, endless = found.text, found.endless
        return judge_function(text, exercise.name, calls, self.mode, more, warm, endless)


class Served:
    """Keeps a warm process: started when first needed, and again when it has served long."""

    def __init__(self, start: Callable[[], Warm]):
        self.start, self.jobs, self.cold = start, 0, False
        self.warm: Warm | None = None

    def get(self) -> Warm | None:
        """Return the process, or None where none starts here."""
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
    """Return the problem of a submission on which this program failed."""
    return f"the grader failed on this ({type(error).__name__}: {error})"[:300]


def ungraded(lab: Lab | None) -> Iterator[Result]:
    """Yield the results of a submission that was not graded: one for each exercise of its lab."""
    finding = Finding(False, NOT_GRADED)
    for exercise in lab.exercises if lab else ():
        yield Result(exercise.id, exercise.points, finding, choice=exercise.choice)

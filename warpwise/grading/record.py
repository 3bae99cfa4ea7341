"""The outcome of grading one submission, as frozen values that gradebook and feedback show."""

from __future__ import annotations

from dataclasses import dataclass, field

from warpwise.labs.budgets import within
from warpwise.labs.exercise import Reason
from warpwise.metrics import MORE_IS_BETTER

# Reasons that only the grader gives; those of a verdict are in ``labs.exercise.Reason`` and
# ``labs.judge.REASONS``.
MISSING = "no answer"
NOT_PYTHON = "not Python"
NOT_GRADED = "not graded"
OLDER = "from an older version of the lab"
NOT_YET = "not graded yet"  # the problem of a submission whose turn has not come
ENDED = "ended the process"
TOO_MUCH_MEMORY = "too much memory"
TOO_MUCH_OUTPUT = "too much output"
STOPPED = {
    "cpu": Reason.TOO_SLOW,
    "wall": Reason.TIMED_OUT,
    "memory": TOO_MUCH_MEMORY,
    "result": TOO_MUCH_OUTPUT,
    "chatter": TOO_MUCH_OUTPUT,
    "": ENDED,
}
#: reasons of answers that were stopped at a limit: they would use it up again
USED_UP = (Reason.TOO_SLOW, Reason.ENDLESS, Reason.TIMED_OUT, TOO_MUCH_MEMORY, TOO_MUCH_OUTPUT)

UNTOUCHED = (Reason.NOT_DONE, MISSING)

#: of a kernel that passed and has a budget for the compiler
NO_COMPILER = (
    "the machine that graded has no CUDA compiler, so registers, spills, local memory and FLOPs in "
    "an issue slot were not graded, and nothing is taken off"
)

# Outcomes of the student's own check when the notebook was run again.
SHOWN_PASSED, SHOWN_FAILED, NOT_REACHED = "passes", "fails", "not reached"
NOT_RUN_AGAIN = "not run again"  #: the answer had been stopped at a limit before


@dataclass(frozen=True)
class Counter:
    """A counter against its budget, from the worst of all cases that were judged.

    ``limit`` is its maximum, or for counters that should be large its minimum."""

    name: str
    value: float
    limit: float

    @property
    def over(self) -> bool:
        return not within(self.name, self.value, self.limit)

    @property
    def excess(self) -> float:
        """The distance beyond the limit; negative within it."""
        return self.limit - self.value if self.name in MORE_IS_BETTER else self.value - self.limit


@dataclass(frozen=True)
class Finding:
    """The trusted side's finding on one exercise.

    ``detail`` and ``advice`` are hidden renderings of messages: they tell nothing of the case.

    ``tried`` of ``cases`` were judged; grading stopped at the last of these where they are fewer.
    ``failed`` are the labels of those that failed, and ``case`` that of the one that is told, for
    the instructor's eyes only; ``behaviour`` says in words what sets them apart from the cases that
    were right. ``picture`` is a self-contained still of the student's kernel, as HTML."""

    passed: bool
    reason: str
    detail: str = ""
    advice: str = ""
    case: str = ""
    tried: int = 0
    cases: int = 0
    counters: tuple[Counter, ...] = ()
    behaviour: str = ""
    picture: str = field(default="", repr=False)
    failed: tuple[str, ...] = ()

    @property
    def right(self) -> int:
        """The number of cases that were right.

        Records of earlier versions have no labels: they stopped at the first that failed."""
        return self.tried - (len(self.failed) or not self.passed) if self.tried else 0

    @property
    def only_over_budget(self) -> bool:
        """True if every case was judged and the result right, but some cost more than allowed.

        Counters alone: a function that held too much memory was ended, so its result is unknown."""
        counted = self.reason.startswith(Reason.OVER_BUDGET)
        return counted and self.reason != Reason.TOO_MUCH_MEMORY and 0 < self.cases == self.tried


def missing(name: str) -> Finding:
    """Return the finding on an exercise whose function no cell defines."""
    return Finding(
        False,
        MISSING,
        f"no cell defines {name}",
        "take the exercise's cell from a fresh copy of the lab",
    )


@dataclass(frozen=True)
class Visible:
    """The outcome of a visible check in the re-run: shown, never counted.

    It ran next to student code."""

    outcome: str
    why: str = ""


@dataclass(frozen=True)
class OnGpu:
    """The outcome on a GPU of a kernel that passed: shown, never counted.

    ``problem`` is empty if it was right on all hidden cases there too. Times on the largest case
    are in seconds, 0 where there was no clock: the median of launches, that of the lab's own
    solution in the same process, and the least that the GPU's bandwidth and arithmetic allow, 0 if
    not known."""

    gpu: str
    problem: str = ""
    seconds: float = 0.0
    solution_seconds: float = 0.0
    least_seconds: float = 0.0


@dataclass(frozen=True)
class Result:
    """One exercise of one submission."""

    exercise: str
    possible: float
    finding: Finding
    visible: Visible = Visible(NOT_REACHED)
    choice: str = ""  #: of exercises with the same choice, the best counts
    text: str = field(default="", repr=False)  #: of the student's cell
    #: the text's fingerprint: ``grading.fingerprints``
    prints: tuple[int, ...] = field(default=(), repr=False)
    gpu: OnGpu | None = None
    compiler: str = ""  #: of a budget for NVIDIA's compiler: whether it was looked at

    @property
    def points(self) -> float:
        """All points or none: every hidden case has to pass, within budget."""
        return self.possible if self.finding.passed and self.finding.reason == Reason.PASSED else 0

    def earned(self, over_budget: float) -> float:
        """The points where a right result over budget earns this percentage of them."""
        share = over_budget / 100 if self.finding.only_over_budget else 0
        return self.points or share * self.possible


def _merit(result: Result) -> tuple[float, bool, bool]:
    """Order the results of a choice: right but over budget is better than wrong."""
    finding = result.finding
    return result.points, finding.only_over_budget, finding.reason not in UNTOUCHED


@dataclass(frozen=True)
class Record:
    """One submission. ``problem`` says in one line why it could not be graded, for no points.

    ``name``, ``submitted`` (ISO 8601, with its offset) and ``late`` come from the platform that
    collected it, empty where it gives none; ``version`` is the lab's, as the notebook states it.
    ``note`` tells the student that the lab has changed since, and is empty if nothing has."""

    student: str
    file: str
    lab: str = ""
    results: tuple[Result, ...] = ()
    problem: str = ""
    isolated: bool = True
    seconds: float = 0.0
    name: str = ""
    submitted: str = ""
    late: bool = False
    version: str = ""
    note: str = ""

    @property
    def points(self) -> float:
        return sum(result.points for result in self.scored)

    def earned(self, over_budget: float) -> float:
        """The points where right results over budget earn this percentage of theirs."""
        return sum(result.earned(over_budget) for result in self.scored)

    @property
    def possible(self) -> float:
        return sum(result.possible for result in self.scored)

    @property
    def scored(self) -> tuple[Result, ...]:
        """The results that count; of a choice that is the best one, the first of equals."""
        ascending = sorted(reversed(self.results), key=_merit)
        best = {result.choice: result for result in ascending}
        return tuple(r for r in self.results if not r.choice or r is best[r.choice])

    @property
    def timed_out(self) -> bool:
        """True if the wall clock cost points, for which a busy machine can be to blame."""
        return any(result.finding.reason == Reason.TIMED_OUT for result in self.results)

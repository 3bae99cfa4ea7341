"""What grading one submission comes to: plain frozen values, from which gradebook and feedback are written."""

from __future__ import annotations

from dataclasses import dataclass, field

from warpwise.labs.exercise import MORE_IS_BETTER, Reason, within

# Reasons that only a grader can have; those of a verdict are in ``labs.exercise.Reason`` and ``labs.judge.REASONS``.
MISSING = "no answer"
NOT_PYTHON = "not Python"
NOT_GRADED = "not graded"
ENDED = "ended the process"
TOO_LONG = "does not end"
TOO_SLOW = "timed out"
TOO_MUCH_MEMORY = "too much memory"
TOO_MUCH_OUTPUT = "too much output"
STOPPED = {"cpu": TOO_LONG, "wall": TOO_SLOW, "memory": TOO_MUCH_MEMORY, "result": TOO_MUCH_OUTPUT, "chatter": TOO_MUCH_OUTPUT, "": ENDED}

UNTOUCHED = (Reason.NOT_DONE, MISSING)

# How the student's own check came out when the notebook was run again.
SHOWN_PASSED, SHOWN_FAILED, NOT_REACHED = "passes", "fails", "not reached"


@dataclass(frozen=True)
class Counter:
    """A counter against its budget: the worst of all cases that were judged. ``limit`` is the most it may be, or the least."""

    name: str
    value: float
    limit: float

    @property
    def over(self) -> bool:
        return not within(self.name, self.value, self.limit)

    @property
    def excess(self) -> float:
        """How far it is beyond its limit; negative within."""
        return self.limit - self.value if self.name in MORE_IS_BETTER else self.value - self.limit


@dataclass(frozen=True)
class Finding:
    """What the trusted side found about one exercise. ``detail`` and ``advice`` never hold an expected value.

    ``case`` is the label of the hidden case that failed, which only the instructor may read; ``behaviour`` says in words what sets it
    apart from the cases that were right. ``tried`` of ``cases`` were judged, all but a failed last one right. ``picture`` is a
    self-contained still of the student's kernel, as HTML.
    """

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


def missing(name: str) -> Finding:
    """The finding on an exercise of which no cell defines the function."""
    return Finding(False, MISSING, f"no cell defines {name}", "take the exercise's cell from a fresh copy of the lab")


@dataclass(frozen=True)
class Visible:
    """How one visible check came out in the re-run. It ran next to student code, so it is shown and never counted."""

    outcome: str
    why: str = ""


@dataclass(frozen=True)
class OnGpu:
    """How a kernel that passed did on a GPU as well: on all hidden cases, and its time on the largest. It is shown and never counted.

    ``problem`` is empty where its results were right there too. Times are in seconds, 0 where there was no clock: the median of launches,
    that of the lab's own solution in the same process, and the least that the GPU's bandwidth and arithmetic allow, 0 where not known.
    """

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
    prints: tuple[int, ...] = field(default=(), repr=False)  #: what the text has in common with others: ``grading.prints``
    gpu: OnGpu | None = None

    @property
    def points(self) -> float:
        """All points or none: every hidden case has to pass, within budget."""
        return self.possible if self.finding.passed and self.finding.reason == Reason.PASSED else 0


@dataclass(frozen=True)
class Record:
    """One submission. ``problem`` says in one line why it could not be graded; then all its exercises have no points.

    ``name``, ``submitted`` (ISO 8601, with its offset) and ``late`` are what the platform that collected it says, empty where it says
    nothing; ``version`` is what the notebook says of its lab.
    """

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

    @property
    def points(self) -> float:
        return sum(result.points for result in self.counted)

    @property
    def possible(self) -> float:
        return sum(result.possible for result in self.counted)

    @property
    def counted(self) -> tuple[Result, ...]:
        """The results that count: all but those of a choice that are not its best, the first of equals."""
        best = {r.choice: r for r in sorted(reversed(self.results), key=lambda r: (r.points, r.finding.reason not in UNTOUCHED))}
        return tuple(result for result in self.results if not result.choice or result is best[result.choice])

    @property
    def timed_out(self) -> bool:
        """Whether the wall clock, which a busy machine can be to blame for, cost points."""
        return any(result.finding.reason == TOO_SLOW for result in self.results)

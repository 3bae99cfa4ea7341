"""A student's feedback as values, which ``html`` and ``plain_text`` show.

Hidden tests appear by their behaviour, and counters as shares of their budgets: see ``shares``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warpwise.grading.feedback.code import Listing, listing
from warpwise.grading.feedback.explained import explained, fitting, remedy
from warpwise.grading.outcome import hidden_cases, partly
from warpwise.grading.record import (
    NOT_REACHED,
    NOT_RUN_AGAIN,
    NOT_YET,
    SHOWN_PASSED,
    UNTOUCHED,
    Counter,
    OnGpu,
    Record,
    Result,
    Visible,
)
from warpwise.grading.scoring.standing import Standing, Standings
from warpwise.grading.shares import against, share
from warpwise.labs.source import Lab, role
from warpwise.model.bound import duration

Notes = Mapping[str, Sequence[str]]  #: lines about a lab, such as a penalty, by its stem

FOOTER = (
    "An exercise earns all its points when every hidden test passes within budget. Hidden tests "
    "use other sizes and other data than the checks in the notebook. Counters are modelled, not "
    "measured."
)
WAITS = "Not graded yet: the grader has not finished. This page is not final."
NOT_ISOLATED = "Not isolated: these points were computed without a sandbox and need a second look."
CACHED = (
    "; less than the GPU's bandwidth and arithmetic allow, so the data came from a cache or not "
    "all of the work was done"
)
HEADING = re.compile(r"^(##|###)\s+(.+)$", re.M)
OBJECTIVE = re.compile(r"\*\*Objective\.\*\*\s*(.+?)(?:\n\s*\n|\Z)", re.S)
HINT = re.compile(r"<summary>\s*(.+?)\s*</summary>", re.S)


@dataclass(frozen=True)
class Question:
    """An exercise as its lab introduces it: heading, objective, and titles of its hints."""

    title: str
    objective: str = ""
    hints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bar:
    """A counter against its budget: its ``share`` of that, also in words; see ``shares``."""

    name: str
    words: str
    share: float | None
    over: bool


@dataclass(frozen=True)
class Part:
    """One exercise. ``result`` and the texts after it are parts of sentences, or empty."""

    key: str
    question: Question
    score: str  #: such as "2 of 3"
    counts: bool  #: False where another exercise of a choice counts instead
    passed: bool
    verdict: str  #: Right, Partly right, Not right
    result: str
    explained: str
    hidden: str
    check: str
    gpu: str
    compiler: str
    detail: str
    bars: tuple[Bar, ...]
    advice: str
    hint: str  #: the title of the lab's hint on this mistake
    picture: str
    code: Listing

    @property
    def points(self) -> str:
        if self.counts:
            return f"{self.score} points"
        return "does not count: another exercise of the choice does"


@dataclass(frozen=True)
class Notebook:
    """One submission: its exercises, or why it could not be graded and what to do about that."""

    key: str
    title: str
    file: str
    score: str  #: such as "7 of 9", empty for a lab that is not known
    standing: tuple[tuple[str, str], ...]  #: what counts in the gradebook, and why
    notes: tuple[str, ...]
    problem: str
    remedy: str
    parts: tuple[Part, ...]
    not_chosen: tuple[str, ...]  #: titles of exercises


def notebooks(
    records: Sequence[Record],
    labs: Mapping[str, Lab],
    notes: Notes | None = None,
    standings: Standings | None = None,
) -> tuple[Notebook, ...]:
    """Return the feedback on each submission of one student."""
    found = []
    for i, record in enumerate(records, 1):
        own = (standings or {}).get((record.file, record.lab), Standing("", ()))
        said = (notes or {}).get(record.lab, ())
        found.append(_notebook(f"lab-{i}", record, labs.get(record.lab), said, own))
    return tuple(found)


def named(student: str, records: Sequence[Record], standings: Standings | None = None) -> str:
    """Return a student's name, as the roster or the platform has it, with the id."""
    known = standings or {}
    names = [known[r.file, r.lab].name for r in records if (r.file, r.lab) in known]
    name = next(filter(None, [*names, *(record.name for record in records)]), "")
    return f"{name} ({student})" if name and name != student else student


def questions(lab: Lab) -> dict[str, Question]:
    """Return the question of each exercise, by its id, from the Markdown before its cell.

    A heading of level 2 begins a question; one of level 3 below it changes only the title."""
    found, title, objective = {}, "", ""
    hints: list[str] = []
    for cell in lab.cells:
        if cell.cell_type == "markdown":
            for heading in HEADING.finditer(cell.source):
                title = heading[2].strip()
                if heading[1] == "##":
                    objective, hints = "", []
            for sentence in OBJECTIVE.finditer(cell.source):
                objective = " ".join(sentence[1].split())
            hints += HINT.findall(cell.source)
        elif role(cell) == "exercise":
            found[cell.metadata["warpwise"]["id"]] = Question(title, objective, tuple(hints))
    return found


def _notebook(
    key: str, record: Record, lab: Lab | None, notes: Sequence[str], standing: Standing
) -> Notebook:
    asked, waits = questions(lab) if lab else {}, record.problem == NOT_YET
    parts: list[Part] = []
    not_chosen: list[str] = []
    for result in () if record.problem else record.results:
        question = asked.get(result.exercise, Question(result.exercise))
        counts = result in record.scored
        if counts or result.finding.reason not in UNTOUCHED:
            own = f"{key}-{len(parts) + 1}"
            parts.append(_part(own, result, question, counts, standing.over_budget))
        else:
            not_chosen.append(question.title)
    own = "" if record.isolated else NOT_ISOLATED
    said = (WAITS if waits else "", record.note, *notes, own)
    return Notebook(
        key,
        lab.title if lab else record.file,
        record.file,
        f"{record.earned(standing.over_budget):g} of {record.possible:g}"
        if lab and not waits
        else "",
        standing.rows,
        tuple(filter(None, said)),
        sentence(record.problem) if record.problem and not waits else "",
        remedy(record.problem) if record.problem and not waits else "",
        tuple(parts),
        tuple(not_chosen),
    )


def _part(key: str, result: Result, question: Question, counts: bool, over_budget: float) -> Part:
    finding, earned = result.finding, result.earned(over_budget)
    return Part(
        key,
        question,
        f"{earned:g} of {result.possible:g}",
        counts,
        result.points > 0,
        "Right" if result.points else "Partly right" if earned else "Not right",
        readable(finding.reason),
        partly(over_budget, result) if earned > result.points else explained(finding),
        hidden_cases(finding),
        _check(result.visible),
        _on_gpu(result.gpu) if result.gpu else "",
        sentence(result.compiler) if result.compiler else "",
        finding.detail,
        tuple(map(_bar, finding.counters)),
        sentence(finding.advice) if finding.advice else "",
        fitting(finding, question.hints),
        finding.picture,
        listing(result),
    )


def _check(visible: Visible) -> str:
    """Say how the student's own check came out, to follow "Your own check"."""
    why = f" ({visible.why})" if visible.why else ""
    if visible.outcome == SHOWN_PASSED:
        return "passes when the notebook is run again"
    if visible.outcome == NOT_RUN_AGAIN:
        return "was not run again, since this answer had been stopped at a limit before"
    outcome = "was not reached" if visible.outcome == NOT_REACHED else "does not pass"
    return f"{outcome} when the notebook is run again{why}"


def _on_gpu(found: OnGpu) -> str:
    """Say how a GPU did, to follow "On a GPU". No points depend on it."""
    if found.problem:
        return f"{found.gpu}: {found.problem}. The points come from the simulator"
    if not found.seconds > 0:
        return f"{found.gpu}: right"
    said = f"{found.gpu}: right, in {duration(found.seconds)} (measured)"
    if found.solution_seconds > 0:
        ratio = found.seconds / found.solution_seconds
        said += f", {ratio:.2f} times as long as the lab's solution"
    return said + (CACHED if found.least_seconds > found.seconds else "")


def _bar(counter: Counter) -> Bar:
    return Bar(readable(counter.name), against(counter), share(counter), counter.over)


def readable(reason: str) -> str:
    """Write a reason or the name of a counter as the beginning of a sentence."""
    words = reason.replace("_", " ")
    return words[:1].upper() + words[1:]


def sentence(text: str) -> str:
    """Give a text a capital letter and a full stop."""
    if text.partition(" ")[0].isalpha():  # not the name of a function, which stays as it is
        text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!", ")")) else f"{text}."

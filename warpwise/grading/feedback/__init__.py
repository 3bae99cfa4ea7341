"""A student's feedback as values: what was asked, what was found and why, and what to try. ``html`` and ``text`` show it.

Hidden tests appear by their behaviour. A counter that grows with the data is given as a share of its budget, for the number itself
would tell the size. What this leaves out: deciding anything; records hold all that was found.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warpwise.grading.feedback import html as feedback_html
from warpwise.grading.feedback import text as feedback_text
from warpwise.grading.feedback.explained import EXPLAINED, explained, remedy
from warpwise.grading.record import NOT_REACHED, SHOWN_PASSED, UNTOUCHED, Counter, Finding, OnGpu, Record, Result, Visible
from warpwise.labs.exercise import MORE_IS_BETTER, OF_A_TRACE, bound
from warpwise.labs.judge import figure
from warpwise.labs.source import Lab, role
from warpwise.model.bound import duration

__all__ = ["EXPLAINED", "Asked", "asked", "page", "text"]

PER_SOMETHING = (*OF_A_TRACE, *MORE_IS_BETTER, "sectors_per_request_load", "sectors_per_request_store")  #: counters that no size changes
FOOTER = (
    "An exercise gives its points when every hidden test passes within the budget. Hidden tests use other sizes and other data than the "
    "checks in the notebook. Counters are modelled, not measured."
)
UNSANDBOXED = "Not isolated: these points were computed without a sandbox and need a second look."
HINT = re.compile(r"<summary>\s*(.+?)\s*</summary>", re.S)


@dataclass(frozen=True)
class Asked:
    """What a lab says about an exercise: its heading and its objective, and how its first hint is called."""

    title: str
    objective: str
    hint: str = ""


@dataclass(frozen=True)
class Bar:
    """A counter against its budget. ``share`` is the value over the limit, None where the limit is 0; ``words`` says both."""

    name: str
    words: str
    share: float | None
    over: bool
    least: bool  #: whether the budget is the least it may be


@dataclass(frozen=True)
class Part:
    """One exercise. ``points`` and what follows are sentences or parts of them; empty where there is nothing to say."""

    key: str
    asked: Asked
    points: str
    passed: bool
    result: str
    explained: str
    hidden: str
    check: str
    gpu: str
    detail: str
    bars: tuple[Bar, ...]
    advice: str
    picture: str


@dataclass(frozen=True)
class Notebook:
    """One submission: its exercises, or the problem that kept it from being graded, and what to do about that."""

    key: str
    title: str
    file: str
    points: str
    notes: tuple[str, ...]
    problem: str
    remedy: str
    parts: tuple[Part, ...]
    left: tuple[str, ...]  #: titles of the exercises that were not chosen


def page(student: str, records: Sequence[Record], labs: Mapping[str, Lab], notes: Mapping[str, Sequence[str]] | None = None) -> str:
    """The whole page of one student as HTML, all their labs on it. ``notes`` are lines about a lab, such as a penalty, by its stem."""
    return feedback_html.page(student, notebooks(records, labs, notes or {}), FOOTER)


def text(student: str, records: Sequence[Record], labs: Mapping[str, Lab], notes: Mapping[str, Sequence[str]] | None = None) -> str:
    """The same as plain text, 80 columns wide."""
    return feedback_text.page(student, notebooks(records, labs, notes or {}), FOOTER)


def notebooks(records: Sequence[Record], labs: Mapping[str, Lab], notes: Mapping[str, Sequence[str]]) -> tuple[Notebook, ...]:
    """What is to be said of each submission of one student."""
    return tuple(_notebook(f"lab-{i}", r, labs.get(r.lab), notes.get(r.lab, ())) for i, r in enumerate(records, 1))


def asked(lab: Lab) -> dict[str, Asked]:
    """The heading, the objective and the first hint that stand before each exercise cell, by exercise id; a heading below keeps both."""
    found, title, objective, hint = {}, "", "", ""
    for cell in lab.cells:
        if cell.cell_type == "markdown":
            for heading in re.finditer(r"^(##|###)\s+(.+)$", cell.source, re.M):
                title, objective = heading[2].strip(), "" if heading[1] == "##" else objective
                hint = "" if heading[1] == "##" else hint
            for sentence in re.finditer(r"\*\*Objective\.\*\*\s*(.+?)(?:\n\s*\n|\Z)", cell.source, re.S):
                objective = " ".join(sentence[1].split())
            hint = hint or next((found[1] for found in HINT.finditer(cell.source)), "")
        elif role(cell) == "exercise":
            found[cell.metadata["warpwise"]["id"]] = Asked(title, objective, hint)
    return found


def _notebook(key: str, record: Record, lab: Lab | None, notes: Sequence[str]) -> Notebook:
    questions, counted, problem = asked(lab) if lab else {}, record.counted, record.problem
    told = [(result, questions.get(result.exercise, Asked(result.exercise, ""))) for result in record.results if not problem]
    shown = [(r, question) for r, question in told if r in counted or r.finding.reason not in UNTOUCHED]
    return Notebook(
        key,
        lab.title if lab else record.file,
        record.file,
        f"{record.points:g} of {record.possible:g} points" if lab else "",
        tuple(notes) if record.isolated else (*notes, UNSANDBOXED),
        sentence(problem) if problem else "",
        remedy(problem) if problem else "",
        tuple(_part(f"{key}-{i}", r, question, r in counted) for i, (r, question) in enumerate(shown, 1)),
        tuple(question.title for one, question in told if (one, question) not in shown),
    )


def _part(key: str, result: Result, question: Asked, counts: bool) -> Part:
    finding = result.finding
    return Part(
        key,
        question,
        f"{result.points:g} of {result.possible:g} points" if counts else "does not count: another of the choice does",
        result.points > 0,
        readable(finding.reason),
        explained(finding),
        _hidden(finding),
        _check(result.visible),
        _on_gpu(result.gpu) if result.gpu else "",
        finding.detail,
        tuple(map(_bar, finding.counters)),
        sentence(finding.advice) if finding.advice else "",
        finding.picture,
    )


def _hidden(finding: Finding) -> str:
    """Where the hidden cases stand: how many were right, and what sets the one apart that was not."""
    if not finding.tried:
        return ""
    if finding.passed:
        return f"all {finding.cases} right"
    return f"{finding.tried - 1} of {finding.cases} right{f': it {finding.behaviour}' if finding.behaviour else ', then one is not'}"


def _check(visible: Visible) -> str:
    why = f" ({visible.why})" if visible.why else ""
    if visible.outcome == SHOWN_PASSED:
        return "passes when the notebook is run again"
    return f"{'was not reached' if visible.outcome == NOT_REACHED else 'does not pass'} when the notebook is run again{why}"


def _on_gpu(found: OnGpu) -> str:
    """What a GPU said, in words. No points depend on it."""
    if found.problem:
        return f"{found.gpu}: {found.problem}. The points come from the simulator"
    if not found.seconds > 0:
        return f"{found.gpu}: right"
    said = f"{found.gpu}: right, in {duration(found.seconds)} (measured)"
    if found.solution_seconds > 0:
        said += f", {found.seconds / found.solution_seconds:.2f} times as long as the lab's solution"
    if found.least_seconds > found.seconds:
        said += "; less than the GPU's bandwidth and arithmetic allow, so the data came from a cache or not all work was done"
    return said


def _bar(counter: Counter) -> Bar:
    share = counter.value / counter.limit if counter.limit else None
    return Bar(readable(counter.name), _against(counter, share), share, counter.over, counter.name in MORE_IS_BETTER)


def _against(counter: Counter, share: float | None) -> str:
    """A counter against its budget in words. A number that would tell the size of the data becomes a share."""
    if counter.name in PER_SOMETHING:
        return f"{figure(counter.value)}; the budget is {bound(counter.name)} {figure(counter.limit)}"
    if not counter.limit:
        return "some; the budget allows none" if counter.over else "none, as the budget asks"
    if not counter.value:
        return "none"
    if not counter.over:
        return f"{share:.0%} of the budget" if share < 1 else "just what the budget allows"
    return f"{share:.1f} times the budget" if share >= 1.1 else "a little more than the budget"


def readable(reason: str) -> str:
    """A reason or the name of a counter as the beginning of a sentence."""
    words = reason.replace("_", " ")
    return words[:1].upper() + words[1:]


def sentence(text: str) -> str:
    """A text with a capital letter and a full stop."""
    if text.partition(" ")[0].isalpha():  # not the name of a function, which stays as it is
        text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!", ")")) else f"{text}."

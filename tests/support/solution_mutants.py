"""Mutants of the labs' solutions: answers with one small mistake, which hidden cases must refuse.

A mutant that passes is either right all the same, and stands in the lab's ``equivalent.toml`` with
the reason, or it is a gap: a mistake for which a student gets points. In that file ::

    [[square]]
    because = "x and out have the same length."
    mutants = ["comparison: if i < x.size: -> if i <= x.size:"]

names mutants by operator and changed lines, so that a change of the solution makes the entry stale,
which ``stale`` tells. Operators are in ``mutation_operators``."""

from __future__ import annotations

import ast
import hashlib
import linecache
import pickle
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from inspect import isfunction

from support.lab_cases import cells, hidden_cases, lab, module_text, visible_cases
from support.mutation_operators import OPERATORS, Change, Code
from support.paths import ROOT
from warpwise.errors import GradingError
from warpwise.grading import extract, sandbox
from warpwise.grading.host import judge_function
from warpwise.grading.warm import Warm
from warpwise.labs.exercise import Call, Case, Program, Reason
from warpwise.labs.judge import judge
from warpwise.labs.source import BEGIN, END, load_lab, marked_notebook, role, unmarked

SPLIT = " | "  # between changed lines
#: loop steps of one launch, a tenth of what a student has: many mutants never end
MOST_STEPS = 5_000


@dataclass(frozen=True)
class Mutant:
    """A solution with one change: the lab and exercise, its ``key`` and the cell's text."""

    lab: str
    exercise: str
    operator: str
    key: str
    text: str


@dataclass(frozen=True)
class Outcome:
    """What becomes of a mutant: the reason of the hidden cases, and of the visible, if asked."""

    hidden: str
    visible: str

    @property
    def survives(self) -> bool:
        return self.hidden == Reason.PASSED

    @property
    def over_budget(self) -> bool:
        return self.hidden.startswith(Reason.OVER_BUDGET)

    @property
    def only_hidden(self) -> bool:
        """Whether a student is told that all is right, and gets no points."""
        return not self.survives and self.visible == Reason.PASSED


@cache
def mutants(lab: str) -> tuple[Mutant, ...]:
    """Return all mutants of a lab's solutions: each text once, by the first operator that makes
    it."""
    return tuple(
        mutant
        for cell in marked_notebook(load_lab(lab)).cells
        if role(cell) == "exercise"
        for mutant in mutants_of(lab, cell.metadata["warpwise"]["id"], cell.source)
    )


def mutants_of(lab: str, exercise: str, marked: str) -> Iterator[Mutant]:
    """Yield the mutants of one cell, whose solution stands between its two marks."""
    code = solution(marked)
    seen, keys = {ast.dump(code.tree)}, Counter[str]()
    for operator in OPERATORS:
        for change in operator.changes(code):
            text = changed(code.text, change)
            try:
                tree = ast.dump(ast.parse(text))
            except SyntaxError:
                continue
            if tree in seen:
                continue
            seen.add(tree)
            key = f"{operator.name}: {difference(code.text, text)}"
            keys[key] += 1
            number = f" ({keys[key]})" if keys[key] > 1 else ""
            yield Mutant(lab, exercise, operator.name, key + number, text)


def solution(marked: str) -> Code:
    """Return a cell without its marks, and with the lines that stood between them."""
    rows = [row.strip() for row in marked.splitlines()]
    marks = [number for number, row in enumerate(rows) if row in (BEGIN, END)]
    return Code(unmarked(marked), marks[0] + 1, marks[-1] - len(marks) + 1)


def changed(text: str, change: Change) -> str:
    for (start, end), new in sorted(change.items(), reverse=True):
        text = text[:start] + new + text[end:]
    return text


def difference(before: str, after: str) -> str:
    """Return the lines that differ, as ``before -> after``."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) == len(new):
        pairs = [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]]
        old, new = [one for one, _ in pairs], [other for _, other in pairs]
    return " -> ".join(SPLIT.join(row.strip() for row in rows) for rows in (old, new))


def outcome(
    mutant: Mutant, seed: int = 0, mode: str = sandbox.NONE, warm: Warm | None = None
) -> Outcome:
    """Judge a mutant by the hidden cases of a seed, as the grader does, and by the visible ones;
    by those only if it is refused, for else nobody asks."""
    reason = _judge_of(mutant, mode, warm)
    hidden = reason(hidden_cases(mutant.lab, mutant.exercise, seed))
    return Outcome(hidden, "" if hidden == Reason.PASSED else reason(_visible(mutant)))


def hidden_outcome(mutant: Mutant, mode: str = sandbox.NONE, warm: Warm | None = None) -> Outcome:
    """Judge a mutant by the hidden cases of the first seed alone."""
    reason = _judge_of(mutant, mode, warm)
    return Outcome(reason(hidden_cases(mutant.lab, mutant.exercise)), "")


def _visible(mutant: Mutant) -> Sequence[Case]:
    return visible_cases(mutant.lab)[mutant.exercise]


def _judge_of(mutant: Mutant, mode: str, warm: Warm | None) -> Callable[[Sequence[Case]], str]:
    """Return what gives the reason of a verdict on cases; a kernel is compiled once for all."""
    exercise = lab(mutant.lab).exercise(mutant.exercise)
    text, given = module_text(mutant.lab, exercise, mutant.text), cells(mutant.lab, "given")
    try:
        if exercise.kind == "kernel":
            kernel = extract.kernel(text, exercise.name, given=given)
            return lambda cases: judge(kernel, cases, MOST_STEPS, record=())[-1].reason
        found = extract.host_function(text, exercise.name, given=given)
    except GradingError:
        return lambda cases: Reason.NOT_PYTHON

    def reason(cases: Sequence[Case]) -> str:
        asked = [case for case in cases if isinstance(case, Call | Program)]
        return judge_function(found, exercise.name, asked, mode, warm=warm).reason

    return reason


#: fields of a case that judge nothing
IGNORED = ("trace", "view", "reference", "advice", "readings", "labels")


def digest(mutant: Mutant, seed: int) -> str:
    """Return what stands for a mutant and all that judges it, but the simulator."""
    cases = (*hidden_cases(mutant.lab, mutant.exercise, seed), *_visible(mutant))
    asked = [
        [as_data(getattr(case, field.name)) for field in fields(case) if field.name not in IGNORED]
        for case in cases
    ]
    return hashlib.sha256(mutant.text.encode() + pickle.dumps(asked)).hexdigest()[:24]


def as_data(value: object) -> object:
    """Return the file of a function, which it may need more of; anything else as it is."""
    return linecache.getlines(value.__code__.co_filename) if isfunction(value) else value


@cache
def equivalents(lab: str) -> dict[tuple[str, str], str]:
    """Return why mutants of a lab are right, by exercise and key. Raises ValueError if one is
    listed twice or without a reason."""
    path = ROOT / "tests/course" / lab / "equivalent.toml"
    listed: dict[tuple[str, str], str] = {}
    for exercise, groups in tomllib.loads(path.read_text("utf-8")).items() if path.exists() else ():
        for group in groups:
            for key in group["mutants"]:
                if (exercise, key) in listed or not group["because"]:
                    raise ValueError(f"{path}: listed twice, or without a reason: {key}")
                listed[exercise, key] = group["because"]
    return listed


def stale(lab: str, listed: Iterable[tuple[str, str]]) -> list[str]:
    """Return the entries of a lab's list that name no mutant."""
    drawn = {(mutant.exercise, mutant.key) for mutant in mutants(lab)}
    return [f"{exercise}: {key}" for exercise, key in listed if (exercise, key) not in drawn]


def mistaken(tried: Iterable[tuple[Mutant, Outcome]]) -> list[str]:
    """Return what contradicts the lists: mutants that survive unlisted, and listed ones that are
    refused."""
    found = []
    for mutant, result in tried:
        listed = (mutant.exercise, mutant.key) in equivalents(mutant.lab)
        if result.survives != listed:
            what = "is listed as equivalent and refused" if listed else "survives"
            found.append(f"{mutant.lab} {mutant.exercise} {what}: {mutant.key}")
    return found

"""Answers to a lab's exercises that must fail, each for its own reason.

Most are the solution with a mistake in it, so a lab's ``wrong.toml`` keeps the mistake alone, in a
table ``[exercise.name]``: the reason to ``expect``, and a text of the solution's cell to
``replace`` ``by`` another. ``names`` is a regular expression, whatever the case of letters, for the
true cause: what a student reads of the first visible case that fails must match it. The text
occurs there once, or it is replaced wherever it stands with
``all = true``. Several replacements are a list of ``changes``; a short function with little left of
the solution has a ``body`` of its own. An answer with another algorithm is a file,
``wrong/name.py``, whose first line is ``# expect: exercise: reason``, and
whose second may be ``# names: `` and such an expression."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from support.lab_cases import solved_cells
from support.paths import ROOT
from warpwise.grading.feedback import EXPLAINED
from warpwise.grading.record import MISSING, NOT_GRADED, OLDER
from warpwise.labs.budgets import NAMES, OF_A_RUN, OF_THE_COMPILER
from warpwise.labs.exercise import Reason
from warpwise.labs.source import role

EXPECT = re.compile(r"# expect: (\w+): (.+)\n(?:# names: (.+)\n)?")
KNOWN = EXPLAINED.keys() - {Reason.PASSED, MISSING, NOT_GRADED, OLDER}
OF_A_CHANGE = {"replace", "by", "all"}
OF_AN_ANSWER = OF_A_CHANGE | {"expect", "names", "changes", "body"}


class WrongAnswerError(Exception):
    """A wrong answer that cannot be made."""


@dataclass(frozen=True)
class WrongAnswer:
    """One answer: the id of its ``exercise``, the ``reason`` it fails for, and its Python text.

    ``names`` matches what its message has to say of the cause; "" if it asks for nothing."""

    lab: str
    name: str
    exercise: str
    reason: str
    text: str
    names: str = ""


def kind(answer: WrongAnswer) -> tuple[str, str, str]:
    """Return of what kind a wrong answer is: it fails an exercise for one reason."""
    return answer.lab, answer.exercise, answer.reason


@cache
def wrong_answers(lab: str) -> tuple[WrongAnswer, ...]:
    """Return a lab's wrong answers, sorted by name. Raises WrongAnswerError."""
    return load(ROOT / "tests/course" / lab)


def wrong_answer(lab: str, name: str) -> WrongAnswer:
    """Return one wrong answer of a lab."""
    return next(answer for answer in wrong_answers(lab) if answer.name == name)


def load(folder: Path) -> tuple[WrongAnswer, ...]:
    """Return the wrong answers in a folder that has a lab's name. Raises WrongAnswerError."""
    found = sorted([*_changed(folder), *_whole(folder)], key=lambda answer: answer.name)
    for one, following in pairwise(found):
        if one.name == following.name:
            raise WrongAnswerError(f"{folder}: there are two wrong answers {one.name}")
    return tuple(found)


def _whole(folder: Path) -> Iterator[WrongAnswer]:
    """Yield the answers that are files."""
    for path in folder.glob("wrong/*.py"):
        text = path.read_text("utf-8")
        expected = EXPECT.match(text)
        if not expected:
            raise WrongAnswerError(f"{path}: the first line is not # expect: exercise: reason")
        try:
            _check_reason(expected[2])
            names = _pattern(expected[3] or "")
        except WrongAnswerError as error:
            raise WrongAnswerError(f"{path}: {error}") from None
        yield WrongAnswer(folder.name, path.stem, expected[1], expected[2], text, names)


def _changed(folder: Path) -> Iterator[WrongAnswer]:
    """Yield the answers that are changes of the solution."""
    path = folder / "wrong.toml"
    if not path.exists():
        return  # a lab that is being written
    cells = {
        cell.metadata["warpwise"]["id"]: cell.source + "\n"
        for cell in solved_cells(folder.name)
        if role(cell) == "exercise"
    }
    for exercise, answers in tomllib.loads(path.read_text("utf-8")).items():
        if exercise not in cells:
            raise WrongAnswerError(f"{path}: {folder.name} has no exercise {exercise}")
        for name, answer in answers.items():
            try:
                text = _with_mistake(cells[exercise], answer)
                names = _pattern(answer.get("names", ""))
            except WrongAnswerError as error:
                raise WrongAnswerError(f"{path}: {exercise}.{name}: {error}") from None
            yield WrongAnswer(folder.name, name, exercise, answer["expect"], text, names)


def _with_mistake(cell: str, answer: Mapping[str, Any]) -> str:
    """Return the solution's cell with an answer's changes, made one after the other."""
    _check_keys(answer, OF_AN_ANSWER)
    if "expect" not in answer:
        raise WrongAnswerError("it does not say what to expect")
    _check_reason(answer["expect"])
    if "body" in answer:
        return _with_body(cell, answer["body"])
    changes = answer.get("changes")
    for change in changes or [answer]:
        if changes:
            _check_keys(change, OF_A_CHANGE)
        if not {"replace", "by"} <= change.keys():
            raise WrongAnswerError("it needs replace and by, changes, or a body")
        cell = _replaced(cell, change["replace"], change["by"], change.get("all", False))
    return cell


def _pattern(names: str) -> str:
    """Return a regular expression as it is, if it is one."""
    try:
        re.compile(names)
    except re.error as error:
        raise WrongAnswerError(f"names is no regular expression: {error}") from None
    return names


def _check_reason(reason: str) -> None:
    """Refuse a reason that no verdict has."""
    budgets = {
        f"{Reason.OVER_BUDGET}{counter}" for counter in (*NAMES, *OF_A_RUN, *OF_THE_COMPILER)
    }
    if reason not in KNOWN | budgets:
        known = ", ".join(sorted(KNOWN))
        raise WrongAnswerError(
            f"there is no reason {reason!r}; there are {known}, "
            f"and {Reason.OVER_BUDGET}COUNTER, which a budget can name"
        )


def _check_keys(table: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(table.keys() - known):
        raise WrongAnswerError(f"unknown key {', '.join(unknown)}")


def _replaced(cell: str, old: str, new: str, everywhere: bool) -> str:
    count = cell.count(old)
    if count == 0:
        raise WrongAnswerError(f"not in the solution: {old.strip()}")
    if count > 1 and not everywhere:
        raise WrongAnswerError(f"{count} times in the solution: {old.strip()}")
    if old == new:
        raise WrongAnswerError(f"replaced by itself: {old.strip()}")
    return cell.replace(old, new)


def _with_body(cell: str, body: str) -> str:
    """Return a cell whose last function has another body, below its docstring."""
    function = ast.parse(cell).body[-1]
    assert isinstance(function, ast.FunctionDef)
    first = function.body[1 if ast.get_docstring(function) else 0].lineno
    return "".join(cell.splitlines(keepends=True)[: first - 1]) + body

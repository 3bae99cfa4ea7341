"""Count the wrong answers with wrong numbers whose message names the true cause.

A cause is named if what ``check`` shows of the first visible case that fails matches the answer's
``names``. Run as ``PYTHONPATH=tests python -m support.causes_named``, with labs to choose some."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from support.lab_cases import STEMS, cells, module_text, names_of, visible_cases
from support.wrong_answers import WrongAnswer, wrong_answers
from warpwise.grading import extract
from warpwise.labs.exercise import Reason, Verdict
from warpwise.labs.judge import judge
from warpwise.labs.source import load_lab

OF_NUMBERS = (Reason.WRONG_RESULT, Reason.NOT_WRITTEN)


def of_wrong_numbers(stem: str) -> Iterator[WrongAnswer]:
    """Yield a lab's wrong answers that give wrong numbers, or none."""
    yield from (answer for answer in wrong_answers(stem) if answer.reason in OF_NUMBERS)


def verdict(answer: WrongAnswer) -> Verdict:
    """Return the last verdict of an answer's visible cases."""
    exercise = load_lab(answer.lab).exercise(answer.exercise)
    text = module_text(answer.lab, exercise, answer.text)
    if exercise.kind == "kernel":
        target: Any = extract.kernel(text, exercise.name, given=cells(answer.lab, "given"))
    else:
        target = _function(answer, exercise.name)
    with np.errstate(all="ignore"):  # nan is what some of these mistakes make
        return judge(target, visible_cases(answer.lab)[answer.exercise])[-1]


def _function(answer: WrongAnswer, name: str) -> Any:
    """Define a host function where the lab's names are, with its text at hand."""
    names = dict(names_of(answer.lab))
    file = f"<{answer.lab} {answer.name}>"
    linecache.cache[file] = (len(answer.text), None, answer.text.splitlines(True), file)
    exec(compile(answer.text, file, "exec"), names)
    return names[name]


def told(found: Verdict) -> str:
    """Return what a student reads of a verdict."""
    return f"{found.detail}\n  Try: {found.advice}"


def is_named(answer: WrongAnswer, text: str) -> bool:
    """Return whether a message names the cause of an answer's mistake."""
    return bool(answer.names and re.search(answer.names, text, re.IGNORECASE))


def main(labs: list[str]) -> None:
    """Print each message that names no cause, and the count."""
    named = count = 0
    for stem in STEMS:
        if labs and not any(stem.startswith(lab) for lab in labs):
            continue
        for answer in of_wrong_numbers(stem):
            found = verdict(answer)
            if found.passed:
                continue  # only hidden cases tell
            count += 1
            if is_named(answer, told(found)):
                named += 1
            else:
                print(f"{stem} {answer.exercise}.{answer.name}\n{told(found)}\n")
    print(f"causes named: {named} of {count} wrong-number mistakes")


if __name__ == "__main__":
    main(sys.argv[1:])

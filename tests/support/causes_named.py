"""Count the wrong answers with wrong numbers whose message names the true cause.

A cause is named if what ``check`` shows of the first visible case that fails matches the answer's
``names``; that is what it says, and what it finds out by running the answer again. Run as
``PYTHONPATH=tests python -m support.causes_named``, with labs to choose some."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from support import compiler_verdict
from support.lab_cases import STEMS, cells, module_text, names_of, visible_cases
from support.wrong_answers import WrongAnswer, wrong_answers
from warpwise.grading import extract
from warpwise.labs import probes
from warpwise.labs.exercise import Reason, Verdict
from warpwise.labs.judge import judge
from warpwise.labs.looked import looked
from warpwise.labs.source import load_lab

OF_NUMBERS = (Reason.WRONG_RESULT, Reason.NOT_WRITTEN)


def of_wrong_numbers(stem: str) -> Iterator[WrongAnswer]:
    """Yield a lab's wrong answers that give wrong numbers, or none."""
    yield from (answer for answer in wrong_answers(stem) if answer.reason in OF_NUMBERS)


def verdict(answer: WrongAnswer) -> Verdict:
    """Return the last verdict of an answer's visible cases."""
    with np.errstate(all="ignore"):  # nan is what some of these mistakes make
        target, cases = _target(answer), visible_cases(answer.lab)[answer.exercise]
        return compiler_verdict.last(target, cases, judge(target, cases))


def looked_at(answer: WrongAnswer, found: Verdict, seconds: float = probes.SECONDS) -> str:
    """Return what ``check`` finds out about a wrong result by running it again."""
    if found.reason != Reason.WRONG_RESULT:
        return ""
    cases = visible_cases(answer.lab)[answer.exercise]
    case = next(case for case in cases if case.label == found.case)
    return looked(_target(answer), case, seconds).told


def _target(answer: WrongAnswer) -> Any:
    """Define an answer's kernel or function."""
    exercise = load_lab(answer.lab).exercise(answer.exercise)
    if exercise.kind == "host":
        return _function(answer, exercise.name)
    text = module_text(answer.lab, exercise, answer.text)
    return extract.kernel(text, exercise.name, given=cells(answer.lab, "given"))


def _function(answer: WrongAnswer, name: str) -> Any:
    """Define a host function where the lab's names are, with its text at hand."""
    names = dict(names_of(answer.lab))
    file = f"<{answer.lab} {answer.name}>"
    linecache.cache[file] = (len(answer.text), None, answer.text.splitlines(True), file)
    exec(compile(answer.text, file, "exec"), names)
    return names[name]


def told(found: Verdict, seen: str = "") -> str:
    """Return what a student reads of a verdict, and of what was looked at."""
    looked_at = f"\n  Looked at: {seen}" if seen else ""
    return f"{found.detail}\n  Try: {found.advice}{looked_at}"


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
            text = told(found, looked_at(answer, found))
            if is_named(answer, text):
                named += 1
            else:
                print(f"{stem} {answer.exercise}.{answer.name}\n{text}\n")
    print(f"causes named: {named} of {count} wrong-number mistakes")


if __name__ == "__main__":
    main(sys.argv[1:])

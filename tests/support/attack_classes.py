"""The attacks that are kept as tests, counted by class, for the table that instructors read."""

from __future__ import annotations

import ast
import json
from typing import Any

from support.attacks import LABS, generated, notebooks
from support.lab_cases import STEMS
from support.paths import ROOT
from support.wrong_answers import WrongAnswer, wrong_answers
from warpwise.labs.budgets import OF_A_TRACE
from warpwise.labs.exercise import Reason
from warpwise.labs.source import load_lab, solved_notebook

ON_THE_CHIP = tuple(name for name in OF_A_TRACE if name.endswith(("_per_block", "_per_thread")))
LOADS = ("global_load", "global_bytes_moved", "sectors_per_request_load")
PLACES = {"PLACES", "COUNTED", "IN_FILES"}  # the tables of test_hiding_places.py


def all_wrong_answers() -> list[WrongAnswer]:
    """Return the wrong answers of all labs."""
    return [answer for stem in STEMS for answer in wrong_answers(stem)]


def too_many_loads() -> list[WrongAnswer]:
    """Return the answers whose mistake is to load too much, or badly."""
    return [answer for answer in all_wrong_answers() if _counter(answer).startswith(LOADS)]


def kept() -> dict[str, int]:
    """Return how many attacks of each class there are, by the name of the class in the table."""
    wrong = all_wrong_answers()
    return {
        "loads written as atomics": len(too_many_loads()),
        "rows and matrices kept on the chip": sum(_counter(one) in ON_THE_CHIP for one in wrong),
        "past budgets in other ways": sum(
            bool(_counter(one)) and _counter(one) not in ON_THE_CHIP for one in wrong
        ),
        "one block that works for all": sum(
            exercise.kind == "kernel" for stem in STEMS for exercise in load_lab(stem).exercises
        ),
        "answers that are wrong": sum(not _counter(one) for one in wrong),
        "bytes hidden from a memory budget": _places(),
        "hostile answers": len(generated.TEXTS)
        + sum(len([*(ROOT / "tests/course" / lab / "attacks").glob("*.py")]) for lab in LABS),
        "hostile notebooks": len(notebooks.made(_solved(LABS[0]))),
    }


def _counter(answer: WrongAnswer) -> str:
    """Return the counter whose budget an answer passes, "" for any other reason."""
    over = Reason.OVER_BUDGET
    return answer.reason.removeprefix(over) if answer.reason.startswith(over) else ""


def _solved(lab: str) -> dict[str, Any]:
    """Return a solved notebook as plain data."""
    made: dict[str, Any] = json.loads(json.dumps(solved_notebook(load_lab(lab))))
    return made


def _places() -> int:
    tree = ast.parse((ROOT / "tests/grading/test_hiding_places.py").read_text("utf-8"))
    tables = (node for node in tree.body if isinstance(node, ast.Assign))
    return sum(
        len(table.value.keys)
        for table in tables
        if ast.unparse(table.targets[0]) in PLACES and isinstance(table.value, ast.Dict)
    )

"""Hundreds of mutated notebooks: whatever became of a submission, each of its exercises gets a
reason, and nothing stops the grader.

All of them are read and judged as the grader does it, in one warm process that forks for each; what
no mutant has changed is not judged again each time. A few are graded whole, in the sandbox."""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support.mutate import mutants
from support.paths import ROOT
from support.share import THOROUGH
from support.wrong_answers import wrong_answers

from warpwise.errors import GradingError
from warpwise.grading import extract, grade, material, notebook, simulate
from warpwise.grading.notebook import Answer
from warpwise.grading.record import ENDED
from warpwise.labs.source import load_lab, solved_notebook, student_notebook
from warpwise.simt import trace

SEED = 7
LABS = {"01_why_gpus": 430, "08_coalescing": 70} if THOROUGH else {"01_why_gpus": 150}
WHOLE = 12 if THOROUGH else 6
GRADERS_OWN = ("the grader failed", "could not be simulated", "Traceback")


@cache
def originals(stem: str) -> list[dict]:
    """The untouched lab, the solved one, and the solved one with each known right and wrong
    submission."""
    made = [student_notebook(load_lab(stem)), solved_notebook(load_lab(stem))]
    correct = sorted((ROOT / "tests/course" / stem / "correct").glob("*.py"))
    texts = [path.read_text() for path in correct]
    for text in [*texts, *(answer.text for answer in wrong_answers(stem))]:
        made.append(solved_notebook(load_lab(stem)))
        for cell in made[-1].cells:
            if f"def {cell.metadata.get('warpwise', {}).get('name')}(" in text:
                cell.source = text
    return json.loads(json.dumps(made))


def readings(stem: str, folder: Path) -> list[dict[str, Answer | None] | str]:
    """Read each mutant: an answer or None for each exercise, or the problem."""
    found: list[dict[str, Answer | None] | str] = []
    path = folder / f"{stem}.ipynb"
    for content in mutants(SEED, LABS[stem], originals(stem)):
        path.write_bytes(content)
        try:
            found.append(notebook.answers(notebook.read(path), load_lab(stem).exercises))
        except GradingError as error:
            found.append(str(error))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("stem", LABS)
def test_each_mutant_gets_a_reason_for_every_exercise(stem: str, tmp_path: Path):
    found = readings(stem, tmp_path)
    problems = [problem for problem in found if isinstance(problem, str)]
    assert all(
        problem.isprintable() and problem.isascii() and 10 < len(problem) < 250
        for problem in problems
    )
    given = material.load(ROOT, stem, SEED).given
    rng, seen, reasons = random.Random(SEED), set(), Counter()
    warm = simulate.serving()
    try:
        for number, answers in enumerate(found):
            answers = (
                []
                if isinstance(answers, str)
                else [answer for answer in answers.values() if answer]
            )
            news = [a for a in answers if (a.id, a.text) not in seen or rng.random() < 0.02]
            seen |= {(a.id, a.text) for a in news}
            judged = simulate.simulate(ROOT, stem, SEED, news, given, warm) if news else {}
            assert set(judged) == {answer.id for answer in news}
            for answer in news:
                finding = judged[answer.id].finding
                reasons[finding.reason if finding else "for the sandbox"] += 1
                assert finding is None or (
                    finding.reason
                    and finding.reason != ENDED
                    and finding.detail.encode() is not None
                )
                assert finding is None or not any(said in finding.detail for said in GRADERS_OWN), (
                    number,
                    finding,
                    answer.text,
                )
    finally:
        warm.close()
    # else the mutants say little
    assert len(problems) > len(found) / 50 and len(reasons) > 9, (len(problems), reasons)


def test_mutants_graded_whole(sandbox, tmp_path: Path):
    stem, folder = "01_why_gpus", tmp_path / "submissions"
    folder.mkdir()
    for number, content in enumerate(mutants(SEED + 1, WHOLE, originals(stem))):
        (folder / f"{number}.ipynb").write_bytes(content)
    records = grade(folder, tmp_path / "grades", lab=stem, seed=SEED, jobs=1)
    assert len(records) == WHOLE
    for record in records:
        assert [result.exercise for result in record.results] == [
            exercise.id for exercise in load_lab(stem).exercises
        ]
        assert all(result.finding.reason for result in record.results)
        texts = [record.problem, *(result.finding.detail for result in record.results)]
        assert not any(said in text for text in texts for said in GRADERS_OWN), texts


def test_the_same_seed_makes_the_same_mutants():
    first, again, other = (list(mutants(seed, 20, originals("01_why_gpus"))) for seed in (1, 1, 2))
    assert first == again != other
    assert len(set(first)) == 20


# What mutants have shown, kept.


def _cell(text: str, **more) -> dict:
    return {"cell_type": "code", "metadata": {}, "source": text, "outputs": [], **more}


def test_a_notebook_of_many_cells_is_read_in_no_time(tmp_path: Path):
    path = tmp_path / "x.ipynb"
    cells = [
        {"cell_type": "code", "source": "def f(): 1"},
        {"cell_type": "code", "source": "x", "id": "exercise-f"},
    ] * 80_000
    path.write_text(json.dumps({"nbformat": 4, "cells": cells}))
    with pytest.raises(GradingError, match="more than 1,000 code cells"):
        notebook.read(path)
    path.write_text(json.dumps({"nbformat": 4, "cells": [_cell("x = 1\n" * 15_000)] * 20}))
    with pytest.raises(GradingError, match="more than 1,000,000 characters"):
        notebook.read(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "@cuda.jit\ndef square(x, out):\n    break\n",
            "line 3 is not Python: 'break' outside loop",
        ),
        ("@cuda.jit\ndef square(x, out):\n    nonlocal y\n", "not Python: no binding for nonlocal"),
        ("@cuda.jit\ndef square(x, x):\n    pass\n", "not Python: duplicate argument"),
        (
            "@cuda.jit\ndef square(x, out):\n    if 1: pass\n" + "    elif 1: pass\n" * 300,
            "nested more than 100 deep",
        ),
        (
            "@cuda.jit\ndef square(x, out):\n    out[0] = " + "-" * 300 + "1\n",
            "nested more than 100 deep",
        ),
        (
            "@cuda.jit\ndef square(x, out):\n    out[0] = " + "(" * 300 + "1" + ")" * 300,
            "too many nested parentheses",
        ),
    ],
)
def test_texts_that_no_notebook_would_run(text: str, says: str):
    with pytest.raises(GradingError, match=says):
        extract.kernel(text, "square")


def test_a_guarded_name_that_was_an_arrays():
    """``x = x[i]`` under a guard: the lanes outside of it still have the array."""
    text = """
from warpwise import cuda

@cuda.jit
def square(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x = x[i]
        out[i] = x * x
    else:
        x[i - x.shape[0]] = 7
"""
    x, out = np.arange(40, dtype=np.float32), np.zeros(40, np.float32)
    trace(extract.kernel(text, "square"), 2, 32, x, out)
    assert (
        (out == np.arange(40) ** 2).all()
        and (x[:24] == 7).all()
        and (x[24:] == np.arange(24, 40)).all()
    )

"""The lab's last cells: the miniature trains with a student's kernels, or the package's."""

from __future__ import annotations

import contextlib
import io
import re

import numpy as np
import pytest
from support.gpt2_reference import adamw, loss_and_gradient
from support.lab_cases import cells, names_of

import warpwise.labs
from warpwise.gpt2.config import MINIATURE, initial
from warpwise.gpt2.train import TEXT
from warpwise.labs.source import load_lab

STEM = "17_gpt2"
SOLVED = {exercise.name for exercise in load_lab(STEM).exercises}
KERNELS = ["norm_backward", "residual_norm", "classifier", "bias_gradient", "adamw"]
pytestmark = pytest.mark.slow


def shown(solved: set[str], count: int) -> tuple[dict, list[str]]:
    """Run so many of the cells after the exercises; return their names, and what each printed."""
    names, printed = dict(names_of(STEM)), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warpwise.labs, "passed", solved.__contains__)
        for cell in cells(STEM, "explore")[:count]:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(cell, names)
            printed.append(out.getvalue())
    return names, printed


@pytest.fixture(scope="module")
def solved() -> tuple[dict, list[str]]:
    return shown(SOLVED, 3)


def test_the_reference_is_that_of_numpy(solved):
    parameters = initial(MINIATURE)
    mean, square, found = np.zeros_like(parameters), np.zeros_like(parameters), []
    x, y = (
        np.frombuffer(TEXT.read_bytes(), np.uint8)[at : at + 128].reshape(4, 32) for at in (0, 1)
    )
    for number in range(1, 11):
        loss, gradient, _ = loss_and_gradient(MINIATURE, parameters, x, y)
        adamw(parameters, gradient, mean, square, number)
        found.append(float(loss))
    assert solved[0]["REFERENCE"] == pytest.approx(found, abs=1e-4)


def test_the_miniature_trains_with_all_five_kernels(solved):
    names, (told, *_) = solved
    assert told.startswith(f"yours: {', '.join(KERNELS)}\n")
    assert names["losses"] == pytest.approx(names["REFERENCE"], abs=2e-4)
    own = {one.kernel for one in map(names["yours"], all_launches(names))}
    assert {names[name] for name in KERNELS} < own
    assert not own & names["OWN"].keys()


def all_launches(names: dict) -> list:
    model = names["model"]
    return [*model.forward, *model.backward, *model.update(names["AdamW"]())]


def test_what_is_not_solved_is_the_package_s():
    names, (told,) = shown({"classifier", "step_bytes"}, 1)
    assert told.startswith("yours: classifier\n")
    assert names["losses"] == pytest.approx(names["REFERENCE"], abs=2e-4)
    changed = [one.name for one in all_launches(names) if names["yours"](one) is not one]
    assert changed == ["classifier"]


def test_bytes_are_the_budget_s_but_for_sums_of_blocks_and_copies(solved):
    rows = re.findall(r"^([a-z ]+?) +([\d,]+) +([\d,]+) +([\d,]+)$", solved[1][1], re.MULTILINE)
    found = {name: [int(part.replace(",", "")) for part in parts] for name, *parts in rows}
    of_blocks = 4 * 32 * 64 * 2 * 2 * 5  # stored and read, for weight and bias, of five norms
    copies = 2 * MINIATURE.parameters
    more = {name: least - budget for name, (budget, least, _) in found.items()}
    rest = more.pop("the rest")
    assert rest == found["the rest"][1] > 0
    assert more.pop("update") == pytest.approx(copies, abs=32 * 16)  # parts of sectors
    assert more == {"norms": of_blocks, "products": 0, "attention": 0, "classifier": 0}
    assert all(asked >= least for _, least, asked in found.values())


def test_the_kernels_go_the_way_back_of_exercise_6(solved):
    differences = re.findall(r"^\w+ +differs by at most (\S+) of", solved[1][2], re.MULTILINE)
    assert len(differences) == 12
    assert max(map(float, differences)) < 1e-5

"""Small mistakes in the solutions: hidden cases refuse them, but for those listed as equivalent.

`make mutants` tries all of them; here a few of each exercise are drawn."""

from __future__ import annotations

import random

import pytest
from support import rooms
from support.causes_named import verdict
from support.lab_cases import STEMS
from support.mutation_operators import OPERATORS
from support.paths import ROOT
from support.share import THOROUGH
from support.solution_mutants import (
    Outcome,
    digest,
    equivalents,
    hidden_outcome,
    mistaken,
    mutants,
    mutants_of,
    solution,
    stale,
)
from support.wrong_answers import WrongAnswer

from warpwise.labs.source import BEGIN, END, load_lab

pytestmark = pytest.mark.usefixtures("closed_rooms")

LABS = [stem for stem in STEMS if (ROOT / f"tests/course/{stem}/equivalent.toml").exists()]
DRAWN = 3 if THOROUGH else 2  # of each exercise
#: operator -> a line, and what it becomes, among others
EXAMPLES = {
    "barrier": ("cuda.syncthreads()", "pass"),
    "guard": ("if i < n: a[i] = 1", "if True: a[i] = 1"),
    "condition": ("if i < n and j < m: a[i] = 1", "if j < m: a[i] = 1"),
    "comparison": ("if i < n: a[i] = 1", "if i <= n: a[i] = 1"),
    "constant": ("v = a[i + 1]", "v = a[i + 2]"),
    "operand": ("v = total * scale", "v = total"),
    "arithmetic": ("v = i % 32", "v = i // 32"),
    "operands": ("v = a[i] - mean", "v = mean - a[i]"),
    "sign": ("m = -inf", "m = inf"),
    "running": ("total += a[i]", "total = a[i]"),
    "extreme": ("m = max(m, a[i])", "m = a[i]"),
    "cast": ("v = np.float32(a[i])", "v = a[i]"),
    "axis": ("y = cuda.threadIdx.y", "y = cuda.threadIdx.x"),
    "indices": ("v = a[i, j]", "v = a[j, i]"),
    "names": ("col, row = cuda.grid(2)", "row, col = cuda.grid(2)"),
    "array": ("v = a[i] * b[i]", "v = a[i] * a[i]"),
    "arguments": ("v = merged(a, b)", "v = merged(b, a)"),
    "loop": ("for k in range(n): v = k", "for k in range(0, n - 1): v = k"),
    "uncoalesced": (
        "i = cuda.grid(1)",
        "i = (cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x)",
    ),
    "again": ("v = a[i]; b[i] = v + v * v", "v = a[i]; b[i] = a[i] + a[i] * a[i]"),
    "order": ("v = a[i]; a[i] = 0", "a[i] = 0; v = a[i]"),
    "statement": ("v = a[i]; a[i] = 0", "v = a[i]; pass"),
}


def drawn_from(line: str) -> dict[str, list[str]]:
    """Return what each operator makes of a solution of one line."""
    marked = f"@cuda.jit\ndef f():\n    {BEGIN}\n    {line}\n    {END}\n"
    found: dict[str, list[str]] = {}
    for mutant in mutants_of("a_lab", "f", marked):
        found.setdefault(mutant.operator, []).append(mutant.text.splitlines()[2].strip())
    return found


def test_each_operator_has_an_example():
    assert list(EXAMPLES) == [operator.name for operator in OPERATORS]


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_operator_makes_its_change(name):
    line, expected = EXAMPLES[name]
    assert expected in drawn_from(line)[name]


def test_only_the_solution_is_changed_and_no_text_comes_twice():
    marked = f"def f(a):\n    n = 1\n    {BEGIN}\n    a += 2\n    {END}\n    return n + 1\n"
    assert solution(marked).lines == range(3, 4)
    made = [mutant.text for mutant in mutants_of("a_lab", "f", marked)]
    assert len(set(made)) == len(made) > 3
    assert all("n = 1" in text and "return n + 1" in text for text in made)


def test_two_lines_changed_alike_are_told_apart():
    keys = [
        m.key
        for m in mutants_of("a_lab", "f", f"def f():\n    {BEGIN}\n    g()\n    g()\n    {END}")
    ]
    assert keys == ["statement: g() -> pass", "statement: g() -> pass (2)"]


def test_a_survivor_needs_an_entry_and_an_entry_a_survivor():
    lab = "02_simt"
    passed, refused = Outcome("passed", "passed"), Outcome("race", "passed")
    listed = next(m for m in mutants(lab) if (m.exercise, m.key) in equivalents(lab))
    other = next(m for m in mutants(lab) if (m.exercise, m.key) not in equivalents(lab))
    assert mistaken([(listed, passed), (other, refused)]) == []
    assert mistaken([(listed, refused), (other, passed)]) == [
        f"{lab} {listed.exercise} is listed as equivalent and refused: {listed.key}",
        f"{lab} {other.exercise} survives: {other.key}",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("lab", LABS)
def test_a_result_is_kept_by_a_digest(lab):
    """Whatever the cases of a lab hold, such as functions that a check cell defines."""
    first, second = mutants(lab)[:2]
    assert digest(first, 0) == digest(first, 0) != digest(second, 0)


@pytest.mark.parametrize("lab", LABS)
def test_each_entry_names_a_mutant(lab):
    assert stale(lab, equivalents(lab)) == []
    assert stale(lab, [("square", "guard: gone -> too")]) == ["square: guard: gone -> too"]


@pytest.mark.slow
@pytest.mark.parametrize("lab", LABS)
def test_no_drawn_mutant_survives_unlisted(lab):
    chance = random.Random(lab)
    tried = []
    for exercise in load_lab(lab).exercises:
        of_it = [mutant for mutant in mutants(lab) if mutant.exercise == exercise.id]
        drawn = chance.sample(of_it, DRAWN)
        tried += [(mutant, hidden_outcome(mutant, *rooms.found())) for mutant in drawn]
    assert mistaken(tried) == []


#: mistakes that few cases tell: the lab, the exercise, and how the mutant's name ends
SHOWN = [
    ("02_simt", "settle", "(cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x)"),
    ("06_fusion", "residual_layernorm", "np.float32(0), np.float32((-1)), np.float32(0)"),
    ("09_tiling", "matmul_patch", "range(0, a.shape[1] - 1, 8):"),
    (
        "09_tiling",
        "matmul_patch",
        "first_col, first_row = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x",
    ),
    ("12_flash_attention", "flash_numpy", "for first in range(0, n):"),
    ("12_flash_attention", "flash_rows", "(cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x)"),
    ("13_flash_backward", "flash_backward", "if end <= 1:"),
    ("13_flash_backward", "backward", "q.shape[1] + 1, TILE):"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("lab", "exercise", "end"), SHOWN)
def test_a_student_sees_a_mistake_that_few_cases_tell(lab, exercise, end):
    (mutant,) = (m for m in mutants(lab) if m.exercise == exercise and m.key.endswith(end))
    assert not verdict(WrongAnswer(lab, "a mutant", exercise, "", mutant.text)).passed

"""Changes of running sums and maxima: each undoes the mistake that it is for."""

from __future__ import annotations

import ast

import pytest

from warpwise.labs.kinds_of_names import kinds_of
from warpwise.labs.small_changes import changes

LOOP = """\
def f(x, v, o, L):
    acc = cuda.local.array(4, np.float32)
    m, total = np.float32(-9), np.float32(0)
    for k in range(3):
        {above}
        for c in range(8):
            {larger}
        p, fix = math.exp(x[k] - above), math.exp(m - above)
        {scale}
        for j in range(4):
            {add}
        m = above
    o[0] = acc[0] / total
    {log}
"""
RIGHT = {
    "above": "above = m",
    "larger": "above = max(above, x[c])",
    "scale": "total *= fix",
    "add": "acc[j] += p * v[j]",
    "log": "L[0] = m + math.log(total)",
}
#: which line is wrong, how it stands there, what comes back, and the question
WRONG = [
    ("above", "above = np.float32(-9)", "above = m", "above begins anew here"),
    ("larger", "above = max(m, x[c])", "above = max(above, x[c])", "is above the maximum of all"),
    ("add", "acc[j] += v[j]", "acc[j] += v[j] * p", "multiplied by its weight"),
    ("log", "L[0] = math.log(total)", "L[0] = math.log(total) + m", "is a term missing in what"),
    ("scale", "total *= fix", "acc[_j] *= fix", "must what acc holds so far be rescaled"),
]


def tree(**lines: str) -> ast.FunctionDef:
    (found,) = ast.parse(LOOP.format(**RIGHT | lines)).body
    assert isinstance(found, ast.FunctionDef)
    return found


@pytest.mark.parametrize(("part", "line", "back", "question"), WRONG)
def test_a_change_of_a_running_sum_is_tried(part, line, back, question):
    made = [change for change in changes(tree(**{part: line})) if question in change.question]
    assert any(back in ast.unparse(change.make()) for change in made)


def test_names_are_told_apart_by_what_they_are_for():
    kinds = kinds_of(tree())
    assert kinds.numbers == ["m", "total", "above", "p", "fix"]
    assert kinds.whole == {"k", "c", "j"}
    assert kinds.like(ast.Name("x")) == ["x", "v", "o", "L", "acc"]


def test_no_index_and_no_array_lacks_a_factor():
    asked = [c.text for c in changes(tree()) if c.question == "is a factor missing?"]
    assert asked and not any("cuda." in text for text in asked)

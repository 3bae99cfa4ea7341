"""The lines that wrong outputs are made of, and right ones are not."""

from __future__ import annotations

import ast

import pytest

from warpwise.labs.slices import alone, suspects

KERNEL = """\
def f(x, v, o, L):
    m, total, acc = -9.0, 0.0, 0.0
    for j in range(x.size):
        if x[j] > 0:
            above = max(m, x[j])
            fix = exp(m - above)
            m, total, acc = above, total * fix, acc * fix
            total += 1
            acc += v[j]
    if total > 0:
        o[0] = acc / total
    L[0] = m + log(total)
    keep(v, o)
"""
(TREE,) = ast.parse(KERNEL).body
assert isinstance(TREE, ast.FunctionDef)


@pytest.mark.parametrize(
    ("wrong", "right", "lines"),
    [
        (["o"], ["L"], {2, 7, 9, 10, 11, 13}),
        (["L"], ["o"], {12}),
        (["o", "L"], [], {2, 3, 4, 5, 6, 7, 8}),
        ([], ["L"], set()),
    ],
)
def test_lines_are_suspect_that_only_wrong_outputs_are_made_of(wrong, right, lines):
    assert suspects(TREE, wrong, right) == lines


def test_they_are_told_as_messages_count_them():
    assert alone(TREE, ["L"], ["o"], 10) == "o is right: what else is L made of? Look at line 2"
    assert alone(TREE, ["o"], ["L"], 0).endswith("Look at lines 2, 7, 9 to 11 and 13")
    assert alone(TREE, ["o", "L"], [], 0) == ""

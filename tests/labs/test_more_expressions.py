"""Small changes that undo a mistake: each is found where it was made, with its question."""

from __future__ import annotations

import ast

import pytest

from warpwise.labs.small_changes import changes

CASES = [
    ("return f(f(x))", "return f(f(f(x)))", "is f applied often enough?"),
    (
        "return math.sqrt(v) + eps",
        "return math.sqrt(v + eps)",
        "does eps belong inside math.sqrt, or outside?",
    ),
    (
        "return math.sqrt(v + eps)",
        "return math.sqrt(v) + eps",
        "does eps belong inside math.sqrt, or outside?",
    ),
    ("return 1 + c * v * v", "return 1 + c * v * v * 3", "is a factor missing?"),
    (
        "return best[0] < merit[0]",
        "return best < merit",
        "does one item alone decide, also where both sides are equal in it?",
    ),
    (
        "return a if b else c",
        "return -a if b else c",
        "x if c else y: do both have the right sign?",
    ),
    ("half = 16", "half = 64", "is 16 the right number?"),
    ("distance = 0", "distance = 16", "is 0 the right number?"),
    (
        "a = s / np.float32(32)\n    return t / np.float32(32), x.shape[1]",
        "a = s / np.float32(x.shape[1])\n    return t / np.float32(x.shape[1]), x.shape[1]",
        "is 32 the right number?",
    ),
]


def asked(before: str) -> dict[str, str]:
    """Return the questions about a function's body by the text of the changed one."""
    (tree,) = ast.parse(f"def f(x):\n    {before}\n").body
    assert isinstance(tree, ast.FunctionDef)
    found = changes(tree)
    assert ast.unparse(tree) == ast.unparse(ast.parse(f"def f(x):\n    {before}"))  # as it was
    return {ast.unparse(change.make()): change.question for change in reversed(found)}


@pytest.mark.parametrize(("before", "after", "question"), CASES)
def test_a_mistake_is_undone_by_one_change(before: str, after: str, question: str):
    right = ast.unparse(ast.parse(f"def f(x):\n    {after}"))
    assert asked(before)[right] == question


def test_a_conversion_is_not_made_twice_and_no_term_moves_out_of_one():
    made = asked("return np.float32(x + 1) + len(x)")
    assert not any("np.float32(x) + 1" in text or "len(len" in text for text in made)

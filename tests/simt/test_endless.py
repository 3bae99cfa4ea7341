"""Loops that are known never to end, beside their twins of which that is not known."""

import ast

import pytest

from warpwise.simt.frontend.endless import never_ends

ENDLESS = [
    "while True:\n    x[0] += 1",
    "while lane < 32:\n    stride += 1",
    "while row < a.shape[0]:\n    total += a[row, col]",
    "while row < len(a) and not done:\n    total += a[row]",
    "while i < x.size:\n    for k in range(9):\n        if k > i:\n            break",
    "while 2 * n > m:\n    while m < k:\n        k -= 1\n        break",
]
MAY_END = [
    "while True:\n    x[0] += 1\n    if x[0] > 9:\n        break",
    "while lane < 32:\n    lane += 1",
    "while lane < 32:\n    for lane in range(9):\n        pass",
    "while lane < 32:\n    total, lane = 1, lane + 1",
    "while lane < 32:\n    (lane := lane + 1)",
    "while x[0] < 32:\n    total += 1",
    "while x.get() < 32:\n    total += 1",
    "while f(n):\n    total += 1",
    "while todo:\n    todo.pop()",
    "while todo != []:\n    del todo[0]",
    "while lo < hi:\n    lo[0] += 1",
    "while n < 9:\n    change(n)",
    "while n < 9:\n    if total > 7:\n        return total",
    "while n < 9:\n    for k in range(9):\n        pass\n    else:\n        break",
    "while row < len(a):\n    a = a[1:]",
]


@pytest.mark.parametrize("text", ENDLESS)
def test_a_loop_that_changes_nothing_its_condition_reads_never_ends(text):
    assert never_ends(ast.parse(text).body[0])


@pytest.mark.parametrize("text", MAY_END)
def test_a_loop_that_may_end_is_not_called_endless(text):
    assert not never_ends(ast.parse(text).body[0])

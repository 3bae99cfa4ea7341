"""Host functions that never end: told only where the text shows it."""

from __future__ import annotations

import pytest

from warpwise.labs.endless import does_not_end

ENDLESS = {
    "a_bare_loop": "while True:\n    pass",
    "a_counter_forgotten": "i = total = 0\nwhile i < n:\n    total += i\nreturn total",
    "an_array_is_only_read": "i = s = 0\nwhile i < len(x):\n    s += x[i]\nreturn s",
    "after_a_loop_that_ends": "for i in range(n):\n    n += i\nwhile True:\n    n += 1",
    "after_an_early_return": "if n == 0:\n    return 0\nwhile n > 0:\n    x = n\nreturn x",
    "a_function_of_its_own_returns": "def g():\n    return 1\nwhile True:\n    g()",
    "numpy_reads_the_array": "while x.size > 3:\n    y = np.sum(x)\nreturn y",
}
PERHAPS = {
    "a_break": "while True:\n    if n > 3:\n        break",
    "a_return": "while True:\n    return n",
    "an_error_raised": "while True:\n    raise ValueError",
    "a_list_that_shrinks": "while len(x) > 0:\n    x.pop()",
    "a_list_handed_on": "while len(x) > 0:\n    shorten(x)",
    "elements_deleted": "while len(x) > 0:\n    del x[0]",
    "elements_replaced": "while len(x) > 0:\n    x[:] = x[1:]",
    "in_a_branch": "if n > 3:\n    while True:\n        pass",
    "a_long_loop": "for i in range(10 ** 12):\n    n += i\nreturn n",
    "a_loop_that_may_return_before": "for i in range(n):\n    if i == 9:\n        return i\n"
    "while True:\n    pass",
    "after_the_end": "return n\nwhile True:\n    pass",
    "in_another_function": "def g():\n    while True:\n        pass\nreturn n",
}


def function(body: str) -> str:
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return f"def g():\n    while True:\n        pass\n\ndef f(n, x):\n{lines}\n"


@pytest.mark.parametrize("name", ENDLESS)
def test_a_function_that_never_ends_is_known(name: str):
    assert does_not_end(function(ENDLESS[name]), "f")


@pytest.mark.parametrize("name", PERHAPS)
def test_what_may_end_is_not_said_to_be_endless(name: str):
    assert not does_not_end(function(PERHAPS[name]), "f")


def test_another_name_is_another_function():
    assert does_not_end(function("return 1"), "g") and not does_not_end("x = 1\n", "f")

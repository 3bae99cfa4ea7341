"""After a restart a student runs the given cells, one answer and its check: that is enough."""

from __future__ import annotations

import ast
import builtins

import pytest
from support.lab_cases import STEMS, cells

from warpwise.cells.names import late, reads_and_binds

BUILT_IN = frozenset(dir(builtins))


def read_and_defined(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that a cell takes from elsewhere, in its functions too, and its own."""
    body = ast.parse(source).body
    reads, binds = reads_and_binds(body)
    return reads | frozenset().union(*map(late, body)) - binds - BUILT_IN, binds


def test_a_name_that_only_a_function_reads_counts():
    source = "import math\nhalf = n / 2\n\ndef f(x):\n    return g(math.sin(x)) + half\n"
    reads, binds = read_and_defined(source)
    assert (reads, binds) == ({"n", "g"}, {"math", "half", "f"})


@pytest.mark.parametrize("stem", STEMS)
def test_no_check_needs_what_another_check_defines(stem: str):
    known = frozenset().union(
        *(
            read_and_defined(source)[1]
            for part in ("given", "exercise")
            for source in cells(stem, part)
        )
    )
    for source in cells(stem, "check"):
        assert read_and_defined(source)[0] - BUILT_IN <= known, source.splitlines()[-1]

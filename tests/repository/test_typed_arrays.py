"""Every array of the simulator says its type: in a browser NumPy's own integers have 32 bits."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.paths import ROOT

#: NumPy's function -> the place of its parameter ``dtype``; None if it has to be named.
MAKERS = {"array": 1, "zeros": 1, "ones": 1, "empty": 1, "full": 2, "arange": None}
PLACES = ("simt", "cluster", "metrics", "races.py", "traces.py", "trace_file.py", "views", "report")


def untyped(text: str) -> Iterator[int]:
    """Yield the lines of calls of ``MAKERS`` without a type."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=name)) if name in MAKERS:
                place = MAKERS[name]
                named = any(keyword.arg == "dtype" for keyword in node.keywords)
                if not named and (place is None or len(node.args) <= place):
                    yield node.lineno


def modules() -> list[Path]:
    found = (ROOT / "warpwise" / place for place in PLACES)
    return [path for one in found for path in ([one] if one.suffix else one.rglob("*.py"))]


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_arrays_say_their_types(path):
    assert list(untyped(path.read_text("utf-8"))) == []


def test_what_counts_as_a_type():
    text = "np.zeros(3)\nnp.zeros(3, bool)\nnp.arange(3)\nnp.arange(3, dtype=t)\nnp.full(2, 0)\n"
    assert list(untyped(text)) == [1, 3, 5]

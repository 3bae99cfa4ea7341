"""The lines that use an array, found in the text of a kernel."""

from __future__ import annotations

import textwrap

import pytest

from warpwise.labs.uses import uses
from warpwise.simt import kernels_in

HEAD = "from numba import cuda, float32\n@cuda.jit\ndef k(x, h, out):\n    i = cuda.grid(1)\n"

USES = {
    "a load and a store": ("out[i] = x[i]\nx[i] = 2", (6,), (5,)),
    "an update": ("x[i] += 1", (5,), (5,)),
    "an element of a row": ("out[i] = x[i][0]\nx[0][i] = 1", (6,), (5,)),
    "a part of an element": ("x[i].real = x[0].imag", (5,), (5,)),
    "an index from another array": ("out[h[i]] = 0\nx[out[i]] = h[x[i]]", (6,), (6,)),
    "an atomic": ("cuda.atomic.add(x, i, 1)", (5,), (5,)),
    "an atomic by another name": ("add = cuda.atomic.add\nadd(x, i, 1)", (6,), (6,)),
    "a loop over it": ("for v in x:\n    out[i] = v", (), (5,)),
    "its size": ("if i < x.size and i < x.shape[0] and len(x) > 2:\n    out[i] = 1", (), ()),
    "two lines, each once": ("x[i] = 1\nx[i + 1] = x[i] + x[0]", (5, 6), (6,)),
}


@pytest.mark.parametrize("name", USES)
def test_the_lines_that_write_and_read_an_array_are_found(name: str):
    body, written, read = USES[name]
    text = HEAD + textwrap.indent(body, "    ")
    found = uses(kernels_in(text)["k"], "x")
    lines = text.splitlines()

    def quoted(numbers: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(f"    line {n}: {lines[n - 1].strip()}" for n in numbers)

    assert found.read == quoted(read)
    assert found.written == quoted(written)
    assert found.atomic == name.startswith("an atomic") and not found.otherwise
    assert bool(found.listed) == bool(written)


@pytest.mark.parametrize("body", ["v = x", "v = x.T", "v = x if i else h", "f(x)"])
def test_an_array_that_has_another_name_is_used_otherwise(body: str):
    found = uses(kernels_in(HEAD + "    " + body)["k"], "x")
    assert found.otherwise and not found.written and found.listed == ""


def test_a_line_of_a_given_cell_is_quoted_with_its_function():
    text = HEAD + "    x[i] = 1\n"
    found = uses(kernels_in(text, file="your cell", first_line=-9)["k"], "x")
    assert found.listed == "  x is written on\n    in k: x[i] = 1"

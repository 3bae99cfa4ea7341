"""``{mistake} folder/name``: a faulty kernel of ``chapters/mistakes``, its message, and the fix.

The programs are those that the tests run, and the simulator makes each message when the page is
built: neither is typed on the page.
"""

from __future__ import annotations

import ast
import difflib
import linecache
import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from warpwise.book.markup import fenced, parsed
from warpwise.errors import WarpwiseError
from warpwise.labs.fragments import misplaced
from warpwise.labs.mistake_pairs import description, pair
from warpwise.simt import as_kernel, trace

MISTAKES = Path("chapters", "mistakes")
#: In this checkout, or in the working directory, where students build the book.
FOLDER = next(
    (f for f in (Path(__file__).parents[2] / MISTAKES, MISTAKES) if f.is_dir()), MISTAKES
).absolute()
SEED = 3
WIDTH = 72  # characters of a line of a message


class Mistake(SphinxDirective):
    """``{mistake} barriers/in_a_branch``: its description, kernel, message and fix."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        of = pair(FOLDER, name)
        for path in (of.faulty, of.correct):
            self.env.note_dependency(str(path))
        return parsed(self, shown(name))


def shown(name: str) -> list[str]:
    """Return lines of MyST for a pair of programs; raises FileNotFoundError if there is none."""
    of = pair(FOLDER, name)
    faulty, correct = (path.read_text("utf-8") for path in (of.faulty, of.correct))
    first, kernels = kernel_lines(faulty)
    fix = changes(kernels, kernel_lines(correct)[1]) or changes(
        without_comments(faulty)[1:], without_comments(correct)[1:]
    )
    return [
        description(faulty),
        "",
        *fenced("{code-block} python", [f":lineno-start: {first}", "", *kernels]),
        *fenced("text", message(name)),
        of.reason,
        "",
        *fenced("diff", fix),
    ]


def without_comments(text: str) -> list[str]:
    """Return a program's lines without the comments on what it should raise, and on its fix."""
    return re.sub(r"[ \t]*# (expect|scope|fix): .*", "", text).rstrip().splitlines()


def kernel_lines(text: str) -> tuple[int, list[str]]:
    """Return the lines between imports and launch, after the number of the first of them."""
    body = ast.parse(text).body
    imports = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom))]
    start = max(node.end_lineno or 0 for node in imports)
    end = next(node.lineno for node in body if getattr(node, "name", "") == "launch") - 1
    lines = without_comments(text)
    while not lines[start]:
        start += 1
    while not lines[end - 1]:
        end -= 1
    return start + 1, lines[start:end]


def message(name: str) -> list[str]:
    """Run the faulty program and return the error that stops it, its first race, or its fragment.

    A fragment in another order is looked for where there is no race."""
    path = FOLDER / f"{name}_faulty.py"
    text = path.read_text("utf-8")
    text = text.replace("from numba import cuda\n", "from warpwise import cuda\n")
    lines = [f"{line}\n" for line in without_comments(text)]
    # the simulator finds the kernel's text there
    linecache.cache[str(path)] = len(text), None, lines, str(path)
    names: dict[str, Any] = {}
    exec(compile("".join(lines), str(path), "exec"), names)
    kernel, blocks, threads, args, *more = names["launch"](np.random.default_rng(SEED))
    options = more[0] if more else {}
    try:
        races = trace(kernel, blocks, threads, *args, record=(), **options).races
    except WarpwiseError as error:
        return wrapped(f"{type(error).__name__}: {error}")
    if races:
        return wrapped(str(races[0]))
    found = misplaced(as_kernel(kernel), blocks, threads, args)
    assert found is not None, name
    return wrapped(found.told)


def wrapped(text: str) -> list[str]:
    """Return lines of at most ``WIDTH`` characters, each with its own indentation."""
    found = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()))
        found += textwrap.wrap(line, WIDTH, subsequent_indent=indent) or [""]
    return found


def changes(before: list[str], after: list[str]) -> list[str]:
    """Return a diff with one line of context and without its head."""
    lines = difflib.unified_diff(before, after, lineterm="", n=1)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]

"""``{mistake} folder/name``: a faulty kernel of ``tests/faults``, what the simulator says of it, and the lines that mend it.

The programs are those that the tests run, and their messages are made when the page is: neither is typed on the page.
"""

from __future__ import annotations

import ast
import difflib
import linecache
import re
import textwrap
from pathlib import Path

import numpy as np
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from warpwise.book.reference import parsed
from warpwise.errors import WarpwiseError
from warpwise.simt import trace

FAULTS = Path("tests", "faults")
#: In this checkout, or in the folder of the book, where students build it.
FOLDER = next((f for f in (Path(__file__).parents[2] / FAULTS, FAULTS) if f.is_dir()), FAULTS).absolute()
SEED = 3
WIDTH = 72  # characters of a line of a message


class Mistake(SphinxDirective):
    """``{mistake} barriers/in_a_branch``: its first line, kernel, message and mend."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        for kind in ("faulty", "correct"):
            self.env.note_dependency(str(FOLDER / f"{name}_{kind}.py"))
        return parsed(self, shown(name))


def shown(name: str) -> list[str]:
    """MyST lines for a pair of programs. Raises FileNotFoundError for one that does not exist."""
    faulty, correct = ((FOLDER / f"{name}_{kind}.py").read_text("utf-8") for kind in ("faulty", "correct"))
    first, kernels = kernel_lines(faulty)
    mend = changes(kernels, kernel_lines(correct)[1]) or changes(without_comments(faulty)[1:], without_comments(correct)[1:])
    return [
        ast.get_docstring(ast.parse(faulty)), "", *fenced("{code-block} python", [f":lineno-start: {first}", "", *kernels]),
        *fenced("text", message(name)), ast.get_docstring(ast.parse(correct)), "", *fenced("diff", mend),
    ]  # fmt: skip


def fenced(language: str, lines: list[str]) -> list[str]:
    return [f"````{language}", *lines, "````", ""]


def without_comments(text: str) -> list[str]:
    """A program's lines, without what its comments expect."""
    return re.sub(r"[ \t]*# (expect|scope): .*", "", text).splitlines()


def kernel_lines(text: str) -> tuple[int, list[str]]:
    """The number of the first line after the imports, and the lines from there to before the launch."""
    body = ast.parse(text).body
    start = max(node.end_lineno for node in body if isinstance(node, (ast.Import, ast.ImportFrom)))
    end = next(node.lineno for node in body if getattr(node, "name", "") == "launch") - 1
    lines = without_comments(text)
    while not lines[start]:
        start += 1
    while not lines[end - 1]:
        end -= 1
    return start + 1, lines[start:end]


def message(name: str) -> list[str]:
    """What the simulator says of the faulty program: its first race, or the error that stops it."""
    path = FOLDER / f"{name}_faulty.py"
    text = path.read_text("utf-8").replace("from numba import cuda\n", "from warpwise import cuda\n")
    lines = [f"{line}\n" for line in without_comments(text)]
    linecache.cache[str(path)] = len(text), None, lines, str(path)  # where the simulator finds the kernel's text
    names: dict = {}
    exec(compile("".join(lines), str(path), "exec"), names)
    kernel, blocks, threads, args, *options = names["launch"](np.random.default_rng(SEED))
    try:
        races = trace(kernel, blocks, threads, *args, record=(), **(options[0] if options else {})).races
    except WarpwiseError as error:
        return wrapped(f"{type(error).__name__}: {error}")
    return wrapped(str(races[0]))


def wrapped(text: str) -> list[str]:
    """Lines of at most ``WIDTH`` characters, each with its own indentation."""
    found = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()))
        found += textwrap.wrap(line, WIDTH, subsequent_indent=indent) or [""]
    return found


def changes(before: list[str], after: list[str]) -> list[str]:
    """What differs, with the lines around it, as a diff without its head."""
    lines = difflib.unified_diff(before, after, lineterm="", n=1)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]

"""The directives behind the page of errors: the tree as ``warpwise.errors`` draws it, and an example of each that is run when the page is.

```{raises} OutOfBoundsError`` holds a few lines of Python. They must raise exactly that class, or the build complains; the page shows
the meaning of the class, which is its docstring, the lines, and the message. A class that only gathers others is never raised, and has
no lines. Kernels of a more natural size, each with its mend, are on the page of mistakes.
"""

from __future__ import annotations

import linecache
import re
import warnings
from inspect import getdoc

import numpy as np
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from warpwise import cuda, errors
from warpwise.book.mistakes import fenced, wrapped
from warpwise.book.reference import parsed
from warpwise.errors import WarpwiseError
from warpwise.simt import trace

FILE = "example.py"  # messages name a file: the lines on the page


class ErrorTree(SphinxDirective):
    """``{error-tree}``: the tree of the docstring of ``warpwise.errors``, as a list of links."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(errors.__file__)
        return parsed(self, [f"{'  ' * depth}- {{py:exc}}`{name}`: {meaning}" for depth, name, meaning in tree()])


class Raises(SphinxDirective):
    """``{raises} OutOfBoundsError``: meaning, example and message of one class."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(errors.__file__)
        (name,), lines = self.arguments, list(self.content)
        if not lines and getattr(errors, name).__subclasses__():
            return parsed(self, entry(name, []))
        error = raised("\n".join(lines))
        if type(error).__name__ != name:
            raise self.error(f"the example of {name} raises {error!r}")
        return parsed(self, entry(name, example(lines, error)))


def tree() -> list[tuple[int, str, str]]:
    """(depth, class, what it is for) of each line of the docstring that draws the tree; the class at the root says it in its own."""
    found = []
    for line in errors.__doc__.splitlines():
        if branch := re.match(r" {4}([│├└─ ]*)(\w+) *(.*)", line):
            drawn, name, meaning = branch.groups()
            found.append((len(drawn) // 4, name, meaning or "the base of all"))
    return found


def entry(name: str, lines: list[str]) -> list[str]:
    """MyST lines for one class, which pages can link to, with its meaning."""
    return [f"`````{{py:exception}} {name}", "", getdoc(getattr(errors, name)), "", *lines, "`````"]


def example(lines: list[str], error: WarpwiseError) -> list[str]:
    """The lines, numbered as the message counts them, and the message."""
    said = wrapped(f"{type(error).__name__}: {error}")
    return [*fenced("{code-block} python", [":linenos:", "", *lines]), *fenced("text", said)]


def raised(code: str) -> Exception | None:
    """What a few lines of Python raise, with ``np``, ``cuda`` and ``trace`` as they are after the usual imports."""
    linecache.cache[FILE] = len(code), None, [f"{line}\n" for line in code.splitlines()], FILE  # where the simulator finds a kernel's text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(code, FILE, "exec"), {"__name__": "example", "np": np, "cuda": cuda, "trace": trace})
    except Exception as error:
        return error
    return None


def setup(app: Sphinx) -> dict:
    """Called by Sphinx through ``app.setup_extension``."""
    app.add_directive("error-tree", ErrorTree)
    app.add_directive("raises", Raises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

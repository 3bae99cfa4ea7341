"""The directives of the page of errors: the tree of ``warpwise.errors``, and executed examples.

``{raises} OutOfBoundsError`` holds a few lines of Python that must raise exactly that class, or the
build stops. The page shows the class's docstring, the lines, and the message. A base class that is
never raised has no lines. The page of mistakes has kernels of a more natural size, with their fix.
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
from sphinx.util.typing import ExtensionMetadata

from warpwise import cuda, errors
from warpwise.book.markup import fenced, parsed
from warpwise.book.mistakes import wrapped
from warpwise.simt import trace

FILE = "example.py"  # the name in messages of the file that the page's lines stand for


class ErrorTree(SphinxDirective):
    """``{error-tree}``: the tree in the docstring of ``warpwise.errors``, as a list of links."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(errors.__file__)
        lines = [f"{'  ' * depth}- {{py:exc}}`{name}`: {use}" for depth, name, use in tree()]
        return parsed(self, lines)


class Raises(SphinxDirective):
    """``{raises} OutOfBoundsError``: one class's meaning, with an example and its message."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(errors.__file__)
        (name,), lines = self.arguments, list(self.content)
        if not lines and getattr(errors, name).__subclasses__():
            return parsed(self, entry(name, []))
        error = raised("\n".join(lines))
        if error is None or not is_of(error, name):
            raise self.error(f"the example of {name} raises {error!r}")
        return parsed(self, entry(name, example(lines, error)))


def tree() -> list[tuple[int, str, str]]:
    """Return (depth, class, its use) for each line of the docstring that draws the tree.

    The root's use is in its own docstring.
    """
    found = []
    for line in (errors.__doc__ or "").splitlines():
        if branch := re.match(r"([│├└─ ]*)(\w+(?:Error|Fault))\b *(.*)", line):
            drawn, name, meaning = branch.groups()
            found.append((len(drawn) // 4, name, meaning or "the base of all"))
    return found


def entry(name: str, lines: list[str]) -> list[str]:
    """Return lines of MyST for one class, as an object that pages can link to."""
    meaning = getdoc(getattr(errors, name)) or ""
    return [f"`````{{py:exception}} {name}", "", meaning, "", *lines, "`````"]


def example(lines: list[str], error: Exception) -> list[str]:
    """Return the lines, numbered as the message counts them, and the message."""
    said = wrapped(f"{type(error).__name__}: {error}")
    return [*fenced("{code-block} python", [":linenos:", "", *lines]), *fenced("text", said)]


def is_of(error: Exception, name: str) -> bool:
    """True for an error of the class of that name, or of what a kernel's exception made of it."""
    return name in (type(error).__name__, type(error).__bases__[0].__name__)


def raised(code: str) -> Exception | None:
    """Run a few lines of Python with ``np``, ``cuda`` and ``trace``; return what they raise."""
    # the simulator finds a kernel's text there
    linecache.cache[FILE] = len(code), None, [f"{line}\n" for line in code.splitlines()], FILE
    names = {"__name__": "example", "np": np, "cuda": cuda, "trace": trace}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(code, FILE, "exec"), names)
    except Exception as error:
        return error
    return None


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directives."""
    app.add_directive("error-tree", ErrorTree)
    app.add_directive("raises", Raises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

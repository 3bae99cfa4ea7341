"""Extract a kernel, or the text of a host function, from the text of cells.

Everything goes by syntax tree; nothing runs. This is called in the simulation's process, since a
malicious text can make Python's parser use much memory."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

from warpwise.errors import GradingError
from warpwise.grading import notebook
from warpwise.labs.lookup import is_stub_syntax
from warpwise.labs.surroundings import needed
from warpwise.simt import Kernel, kernels_in
from warpwise.simt.compiler.spelling import LONGEST, nearest

MOST_NESTED = 100
# The cells of one submission: each of its answers asks again.
_once = lru_cache(maxsize=2048)
plain = _once(notebook.plain)


class NotDefinedError(GradingError):
    """A cell that does not define what its exercise asks for, and ``advice``."""

    def __init__(self, what: str, advice: str):
        super().__init__(what)
        self.advice = advice


def kernel(text: str, name: str, others: Sequence[str] = (), given: Sequence[str] = ()) -> Kernel:
    """Return the kernel called ``name`` of an exercise's cell.

    It sees device functions and literal constants of the other cells too. Of equal names, those of
    the lab's given cells win over the student's other cells, and the exercise's own cell over both.
    Raises GradingError if the cell is not Python, and NotDefinedError if it has no such kernel."""
    own = _functions(_parsed(text))
    cells = [cell for cell in map(plain, others) if _parses(cell)]
    found = kernels_in(plain(text), file="your cell", before=[*cells, *map(plain, given)])
    if name not in found and name in own:
        plain_one = f"`{name}` is a plain function; the exercise asks for a kernel"
        raise NotDefinedError(plain_one, "write @cuda.jit above it")
    if name not in found:
        raise _misnamed("kernel", name, own)
    return found[name]


def host_function(
    text: str, name: str, others: Sequence[str] = (), given: Sequence[str] = ()
) -> str:
    """Return Python text that defines ``name`` and no more than it needs (``surroundings``).

    Returns "" for a function not begun; raises GradingError if the cell is not Python, and
    NotDefinedError if it has no such function."""
    tree = _parsed(text)
    if name not in (there := _functions(tree)):
        raise _misnamed("function", name, there)
    own = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    if is_stub_syntax(own[-1]):
        return ""
    cells = [cell for cell in map(plain, [*others, *given]) if _parses(cell)]
    around = [node for cell in cells for node in ast.parse(cell).body]
    with _understood(f"{name} is not Python"):
        found = "\n".join(map(ast.unparse, needed(name, [*around, *tree.body])))
        compile(found, "your cell", "exec")
    return found


def _functions(tree: ast.Module) -> list[str]:
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def _misnamed(kind: str, name: str, there: Sequence[str]) -> NotDefinedError:
    """Return the error on a cell without ``name``: it says which function was probably meant."""
    found = nearest(name, there) or (there[0] if len(there) == 1 else "")
    missing = f"the exercise's cell has no {kind} called {name}"
    if found and len(found) <= LONGEST:
        missing = f"found `{found}`; the exercise asks for `{name}`"
    return NotDefinedError(missing, f"keep the name that the exercise's cell had: {name}")


@_once
def _parses(text: str) -> bool:
    try:
        _parsed(text)
    except GradingError:
        return False
    return True


def _parsed(text: str) -> ast.Module:
    """Parse a cell that Python would run, without running it. Raises GradingError."""
    with _understood("line {} is not Python"):
        tree = ast.parse(plain(text))
        # a tree may still hold a break outside of a loop
        compile(tree, "your cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if _is_deep(tree):
        deep = f"the cell is nested more than {MOST_NESTED} deep"
        raise GradingError(f"{deep}; an elif counts, and so does each step of a long sum")
    return tree


def _is_deep(tree: ast.AST) -> bool:
    """True if a tree is nested deeper than MOST_NESTED, where recursion over it would overflow."""
    nodes = [tree]
    for _ in range(MOST_NESTED + 1):
        nodes = [child for node in nodes for child in ast.iter_child_nodes(node)]
    return bool(nodes)


@contextmanager
def _understood(what: str) -> Iterator[None]:
    """Turn Python's error on a text that it cannot read into a GradingError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except SyntaxError as error:
        raise GradingError(f"{what.format(error.lineno)}: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise GradingError(f"the cell is not Python: {error}") from error

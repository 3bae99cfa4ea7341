"""Plain functions as generators, for a Python without threads, as in a browser.

A program's text is read, and each call in it becomes ``yield from call(f, ...)``. What that calls
is rewritten in turn if it is the reader's own function; anything else is called as it is. A call
that waits is yielded to the runner. Line numbers stay. Left out: what waits within a lambda, a
comprehension or a generator; there the work is found not to be waited for."""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import os
import textwrap
from collections.abc import Callable, Generator
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from warpwise.cluster.sites import PACKAGE
from warpwise.cluster.tasks import Awaitable, Waiting

CALL = "call_that_may_wait"
#: They look at the frame that calls them.
FRAMES = {"super", "locals", "globals", "vars", "dir", "eval", "exec"}
#: Folders of this package, of Python's own modules, and of what is installed: left as they are.
INSTALLED = (
    PACKAGE,
    *(str(folder) + os.sep for folder in (Path(os.__file__).parent, Path(np.__file__).parents[1])),
)
FLAGS = functools.reduce(
    int.__or__, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
_PLAIN_NEW = inspect.getattr_static(object, "__new__")
Works = Generator[Awaitable, None, Any]


def call(function: Any, *args: Any, **named: Any) -> Works:
    """Call a function from a generator: yield what it waits for, and return its result."""
    if isinstance(function, functools.partial):
        inner = {**function.keywords, **named}
        return (yield from call(function.func, *function.args, *args, **inner))
    if type(function) is type and inspect.getattr_static(function, "__new__") is _PLAIN_NEW:
        written = rewritten(inspect.getattr_static(function, "__init__"))
        if written is not None:
            made: object = object.__new__(function)
            yield from written(made, *args, **named)
            return made
    bound = _bound(function)
    written = rewritten(bound.__func__ if isinstance(bound, MethodType) else bound)
    if written is not None:
        own = (bound.__self__,) if isinstance(bound, MethodType) else ()
        return (yield from written(*own, *args, **named))
    result = function(*args, **named)
    if isinstance(result, Waiting):
        yield result.work
        return None
    return result


def _bound(function: Any) -> Any:
    """Return the method that a call of an object is, or the function itself."""
    if isinstance(function, FunctionType | MethodType | type):
        return function
    method = inspect.getattr_static(type(function), "__call__", None)
    return MethodType(method, function) if isinstance(method, FunctionType) else function


def rewritten(function: object) -> Callable[..., Works] | None:
    """Return a function as a generator function, or None for what is called as it is."""
    if not isinstance(function, FunctionType) or inspect.isgeneratorfunction(function):
        return None
    if function.__code__.co_filename.startswith(INSTALLED):
        return None
    code = _code(function.__code__)
    if code is None:
        return None
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[CALL] = CellType(call)
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


@functools.lru_cache(maxsize=256)
def _code(code: CodeType) -> CodeType | None:
    """Return the code of the generator; None where the text cannot be found."""
    try:
        lines, first = inspect.getsourcelines(code)
        (tree,) = ast.parse(textwrap.dedent("".join(lines))).body
    except (OSError, SyntaxError, ValueError):
        return None
    found = _function(tree, code)
    if found is None:
        return None
    ast.increment_lineno(found, first - 1)
    _Calls().rewrite(found)
    names = [CALL, *code.co_freevars]
    outer = ast.FunctionDef(
        "outer",
        ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, []),
        [found],
        [],
    )
    module = ast.fix_missing_locations(ast.Module([outer], []))
    flags = code.co_flags & FLAGS
    compiled = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    return _inner(_inner(compiled, "outer"), found.name)


def _function(tree: ast.stmt, code: CodeType) -> ast.FunctionDef | None:
    """Return the definition in a statement; a lambda becomes one, if it stands alone there."""
    if isinstance(tree, ast.FunctionDef) and tree.name == code.co_name:
        tree.decorator_list, tree.returns = [], None
        return tree
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    if len(found) != 1 or code.co_name != "<lambda>":
        return None
    body = ast.copy_location(ast.Return(found[0].body), found[0])
    return ast.copy_location(ast.FunctionDef("lambda_", found[0].args, [body], []), found[0])


def _inner(code: CodeType, name: str) -> CodeType:
    codes = (one for one in code.co_consts if isinstance(one, CodeType))
    return next(one for one in codes if one.co_name == name)


class _Calls(ast.NodeTransformer):
    """Puts ``yield from call(f, ...)`` in the place of each call of a function's own statements."""

    def rewrite(self, function: ast.FunctionDef) -> None:
        function.body = [self.visit(statement) for statement in function.body]
        # a generator even if nothing in it is called
        nothing = ast.parse(f"if False:\n    yield from {CALL}(None)").body
        function.body = [*nothing, *function.body]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in FRAMES:
            return node
        name = ast.copy_location(ast.Name(CALL, ast.Load()), node)
        made = ast.copy_location(ast.Call(name, [node.func, *node.args], node.keywords), node)
        return ast.copy_location(ast.YieldFrom(made), node)

    def _as_it_is(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _as_it_is
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _as_it_is

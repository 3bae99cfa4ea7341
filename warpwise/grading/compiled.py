"""From a kernel that was read from text to one that Numba compiles for a GPU.

Of the text nothing runs but bare ``def`` statements: decorators and annotations are taken off, and defaults stay only where they are
literals. Names mean what the simulator found them to mean, so a module is one that it knows, and nothing is imported for a student.
"""

from __future__ import annotations

import ast
import builtins
import copy
import enum
import operator
from importlib import import_module
from typing import Any

from warpwise.cuda import numbas
from warpwise.errors import GradingError
from warpwise.simt import Kernel
from warpwise.simt.text.names import CudaName, Package
from warpwise.simt.text.source import Members, Outside


def compiled(kernel: Kernel) -> Any:
    """``numba.cuda.jit`` of a kernel and of the device functions that it calls. It is compiled when it is first launched.

    What the decorator was given (a signature, options) is left out. Raises GradingError for a default that is no literal.
    """
    return _jitted(kernel, {})


def _jitted(kernel: Kernel, made: dict[Kernel, Any]) -> Any:
    """The function, whose names are filled in when it is there, since one may be its own."""
    names: dict[str, Any] = {}
    exec(_bare(kernel.tree), names)
    function, jit = names[kernel.name], numbas.jit
    found = jit(device=True)(function) if kernel.device else jit(function)
    made[kernel] = found
    for name in {node.id for node in ast.walk(kernel.tree) if isinstance(node, ast.Name)}:
        try:
            value = kernel.lookup(name)
        except KeyError:  # a variable of its own
            continue
        if not isinstance(value, Outside) and value is not vars(builtins).get(name):
            names[name] = _meaning(name, value, made)
    return found


def _bare(tree: ast.FunctionDef) -> str:
    """The text of a ``def`` without anything that is evaluated when it runs, but for literals."""
    tree = copy.deepcopy(tree)
    tree.decorator_list, tree.returns = [], None
    a = tree.args
    for argument in (*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))):
        argument.annotation = None
    for default in (*a.defaults, *filter(None, a.kw_defaults)):
        try:
            ast.literal_eval(default)
        except (ValueError, TypeError, MemoryError, RecursionError) as error:
            raise GradingError(f"{tree.name}: the default {ast.unparse(default)} is no literal") from error
    return ast.unparse(tree)


def _meaning(name: str, value: object, made: dict[Kernel, Any]) -> Any:
    """What Numba is given for a name: its own object for the simulator's."""
    match value:
        case Kernel():
            return made[value] if value in made else _jitted(value, made)
        case CudaName(path=path):
            return operator.attrgetter(path)(numbas.load()) if path else numbas.load()
        case Package():
            return import_module("numba")
        case Members():
            return enum.IntEnum(name, vars(value))
    return value

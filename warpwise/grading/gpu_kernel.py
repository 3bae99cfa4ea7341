"""Have Numba compile a kernel that was read from text.

Of the text nothing runs but bare ``def`` statements: decorators and annotations are taken off, and
defaults stay only where they are literals. Names mean what the simulator resolved them to, so a
module is one that it knows, and nothing is imported for a student."""

from __future__ import annotations

import ast
import builtins
import copy
import operator
from importlib import import_module
from typing import Any

from warpwise.cuda import numba_backend
from warpwise.errors import GradingError
from warpwise.simt import Kernel
from warpwise.simt.frontend.names import INSTRUCTIONS, KERNELS, CudaName, Package
from warpwise.simt.frontend.source import Outside


def compiled(kernel: Kernel) -> Any:
    """Apply ``numba.cuda.jit`` to a kernel and the device functions that it calls.

    It is compiled when it is first launched. The decorator's own arguments (a signature, options)
    are left out. Raises GradingError for a default that is no literal."""
    return _jitted(kernel, {})


def _jitted(kernel: Kernel, made: dict[Kernel, Any]) -> Any:
    """Make the function, then fill in the names that it uses, of which one may be its own."""
    names: dict[str, Any] = {}
    # its own lines, in a file of its name: machine code tells its lines from another function's
    exec(compile(_bare(kernel.tree), f"<{kernel.name}>", "exec"), names)
    function, jit = names[kernel.name], numba_backend.jit
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


def _bare(tree: ast.FunctionDef) -> ast.Module:
    """Return a ``def`` that evaluates nothing but literals when it runs.

    It stands on its own lines, or from line 1 on if it comes from another cell: the simulator
    numbers those below 1, which Python's compiler refuses."""
    tree = copy.deepcopy(tree)
    tree.decorator_list, tree.returns = [], None
    a = tree.args
    for argument in (*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))):
        argument.annotation = None
    for default in (*a.defaults, *filter(None, a.kw_defaults)):
        try:
            ast.literal_eval(default)
        except (ValueError, TypeError, MemoryError, RecursionError) as error:
            told = f"{tree.name}: the default {ast.unparse(default)} is no literal"
            raise GradingError(told) from error
    if tree.lineno < 1:
        ast.increment_lineno(tree, 1 - tree.lineno)
    return ast.fix_missing_locations(ast.Module([tree], []))


def _meaning(name: str, value: object, made: dict[Kernel, Any]) -> Any:
    """Return Numba's own object for the simulator's object behind a name."""
    match value:
        case Kernel():
            return made[value] if value in made else _jitted(value, made)
        case CudaName(path=path) if path.partition(".")[0] in INSTRUCTIONS:
            module, _, instruction = path.partition(".")
            return getattr(import_module(f"{KERNELS}.{module}"), instruction)
        case CudaName(path=path):
            return operator.attrgetter(path)(numba_backend.load()) if path else numba_backend.load()
        case Package():
            return import_module("numba")
    return value

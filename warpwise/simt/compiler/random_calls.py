"""Calls of ``cuda.random``'s functions: kernel text, counted at the line that calls them."""

from __future__ import annotations

import ast
from functools import partial

from warpwise.simt.builtins.random_functions import CONSTANTS, RANDOM
from warpwise.simt.compiler.closures import Code
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.device_calls import call_device
from warpwise.simt.frontend.kernel import Kernel


def random_call(c: Context, node: ast.Call, name: str) -> Code:
    kernels = c.kernel.inner
    if node not in kernels:
        kernels[node] = _at(c.kernel, node, name)
    return call_device(c, node, kernels[node])


def _at(caller: Kernel, node: ast.Call, name: str) -> Kernel:
    """Return one of the functions, with every node at the place of the call."""
    (tree,) = ast.parse(ast.unparse(RANDOM[name])).body
    assert isinstance(tree, ast.FunctionDef)
    for part in ast.walk(tree):
        if hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return Kernel(tree, partial(_named, caller, node), caller.file, caller.lines, device=True)


def _named(caller: Kernel, node: ast.Call, name: str) -> object:
    return _at(caller, node, name) if name in RANDOM else CONSTANTS[name]

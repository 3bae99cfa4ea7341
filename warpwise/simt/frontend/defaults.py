"""Default values of a function's parameters, as Python evaluated them, or read from a text."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from warpwise.simt.frontend.constants import NotConstant, constant
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.names import resolve


def default_nodes(a: ast.arguments) -> Mapping[str, ast.expr]:
    """Return the syntax of the default values, by parameter."""
    names = [p.arg for p in (*a.posonlyargs, *a.args)]
    found = dict(zip(names[::-1], a.defaults[::-1], strict=False))
    named = zip(a.kwonlyargs, a.kw_defaults, strict=True)
    return found | {p.arg: value for p, value in named if value is not None}


def default_value(kernel: Kernel, name: str) -> object:
    """Return a parameter's default value; NotImplemented where there is none that is known."""
    nodes, function = default_nodes(kernel.tree.args), kernel.function
    if name not in nodes:
        return NotImplemented
    if function is None:
        return _known(kernel, nodes[name])
    code, values = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    found = dict(zip(names[::-1], values[::-1], strict=False)) | (function.__kwdefaults__ or {})
    return resolve(found.get(name, NotImplemented))


def _known(kernel: Kernel, node: ast.expr) -> object:
    """Return the value of a name outside or a constant; NotImplemented for anything else."""
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    try:
        if isinstance(node, ast.Name):
            return resolve(kernel.lookup(node.id))
        value: object = constant(node, kernel.lookup)
        return value
    except (KeyError, NotConstant):
        return NotImplemented

"""Kernels in which each thread reads and writes elements of one index, in its own element alone.

Where such a kernel is wrong, its formula is, and no thread reads from another place."""

from __future__ import annotations

import ast


def is_elementwise(tree: ast.FunctionDef) -> bool:
    """True if a text has no loop, and one index for all elements of its parameters."""
    parameters = {arg.arg for arg in tree.args.args}
    nodes = list(ast.walk(tree))
    indices = {
        ast.unparse(node.slice)
        for node in nodes
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in parameters
    }
    by_thread = len(indices) == 1 and not next(iter(indices)).replace(" ", "").isdigit()
    return by_thread and not any(isinstance(node, ast.For | ast.While) for node in nodes)

"""Local aliases in a kernel: ``t = cuda.threadIdx``, ``add = cuda.atomic.add``, ``mode = "sum"``.

Nothing is computed for an alias: it is replaced by its value before anything else looks at the
kernel. A name is one if a single line assigns it and every later line calls it, reads something in
it or, for text, compares it or prints it. Other names stay: their values are numbers, or a mistake
that is reported at the line of the assignment."""

from __future__ import annotations

import ast
import copy
from collections import Counter


def without_aliases(tree: ast.FunctionDef) -> ast.FunctionDef:
    found = _aliases(tree)
    if found:
        rewriter = _Rewriter(found)
        tree.body = [rewriter.visit(statement) for statement in tree.body]
    return tree


def _aliases(tree: ast.FunctionDef) -> dict[str, ast.Assign]:
    nodes = [n for part in (tree.args, *tree.body) for n in ast.walk(part)]
    names = [n for n in nodes if isinstance(n, ast.Name)]
    bound = Counter(n.id for n in names if not isinstance(n.ctx, ast.Load))
    bound.update(n.arg for n in nodes if isinstance(n, ast.arg))
    bound.update(n.name for n in nodes if isinstance(n, ast.FunctionDef))
    found = {}
    for n in nodes:
        if not isinstance(n, ast.Assign) or len(n.targets) != 1:
            continue
        name = getattr(n.targets[0], "id", "")
        if bound[name] == 1 and _is_from_outside(n.value, bound) and _is_alias(nodes, name, n):
            found[name] = n
    return found


def _is_from_outside(value: ast.expr, bound: Counter[str]) -> bool:
    """True for text, and for a dotted name whose first part the function does not bind."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str)
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name) and not bound[value.id]


def _is_alias(nodes: list[ast.AST], name: str, node: ast.Assign) -> bool:
    """True if every read of a name comes after its assignment, in a place where aliases can be."""
    reads = [
        n for n in nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
    ]
    replaceable = _texts_in if isinstance(node.value, ast.Constant) else _names_in
    known = {id(part) for n in nodes for part in replaceable(n)}
    after = node.end_lineno, node.end_col_offset
    return bool(reads) and all(id(n) in known and (n.lineno, n.col_offset) > after for n in reads)


def _names_in(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Call):
        return [node.func]
    return [node.value] if isinstance(node, ast.Attribute) else []


def _texts_in(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
            return [left, right]
        case ast.Call(func=ast.Name(id="print"), args=arguments):
            return arguments
    return []


class _Rewriter(ast.NodeTransformer):
    def __init__(self, found: dict[str, ast.Assign]):
        self.found = found

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if node in self.found.values():
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        # a mistake in the copy is reported at the line that uses the alias
        return copy.deepcopy(self.found[node.id].value) if node.id in self.found else node

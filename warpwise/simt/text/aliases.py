"""Short names for what a kernel sees outside: ``t = cuda.threadIdx`` and then ``t.x``, ``add = cuda.atomic.add``, ``mode = "sum"``.

Nothing is computed for such a name: it is replaced by what it stands for before anything else looks at the kernel. A name counts if one
line gives it its value and every later line calls it, reads something in it or, for text, compares it or prints it. Others are left:
their values are numbers, or a mistake that is told at the line of the assignment.
"""

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
    given = Counter(n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
    given.update(n.arg for n in nodes if isinstance(n, ast.arg))
    given.update(n.name for n in nodes if isinstance(n, ast.FunctionDef))
    single = [n for n in nodes if isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name)]
    plain = {n.targets[0].id: n for n in single if given[n.targets[0].id] == 1 and _stands_outside(n.value, given)}
    return {name: node for name, node in plain.items() if _is_only_named(nodes, name, node)} if plain else {}


def _stands_outside(value: ast.expr, given: Counter) -> bool:
    """A text, or a dotted name that begins with none of the function's own."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str)
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name) and not given[value.id]


def _is_only_named(nodes: list[ast.AST], name: str, node: ast.Assign) -> bool:
    reads = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    inside = _of_text if isinstance(node.value, ast.Constant) else _of_name
    known = {id(part) for n in nodes for part in inside(n)}
    after = node.end_lineno, node.end_col_offset
    return bool(reads) and all(id(n) in known and (n.lineno, n.col_offset) > after for n in reads)


def _of_name(node: ast.AST) -> list[ast.expr]:
    return [node.func] if isinstance(node, ast.Call) else [node.value] if isinstance(node, ast.Attribute) else []


def _of_text(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return [node.left, *node.comparators]
    return node.args if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print" else []


class _Rewriter(ast.NodeTransformer):
    def __init__(self, found: dict[str, ast.Assign]):
        self.found = found

    def visit_Assign(self, node: ast.Assign):
        if node in self.found.values():
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name):
        return copy.deepcopy(self.found[node.id].value) if node.id in self.found else node  # told at the line that names it

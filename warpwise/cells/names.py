"""The names of a statement: read from outside it, bound by it, or changed in place.

The names come from compiled code, so a function's own variables do not count as the page's, and of
a loop only what it reads before it has bound it. Changes are guessed from form: a launch may change
its arguments, a method its object, an assignment to ``a[i]`` or ``a.b`` changes ``a``.
"""

from __future__ import annotations

import ast
import dis
from collections.abc import Iterator, Sequence
from types import CodeType

READS, BINDS = ("LOAD_NAME", "LOAD_GLOBAL"), ("STORE_NAME", "STORE_GLOBAL")
# Parts of code that run at once, although they are compiled like functions.
AT_ONCE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
# They may not run to their end, or not at all.
PERHAPS = (ast.If, ast.While, ast.Try)
Names = frozenset[str]


def reads_and_binds(body: Sequence[ast.stmt], bound: Names = frozenset()) -> tuple[Names, Names]:
    """Return the names that statements read before they bind them, and those bound at their end.

    A loop over something is taken to run at least once.
    """
    reads: Names = frozenset()
    for node in body:
        if isinstance(node, ast.Break | ast.Continue | ast.Return):
            continue
        heads, parts = _heads(node), _bodies(node)
        for head in heads:
            reads |= loads(head) - bound
        inside = bound | (stores(node) if not parts else _targets(node))
        ends = [reads_and_binds(part, inside) for part in parts]
        reads = reads.union(*(part for part, _ in ends))
        bound = bound if isinstance(node, PERHAPS) else inside.union(*(end for _, end in ends))
    return reads, bound


def loads(node: ast.stmt | ast.expr) -> Names:
    """Return the page's names that a statement or expression reads when it runs."""
    return _names(_compiled(node), READS, at_once=True)


def stores(node: ast.stmt) -> Names:
    return _names(_compiled(node), BINDS, at_once=True) | _names(_compiled(node), BINDS[1:], False)


def late(node: ast.stmt) -> Names:
    """Return the page's names that functions of a statement read when they are called."""
    return _names(_compiled(node), READS, at_once=False)


def changed(node: ast.stmt) -> Names:
    """Return the names whose objects a statement may change, outside functions that it defines."""
    return frozenset(_changed(node))


def _heads(node: ast.stmt) -> list[ast.stmt | ast.expr]:
    """Return what runs before the bodies of a statement; of one without bodies, itself."""
    if isinstance(node, ast.For):
        return [node.iter]
    if isinstance(node, ast.If | ast.While):
        return [node.test]
    if isinstance(node, ast.With):
        return [item.context_expr for item in node.items]
    if isinstance(node, ast.Try):
        return [handler.type for handler in node.handlers if handler.type]
    return [node]


def _bodies(node: ast.stmt) -> list[list[ast.stmt]]:
    if isinstance(node, ast.Try):
        handlers = [handler.body for handler in node.handlers]
        return [[*node.body, *node.orelse, *node.finalbody], *handlers]
    if isinstance(node, ast.For | ast.If | ast.While):
        return [node.body, node.orelse]
    return [node.body] if isinstance(node, ast.With) else []


def _targets(node: ast.stmt) -> Names:
    """Return the names that the head of a compound statement binds."""
    heads: list[ast.expr | None] = []
    if isinstance(node, ast.For):
        heads = [node.target]
    elif isinstance(node, ast.With):
        heads = [item.optional_vars for item in node.items]
    names = (n for head in heads if head is not None for n in ast.walk(head))
    caught = (h.name for h in getattr(node, "handlers", []) if h.name)
    return frozenset([*(n.id for n in names if isinstance(n, ast.Name)), *caught])


def _compiled(node: ast.stmt | ast.expr) -> CodeType:
    body = ast.Expr(node, lineno=1, col_offset=0) if isinstance(node, ast.expr) else node
    return compile(ast.fix_missing_locations(ast.Module([body], [])), "", "exec")


def _names(code: CodeType, wanted: Sequence[str], at_once: bool) -> Names:
    parts = _parts(code, True)
    instructions = (i for part, now in parts if now == at_once for i in dis.get_instructions(part))
    return frozenset(one.argval for one in instructions if one.opname in wanted)


def _parts(code: CodeType, now: bool) -> Iterator[tuple[CodeType, bool]]:
    """Yield code and the code inside it, each with whether it runs with the statement."""
    yield code, now
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant, now and constant.co_name in AT_ONCE)


def _changed(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
        return
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript | ast.Attribute) and isinstance(part.ctx, ast.Store):
            yield from base(part)
        elif isinstance(part, ast.Call):
            yield from _changed_by_call(part)


def _changed_by_call(call: ast.Call) -> Iterator[str]:
    function = call.func
    if isinstance(function, ast.Attribute):
        yield from (name for name in base(function) if isinstance(function.value, ast.Name))
    elif isinstance(function, ast.Subscript) or getattr(function, "id", "") == "trace":
        yield from (one.id for one in call.args if isinstance(one, ast.Name))


def base(node: ast.expr) -> Iterator[str]:
    """Yield the name whose object an item or attribute, of any depth, belongs to."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id

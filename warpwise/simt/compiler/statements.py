"""Statements of a kernel, compiled once to closures that pass the active mask along.

A statement's closure is ``run(frame, mask) -> mask``: it returns the lanes that go on to the next
statement, or None. Lanes that leave by break, continue or return are kept in the frame and rejoin
where Python's control flow does. Loops are in ``loops``."""

from __future__ import annotations

import ast

from warpwise.simt import types
from warpwise.simt.compiler import advice
from warpwise.simt.compiler.arithmetic import binary
from warpwise.simt.compiler.array_calls import name_arrays
from warpwise.simt.compiler.closures import Code, Number, Put, Step, truth
from warpwise.simt.compiler.conditions import known
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.stores import assignment, element_target, need_storable
from warpwise.simt.compiler.whole_arrays import elementwise
from warpwise.simt.lanes.masks import Mask, join, split
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import NONE, OptionalType


def pass_(c: Context, node: ast.Pass) -> None:
    return None


def expression(c: Context, node: ast.Expr) -> Step | None:
    """Compile a call on a line of its own; a docstring does nothing."""
    if isinstance(node.value, ast.Constant):
        return None
    has_call = any(isinstance(n, ast.Call) for n in ast.walk(node.value))
    if has_call and isinstance(node.value, (ast.BoolOp, ast.IfExp)):
        return if_(c, _as_if(node.value))
    if not isinstance(node.value, ast.Call):
        is_name = isinstance(node.value, (ast.Name, ast.Attribute))
        meaning = c.static(node.value) if is_name else NotImplemented
        try_this = advice.on_unused(node.value, meaning, c.language.vocabulary.called)
        c.refuse(node, f"{ast.unparse(node)}: a value that is not used", try_this)
    if (loops := elementwise(c, node.value)) is not None:
        return c.statement(loops)
    c.unused = node.value
    code = c.expression(node.value)
    charge, run = c.charge(node), code.run

    def do(frame: Frame, mask: Mask) -> Mask:
        charge(frame, mask)
        run(frame, mask)
        return mask

    return do


def _as_if(node: ast.BoolOp | ast.IfExp) -> ast.If:
    """Rewrite ``c and f(x)``, ``c or f(x)`` and ``f(x) if c else None`` as statements."""
    if isinstance(node, ast.IfExp):
        orelse: list[ast.stmt] = [_as_line(node.orelse)]
        return ast.copy_location(ast.If(node.test, [_as_line(node.body)], orelse), node)
    *conditions, body = node.values
    test = conditions[0]
    if len(conditions) > 1:
        test = ast.copy_location(ast.BoolOp(node.op, conditions), node)
    if isinstance(node.op, ast.Or):
        test = ast.copy_location(ast.UnaryOp(ast.Not(), test), node)
    return ast.copy_location(ast.If(test, [_as_line(body)], []), node)


def _as_line(value: ast.expr) -> ast.Expr:
    return ast.copy_location(ast.Expr(value), value)


# --- assignment ---


def assign(c: Context, node: ast.Assign) -> Step:
    name_arrays(c, node)
    value = c.expression(node.value)
    return _assigning(c, node, value, [assignment(c, t, value.type) for t in node.targets])


def annotated(c: Context, node: ast.AnnAssign) -> Step | None:
    if node.value is None:
        return None
    return assign(c, ast.copy_location(ast.Assign([node.target], node.value), node))


def augmented(c: Context, node: ast.AugAssign) -> Step:
    target = node.target
    if isinstance(target, (ast.Subscript, ast.Attribute)):
        return _augmented_element(c, node, target)
    read = ast.copy_location(ast.Name(target.id, ast.Load()), target)
    value = binary(c, node, c.scalar(read), node.op, c.scalar(node.value))
    return _assigning(c, node, value, [assignment(c, target, value.type)])


def _assigning(c: Context, node: ast.stmt, value: Code, targets: list[Put]) -> Step:
    charge, run = c.charge(node, least=1), value.run
    if len(targets) == 1:
        put = targets[0]

        def do(frame: Frame, mask: Mask) -> Mask:
            charge(frame, mask)
            put(frame, run(frame, mask), mask)
            return mask

        return do

    def do_all(frame: Frame, mask: Mask) -> Mask:
        charge(frame, mask)
        result = run(frame, mask)
        for target in targets:
            target(frame, result, mask)
        return mask

    return do_all


def _augmented_element(
    c: Context, node: ast.AugAssign, target: ast.Subscript | ast.Attribute
) -> Step:
    """Compile ``a[i] += x``: one computation of the index; a load, an operation, a store."""
    element = element_target(c, node, target)
    indices, site, array, dtype = element.indices, c.site(node), element.array, element.dtype
    slot = c.variables.hidden(f"element at {node.lineno}:{node.col_offset}")
    old = Number(lambda frame, mask: frame.values[slot], dtype)
    value = binary(c, node, old, node.op, c.scalar(node.value))
    need_storable(c, target, value.type, dtype)
    c.cost.add("memory", 2)
    charge, run = c.charge(node), value.run

    def do(frame: Frame, mask: Mask) -> Mask:
        charge(frame, mask)
        memory, places = array(frame, mask), [i(frame, mask) for i in indices]
        frame.values[slot] = frame.batch.memory.load(memory, places, mask, site)
        frame.batch.memory.store(memory, places, types.cast(run(frame, mask), dtype), mask, site)
        return mask

    return do


# --- branches and ends ---


def if_(c: Context, node: ast.If) -> Step:
    taken = known(c, node.test)
    if taken is not None:
        return c.body(node.body if taken else node.orelse)
    test = truth(c.scalar(node.test))
    c.cost.add("control")
    charge, condition, line = c.charge(node), test.run, node.lineno
    variables = c.variables
    before = dict(variables.env)
    body = c.body(node.body)
    after_body, variables.here = variables.here, dict(before)
    orelse = c.body(node.orelse)
    variables.here = variables.joined(node, after_body, variables.here)

    def do(frame: Frame, mask: Mask) -> Mask | None:
        charge(frame, mask)
        yes, no = split(mask, condition(frame, mask))
        frame.batch.branch(line, mask, yes, no)
        on = None if yes is None else body(frame, yes)
        off = None if no is None else orelse(frame, no)
        return mask if on is yes and off is no else join(on, off)

    return do


def return_(c: Context, node: ast.Return) -> Step:
    if len(c.callers) == 1 and not c.kernel.device:
        is_none = isinstance(node.value, ast.Constant) and node.value.value is None
        if node.value is not None and not is_none:
            c.refuse(node, "a kernel returns nothing", "write results into an array argument")
        c.variables.here = None
        return _leave_kernel
    if node.value is None:
        c.results.add(NONE, node)
        c.variables.here = None
        return _leave_function
    value = c.expression(node.value)
    c.results.add(value.type, node)
    charge, run, site = c.charge(node), value.run, c.site(node)
    c.variables.here = None

    def do(frame: Frame, mask: Mask) -> None:
        charge(frame, mask)
        frame.give_back(run(frame, mask), mask, site)

    def do_where_some(frame: Frame, mask: Mask) -> None:
        charge(frame, mask)
        some, number = run(frame, mask)
        found, _ = split(mask, some)
        if found is not None:
            frame.give_back(number, found, site)

    def do_nothing(frame: Frame, mask: Mask) -> None:
        charge(frame, mask)
        run(frame, mask)

    if value.type == NONE:
        return do_nothing
    return do_where_some if isinstance(value.type, OptionalType) else do


def _leave_kernel(frame: Frame, mask: Mask) -> None:
    frame.batch.leave(mask)


def _leave_function(frame: Frame, mask: Mask) -> None:
    return None

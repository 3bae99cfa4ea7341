"""Statements of a kernel, compiled once to closures that pass the active mask along.

A statement's closure is ``run(frame, mask) -> mask``: it returns the lanes that go on to the next
statement, or None. Lanes that leave by break, continue or return are kept in the frame and rejoin
where Python's control flow does."""

from __future__ import annotations

import ast
from collections.abc import Callable

from warpwise.errors import KernelTypeError
from warpwise.simt import types
from warpwise.simt.compiler import advice
from warpwise.simt.compiler.closures import Code, Cost, charging, truth
from warpwise.simt.frontend.refused import STATEMENTS
from warpwise.simt.lanes.masks import Mask, join, split
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import NONE, TupleType

MAX_STATEMENTS = 20_000  # compiled for one function, a loop's body as often as its types change


class Statements:
    """Mixin of ``Compiler`` for statements."""

    def body(self, statements: list[ast.stmt]) -> Callable:
        """Compile statements that run one after another, as long as lanes go on."""
        runs = []
        for statement in statements:
            if self.env is None:
                break
            run = self.statement(statement)
            if run is not None:
                runs.append(run)
        if len(runs) == 1:
            return runs[0]

        def run(frame, mask):
            for step in runs:
                mask = step(frame, mask)
                if mask is None:
                    return None
            return mask

        return run

    def statement(self, node: ast.stmt) -> Callable | None:
        method = getattr(self, f"_do_{type(node).__name__}", None)
        if method is None:
            word = ast.unparse(node).split()[0].rstrip(":")
            refused = STATEMENTS.get(type(node).__name__)
            try_this = refused.instead if refused else "use assignments, if, for, while and calls"
            self.refuse(node, f"{word} has no meaning in a kernel", try_this)
        self.compiled += 1
        if self.compiled > MAX_STATEMENTS:
            what = f"{self.kernel.name} has too many statements in loops within loops"
            self.refuse(node, what, "move inner loops to device functions")
        self.cost = Cost()
        try:
            return method(node)
        except types.TypeMismatch as error:
            raise KernelTypeError(str(error), self.kernel.where(node), error.try_this) from error

    def _charge(self, node: ast.AST, least: int = 0) -> Callable:
        """Return the closure that counts what was compiled since the statement began."""
        if self.cost.slots < least:
            self.cost.add("integer")  # a move
        return charging(node.lineno, self.cost)

    def _do_Pass(self, node: ast.Pass) -> None:
        return None

    def _do_Expr(self, node: ast.Expr) -> Callable | None:
        if isinstance(node.value, ast.Constant):
            return None
        has_call = any(isinstance(n, ast.Call) for n in ast.walk(node.value))
        if has_call and isinstance(node.value, (ast.BoolOp, ast.IfExp)):
            return self._do_If(_as_if(node.value))
        if not isinstance(node.value, ast.Call):
            try_this = advice.on_unused(node.value, self._meaning(node.value))
            self.refuse(node, f"{ast.unparse(node)}: a value that is not used", try_this)
        code = self.expression(node.value)
        charge, run = self._charge(node), code.run

        def do(frame, mask):
            charge(frame, mask)
            run(frame, mask)
            return mask

        return do

    def _meaning(self, node: ast.expr):
        return self.static(node) if isinstance(node, (ast.Name, ast.Attribute)) else NotImplemented

    def _do_Assign(self, node: ast.Assign) -> Callable:
        self.target = node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""
        self.name_arrays(node)
        value = self.expression(node.value)
        targets = [self.assignment(t, value.type) for t in node.targets]
        return self._assigning(node, value, targets)

    def _do_AnnAssign(self, node: ast.AnnAssign) -> Callable | None:
        if node.value is None:
            return None
        return self._do_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def _do_AugAssign(self, node: ast.AugAssign) -> Callable:
        if isinstance(node.target, (ast.Subscript, ast.Attribute)):
            return self._augmented_element(node)
        target = node.target
        if isinstance(target, ast.Name):
            target = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        value = self.binary(node, self.scalar(target), node.op, self.scalar(node.value))
        return self._assigning(node, value, [self.assignment(node.target, value.type)])

    def _assigning(self, node: ast.stmt, value: Code, targets: list[Callable]) -> Callable:
        charge, run = self._charge(node, least=1), value.run
        if len(targets) == 1:
            put = targets[0]

            def do(frame, mask):
                charge(frame, mask)
                put(frame, run(frame, mask), mask)
                return mask

            return do

        def do_all(frame, mask):
            charge(frame, mask)
            result = run(frame, mask)
            for target in targets:
                target(frame, result, mask)
            return mask

        return do_all

    def assignment(self, target: ast.expr, t) -> Callable:
        """Compile ``put(frame, value, mask)``, which assigns a value of type ``t`` to a target."""
        if isinstance(target, ast.Name):
            slot = self.bind(target.id, t)
            site = self.site(target)
            return lambda frame, value, mask: frame.assign(slot, value, mask, site)
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            return self.memory_target(target, t)
        if isinstance(target, (ast.Tuple, ast.List)):
            return self._unpacking(target, t)
        what = f"cannot assign to {ast.unparse(target)} in a kernel"
        return self.refuse(target, what, "assign to a name, or to an element: out[i] = ...")

    def _unpacking(self, target: ast.Tuple, t) -> Callable:
        if any(isinstance(name, ast.Starred) for name in target.elts):
            plain = ", ".join(ast.unparse(name).lstrip("*") for name in target.elts)
            text = f"{ast.unparse(target).strip('()[]')} = ..."
            what = f"{text}: a star is not allowed in a kernel's assignment"
            self.refuse(target, what, f"a name for each value, such as {plain}")
        count = len(target.elts)
        if not isinstance(t, TupleType) or len(t.items) != count:
            grid = f"unpack {count} values; cuda.grid({count}) gives {count}"
            try_this = grid if count in (2, 3) else "as many names as values"
            self.refuse(target, f"cannot unpack {types.described(t)} into {count} names", try_this)
        puts = [self.assignment(e, item) for e, item in zip(target.elts, t.items, strict=True)]

        def put(frame, value, mask):
            for one, item in zip(puts, value, strict=True):
                one(frame, item, mask)

        return put

    def _augmented_element(self, node: ast.AugAssign) -> Callable:
        """Compile ``a[i] += x``: one computation of the index; a load, an operation, a store."""
        element = self.element_target(node)
        indices, site, array, dtype = element.indices, self.site(node), element.array, element.dtype
        slot = self.slots.setdefault(f"element at {node.lineno}:{node.col_offset}", len(self.slots))
        old = Code(lambda frame, mask: frame.values[slot], dtype)
        value = self.binary(node, old, node.op, self.scalar(node.value))
        self.need_storable(node.target, value.type, dtype)
        self.cost.add("memory", 2)
        charge, run = self._charge(node), value.run

        def do(frame, mask):
            charge(frame, mask)
            memory, places = array(frame, mask), [i(frame, mask) for i in indices]
            frame.values[slot] = frame.batch.memory.load(memory, places, mask, site)
            frame.batch.memory.store(
                memory, places, types.cast(run(frame, mask), dtype), mask, site
            )
            return mask

        return do

    def _do_Return(self, node: ast.Return) -> Callable:
        if len(self.callers) == 1 and not self.kernel.device:
            is_none = isinstance(node.value, ast.Constant) and node.value.value is None
            if node.value is not None and not is_none:
                try_this = "write results into an array argument"
                self.refuse(node, "a kernel returns nothing", try_this)
            self.env = None
            return _leave_kernel
        if node.value is None:
            self.results.append((NONE, node))
            self.env = None
            return _leave_function
        value = self.expression(node.value)
        self.results.append((value.type, node))
        charge, run, site = self._charge(node), value.run, self.site(node)
        self.env = None

        def do(frame, mask):
            charge(frame, mask)
            frame.give_back(run(frame, mask), mask, site)

        return do

    def _do_If(self, node: ast.If) -> Callable:
        known = self.known(node.test)
        if known is not None:
            return self.body(node.body if known else node.orelse)
        test = truth(self.scalar(node.test))
        self.cost.add("control")
        charge, condition, line = self._charge(node), test.run, node.lineno
        before = dict(self.env)
        body = self.body(node.body)
        after_body, self.env = self.env, dict(before)
        orelse = self.body(node.orelse)
        self.env = self._joined(node, after_body, self.env)

        def do(frame, mask):
            charge(frame, mask)
            yes, no = split(mask, condition(frame, mask))
            frame.batch.branch(line, mask, yes, no)
            on = None if yes is None else body(frame, yes)
            off = None if no is None else orelse(frame, no)
            return mask if on is yes and off is no else join(on, off)

        return do

    def _joined(self, node: ast.AST, a: dict | None, b: dict | None) -> dict | None:
        """Return the types after two paths meet; a path that does not get here is None."""
        if a is None or b is None:
            return b if a is None else a
        both = dict(a)
        for name, t in b.items():
            try:
                both[name] = types.unify(both[name], t) if name in both else t
            except types.TypeMismatch as error:
                what, where = f"{name} is {error}", self.kernel.where(node)
                raise KernelTypeError(what, where, error.try_this) from error
            self.types_of[name].add(both[name])
        return both


def _leave_kernel(frame: Frame, mask: Mask) -> None:
    frame.batch.leave(mask)


def _leave_function(frame: Frame, mask: Mask) -> None:
    return None


def _as_if(node: ast.BoolOp | ast.IfExp) -> ast.If:
    """Rewrite ``c and f(x)``, ``c or f(x)`` and ``f(x) if c else None`` as statements."""
    if isinstance(node, ast.IfExp):
        test, body, orelse = node.test, node.body, [_as_line(node.orelse)]
    else:
        *conditions, body = node.values
        test, orelse = conditions[0], []
        if len(conditions) > 1:
            test = ast.copy_location(ast.BoolOp(node.op, conditions), node)
        if isinstance(node.op, ast.Or):
            test = ast.copy_location(ast.UnaryOp(ast.Not(), test), node)
    return ast.copy_location(ast.If(test, [_as_line(body)], orelse), node)


def _as_line(value: ast.expr) -> ast.Expr:
    return ast.copy_location(ast.Expr(value), value)

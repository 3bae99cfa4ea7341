"""Statements of a kernel, compiled once to closures that pass the active mask along, and the compiler that ties it together.

A statement's closure is ``run(frame, mask) -> mask``: it returns the lanes that go on to the next statement, or None. Lanes that
leave by break, continue or return are kept in the frame and join again where Python says they do.

Types flow with the text: a variable has, at every point, the type that Numba would give it there; a loop is compiled again
until its types no longer change.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from warpwise.errors import KernelTypeError, UnsupportedError
from warpwise.simt import types
from warpwise.simt.batch import Frame, Site
from warpwise.simt.constants import NotConstant, constant
from warpwise.simt.cuda_calls import CudaCalls
from warpwise.simt.expressions import Code, Cost, Expressions, converted, truth
from warpwise.simt.masks import Mask, join, split
from warpwise.simt.source import Kernel, as_kernel, resolve
from warpwise.simt.types import INT64, NONE, ArrayType, TupleType, is_integer, is_scalar


@dataclass(frozen=True)
class Program:
    """A function compiled for the types of its arguments. ``run(frame, mask)``; the result is in ``frame.result``."""

    kernel: Kernel
    run: Callable
    slots: int
    loops: int
    result: object

    def frame(self, batch, arguments: tuple, mask: Mask) -> Frame:
        frame = Frame(batch, self.slots, self.loops)
        for slot, value in enumerate(arguments):
            frame.assign(slot, value, mask)
        return frame


def compile_function(kernel: Kernel, arguments: tuple, callers: tuple[Kernel, ...] = ()) -> Program:
    """Compile a kernel or device function for argument types; kept on the kernel, so that it happens once.

    Raises UnsupportedError or KernelTypeError, naming the line.
    """
    if arguments not in kernel.programs:
        known: frozenset[str] = frozenset()
        while True:
            compiler = Compiler(kernel, arguments, (*callers, kernel), known)
            try:
                program = compiler.program()
            except RecursionError:
                raise UnsupportedError(
                    f"{kernel.name} is nested too deeply", kernel.where(kernel.tree), "write shorter expressions"
                ) from None
            mixed = frozenset(name for name, found in compiler.types_of.items() if len(found) > 1)
            if mixed == known:
                break
            known = mixed
        kernel.programs[arguments] = program
    return kernel.programs[arguments]


class Compiler(CudaCalls, Expressions):
    """Compiles one function for one tuple of argument types. ``mixed`` names variables that hold more than one type."""

    def __init__(self, kernel: Kernel, arguments: tuple, callers: tuple[Kernel, ...], mixed: frozenset[str]):
        self.kernel, self.callers, self.mixed = kernel, callers, mixed
        self.cost, self.target = Cost(), ""
        self.slots: dict[str, int] = {}
        self.types_of: dict[str, set] = {}
        self.env: dict[str, object] | None = {}
        self.results: list[tuple[object, ast.AST]] = []
        self.loops: list[_Loop] = []
        self.loop_count = 0
        self._check_signature(arguments)
        self.assigned = _assigned_names(kernel.tree)
        for name, t in zip(kernel.parameters, arguments, strict=True):
            self.bind(name, t)

    def _check_signature(self, arguments: tuple) -> None:
        a = self.kernel.tree.args
        if a.vararg or a.kwarg or a.kwonlyargs or a.defaults or a.posonlyargs:
            self.refuse(self.kernel.tree, "a kernel takes plain positional parameters, without defaults")
        if len(a.args) != len(arguments):
            self.refuse(self.kernel.tree, f"{self.kernel.name} takes {len(a.args)} arguments, not {len(arguments)}")

    def program(self) -> Program:
        run = self.body(self.kernel.tree.body)
        result = self._result_type()
        return Program(self.kernel, run, len(self.slots), self.loop_count, result)

    def _result_type(self):
        if not self.results:
            return NONE
        found, node = self.results[0][0], self.results[0][1]
        for t, at in self.results[1:]:
            try:
                found, node = types.unify(found, t), at
            except types.TypeMismatch as error:
                raise KernelTypeError(f"{self.kernel.name} returns {error}", self.kernel.where(at)) from error
        return found

    # --- what expressions ask for ---

    def refuse(self, node: ast.AST, what: str, try_this: str = ""):
        raise UnsupportedError(what, self.kernel.where(node), try_this)

    def site(self, node: ast.AST) -> Site:
        where = self.kernel.where(node)
        return Site(where.line, where.file, where.text)

    def static(self, node: ast.expr):
        """What a name means before the kernel runs; NotImplemented if that depends on the running kernel."""
        if isinstance(node, ast.Name):
            if node.id in self.env or node.id in self.assigned:
                return NotImplemented
            try:
                return resolve(self.kernel.lookup(node.id))
            except KeyError:
                self.refuse(node, f"{node.id} is not defined", "define it before the kernel, or pass it as an argument")
        if isinstance(node, ast.Attribute):
            base = self.static(node.value)
            if base is NotImplemented or types.of_constant(base) is not None:
                return NotImplemented
            try:
                value = getattr(base, node.attr)
            except AttributeError:
                self.refuse(node, f"{ast.unparse(node)} does not exist")
            return resolve(value)
        return NotImplemented

    def constant(self, node: ast.expr):
        """A number or tuple that must be known before the kernel runs."""

        def lookup(name: str):
            if name in self.assigned:
                raise KeyError(name)
            return self.kernel.lookup(name)

        try:
            return constant(node, lookup)
        except NotConstant as error:
            return self.refuse(
                node, f"{ast.unparse(node)} must be a constant, and {error} is not", "use a number, or a name bound to one outside the kernel"
            )

    def variable(self, name: str) -> Code:
        slot, t, kernel = self.slots[name], self.env[name], self.kernel

        def run(frame, mask):
            value = frame.values[slot]
            if value is None:
                raise UnsupportedError(f"{name} is used in {kernel.name} before it has a value", try_this=f"give {name} a value first")
            return value

        return converted(Code(run, None), t) if name in self.mixed and is_scalar(t) else Code(run, t)

    def bind(self, name: str, t) -> int:
        """Give a variable a type from here on; returns its slot."""
        self.env[name] = t
        self.types_of.setdefault(name, set()).add(t)
        return self.slots.setdefault(name, len(self.slots))

    def apart(self, compile_part: Callable, node: ast.AST, apart: bool = True) -> tuple[Code, Callable]:
        """Compile a part that runs under a mask of its own, and the closure that counts it; not ``apart``: it is counted with the rest."""
        if not apart:
            return compile_part(), lambda frame, mask: None
        outer, self.cost = self.cost, Cost()
        code = compile_part()
        charge = _charge(node.lineno, self.cost)
        self.cost = outer
        return code, charge

    def device_function(self, function: object) -> Kernel | None:
        if isinstance(function, Kernel) or hasattr(function, "py_func"):
            return as_kernel(function)
        return None

    def call_device(self, node: ast.Call, kernel: Kernel) -> Code:
        if kernel in self.callers:
            self.refuse(node, f"{kernel.name} calls itself, and a kernel's functions cannot recurse", "write a loop")
        if node.keywords:
            self.refuse(node, "device functions take positional arguments")
        self.kernel.calls.add(kernel)
        arguments = [self.expression(a) for a in node.args]
        program = compile_function(kernel, tuple(a.type for a in arguments), self.callers)
        runs = [a.run for a in arguments]

        def run(frame, mask):
            inner = program.frame(frame.batch, tuple(run(frame, mask) for run in runs), mask)
            program.run(inner, mask)
            return inner.result

        return Code(run, program.result) if not is_scalar(program.result) else converted(Code(run, None), program.result)

    # --- statements ---

    def body(self, statements: list[ast.stmt]) -> Callable:
        """Statements one after another, as long as lanes go on."""
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
            self.refuse(node, f"{type(node).__name__.lower()} statements have no meaning in a kernel", _ADVICE.get(type(node).__name__, ""))
        self.cost = Cost()
        try:
            return method(node)
        except types.TypeMismatch as error:
            raise KernelTypeError(str(error), self.kernel.where(node)) from error

    def _charge(self, node: ast.AST, least: int = 0) -> Callable:
        """The closure that counts what was compiled since the statement began."""
        self.cost.slots = max(self.cost.slots, least)
        return _charge(node.lineno, self.cost)

    def _do_Pass(self, node: ast.Pass) -> None:
        return None

    def _do_Expr(self, node: ast.Expr) -> Callable | None:
        if isinstance(node.value, ast.Constant):
            return None
        if not isinstance(node.value, ast.Call):
            self.refuse(node, "a value that is not used", "assign it, or delete the line")
        code = self.expression(node.value)
        charge, run = self._charge(node), code.run

        def do(frame, mask):
            charge(frame, mask)
            run(frame, mask)
            return mask

        return do

    def _do_Assign(self, node: ast.Assign) -> Callable:
        self.target = node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""
        value = self.expression(node.value)
        targets = [self.assignment(t, value.type) for t in node.targets]
        return self._assigning(node, value, targets)

    def _do_AnnAssign(self, node: ast.AnnAssign) -> Callable | None:
        if node.value is None:
            return None
        return self._do_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def _do_AugAssign(self, node: ast.AugAssign) -> Callable:
        if isinstance(node.target, ast.Subscript):
            return self._augmented_element(node)
        value = self.binary(node, self.scalar(_loaded(node.target)), node.op, self.scalar(node.value))
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
        """The closure ``put(frame, value, mask)`` that assigns a value of type ``t`` to a target."""
        if isinstance(target, ast.Name):
            slot = self.bind(target.id, t)
            return lambda frame, value, mask: frame.assign(slot, value, mask)
        if isinstance(target, ast.Subscript):
            return self._element(target, t)
        if isinstance(target, (ast.Tuple, ast.List)):
            return self._unpacking(target, t)
        return self.refuse(target, f"cannot assign to {ast.unparse(target)} in a kernel")

    def _unpacking(self, target: ast.Tuple, t) -> Callable:
        if not isinstance(t, TupleType) or len(t.items) != len(target.elts):
            self.refuse(target, f"cannot unpack a {t} into {len(target.elts)} names")
        puts = [self.assignment(e, item) for e, item in zip(target.elts, t.items, strict=True)]

        def put(frame, value, mask):
            for one, item in zip(puts, value, strict=True):
                one(frame, item, mask)

        return put

    def _element(self, target: ast.Subscript, t) -> Callable:
        base = self.expression(target.value)
        indices, site, array = self.indices(target, base), self.site(target), base.run
        if not is_scalar(t):
            raise KernelTypeError(f"a {t} cannot be stored in an array", self.kernel.where(target))
        self.cost.slots += 1
        dtype = base.type.dtype

        def put(frame, value, mask):
            places = tuple(i(frame, mask) for i in indices)
            frame.batch.store(array(frame, mask), places, types.cast(value, dtype), mask, site)

        return put

    def _augmented_element(self, node: ast.AugAssign) -> Callable:
        """``a[i] += x``: the index is computed once; a load, an operation, a store."""
        base = self.expression(node.target.value)
        indices, site, array = self.indices(node.target, base), self.site(node), base.run
        slot = self.slots.setdefault(f"element at {node.lineno}:{node.col_offset}", len(self.slots))
        old = Code(lambda frame, mask: frame.values[slot], base.type.dtype)
        value = self.binary(node, old, node.op, self.scalar(node.value))
        self.cost.slots += 2
        charge, run, dtype = self._charge(node), value.run, base.type.dtype

        def do(frame, mask):
            charge(frame, mask)
            memory, places = array(frame, mask), tuple(i(frame, mask) for i in indices)
            frame.values[slot] = frame.batch.load(memory, places, mask, site)
            frame.batch.store(memory, places, types.cast(run(frame, mask), dtype), mask, site)
            return mask

        return do

    def _do_Return(self, node: ast.Return) -> Callable:
        if len(self.callers) == 1 and not self.kernel.device:
            if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
                self.refuse(node, "a kernel returns nothing", "write results into an array argument")
            self.env = None
            return _leave_kernel
        if node.value is None:
            self.results.append((NONE, node))
            self.env = None
            return _leave_function
        value = self.expression(node.value)
        self.results.append((value.type, node))
        charge, run = self._charge(node), value.run
        self.env = None

        def do(frame, mask):
            charge(frame, mask)
            frame.give_back(run(frame, mask), mask)

        return do

    def _do_If(self, node: ast.If) -> Callable:
        test = truth(self.scalar(node.test))
        self.cost.slots += 1
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
        """The types after two paths meet; a path that does not get here is None."""
        if a is None or b is None:
            return b if a is None else a
        both = dict(a)
        for name, t in b.items():
            try:
                both[name] = types.unify(both[name], t) if name in both else t
            except types.TypeMismatch as error:
                raise KernelTypeError(f"{name} is {error}", self.kernel.where(node), "use two variables") from error
            self.types_of[name].add(both[name])
        return both

    # --- loops ---

    def _looped(self, node: ast.For | ast.While, begin: Callable) -> tuple[_Loop, object, Callable]:
        """Compile a loop's head (``begin``) and body until the types at its top no longer change."""
        if node.orelse:
            self.refuse(node, "else after a loop has no meaning in a kernel here", "set a flag before break")
        loop = _Loop(self.loop_count)
        self.loop_count += 1
        top = dict(self.env)
        for name in _read_before_written(node) & self.assigned - set(top):
            self.bind(name, types.BOOL)  # joins with any number: the body gives the type
            top[name] = types.BOOL
        while True:
            loop.ends, loop.again = [], []
            self.env = dict(top)
            head = begin()
            entered = dict(self.env)
            self.loops.append(loop)
            body = self.body(node.body)
            self.loops.pop()
            back = top
            for env in [self.env, *loop.again]:
                back = self._joined(node, back, env)
            if back == top or all(top.get(name) == t for name, t in back.items() if name in top):
                break
            top = {name: back[name] for name in top}
        self.env = back if isinstance(node, ast.While) else self._joined(node, back, entered)
        for env in loop.ends:
            self.env = self._joined(node, self.env, env)
        return loop, head, body

    def _do_While(self, node: ast.While) -> Callable:
        def begin():
            self.cost = Cost()
            test = truth(self.scalar(node.test))
            self.cost.slots += 1
            return test.run, self._charge(node)

        loop, (condition, charge), body = self._looped(node, begin)
        number, line, site = loop.number, node.lineno, self.site(node)

        def do(frame, mask):
            active, done = mask, None
            while active is not None:
                frame.batch.step(site, active)
                charge(frame, active)
                go, left = split(active, condition(frame, active))
                frame.batch.branch(line, active, go, left)
                done = join(done, left)
                active = None if go is None else _trip(frame, number, body, go)
            return _after_loop(frame, number, done)

        return do

    def _do_For(self, node: ast.For) -> Callable:
        start, stop, step = self._range(node)
        bounds = self._charge(node)

        def begin():
            self.cost = Cost()
            return self.assignment(node.target, INT64)

        if not isinstance(node.target, ast.Name):
            self.refuse(node, "a loop counts with one name")
        loop, put, body = self._looped(node, begin)
        number, line, site = loop.number, node.lineno, self.site(node)
        each = _charge(line, Cost(slots=1))

        def uniform(frame, mask, numbers):
            active, batch = mask, frame.batch
            for k in numbers:
                batch.step(site, active)
                each(frame, active)
                put(frame, k, active)
                active = _trip(frame, number, body, active)
                if active is None:
                    break
            return _after_loop(frame, number, active)

        def varying(frame, mask, k, end, by):
            active, done = mask, None
            while active is not None:
                frame.batch.step(site, active)
                each(frame, active)
                go, left = split(active, np.where(np.asarray(by) > 0, k < end, k > end))
                frame.batch.branch(line, active, go, left)
                done = join(done, left)
                if go is None:
                    break
                put(frame, k, go)
                active = _trip(frame, number, body, go)
                k = k + by
            return _after_loop(frame, number, done)

        def do(frame, mask):
            bounds(frame, mask)
            first, end, by = (_plain(part(frame, mask)) for part in (start, stop, step))
            if type(by) is int and by == 0 or not isinstance(by, int) and (mask.grid() & (by == 0)).any():
                raise UnsupportedError("range() with step 0", site.where())
            if type(first) is type(end) is type(by) is int:
                return uniform(frame, mask, range(first, end, by))
            return varying(frame, mask, first, end, by)

        return do

    def _range(self, node: ast.For) -> list[Callable]:
        call = node.iter
        if not (isinstance(call, ast.Call) and self.static(call.func) is range and 1 <= len(call.args) <= 3 and not call.keywords):
            self.refuse(node, "a loop in a kernel runs over range(...)", "for i in range(n): and index inside")
        codes = [self.scalar(a) for a in call.args]
        for code in codes:
            if not is_integer(code.type):
                raise KernelTypeError(f"range() needs integers, not {code.type}", self.kernel.where(node))
        runs = [converted(c, INT64).run for c in codes]
        zero, one = (lambda frame, mask: 0), (lambda frame, mask: 1)
        return [zero, runs[0], one] if len(runs) == 1 else [*runs, one][:3]

    def _do_Break(self, node: ast.Break) -> Callable:
        self.loops[-1].ends.append(self.env)
        number, self.env = self.loops[-1].number, None

        def do(frame, mask):
            frame.broken[number] = join(frame.broken[number], mask)

        return do

    def _do_Continue(self, node: ast.Continue) -> Callable:
        self.loops[-1].again.append(self.env)
        number, self.env = self.loops[-1].number, None

        def do(frame, mask):
            frame.continued[number] = join(frame.continued[number], mask)

        return do


@dataclass
class _Loop:
    """A loop being compiled: its number, and the types where break and continue leave it."""

    number: int
    ends: list | None = None
    again: list | None = None


def _trip(frame: Frame, number: int, body: Callable, mask: Mask) -> Mask | None:
    """One pass over a loop's body; lanes that met ``continue`` come back."""
    after = join(body(frame, mask), frame.continued[number])
    frame.continued[number] = None
    return after


def _after_loop(frame: Frame, number: int, mask: Mask | None) -> Mask | None:
    after = join(mask, frame.broken[number])
    frame.broken[number] = None
    return after


def _charge(line: int, cost: Cost) -> Callable:
    """The closure that counts one pass over ``cost`` for the active lanes."""
    slots, fp32, fp64 = cost.slots, cost.flops_fp32, cost.flops_fp64
    if not slots:
        return lambda frame, mask: None
    if not fp32 and not fp64:
        return lambda frame, mask: frame.batch.issue(line, slots, mask)

    def charge(frame, mask):
        frame.batch.issue(line, slots, mask)
        counts = frame.batch.counts[line]
        counts.flops_fp32 += fp32 * mask.threads
        counts.flops_fp64 += fp64 * mask.threads

    return charge


def _leave_kernel(frame: Frame, mask: Mask) -> None:
    frame.batch.exited = join(frame.batch.exited, mask)


def _leave_function(frame: Frame, mask: Mask) -> None:
    return None


def _plain(value):
    """A uniform integer as a Python int; an array as it is."""
    return value if isinstance(value, np.ndarray) else int(value)


def _loaded(target: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Name(target.id, ast.Load()), target) if isinstance(target, ast.Name) else target


def _read_before_written(loop: ast.For | ast.While) -> set[str]:
    """Names that a loop's body writes, and reads at an earlier place in the text: a value carried from one trip to the next."""
    first: dict[tuple[str, bool], tuple[int, int]] = {}
    for node in (n for statement in loop.body for n in ast.walk(statement) if isinstance(n, ast.Name)):
        key, place = (node.id, isinstance(node.ctx, ast.Store)), (node.lineno, node.col_offset)
        first[key] = min(first.get(key, place), place)
    return {name for name, stored in first if stored and first.get((name, False), (1 << 30, 0)) < first[name, True]}


def _assigned_names(tree: ast.FunctionDef) -> frozenset[str]:
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return frozenset(stored | {a.arg for a in tree.args.args})


_ADVICE = {
    "Try": "check conditions with if",
    "With": "a kernel has no context managers",
    "FunctionDef": "define device functions outside the kernel, with @cuda.jit(device=True)",
    "ClassDef": "use arrays",
    "Import": "import at the top of the file",
    "ImportFrom": "import at the top of the file",
    "Raise": "write an error code into an array",
    "Delete": "leave it",
    "Global": "pass values as arguments",
    "Nonlocal": "pass values as arguments",
    "Match": "use if and elif",
}
__all__ = ["ArrayType", "Program", "compile_function"]

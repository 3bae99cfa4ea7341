"""The compiler of one function: its variables and types, its names, and the functions it calls.

Types flow with the text: a variable has, at every point, the type that Numba would give it there; a
loop is compiled again until its types no longer change. Syntax is compiled in ``statements``,
``loops``, ``expressions``, ``calls`` and ``cuda_calls``."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import EnumMeta
from functools import cached_property
from inspect import getattr_static

import numpy as np

from warpwise.errors import KernelError, KernelTypeError, UndefinedNameError, UnsupportedError
from warpwise.simt import types
from warpwise.simt.compiler import advice
from warpwise.simt.compiler.array_calls import ArrayCalls
from warpwise.simt.compiler.atomic_calls import AtomicCalls
from warpwise.simt.compiler.attributes import Attributes
from warpwise.simt.compiler.calls import Calls
from warpwise.simt.compiler.choices import Choices
from warpwise.simt.compiler.closures import Code, Cost, cast_code, charging
from warpwise.simt.compiler.complex_numbers import ComplexNumbers
from warpwise.simt.compiler.cuda_calls import CudaCalls
from warpwise.simt.compiler.device_calls import DeviceCalls
from warpwise.simt.compiler.expressions import Expressions
from warpwise.simt.compiler.loops import Loop, Loops
from warpwise.simt.compiler.notes import Notes
from warpwise.simt.compiler.outputs import Outputs
from warpwise.simt.compiler.random_calls import RandomCalls
from warpwise.simt.compiler.statements import Statements
from warpwise.simt.compiler.stores import Stores
from warpwise.simt.compiler.subscripts import Subscripts
from warpwise.simt.compiler.tuples import Tuples
from warpwise.simt.compiler.vectors import Vectors
from warpwise.simt.compiler.warp_calls import WarpCalls
from warpwise.simt.frontend.assigned import unsure_reads
from warpwise.simt.frontend.constants import NotConstant, constant
from warpwise.simt.frontend.kernel import DeviceFunctionType, Kernel
from warpwise.simt.frontend.names import NAMESPACES, attribute, resolve
from warpwise.simt.frontend.source import Members, Outside
from warpwise.simt.frontend.waiting import Waiting
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.frame import Frame
from warpwise.simt.machine.site import Site
from warpwise.simt.types import NONE
from warpwise.traces import Note

MAX_PROGRAMS = 64  # of one function


@dataclass(frozen=True)
class Program:
    """A function compiled for argument types: ``run(frame, mask)`` leaves ``frame.result``."""

    kernel: Kernel
    run: Callable
    slots: int
    loops: int
    result: object
    barriers: int  #: places in it and its callees where all threads of a block meet
    grid_syncs: int = 0  #: places where all threads of the grid meet
    atomics: int = 0  #: atomic operations
    shuffles: int = 0
    waits: bool = False  #: a loop may wait for other threads
    notes: tuple[Note, ...] = ()

    def frame(self, batch, arguments: tuple, mask: Mask) -> Frame:
        frame = Frame(batch, self.slots, self.loops)
        for slot, value in enumerate(arguments):
            frame.assign(slot, value, mask)
        return frame


def compile_function(kernel: Kernel, arguments: tuple, callers: tuple[Kernel, ...] = ()) -> Program:
    """Compile a kernel or device function for argument types, once: the kernel keeps the result.

    Raises UnsupportedError or KernelTypeError, naming the line."""
    if arguments not in kernel.programs:
        if len(kernel.programs) >= MAX_PROGRAMS:
            what = f"{kernel.name} is used with more than {MAX_PROGRAMS} combinations of types"
            raise UnsupportedError(what, kernel.where(kernel.tree), "call it with fewer")
        known: frozenset[str] = frozenset()
        while True:
            compiler = Compiler(kernel, arguments, (*callers, kernel), known)
            try:
                program = compiler.program()
            except RecursionError:
                what, where = f"{kernel.name} is nested too deeply", kernel.where(kernel.tree)
                raise UnsupportedError(what, where, "write shorter expressions") from None
            mixed = frozenset(name for name, found in compiler.types_of.items() if len(found) > 1)
            if mixed == known:
                break
            known = mixed
        kernel.programs[arguments] = program
    return kernel.programs[arguments]


class Compiler(
    Statements,
    Loops,
    Expressions,
    Choices,
    Subscripts,
    Stores,
    Attributes,
    Tuples,
    ComplexNumbers,
    Vectors,
    Calls,
    DeviceCalls,
    Outputs,
    CudaCalls,
    ArrayCalls,
    RandomCalls,
    WarpCalls,
    AtomicCalls,
    Waiting,
):
    """Compiles one function for one tuple of argument types.

    ``mixed``: the names of variables that hold more than one type."""

    def __init__(
        self, kernel: Kernel, arguments: tuple, callers: tuple[Kernel, ...], mixed: frozenset[str]
    ):
        self.kernel, self.callers, self.mixed = kernel, callers, mixed
        self.cost, self.target, self.targets = Cost(), "", {}
        self.slots: dict[str, int] = {}
        self.types_of: dict[str, set] = {}
        self.env: dict[str, object] | None = {}
        self.results: list[tuple[object, ast.AST]] = []
        self.loops: list[Loop] = []
        self.loop_count = self.compiled = 0
        self.barriers = self.grid_syncs = self.atomics = self.shuffles = 0
        self.waits = False
        self._check_signature()
        self.assigned = kernel.assigned.union(kernel.captured)
        self.unsure = unsure_reads(kernel.tree, self.assigned, kernel.parameters)
        self.notes = Notes(kernel, advice.element_type(kernel.names()))
        for name, t in zip(kernel.parameters, arguments, strict=True):
            self.bind(name, t)

    def _check_signature(self) -> None:
        tree = self.kernel.tree
        a, plain = tree.args, f"def {self.kernel.name}({', '.join(self.kernel.parameters)}):"
        special = a.vararg or a.kwarg or a.kwonlyargs or a.defaults or a.posonlyargs
        if len(self.callers) == 1 and special:
            what = "a kernel takes plain positional parameters, without defaults"
            self.refuse(tree, what, plain)
        if a.kwarg:
            self.refuse(tree, f"a device function cannot take **{a.kwarg.arg}", plain)

    def program(self) -> Program:
        run = self.body(self.kernel.tree.body)
        if self.results and self.env is not None:
            self.results.append((NONE, self.kernel.tree))
        frame = len(self.slots), self.loop_count, self._result_type()
        counts = self.barriers, self.grid_syncs, self.atomics, self.shuffles
        return Program(self.kernel, run, *frame, *counts, self.waits, self.notes.all())

    def _result_type(self):
        if not self.results:
            return NONE
        found = self.results[0][0]
        for t, at in self.results[1:]:
            try:
                found = types.unify(found, t)
            except types.TypeMismatch as error:
                name, where = self.kernel.name, self.kernel.where(at)
                try_this = f"end every path of {name} with return ..., and the same kind of value"
                raise KernelTypeError(f"{name} returns {error}", where, try_this) from error
        return found

    # --- for the mixins ---

    def refuse(
        self, node: ast.AST, what: str, try_this: str, kind: type[KernelError] = UnsupportedError
    ):
        raise kind(what, self.kernel.where(node), try_this)

    def site(self, node: ast.AST) -> Site:
        where = self.kernel.where(node)
        return Site(node.lineno, where.line, where.file, where.text, where.function)

    def static(self, node: ast.expr):
        """Return what a name means before the kernel runs; NotImplemented if that is not known."""
        if isinstance(node, ast.Name):
            if node.id in self.env or node.id in self.assigned:
                t = self.env.get(node.id)
                return t if isinstance(t, DeviceFunctionType) else NotImplemented
            return self._outside(node)
        if isinstance(node, ast.Attribute):
            base = self.static(node.value)
            if base is NotImplemented or isinstance(base, (np.ndarray, DeviceFunctionType)):
                return NotImplemented
            if types.of_constant(base) is not None:
                return NotImplemented
            self._need_namespace(node, base)
            try:
                return resolve(attribute(base, node.attr))
            except AttributeError:
                unknown = advice.unknown_attribute(base, node.attr, ast.unparse(node.value))
                self.refuse(node, *unknown, UndefinedNameError)
        return NotImplemented

    def _need_namespace(self, node: ast.Attribute, base: object) -> None:
        """Refuse attributes of classes and objects: Numba reads only modules and enums' members."""
        is_class = isinstance(base, type)
        if isinstance(base, (*NAMESPACES, Members, np.dtype, EnumMeta)):
            return
        if is_class and issubclass(base, np.generic):
            return
        value = getattr_static(base, node.attr, None)
        is_constant = types.of_constant(value) is not None
        if is_class or is_constant:
            owner = "a class" if is_class else "an object"
            what = f"{ast.unparse(node)} is an attribute of {owner}, which a kernel cannot read"
            constant = f"a module constant: {node.attr} = {value!r}"
            self.refuse(node, what, constant if is_constant else "a name at the top of the file")

    def _outside(self, node: ast.Name):
        """Return what a name means outside the function."""
        name = node.id
        try:
            value = resolve(self.kernel.lookup(name))
        except KeyError:
            unknown = advice.undefined(name, sorted(self.assigned), self.kernel.names())
            self.refuse(node, *unknown, UndefinedNameError)
        if isinstance(value, Outside) and value.is_function:
            try_this = f"write @cuda.jit(device=True) above def {name}"
            self.refuse(node, f"{name} is not a device function", try_this)
        if isinstance(value, Outside):
            what = f"{name} is no plain constant outside the kernel"
            of_class = "write its constants at the top, such as N = 4"
            plain = f"pass {name} as an argument, or set it to a number"
            try_this = of_class if value.is_class else plain
            self.refuse(node, f"{what}, and a kernel reads nothing else there", try_this)
        return value

    def constant(self, node: ast.expr):
        """Return a number or tuple that must be known before the kernel runs."""

        def lookup(name: str):
            return self._only_values[name] if name in self.assigned else self.kernel.lookup(name)

        for name in [n for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))]:
            self.static(name)  # refuses an undefined name with its own message
        try:
            return constant(node, lookup)
        except NotConstant as error:
            text = ast.unparse(node)
            try_this = "use a number, or a name bound to one outside the kernel"
            if isinstance(node, ast.List):
                try_this = f"round brackets: ({', '.join(map(ast.unparse, node.elts))})"
            part = "" if str(error) == text else f", and {error} is not"
            return self.refuse(node, f"{text} must be a constant{part}", try_this)

    @cached_property
    def _only_values(self) -> dict[str, int]:
        """Constants for Numba: variables assigned once, an integer or the name of one."""
        nodes = list(ast.walk(self.kernel.tree))
        stored = (n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        times = Counter(n.id for n in stored)
        single = [n for n in nodes if isinstance(n, ast.Assign) and len(n.targets) == 1]
        found: dict[str, int] = {}
        for n in sorted(single, key=lambda n: (n.lineno, n.col_offset)):
            name, value = getattr(n.targets[0], "id", ""), self._plain_value(n.value, found)
            if type(value) is int and times[name] == 1 and name not in self.kernel.parameters:
                found[name] = value
        return found

    def _plain_value(self, node: ast.expr, found: dict[str, int]) -> object:
        """Return a number, or what a name outside or one of ``found`` stands for; else None."""
        if isinstance(node, ast.Constant):
            return node.value
        if not isinstance(node, ast.Name):
            return None
        if node.id in self.assigned:
            return found.get(node.id)
        try:
            return self.kernel.lookup(node.id)
        except KeyError:
            return None

    def variable(self, node: ast.Name) -> Code:
        name, site = node.id, self.site(node)
        slot, t = self.slot(name), self.env[name]
        if (node.lineno, node.col_offset) in self.unsure:
            code = Code(lambda frame, mask: frame.value(slot, name, mask, site), t)
        else:
            code = Code(lambda frame, mask: frame.values[slot], t)
        return cast_code(code.run, t) if name in self.mixed else code

    def bind(self, name: str, t) -> int:
        """Give a variable a type from here on; return its slot."""
        self.env[name] = t
        self.types_of.setdefault(name, set()).add(t)
        return self.slot(name)

    def slot(self, name: str) -> int:
        """Return the slot of a variable of its present type.

        Where ``x = x[i]`` is guarded, other lanes still have the array of that name."""
        t = self.env[name]
        key = name if types.is_scalar(t) else f"{name}, {type(t).__name__}"
        return self.slots.setdefault(key, len(self.slots))

    def apart(
        self, compile_part: Callable, node: ast.AST, apart: bool = True
    ) -> tuple[Code, Callable]:
        """Compile a part that runs under a mask of its own, and the closure that counts it.

        Not ``apart``: it is counted with the rest."""
        if not apart:
            return compile_part(), lambda frame, mask: None
        outer, self.cost = self.cost, Cost()
        code = compile_part()
        charge = charging(node.lineno, self.cost)
        self.cost = outer
        return code, charge

    def specialised(self, kernel: Kernel, arguments: tuple) -> Program:
        """Compile a device function for argument types; this one counts its barriers and more."""
        program = compile_function(kernel, arguments, self.callers)
        self.barriers += program.barriers
        self.grid_syncs += program.grid_syncs
        self.atomics += program.atomics
        self.shuffles += program.shuffles
        self.waits |= program.waits
        self.notes.merge(program.notes)
        return program

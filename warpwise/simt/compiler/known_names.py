"""What a name means before the kernel runs: a constant, a function, a module, a word of CUDA."""

from __future__ import annotations

import ast
import contextlib
from collections import Counter
from enum import Enum, EnumMeta
from functools import cached_property
from inspect import getattr_static
from typing import NoReturn

import numpy as np

from warpwise.errors import KernelError, UndefinedNameError, UnsupportedError
from warpwise.simt import types
from warpwise.simt.compiler import advice
from warpwise.simt.compiler.entries import Vocabulary
from warpwise.simt.compiler.value_types import KnownType
from warpwise.simt.compiler.variables import Variables
from warpwise.simt.frontend.constants import Lookup, NotConstant, constant
from warpwise.simt.frontend.kernel import DeviceFunctionType, Kernel, Node
from warpwise.simt.frontend.names import NAMESPACES, attribute, resolve
from warpwise.simt.frontend.source import Outside
from warpwise.simt.machine.device_memory import device_values
from warpwise.simt.types import ArrayType, TupleType


def refuse(
    kernel: Kernel,
    node: Node,
    what: str,
    try_this: str,
    kind: type[KernelError] = UnsupportedError,
) -> NoReturn:
    """Raise the error of a kernel that cannot be compiled, at a place in its text."""
    raise kind(what, kernel.where(node), try_this)


class ConstantNeeded(Exception):
    """A parameter of a device function stands where a constant is needed: the caller may know it.

    ``refusal``: the error if it does not."""

    def __init__(self, parameter: str, refusal: UnsupportedError):
        self.parameter, self.refusal = parameter, refusal


class KnownNames:
    """The names that one function sees, as far as their values are known before it runs."""

    def __init__(self, kernel: Kernel, variables: Variables, words: Vocabulary):
        self.kernel, self.variables, self.words = kernel, variables, words

    def static(self, node: ast.expr) -> object:
        """Return what a name means before the kernel runs; NotImplemented if that is not known."""
        if isinstance(node, ast.Subscript):
            return self._item(node)
        if isinstance(node, ast.Name):
            variables = self.variables
            if node.id in variables.env or node.id in variables.assigned:
                t = variables.env.get(node.id)
                if isinstance(t, KnownType):
                    return t.value
                return t if isinstance(t, DeviceFunctionType) else NotImplemented
            return self._outside(node)
        return self._member(node) if isinstance(node, ast.Attribute) else NotImplemented

    def _item(self, node: ast.Subscript) -> object:
        """Return what ``Color["red"]`` means."""
        name = node.slice.value if isinstance(node.slice, ast.Constant) else None
        is_dotted = isinstance(node.value, (ast.Name, ast.Attribute))
        if not is_dotted or not isinstance(name, str):
            return NotImplemented
        base = self.static(node.value)
        if not isinstance(base, EnumMeta) or name not in base.__members__:
            return NotImplemented
        return base[name]

    def _member(self, node: ast.Attribute) -> object:
        return self.member(node, self.static(node.value))

    def member(self, node: ast.Attribute, base: object) -> object:
        """Return what an attribute of ``base`` means; NotImplemented if that is not known."""
        if base is NotImplemented or isinstance(base, (np.ndarray, DeviceFunctionType)):
            return NotImplemented
        if isinstance(base, Enum) and node.attr == "value":
            return base.value
        if isinstance(base, Enum) or types.of_constant(base) is not None:
            return NotImplemented
        if device_values(base) is not None:
            return NotImplemented
        self._need_namespace(node, base)
        try:
            return resolve(attribute(base, node.attr))
        except AttributeError:
            functions, written = self.words.functions, ast.unparse(node.value)
            unknown = advice.unknown_attribute(base, node.attr, written, functions)
            refuse(self.kernel, node, *unknown, UndefinedNameError)

    def _need_namespace(self, node: ast.Attribute, base: object) -> None:
        """Refuse attributes of classes and objects: Numba reads only modules and enums' members."""
        is_class = isinstance(base, type)
        if isinstance(base, (*NAMESPACES, np.dtype, EnumMeta)):
            return
        if isinstance(base, type) and issubclass(base, np.generic):
            return
        value = getattr_static(base, node.attr, None)
        is_constant = types.of_constant(value) is not None
        if is_class or is_constant:
            owner = "a class" if is_class else "an object"
            what = f"{ast.unparse(node)} is an attribute of {owner}, which a kernel cannot read"
            literal = f"a module constant: {node.attr} = {value!r}"
            try_this = literal if is_constant else "a name at the top of the file"
            refuse(self.kernel, node, what, try_this)

    def _outside(self, node: ast.Name) -> object:
        """Return what a name means outside the function."""
        name = node.id
        try:
            value = resolve(self.kernel.lookup(name))
        except KeyError:
            unknown = advice.undefined(name, self._own(), self.kernel.names(), self.words.top)
            refuse(self.kernel, node, *unknown, UndefinedNameError)
        if isinstance(value, Outside) and value.is_function:
            try_this = f"write @cuda.jit(device=True) above def {name}"
            refuse(self.kernel, node, f"{name} is not a device function", try_this)
        if isinstance(value, Outside):
            what = f"{name} is not a plain constant outside the kernel"
            of_class = "write its constants at the top, such as N = 4"
            plain = f"pass {name} as an argument, or set it to a number"
            try_this = of_class if value.is_class else plain
            what = f"{what}, and a kernel reads nothing else there"
            refuse(self.kernel, node, what, try_this)
        return value

    def _own(self) -> advice.Own:
        """Return the kernel's names, for messages."""
        given = self.kernel.parameters
        arrays = (name for name in given if isinstance(self.variables.env.get(name), ArrayType))
        return advice.Own(given, tuple(arrays), tuple(sorted(self.variables.assigned)))

    def value(self, node: ast.expr) -> object:
        """Return a number, text or member of an enumeration that is known before the launch.

        A constant, a name for one, ``x.ndim`` or ``len`` of a tuple; else NotImplemented."""
        match node:
            case ast.Constant(value=value):
                return NotImplemented if value is None or value is Ellipsis else value
            case ast.Attribute(value=ast.Name(id=name), attr="ndim") if isinstance(
                t := self.variables.env.get(name), ArrayType
            ):
                return t.ndim
            case ast.Call(args=[ast.Name(id=name)], keywords=[]) if isinstance(
                t := self.variables.env.get(name), TupleType
            ):
                return len(t.items) if self.static(node.func) is len else NotImplemented
            case ast.Name(id=name) if (
                name in self.variables.assigned and type(self._only_values.get(name)) is int
            ):
                return self._only_values[name]
        found = self.static(node)
        is_known = isinstance(found, (int, float, str, Enum, np.number, np.bool_))
        return found if is_known else NotImplemented

    def text(self, node: ast.expr) -> str | None:
        """Return a string that is known before the launch; None for anything else."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return None
        value = self.static(node)  # of a variable NotImplemented
        return value if isinstance(value, str) else None

    def constant(self, node: ast.expr) -> object:
        """Return a number or tuple that must be known before the kernel runs."""

        def lookup(name: str) -> object:
            if name in self.kernel.constants:
                return self.kernel.constants[name]
            is_own = name in self.variables.assigned
            return self._only_values[name] if is_own else self.kernel.lookup(name)

        for name in ast.walk(node):
            if isinstance(name, (ast.Name, ast.Attribute)):
                self.static(name)  # refuses an undefined name with its own message
        try:
            value: object = constant(node, lookup)
        except NotConstant as error:
            text = ast.unparse(node)
            try_this = "use a number, or a name bound to one outside the kernel"
            if isinstance(node, ast.List):
                try_this = f"round brackets: ({', '.join(map(ast.unparse, node.elts))})"
            part = "" if str(error) == text else f", and {error} is not"
            what, where = f"{text} must be a constant{part}", self.kernel.where(node)
            refusal = UnsupportedError(what, where, try_this)
            if self.kernel.device and (parameter := self._parameter_in(node)):
                raise ConstantNeeded(parameter, refusal) from error
            raise refusal from error
        return value

    def _parameter_in(self, node: ast.expr) -> str:
        """Return a parameter that is never assigned to and whose value is not known, or ""."""
        nodes = [n for n in ast.walk(self.kernel.tree) if isinstance(n, ast.Name)]
        changed = {n.id for n in nodes if not isinstance(n.ctx, ast.Load)}
        names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
        unknown = set(self.kernel.parameters) - set(self.kernel.constants) - changed
        return next((name for name in names if name in unknown), "")

    def outer_constant(self, node: ast.expr) -> object:
        """Return a number or tuple made of names outside the function only. Raises NotConstant."""

        def lookup(name: str) -> object:
            if name in self.variables.assigned:
                raise KeyError(name)
            return self.kernel.lookup(name)

        return constant(node, lookup)

    @cached_property
    def _only_values(self) -> dict[str, object]:
        """Constants for Numba: variables assigned once, of a size or a shape as in ``8 * 8``."""
        nodes = list(ast.walk(self.kernel.tree))
        stored = (n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        times = Counter(n.id for n in stored)
        single = [n for n in nodes if isinstance(n, ast.Assign) and len(n.targets) == 1]
        found: dict[str, object] = {}
        for n in sorted(single, key=lambda n: (n.lineno, n.col_offset)):
            name, value = getattr(n.targets[0], "id", ""), self._plain_value(n.value, found)
            # a bool is no size
            if (
                type(value) in (int, tuple)
                and times[name] == 1
                and name not in self.kernel.parameters
            ):
                found[name] = value
        return found

    def _plain_value(self, node: ast.expr, found: dict[str, object]) -> object:
        """Return a number, or what a name outside or one of ``found`` stands for; else None.

        Arithmetic is Python's own, of literals; a tuple has any of these."""
        if isinstance(node, ast.Tuple):
            parts = tuple(self._plain_value(part, found) for part in node.elts)
            return parts if all(type(part) is int for part in parts) else None
        if isinstance(node, (ast.Constant, ast.BinOp, ast.UnaryOp)):
            return _of_literals(node, self.kernel.lookup)
        if not isinstance(node, ast.Name):
            return None
        if node.id in self.variables.assigned:
            return found.get(node.id)
        try:
            return self.kernel.lookup(node.id)
        except KeyError:
            return None


def _of_literals(node: ast.expr, lookup: Lookup) -> object:
    """Return the value of an expression without names, which Python computes early; else None."""
    if any(isinstance(part, ast.Name) for part in ast.walk(node)):
        return None
    with contextlib.suppress(NotConstant):
        value: object = constant(node, lookup)
        return value
    return None

"""Device functions: called with positional and keyword arguments, defaults and ``*values``, named by variables, defined in a kernel.

A device function is known before the launch wherever it is named: its type says which it is, and nothing is passed. Functions
within a kernel, lambdas too, see the kernel's variables as they are when they are called.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from warpwise.errors import UndefinedNameError, UnsupportedError
from warpwise.simt import types
from warpwise.simt.language.compiled import Code, cast_code, constant_code
from warpwise.simt.text.assigned import own_nodes
from warpwise.simt.text.constants import MAX_ITEMS, NotConstant, constant
from warpwise.simt.text.lambdas import as_function
from warpwise.simt.text.numbering import beside, numbering_of
from warpwise.simt.text.source import Kernel, as_kernel, resolve
from warpwise.simt.types import FunctionType, TupleType


class DeviceCalls:
    """The part of the compiler that knows device functions; mixed into ``compiler.Compiler``."""

    def device_function(self, function: object) -> Kernel | None:
        if isinstance(function, Kernel) or hasattr(function, "py_func"):
            return beside(self.kernel, as_kernel(function))
        return None

    def function_value(self, kernel: Kernel) -> Code:
        """A device function as a value."""
        return Code(lambda frame, mask: (), FunctionType(kernel))

    def call_device(self, node: ast.Call, kernel: Kernel) -> Code:
        if kernel in self.callers:
            self.refuse(node, f"{kernel.name} calls itself, and a kernel's functions cannot recurse", "write a loop")
        self.kernel.calls.add(kernel)
        arguments = [*self._bound_arguments(node, kernel), *self._captured(node, kernel)]
        program = self.specialised(kernel, tuple(a.type for a in arguments))
        runs, site = [a.run for a in arguments], self.site(node)

        def run(frame, mask):
            frame.batch.step(site, mask)
            inner = program.frame(frame.batch, tuple(run(frame, mask) for run in runs), mask)
            program.run(inner, mask)
            return inner.result

        return cast_code(run, program.result)

    # --- arguments ---

    def _bound_arguments(self, node: ast.Call, kernel: Kernel) -> list[Code]:
        """An argument for each parameter, in their order, as Python binds them."""
        a, given = kernel.tree.args, self.positional(node)
        names = [p.arg for p in (*a.posonlyargs, *a.args)]
        if len(given) > len(names) and a.vararg is None:
            self._refuse_arguments(node, kernel, f"is called with {len(given)} argument{'s' * (len(given) != 1)}")
        found, rest = dict(zip(names, given, strict=False)), given[len(names) :]
        for keyword in node.keywords:
            if keyword.arg is None:
                self.refuse(node, f"{ast.unparse(node)}: ** cannot be used in a call", "write the arguments out")
            if keyword.arg in found or keyword.arg not in [*names[len(a.posonlyargs) :], *(p.arg for p in a.kwonlyargs)]:
                self._refuse_arguments(node, kernel, f"has no free parameter {keyword.arg}")
            found[keyword.arg] = self.expression(keyword.value)
        defaults = dict(zip(names[::-1], a.defaults[::-1], strict=False))
        defaults |= {p.arg: value for p, value in zip(a.kwonlyargs, a.kw_defaults, strict=True) if value is not None}
        codes = []
        for name in [*names, *(p.arg for p in a.kwonlyargs)]:
            if name not in found and name not in defaults:
                self._refuse_arguments(node, kernel, f"is called with {len(given)} argument{'s' * (len(given) != 1)}")
            codes.append(found[name] if name in found else self._default(kernel, defaults[name]))
            if name == names[-1] and a.vararg is not None:
                codes.append(self._together(node, rest))
        return [self._together(node, rest), *codes] if a.vararg is not None and not names else codes

    def _together(self, node: ast.Call, codes: list[Code]) -> Code:
        """What ``*values`` of a parameter list collects."""
        runs = [code.run for code in codes]
        return Code(lambda f, m: tuple(run(f, m) for run in runs), self.bounded_tuple(node, [code.type for code in codes]))

    def bounded_tuple(self, node: ast.AST, items: list) -> TupleType:
        """The type of a tuple of values, of which a kernel can have only so many: calls and loops could double them without end."""
        t = TupleType(tuple(items))
        if t.size > MAX_ITEMS:
            self.refuse(node, f"a tuple of {t.size:,} values; {MAX_ITEMS:,} is the most here", "use an array, such as cuda.local.array")
        return t

    def _refuse_arguments(self, node: ast.Call, kernel: Kernel, what: str):
        signature = f"{kernel.name}({ast.unparse(kernel.tree.args)})"
        self.refuse(node, f"{signature} {what}", f"call it as {signature}")

    def _default(self, kernel: Kernel, node: ast.expr) -> Code:
        """A default value, known before the launch."""
        if isinstance(node, ast.Constant) and node.value is None:
            return constant_code(None)
        try:
            value = resolve(kernel.lookup(node.id)) if isinstance(node, ast.Name) else constant(node, kernel.lookup)
        except (KeyError, NotConstant):
            value = NotImplemented
        if types.of_constant(value) is None:
            what = f"{kernel.name}: the default value {ast.unparse(node)} is no constant"
            raise UnsupportedError(what, kernel.where(kernel.tree), "a number, a tuple of numbers, or None")
        return constant_code(value)

    # --- functions within functions ---

    def _do_FunctionDef(self, node: ast.FunctionDef) -> Callable:
        if node.decorator_list:
            try_this = "define device functions outside the kernel, or leave the decorator out"
            self.refuse(node, f"{node.name} cannot be decorated within a kernel", try_this)
        inner = self._inner(node, node)
        slot = self.bind(node.name, FunctionType(inner))

        def do(frame, mask):
            frame.assign(slot, (), mask)
            return mask

        return do

    def _Lambda(self, node: ast.Lambda) -> Code:
        return self.function_value(self._inner(node, as_function(node, self.target or "lambda")))

    def _inner(self, node: ast.AST, tree: ast.FunctionDef) -> Kernel:
        """The device function that a ``def`` or a lambda within this one makes; the same each time it is compiled."""
        kernel = self.kernel
        if node not in kernel.inner:
            inside = own_nodes(tree, into=True)
            names = {n.id for n in inside if isinstance(n, ast.Name)}
            inner = Kernel(tree, kernel.lookup, kernel.file, kernel.lines, device=True, names=kernel.names)
            inner.origin, inner.base, inner.numbering = kernel.origin, kernel.base, numbering_of(kernel)
            inner.captured = tuple(sorted(names & self.assigned - inner.assigned))
            kernel.inner[node] = inner
        return kernel.inner[node]

    def _captured(self, node: ast.Call, kernel: Kernel) -> list[Code]:
        """The variables around an inner function that it reads."""
        if kernel.captured and kernel not in self.kernel.inner.values():
            what = f"{kernel.name} reads {', '.join(kernel.captured)} of the function that it was defined in"
            self.refuse(node, f"{what}, and is called in another", f"pass {kernel.captured[0]} to it as an argument")
        return [self._around(node, name) for name in kernel.captured]

    def _around(self, node: ast.Call, name: str) -> Code:
        if name not in self.env:
            self.refuse(node, f"{name} may be used before it has a value", f"give {name} a value before this line", UndefinedNameError)
        slot, site = self.slot(name), self.site(node)
        return cast_code(lambda frame, mask: frame.value(slot, name, mask, site), self.env[name])


def _together(codes: list[Code]) -> Code:
    """What ``*values`` of a parameter list collects."""
    runs = [code.run for code in codes]
    return Code(lambda f, m: tuple(run(f, m) for run in runs), TupleType(tuple(code.type for code in codes)))

"""Device functions: calls, arguments bound as in Python, functions as values and within kernels.

A device function is known before the launch wherever it is named: its type identifies it, and
nothing is passed. Functions within a kernel, lambdas too, see the kernel's variables as they are
when they are called."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from warpwise.errors import UndefinedNameError, UnsupportedError
from warpwise.simt import types
from warpwise.simt.compiler.closures import Code, cast_code, constant_code, joined
from warpwise.simt.frontend.assigned import own_nodes
from warpwise.simt.frontend.constants import MAX_ITEMS, NotConstant, constant
from warpwise.simt.frontend.kernel import DeviceFunctionType, Kernel, beside, numbering_of
from warpwise.simt.frontend.lambdas import as_function
from warpwise.simt.frontend.names import resolve
from warpwise.simt.frontend.source import as_kernel
from warpwise.simt.types import TupleType


class DeviceCalls:
    """Mixin of ``Compiler`` for device functions."""

    def device_function(self, function: object) -> Kernel | None:
        if isinstance(function, Kernel) or hasattr(function, "py_func"):
            return beside(self.kernel, as_kernel(function))
        return None

    def function_value(self, kernel: Kernel) -> Code:
        """Compile a device function as a value."""
        return Code(lambda frame, mask: (), DeviceFunctionType(kernel))

    def call_device(self, node: ast.Call, kernel: Kernel) -> Code:
        if kernel in self.callers:
            what = f"{kernel.name} calls itself, and a kernel's functions cannot recurse"
            self.refuse(node, what, "write a loop")
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
        """Compile an argument for each parameter, in their order, as Python binds them."""
        a, given = kernel.tree.args, self.positional(node)
        names = [p.arg for p in (*a.posonlyargs, *a.args)]
        only_named = [p.arg for p in a.kwonlyargs]
        wrong_count = f"is called with {len(given)} argument{'s' * (len(given) != 1)}"
        if len(given) > len(names) and a.vararg is None:
            self._refuse_arguments(node, kernel, wrong_count)
        found = dict(zip(names, given, strict=False))
        for keyword in node.keywords:
            if keyword.arg is None:
                what = f"{ast.unparse(node)}: ** cannot be used in a call"
                self.refuse(node, what, "write the arguments out")
            if keyword.arg in found or keyword.arg not in names[len(a.posonlyargs) :] + only_named:
                self._refuse_arguments(node, kernel, f"has no free parameter {keyword.arg}")
            found[keyword.arg] = self.expression(keyword.value)
        defaults = dict(zip(names[::-1], a.defaults[::-1], strict=False))
        defaults |= dict(zip(only_named, a.kw_defaults, strict=True))
        for name in names + only_named:
            if name not in found:
                if defaults.get(name) is None:
                    self._refuse_arguments(node, kernel, wrong_count)
                found[name] = self._default(kernel, defaults[name])
        codes = [found[name] for name in names]
        if a.vararg is not None:
            rest = given[len(names) :]
            codes.append(joined(rest, self.bounded_tuple(node, [code.type for code in rest])))
        return codes + [found[name] for name in only_named]

    def bounded_tuple(self, node: ast.AST, items: Iterable) -> TupleType:
        """Return the type of a tuple, and refuse one that is too large.

        Calls and loops could double its values without end."""
        t = TupleType(tuple(items))
        if t.size > MAX_ITEMS:
            what = f"a tuple of {t.size:,} values; {MAX_ITEMS:,} is the most here"
            self.refuse(node, what, "use an array, such as cuda.local.array")
        return t

    def _refuse_arguments(self, node: ast.Call, kernel: Kernel, what: str):
        signature = f"{kernel.name}({ast.unparse(kernel.tree.args)})"
        self.refuse(node, f"{signature} {what}", f"call it as {signature}")

    def _default(self, kernel: Kernel, node: ast.expr) -> Code:
        """Compile a default value, which is known before the launch."""
        if isinstance(node, ast.Constant) and node.value is None:
            return constant_code(None)
        try:
            named = isinstance(node, ast.Name)
            value = resolve(kernel.lookup(node.id)) if named else constant(node, kernel.lookup)
        except (KeyError, NotConstant):
            value = NotImplemented
        if types.of_constant(value) is None:
            what = f"{kernel.name}: the default value {ast.unparse(node)} is no constant"
            try_this = "a number, a tuple of numbers, or None"
            raise UnsupportedError(what, kernel.where(kernel.tree), try_this)
        return constant_code(value)

    # --- functions within functions ---

    def _do_FunctionDef(self, node: ast.FunctionDef) -> Callable:
        if node.decorator_list:
            try_this = "define device functions outside the kernel, or leave the decorator out"
            self.refuse(node, f"{node.name} cannot be decorated within a kernel", try_this)
        inner = self._inner(node, node)
        slot = self.bind(node.name, DeviceFunctionType(inner))

        def do(frame, mask):
            frame.assign(slot, (), mask)
            return mask

        return do

    def _Lambda(self, node: ast.Lambda) -> Code:
        return self.function_value(self._inner(node, as_function(node, self.target or "lambda")))

    def _inner(self, node: ast.AST, tree: ast.FunctionDef) -> Kernel:
        """Return the device function that an inner ``def`` or lambda makes, always the same one."""
        kernel = self.kernel
        if node not in kernel.inner:
            names = {n.id for n in own_nodes(tree, into=True) if isinstance(n, ast.Name)}
            inner = Kernel(tree, kernel.lookup, kernel.file, kernel.lines, True, kernel.names)
            inner.origin, inner.base = kernel.origin, kernel.base
            inner.numbering = numbering_of(kernel)
            inner.captured = tuple(sorted(names & self.assigned - inner.assigned))
            kernel.inner[node] = inner
        return kernel.inner[node]

    def _captured(self, node: ast.Call, kernel: Kernel) -> list[Code]:
        """Compile the variables of this function that an inner function reads."""
        if kernel.captured and kernel not in self.kernel.inner.values():
            captured = ", ".join(kernel.captured)
            what = f"{kernel.name} reads {captured} of the function that it was defined in"
            try_this = f"pass {kernel.captured[0]} to it as an argument"
            self.refuse(node, f"{what}, and is called in another", try_this)
        return [self._captured_variable(node, name) for name in kernel.captured]

    def _captured_variable(self, node: ast.Call, name: str) -> Code:
        if name not in self.env:
            what = f"{name} may be used before it has a value"
            self.refuse(node, what, f"give {name} a value before this line", UndefinedNameError)
        slot, site = self.slot(name), self.site(node)
        return cast_code(lambda frame, mask: frame.value(slot, name, mask, site), self.env[name])

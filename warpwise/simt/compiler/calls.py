"""Calls of functions in tables: Python's, those of ``math`` and NumPy, CUDA's own, and casts."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import reduce

import numpy as np

from warpwise.simt import types
from warpwise.simt.builtins.intrinsics import CASTS, FUNCTIONS, ROUND, ROUND_DIGITS, Function
from warpwise.simt.builtins.operations import unary_run
from warpwise.simt.compiler import advice
from warpwise.simt.compiler.closures import (
    Code,
    constant_code,
    converted,
    items_of,
    joined,
    truth,
)
from warpwise.simt.frontend.kernel import DeviceFunctionType
from warpwise.simt.frontend.names import CudaName
from warpwise.simt.types import BOOL, FLOAT64, INT64, ArrayType, TupleType, is_scalar

MAX_ARGUMENTS = 255
NOT_FINITE = "inf -inf +inf nan infinity -infinity".split()


class Calls:
    """Mixin of ``Compiler`` for calls."""

    def _Call(self, node: ast.Call) -> Code:
        function = self.static(node.func)
        if function is NotImplemented:
            method = self.grid_sync_call(node) or self.method_call(node)
            return method or self._refuse_call(node, function)
        if isinstance(function, CudaName):
            return self.cuda_call(node, function.path)
        is_value = isinstance(function, DeviceFunctionType)
        device = function.kernel if is_value else self.device_function(function)
        if device is not None:
            return self.call_device(node, device)
        if node.keywords:
            named = ", ".join(f"{k.arg}=" for k in node.keywords if k.arg) or "**"
            what = f"{ast.unparse(node.func)} takes plain positional arguments here"
            self.refuse(node, what, f"leave {named} out")
        return self._plain_call(node, function)

    def _plain_call(self, node: ast.Call, function: object) -> Code:
        own = {
            len: self._length,
            min: self._extreme,
            max: self._extreme,
            abs: self._absolute,
            pow: self._power,
            sum: self._sum,
            divmod: self._divmod,
            round: self._round,
            print: self.print_call,
        }
        try:
            method, cast, known = own.get(function), CASTS.get(function), FUNCTIONS.get(function)
        except TypeError:  # not hashable, and so none of them
            return self._refuse_call(node, function)
        if method is not None:
            return method(node)
        if cast is not None:
            return self._cast(node, cast)
        if (made := self.complex_call(node, function)) is not None:
            return made
        if known is not None:
            return self.function_call(node, known)
        return self._refuse_call(node, function)

    def _refuse_call(self, node: ast.Call, function: object):
        try_this = advice.on_call(node, function, self.env, self.kernel.names())
        return self.refuse(node, f"{ast.unparse(node.func)} cannot be called in a kernel", try_this)

    def positional(self, node: ast.Call) -> list[Code]:
        """Compile the positional arguments; ``*values`` of a tuple counts as its items."""
        codes = []
        for argument in node.args:
            if not isinstance(argument, ast.Starred):
                codes.append(self.expression(argument))
                continue
            values = self.expression(argument.value)
            if not isinstance(values.type, TupleType):
                what = f"{ast.unparse(argument)}: {types.described(values.type)}"
                try_this = "only tuples can be: write the arguments out"
                self.refuse(node, f"{what} cannot be taken apart in a call", try_this)
            codes += items_of(values)
            if len(codes) > MAX_ARGUMENTS:
                what = f"a call with more than {MAX_ARGUMENTS} arguments"
                self.refuse(node, what, "pass an array")
        return codes

    def _numbers(self, node: ast.Call) -> list[Code]:
        if any(isinstance(a, ast.Starred) for a in node.args):
            codes = self.positional(node)
            bad = next((c for c in codes if not is_scalar(c.type)), None)
            if bad is not None:
                what = f"{ast.unparse(node)}: {types.described(bad.type)} where a number is needed"
                self.refuse(node, what, "pass numbers")
            return codes
        return [self.scalar(a) for a in node.args]

    def _arguments(self, node: ast.Call, count: int) -> list[Code]:
        found = self._numbers(node)
        if len(found) != count:
            name = ast.unparse(node.func)
            what = f"{name} takes {count} argument{'s' * (count != 1)} here, not {len(found)}"
            self.refuse(node, what, f"{name}({', '.join('abcd'[:count])})")
        return found

    def function_call(self, node: ast.Call, function: Function) -> Code:
        """Compile a call of a function that has a table entry."""
        if node.keywords:
            what = f"{ast.unparse(node.func)} takes plain positional arguments"
            self.refuse(node, what, f"leave {node.keywords[0].arg or '**'}= out")
        return self._apply(node, function, self._arguments(node, function.arity))

    def _apply(self, node: ast.Call, function: Function, arguments: list[Code]) -> Code:
        self.need_real(node, arguments)
        signature = function.sign(*(a.type for a in arguments))
        runs = [converted(a, t).run for a, t in zip(arguments, signature.arguments, strict=True)]
        computed = signature.arguments[0]
        self.cost.add(function.op_class) if function.op_class else self.cost.arithmetic(computed)
        self.cost.flop(computed, function.flops)
        if signature.result == FLOAT64:
            self.notes.on_function(node, arguments)
        return Code(_called(function.run, runs, signature.result), signature.result)

    def _cast(self, node: ast.Call, rule: Callable) -> Code:
        is_literal = bool(node.args) and isinstance(node.args[0], ast.Constant)
        if is_literal and len(node.args) == 1 and isinstance(node.args[0].value, str):
            return self._number_in_text(node, node.args[0].value)
        (argument,) = self._arguments(node, 1)
        t = rule(argument.type)
        if t != BOOL:
            self.need_real(node, [argument])
        if not is_literal:
            self.cost.add("conversion", int(argument.type != t))
        if t == BOOL:
            return truth(argument)
        code = converted(argument, t)
        if is_literal:
            value = code.run(None, None)
            return Code(lambda f, m: value, t)
        return code

    def _number_in_text(self, node: ast.Call, text: str) -> Code:
        """Compile ``float("inf")``."""
        if self.static(node.func) is float and text.strip().lower() in NOT_FINITE:
            return constant_code(float(text))
        what = f"{ast.unparse(node)}: a kernel has no strings"
        return self.refuse(node, what, "write the number without quotes")

    def _length(self, node: ast.Call) -> Code:
        argument = self.expression(node.args[0]) if len(node.args) == 1 else None
        if argument is not None and isinstance(argument.type, ArrayType):
            run = argument.run
            return Code(lambda f, m: run(f, m).shape[0], INT64)
        if argument is not None and isinstance(argument.type, TupleType):
            return constant_code(len(argument.type.items))
        what = "len() takes an array or a tuple in a kernel"
        return self.refuse(node, what, "len(x) of an array x; a number has no length")

    def _values(self, node: ast.Call) -> list[Code]:
        """Compile the numbers of ``max(a, b)``, and of ``max(values)`` for a tuple."""
        if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
            values = self.expression(node.args[0])
            if isinstance(values.type, TupleType) and all(map(is_scalar, values.type.items)):
                return items_of(values)
            return []
        return self._numbers(node)

    def _extreme(self, node: ast.Call) -> Code:
        arguments = self._values(node)
        is_starred = len(node.args) == 1 and isinstance(node.args[0], ast.Starred)
        if not arguments or (is_starred and len(arguments) < 2):
            what = f"{ast.unparse(node.func)} takes two or more numbers in a kernel"
            self.refuse(node, what, "write a loop over the array")
        self.need_real(node, arguments)
        t = reduce(types.unify, (a.type for a in arguments))
        runs = [converted(a, t).run for a in arguments]
        self.cost.arithmetic(t, len(runs) - 1)
        function = self.static(node.func)
        ufunc = np.fmin if function is min else np.fmax

        def run(frame, mask):
            result = runs[0](frame, mask)
            for part in runs[1:]:
                value = part(frame, mask)
                plain = type(result) is int and type(value) is int
                result = function(result, value) if plain else ufunc(result, value)
            return result

        return Code(run, t)

    def _sum(self, node: ast.Call) -> Code:
        arguments = self._values(node) if len(node.args) == 1 else []
        if not arguments:
            self._refuse_call(node, sum)
        return reduce(lambda a, b: self.binary(node, a, ast.Add(), b), arguments)

    def _power(self, node: ast.Call) -> Code:
        base, exponent = self._arguments(node, 2)
        return self.binary(node, base, ast.Pow(), exponent)

    def _divmod(self, node: ast.Call) -> Code:
        a, b = self._arguments(node, 2)
        parts = [self.binary(node, a, op, b) for op in (ast.FloorDiv(), ast.Mod())]
        return joined(parts, TupleType(tuple(part.type for part in parts)))

    def _round(self, node: ast.Call) -> Code:
        function = ROUND_DIGITS if len(node.args) == 2 else ROUND
        return self._apply(node, function, self._arguments(node, function.arity))

    def _absolute(self, node: ast.Call) -> Code:
        (argument,) = self._arguments(node, 1)
        if types.is_complex(argument.type):
            return self.complex_absolute(argument)
        self.cost.arithmetic(argument.type)
        code = converted(argument, types.absolute(argument.type))
        return Code(unary_run(abs, code.run), code.type)


def _called(compute: Callable, runs: list[Callable], result) -> Callable:
    """Return the closure of ``compute``; uniform int64 and bool results are Python's own."""
    if result in (INT64, BOOL):
        plain = int if result == INT64 else bool

        def run_plain(frame, mask):
            value = compute(*(run(frame, mask) for run in runs))
            return value if isinstance(value, np.ndarray) else plain(value)

        return run_plain
    if len(runs) == 1:
        (only,) = runs
        return lambda frame, mask: compute(only(frame, mask))
    return lambda frame, mask: compute(*(run(frame, mask) for run in runs))

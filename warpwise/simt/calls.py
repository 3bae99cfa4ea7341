"""Calls of functions that are not CUDA's own: Python's, those of ``math`` and NumPy, and casts."""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np

from warpwise.simt import advice, types
from warpwise.simt.compiled import Code, constant_code, converted, truth
from warpwise.simt.intrinsics import CASTS, FUNCTIONS
from warpwise.simt.operations import unary_run
from warpwise.simt.source import CudaName
from warpwise.simt.types import BOOL, INT64, ArrayType, TupleType


class Calls:
    """The part of the compiler that knows calls; mixed into ``compiler.Compiler``."""

    def _Call(self, node: ast.Call) -> Code:
        function = self.static(node.func)
        if function is NotImplemented:
            self._refuse_call(node, function)
        if isinstance(function, CudaName):
            return self.cuda_call(node, function.path)
        device = self.device_function(function)
        if device is not None:
            return self.call_device(node, device)
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            named = ", ".join(f"{k.arg}=" for k in node.keywords if k.arg)
            try_this = f"leave {named} out" if named else "write the arguments out"
            self.refuse(node, f"{ast.unparse(node.func)} takes plain positional arguments here", try_this)
        return self._plain_call(node, function)

    def _plain_call(self, node: ast.Call, function: object) -> Code:
        if function is len:
            return self._length(node)
        if function in (min, max):
            return self._extreme(node, function)
        if function is abs:
            return self._absolute(node)
        if function is pow:
            base, exponent = self._arguments(node, 2)
            return self.binary(node, base, ast.Pow(), exponent)
        try:
            known = FUNCTIONS.get(function), CASTS.get(function)
        except TypeError:
            known = None, None
        if known[1] is not None:
            return self._cast(node, known[1])
        if known[0] is not None:
            return self._function(node, known[0])
        return self._refuse_call(node, function)

    def _refuse_call(self, node: ast.Call, function: object):
        try_this = advice.on_call(node, function, self.env, self.kernel.names())
        return self.refuse(node, f"{ast.unparse(node.func)} cannot be called in a kernel", try_this)

    def _arguments(self, node: ast.Call, count: int) -> list[Code]:
        if len(node.args) != count:
            name = ast.unparse(node.func)
            what = f"{name} takes {count} argument{'s' * (count != 1)} here, not {len(node.args)}"
            self.refuse(node, what, f"{name}({', '.join('abc'[:count])})")
        return [self.scalar(a) for a in node.args]

    def _function(self, node: ast.Call, function) -> Code:
        arguments = self._arguments(node, function.arity)
        t = function.takes(*(a.type for a in arguments))
        runs = [converted(a, t).run for a in arguments]
        self.cost.add(function.op_class) if function.op_class else self.cost.arithmetic(t)
        self.cost.flop(t, function.flops)
        compute, result = function.run, function.gives(t)
        return Code(lambda f, m: compute(*(run(f, m) for run in runs)), result)

    def _cast(self, node: ast.Call, rule: Callable) -> Code:
        (argument,) = self._arguments(node, 1)
        t = rule(argument.type)
        if not isinstance(node.args[0], ast.Constant):
            self.cost.add("conversion", int(argument.type != t))
        if t == BOOL:
            return truth(argument)
        code = converted(argument, t)
        if isinstance(node.args[0], ast.Constant):
            value = code.run(None, None)
            return Code(lambda f, m: value, t)
        return code

    def _length(self, node: ast.Call) -> Code:
        argument = self.expression(node.args[0]) if len(node.args) == 1 else None
        if argument is not None and isinstance(argument.type, ArrayType):
            run = argument.run
            return Code(lambda f, m: run(f, m).shape[0], INT64)
        if argument is not None and isinstance(argument.type, TupleType):
            return constant_code(len(argument.type.items))
        return self.refuse(node, "len() takes an array or a tuple in a kernel", "len(x) of an array x; a number has no length")

    def _extreme(self, node: ast.Call, function: Callable) -> Code:
        if len(node.args) < 2:
            self.refuse(node, f"{function.__name__} takes two or more numbers in a kernel", "write a loop over the array")
        arguments = [self.scalar(a) for a in node.args]
        t = arguments[0].type
        for a in arguments[1:]:
            t = types.unify(t, a.type)
        runs = [converted(a, t).run for a in arguments]
        self.cost.arithmetic(t, len(runs) - 1)
        ufunc = np.fmin if function is min else np.fmax

        def run(frame, mask):
            result = runs[0](frame, mask)
            for part in runs[1:]:
                value = part(frame, mask)
                result = function(result, value) if type(result) is int and type(value) is int else ufunc(result, value)
            return result

        return Code(run, t)

    def _absolute(self, node: ast.Call) -> Code:
        (argument,) = self._arguments(node, 1)
        self.cost.arithmetic(argument.type)
        code = converted(argument, types.absolute(argument.type))
        return Code(unary_run(abs, code.run), code.type)

"""Expressions of a kernel, compiled once to closures ``run(frame, mask) -> value``.

There is one method for each kind of syntax."""

from __future__ import annotations

import ast
import operator

import numpy as np

from warpwise.errors import KernelTypeError, UndefinedNameError
from warpwise.metrics import WARP_SIZE
from warpwise.simt import types
from warpwise.simt.builtins import operations
from warpwise.simt.builtins.operations import BINARY, COMPARE
from warpwise.simt.compiler import advice
from warpwise.simt.compiler.closures import Code, constant_code, converted, joined, truth
from warpwise.simt.frontend.kernel import DeviceFunctionType
from warpwise.simt.frontend.names import CudaName
from warpwise.simt.frontend.refused import EXPRESSIONS
from warpwise.simt.lanes.masks import split
from warpwise.simt.machine.frame import merged
from warpwise.simt.types import (
    BOOL,
    INT64,
    TupleType,
    is_complex,
    is_float,
    is_integer,
    is_scalar,
)

AXES = {"x": 0, "y": 1, "z": 2}


class Expressions:
    """Mixin of ``Compiler`` for expressions."""

    def expression(self, node: ast.expr) -> Code:
        """Compile one expression. Raises UnsupportedError or KernelTypeError, naming the line."""
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            refused = EXPRESSIONS.get(type(node).__name__)
            try_this = refused.instead if refused else "use numbers, elements of arrays and calls"
            what = f"{ast.unparse(node)!r} is not something a kernel can compute here"
            self.refuse(node, what, try_this)
        try:
            return method(node)
        except types.TypeMismatch as error:
            what, where = f"{ast.unparse(node)}: {error}", self.kernel.where(node)
            raise KernelTypeError(what, where, error.try_this) from error

    def scalar(self, node: ast.expr) -> Code:
        return self.number(node, self.expression(node))

    def number(self, node: ast.expr, code: Code) -> Code:
        """Return ``code``, that of ``node``; anything but a number is refused."""
        if not is_scalar(code.type):
            what = f"{ast.unparse(node)} is {types.described(code.type)}; a number is needed here"
            try_this = advice.on_number_needed(node, code.type, self.kernel.tree)
            self.refuse(node, what, try_this, KernelTypeError)
        return code

    def _Constant(self, node: ast.Constant) -> Code:
        if types.of_constant(node.value) is None:
            self.refuse(node, f"a kernel cannot hold the constant {node.value!r}", "use numbers")
        return constant_code(node.value)

    def _Name(self, node: ast.Name) -> Code:
        if node.id in self.env:
            t = self.env[node.id]
            is_function = isinstance(t, DeviceFunctionType)
            return self.function_value(t.kernel) if is_function else self.variable(node)
        if node.id in self.assigned:
            what = f"{node.id} may be used before it has a value"
            try_this = f"give {node.id} a value on every path to this line"
            self.refuse(node, what, try_this, UndefinedNameError)
        return self.static_code(node, self.static(node))

    def static_code(self, node: ast.expr, value: object) -> Code:
        """Compile a name known before the kernel runs: a constant, or one of CUDA's words."""
        if isinstance(value, CudaName):
            return self._cuda_value(node, value.path)
        if isinstance(value, np.ndarray):
            return self.constant_array(node, value)
        if (device := self.device_function(value)) is not None:
            return self.function_value(device)
        if types.of_constant(value) is None:
            kind, try_this = advice.on_outside(node, value)
            what = f"{ast.unparse(node)} is {kind}, which a kernel cannot read"
            self.refuse(node, what, try_this)
        return constant_code(value)

    def _cuda_value(self, node: ast.expr, path: str) -> Code:
        name, _, axis = path.partition(".")
        if axis in AXES:
            i = AXES[axis]
            if name == "threadIdx":
                return Code(lambda f, m: m.group.thread_index[i], INT64)
            if name == "blockIdx":
                return Code(lambda f, m: m.group.block_index[i], INT64)
            if name == "blockDim":
                return Code(lambda f, m: m.group.block[i], INT64)
            if name == "gridDim":
                return Code(lambda f, m: m.group.grid[i], INT64)
        if path == "warpsize":
            return constant_code(WARP_SIZE)
        if path == "laneid":
            return Code(lambda f, m: m.group.lane, INT64)
        return self.refuse_cuda(node, path)

    def _Tuple(self, node: ast.Tuple) -> Code:
        items = [self.expression(item) for item in node.elts]
        return joined(items, self.bounded_tuple(node, [item.type for item in items]))

    def _UnaryOp(self, node: ast.UnaryOp) -> Code:
        negates = isinstance(node.op, ast.USub)
        literal = node.operand.value if isinstance(node.operand, ast.Constant) else None
        if negates and isinstance(literal, (int, float)):
            return self._Constant(ast.copy_location(ast.Constant(-literal), node))
        operand = self.scalar(node.operand)
        # such as -math.inf: the compiler does it
        if operand.constant and is_float(operand.type) and negates:
            return constant_code(-operand.run(None, None))
        self.cost.arithmetic(operand.type)
        if isinstance(node.op, ast.Not):
            run = truth(operand).run
            return Code(lambda f, m: _not(run(f, m)), BOOL)
        if isinstance(node.op, ast.Invert):
            if not is_integer(operand.type):
                try_this = "not turns a condition round, - changes a sign"
                raise types.TypeMismatch("~ needs an integer", try_this)
            if operand.type == BOOL:
                return Code(lambda f, m: _not(operand.run(f, m)), BOOL)
        t = types.negation(operand.type)
        if isinstance(node.op, ast.UAdd):
            return converted(operand, t)
        own = converted(operand, t) if operand.type == BOOL else operand
        operation = operator.neg if negates else operator.invert
        # computed in its own width, then widened
        return converted(Code(operations.unary_run(operation, own.run), own.type), t)

    def _BinOp(self, node: ast.BinOp) -> Code:
        left, right = self.expression(node.left), self.expression(node.right)
        are_tuples = isinstance(left.type, TupleType) and isinstance(right.type, TupleType)
        if are_tuples and isinstance(node.op, ast.Add):
            return self.tuple_sum(node, left, right)
        left, right = self.number(node.left, left), self.number(node.right, right)
        return self.binary(node, left, node.op, right)

    def binary(self, node: ast.AST, left: Code, op: ast.operator, right: Code) -> Code:
        """Compile ``left op right``; ``node`` is for messages."""
        if type(op) not in BINARY:
            what = "matrix multiplication is not an operation of one thread"
            self.refuse(node, what, "write the sum as a loop")
        if is_complex(left.type) or is_complex(right.type):
            return self.complex_binary(left, op, right)
        rule = BINARY[type(op)]
        t = rule.rule(left.type, right.type)
        a, b = converted(left, t), converted(right, t)
        divides = is_integer(t) and isinstance(op, (ast.FloorDiv, ast.Mod))
        if left.constant and right.constant and not divides:
            # the compiler does it, and the kernel pays nothing
            value = operations.binary_run(rule, a.run, b.run, t)(None, None)
            return Code(lambda frame, mask: value, t, constant=True)
        self.notes.on_operation(node, rule.symbol, left, right, t)
        self.cost.arithmetic(t)
        if is_float(t):
            self.cost.flop(t, rule.flops)
        if divides:
            return Code(operations.guarded_division(rule, a.run, b.run, self.site(node)), t)
        return Code(operations.binary_run(rule, a.run, b.run, t), t)

    def _Compare(self, node: ast.Compare) -> Code:
        if any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            return self.identity(node)
        nodes = node.left, *node.comparators
        operands = [self.expression(n) for n in nodes]
        parts = [
            self._compared(node, nodes[i : i + 2], operands[i : i + 2], op)
            for i, op in enumerate(node.ops)
        ]
        return parts[0] if len(parts) == 1 else _all_of(parts)

    def _compared(
        self, node: ast.Compare, nodes: list[ast.expr], codes: list[Code], op: ast.cmpop
    ) -> Code:
        left, right = codes
        if isinstance(op, (ast.In, ast.NotIn)):
            value = self.number(nodes[0], left)
            return self.contained(node, value, right, negate=isinstance(op, ast.NotIn))
        if isinstance(left.type, TupleType) and isinstance(right.type, TupleType):
            return self.tuple_comparison(node, left, right, op)
        return self.comparison(node, self.number(nodes[0], left), self.number(nodes[1], right), op)

    def comparison(self, node: ast.Compare, left: Code, right: Code, op: ast.cmpop) -> Code:
        """Compile ``left op right`` of two numbers."""
        if is_complex(left.type) or is_complex(right.type):
            return self.complex_comparison(left, right, op)
        t = types.comparison(left.type, right.type)
        self.cost.arithmetic(t)
        if is_float(t):
            left, right = converted(left, t), converted(right, t)
        ufunc, on_ints = COMPARE[type(op)]
        a_run, b_run = left.run, right.run

        def run(frame, mask):
            a, b = a_run(frame, mask), b_run(frame, mask)
            return on_ints(a, b) if type(a) is int and type(b) is int else ufunc(a, b)

        return Code(run, BOOL)

    def _BoolOp(self, node: ast.BoolOp) -> Code:
        parts = [
            self.apart(lambda value=value: self.scalar(value), node, apart=i > 0)
            for i, value in enumerate(node.values)
        ]
        is_or = isinstance(node.op, ast.Or)
        if any(code.type != BOOL for code, _ in parts):
            return self.chosen_value(parts, is_or)
        runs = [(code.run, charge) for code, charge in parts]
        combine = operator.or_ if is_or else operator.and_

        def run(frame, mask):
            result, rest = None, mask
            for part, charge in runs:
                charge(frame, rest)
                value = part(frame, rest)
                result = value if result is None else combine(result, value)
                yes, no = split(rest, value)
                rest = no if is_or else yes
                if rest is None:
                    break
            return result

        return Code(run, BOOL)

    def _IfExp(self, node: ast.IfExp) -> Code:
        known = self.known(node.test)
        if known is not None:
            return self.expression(node.body if known else node.orelse)
        test = truth(self.scalar(node.test))
        self.cost.add("control")
        yes, charge_yes = self.apart(lambda: self.expression(node.body), node)
        no, charge_no = self.apart(lambda: self.expression(node.orelse), node)
        t = types.unify(yes.type, no.type)
        yes, no, site = converted(yes, t), converted(no, t), self.site(node)

        def run(frame, mask):
            on, off = split(mask, test.run(frame, mask))
            if on is not None:
                charge_yes(frame, on)
                a = yes.run(frame, on)
                if off is None:
                    return a
            charge_no(frame, off)
            b = no.run(frame, off)
            return b if on is None else merged(on, a, b, site)

        return Code(run, t)

    def _Slice(self, node: ast.Slice) -> Code:
        return self.refuse(node, "a slice stands between brackets", "a[1:4]")


def _all_of(parts: list[Code]) -> Code:
    runs = [p.run for p in parts]

    def run(frame, mask):
        result = runs[0](frame, mask)
        for part in runs[1:]:
            result = result & part(frame, mask)
        return result

    return Code(run, BOOL)


def _not(value):
    return not value if isinstance(value, bool) else np.logical_not(value)

"""Expressions of a kernel, compiled once to closures ``run(frame, mask) -> value``: one method for each kind of syntax."""

from __future__ import annotations

import ast
import operator

import numpy as np

from warpwise.errors import KernelTypeError, UndefinedNameError
from warpwise.metrics import WARP_SIZE
from warpwise.simt import types
from warpwise.simt.functions.operations import BINARY, COMPARE, binary_run, guarded_division, unary_run
from warpwise.simt.lanes.masks import split
from warpwise.simt.language import advice
from warpwise.simt.language.compiled import Code, constant_code, converted, truth
from warpwise.simt.machine.frame import merged
from warpwise.simt.text.constants import MAX_ITEMS
from warpwise.simt.text.refused import EXPRESSIONS
from warpwise.simt.text.source import CudaName
from warpwise.simt.types import BOOL, INT64, FunctionType, TupleType, is_complex, is_float, is_integer, is_scalar

AXES = {"x": 0, "y": 1, "z": 2}


class Expressions:
    """The expression half of the compiler of one function; ``statements.Compiler`` adds statements and variables."""

    # Given by the subclass: kernel, cost, target (the name being assigned), env, slot_of, site, refuse, call_device, constant.

    def expression(self, node: ast.expr) -> Code:
        """Compile one expression. Raises UnsupportedError or KernelTypeError, naming the line."""
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            refused = EXPRESSIONS.get(type(node).__name__)
            try_this = refused.instead if refused else "use numbers, elements of arrays and calls"
            self.refuse(node, f"{ast.unparse(node)!r} is not something a kernel can compute here", try_this)
        try:
            return method(node)
        except types.TypeMismatch as error:
            raise KernelTypeError(f"{ast.unparse(node)}: {error}", self.kernel.where(node), error.try_this) from error

    def scalar(self, node: ast.expr) -> Code:
        return self.number(node, self.expression(node))

    def number(self, node: ast.expr, code: Code) -> Code:
        """``code``, which is that of ``node`` and must be a number."""
        if not is_scalar(code.type):
            what = f"{ast.unparse(node)} is {types.described(code.type)}; a number is needed here"
            raise KernelTypeError(what, self.kernel.where(node), advice.on_number_needed(node, code.type, self.kernel.tree))
        return code

    def _Constant(self, node: ast.Constant) -> Code:
        if types.of_constant(node.value) is None:
            self.refuse(node, f"a kernel cannot hold the constant {node.value!r}", "use numbers")
        return constant_code(node.value)

    def _Name(self, node: ast.Name) -> Code:
        if node.id in self.env:
            t = self.env[node.id]
            return self.function_value(t.kernel) if isinstance(t, FunctionType) else self.variable(node)
        if node.id in self.assigned:
            try_this = f"give {node.id} a value on every path to this line"
            self.refuse(node, f"{node.id} may be used before it has a value", try_this, UndefinedNameError)
        return self.static_code(node, self.static(node))

    def static_code(self, node: ast.expr, value: object) -> Code:
        """A name known before the kernel runs: a constant, or one of CUDA's words."""
        if isinstance(value, CudaName):
            return self._cuda_value(node, value.path)
        if isinstance(value, np.ndarray):
            return self.constant_array(node, value)
        if (device := self.device_function(value)) is not None:
            return self.function_value(device)
        if types.of_constant(value) is None:
            what, try_this = advice.on_outside(node, value)
            self.refuse(node, f"{ast.unparse(node)} is {what}, which a kernel cannot read", try_this)
        return constant_code(value)

    def _cuda_value(self, node: ast.expr, path: str) -> Code:
        name, _, axis = path.partition(".")
        if axis in AXES:
            i = AXES[axis]
            if name == "threadIdx":
                return Code(lambda f, m: m.extent.thread_index[i], INT64)
            if name == "blockIdx":
                return Code(lambda f, m: m.extent.block_index[i], INT64)
            if name == "blockDim":
                return Code(lambda f, m: m.extent.block[i], INT64)
            if name == "gridDim":
                return Code(lambda f, m: m.extent.grid[i], INT64)
        if path == "warpsize":
            return constant_code(WARP_SIZE)
        if path == "laneid":
            return Code(lambda f, m: m.extent.lane, INT64)
        return self.refuse_cuda(node, path)

    def _Tuple(self, node: ast.Tuple) -> Code:
        items = [self.expression(item) for item in node.elts]
        runs, t = [item.run for item in items], TupleType(tuple(item.type for item in items))
        if t.size > MAX_ITEMS:
            self.refuse(node, f"a tuple of {t.size:,} values; {MAX_ITEMS:,} is the most here", "use an array, such as cuda.local.array")
        return Code(lambda f, m: tuple(run(f, m) for run in runs), t)

    def _UnaryOp(self, node: ast.UnaryOp) -> Code:
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, (int, float)):
            return self._Constant(ast.copy_location(ast.Constant(-node.operand.value), node))
        operand = self.scalar(node.operand)
        if operand.constant and is_float(operand.type) and isinstance(node.op, ast.USub):  # such as -math.inf: the compiler does it
            return constant_code(-operand.run(None, None))
        self.cost.arithmetic(operand.type)
        if isinstance(node.op, ast.Not):
            run = truth(operand).run
            return Code(lambda f, m: _not(run(f, m)), BOOL)
        if isinstance(node.op, ast.Invert):
            if not is_integer(operand.type):
                raise types.TypeMismatch("~ needs an integer", "not turns a condition round, - changes a sign")
            if operand.type == BOOL:
                return Code(lambda f, m: _not(operand.run(f, m)), BOOL)
        t = types.negation(operand.type)
        if isinstance(node.op, ast.UAdd):
            return converted(operand, t)
        own = converted(operand, t) if operand.type == BOOL else operand
        operation = operator.neg if isinstance(node.op, ast.USub) else operator.invert
        return converted(Code(unary_run(operation, own.run), own.type), t)  # computed in its own width, then widened

    def _BinOp(self, node: ast.BinOp) -> Code:
        left, right = self.expression(node.left), self.expression(node.right)
        if isinstance(node.op, ast.Add) and isinstance(left.type, TupleType) and isinstance(right.type, TupleType):
            return self.tuple_sum(node, left, right)
        return self.binary(node, self.number(node.left, left), node.op, self.number(node.right, right))

    def binary(self, node: ast.AST, left: Code, op: ast.operator, right: Code) -> Code:
        """``left op right``; ``node`` is for messages."""
        if type(op) not in BINARY:
            self.refuse(node, "matrix multiplication is not an operation of one thread", "write the sum as a loop")
        if is_complex(left.type) or is_complex(right.type):
            return self.complex_binary(left, op, right)
        rule = BINARY[type(op)]
        t = rule.rule(left.type, right.type)
        a, b = converted(left, t), converted(right, t)
        divides = is_integer(t) and isinstance(op, (ast.FloorDiv, ast.Mod))
        if left.constant and right.constant and not divides:
            value = binary_run(rule, a.run, b.run, t)(None, None)  # the compiler does it, and the kernel pays nothing
            return Code(lambda frame, mask: value, t, constant=True)
        self.notes.on_operation(node, rule.symbol, left, right, t)
        self.cost.arithmetic(t)
        if is_float(t):
            self.cost.flop(t, rule.flops)
        if divides:
            return Code(guarded_division(rule, a.run, b.run, self.site(node)), t)
        return Code(binary_run(rule, a.run, b.run, t), t)

    def _Compare(self, node: ast.Compare) -> Code:
        if any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            return self.identity(node)
        nodes = node.left, *node.comparators
        operands = [self.expression(n) for n in nodes]
        parts = [self._compared(node, nodes[i : i + 2], operands[i : i + 2], op) for i, op in enumerate(node.ops)]
        return parts[0] if len(parts) == 1 else _all_of(parts)

    def _compared(self, node: ast.Compare, nodes: list[ast.expr], codes: list[Code], op: ast.cmpop) -> Code:
        left, right = codes
        if isinstance(op, (ast.In, ast.NotIn)):
            return self.contained(node, self.number(nodes[0], left), right, isinstance(op, ast.NotIn))
        if isinstance(left.type, TupleType) and isinstance(right.type, TupleType):
            return self.tuple_comparison(node, left, right, op)
        return self.comparison(node, self.number(nodes[0], left), self.number(nodes[1], right), op)

    def comparison(self, node: ast.Compare, left: Code, right: Code, op: ast.cmpop) -> Code:
        """``left op right`` of two numbers."""
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
        parts, conditions = [], []
        for i, value in enumerate(node.values):
            code, charge = self.apart(lambda value=value: self.scalar(value), node, apart=i > 0)
            parts.append((code.run, charge))
            conditions.append(code)
        stop_at = isinstance(node.op, ast.Or)
        if any(code.type != BOOL for code in conditions):
            return self.chosen_value([(code, charge) for code, (_, charge) in zip(conditions, parts, strict=True)], stop_at)

        def run(frame, mask):
            result, rest = None, mask
            for part, charge in parts:
                charge(frame, rest)
                value = part(frame, rest)
                result = value if result is None else (result | value if stop_at else result & value)
                yes, no = split(rest, value)
                rest = no if stop_at else yes
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

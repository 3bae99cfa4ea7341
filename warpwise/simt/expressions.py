"""Expressions of a kernel, compiled once to closures over NumPy lanes.

Compiling an expression gives its closure ``run(frame, mask) -> value`` and its Numba type. A closure works on all lanes of a
batch; the value of a lane that is not active means nothing. Uniform integers stay Python ints, which keeps index arithmetic cheap.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from warpwise.errors import ArithmeticFault, KernelTypeError, UnsupportedError
from warpwise.simt import types
from warpwise.simt.batch import Site, merged
from warpwise.simt.intrinsics import CASTS, FUNCTIONS
from warpwise.simt.masks import split
from warpwise.simt.source import CudaName
from warpwise.simt.types import BOOL, INT64, ArrayType, TupleType, cast, is_float, is_integer, is_scalar, wrap_int64

AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True)
class Code:
    """A compiled expression: ``run(frame, mask)`` and the type of its value."""

    run: Callable
    type: object


@dataclass
class Cost:
    """What one pass over a piece of code issues: instructions and floating-point operations per active lane."""

    slots: int = 0
    flops_fp32: int = 0
    flops_fp64: int = 0

    def flop(self, t, count: int = 1) -> None:
        if t == types.FLOAT32:
            self.flops_fp32 += count
        elif t == types.FLOAT64:
            self.flops_fp64 += count


def constant_code(value) -> Code:
    kind = types.of_constant(value)
    if is_scalar(kind):
        value = cast(value, kind)
    return Code(lambda frame, mask: value, kind)


def converted(code: Code, to: np.dtype) -> Code:
    """``code`` with its value cast to a scalar type."""
    if code.type == to:
        return code
    run = code.run
    return Code(lambda frame, mask: cast(run(frame, mask), to), to)


def truth(code: Code) -> Code:
    """``code`` as a condition."""
    if code.type == BOOL:
        return code
    run = code.run
    return Code(lambda frame, mask: run(frame, mask) != 0, BOOL)


# --- binary operations: typing rule, ufunc, and the same on Python ints ---


@dataclass(frozen=True)
class Operation:
    symbol: str
    rule: Callable
    ufunc: np.ufunc
    on_ints: Callable
    flops: int = 0


def _power_of_ints(a: int, b: int) -> int:
    return pow(a, b, 2**64) if b >= 0 else int(a in (1, -1)) * a ** (-b % 2)


def _left(a: int, b: int) -> int:
    return a << b if 0 <= b < 64 else 0


def _right(a: int, b: int) -> int:
    return a >> b if 0 <= b < 64 else (-1 if a < 0 else 0)


def _power(a, b, dtype=None):
    if isinstance(b, np.ndarray) and b.dtype.kind == "i" or isinstance(b, int):
        b = np.maximum(b, 0)
    return np.power(a, b)


BINARY = {
    ast.Add: Operation("+", types.arithmetic, np.add, operator.add, 1),
    ast.Sub: Operation("-", types.arithmetic, np.subtract, operator.sub, 1),
    ast.Mult: Operation("*", types.arithmetic, np.multiply, operator.mul, 1),
    ast.Div: Operation("/", types.division, np.true_divide, operator.truediv, 1),
    ast.FloorDiv: Operation("//", types.floor_division, np.floor_divide, operator.floordiv),
    ast.Mod: Operation("%", types.floor_division, np.mod, operator.mod),
    ast.Pow: Operation("**", types.power, _power, _power_of_ints),
    ast.LShift: Operation("<<", types.shift, np.left_shift, _left),
    ast.RShift: Operation(">>", types.shift, np.right_shift, _right),
    ast.BitAnd: Operation("&", types.bitwise, np.bitwise_and, operator.and_),
    ast.BitOr: Operation("|", types.bitwise, np.bitwise_or, operator.or_),
    ast.BitXor: Operation("^", types.bitwise, np.bitwise_xor, operator.xor),
}
COMPARE = {
    ast.Eq: (np.equal, operator.eq), ast.NotEq: (np.not_equal, operator.ne), ast.Lt: (np.less, operator.lt),
    ast.LtE: (np.less_equal, operator.le), ast.Gt: (np.greater, operator.gt), ast.GtE: (np.greater_equal, operator.ge),
}  # fmt: skip


def _binary_run(op: Operation, left: Callable, right: Callable, t: np.dtype) -> Callable:
    ufunc, on_ints = op.ufunc, op.on_ints
    if t != INT64:
        return lambda frame, mask: ufunc(left(frame, mask), right(frame, mask))

    def run(frame, mask):
        a, b = left(frame, mask), right(frame, mask)
        if type(a) is int and type(b) is int:
            return wrap_int64(on_ints(a, b))
        return ufunc(a, b)

    return run


def _guarded_division(op: Operation, left: Callable, right: Callable, site: Site) -> Callable:
    """``//`` and ``%`` on int64: a zero divisor in an active lane is an error; a power of two is a shift or a mask."""
    remainder = op.symbol == "%"

    def run(frame, mask):
        a, b = left(frame, mask), right(frame, mask)
        if type(b) is int and b > 0:
            if type(a) is int:
                return a % b if remainder else a // b
            if b & (b - 1) == 0:
                return a & (b - 1) if remainder else a >> (b.bit_length() - 1)
            return op.ufunc(a, b)
        zero = mask.grid() & (np.asarray(b) == 0)
        if zero.any():
            raise ArithmeticFault(
                f"integer {'remainder' if remainder else 'division'} by zero", site.where(**frame.batch.first_thread(zero)),
                "guard the division",
            )  # fmt: skip
        return wrap_int64(op.on_ints(a, b)) if type(a) is int and type(b) is int else op.ufunc(a, b)

    return run


class Expressions:
    """The expression half of the compiler of one function; ``statements.Compiler`` adds statements and variables."""

    # Given by the subclass: kernel, cost, target (the name being assigned), env, slot_of, site, refuse, call_device, constant.

    def expression(self, node: ast.expr) -> Code:
        """Compile one expression. Raises UnsupportedError or KernelTypeError, naming the line."""
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            self.refuse(node, f"{ast.unparse(node)!r} is not something a kernel can compute here", _ADVICE.get(type(node).__name__, ""))
        try:
            return method(node)
        except types.TypeMismatch as error:
            raise KernelTypeError(f"{ast.unparse(node)}: {error}", self.kernel.where(node)) from error

    def scalar(self, node: ast.expr) -> Code:
        code = self.expression(node)
        if not is_scalar(code.type):
            raise KernelTypeError(f"{ast.unparse(node)} is a {code.type}; a number is needed here", self.kernel.where(node))
        return code

    def _Constant(self, node: ast.Constant) -> Code:
        if types.of_constant(node.value) is None:
            self.refuse(node, f"a kernel cannot hold the constant {node.value!r}", "use numbers")
        return constant_code(node.value)

    def _Name(self, node: ast.Name) -> Code:
        if node.id in self.env:
            return self.variable(node.id)
        if node.id in self.assigned:
            self.refuse(node, f"{node.id} may be used before it has a value", f"give {node.id} a value on every path to this line")
        return self.static_code(node, self.static(node))

    def _Attribute(self, node: ast.Attribute) -> Code:
        value = self.static(node)
        return self._array_attribute(node) if value is NotImplemented else self.static_code(node, value)

    def _array_attribute(self, node: ast.Attribute) -> Code:
        base = self.expression(node.value)
        if not isinstance(base.type, ArrayType):
            self.refuse(node, f"{ast.unparse(node.value)} has no attribute {node.attr!r} in a kernel")
        run = base.run
        if node.attr == "shape":
            return Code(lambda f, m: run(f, m).shape, TupleType((INT64,) * base.type.ndim))
        if node.attr in ("size", "ndim"):
            name = node.attr
            return Code(lambda f, m: getattr(run(f, m), name), INT64)
        return self.refuse(node, f"an array has no {node.attr!r} in a kernel", "shape, size and ndim can be read")

    def static_code(self, node: ast.expr, value: object) -> Code:
        """A name known before the kernel runs: a constant, or one of CUDA's words."""
        if isinstance(value, CudaName):
            return self._cuda_value(node, value.path)
        if types.of_constant(value) is None:
            what = "an array outside the kernel" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
            self.refuse(node, f"{ast.unparse(node)} is {what}, which a kernel cannot read", "pass it to the kernel as an argument")
        return constant_code(value)

    def _cuda_value(self, node: ast.expr, path: str) -> Code:
        name, _, axis = path.partition(".")
        if axis in AXES:
            i = AXES[axis]
            if name == "threadIdx":
                return Code(lambda f, m: f.batch.thread_index[i], INT64)
            if name == "blockIdx":
                return Code(lambda f, m: f.batch.block_index[i], INT64)
            if name == "blockDim":
                return Code(lambda f, m: f.batch.launch.block[i], INT64)
            if name == "gridDim":
                return Code(lambda f, m: f.batch.launch.grid[i], INT64)
        if path == "warpsize":
            return constant_code(32)
        return self.refuse(node, f"cuda.{path} is not known to the simulator as a value")

    def _Tuple(self, node: ast.Tuple) -> Code:
        items = [self.expression(item) for item in node.elts]
        runs = [item.run for item in items]
        return Code(lambda f, m: tuple(run(f, m) for run in runs), TupleType(tuple(item.type for item in items)))

    def _UnaryOp(self, node: ast.UnaryOp) -> Code:
        operand = self.scalar(node.operand)
        self.cost.slots += not isinstance(node.operand, ast.Constant)
        if isinstance(node.op, ast.Not):
            run = truth(operand).run
            return Code(lambda f, m: _not(run(f, m)), BOOL)
        if isinstance(node.op, ast.Invert):
            if not is_integer(operand.type):
                raise types.TypeMismatch("~ needs an integer")
            code = operand if operand.type == BOOL else converted(operand, types.widened(operand.type))
            run = code.run
            return Code(lambda f, m: _not(run(f, m)) if code.type == BOOL else ~run(f, m), code.type)
        code = converted(operand, types.negation(operand.type))
        run = code.run
        if isinstance(node.op, ast.UAdd):
            return code
        return Code(lambda f, m: -run(f, m), code.type)

    def _BinOp(self, node: ast.BinOp) -> Code:
        return self.binary(node, self.scalar(node.left), node.op, self.scalar(node.right))

    def binary(self, node: ast.AST, left: Code, op: ast.operator, right: Code) -> Code:
        """``left op right``; ``node`` is for messages."""
        if type(op) not in BINARY:
            self.refuse(node, "matrix multiplication is not an operation of one thread", "write the sum as a loop")
        rule = BINARY[type(op)]
        t = rule.rule(left.type, right.type)
        a, b = converted(left, t), converted(right, t)
        self.cost.slots += 1
        if is_float(t):
            self.cost.flop(t, rule.flops)
        if t == INT64 and isinstance(op, (ast.FloorDiv, ast.Mod)):
            return Code(_guarded_division(rule, a.run, b.run, self.site(node)), t)
        return Code(_binary_run(rule, a.run, b.run, t), t)

    def _Compare(self, node: ast.Compare) -> Code:
        operands = [self.scalar(n) for n in (node.left, *node.comparators)]
        pairs = zip(operands, operands[1:], node.ops, strict=False)
        parts = [self._comparison(node, a, b, op) for a, b, op in pairs]
        return parts[0] if len(parts) == 1 else _all_of(parts)

    def _comparison(self, node: ast.Compare, left: Code, right: Code, op: ast.cmpop) -> Code:
        if type(op) not in COMPARE:
            self.refuse(node, f"{ast.unparse(node)!r}: a kernel compares numbers with ==, !=, <, <=, > and >=")
        self.cost.slots += 1
        if not (is_integer(left.type) and is_integer(right.type)):
            t = types.arithmetic(left.type, right.type)
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
            code, charge = self.apart(lambda value=value: truth(self.scalar(value)), node, apart=i > 0)
            parts.append((code.run, charge))
            conditions.append(code)
        stop_at = isinstance(node.op, ast.Or)

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
        test = truth(self.scalar(node.test))
        self.cost.slots += 1
        yes, charge_yes = self.apart(lambda: self.expression(node.body), node)
        no, charge_no = self.apart(lambda: self.expression(node.orelse), node)
        t = types.unify(yes.type, no.type)
        if is_scalar(t):
            yes, no = converted(yes, t), converted(no, t)

        def run(frame, mask):
            on, off = split(mask, test.run(frame, mask))
            if on is not None:
                charge_yes(frame, on)
                a = yes.run(frame, on)
                if off is None:
                    return a
            charge_no(frame, off)
            b = no.run(frame, off)
            return b if on is None else merged(on, a, b)

        return Code(run, t)

    def _Subscript(self, node: ast.Subscript) -> Code:
        base = self.expression(node.value)
        if isinstance(base.type, TupleType):
            return self._tuple_item(node, base)
        indices = self.indices(node, base)
        site, run = self.site(node), base.run
        self.cost.slots += 1
        return Code(lambda f, m: f.batch.load(run(f, m), tuple(i(f, m) for i in indices), m, site), base.type.dtype)

    def _tuple_item(self, node: ast.Subscript, base: Code) -> Code:
        index = self.constant(node.slice)
        if not isinstance(index, int) or not -len(base.type.items) <= index < len(base.type.items):
            self.refuse(node, f"{ast.unparse(node)}: a tuple is indexed by a constant within its length")
        run = base.run
        return Code(lambda f, m: run(f, m)[index], base.type.items[index])

    def indices(self, node: ast.Subscript, base: Code) -> list[Callable]:
        """The index closures of ``array[...]``, one per dimension."""
        if not isinstance(base.type, ArrayType):
            self.refuse(node, f"{ast.unparse(node.value)} is a {base.type} and cannot be indexed")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        codes = [self.expression(p) for p in parts]
        flat = [c for code in codes for c in _unpacked(code)]
        if len(flat) != base.type.ndim:
            self.refuse(
                node, f"{ast.unparse(node.value)} has {base.type.ndim} dimensions and is indexed with {len(flat)}",
                "index every dimension: a[i, j]; a part of an array is not a value in a kernel",
            )  # fmt: skip
        for code in flat:
            if not (is_scalar(code.type) and is_integer(code.type)):
                raise KernelTypeError(f"{ast.unparse(node)}: an index must be an integer, not {code.type}", self.kernel.where(node))
        return [code.run for code in flat]

    def _Slice(self, node: ast.Slice) -> Code:
        return self.refuse(node, "slices of arrays are not known to the simulator", "write a loop over the elements")

    def _Call(self, node: ast.Call) -> Code:
        function = self.static(node.func)
        if function is NotImplemented:
            self.refuse(node, f"{ast.unparse(node.func)} cannot be called in a kernel", "methods of arrays have no meaning for one thread")
        if isinstance(function, CudaName):
            return self.cuda_call(node, function.path)
        device = self.device_function(function)
        if device is not None:
            return self.call_device(node, device)
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            self.refuse(node, "functions in a kernel take plain positional arguments here")
        return self._plain_call(node, function)

    def _plain_call(self, node: ast.Call, function: object) -> Code:
        if function is len:
            return self._length(node)
        if function in (min, max):
            return self._extreme(node, function)
        if function is abs:
            return self._absolute(node)
        if function is pow:
            return self.binary(node, self.scalar(node.args[0]), ast.Pow(), self.scalar(node.args[1]))
        try:
            known = FUNCTIONS.get(function), CASTS.get(function)
        except TypeError:
            known = None, None
        if known[1] is not None:
            return self._cast(node, known[1])
        if known[0] is not None:
            return self._function(node, known[0])
        return self.refuse(node, f"{ast.unparse(node.func)} cannot be called in a kernel", _call_advice(function))

    def _arguments(self, node: ast.Call, count: int) -> list[Code]:
        if len(node.args) != count:
            self.refuse(node, f"{ast.unparse(node.func)} takes {count} argument{'s' * (count != 1)} here, not {len(node.args)}")
        return [self.scalar(a) for a in node.args]

    def _function(self, node: ast.Call, function) -> Code:
        arguments = self._arguments(node, function.arity)
        t = function.takes(*(a.type for a in arguments))
        runs = [converted(a, t).run for a in arguments]
        self.cost.slots += 1
        self.cost.flop(t, function.flops)
        compute, result = function.run, function.gives(t)
        return Code(lambda f, m: compute(*(run(f, m) for run in runs)), result)

    def _cast(self, node: ast.Call, rule: Callable) -> Code:
        (argument,) = self._arguments(node, 1)
        t = rule(argument.type)
        if not isinstance(node.args[0], ast.Constant):
            self.cost.slots += argument.type != t
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
        return self.refuse(node, "len() takes an array or a tuple in a kernel")

    def _extreme(self, node: ast.Call, function: Callable) -> Code:
        if len(node.args) < 2:
            self.refuse(node, f"{function.__name__} takes two or more numbers in a kernel", "write a loop over the array")
        arguments = [self.scalar(a) for a in node.args]
        t = arguments[0].type
        for a in arguments[1:]:
            t = types.unify(t, a.type)
        runs = [converted(a, t).run for a in arguments]
        self.cost.slots += len(runs) - 1
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
        self.cost.slots += 1
        run = argument.run
        return Code(lambda f, m: abs(run(f, m)), argument.type)


def _unpacked(code: Code) -> list[Code]:
    """An index as one code per dimension: ``a[pos]`` with a tuple ``pos`` counts as ``a[pos[0], pos[1]]``."""
    if not isinstance(code.type, TupleType):
        return [code]
    run = code.run
    return [Code(lambda f, m, i=i: run(f, m)[i], t) for i, t in enumerate(code.type.items)]


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


def _call_advice(function: object) -> str:
    if callable(function) and getattr(function, "__module__", "") not in ("builtins", "math", "numpy"):
        return "decorate it with @cuda.jit(device=True)"
    return "use math.* functions, min, max, abs, or write it out"


_ADVICE = {
    "List": "use a tuple, or cuda.local.array",
    "Dict": "use arrays and integer indices",
    "Set": "use arrays and integer indices",
    "ListComp": "write a loop",
    "GeneratorExp": "write a loop",
    "SetComp": "write a loop",
    "DictComp": "write a loop",
    "Lambda": "write a device function: @cuda.jit(device=True)",
    "JoinedStr": "a kernel has no strings",
    "Await": "a kernel has no coroutines",
    "NamedExpr": "assign on a line of its own",
    "Starred": "write the arguments out",
}
__all__ = ["Code", "Cost", "Expressions", "UnsupportedError", "constant_code", "converted", "truth"]

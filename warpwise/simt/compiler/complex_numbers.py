"""Complex numbers, complex64 and complex128, with Numba's typing.

They share most operations with real numbers; here is the rest. Counted are the real operations
behind a complex one: 2 for a sum, 6 for a product (4 instructions, as two are fused), 11 for a
quotient. A complex number is one access of 8 or 16 bytes here; Numba's compiler loads the two parts
one after the other, as it cannot know that they are aligned together, so that a GPU counts two
requests, which touch the same sectors."""

from __future__ import annotations

import ast
import cmath

import numpy as np

from warpwise.simt import types
from warpwise.simt.builtins.operations import BINARY, COMPARE
from warpwise.simt.compiler.closures import Code, converted
from warpwise.simt.types import BOOL, COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, TupleType, is_complex

#: Operator -> instructions, floating-point operations.
_COSTS = {ast.Add: (2, 2), ast.Sub: (2, 2), ast.Mult: (4, 6), ast.Div: (11, 11), ast.Pow: (1, 0)}
_SAME = "exp log log10 sqrt sin cos tan sinh cosh tanh"
_INVERSE = "asin acos atan asinh acosh atanh"
FUNCTIONS = {getattr(cmath, name): getattr(np, name) for name in _SAME.split()}
FUNCTIONS |= {getattr(cmath, name): getattr(np, f"arc{name[1:]}") for name in _INVERSE.split()}
TESTS = {cmath.isnan: np.isnan, cmath.isinf: np.isinf, cmath.isfinite: np.isfinite}
CASTS = {complex: COMPLEX128, np.complex64: COMPLEX64, np.complex128: COMPLEX128}
_REAL = "take its .real, its .imag or its abs()"


class ComplexNumbers:
    """Mixin of ``Compiler`` for complex numbers."""

    def complex_binary(self, left: Code, op: ast.operator, right: Code) -> Code:
        if type(op) not in _COSTS:
            raise types.TypeMismatch("complex numbers know +, -, *, / and **", _REAL)
        rule = BINARY[type(op)]
        t = rule.rule(left.type, right.type)
        a, b, part = converted(left, t).run, converted(right, t).run, part_type(t)
        instructions, flops = _COSTS[type(op)]
        if isinstance(op, ast.Pow):
            ufunc = np.power
            self.cost.add("special")
        else:
            ufunc = rule.ufunc
            self.cost.arithmetic(part, instructions)
        self.cost.flop(part, flops)
        return Code(lambda f, m: ufunc(a(f, m), b(f, m)), t)

    def complex_comparison(self, left: Code, right: Code, op: ast.cmpop) -> Code:
        if not isinstance(op, (ast.Eq, ast.NotEq)):
            try_this = f"compare their abs(), or {_REAL}"
            raise types.TypeMismatch("complex numbers have no order", try_this)
        t = types.comparison(left.type, right.type)
        self.cost.arithmetic(part_type(t), 2)
        a, b, ufunc = converted(left, t).run, converted(right, t).run, COMPARE[type(op)][0]
        return Code(lambda f, m: ufunc(a(f, m), b(f, m)), BOOL)

    def complex_absolute(self, argument: Code) -> Code:
        run = argument.run
        self.cost.add("special")
        return Code(lambda f, m: np.abs(run(f, m)), part_type(argument.type))

    def complex_call(self, node: ast.Call, function: object) -> Code | None:
        """Compile casts to complex types, and ``cmath``'s and NumPy's functions of complex numbers.

        None for any other function."""
        try:
            cast, compute, test = (known.get(function) for known in (CASTS, FUNCTIONS, TESTS))
        except TypeError:
            return None
        if cast is not None:
            return self._complex_cast(node, function, cast)
        if compute is not None or test is not None:
            (argument,) = self._arguments(node, 1)
            t = argument.type if is_complex(argument.type) else complex_type(argument.type)
            run, ufunc = converted(argument, t).run, compute or test
            self.cost.add("special")
            return Code(lambda f, m: ufunc(run(f, m)), BOOL if test else t)
        if function in (cmath.phase, cmath.polar, cmath.rect):
            return self._polar(node, function)
        if function in (np.conjugate, np.real, np.imag, np.angle):
            return self._of_numpy(node, function)
        return None

    def _complex_cast(self, node: ast.Call, function: object, t: np.dtype) -> Code:
        if function is complex and len(node.args) == 2:
            return self._joined_parts(self._arguments(node, 2))
        (argument,) = self._arguments(node, 1)
        if function is complex and argument.type == FLOAT32:
            t = COMPLEX64
        self.cost.add("conversion", int(argument.type != t))
        return converted(argument, t)

    def _joined_parts(self, arguments: list[Code]) -> Code:
        if any(is_complex(a.type) for a in arguments):
            raise types.TypeMismatch("complex(x, y) takes two real numbers", "x + 1j * y")
        part = FLOAT32 if all(a.type == FLOAT32 for a in arguments) else FLOAT64
        real, imaginary = (converted(a, part).run for a in arguments)
        return Code(lambda f, m: _complex(real(f, m), imaginary(f, m), part), complex_type(part))

    def _polar(self, node: ast.Call, function: object) -> Code:
        self.cost.add("special")
        if function is cmath.rect:
            parts = self._arguments(node, 2)
            part = FLOAT32 if all(a.type == FLOAT32 for a in parts) else FLOAT64
            radius, angle = (converted(a, part).run for a in parts)

            def rect(frame, mask):
                r, phi = radius(frame, mask), angle(frame, mask)
                return _complex(r * np.cos(phi), r * np.sin(phi), part)

            return Code(rect, complex_type(part))
        (argument,) = self._arguments(node, 1)
        t = argument.type if is_complex(argument.type) else complex_type(argument.type)
        run, part = converted(argument, t).run, part_type(t)
        if function is cmath.phase:
            return Code(lambda f, m: np.angle(run(f, m)), part)

        def polar(frame, mask):
            value = run(frame, mask)
            return np.abs(value), np.angle(value)

        return Code(polar, TupleType((part, part)))

    def _of_numpy(self, node: ast.Call, function: object) -> Code:
        (argument,) = self._arguments(node, 1)
        if function in (np.real, np.imag):
            return self.part_of_number(argument, function.__name__)
        if not is_complex(argument.type):
            what = f"{ast.unparse(node.func)} takes a complex number here"
            raise types.TypeMismatch(what, "make it one: complex(x)")
        run, is_conjugate = argument.run, function is np.conjugate
        t = argument.type if is_conjugate else part_type(argument.type)
        return Code(lambda f, m: function(run(f, m)), t)

    def need_real(self, node: ast.Call, arguments: list[Code]) -> None:
        """Refuse complex arguments of a function of real numbers."""
        if any(is_complex(a.type) for a in arguments):
            name = ast.unparse(node.func)
            function = name.rpartition(".")[2]
            try_this = f"cmath.{function}(z)" if hasattr(cmath, function) else _REAL
            raise types.TypeMismatch(f"{name} does not take complex numbers", try_this)


def _complex(real, imaginary, part: np.dtype):
    real, imaginary = np.broadcast_arrays(real, imaginary)
    out = np.empty(real.shape, complex_type(part))
    out.real, out.imag = real, imaginary
    return out[()]


def part_type(t: np.dtype) -> np.dtype:
    """Return the type of the real part."""
    return FLOAT32 if t == COMPLEX64 else FLOAT64


def complex_type(t: np.dtype) -> np.dtype:
    """Return the complex type for a real one, as ``cmath`` takes it."""
    return COMPLEX64 if t == FLOAT32 else COMPLEX128

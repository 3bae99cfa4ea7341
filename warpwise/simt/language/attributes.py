"""Attributes of values in a kernel: ``a.shape``, ``a.T``, ``z.real``, ``rec.x``, ``v.w``, ``point.y``; and the methods that make views."""

from __future__ import annotations

import ast

import numpy as np

from warpwise.errors import KernelTypeError, UndefinedNameError
from warpwise.simt import types
from warpwise.simt.language import advice
from warpwise.simt.language.compiled import Code, cast_code, constant_code
from warpwise.simt.language.subscripts import MOST_AXES, Element
from warpwise.simt.language.vectors import VectorType
from warpwise.simt.machine.records import RecordType
from warpwise.simt.machine.views import part_of, reshaped, retyped, transposed
from warpwise.simt.types import INT64, ArrayType, TupleType, is_complex, is_integer, is_scalar

READ = ("shape", "size", "ndim", "T", "strides", "itemsize", "nbytes")


class Attributes:
    """The part of the compiler that knows attributes; mixed into ``compiler.Compiler``."""

    def _Attribute(self, node: ast.Attribute) -> Code:
        value = self.static(node)
        if value is not NotImplemented:
            return self.static_code(node, value)
        found = self.attribute(node)
        return self.read(node, found) if isinstance(found, Element) else found

    def attribute(self, node: ast.Attribute) -> Element | Code:
        """What an attribute of a value stands for: a field of a record is an element of memory."""
        base = self.expression(node.value)
        t = base.type
        if isinstance(t, RecordType) or (isinstance(t, ArrayType) and node.attr in (t.dtype.names or ())):
            return self.field(node, base, node.attr)
        if isinstance(t, ArrayType):
            return self._of_array(node, base)
        if isinstance(t, VectorType):
            return self.vector_part(node, base)
        if isinstance(t, TupleType) and node.attr in t.names:
            run, i = base.run, t.names.index(node.attr)
            return Code(lambda f, m: run(f, m)[i], t.items[i])
        if is_scalar(t) and node.attr in ("real", "imag"):
            return self.part_of_number(base, node.attr)
        what = f"{ast.unparse(node)}: {ast.unparse(node.value)} is {types.described(t)} and has no attribute {node.attr!r}"
        return self.refuse(node, what, _instead(node, t))

    def _of_array(self, node: ast.Attribute, base: Code) -> Code:
        run, t, name = base.run, base.type, node.attr
        if name in ("size", "shape"):
            return Code(lambda f, m: getattr(run(f, m), name), INT64 if name == "size" else TupleType((INT64,) * t.ndim))
        if name == "ndim":
            return constant_code(t.ndim)
        if name == "itemsize":
            return constant_code(t.dtype.itemsize)
        if name == "nbytes":
            return Code(lambda f, m: run(f, m).size * t.dtype.itemsize, INT64)
        if name == "strides":
            return Code(lambda f, m: _strides(run(f, m)), TupleType((INT64,) * t.ndim))
        if name == "T":
            return Code(lambda f, m: transposed(run(f, m)), t)
        if name in ("real", "imag") and is_complex(t.dtype):
            part = np.dtype(f"f{t.dtype.itemsize // 2}")
            offset = part.itemsize * (name == "imag")
            return Code(lambda f, m: part_of(run(f, m), name, part, offset), ArrayType(part, t.ndim, t.space))
        return self._refuse_of_array(node)

    def _refuse_of_array(self, node: ast.Attribute):
        array, text = ast.unparse(node.value), ast.unparse(node)
        if node.attr == "dtype":
            self.refuse(node, f"{text} is no number", f"{text}.type(x) makes a number of this type; cuda.local.array(4, {text}) an array")
        if node.attr == "flat":
            self.refuse(node, f"{text} needs an index in a kernel", f"{text}[i], for i in range({array}.size)")
        near = advice.nearest(node.attr, READ)
        if near:
            meant = f"{array}.{near}"
            self.refuse(node, f"{text} is not defined; did you mean {meant}?", f"write {meant}", UndefinedNameError)
        what = f"{text}: an array has no {node.attr!r} in a kernel"
        return self.refuse(node, what, "shape, size, ndim, T, strides and nbytes can be read")

    def part_of_number(self, base: Code, part: str) -> Code:
        """``z.real`` and ``z.imag``; a real number has them too."""
        run, t = base.run, base.type
        if is_complex(t):
            wanted = np.dtype(f"f{t.itemsize // 2}")
            return Code(lambda f, m: getattr(np.asarray(run(f, m)), part)[()], wanted)
        return base if part == "real" else Code(lambda f, m: types.cast(0, t), t)

    # --- methods ---

    def method_call(self, node: ast.Call) -> Code | None:
        """``a.reshape(2, 3)`` and the like; None if this is no method that a kernel can call."""
        if not isinstance(node.func, ast.Attribute):
            return None
        dtype = self.dtype_of(node.func.value)
        if dtype is not None and node.func.attr == "type" and len(node.args) == 1 and dtype in types.SCALARS:
            return self.cast_to(node, dtype)
        name = node.func.attr
        if node.keywords or name not in ("conjugate", "transpose", "reshape", "view", "fill"):
            return None
        base = self.expression(node.func.value)
        if is_scalar(base.type):
            return self._conjugate(base) if name == "conjugate" and not node.args else None
        method = None if name == "conjugate" or not isinstance(base.type, ArrayType) else getattr(self, f"_array_{name}")
        return method and method(node, base)

    def dtype_of(self, node: ast.expr) -> np.dtype | None:
        """The element type that ``a.dtype`` names; None for anything else."""
        if not isinstance(node, ast.Attribute) or node.attr != "dtype" or self.static(node) is not NotImplemented:
            return None
        base = self.expression(node.value)
        return base.type.dtype if isinstance(base.type, ArrayType) else None

    def cast_to(self, node: ast.Call, dtype: np.dtype) -> Code:
        argument = self.scalar(node.args[0])
        if is_complex(argument.type):
            raise types.TypeMismatch("a complex number is no real one", "take its .real, its .imag or its abs()")
        self.cost.add("conversion", int(argument.type != dtype))
        return cast_code(argument.run, dtype)

    def _conjugate(self, base: Code) -> Code:
        run = base.run
        return Code(lambda f, m: np.conjugate(run(f, m)), base.type) if is_complex(base.type) else base

    def _array_transpose(self, node: ast.Call, base: Code) -> Code:
        if node.args:
            what = f"{ast.unparse(node)}: transpose takes no axes in a kernel"
            self.refuse(node, what, f"{ast.unparse(node.func)}(), or swap the indices")
        run = base.run
        return Code(lambda f, m: transposed(run(f, m)), base.type)

    def _array_reshape(self, node: ast.Call, base: Code) -> Code:
        codes = [self.expression(a) for a in node.args]
        if len(codes) == 1 and isinstance(codes[0].type, TupleType):
            kinds, shape = codes[0].type.items, codes[0].run
        else:
            kinds, runs = [c.type for c in codes], [c.run for c in codes]

            def shape(frame, mask):
                return tuple(run(frame, mask) for run in runs)

        if not kinds or len(kinds) > MOST_AXES or not all(is_integer(t) for t in kinds):
            what = f"{ast.unparse(node)}: a shape is made of integers"
            raise KernelTypeError(what, self.kernel.where(node), f"{ast.unparse(node.func)}(4, 8), or -1 for what is left over")
        run, site = base.run, self.site(node)
        t = ArrayType(base.type.dtype, len(kinds), base.type.space)
        return Code(lambda f, m: reshaped(run(f, m), shape(f, m), site), t)

    def _array_view(self, node: ast.Call, base: Code) -> Code | None:
        if len(node.args) != 1 or base.type.dtype.names:
            return None
        dtype, run, site = self.element_type(node.args[0]), base.run, self.site(node)
        if dtype.names:
            what = f"{ast.unparse(node)}: an array cannot be seen as records here"
            self.refuse(node, what, "pass it to the kernel as an array of records")
        return Code(lambda f, m: retyped(run(f, m), dtype, site), ArrayType(dtype, base.type.ndim, base.type.space))

    def _array_fill(self, node: ast.Call, base: Code) -> Code | None:
        """``a.fill(x)``, which is ``a[:] = x``."""
        if len(node.args) != 1:
            return None
        value = self.scalar(node.args[0])
        put = self.filling(node.func.value, base, value.type)
        return Code(lambda f, m: put(f, value.run(f, m), m), types.NONE)


def _strides(array) -> tuple[int, ...]:
    return tuple(n * array.step for n in array.strides)


def _instead(node: ast.Attribute, t) -> str:
    text = ast.unparse(node.value)
    if is_scalar(t):
        return f"use {text} as it is"
    if isinstance(t, TupleType) and t.names:
        return f"it has {', '.join(t.names)}"
    return "take an item by its index: [0]"

"""Attributes of values in a kernel, and the methods of arrays.

``a.shape``, ``a.T``, ``z.real``, ``rec.x``, ``v.w``, ``point.y``; ``a.reshape(2, 3)``."""

from __future__ import annotations

import ast

import numpy as np

from warpwise.errors import KernelTypeError, UndefinedNameError
from warpwise.simt import types
from warpwise.simt.compiler import advice
from warpwise.simt.compiler.closures import Code, cast_code, constant_code
from warpwise.simt.compiler.subscripts import MOST_AXES, Element
from warpwise.simt.compiler.vectors import VectorType
from warpwise.simt.machine.derived_views import part_of, reshaped, retyped, transposed
from warpwise.simt.machine.structured_records import RecordType
from warpwise.simt.types import INT64, ArrayType, TupleType, is_complex, is_integer, is_scalar

READ = ("shape", "size", "ndim", "T", "strides", "itemsize", "nbytes")


class Attributes:
    """Mixin of ``Compiler`` for attributes."""

    def _Attribute(self, node: ast.Attribute) -> Code:
        value = self.static(node)
        if value is not NotImplemented:
            return self.static_code(node, value)
        found = self.attribute(node)
        return self.read(node, found) if isinstance(found, Element) else found

    def attribute(self, node: ast.Attribute) -> Element | Code:
        """Compile an attribute; a field of a record is an element of memory."""
        base = self.expression(node.value)
        t = base.type
        fields = t.dtype.names or () if isinstance(t, ArrayType) else ()
        if isinstance(t, RecordType) or node.attr in fields:
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
        owner = f"{ast.unparse(node.value)} is {types.described(t)}"
        what = f"{ast.unparse(node)}: {owner} and has no attribute {node.attr!r}"
        return self.refuse(node, what, _instead(node, t))

    def _of_array(self, node: ast.Attribute, base: Code) -> Code:
        run, t, name = base.run, base.type, node.attr
        sizes = TupleType((INT64,) * t.ndim)
        if name == "size":
            return Code(lambda f, m: run(f, m).size, INT64)
        if name == "shape":
            return Code(lambda f, m: run(f, m).shape, sizes)
        if name == "ndim":
            return constant_code(t.ndim)
        if name == "itemsize":
            return constant_code(t.dtype.itemsize)
        if name == "nbytes":
            return Code(lambda f, m: run(f, m).size * t.dtype.itemsize, INT64)
        if name == "strides":
            return Code(lambda f, m: _strides(run(f, m)), sizes)
        if name == "T":
            return Code(lambda f, m: transposed(run(f, m)), t)
        if name in ("real", "imag") and is_complex(t.dtype):
            part = np.dtype(f"f{t.dtype.itemsize // 2}")
            offset = part.itemsize * (name == "imag")
            t = ArrayType(part, t.ndim, t.space)
            return Code(lambda f, m: part_of(run(f, m), name, part, offset), t)
        return self._refuse_of_array(node)

    def _refuse_of_array(self, node: ast.Attribute):
        array, text = ast.unparse(node.value), ast.unparse(node)
        if node.attr == "dtype":
            number, array = f"{text}.type(x)", f"cuda.local.array(4, {text})"
            try_this = f"{number} makes a number of this type; {array} an array"
            self.refuse(node, f"{text} is no number", try_this)
        if node.attr == "flat":
            try_this = f"{text}[i], for i in range({array}.size)"
            self.refuse(node, f"{text} needs an index in a kernel", try_this)
        near = advice.nearest(node.attr, READ)
        if near:
            what = f"{text} is not defined; did you mean {array}.{near}?"
            self.refuse(node, what, f"write {array}.{near}", UndefinedNameError)
        what = f"{text}: an array has no {node.attr!r} in a kernel"
        return self.refuse(node, what, "shape, size, ndim, T, strides and nbytes can be read")

    def part_of_number(self, base: Code, part: str) -> Code:
        """Compile ``z.real`` and ``z.imag``; a real number has them too."""
        run, t = base.run, base.type
        if is_complex(t):
            wanted = np.dtype(f"f{t.itemsize // 2}")
            return Code(lambda f, m: getattr(np.asarray(run(f, m)), part)[()], wanted)
        return base if part == "real" else Code(lambda f, m: types.cast(0, t), t)

    # --- methods ---

    def method_call(self, node: ast.Call) -> Code | None:
        """Compile ``a.reshape(2, 3)`` and the like; None if a kernel has no such method."""
        if not isinstance(node.func, ast.Attribute):
            return None
        dtype, name = self.dtype_of(node.func.value), node.func.attr
        is_cast = name == "type" and len(node.args) == 1
        if is_cast and dtype is not None and dtype in types.SCALARS:
            return self.cast_to(node, dtype)
        if node.keywords or name not in ("conjugate", "transpose", "reshape", "view", "fill"):
            return None
        base = self.expression(node.func.value)
        if is_scalar(base.type):
            return self._conjugate(base) if name == "conjugate" and not node.args else None
        if name == "conjugate" or not isinstance(base.type, ArrayType):
            return None
        return getattr(self, f"_array_{name}")(node, base)

    def dtype_of(self, node: ast.expr) -> np.dtype | None:
        """Return the element type that ``a.dtype`` names; None for anything else."""
        is_dtype = isinstance(node, ast.Attribute) and node.attr == "dtype"
        if not is_dtype or self.static(node) is not NotImplemented:
            return None
        base = self.expression(node.value)
        return base.type.dtype if isinstance(base.type, ArrayType) else None

    def cast_to(self, node: ast.Call, dtype: np.dtype) -> Code:
        argument = self.scalar(node.args[0])
        if is_complex(argument.type):
            try_this = "take its .real, its .imag or its abs()"
            raise types.TypeMismatch("a complex number is no real one", try_this)
        self.cost.add("conversion", int(argument.type != dtype))
        return cast_code(argument.run, dtype)

    def _conjugate(self, base: Code) -> Code:
        if not is_complex(base.type):
            return base
        run = base.run
        return Code(lambda f, m: np.conjugate(run(f, m)), base.type)

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

        if not kinds or len(kinds) > MOST_AXES or not all(map(is_integer, kinds)):
            what = f"{ast.unparse(node)}: a shape is made of integers"
            try_this = f"{ast.unparse(node.func)}(4, 8), or -1 for what is left over"
            self.refuse(node, what, try_this, KernelTypeError)
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
        t = ArrayType(dtype, base.type.ndim, base.type.space)
        return Code(lambda f, m: retyped(run(f, m), dtype, site), t)

    def _array_fill(self, node: ast.Call, base: Code) -> Code | None:
        """Compile ``a.fill(x)``, which is ``a[:] = x``."""
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

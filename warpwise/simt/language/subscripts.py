"""``array[...]`` in a kernel: elements, slices and partial indices, fields of records by name, and records.

A subscript is an element of memory, which can be read and written, or a value: a view, an item of a tuple. What a view shows is
decided when it is made. Assignment is in ``stores``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.simt import types
from warpwise.simt.language import advice
from warpwise.simt.language.compiled import Code
from warpwise.simt.language.vectors import VectorType
from warpwise.simt.machine.records import RecordType
from warpwise.simt.machine.views import NEW_AXIS, Bounds, part_of, sliced
from warpwise.simt.types import ArrayType, TupleType, is_integer, is_scalar

MOST_AXES = 32
BOUNDS, NEW, REST = object(), object(), object()  # types of parts of a subscript that are no numbers


@dataclass(frozen=True)
class Element:
    """One number in memory: the closures of its array and of its indices, one for each dimension."""

    dtype: np.dtype
    space: str
    array: Callable
    indices: list[Callable]


class Subscripts:
    """The part of the compiler that knows subscripts; mixed into ``compiler.Compiler``."""

    def _Subscript(self, node: ast.Subscript) -> Code:
        found = self.subscript(node)
        return self.read(node, found) if isinstance(found, Element) else found

    def subscript(self, node: ast.Subscript) -> Element | Code:
        """What a subscript stands for."""
        if isinstance(node.value, ast.Attribute) and node.value.attr == "flat" and self.static(node.value) is NotImplemented:
            return self._flat(node)
        base = self.expression(node.value)
        if isinstance(base.type, RecordType):
            return self.field(node, base, self._field_name(node))
        if isinstance(base.type, TupleType):
            return self.tuple_item(node, base)
        if isinstance(base.type, ArrayType) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return self.field(node, base, node.slice.value)
        parts = self._index_parts(node, base)
        if all(is_scalar(part.type) for part in parts) and len(parts) == base.type.ndim and base.type.dtype.names is None:
            return Element(base.type.dtype, base.type.space, base.run, [part.run for part in parts])
        return self._view(node, base, parts)

    def read(self, node: ast.AST, element: Element) -> Code:
        """The load of an element."""
        site, run, indices = self.site(node), element.array, element.indices
        self.cost.add("memory")
        return Code(lambda f, m: f.batch.load(run(f, m), [i(f, m) for i in indices], m, site), element.dtype)

    def indices(self, node: ast.Subscript, base: Code) -> list[Callable]:
        """The index closures of ``array[...]``, one per dimension, where an element is needed."""
        parts = self._index_parts(node, base)
        if len(parts) != base.type.ndim or not all(is_scalar(part.type) for part in parts):
            self._refuse_count(node, base, len(parts))
        return [part.run for part in parts]

    # --- what stands between the brackets ---

    def _index_parts(self, node: ast.Subscript, base: Code) -> list[Code]:
        """One code for each part: an integer, a slice (of type BOUNDS), or a new axis (of type NEW)."""
        if not isinstance(base.type, ArrayType):
            what = f"{ast.unparse(node.value)} is {types.described(base.type)} and cannot be indexed"
            self.refuse(node, what, self._no_index(node, base))
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        parts = [part for one in nodes for part in self._part(node, one, base.type.ndim)]
        taken = sum(part.type is not NEW for part in parts if part.type is not REST)
        if taken > base.type.ndim:
            self._refuse_count(node, base, taken)
        return self._without_rest(node, parts, base.type.ndim - taken)

    def _no_index(self, node: ast.Subscript, base: Code) -> str:
        name = ast.unparse(node.value)
        return f"{name}.x, .y ..." if isinstance(base.type, VectorType) else f"use {name} without [ ]: only arrays and tuples have elements"

    def _part(self, node: ast.Subscript, part: ast.expr, ndim: int) -> list[Code]:
        if isinstance(part, ast.Slice):
            return [self._bounds(part)]
        if isinstance(part, ast.Constant) and part.value is Ellipsis:
            return [Code(None, REST)]
        code = self.expression(part)
        if code.type is types.NONE:
            return [Code(lambda f, m: NEW_AXIS, NEW)]
        if isinstance(code.type, TupleType) and isinstance(node.slice, ast.Tuple):
            text, count = ast.unparse(part), len(code.type.items)
            described = f"a pair of indices: {text}[0] is one" if count == 2 else f"a tuple of {count}: {text}[0] is one of them"
            self.refuse(node, f"{ast.unparse(node)}: {text} is {described}", advice.on_pair(node, part, count, ndim, self.kernel.tree))
        codes = _unpacked(code)
        for one in codes:
            if not is_integer(one.type):
                what = f"{ast.unparse(node)}: an index must be an integer, not {one.type}"
                raise KernelTypeError(what, self.kernel.where(node), advice.on_index(part, one.type))
        return codes

    def _bounds(self, part: ast.Slice) -> Code:
        step = 1 if part.step is None else self.constant(part.step)
        if not isinstance(step, int) or step == 0:
            self.refuse(part, f"{ast.unparse(part)}: the step of a slice is a constant integer other than 0 here", "a[i * step] in a loop")
        start, stop = (None if end is None else self._index(end) for end in (part.lower, part.upper))
        self.cost.add("integer", 2)
        return Code(lambda f, m: Bounds(start and start(f, m), stop and stop(f, m), step), BOUNDS)

    def _index(self, node: ast.expr) -> Callable:
        code = self.scalar(node)
        if not is_integer(code.type):
            what = f"{ast.unparse(node)}: the ends of a slice are integers, not {code.type}"
            raise KernelTypeError(what, self.kernel.where(node), advice.on_index(node, code.type))
        return code.run

    def _without_rest(self, node: ast.Subscript, parts: list[Code], missing: int) -> list[Code]:
        """``...`` as the full slices that it stands for."""
        rest = [i for i, part in enumerate(parts) if part.type is REST]
        if len(rest) > 1:
            self.refuse(node, f"{ast.unparse(node)}: only one ... can stand between the brackets", "write : for each axis")
        if not rest:
            return parts
        full = Code(lambda f, m: Bounds(None, None), BOUNDS)
        return [*parts[: rest[0]], *[full] * missing, *parts[rest[0] + 1 :]]

    def _refuse_count(self, node: ast.Subscript, base: Code, count: int):
        name, ndim = ast.unparse(node.value), base.type.ndim
        what = f"{name} has {ndim} dimension{'s' * (ndim != 1)} and is indexed with {count}"
        return self.refuse(node, what, advice.on_count_of_indices(node, ndim, self.kernel.tree))

    # --- what comes of it ---

    def _view(self, node: ast.Subscript, base: Code, parts: list[Code]) -> Code:
        """A slice, a row, or a record: a view of the array."""
        axes = base.type.ndim - sum(is_scalar(part.type) for part in parts) + sum(part.type is NEW for part in parts)
        if axes > MOST_AXES:
            self.refuse(node, f"{ast.unparse(node)[:60]}: an array has at most {MOST_AXES} dimensions", "fewer new axes")
        run, runs, site, name = base.run, [part.run for part in parts], self.site(node), ast.unparse(node)[:60]
        self.cost.add("integer")

        def view(frame, mask):
            array = run(frame, mask)

            def check(index, size, axis):
                return frame.batch.checked(array, index, size, axis, mask, site)

            return sliced(array, [part(frame, mask) for part in runs], name, check)

        if axes == 0:
            return Code(view, RecordType(base.type.dtype, base.type.space))
        return Code(view, ArrayType(base.type.dtype, axes, base.type.space))

    def _flat(self, node: ast.Subscript) -> Element:
        """``a.flat[i]``: the index counts elements in C order."""
        base, index = self.expression(node.value.value), self._index(node.slice)
        if not isinstance(base.type, ArrayType) or base.type.dtype.names:
            self.refuse(node, f"{ast.unparse(node.value)} is not defined", "only arrays of numbers have .flat")
        run, ndim = base.run, base.type.ndim
        self.cost.add("integer", ndim)

        def along(axis: int) -> Callable:
            def place(frame, mask):
                shape, i = run(frame, mask).shape, index(frame, mask)
                for size in reversed(shape[axis + 1 :]):
                    i = i // np.maximum(size, 1) if isinstance(i, np.ndarray) else int(i) // max(size, 1)
                return i if axis == 0 else i % max(shape[axis], 1)

            return place

        return Element(base.type.dtype, base.type.space, run, [along(axis) for axis in range(ndim)])

    def _field_name(self, node: ast.Subscript) -> str:
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return node.slice.value
        return self.refuse(node, f"{ast.unparse(node)}: a record is indexed by the name of a field", f"{ast.unparse(node.value)}['x']")

    def field(self, node: ast.AST, base: Code, name: str) -> Element | Code:
        """A field of a record, or of every record of an array."""
        dtype = base.type.dtype
        if dtype.names is None or name not in dtype.names:
            known = ", ".join(dtype.names or ())
            what = f"{ast.unparse(node)}: {ast.unparse(node.value)} is {types.described(base.type)} and has no field {name!r}"
            self.refuse(node, what, f"its fields are {known}" if known else "only arrays of records have fields")
        part, offset = dtype.fields[name][:2]
        if isinstance(base.type, RecordType) and not part.base.names and offset % part.base.alignment:
            what = f"{ast.unparse(node)}: {name} lies {offset} bytes into its record, where {part.base} is not aligned"
            self.refuse(node, what, "np.dtype([...], align=True), or the widest fields first: the compiler refuses this one")
        run, space, ndim = base.run, base.type.space, getattr(base.type, "ndim", 0) + len(part.shape)

        def view(frame, mask):
            return part_of(run(frame, mask), name, part, offset)

        if ndim:
            return Code(view, ArrayType(part.base, ndim, space))
        return Code(view, RecordType(part.base, space)) if part.names else Element(part.base, space, view, [])

def _unpacked(code: Code) -> list[Code]:
    """An index as one code per dimension: ``a[pos]`` with a tuple ``pos`` counts as ``a[pos[0], pos[1]]``."""
    if not isinstance(code.type, TupleType):
        return [code]
    run = code.run
    return [Code(lambda f, m, i=i: run(f, m)[i], t) for i, t in enumerate(code.type.items)]

"""``array[...]`` in a kernel: elements, slices, partial indices, records, and fields by name.

A subscript is an element of memory, which can be read and written, or a value: a view, an item of a
tuple. The bounds of a view are fixed when it is made. Assignment is in ``stores``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.simt import types
from warpwise.simt.compiler import advice
from warpwise.simt.compiler.closures import Code, items_of
from warpwise.simt.compiler.vectors import VectorType
from warpwise.simt.machine.derived_views import NEW_AXIS, Bounds, part_of, sliced
from warpwise.simt.machine.structured_records import RecordType
from warpwise.simt.types import ArrayType, TupleType, is_integer, is_scalar

MOST_AXES = 32
# types of the parts of a subscript that are not numbers
BOUNDS, NEW, REST = object(), object(), object()


@dataclass(frozen=True)
class Element:
    """A number in memory: the closures of its array and of one index for each dimension."""

    dtype: np.dtype
    space: str
    array: Callable
    indices: list[Callable]


class Subscripts:
    """Mixin of ``Compiler`` for subscripts."""

    def _Subscript(self, node: ast.Subscript) -> Code:
        found = self.subscript(node)
        return self.read(node, found) if isinstance(found, Element) else found

    def subscript(self, node: ast.Subscript) -> Element | Code:
        """Compile a subscript to an element of memory or a value."""
        is_flat = isinstance(node.value, ast.Attribute) and node.value.attr == "flat"
        if is_flat and self.static(node.value) is NotImplemented:
            return self._flat(node)
        base = self.expression(node.value)
        t, name = base.type, _text_in(node.slice)
        if isinstance(t, RecordType):
            if name is None:
                what = f"{ast.unparse(node)}: a record is indexed by the name of a field"
                self.refuse(node, what, f"{ast.unparse(node.value)}['x']")
            return self.field(node, base, name)
        if isinstance(t, TupleType):
            return self.tuple_item(node, base)
        if isinstance(t, ArrayType) and name is not None:
            return self.field(node, base, name)
        parts = self._index_parts(node, base)
        is_element = len(parts) == t.ndim and all(is_scalar(part.type) for part in parts)
        if is_element and t.dtype.names is None:
            return Element(t.dtype, t.space, base.run, [part.run for part in parts])
        return self._view(node, base, parts)

    def read(self, node: ast.AST, element: Element) -> Code:
        """Compile the load of an element."""
        site, array, indices = self.site(node), element.array, element.indices
        self.cost.add("memory")

        def load(frame, mask):
            places = [i(frame, mask) for i in indices]
            return frame.batch.memory.load(array(frame, mask), places, mask, site)

        return Code(load, element.dtype)

    def indices(self, node: ast.Subscript, base: Code) -> list[Callable]:
        """Compile the indices of ``array[...]``, one per dimension, where an element is needed."""
        parts = self._index_parts(node, base)
        if len(parts) != base.type.ndim or not all(is_scalar(part.type) for part in parts):
            self._refuse_count(node, base, len(parts))
        return [part.run for part in parts]

    # --- what stands between the brackets ---

    def _index_parts(self, node: ast.Subscript, base: Code) -> list[Code]:
        """Compile each part: an integer, a slice (type BOUNDS), or a new axis (type NEW)."""
        if not isinstance(base.type, ArrayType):
            name = ast.unparse(node.value)
            what = f"{name} is {types.described(base.type)} and cannot be indexed"
            plain = f"use {name} without [ ]: only arrays and tuples have elements"
            is_vector = isinstance(base.type, VectorType)
            self.refuse(node, what, f"{name}.x, .y ..." if is_vector else plain)
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        parts = [part for one in nodes for part in self._part(node, one, base.type.ndim)]
        taken = sum(part.type is not NEW for part in parts if part.type is not REST)
        if taken > base.type.ndim:
            self._refuse_count(node, base, taken)
        return self._without_rest(node, parts, base.type.ndim - taken)

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
            is_pair = count == 2
            kind = "a pair of indices" if is_pair else f"a tuple of {count}"
            what = f"{ast.unparse(node)}: {text} is {kind}: {text}[0] is one"
            try_this = advice.on_pair(node, part, count, ndim, self.kernel.tree)
            self.refuse(node, what if is_pair else f"{what} of them", try_this)
        # ``a[pos]`` with a tuple ``pos`` counts as ``a[pos[0], pos[1]]``
        codes = items_of(code) if isinstance(code.type, TupleType) else [code]
        for one in codes:
            if not is_integer(one.type):
                what = f"{ast.unparse(node)}: an index must be an integer, not {one.type}"
                self.refuse(node, what, advice.on_index(part, one.type), KernelTypeError)
        return codes

    def _bounds(self, part: ast.Slice) -> Code:
        step = 1 if part.step is None else self.constant(part.step)
        if not isinstance(step, int) or step == 0:
            what = f"{ast.unparse(part)}: the step of a slice is a constant integer other than 0"
            self.refuse(part, f"{what} here", "a[i * step] in a loop")
        ends = part.lower, part.upper
        start, stop = (None if end is None else self._index(end) for end in ends)
        self.cost.add("integer", 2)
        return Code(lambda f, m: Bounds(start and start(f, m), stop and stop(f, m), step), BOUNDS)

    def _index(self, node: ast.expr) -> Callable:
        code = self.scalar(node)
        if not is_integer(code.type):
            what = f"{ast.unparse(node)}: the ends of a slice are integers, not {code.type}"
            self.refuse(node, what, advice.on_index(node, code.type), KernelTypeError)
        return code.run

    def _without_rest(self, node: ast.Subscript, parts: list[Code], missing: int) -> list[Code]:
        """Replace ``...`` by the full slices that it stands for."""
        rest = [i for i, part in enumerate(parts) if part.type is REST]
        if len(rest) > 1:
            what = f"{ast.unparse(node)}: only one ... can stand between the brackets"
            self.refuse(node, what, "write : for each axis")
        if not rest:
            return parts
        full = Code(lambda f, m: Bounds(None, None), BOUNDS)
        return [*parts[: rest[0]], *[full] * missing, *parts[rest[0] + 1 :]]

    def _refuse_count(self, node: ast.Subscript, base: Code, count: int):
        name, ndim = ast.unparse(node.value), base.type.ndim
        what = f"{name} has {ndim} dimension{'s' * (ndim != 1)} and is indexed with {count}"
        return self.refuse(node, what, advice.on_count_of_indices(node, ndim, self.kernel.tree))

    # --- views and fields ---

    def _view(self, node: ast.Subscript, base: Code, parts: list[Code]) -> Code:
        """Compile a slice, a row, or a record: a view of the array."""
        name, taken = ast.unparse(node)[:60], sum(is_scalar(part.type) for part in parts)
        axes = base.type.ndim - taken + sum(part.type is NEW for part in parts)
        if axes > MOST_AXES:
            what = f"{name}: an array has at most {MOST_AXES} dimensions"
            self.refuse(node, what, "fewer new axes")
        run, runs, site = base.run, [part.run for part in parts], self.site(node)
        self.cost.add("integer")

        def view(frame, mask):
            array = run(frame, mask)

            def check(index, size, axis):
                return frame.batch.memory.checked(array, index, size, axis, mask, site)

            return sliced(array, [part(frame, mask) for part in runs], name, check)

        if axes == 0:
            return Code(view, RecordType(base.type.dtype, base.type.space))
        return Code(view, ArrayType(base.type.dtype, axes, base.type.space))

    def _flat(self, node: ast.Subscript) -> Element:
        """Compile ``a.flat[i]``: the index counts elements in C order."""
        base, index = self.expression(node.value.value), self._index(node.slice)
        if not isinstance(base.type, ArrayType) or base.type.dtype.names:
            what = f"{ast.unparse(node.value)} is not defined"
            self.refuse(node, what, "only arrays of numbers have .flat")
        run, ndim = base.run, base.type.ndim
        self.cost.add("integer", ndim)

        def along(axis: int) -> Callable:
            def place(frame, mask):
                shape, i = run(frame, mask).shape, index(frame, mask)
                for size in reversed(shape[axis + 1 :]):
                    lanes = isinstance(i, np.ndarray)
                    i = i // np.maximum(size, 1) if lanes else int(i) // max(size, 1)
                return i if axis == 0 else i % max(shape[axis], 1)

            return place

        return Element(base.type.dtype, base.type.space, run, [along(axis) for axis in range(ndim)])

    def field(self, node: ast.AST, base: Code, name: str) -> Element | Code:
        """Compile a field of a record, or of every record of an array."""
        dtype, text = base.type.dtype, ast.unparse(node)
        if dtype.names is None or name not in dtype.names:
            known = ", ".join(dtype.names or ())
            owner = f"{ast.unparse(node.value)} is {types.described(base.type)}"
            try_this = f"its fields are {known}" if known else "only arrays of records have fields"
            self.refuse(node, f"{text}: {owner} and has no field {name!r}", try_this)
        part, offset = dtype.fields[name][:2]
        is_number = isinstance(base.type, RecordType) and not part.base.names
        if is_number and offset % part.base.alignment:
            place = f"{name} lies {offset} bytes into its record"
            what = f"{text}: {place}, where {part.base} is not aligned"
            try_this = "np.dtype([...], align=True), or the widest fields first"
            self.refuse(node, what, f"{try_this}: the compiler refuses this one")
        run, space = base.run, base.type.space
        ndim = getattr(base.type, "ndim", 0) + len(part.shape)

        def view(frame, mask):
            return part_of(run(frame, mask), name, part, offset)

        if ndim:
            return Code(view, ArrayType(part.base, ndim, space))
        if part.names:
            return Code(view, RecordType(part.base, space))
        return Element(part.base, space, view, [])


def _text_in(node: ast.expr) -> str | None:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else None

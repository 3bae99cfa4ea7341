"""Assignment to memory: elements, fields, whole records, and slices.

Assigning to a slice is a loop over its elements, in C order, and each is a request of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.messages import Constant, Name, message
from warpwise.simt import types
from warpwise.simt.compiler import advice
from warpwise.simt.compiler.closures import Code, Cost, charging
from warpwise.simt.compiler.subscripts import Element
from warpwise.simt.lanes.masks import split
from warpwise.simt.machine.derived_views import part_of
from warpwise.simt.machine.structured_records import RecordType, leaves
from warpwise.simt.types import ArrayType, TupleType, is_complex, is_scalar


class Stores:
    """Mixin of ``Compiler`` for assignment to memory."""

    def memory_target(self, target: ast.Subscript | ast.Attribute, t) -> Callable:
        """Compile ``put(frame, value, mask)``, which stores a value of type ``t`` in memory."""
        found = self._stored_to(target)
        self._need_writable(target, found.space if isinstance(found, Element) else found.type.space)
        if isinstance(found, Element):
            return self._storing(target, found, t)
        if isinstance(found.type, RecordType):
            return self._copying(target, found, t)
        return self.filling(target, found, t)

    def _stored_to(self, target: ast.Subscript | ast.Attribute) -> Element | Code:
        """Compile a subscript or attribute that is assigned to."""
        memory = ArrayType, RecordType
        if isinstance(target, ast.Subscript):
            found = self.subscript(target)
        else:
            base = self.expression(target.value)
            has_fields = isinstance(base.type, memory) and base.type.dtype.names
            found = self.field(target, base, target.attr) if has_fields else None
        if isinstance(found, Element) or isinstance(getattr(found, "type", None), memory):
            return found
        what = f"cannot assign to {ast.unparse(target)} in a kernel"
        return self.refuse(target, what, "assign to a name, or to an element: out[i] = ...")

    def element_target(self, node: ast.AugAssign) -> Element:
        """Compile the element that ``a[i] += x`` reads and writes."""
        target, found = node.target, self._stored_to(node.target)
        if not isinstance(found, Element):
            what = f"{ast.unparse(target)} is {types.described(found.type)}"
            try_this = "write a loop over the elements"
            self.refuse(node, f"{what}; one element is needed here", try_this)
        self._need_writable(target, found.space)
        return found

    def _need_writable(self, target: ast.AST, space: str) -> None:
        if space == "const":
            what = f"{ast.unparse(target)} is a constant, and a kernel cannot write to it"
            self.refuse(target, what, "pass the array as an argument")

    def need_storable(self, target: ast.AST, t, dtype: np.dtype) -> None:
        if not is_scalar(t):
            what = f"{types.described(t)} cannot be stored in an array"
            try_this = advice.on_stored(target, t, self.kernel.tree)
            self.refuse(target, what, try_this, KernelTypeError)
        if is_complex(t) and not is_complex(dtype):
            what = f"a complex number cannot be stored in {ast.unparse(target)}, which is {dtype}"
            self.refuse(target, what, "store its .real, its .imag or its abs()", KernelTypeError)

    def _storing(self, target: ast.AST, element: Element, t) -> Callable:
        self.need_storable(target, t, element.dtype)
        array, indices, dtype = element.array, element.indices, element.dtype
        site = self.site(target)
        self.cost.add("memory")

        def put(frame, value, mask):
            places = [i(frame, mask) for i in indices]
            frame.batch.store(array(frame, mask), places, types.cast(value, dtype), mask, site)

        return put

    def _copying(self, target: ast.AST, record: Code, t) -> Callable:
        """Compile ``a[i] = b[j]`` of records: field by field."""
        if not isinstance(t, RecordType) or t.dtype != record.type.dtype:
            what = f"{types.described(t)} cannot be stored in a record"
            fields = ", ".join(record.type.dtype.names)
            self.refuse(target, what, f"store its fields one by one: {fields}", KernelTypeError)
        parts, site, run = leaves(record.type.dtype), self.site(target), record.run
        self.cost.add("memory", 2 * len(parts))

        def put(frame, value, mask):
            to = run(frame, mask)
            for part in parts:
                loaded = frame.batch.load(part_of(value, *part, copied=True), [], mask, site)
                frame.batch.store(part_of(to, *part, copied=True), [], loaded, mask, site)

        return put

    def filling(self, target: ast.AST, view: Code, t) -> Callable:
        """Compile ``a[2:5] = 0`` and ``a[:2] = (x, y)``."""
        dtype, text = view.type.dtype, f"{ast.unparse(target)} = ..."
        items = t.items if isinstance(t, TupleType) and view.type.ndim == 1 else None
        if isinstance(t, ArrayType):
            what = f"{text}: an array cannot be copied in one statement"
            try_this = "copy its elements in a loop"
            self.refuse(target, f"{what}, as Numba would need memory for it", try_this)
        if dtype.names:
            what = f"{text}: records are stored one by one"
            self.refuse(target, what, "write a loop over the elements")
        for item in items or (t,):
            self.need_storable(target, item, dtype)
        site, run, each = self.site(target), view.run, Cost()
        for op_class in ("memory", "integer", "control"):
            each.add(op_class)
        charge = charging(target.lineno, each)

        def put(frame, value, mask):
            array = run(frame, mask)
            if items is not None:
                _need_length(array, len(items), mask, site)
            for place, here in _places(array.shape, mask):
                frame.batch.step(site, here)
                charge(frame, here)
                one = value if items is None else value[place[0]]
                frame.batch.store(array, list(place), types.cast(one, dtype), here, site)

        return put


def _places(shape: tuple, mask):
    """Yield the indices of all elements in C order, each with the lanes whose view is that long."""
    longest = [n if type(n) is int else int(np.max(np.where(mask.grid(), n, 0))) for n in shape]
    for place in _indices(longest):
        here = mask
        for i, n in zip(place, shape, strict=True):
            if here is not None and type(n) is not int:
                here, _ = split(here, i < np.broadcast_to(n, mask.group.shape))
        if here is not None:
            yield place, here


def _indices(sizes: list[int], before: tuple = ()) -> Iterator[tuple[int, ...]]:
    if not sizes:
        yield before
        return
    for i in range(sizes[0]):
        yield from _indices(sizes[1:], (*before, i))


def _need_length(array, count: int, mask, site) -> None:
    short = mask.grid() & (np.asarray(array.shape[0]) != count)
    if short.any():
        what = message(
            "{count} values do not fit {array}", count=Constant(count), array=Name(array.name)
        )
        raise KernelTypeError(
            what,
            site.where(**mask.group.first_of(short)),
            "a slice of as many elements as there are values",
        )

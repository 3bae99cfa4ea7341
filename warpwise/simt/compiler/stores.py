"""Assignment: to names, to several targets, and to memory.

Memory is an element, a field, a whole record or a slice. Assigning to a slice is a loop over its
elements, in C order, and each is a request of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NoReturn

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.messages import Constant, Name, message
from warpwise.simt import types
from warpwise.simt.compiler import advice
from warpwise.simt.compiler.closures import Code, Cost, Element, Put, Run, charging, optional
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.optional_values import present
from warpwise.simt.compiler.subscripts import field, place
from warpwise.simt.frontend.kernel import Node
from warpwise.simt.lanes.masks import Mask, split
from warpwise.simt.machine.frame import Frame
from warpwise.simt.machine.site import Site
from warpwise.simt.machine.structured_records import RecordType, leaves
from warpwise.simt.types import (
    ArrayType,
    DType,
    OptionalType,
    TupleType,
    Type,
    Value,
    is_complex,
    is_scalar,
)


def assignment(c: Context, target: ast.expr, t: Type) -> Put:
    """Compile ``put(frame, value, mask)``, which assigns a value of type ``t`` to a target."""
    if isinstance(target, ast.Name):
        slot = c.bind(target.id, t)
        site, kept = c.site(target), c.variables.optional(target.id, t)
        if kept is not None:
            return lambda f, value, m: f.assign(slot, optional(value, t, kept), m, site)
        return lambda frame, value, mask: frame.assign(slot, value, mask, site)
    if isinstance(target, (ast.Subscript, ast.Attribute)):
        return _memory_target(c, target, t)
    if isinstance(target, (ast.Tuple, ast.List)):
        return _unpacking(c, target, t)
    _refuse_target(c, target)


def _refuse_target(c: Context, target: ast.expr) -> NoReturn:
    what = f"cannot assign to {ast.unparse(target)} in a kernel"
    c.refuse(target, what, "assign to a name, or to an element: out[i] = ...")


def _unpacking(c: Context, target: ast.Tuple | ast.List, t: Type) -> Put:
    if any(isinstance(name, ast.Starred) for name in target.elts):
        plain = ", ".join(ast.unparse(name).lstrip("*") for name in target.elts)
        text = f"{ast.unparse(target).strip('()[]')} = ..."
        what = f"{text}: a star is not allowed in a kernel's assignment"
        c.refuse(target, what, f"a name for each value, such as {plain}")
    count = len(target.elts)
    if not isinstance(t, TupleType) or len(t.items) != count:
        grid = f"unpack {count} values; cuda.grid({count}) gives {count}"
        try_this = grid if count in (2, 3) else "as many names as values"
        c.refuse(target, f"cannot unpack {types.described(t)} into {count} names", try_this)
    puts = [assignment(c, e, item) for e, item in zip(target.elts, t.items, strict=True)]

    def put(frame: Frame, value: Value, mask: Mask) -> None:
        for one, item in zip(puts, value, strict=True):
            one(frame, item, mask)

    return put


# --- memory ---


def _memory_target(c: Context, target: ast.Subscript | ast.Attribute, t: Type) -> Put:
    """Compile ``put(frame, value, mask)``, which stores a value of type ``t`` in memory."""
    if isinstance(t, OptionalType):
        put, site, text = _memory_target(c, target, t.item), c.site(target), ast.unparse(target)
        return lambda f, value, m: put(f, present(value, m, site, f"{text} = ..."), m)
    found = _stored_to(c, target)
    if isinstance(found, Element):
        _need_writable(c, target, found.space)
        return _storing(c, target, found, t)
    run, memory = found
    _need_writable(c, target, memory.space)
    if isinstance(memory, RecordType):
        return _copying(c, target, run, memory, t)
    if isinstance(t, ArrayType) and _is_field(c, target):
        return _copying_elements(c, target, run, memory, t)
    return filling(c, target, run, memory, t)


def _stored_to(
    c: Context, target: ast.Subscript | ast.Attribute
) -> Element | tuple[Run, ArrayType | RecordType]:
    """Compile a subscript or attribute that is assigned to: an element, or larger memory."""
    found = place(c, target) if isinstance(target, ast.Subscript) else _field(c, target)
    if isinstance(found, Element):
        return found
    if found is None or not isinstance(found.type, (ArrayType, RecordType)):
        _refuse_target(c, target)
    return found.run, found.type


def _field(c: Context, target: ast.Attribute) -> Element | Code | None:
    base = c.expression(target.value)
    if isinstance(base.type, (ArrayType, RecordType)) and base.type.dtype.names:
        return field(c, target, base.run, base.type, target.attr)
    return None


def element_target(
    c: Context, node: ast.AugAssign, target: ast.Subscript | ast.Attribute
) -> Element:
    """Compile the element that ``a[i] += x`` reads and writes."""
    found = _stored_to(c, target)
    if not isinstance(found, Element):
        what = f"{ast.unparse(target)} is {types.described(found[1])}"
        try_this = "write a loop over the elements"
        c.refuse(node, f"{what}; one element is needed here", try_this)
    _need_writable(c, target, found.space)
    return found


def _need_writable(c: Context, target: Node, space: str) -> None:
    if space == "const":
        what = f"{ast.unparse(target)} is a constant, and a kernel cannot write to it"
        c.refuse(target, what, "pass the array as an argument")


def need_storable(c: Context, target: Node, t: Type, dtype: DType) -> None:
    if not is_scalar(t):
        what = f"{types.described(t)} cannot be stored in an array"
        try_this = advice.on_stored(target, t, c.kernel.tree)
        c.refuse(target, what, try_this, KernelTypeError)
    if is_complex(t) and not is_complex(dtype):
        what = f"a complex number cannot be stored in {ast.unparse(target)}, which is {dtype}"
        c.refuse(target, what, "store its .real, its .imag or its abs()", KernelTypeError)


def _storing(c: Context, target: ast.expr, element: Element, t: Type) -> Put:
    need_storable(c, target, t, element.dtype)
    array, indices, dtype = element.array, element.indices, element.dtype
    site = c.site(target)
    c.cost.add("memory")

    def put(frame: Frame, value: Value, mask: Mask) -> None:
        places = [i(frame, mask) for i in indices]
        frame.batch.memory.store(array(frame, mask), places, types.cast(value, dtype), mask, site)

    return put


def _copying(c: Context, target: ast.expr, run: Run, record: RecordType, t: Type) -> Put:
    """Compile ``a[i] = b[j]`` of records: field by field."""
    if not isinstance(t, RecordType) or t.dtype != record.dtype:
        what = f"{types.described(t)} cannot be stored in a record"
        fields = ", ".join(record.dtype.names or ())
        c.refuse(target, what, f"store its fields one by one: {fields}", KernelTypeError)
    parts, site = leaves(record.dtype), c.site(target)
    c.cost.add("memory", 2 * len(parts))

    def put(frame: Frame, value: Value, mask: Mask) -> None:
        frame.batch.memory.copy(run(frame, mask), value, parts, mask, site)

    return put


def _is_field(c: Context, target: ast.Subscript | ast.Attribute) -> bool:
    """True for a field of one record, which is assigned as a whole."""
    base, _ = c.apart(lambda: c.expression(target.value), target)
    return isinstance(base.type, RecordType)


def _copying_elements(
    c: Context, target: ast.expr, run: Run, field: ArrayType, t: ArrayType
) -> Put:
    """Compile ``record.values = a``: an array within a record, element by element."""
    if (t.dtype, t.ndim) != (field.dtype, field.ndim):
        what = f"{types.described(t)} cannot be stored in {ast.unparse(target)}"
        wanted = f"{field.ndim}D array of {field.dtype}"
        try_this = "copy its elements in a loop"
        c.refuse(target, f"{what}, which is a {wanted}", try_this, KernelTypeError)
    site, each = c.site(target), Cost()
    each.add("memory", 2)
    charge = charging(target.lineno, each)

    def put(frame: Frame, value: Value, mask: Mask) -> None:
        array, memory = run(frame, mask), frame.batch.memory
        for index in _indices(list(array.shape)):
            frame.batch.step(site, mask)
            charge(frame, mask)
            loaded = memory.load(value, list(index), mask, site)
            memory.store(array, list(index), loaded, mask, site)

    return put


def filling(c: Context, target: ast.expr, run: Run, view: ArrayType, t: Type) -> Put:
    """Compile ``a[2:5] = 0`` and ``a[:2] = (x, y)``."""
    dtype, text = view.dtype, f"{ast.unparse(target)} = ..."
    items = t.items if isinstance(t, TupleType) and view.ndim == 1 else None
    if isinstance(t, ArrayType):
        what = f"{text}: an array cannot be copied in one statement"
        try_this = "copy its elements in a loop"
        c.refuse(target, f"{what}, as Numba would need memory for it", try_this)
    if dtype.names:
        what = f"{text}: records are stored one by one"
        c.refuse(target, what, "write a loop over the elements")
    for item in items or (t,):
        need_storable(c, target, item, dtype)
    site, each = c.site(target), Cost()
    for op_class in ("memory", "integer", "control"):
        each.add(op_class)
    charge = charging(target.lineno, each)

    def put(frame: Frame, value: Value, mask: Mask) -> None:
        array = run(frame, mask)
        if items is not None:
            _need_length(array, len(items), mask, site)
        for index, here in _places(array.shape, mask):
            frame.batch.step(site, here)
            charge(frame, here)
            one = value if items is None else value[index[0]]
            frame.batch.memory.store(array, list(index), types.cast(one, dtype), here, site)

    return put


def _places(shape: Sequence[Value], mask: Mask) -> Iterator[tuple[tuple[int, ...], Mask]]:
    """Yield the indices of all elements in C order, each with the lanes whose view is that long."""
    longest = [n if type(n) is int else int(np.max(np.where(mask.grid(), n, 0))) for n in shape]
    for index in _indices(longest):
        here: Mask | None = mask
        for i, n in zip(index, shape, strict=True):
            if here is not None and type(n) is not int:
                here, _ = split(here, i < np.broadcast_to(n, mask.group.shape))
        if here is not None:
            yield index, here


def _indices(sizes: list[int], before: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    if not sizes:
        yield before
        return
    for i in range(sizes[0]):
        yield from _indices(sizes[1:], (*before, i))


def _need_length(array: Value, count: int, mask: Mask, site: Site) -> None:
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

"""``array[...]`` in a kernel: elements, slices, partial indices, records, and fields by name.

A subscript is an element of memory, which can be read and written, or a value: a view, an item of a
tuple. The bounds of a view are fixed when it is made. Assignment is in ``stores``."""

from __future__ import annotations

import ast
from enum import Enum
from typing import NoReturn, TypeGuard

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.simt import types
from warpwise.simt.compiler import advice, enumerations
from warpwise.simt.compiler.closures import Code, Element, Number, Run, converted, items_of
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.tuples import tuple_item
from warpwise.simt.compiler.value_types import BOUNDS, NEW, REST, KnownType, VectorType
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.derived_views import NEW_AXIS, Bounds, part_of, sliced
from warpwise.simt.machine.frame import Frame
from warpwise.simt.machine.structured_records import RecordType
from warpwise.simt.types import ArrayType, TupleType, Value, is_integer, is_scalar

MOST_AXES = 32


def subscript(c: Context, node: ast.Subscript) -> Code:
    value = c.static(node)
    if isinstance(value, Enum):
        return enumerations.of_constant(value)
    found = place(c, node)
    return read(c, node, found) if isinstance(found, Element) else found


def place(c: Context, node: ast.Subscript) -> Element | Code:
    """Compile a subscript to an element of memory or a value."""
    owner = node.value
    if _is_flat(owner) and c.static(owner) is NotImplemented:
        return _flat(c, node, owner.value)
    base = c.expression(owner)
    t, name = base.type, _text_in(node.slice)
    if isinstance(t, RecordType):
        name = name or _name_at(node.slice, t)
        if name is None:
            what = f"{ast.unparse(node)}: a record is indexed by the name of a field"
            c.refuse(node, what, f"{ast.unparse(owner)}['x']")
        return field(c, node, base.run, t, name)
    if isinstance(t, TupleType):
        return tuple_item(c, node, base, t)
    if isinstance(t, ArrayType) and name is not None:
        return field(c, node, base.run, t, name)
    t = _need_array(c, node, base)
    parts = _index_parts(c, node, t)
    is_element = len(parts) == t.ndim and all(is_scalar(part.type) for part in parts)
    if is_element and t.dtype.names is None:
        return Element(t.dtype, t.space, base.run, [part.run for part in parts])
    return _view(c, node, base.run, t, parts)


def read(c: Context, node: ast.expr, element: Element) -> Number:
    """Compile the load of an element."""
    site, array, indices = c.site(node), element.array, element.indices
    c.cost.add("memory")

    def load(frame: Frame, mask: Mask) -> Value:
        places = [i(frame, mask) for i in indices]
        return frame.batch.memory.load(array(frame, mask), places, mask, site)

    return Number(load, element.dtype)


def indices_of(c: Context, node: ast.Subscript, t: ArrayType, whole: bool = True) -> list[Run]:
    """Compile the indices of ``array[...]``, one per dimension, where an element is needed.

    Not ``whole``: other numbers are cut to integers."""
    parts = _index_parts(c, node, t, whole)
    if len(parts) != t.ndim or not all(is_scalar(part.type) for part in parts):
        _refuse_count(c, node, t, len(parts))
    return [part.run for part in parts]


# --- what stands between the brackets ---


def _need_array(c: Context, node: ast.Subscript, base: Code) -> ArrayType:
    if isinstance(base.type, ArrayType):
        return base.type
    if isinstance(base.type, KnownType):
        c.number(node.value, base)  # refuses it
    name = ast.unparse(node.value)
    what = f"{name} is {types.described(base.type)} and cannot be indexed"
    plain = f"use {name} without [ ]: only arrays and tuples have elements"
    is_vector = isinstance(base.type, VectorType)
    c.refuse(node, what, f"{name}.x, .y ..." if is_vector else plain)


def _index_parts(c: Context, node: ast.Subscript, t: ArrayType, whole: bool = True) -> list[Code]:
    """Compile each part: an integer, a slice (type BOUNDS), or a new axis (type NEW)."""
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    parts = [part for one in nodes for part in _part(c, node, one, t.ndim, whole)]
    taken = sum(part.type is not NEW for part in parts if part.type is not REST)
    if taken > t.ndim:
        _refuse_count(c, node, t, taken)
    return _without_rest(c, node, parts, t.ndim - taken)


def _part(c: Context, node: ast.Subscript, part: ast.expr, ndim: int, whole: bool) -> list[Code]:
    if isinstance(part, ast.Slice):
        return [_bounds(c, part)]
    if isinstance(part, ast.Constant) and part.value is Ellipsis:
        return [Code(_full, REST)]
    code = c.expression(part)
    if code.type is types.NONE:
        return [Code(lambda f, m: NEW_AXIS, NEW)]
    if isinstance(code.type, TupleType) and isinstance(node.slice, ast.Tuple):
        text, count = ast.unparse(part), len(code.type.items)
        is_pair = count == 2
        kind = "a pair of indices" if is_pair else f"a tuple of {count}"
        what = f"{ast.unparse(node)}: {text} is {kind}: {text}[0] is one"
        try_this = advice.on_pair(node, part, count, ndim, c.kernel.tree)
        c.refuse(node, what if is_pair else f"{what} of them", try_this)
    # ``a[pos]`` with a tuple ``pos`` counts as ``a[pos[0], pos[1]]``
    codes = items_of(code.run, code.type) if isinstance(code.type, TupleType) else [code]
    if not whole:
        real = [c.number(part, code) for code in codes]
        codes = [one if types.is_complex(one.type) else converted(one, types.INT64) for one in real]
    for one in codes:
        if not is_integer(one.type):
            what = f"{ast.unparse(node)}: an index must be an integer, not {one.type}"
            c.refuse(node, what, advice.on_index(part, one.type), KernelTypeError)
    return codes


def _full(frame: Frame, mask: Mask) -> Bounds:
    return Bounds(None, None)


def _bounds(c: Context, part: ast.Slice) -> Code:
    step = 1 if part.step is None else c.constant(part.step)
    if not isinstance(step, int) or step == 0:
        what = f"{ast.unparse(part)}: the step of a slice is a constant integer other than 0"
        c.refuse(part, f"{what} here", "a[i * step] in a loop")
    ends, by = (part.lower, part.upper), step
    start, stop = (None if end is None else _index(c, end) for end in ends)
    c.cost.add("integer", 2)
    return Code(lambda f, m: Bounds(start and start(f, m), stop and stop(f, m), by), BOUNDS)


def _index(c: Context, node: ast.expr) -> Run:
    code = c.scalar(node)
    if not is_integer(code.type):
        what = f"{ast.unparse(node)}: the ends of a slice are integers, not {code.type}"
        c.refuse(node, what, advice.on_index(node, code.type), KernelTypeError)
    return code.run


def _without_rest(c: Context, node: ast.Subscript, parts: list[Code], missing: int) -> list[Code]:
    """Replace ``...`` by the full slices that it stands for."""
    rest = [i for i, part in enumerate(parts) if part.type is REST]
    if len(rest) > 1:
        what = f"{ast.unparse(node)}: only one ... can stand between the brackets"
        c.refuse(node, what, "write : for each axis")
    if not rest:
        return parts
    return [*parts[: rest[0]], *[Code(_full, BOUNDS)] * missing, *parts[rest[0] + 1 :]]


def _refuse_count(c: Context, node: ast.Subscript, t: ArrayType, count: int) -> NoReturn:
    name, ndim = ast.unparse(node.value), t.ndim
    what = f"{name} has {ndim} dimension{'s' * (ndim != 1)} and is indexed with {count}"
    c.refuse(node, what, advice.on_count_of_indices(node, ndim, c.kernel.tree))


# --- views and fields ---


def _view(c: Context, node: ast.Subscript, run: Run, t: ArrayType, parts: list[Code]) -> Code:
    """Compile a slice, a row, or a record: a view of the array."""
    name, taken = ast.unparse(node)[:60], sum(is_scalar(part.type) for part in parts)
    axes = t.ndim - taken + sum(part.type is NEW for part in parts)
    if axes > MOST_AXES:
        what = f"{name}: an array has at most {MOST_AXES} dimensions"
        c.refuse(node, what, "fewer new axes")
    runs, site = [part.run for part in parts], c.site(node)
    c.cost.add("integer")

    def view(frame: Frame, mask: Mask) -> Value:
        array = run(frame, mask)

        def check(index: Value, size: Value, axis: int) -> Value:
            return frame.batch.memory.checked(array, index, size, axis, mask, site)

        return sliced(array, [part(frame, mask) for part in runs], name, check)

    if axes == 0:
        return Code(view, RecordType(t.dtype, t.space))
    return Code(view, ArrayType(t.dtype, axes, t.space))


def _flat(c: Context, node: ast.Subscript, owner: ast.expr) -> Element:
    """Compile ``a.flat[i]``: the index counts elements in C order.

    A negative one is outside: a GPU reads what lies before the array."""
    base, index = c.expression(owner), _index(c, node.slice)
    if not isinstance(base.type, ArrayType) or base.type.dtype.names:
        what = f"{ast.unparse(node.value)} is not defined"
        c.refuse(node, what, "only arrays of numbers have .flat")
    run, t = base.run, base.type
    c.cost.add("integer", t.ndim)

    def along(axis: int) -> Run:
        def place(frame: Frame, mask: Mask) -> Value:
            shape, i = run(frame, mask).shape, index(frame, mask)
            for size in reversed(shape[axis + 1 :]):
                lanes = isinstance(i, np.ndarray)
                i = i // np.maximum(size, 1) if lanes else int(i) // max(size, 1)
            if axis:
                return i % max(shape[axis], 1)
            return _outside(i, shape[0])

        return place

    return Element(t.dtype, t.space, run, [along(axis) for axis in range(t.ndim)])


def _outside(i: Value, size: Value) -> Value:
    """Return an index that does not count from the end where it is negative."""
    if isinstance(i, np.ndarray) or isinstance(size, np.ndarray):
        return np.where(np.less(i, 0), np.subtract(i, size), i)
    return i - size if i < 0 else i


def field(
    c: Context,
    node: ast.Attribute | ast.Subscript,
    run: Run,
    t: RecordType | ArrayType,
    name: str,
) -> Element | Code:
    """Compile a field of a record, or of every record of an array."""
    dtype, text = t.dtype, ast.unparse(node)
    if dtype.names is None or dtype.fields is None or name not in dtype.names:
        known = ", ".join(dtype.names or ())
        owner = f"{ast.unparse(node.value)} is {types.described(t)}"
        try_this = f"its fields are {known}" if known else "only arrays of records have fields"
        c.refuse(node, f"{text}: {owner} and has no field {name!r}", try_this)
    part, offset = dtype.fields[name][:2]
    is_number = isinstance(t, RecordType) and not part.base.names
    if is_number and offset % part.base.alignment:
        position = f"{name} lies {offset} bytes into its record"
        what = f"{text}: {position}, where {part.base} is not aligned"
        try_this = "np.dtype([...], align=True), or the widest fields first"
        c.refuse(node, what, f"{try_this}: the compiler refuses this one")
    ndim = (t.ndim if isinstance(t, ArrayType) else 0) + len(part.shape)

    def view(frame: Frame, mask: Mask) -> Value:
        return part_of(run(frame, mask), name, part, offset)

    if ndim:
        return Code(view, ArrayType(part.base, ndim, t.space))
    if part.names:
        return Code(view, RecordType(part.base, t.space))
    return Element(part.base, t.space, view, [])


def _is_flat(node: ast.expr) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr == "flat"


def _name_at(node: ast.expr, t: RecordType) -> str | None:
    """Return the name of the field that ``record[1]`` counts to; None for any other index."""
    names = t.dtype.names or ()
    at = node.value if isinstance(node, ast.Constant) else None
    return names[at] if type(at) is int and at < len(names) else None


def _text_in(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None

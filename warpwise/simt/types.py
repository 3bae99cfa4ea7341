"""Numba's typing rules for kernels: the types that operations compute in and return.

A scalar type is a ``numpy.dtype``. The rules are those of Numba's CUDA target (tests compare them
with its typing context): integers widen to 64 bits, a bare float literal is float64, float32 stays
float32 among float32 and small integers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import EnumMeta
from typing import Any, TypeAlias, TypeGuard

import numpy as np

DType: TypeAlias = np.dtype[Any]
Lanes: TypeAlias = np.ndarray[Any, DType]  #: values by lane; see ``lanes.masks`` for the shapes
#: What a kernel's expression gives: a Python int or bool, a NumPy scalar or ``Lanes``, an array of
#: the machine, or a tuple of these. Its ``Type`` says which.
Value: TypeAlias = Any

BOOL = np.dtype(np.bool_)
INT8, INT32, INT64 = np.dtype(np.int8), np.dtype(np.int32), np.dtype(np.int64)
UINT64 = np.dtype(np.uint64)
FLOAT16, FLOAT32, FLOAT64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
COMPLEX64, COMPLEX128 = np.dtype(np.complex64), np.dtype(np.complex128)
_WIDE = np.dtype(np.intp) == INT64  #: NumPy counts places in 64 bits, unlike in a browser
_INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
SCALARS = tuple(map(np.dtype, f"bool {_INTEGERS} float16 float32 float64".split()))
ELEMENTS = (*SCALARS, COMPLEX64, COMPLEX128)  #: types of the numbers in an array


class KernelType:
    """The base of the types that are no scalar."""


#: The type of a value: a scalar's is a ``numpy.dtype``.
Type: TypeAlias = DType | KernelType


@dataclass(frozen=True)
class ArrayType(KernelType):
    """An array in a kernel: element type, number of dimensions, memory space."""

    dtype: DType
    ndim: int
    space: str

    def __str__(self) -> str:
        return f"{self.space} array of {self.dtype}, {self.ndim}D"


@dataclass(frozen=True)
class TupleType(KernelType):
    """A tuple of values, each with its own type; its length is part of the type.

    ``names``: those of a named tuple's items."""

    items: tuple[Type, ...]
    names: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of values in the tuple, those of tuples within it included."""
        return sum(t.size if isinstance(t, TupleType) else 1 for t in self.items)

    def __str__(self) -> str:
        return f"tuple of {len(self.items)}"


@dataclass(frozen=True)
class NoneType(KernelType):
    """The result of a function that returns nothing."""

    def __str__(self) -> str:
        return "None"


NONE = NoneType()


@dataclass(frozen=True)
class OptionalType(KernelType):
    """A number, or None where a function or a path gave none.

    Its values are pairs: True where there is a number, and the number."""

    item: DType

    def __str__(self) -> str:
        return f"{self.item} or None"


@dataclass(frozen=True)
class EnumType(KernelType):
    """A member of an enumeration; its value is the member's place in the class."""

    members: EnumMeta

    def __str__(self) -> str:
        return f"member of {self.members.__name__}"


@dataclass(frozen=True)
class GridType(KernelType):
    """All threads of a launch as a group: ``cuda.cg.this_grid()``."""

    def __str__(self) -> str:
        return "grid group"


GRID = GridType()


class TypeMismatch(Exception):
    """Two types that an operation cannot combine.

    The compiler turns it into a KernelTypeError that names the line."""

    def __init__(self, what: str, try_this: str = ""):
        super().__init__(what)
        self.try_this = try_this


def described(t: Type) -> str:
    """Name a type with its article, for messages."""
    return f"a number ({t})" if is_scalar(t) else "None" if t is NONE else f"a {t}"


def is_scalar(t: object) -> TypeGuard[DType]:
    return isinstance(t, np.dtype)


def is_float(t: object) -> TypeGuard[DType]:
    return is_scalar(t) and t.kind == "f"


def is_integer(t: object) -> TypeGuard[DType]:
    """True for integers and booleans: what an index, a shift or a bit operation takes."""
    return is_scalar(t) and t.kind in "iub"


def is_complex(t: object) -> TypeGuard[DType]:
    return is_scalar(t) and t.kind == "c"


def unify(a: Type, b: Type) -> Type:
    """Return the type of a variable that is ``a`` on one path and ``b`` on another."""
    # a dtype counts itself equal to whatever has such a dtype, so to the type of an array as well
    if is_scalar(a) == is_scalar(b) and a == b:
        return a
    if is_scalar(a) and is_scalar(b):
        return np.promote_types(a, b)
    if isinstance(a, TupleType) and isinstance(b, TupleType) and len(a.items) == len(b.items):
        items = tuple(unify(x, y) for x, y in zip(a.items, b.items, strict=True))
        if not any(isinstance(item, OptionalType) for item in items):
            return TupleType(items)
    for one, other in ((a, b), (b, a)):
        if one == NONE and (is_scalar(other) or isinstance(other, OptionalType)):
            return OptionalType(other) if is_scalar(other) else other
        if isinstance(one, OptionalType) and (item := _item(other)) is not None:
            return OptionalType(np.promote_types(one.item, item))
    raise TypeMismatch(f"{a} on one path and {b} on another", "use two variables")


def _item(t: Type) -> DType | None:
    """Return the type of the number in a number or an optional one."""
    return t if is_scalar(t) else t.item if isinstance(t, OptionalType) else None


def same(t: DType) -> DType:
    """Return the type itself: the result rule of a function that returns what it computes in."""
    return t


def widened(t: DType) -> DType:
    """Return the type in which arithmetic takes an integer: 64 bits, unsigned only if it was."""
    return UINT64 if t.kind == "u" else INT64


def _integers(a: DType, b: DType) -> DType:
    return UINT64 if a.kind == b.kind == "u" else INT64


def _floats(a: DType, b: DType) -> DType:
    """Return the floating-point type for two numbers.

    An unsigned integer counts as the signed one that holds all its values."""
    return np.promote_types(_as_signed(a), _as_signed(b))


def _as_signed(t: DType) -> DType:
    return np.promote_types(t, INT8) if t.kind == "u" else t


def arithmetic(a: DType, b: DType) -> DType:
    """The type of ``a + b``, ``a - b`` and ``a * b``."""
    return _integers(a, b) if is_integer(a) and is_integer(b) else _floats(a, b)


def comparison(a: DType, b: DType) -> DType:
    """The type in which comparisons compute: uint64 and a signed integer meet in float64."""
    return np.promote_types(a, b) if is_integer(a) and is_integer(b) else _floats(a, b)


def division(a: DType, b: DType) -> DType:
    """The type of ``a / b``: always floating point."""
    return FLOAT64 if is_integer(a) and is_integer(b) else arithmetic(a, b)


def _at_least_float32(t: DType) -> DType:
    return FLOAT32 if t == FLOAT16 else t


def floor_division(a: DType, b: DType) -> DType:
    """The type of ``a // b`` and ``a % b``."""
    return _at_least_float32(arithmetic(a, b))


def power(a: DType, b: DType) -> DType:
    """The type of ``a ** b``: an integer exponent does not widen a float base."""
    return _at_least_float32(a if is_float(a) and is_integer(b) else arithmetic(a, b))


def shift(a: DType, b: DType) -> DType:
    """The type of ``a << b`` and ``a >> b``: that of the widened left side."""
    _need_integers(a, b)
    return widened(a)


def bitwise(a: DType, b: DType) -> DType:
    """The type of ``a & b``, ``a | b``, ``a ^ b``."""
    _need_integers(a, b)
    return BOOL if a == b == BOOL else _integers(a, b)


def _need_integers(a: DType, b: DType) -> None:
    if not (is_integer(a) and is_integer(b)):
        raise TypeMismatch(
            f"integers are needed, not {a} and {b}",
            "conditions are joined by and, or; a number is made whole by int()",
        )


def negation(t: DType) -> DType:
    """The type of ``-a`` and ``+a``."""
    return widened(t) if is_integer(t) else t


def absolute(t: DType) -> DType:
    """The type of ``abs(a)``."""
    return INT8 if t == BOOL else t


def math_half(t: DType) -> DType:
    """The type of functions that the GPU has for float16, such as ``math.sqrt(a)``.

    Integers are taken as float64."""
    return FLOAT64 if is_integer(t) else t


def math_unary(t: DType) -> DType:
    """The type of ``math.tan(a)`` and the like."""
    return _at_least_float32(math_half(t))


def math_binary(a: DType, b: DType) -> DType:
    """The type of ``math.hypot(a, b)`` and ``math.atan2``: two integers are taken as float64."""
    return FLOAT64 if is_integer(a) and is_integer(b) else math_close(a, b)


def math_close(a: DType, b: DType) -> DType:
    """The type of ``math.fmod`` and ``math.copysign``: the least float, from float32, for both."""
    return _at_least_float32(_floats(_floats(a, FLOAT32), b))


def of_constant(value: object) -> Type | None:
    """The type of a Python or NumPy constant in a kernel; None if a kernel cannot hold it."""
    if isinstance(value, (bool, np.bool_)):
        return BOOL
    if isinstance(value, int):
        return INT64 if -(2**63) <= value < 2**63 else UINT64 if 0 <= value < 2**64 else None
    if isinstance(value, float) and not isinstance(value, np.generic):
        return FLOAT64
    if isinstance(value, complex) and not isinstance(value, np.generic):
        return COMPLEX128
    if isinstance(value, np.generic) and value.dtype in ELEMENTS:
        return value.dtype
    if isinstance(value, tuple):
        items = tuple(t for t in map(of_constant, value) if t is not None)
        known = len(items) == len(value)
        return TupleType(items, getattr(value, "_fields", ())) if known else None
    return NONE if value is None else None


def cast(value: Value, to: DType) -> Value:
    """Cast a kernel's value (Python int, NumPy scalar or array); integers wrap around, as on a GPU.

    A uniform int64 is always a Python int and a uniform bool a Python bool: loop counters and
    indices stay cheap."""
    if isinstance(value, np.ndarray):
        return value if value.dtype == to else value.astype(to)
    if to == INT64:
        return value if type(value) is int else _int64(value)
    if to == BOOL:
        return bool(value)
    if isinstance(value, int) and to.kind in "iu" and not isinstance(value, bool):
        return np.int64(wrap_int64(value)).astype(to)
    return to.type(value) if to.kind == "f" else np.asarray(value).astype(to)[()]


def _int64(value: Value) -> int:
    """Return an integer or a float as int64: what has no such value, as an array's elements."""
    if isinstance(value, (float, np.floating)) and not -(2.0**63) <= value < 2.0**63:
        with np.errstate(invalid="ignore"):
            return int(np.asarray(value).astype(np.int64))
    return wrap_int64(int(value))


def as_array(value: Value) -> Lanes:
    """Return a kernel's value as an array: a Python int as int64, which is its type in a kernel.

    NumPy's own choice has 32 bits in a browser."""
    return np.asarray(value, INT64 if type(value) is int else None)


def spread(value: Value, shape: tuple[int, ...]) -> Lanes:
    """Return a value as an array of this shape, to be read only.

    Most have it already, and ``np.broadcast_to`` takes long to see that."""
    array = as_array(value)
    return array if array.shape == shape else np.broadcast_to(array, shape)


def common_shape(*shapes: tuple[int, ...]) -> tuple[int, int]:
    """Return the shape of lanes, ``(rows, threads)``, that values of these shapes take together."""
    rows = threads = 1
    for shape in shapes:
        if shape:
            rows = rows if shape[0] == 1 else shape[0]
            threads = threads if shape[1] == 1 else shape[1]
    return rows, threads


def as_index(places: Lanes) -> Lanes:
    """Return places as NumPy counts them, in 32 bits in a browser: ``take`` refuses wider ones."""
    return places if _WIDE else places.astype(np.intp)


def clipped(value: Value, low: Value, high: Value) -> Value:
    """Return ``value`` between two limits; on few lanes twice as fast as ``np.clip``."""
    return np.minimum(np.maximum(value, low), high)


def wrap_int64(value: int) -> int:
    """Wrap a Python integer around to a signed 64-bit one."""
    return value if -(2**63) <= value < 2**63 else (value + 2**63) % 2**64 - 2**63

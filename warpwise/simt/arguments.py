"""Launch arguments as the kernel sees them: numbers, records, arrays with addresses, and tuples."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, EnumMeta
from functools import partial
from typing import Any

import numpy as np

from warpwise.errors import LaunchError, LaunchTypeError
from warpwise.messages import (
    Constant,
    Joined,
    Lengths,
    Message,
    Name,
    TypeName,
    Words,
    message,
)
from warpwise.simt import types
from warpwise.simt.frontend.defaults import default_value
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.resolution import best_of
from warpwise.simt.frontend.signatures import Kind, Parameter
from warpwise.simt.frontend.written import written_parameters
from warpwise.simt.machine.array_views import View, argument
from warpwise.simt.machine.derived_views import sliced
from warpwise.simt.machine.device_memory import Directed, device_values
from warpwise.simt.machine.memory import Array, Memory
from warpwise.simt.machine.placement import Copies, Places
from warpwise.simt.machine.structured_records import RecordType, is_known
from warpwise.simt.types import ArrayType, EnumType, Lanes, TupleType, Type, Value


def bind(kernel: Kernel, args: tuple[Any, ...], copies: Copies | None = None) -> tuple[Value, ...]:
    """Bind a launch's arguments; each array gets an address as if allocated on its own.

    Parameters without an argument have their default values. ``copies``: those of host arrays, to
    be copied back after the launch."""
    if len(args) > len(kernel.parameters):
        raise LaunchError(_on_count(kernel, args))
    rest = [default_value(kernel, name) for name in kernel.parameters[len(args) :]]
    if any(value is NotImplemented for value in rest):
        raise LaunchError(_on_count(kernel, args))
    space = Places(written_parameters(kernel), copies or Copies())
    omitted = [*([False] * len(args)), *(value is None for value in rest)]
    named = zip(kernel.parameters, (*args, *rest), omitted, strict=True)
    bound = tuple(None if out else _bound(kernel, name, v, space) for name, v, out in named)
    return _as_signed(kernel, bound, (*args, *rest)) if kernel.signed else bound


def _as_signed(
    kernel: Kernel, bound: tuple[Value, ...], args: tuple[Any, ...]
) -> tuple[Value, ...]:
    """Convert numbers to the types of the kernel's signature that fits best.

    Raises LaunchTypeError where none does, or where several do equally well."""
    given = tuple(map(type_of, bound))
    fitting = best_of(kernel.signed, given, tuple(map(_layouts, args)))
    if len(fitting) == 1:
        kinds = fitting[0].arguments
        return tuple(map(partial(_as_kind, kernel), kernel.parameters, bound, kinds))
    wrong = message(
        "{kernel} is compiled for {signatures}, and the launch passes {passed}: "
        "mend the signature, or leave it out",
        kernel=Name(kernel.name),
        signatures=TypeName(" or ".join(map(str, kernel.signed))),
        passed=_passed(args),
    )
    several = message(
        "{kernel} is compiled for {signatures}, which fit {passed} equally well: "
        "pass numbers of the types of one of them, such as np.float32(1)",
        kernel=Name(kernel.name),
        signatures=TypeName(" and ".join(map(str, fitting))),
        passed=_passed(args),
    )
    raise LaunchTypeError(several if fitting else wrong)


def _as_kind(kernel: Kernel, name: str, value: Value, kind: Kind) -> Value:
    """Convert an argument to its type in the signature, as Numba does at a launch.

    Raises LaunchTypeError for a float where the signature has an integer."""
    if isinstance(kind, tuple):
        items = (_as_kind(kernel, name, v, item) for v, item in zip(value, kind, strict=True))
        return Fields(items, value.names) if isinstance(value, Fields) else tuple(items)
    if kind is None or kind.ndim:
        return value
    given = type_of(value)
    if types.is_float(given) and types.is_integer(kind.dtype):
        what = message(
            "{kernel}: argument {name} is a {given}, and the signature has {wanted}: "
            "a launch makes no integer of it. Try: int({name})",
            kernel=Name(kernel.name),
            name=Name(name),
            given=TypeName(given),
            wanted=TypeName(kind.dtype),
        )
        raise LaunchTypeError(what)
    return types.cast(value, kind.dtype)


def signature_of(kernel: Kernel, value: Any) -> Kind:
    """Return the type of one argument as a signature has it.

    Raises LaunchError for what no kernel takes."""
    if isinstance(value, tuple):
        return tuple(signature_of(kernel, item) for item in value)
    t = type_of(_bound(kernel, "value", value, Places(frozenset(), Copies())))
    if isinstance(t, ArrayType):
        return Parameter(t.dtype, t.ndim, (*_layouts(value), "A")[0])
    return Parameter(t) if types.is_scalar(t) else None


def _layouts(value: object) -> tuple[str, ...]:
    """Return which of "C" and "F" an array's layout is; both for anything else."""
    values = _as_array(value)
    if values is None:
        return "C", "F"
    return ("C",) * values.flags.c_contiguous + ("F",) * values.flags.f_contiguous


def _bound(kernel: Kernel, name: str, value: Any, space: Places) -> Value:
    if isinstance(value, tuple):
        items = [
            _bound(kernel, f"{name}.{field}", item, space)
            for field, item in zip(_fields(value), value, strict=True)
        ]
        return Fields(items, value._fields) if hasattr(value, "_fields") else tuple(items)
    values = _as_array(value)
    if values is None and isinstance(value, np.void):
        return _record(kernel, name, value, space)
    if values is None:
        return _scalar(kernel, name, _directed(value).value)
    if not is_known(values.dtype):
        what = message(
            "{name} is an array of {dtype}, which the simulator does not know",
            name=Name(name),
            dtype=TypeName(values.dtype),
        )
        raise LaunchError(what)
    given = _directed(value)
    if device_values(given.value) is not None:
        address = space.device(values)
    else:
        values, address = space.host(name, values, given)
    array = argument(name, values.reshape(values.shape or 1), address)
    return array if values.ndim else _only_element(name, array)


def _only_element(name: str, array: Array) -> View:
    """Return the one element of an array as an array of no dimensions, or as a record."""
    return sliced(array, [0], name, lambda index, size, axis: index)


def _directed(value: object) -> Directed:
    return value if isinstance(value, Directed) else Directed(value)


class Fields(tuple[Value, ...]):
    """A named tuple as an argument."""

    names: tuple[str, ...]

    def __new__(cls, items: Iterable[Value], names: Iterable[str]) -> Fields:
        made = super().__new__(cls, items)
        made.names = tuple(names)
        return made


def _fields(value: tuple[Any, ...]) -> tuple[object, ...]:
    return tuple(getattr(value, "_fields", range(len(value))))


def _record(kernel: Kernel, name: str, value: np.void, space: Places) -> View:
    """Bind a record, which a launch copies to the GPU and back: the kernel can write to it."""
    if not is_known(value.dtype) or not value.dtype.names:
        what = message(
            "{kernel}: argument {name} is a record of {dtype}, which the simulator does not know",
            kernel=Name(kernel.name),
            name=Name(name),
            dtype=TypeName(value.dtype),
        )
        raise LaunchError(what)
    values = np.asarray(value).reshape(1)  # the record's own memory
    array = argument(name, *space.host(name, values, Directed(value)))
    return _only_element(name, array)


class Member(int):
    """A member of an enumeration as an argument: its place in the class."""

    members: EnumMeta

    def __new__(cls, value: Enum) -> Member:
        made = super().__new__(cls, list(type(value)).index(value))
        made.members = type(value)
        return made


def _scalar(kernel: Kernel, name: str, value: Any) -> Value:
    if isinstance(value, Enum):
        return Member(value)
    kind = types.of_constant(value)
    if kind is None or not types.is_scalar(kind):
        what = message(
            "{kernel}: argument {name} is a {type}; a kernel takes arrays and numbers. "
            "Try: {instead}",
            kernel=Name(kernel.name),
            name=Name(name),
            type=TypeName(type(value).__name__),
            instead=Words(_instead(kernel, name, value)),
        )
        raise LaunchError(what)
    return types.cast(value, kind)


def _instead(kernel: Kernel, name: str, value: object) -> str:
    """Suggest what to pass instead of something that is no array and no number."""
    if name == "self":
        outside = f"define {kernel.name} outside of the class, without self"
        return f"{outside}, and pass it arrays and numbers"
    if isinstance(value, (list, set, range)):
        return f"np.array({name})" if isinstance(value, list) else f"np.array(list({name}))"
    if isinstance(value, dict):
        return f"its numbers as an array: np.array(list({name}.values()))"
    if isinstance(value, (str, bytes)):
        buffer = f"{name}.encode()" if isinstance(value, str) else name
        return f"its characters as numbers: np.frombuffer({buffer}, np.uint8)"
    return "a number, an array such as np.array([1.0, 2.0]), or a tuple of these"


def _as_array(value: object) -> Lanes | None:
    value = _directed(value).value
    values = device_values(value)  # of what warpwise.cuda.to_device made, for example
    return value if values is None and isinstance(value, np.ndarray) else values


def type_of(value: Value) -> Type:
    """Return the type of a bound argument."""
    if isinstance(value, tuple):
        return TupleType(tuple(map(type_of, value)), getattr(value, "names", ()))
    if isinstance(value, View) and not value.shape and value.dtype.names:
        return RecordType(value.dtype, value.space)
    if isinstance(value, (Memory, View)):
        return ArrayType(value.dtype, value.ndim, value.space)
    if isinstance(value, Member):
        return EnumType(value.members)
    found = types.of_constant(value)
    assert found is not None  # ``bind`` takes no other values
    return found


def _on_count(kernel: Kernel, args: tuple[Any, ...]) -> Message:
    count = len(kernel.parameters)
    passed = _passed(args) if args else Words("nothing")
    if kernel.parameters[:1] == ("self",):
        return message(
            "{kernel} has the parameter self, and a kernel belongs to no object: the launch "
            "passes {passed}. Try: define {kernel} outside of the class, or as @staticmethod "
            "above @cuda.jit, without self",
            kernel=Name(kernel.name),
            passed=passed,
        )
    return message(
        "{kernel}({parameters}) takes {count} argument{s}, and the launch passes {given}: "
        "{passed}. Give the kernel one parameter for each, in this order",
        kernel=Name(kernel.name),
        parameters=Name(", ".join(kernel.parameters)),
        count=Constant(count),
        s=Words("s" * (count != 1)),
        given=Constant(len(args)),
        passed=passed,
    )


def _passed(args: tuple[object, ...]) -> Joined:
    return Joined(tuple(map(_described, args)), ", ")


def _described(value: object) -> Message:
    values = _as_array(value)
    if values is None:
        return message("a {type}", type=TypeName(type(value).__name__))
    return message(
        "an array of {dtype} with [[shape {shape}|{shape}]]",
        dtype=TypeName(values.dtype),
        shape=Lengths(values.shape),
    )

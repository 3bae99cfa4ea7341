"""The arguments of a launch as the kernel sees them: arrays with addresses, numbers, records, and tuples of these."""

from __future__ import annotations

import numpy as np

from warpwise.errors import LaunchError
from warpwise.simt import types
from warpwise.simt.machine.memory import ALIGNMENT, Memory
from warpwise.simt.machine.records import RecordType, is_known
from warpwise.simt.machine.views import View, argument, sliced
from warpwise.simt.text.source import Kernel
from warpwise.simt.types import ArrayType, TupleType

_FIRST_ADDRESS = 1 << 32


def bind(kernel: Kernel, args: tuple) -> tuple:
    """Arguments as the kernel sees them; arrays get addresses like separate allocations."""
    if len(args) != len(kernel.parameters):
        raise LaunchError(_on_count(kernel, args))
    space = _Allocations()
    bound = tuple(_bound(kernel, name, value, space) for name, value in zip(kernel.parameters, args, strict=True))
    return _as_signed(kernel, bound, args) if kernel.signatures else bound


def _as_signed(kernel: Kernel, bound: tuple, args: tuple) -> tuple:
    """Numbers as the kernel's signature has them, the first that fits. Raises LaunchError where none does."""
    for signature in kernel.signatures:
        if len(signature) == len(bound) and all(map(_fits, signature, bound)):
            return tuple(types.cast(value, p.dtype) if p and not p.ndim else value for p, value in zip(signature, bound, strict=True))
    made = " or ".join(f"({', '.join(str(p or '...') for p in signature)})" for signature in kernel.signatures)
    passed = ", ".join(map(_described, args))
    raise LaunchError(f"{kernel.name} is compiled for {made}, and the launch passes {passed}: mend the signature, or leave it out")


def _fits(parameter, value) -> bool:
    if parameter is None:
        return True
    if parameter.ndim:
        return isinstance(value, (Memory, View)) and (value.dtype, value.ndim) == (parameter.dtype, parameter.ndim)
    return not isinstance(value, (Memory, View, tuple))


class _Allocations:
    """Addresses for arrays, in the order in which they come; views keep their place in what they are a view of."""

    def __init__(self):
        self.next, self.seen = _FIRST_ADDRESS, {}

    def address(self, values: np.ndarray) -> int:
        owner, offset = _allocation(values)
        if id(owner) not in self.seen:
            self.seen[id(owner)] = self.next, owner  # kept, so that no other array gets its id
            self.next += -(-max(owner.nbytes, 1) // ALIGNMENT) * ALIGNMENT
        return self.seen[id(owner)][0] + offset


def _allocation(values: np.ndarray) -> tuple[np.ndarray, int]:
    """The array that owns the memory, and where in it ``values`` begins, in bytes."""
    root = values
    while isinstance(root.base, np.ndarray):
        root = root.base
    return root, values.__array_interface__["data"][0] - root.__array_interface__["data"][0]


def _bound(kernel: Kernel, name: str, value, space: _Allocations):
    if isinstance(value, tuple):
        items = [_bound(kernel, f"{name}.{field}", item, space) for field, item in zip(_fields(value), value, strict=True)]
        return Fields(items, value._fields) if hasattr(value, "_fields") else tuple(items)
    values = _as_array(value)
    if values is None:
        return _record(kernel, name, value, space) if isinstance(value, np.void) else _scalar(kernel, name, value)
    if not is_known(values.dtype):
        raise LaunchError(f"{name} is an array of {values.dtype}, which the simulator does not know")
    return argument(name, values, space.address(values))


class Fields(tuple):
    """A named tuple as an argument."""

    def __new__(cls, items, names):
        made = super().__new__(cls, items)
        made.names = tuple(names)
        return made


def _fields(value: tuple) -> tuple:
    return getattr(value, "_fields", tuple(range(len(value))))


def _record(kernel: Kernel, name: str, value: np.void, space: _Allocations) -> View:
    """A record passed by value: the kernel reads a copy of it."""
    if not is_known(value.dtype) or not value.dtype.names:
        raise LaunchError(f"{kernel.name}: argument {name} is a record of {value.dtype}, which the simulator does not know")
    values = np.array([value])
    values.flags.writeable = False
    return sliced(argument(name, values, space.address(values)), [0], name, lambda index, size, axis: index)


def _scalar(kernel: Kernel, name: str, value):
    if isinstance(value, np.ndarray):
        value = value[()]
    kind = types.of_constant(value)
    if kind is None or not types.is_scalar(kind):
        what = f"{kernel.name}: argument {name} is a {type(value).__name__}; a kernel takes arrays and numbers"
        raise LaunchError(f"{what}. Try: {_instead(kernel, name, value)}")
    return types.cast(value, kind)


def _instead(kernel: Kernel, name: str, value) -> str:
    """What to pass instead of something that is no array and no number."""
    if name == "self":
        return f"define {kernel.name} outside of the class, without self, and pass it arrays and numbers"
    if isinstance(value, (list, set, range)):
        return f"np.array({name})" if isinstance(value, list) else f"np.array(list({name}))"
    if isinstance(value, dict):
        return f"its numbers as an array: np.array(list({name}.values()))"
    if isinstance(value, (str, bytes)):
        return f"its characters as numbers: np.frombuffer({name}{'.encode()' if isinstance(value, str) else ''}, np.uint8)"
    return "a number, an array such as np.array([1.0, 2.0]), or a tuple of these"


def _as_array(value) -> np.ndarray | None:
    values = getattr(value, "host_values", value)  # what warpwise.cuda.to_device made
    return values if isinstance(values, np.ndarray) and values.ndim else None


def type_of(value):
    """The type of a bound argument."""
    if isinstance(value, tuple):
        return TupleType(tuple(map(type_of, value)), getattr(value, "names", ()))
    if isinstance(value, View) and not value.shape:
        return RecordType(value.dtype, value.space)
    return ArrayType(value.dtype, value.ndim, value.space) if isinstance(value, (Memory, View)) else types.of_constant(value)


def _on_count(kernel: Kernel, args: tuple) -> str:
    count = len(kernel.parameters)
    passed = ", ".join(map(_described, args)) or "nothing"
    if kernel.parameters[:1] == ("self",):
        return (
            f"{kernel.name} has the parameter self, and a kernel belongs to no object: the launch passes {passed}. "
            f"Try: define {kernel.name} outside of the class, or as @staticmethod above @cuda.jit, without self"
        )
    return (
        f"{kernel.name}({', '.join(kernel.parameters)}) takes {count} argument{'s' * (count != 1)}, and the launch passes {len(args)}: "
        f"{passed}. Give the kernel one parameter for each, in this order"
    )


def _described(value) -> str:
    values = _as_array(value)
    return f"a {type(value).__name__}" if values is None else f"an array of {values.dtype} with shape {values.shape}"

"""``cuda.guvectorize``: functions of arrays, applied along the outer axes of larger ones.

Each thread runs the function for one place of the outer axes, as with Numba. Its rules are Numba's:
an input without outer axes is used for all, and others need the same outer axes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from warpwise.cuda.arrays import DeviceArray
from warpwise.cuda.elementwise import (
    DTypes,
    as_values,
    device_function,
    kernel_around,
    launched,
    need_options,
    on_device,
    signature,
)
from warpwise.cuda.layouts import WrongType, c_strides
from warpwise.errors import LaunchError
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.types import NONE

Axes = tuple[str, ...]
_GROUP = re.compile(r"\(([\w,]*)\),?")


def axes_of(layout: str) -> tuple[list[Axes], list[Axes]]:
    """Read ``"(m,n),(n,p)->(m,p)"``: the names of the inner axes of inputs and outputs.

    Raises LaunchError for what is no such signature, NameError for an axis of outputs only."""
    parts = "".join(layout.split()).split("->")
    for part in parts:
        if len(parts) != 2 or not part or _GROUP.sub("", part):
            raise LaunchError(f'bad token in signature "{layout}": try "(m,n),(n)->(m)"')
    inputs, outputs = (
        [tuple(filter(None, group.split(","))) for group in _GROUP.findall(part)] for part in parts
    )
    unknown = {name for axes in outputs for name in axes} - {n for axes in inputs for n in axes}
    if unknown:
        raise NameError(f"undefined output symbols: {','.join(sorted(unknown))}")
    return inputs, outputs


class GUFunc:
    """A function of arrays that works on arrays of them: see ``guvectorize``."""

    def __init__(self, function: Any, layout: str) -> None:
        self.core = device_function(function)
        self.__name__, self.__doc__ = self.core.name, self.core.__doc__
        self.inputs, self.outputs = axes_of(layout)
        #: by the types of the inputs, those of the outputs and the kernel
        self.functions: dict[DTypes, tuple[DTypes, Kernel]] = {}

    def add(self, given: Any) -> None:
        """Make a kernel for a signature. Raises TypeError for one that returns something."""
        kinds, result = signature(given)
        if result not in (None, NONE):
            raise WrongType(
                f"guvectorized functions cannot return values: signature {given} specifies "
                f"{result} return type"
            )
        all_axes = [*self.inputs, *self.outputs]
        if len(kinds) != len(all_axes):
            raise WrongType(f"{given} has not as many types as {self.__name__} has arrays")
        names, parts = [f"a{n}" for n in range(len(all_axes))], []
        for name, axes, kind in zip(names, all_axes, kinds, strict=True):
            if axes and kind.ndim != len(axes):
                raise LaunchError(f"gufunc signature mismatch: {given}")
            inner = f"i, {', '.join(':' * len(axes))}" if axes else "i:i + 1" if kind.ndim else "i"
            parts.append(f"{name}[{inner}]")
        guard = f"min({', '.join(f'{name}.shape[0]' for name in names)})"
        guard = guard if len(names) > 1 else f"{names[0]}.shape[0]"
        kernel = kernel_around(self.core, names, guard, f"core({', '.join(parts)})")
        dtypes = tuple(kind.dtype for kind in kinds)
        count = len(self.inputs)
        self.functions[dtypes[:count]] = dtypes[count:], kernel

    def __call__(self, *args: Any, out: Any = None, stream: object = 0) -> Any:
        """Apply the function; returns its output, or a tuple of several.

        They are device arrays if there is one among the arguments. Raises TypeError for a wrong
        number of arguments and where no signature has the types, ValueError for shapes that do not
        go together."""
        self._check_count(len(args), out)
        count = len(self.inputs)
        given = [as_values(arg) for arg in args[:count]]
        targets = list(args[count:]) or [out] * len(self.outputs)
        to_host = not any(device_like(one) for one in (*args, *targets))
        dtypes = self._resolved(tuple(values.dtype for values, _ in given))
        results, kernel = self.functions[dtypes]
        outer, sizes = self._scheduled([values.shape for values, _ in given])
        given = [_cast(*one, dtype) for one, dtype in zip(given, dtypes, strict=True)]
        loops = math.prod(outer)
        inputs = [
            _spread(on_device(*one, stream), loops, tuple(sizes[a] for a in axes))
            for one, axes in zip(given, self.inputs, strict=True)
        ]
        shapes = [(*outer, *(sizes[a] for a in axes)) for axes in self.outputs]
        made = [
            self._output(target, shape, dtype, stream)
            for target, shape, dtype in zip(targets, shapes, results, strict=True)
        ]
        flat = [
            DeviceArray.over(one.host_values.reshape(loops, *shape[len(outer) :]), stream)
            for one, shape in zip(made, shapes, strict=True)
        ]
        launched(kernel, loops, [*inputs, *flat])
        found = [_handed(one, target, to_host) for one, target in zip(made, targets, strict=True)]
        return found[0] if len(found) == 1 else tuple(found)

    def _check_count(self, count: int, out: Any) -> None:
        most, all_of_them = len(self.inputs), len(self.inputs) + len(self.outputs)
        if out is None and count not in (most, all_of_them):
            raise WrongType(
                f"This gufunc accepts {_positional(most)} (when providing input only) or "
                f"{_positional(all_of_them)} (when providing input and output). "
                f"Got {_positional(count)}."
            )
        if out is not None and count > most:
            raise LaunchError("cannot specify argument 'out' as both positional and keyword")

    def _resolved(self, dtypes: DTypes) -> DTypes:
        """Return the types of the signature for some inputs; Numba takes the first that casts."""
        if dtypes in self.functions:
            return dtypes
        for types in self.functions:
            if all(np.can_cast(t, d) for t, d in zip(types, dtypes, strict=True)):
                return types
        known = " or ".join(f"({', '.join(map(str, types))})" for types in self.functions)
        passed = ", ".join(map(str, dtypes))
        what = f"no matching signature: {self.__name__} takes {known}"
        raise WrongType(f"{what}, and ({passed}) is passed")

    def _scheduled(self, shapes: list[tuple[int, ...]]) -> tuple[tuple[int, ...], dict[str, int]]:
        """Return the outer axes, and the length of each inner one."""
        sizes: dict[str, int] = {}
        outers = []
        for number, (shape, axes) in enumerate(zip(shapes, self.inputs, strict=True), 1):
            if len(shape) < len(axes):
                raise LaunchError(f"arg #{number}: insufficient inner dimension")
            outer = shape[: len(shape) - len(axes)]
            for axis, name in enumerate(axes, len(outer)):
                if sizes.setdefault(name, shape[axis]) != shape[axis]:
                    raise LaunchError(f"arg #{number}: shape[{axis}] mismatch argument")
            outers.append(outer)
        largest = max(outers, key=math.prod)
        for number, outer in enumerate(outers, 1):
            if outer not in (largest, (1,), ()):
                raise LaunchError(f"arg #{number}: outer dimension mismatch")
        if not math.prod(largest):
            raise LaunchError("zero looping dimension")
        return largest, sizes

    def _output(
        self, target: Any, shape: tuple[int, ...], dtype: np.dtype[Any], stream: object
    ) -> DeviceArray:
        if target is not None and as_values(target)[0].shape != shape:
            raise LaunchError("output shape mismatch")
        if target is not None and (found := as_values(target))[1]:
            return DeviceArray.over(found[0], stream)
        like = np.broadcast_to(np.empty((), dtype), shape)
        return DeviceArray(shape, c_strides(like), dtype, stream)


def _positional(count: int) -> str:
    return f"{count} positional argument{'s' * (count != 1)}"


def device_like(argument: Any) -> bool:
    return argument is not None and as_values(argument)[1]


def _cast(values: np.ndarray, is_device: bool, dtype: np.dtype[Any]) -> tuple[np.ndarray, bool]:
    if values.dtype != dtype and is_device:
        raise WrongType(
            f"compatible signature is possible by casting from {values.dtype} to {dtype}, but "
            "a device array does not support .astype()"
        )
    return values.astype(dtype, copy=False), is_device


def _spread(array: DeviceArray, loops: int, inner: tuple[int, ...]) -> DeviceArray:
    """Return an input with one outer axis; one without is the same for all of it."""
    values = array.host_values
    if not inner and values.size == 1:
        steps: tuple[int, ...] = (0,)
    elif values.shape == inner:
        steps = (0, *values.strides)
    else:
        return DeviceArray.over(values.reshape(loops, *inner), array.stream)
    return DeviceArray((loops, *inner), steps, values.dtype, array.stream, array.gpu_data)


def _handed(made: DeviceArray, target: Any, to_host: bool) -> Any:
    """Return an output as it is handed to the caller."""
    if to_host:
        host = made.host_values
        if target is None:
            return host
        target[...] = host
    elif target is None or device_like(target):
        return made
    else:
        target[...] = made.host_values
    return target


def guvectorize(
    ftylist: Any, signature: str, *, nopython: bool = True, **options: Any
) -> Callable[[Any], GUFunc]:
    """Make a generalized ufunc: ``@cuda.guvectorize(["(f4[:], f4[:])"], "(n)->()")``.

    The function writes its outputs into its last parameters. Raises TypeError for an option that it
    does not have and for a signature that returns something."""
    need_options(options, ("cache", "writable_args"))
    if not nopython:
        raise WrongType("nopython flag must be True")
    if options:
        names = ", ".join(map(repr, options))
        raise WrongType(f"The following target options are not supported: {names}")

    def make(function: Any) -> GUFunc:
        made = GUFunc(function, signature)
        for one in [ftylist] if isinstance(ftylist, str) else ftylist:
            made.add(one)
        return made

    return make


HOST: dict[str, object] = {"guvectorize": guvectorize}

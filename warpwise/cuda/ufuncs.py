"""``cuda.vectorize``: functions of numbers, applied to arrays element by element.

As with Numba, arrays have exactly the types of a signature, and only numbers are converted; arrays
of the host give one of the host, and with a device array among them the result stays on the
device."""

from __future__ import annotations

import math
import warnings
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
    signature,
)
from warpwise.cuda.layouts import WrongType, c_strides
from warpwise.errors import LaunchError
from warpwise.simt.compiler.function_compiler import compile_function
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.signatures import Parameter
from warpwise.simt.types import is_scalar

NUMBERS = (int, float, complex, np.number)


class UFunc:
    """A function of numbers that works on arrays: see ``vectorize``."""

    def __init__(self, function: Any) -> None:
        self.core = device_function(function)
        self.__name__, self.__doc__ = self.core.name, self.core.__doc__
        #: by the types of its arguments, the type of its result and the kernel
        self.functions: dict[DTypes, tuple[np.dtype[Any], Kernel]] = {}

    def add(self, given: Any) -> None:
        """Compile the function for a signature. Raises KernelError for a mistake in it."""
        kinds, asked = signature(given)
        dtypes = tuple(kind.dtype for kind in kinds)
        found = compile_function(self.core, dtypes).result
        result = asked.dtype if isinstance(asked, Parameter) else found
        if not is_scalar(result) or not is_scalar(found):
            raise WrongType(f"{self.__name__} returns no number: end it with return ...")
        names = [f"a{n}" for n in range(len(dtypes))]
        call = f"out[i] = core({', '.join(f'{name}[i]' for name in names)})"
        kernel = kernel_around(self.core, [*names, "out"], "out.shape[0]", call)
        self.functions[dtypes] = result, kernel

    def __call__(self, *args: Any, out: Any = None, stream: object = 0, **others: Any) -> Any:
        """Apply the function to arrays and numbers, which are broadcast.

        Returns a device array if there is one among the arguments or as ``out``, else an array of
        the host. Raises TypeError where no signature has the types, ValueError for shapes that do
        not go together."""
        if others:
            warnings.warn(f"unrecognized keywords: {', '.join(others)}", stacklevel=2)
        dtypes = self._resolved(args)
        result, kernel = self.functions[dtypes]
        given = [
            (np.array([arg], dtype), False) if isinstance(arg, NUMBERS) else as_values(arg)
            for arg, dtype in zip(args, dtypes, strict=True)
        ]
        shape = self._broadcast([values.shape for values, _ in given])
        target, is_device = (None, False) if out is None else as_values(out)
        if target is None:
            target = DeviceArray(shape, c_strides(_like(shape, result)), result).host_values
            is_device = any(device for _, device in given)
        if target.shape != shape:
            raise LaunchError(f"out has shape {target.shape}, and the result {shape}")
        if not is_device and target.dtype != result:
            raise WrongType(f"out is an array of {target.dtype}, and the result of {result}")
        flat = DeviceArray((target.size,), (target.itemsize,), target.dtype)
        whole = target.flags.c_contiguous
        if whole:
            flat = DeviceArray.over(target.reshape(-1), stream)
        inputs = [DeviceArray.over(_flat(values, shape), stream) for values, _ in given]
        launched(kernel, math.prod(shape), [*inputs, flat])
        if not whole:
            target[...] = flat.host_values.reshape(shape)
        if is_device:
            return DeviceArray.over(target, stream)
        return target if out is None else out

    def _broadcast(self, shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
        found: tuple[int, ...] = shapes[0]
        for number, shape in enumerate(shapes[1:], 1):
            try:
                found = np.broadcast_shapes(found, shape)
            except ValueError:
                raise LaunchError(f"failed to broadcast argument #{number}") from None
        return found

    def _resolved(self, args: tuple[Any, ...]) -> DTypes:
        """Return the signature for some arguments: first one that numbers have as well."""
        numbers = [isinstance(arg, NUMBERS) for arg in args]
        dtypes = [as_values(arg)[0].dtype for arg in args]
        same_length = [types for types in self.functions if len(types) == len(args)]
        exact = [types for types in same_length if list(types) == dtypes]
        fitting = exact or [
            types
            for types in same_length
            if all(n or t == d for n, t, d in zip(numbers, types, dtypes, strict=True))
        ]
        if not fitting:
            known = " or ".join(f"({', '.join(map(str, types))})" for types in self.functions)
            passed = ", ".join(map(str, dtypes))
            raise WrongType(
                f"No matching version: {self.__name__} is compiled for {known or 'no types'}, and "
                f"({passed}) is passed. Arrays must have exactly these types"
            )
        if len(fitting) > 1:
            raise WrongType(
                f"Failed to resolve {self.__name__} due to ambiguous signature: give the numbers "
                "a type, such as np.float32(1)"
            )
        return fitting[0]

    def reduce(self, arg: Any, stream: object = 0) -> Any:
        """Reduce an array of one dimension by a function of two numbers, half by half.

        As with Numba, a device array is overwritten. Raises TypeError for an empty array."""
        values, is_device = as_values(arg)
        if any(len(types) != 2 for types in self.functions):
            raise WrongType(f"reduce needs a function of two numbers, unlike {self.__name__}")
        if values.ndim != 1:
            raise WrongType(f"reduce needs an array of one dimension, not {values.ndim}")
        if not values.size:
            raise WrongType("Reduction on an empty array.")
        work = values if is_device else values.copy()
        return self._reduced(work)[0] if work.size > 1 else work[0]

    def _reduced(self, values: np.ndarray) -> np.ndarray:
        count, half = len(values), len(values) // 2
        if count % 2:
            first = self._reduced(values[:-1]) if count > 2 else values[:1]
            return self._into(first, first, values[-1:])
        left = self._into(values[:half], values[:half], values[half:])
        return self._reduced(left) if half > 1 else left

    def _into(self, out: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        device = [DeviceArray.over(one) for one in (left, right, out)]
        self(*device[:2], out=device[2])
        return out


def _like(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    return np.broadcast_to(np.empty((), dtype), shape)


def _flat(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return np.broadcast_to(values, shape).reshape(-1)


def vectorize(ftylist_or_function: Any = (), **options: Any) -> Callable[[Any], UFunc]:
    """Make a ufunc of a function of numbers: ``@cuda.vectorize(["float32(float32, float32)"])``.

    Raises LaunchError without a signature, KeyError for an option that it does not have, TypeError
    for what is no signature, and KernelError for a mistake in the function."""
    need_options(options, ("cache",))
    if "nopython" in options:
        options.pop("nopython")
        what = "nopython kwarg for cuda target is redundant"
        warnings.warn(what, RuntimeWarning, stacklevel=2)
    for name in options:
        raise KeyError(
            f"Unrecognized options. cuda vectorize target does not support option: {name!r}"
        )
    given = ftylist_or_function
    signatures = [given] if isinstance(given, str) else given
    if callable(signatures) or not signatures:
        raise LaunchError(
            "cuda.vectorize needs signatures: @cuda.vectorize(['float32(float32, float32)'])"
        )

    def make(function: Any) -> UFunc:
        made = UFunc(function)
        for one in signatures:
            made.add(one)
        return made

    return make


HOST: dict[str, object] = {"vectorize": vectorize}

"""The simulator under Numba's name, where Numba cannot be: in a browser.

``install()`` lets a program say ``from numba import cuda, float32``, as one for a GPU does. Whoever
starts Python there calls it; importing ``warpwise`` never does. It has the names that kernels and
their decorators use. Left out: compiling for the processor (``njit``), typing, and all else."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from warpwise import cuda
from warpwise.cuda import random
from warpwise.simt.builtins import CUDA_FUNCTIONS
from warpwise.simt.frontend.names import TYPE_NAMES, CudaName
from warpwise.simt.frontend.signatures import VOID, Parameter

HOST = ("vectorize", "guvectorize")  #: what Numba has at its top, too


class NumbaType(CudaName):
    """A type of Numba by its name: ``float32(x)`` in a kernel, ``float32[:]`` in a signature."""

    def __getitem__(self, axes: Any) -> Parameter:
        axes = axes if isinstance(axes, tuple) else (axes,)
        layout = "C" if axes[-1].step else "F" if axes[0].step else "A"
        return Parameter(np.dtype(TYPE_NAMES[str(self)]), len(axes), layout)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return Written(self, args)

    def __str__(self) -> str:
        return self.path.removeprefix("types.")


@dataclass(frozen=True)
class Written:
    """A signature that calls a type, such as ``void(float32[:])``."""

    return_type: Any
    args: tuple[Any, ...]


class Cuda(ModuleType):
    """``numba.cuda``: the names of ``warpwise.cuda``."""

    def __getattr__(self, name: str) -> Any:
        return getattr(cuda, name)

    def __dir__(self) -> list[str]:
        return dir(cuda)


def install() -> None:
    """Put the simulator in Numba's place, unless Numba is here, or it was put there already.

    A folder that happens to have that name does not count."""
    if "numba.cuda" in sys.modules or getattr(find_spec("numba"), "origin", None):
        return
    types = _module("numba.types", {t: NumbaType(f"types.{t}") for t in (*TYPE_NAMES, *VOID)})
    vars(types)["Array"] = _array
    inner = Cuda("numba.cuda")
    parts = {part: _part(part) for part in ("libdevice", "fp16")}
    parts["random"] = _module("numba.cuda.random", {n: getattr(random, n) for n in dir(random)})
    for name, part in parts.items():
        sys.modules[f"numba.cuda.{name}"] = part
    vars(inner).update(parts, types=types, __path__=[])
    top = {"cuda": inner, "types": types, "from_dtype": np.dtype, "__path__": []}
    top |= {name: getattr(cuda, name) for name in HOST}
    numba = _module("numba", {**vars(types), **top})
    sys.modules |= {"numba": numba, "numba.cuda": inner}
    sys.modules |= dict.fromkeys(("numba.types", "numba.cuda.types"), types)


def _module(name: str, values: dict[str, Any]) -> ModuleType:
    """Return a module with these names; kept for good, since names are known by identity."""
    module = ModuleType(name)
    vars(module).update({key: value for key, value in values.items() if key not in vars(module)})
    return module


def _part(name: str) -> ModuleType:
    paths = [path for path in CUDA_FUNCTIONS if path.startswith(f"{name}.")]
    return _module(
        f"numba.cuda.{name}", {path.removeprefix(f"{name}."): CudaName(path) for path in paths}
    )


def _array(dtype: NumbaType, ndim: int, layout: str) -> Parameter:
    """Return ``types.Array(float32, 2, "C")``."""
    return Parameter(np.dtype(TYPE_NAMES[str(dtype)]), ndim, layout)

"""What the names around a kernel are: anything of ``numba.cuda`` becomes a ``CudaName``, a Numba type a NumPy one.

Objects are known by what they are, so that aliased imports are seen through; names in text that does not run, by their import.
"""

from __future__ import annotations

import ast
import cmath
import enum
import functools
import inspect
import math
import sys
from types import ModuleType

import numpy as np

from warpwise.errors import UnsupportedError
from warpwise.simt.text.words import CALLED, TOP
from warpwise.simt.types import ELEMENTS

MODULES = {"math": math, "cmath": cmath, "numpy": np, "enum": enum}

_PARTS = ("", "libdevice", "fp16", "random", "types", "cg")
#: Modules of CUDA's names -> the path of what is in them.
CUDA_MODULES = {f"{package}.cuda{part and '.'}{part}": part for package in ("numba", "warpwise") for part in _PARTS}
CUDA_MODULES |= {"numba.types": "types", "numba.core.types": "types", "warpwise.simt.language.random": "random"}
_INNER = ("libdevice", "fp16", "random")  #: whose functions are known one by one

#: Numba's further names of scalar types -> NumPy's name.
_ALIASES = {
    "boolean": "bool", "bool_": "bool", "b1": "bool", "byte": "uint8", "uchar": "uint8", "u1": "uint8", "ushort": "uint16", "u2": "uint16",
    "uintc": "uint32", "u4": "uint32", "uintp": "uint64", "size_t": "uint64", "uint": "uint64", "ulong": "uint64", "ulonglong": "uint64",
    "u8": "uint64", "char": "int8", "i1": "int8", "short": "int16", "i2": "int16", "intc": "int32", "i4": "int32", "intp": "int64",
    "ssize_t": "int64", "int_": "int64", "long_": "int64", "longlong": "int64", "i8": "int64", "f2": "float16", "f4": "float32",
    "double": "float64", "f8": "float64", "c8": "complex64", "c16": "complex128",
}  # fmt: skip
_KNOWN = {t.name: t.type for t in ELEMENTS}
TYPE_NAMES = _KNOWN | {alias: _KNOWN[name] for alias, name in _ALIASES.items() if name in _KNOWN}


class CudaName:
    """Something below ``numba.cuda`` or ``warpwise.cuda``, known by its dotted path: ``grid``, ``shared.array``, ``threadIdx``."""

    def __init__(self, path: str = ""):
        self.path = path

    def __getattr__(self, name: str) -> CudaName:
        if name.startswith("__"):
            raise AttributeError(name)
        return CudaName(f"{self.path}.{name}" if self.path else name)

    def __call__(self, *args, **kwargs):
        what = f"{self} means something inside of a kernel only, and Python has called it"
        raise UnsupportedError(what, try_this="is @cuda.jit missing above the function that this line is in?")

    def __eq__(self, other) -> bool:
        return isinstance(other, CudaName) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        return f"cuda.{self.path}" if self.path else "cuda"


def resolve(value: object) -> object:
    """A name's value as the compiler knows it."""
    if isinstance(value, ModuleType):
        path = CUDA_MODULES.get(value.__name__)
        return value if path is None else CudaName(path)
    if isinstance(value, CudaName):
        return TYPE_NAMES.get(value.path.removeprefix("types."), value)
    if isinstance(value, enum.IntEnum):
        return int(value)
    return _numba_names().get(id(value), value)


def attribute(base: object, name: str) -> object:
    """``base.name``, without running what a module or an object does when asked: that of ``ctypes.cdll`` loads a library.

    Raises AttributeError.
    """
    if isinstance(base, (CudaName, Package, np.dtype, type)):
        return getattr(base, name)
    if not isinstance(base, ModuleType):
        return inspect.getattr_static(base, name)
    if name not in vars(base):
        raise AttributeError(name)
    return vars(base)[name]


def _numba_names() -> dict[int, object]:
    """Objects of Numba, as far as it was imported -> what they are, by identity."""
    numba = sys.modules.get("numba")
    if numba is None:
        return {}
    parts = tuple(sys.modules.get(f"numba.cuda.{part}") for part in _INNER)
    return _names_of(numba, sys.modules.get("numba.cuda"), sys.modules.get("warpwise.simt.language.random"), *parts)


@functools.lru_cache(maxsize=16)
def _names_of(numba: ModuleType, module: ModuleType | None, random: ModuleType | None, *parts: ModuleType | None) -> dict[int, object]:
    names: dict[int, object] = {id(getattr(numba.types, name)): t for name, t in TYPE_NAMES.items() if hasattr(numba.types, name)}
    if module is not None:
        names |= {id(getattr(module, n)): CudaName(n) for n in (*TOP, "jit") if hasattr(module, n)}
    for part, inner in zip(_INNER, parts, strict=True):
        called = [path.partition(".")[2] for path in CALLED if path.startswith(f"{part}.")]
        names |= {id(getattr(inner, n)): CudaName(f"{part}.{n}") for n in called if inner is not None and hasattr(inner, n)}
    return names


# --- imports in text that does not run ---


def imported(node: ast.Import | ast.ImportFrom) -> dict[str, object]:
    """The names that an import binds, as far as a kernel can use them."""
    found = {}
    for alias in node.names:
        if isinstance(node, ast.Import):
            module = alias.name if alias.asname else alias.name.partition(".")[0]
            value, bound = _module(module), alias.asname or module
        else:
            value, bound = from_import(node.module or "", alias.name), alias.asname or alias.name
        if value is not None:
            found[bound] = value
    return found


def _module(name: str) -> object:
    if name in CUDA_MODULES:
        return CudaName(CUDA_MODULES[name])
    return Package(name) if name in ("numba", "warpwise") else MODULES.get(name)


class Package:
    """``numba`` or ``warpwise`` named in text that does not run: only its CUDA names and its types mean something."""

    def __init__(self, name: str):
        self.__name__ = name

    def __getattr__(self, name: str):
        value = from_import(self.__dict__["__name__"], name)
        if value is None:
            raise AttributeError(name)
        return value


NAMESPACES = (ModuleType, CudaName, Package)  #: whose attributes a kernel can read


def from_import(module: str, name: str) -> object:
    """What ``from module import name`` binds; None for what a kernel cannot use."""
    if module in ("numba", "warpwise"):
        if f"{module}.{name}" in CUDA_MODULES:
            return CudaName(CUDA_MODULES[f"{module}.{name}"])
        return TYPE_NAMES.get(name) if module == "numba" else None
    if module in CUDA_MODULES:
        return resolve(getattr(CudaName(CUDA_MODULES[module]), name))
    return vars(MODULES[module]).get(name) if module in MODULES else None

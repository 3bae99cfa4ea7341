"""The names around a kernel: those of ``numba.cuda`` become ``CudaName``, Numba's types NumPy's.

Objects are recognised by identity, so that aliased imports are seen through; names in text that
does not run, by their import. CUDA's words are those that Numba defines in a few modules, so that
no list of them is needed here: the compiler says which ones a kernel can use."""

from __future__ import annotations

import ast
import cmath
import enum
import functools
import inspect
import math
import operator
import sys
from collections import ChainMap
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from warpwise.errors import UnsupportedError
from warpwise.simt.builtins import CUDA_FUNCTIONS
from warpwise.simt.builtins.random_functions import RANDOM
from warpwise.simt.types import ELEMENTS

MODULES = {"math": math, "cmath": cmath, "numpy": np, "enum": enum, "operator": operator}

_PARTS = ("", "libdevice", "fp16", "random", "types", "cg")
#: Modules that hold CUDA's names -> the path of these names below ``cuda``.
CUDA_MODULES = {
    f"{package}.cuda{part and '.'}{part}": part
    for package in ("numba", "warpwise")
    for part in _PARTS
}
CUDA_MODULES |= {
    "numba.types": "types",
    "numba.core.types": "types",
}
CUDA_MODULES["warpwise.hopper"] = "hopper"
#: numba-cuda-mlir, the successor of numba-cuda, in which ``shared`` is a module too.
SUCCESSOR = "numba_cuda_mlir"
_PARTS_OF_IT = ("", "shared", "local", "const", "libdevice", "fp16", "types")
CUDA_MODULES |= {f"{SUCCESSOR}.cuda{part and '.'}{part}": part for part in _PARTS_OF_IT}
CUDA_MODULES |= {f"{SUCCESSOR}.numba_cuda.{part}": part for part in ("cg", "random", "types")}
CUDA_MODULES |= {f"{SUCCESSOR}.types": "types"}
PACKAGES = ("numba", "warpwise", SUCCESSOR)  #: that have ``cuda``
#: Modules that define CUDA's words; of the vector types Numba's simulator has its own.
_WORDS = (
    "numba.cuda.stubs",
    "numba.cuda.intrinsics",
    "numba.cuda.simulator.vector_types",
    "numba.cuda.cache_hints",
    f"{SUCCESSOR}.cuda",
    f"{SUCCESSOR}.numba_cuda.cache_hints",
    f"{SUCCESSOR}.numba_cuda.stubs",
    f"{SUCCESSOR}.numba_cuda.intrinsics",
    f"{SUCCESSOR}.type_defs.vector_types",
)
KERNELS = "warpwise.kernels"
#: Modules of it -> their instructions, each a word of the language.
INSTRUCTIONS = {
    "wide": ("load4", "store4"),
    "bfloat16": ("widen", "narrow"),
    "tensor_core": (
        "mma_bf16",
        "mma_tf32",
        "ldmatrix_x4",
        "ldmatrix_x4_trans",
        "cp_async16",
        "cp_async_commit",
        "cp_async_wait",
    ),
}
#: Modules below ``numba.cuda`` -> their functions that kernels call.
_INNER = {
    part: [path.removeprefix(f"{part}.") for path in CUDA_FUNCTIONS if path.startswith(f"{part}.")]
    for part in ("libdevice", "fp16")
} | {"random": list(RANDOM)}

#: NumPy's name of a scalar type -> Numba's further names.
_ALIASES = {
    "bool": "boolean bool_ b1",
    "uint8": "byte uchar u1",
    "uint16": "ushort u2",
    "uint32": "uintc u4",
    "uint64": "uintp size_t uint ulong ulonglong u8",
    "int8": "char i1",
    "int16": "short i2",
    "int32": "intc i4",
    "int64": "intp ssize_t int_ long_ longlong i8",
    "float16": "f2",
    "float32": "f4",
    "float64": "double f8",
    "complex64": "c8",
    "complex128": "c16",
}
TYPE_NAMES = {t.name: t.type for t in ELEMENTS}
TYPE_NAMES |= {
    alias: TYPE_NAMES[name] for name, aliases in _ALIASES.items() for alias in aliases.split()
}


class CudaName:
    """A name below ``cuda``, by its dotted path: ``grid``, ``shared.array``, ``threadIdx``."""

    def __init__(self, path: str = ""):
        self.path = path

    def __getattr__(self, name: str) -> CudaName:
        if name.startswith("__"):
            raise AttributeError(name)
        return CudaName(f"{self.path}.{name}" if self.path else name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        what = f"{self} means something inside of a kernel only, and Python has called it"
        raise UnsupportedError(
            what, try_this="is @cuda.jit missing above the function that this line is in?"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CudaName) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        package, _, word = self.path.partition(".")
        if package in INSTRUCTIONS:
            return word
        above = () if package == "hopper" else ("cuda",)
        return ".".join((*above, self.path)).removesuffix(".")


def resolve(value: object) -> object:
    """Return a name's value as the compiler knows it."""
    if isinstance(value, ModuleType):
        path = CUDA_MODULES.get(value.__name__)
        return value if path is None else CudaName(path)
    if isinstance(value, CudaName):
        return TYPE_NAMES.get(value.path.removeprefix("types."), value)
    if isinstance(word := inspect.getattr_static(value, "cuda_word", None), CudaName):
        return word
    return _numba_names().get(id(value), value)


def attribute(base: object, name: str) -> object:
    """Return ``base.name`` without running a module's or an object's own ``__getattr__``.

    That of ``ctypes.cdll`` loads a library. Raises AttributeError."""
    if isinstance(base, (CudaName, Package, np.dtype, type)):
        return getattr(base, name)
    if not isinstance(base, ModuleType):
        return inspect.getattr_static(base, name)
    if name not in vars(base):
        raise AttributeError(name)
    return vars(base)[name]


def has_own(value: object, *names: str) -> bool:
    """True if an object or its class has these attributes, whatever ``__getattr__`` would say.

    That of ``ctypes.cdll`` loads a library."""
    nothing = object()
    return all(inspect.getattr_static(value, name, nothing) is not nothing for name in names)


def _numba_names() -> Mapping[int, object]:
    """Map objects of Numba, as far as it was imported, to their meaning, by identity."""
    numba, successor = sys.modules.get("numba"), sys.modules.get(f"{SUCCESSOR}.cuda")
    names: list[dict[int, object]] = []
    if numba is not None:
        parts = tuple(sys.modules.get(f"numba.cuda.{part}") for part in _INNER)
        names.append(_names_of(numba.types, sys.modules.get("numba.cuda"), *parts))
    if successor is not None:
        parts = tuple(getattr(successor, part, None) for part in _INNER)
        names.append(_names_of(successor.types, successor, *parts))
    return names[0] if len(names) == 1 else ChainMap(*names)


@functools.lru_cache(maxsize=16)
def _names_of(
    types: ModuleType, cuda: ModuleType | None, *parts: ModuleType | None
) -> dict[int, object]:
    names: dict[int, object] = {
        id(getattr(types, name)): t for name, t in TYPE_NAMES.items() if hasattr(types, name)
    }
    for name, value in vars(cuda).items() if cuda else ():
        if name == "jit" or getattr(value, "__module__", None) in _WORDS:
            names[id(value)] = CudaName(name)
    for (part, called), inner in zip(_INNER.items(), parts, strict=True):
        found = {n: getattr(inner, n) for n in called if hasattr(inner, n)}
        names |= {id(value): CudaName(f"{part}.{n}") for n, value in found.items()}
    return names


# --- imports in text that does not run ---


def imported(node: ast.Import | ast.ImportFrom) -> dict[str, object]:
    """Return the names that an import binds, as far as a kernel can use them."""
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
    return Package(name) if name in PACKAGES else MODULES.get(name)


class Package:
    """One of PACKAGES in text that does not run: only CUDA's names and types count."""

    def __init__(self, name: str):
        self.__name__ = name

    def __getattr__(self, name: str) -> object:
        value = from_import(self.__dict__["__name__"], name)
        if value is None:
            raise AttributeError(name)
        return value


NAMESPACES = (ModuleType, CudaName, Package)  #: values whose attributes a kernel can read


def from_import(module: str, name: str) -> object:
    """Return what ``from module import name`` binds; None for what a kernel cannot use."""
    if module in PACKAGES:
        if f"{module}.{name}" in CUDA_MODULES:
            return CudaName(CUDA_MODULES[f"{module}.{name}"])
        return TYPE_NAMES.get(name) if module == "numba" else None
    if module in CUDA_MODULES:
        return resolve(getattr(CudaName(CUDA_MODULES[module]), name))
    package, _, part = module.rpartition(".")
    if package == KERNELS and name in INSTRUCTIONS.get(part, ()):
        return CudaName(f"{part}.{name}")
    return vars(MODULES[module]).get(name) if module in MODULES else None

"""Types that only the compiler knows: vectors, parts of a subscript, words and types as values."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from warpwise.simt.frontend.kernel import Node
from warpwise.simt.frontend.names import CudaName
from warpwise.simt.types import DType, KernelType


@dataclass(frozen=True)
class VectorType(KernelType):
    """``size`` numbers of one type; its values are tuples."""

    dtype: DType
    size: int

    def __str__(self) -> str:
        return f"{self.dtype}x{self.size}"


@dataclass(frozen=True)
class KnownType(KernelType):
    """A function, type, text or word of CUDA as a value: known before the launch.

    Nothing is passed at run time."""

    value: Hashable

    def __str__(self) -> str:
        if isinstance(self.value, str):
            return f"text {self.value!r}"
        if isinstance(self.value, (CudaName, np.dtype)):
            return f"value {self.value}"
        kind = "type" if isinstance(self.value, type) else "function"
        return f"{kind} {getattr(self.value, '__name__', '')}"


@dataclass(frozen=True)
class MixedType(KernelType):
    """What a variable is where two paths gave it types that do not fit: nobody may read it.

    ``what`` and ``node``: the mistake, should someone do so, and where the paths meet."""

    what: str
    try_this: str
    node: Node


@dataclass(frozen=True)
class PartType(KernelType):
    """A part of a subscript that is no number."""

    name: str


BOUNDS, NEW, REST = PartType("slice"), PartType("new axis"), PartType("...")

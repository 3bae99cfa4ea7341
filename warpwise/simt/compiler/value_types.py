"""Types that only the compiler knows: vectors, parts of a subscript, words and types as values."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.simt.types import DType, KernelType


@dataclass(frozen=True)
class VectorType(KernelType):
    """``size`` numbers of one type; its values are tuples."""

    dtype: DType
    size: int

    def __str__(self) -> str:
        return f"{self.dtype}x{self.size}"


@dataclass(frozen=True)
class WordType(KernelType):
    """A word of CUDA such as ``cuda.atomic.add``, or a type of numbers, as a value.

    It is known before the launch, so nothing is passed at run time."""

    word: object  #: a ``CudaName``, or one of NumPy's classes

    def __str__(self) -> str:
        return "type" if isinstance(self.word, type) else "function"


@dataclass(frozen=True)
class PartType(KernelType):
    """A part of a subscript that is no number."""

    name: str


BOUNDS, NEW, REST = PartType("slice"), PartType("new axis"), PartType("...")

"""Types that only the compiler knows: CUDA's vectors, and what stands in a subscript."""

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
class PartType(KernelType):
    """A part of a subscript that is no number."""

    name: str


BOUNDS, NEW, REST = PartType("slice"), PartType("new axis"), PartType("...")

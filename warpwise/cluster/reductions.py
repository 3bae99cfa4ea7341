"""Reductions: how two ranks' values become one."""

from __future__ import annotations

from enum import Enum

import numpy as np

from warpwise.cluster.collectives import Reduce


class ReduceOp(Enum):
    """How a reduction joins two values: a sum, a product, the smaller or the larger."""

    SUM = "sum"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"

    def __repr__(self) -> str:
        return f"ReduceOp.{self.name}"

    @property
    def join(self) -> Reduce:
        """The function of two arrays."""
        return _JOIN[self]


_JOIN: dict[ReduceOp, Reduce] = {
    ReduceOp.SUM: np.add,
    ReduceOp.PRODUCT: np.multiply,
    ReduceOp.MIN: np.minimum,
    ReduceOp.MAX: np.maximum,
}

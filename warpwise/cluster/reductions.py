"""Reductions: how two ranks' values become one."""

from __future__ import annotations

from enum import Enum, EnumMeta
from typing import Any

import numpy as np

from warpwise.cluster.collectives import Reduce
from warpwise.errors import ClusterError
from warpwise.messages import Chosen, Words, message


class _Named(EnumMeta):
    """Says of a reduction that is not there what to use instead, such as of AVG."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"there is no reduction {name}: there are {_able()}", name=name)


class ReduceOp(Enum, metaclass=_Named):
    """How a reduction joins two values: a sum, a product, the smaller or the larger."""

    SUM = "sum"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"

    def __repr__(self) -> str:
        return f"ReduceOp.{self.name}"

    @classmethod
    def of(cls, given: object, word: str, site: str) -> ReduceOp:
        """Return a reduction given as itself or by its name. Raises ClusterError for another."""
        name = given.upper() if isinstance(given, str) else given
        for one in cls:
            if name in (one, one.name):
                return one
        what = message(
            "{word} at {site} has no reduction[[ {name}]]: there are {able}",
            word=Words(word),
            site=Words(site),
            name=Chosen(name),
            able=Words(_able()),
        )
        raise ClusterError(what)

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


def _able() -> str:
    *names, last = (one.name for one in ReduceOp)
    return f"{', '.join(names)} and {last}, and a mean is the SUM over the number of ranks"

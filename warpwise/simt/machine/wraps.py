"""Notes on negative indices that the author may not have meant.

A negative index counts from the end, here as in Numba. So ``x[i - 1]`` reads the last element where
``i`` is 0, and nothing complains, on a GPU too. It is noted where some threads' indices of one
request are negative and others' are not, and where arithmetic with one value for all threads comes
out negative. An index that is written with a minus in front, such as ``x[-1]``, is meant."""

from __future__ import annotations

import ast

import numpy as np

from warpwise.messages import Chosen, Index, Name, message
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.memory import Array
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes
from warpwise.traces import Note

#: How an index is written: with a minus in front, as other arithmetic, or in any other way.
MEANT, COMPUTED, PLAIN = "meant", "computed", ""
_TRY = "a guard where the index is below 0; if it shall go round, the remainder of a division"


def written_as(node: ast.AST) -> tuple[str, ...]:
    """Return by axis how the indices of a request are written."""
    if isinstance(node, ast.AugAssign):
        node = node.target
    if isinstance(node, ast.Subscript):
        return _each(node.slice)
    return _each(node.args[1]) if isinstance(node, ast.Call) and len(node.args) > 1 else ()


def _each(index: ast.expr) -> tuple[str, ...]:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return tuple(map(_kind, parts))


def _kind(part: ast.expr) -> str:
    first = part
    while isinstance(first, ast.BinOp):
        first = first.left
    if isinstance(first, ast.UnaryOp) and isinstance(first.op, (ast.USub, ast.Invert)):
        return MEANT
    return COMPUTED if isinstance(part, ast.BinOp) else PLAIN


class Wraps:
    """The notes of one launch, one for each line: ``notes``."""

    def __init__(self) -> None:
        self.notes: dict[tuple[int, str], Note] = {}

    def lanes(
        self, array: Array, index: Lanes, negative: Lanes, axis: int, mask: Mask, site: Site
    ) -> None:
        """Look at the indices of a request; ``negative``: where they count from the end."""
        if (site.shown, site.text) in self.notes or site.index(axis) == MEANT:
            return
        active: Lanes | bool = True if mask.lanes is None else mask.lanes
        from_end = negative & active
        if not from_end.any() or not (~negative & active).any():
            return
        at = np.unravel_index(int(np.argmax(from_end)), from_end.shape)
        self._add(array, int(np.broadcast_to(index, from_end.shape)[at]), axis, site)

    def one(self, array: Array, index: int, axis: int, site: Site) -> None:
        """Look at a negative index that is the same for all threads."""
        if site.index(axis) == COMPUTED:
            self._add(array, index, axis, site)

    def _add(self, array: Array, index: int, axis: int, site: Site) -> None:
        what = message(
            "{index} {is_where} of {array}: meant?",
            index=Index(index, axis if array.ndim > 1 else None),
            is_where=Chosen("is the last element" if index == -1 else "counts from the end"),
            array=Name(array.name),
        )
        key = site.shown, site.text
        function = site.function if site.elsewhere else ""
        self.notes.setdefault(key, Note(*key, what.open(), _TRY, function))

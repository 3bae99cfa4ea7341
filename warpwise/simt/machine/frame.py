"""The variables of one activation of a function, and the merge of values of different lanes."""

from __future__ import annotations

import numpy as np

from warpwise.errors import UnwrittenReadError
from warpwise.messages import Name, message
from warpwise.simt.lanes.masks import Mask, covers, join
from warpwise.simt.machine.array_views import start
from warpwise.simt.machine.batch import Batch
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Value, as_array


class Frame:
    """The variables of one function activation, and the lanes that left its loops or returned."""

    __slots__ = ("batch", "broken", "continued", "defined", "result", "returned", "values")

    def __init__(self, batch: Batch, slots: int, loops: int):
        self.batch = batch
        self.values: list[Value] = [None] * slots
        self.defined: list[Mask | None] = [None] * slots  #: lanes that have a value
        self.broken: list[Mask | None] = [None] * loops
        self.continued: list[Mask | None] = [None] * loops
        self.result: Value = None
        self.returned: Mask | None = None

    def assign(self, slot: int, value: Value, mask: Mask, site: Site | None = None) -> None:
        """Give the active lanes a value; the others keep theirs, where they have one.

        ``site``: for the error if that is impossible."""
        before = self.defined[slot]
        if before is None or before is mask or covers(mask, before):
            self.values[slot], self.defined[slot] = value, mask
        else:
            self.values[slot] = merged(mask, value, self.values[slot], site)
            self.defined[slot] = join(before, mask)

    def value(self, slot: int, name: str, mask: Mask, site: Site) -> Value:
        """Return a variable that may lack a value in some active lane.

        Raises UnwrittenReadError where it does."""
        defined = self.defined[slot]
        if defined is None or not covers(defined, mask):
            missing = mask.grid() if defined is None else mask.grid() & ~defined.grid()
            raise UnwrittenReadError(
                message(
                    "{name} has no value here in some threads: "
                    "none of the lines that give it one was reached",
                    name=Name(name),
                ),
                site.where(**mask.group.first_of(missing)),
                message(
                    "give {name} a value before the branch or loop. What one thread gives it the "
                    "others never see, for a variable is each thread's own: such a value goes "
                    "through shared memory, and a barrier",
                    name=Name(name),
                ),
            )
        return self.values[slot]

    def give_back(self, value: Value, mask: Mask, site: Site) -> None:
        """Do ``return value`` for the active lanes."""
        self.result = value if self.returned is None else merged(mask, value, self.result, site)
        self.returned = join(self.returned, mask)


def merged(mask: Mask, value: Value, other: Value, site: Site | None) -> Value:
    """Return ``value`` for the active lanes, ``other`` for the rest; tuples item by item.

    Raises UnsupportedError for two arrays, unless both are parts of one: a line must refer to the
    same array in every thread."""
    if isinstance(value, tuple):
        return tuple(merged(mask, a, b, site) for a, b in zip(value, other, strict=True))
    if value is other:
        return value
    if hasattr(value, "space"):
        return start(value).merged(mask, other, site)
    lanes = mask.grid() if mask.lanes is None else mask.lanes
    return np.where(lanes, as_array(value), as_array(other))

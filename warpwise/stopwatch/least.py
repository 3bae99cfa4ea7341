"""What no launch can be faster than: a bound from counters, which have all blocks of a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from warpwise.devices import Device
from warpwise.model import bound
from warpwise.traces import Trace

#: Resources that a source is counted to use more of than its machine code does.
SAVED = ("issue slots", "special functions", "L1")
ARITHMETIC = ("float32 arithmetic", "float64 arithmetic")


def least(
    trace: Trace, device: Device, grid: tuple[int, int, int], without: Sequence[str] = ()
) -> tuple[float, str]:
    """Return the bound of ``model`` in seconds, and what sets it, for as many blocks as a grid has.

    Without resources of which a compiler saves much: there a launch can be faster. ``without``:
    others that are left out."""
    large = replace(trace, grid=grid)  # whose blocks are on as many SMs as there are
    left_out = {*SAVED, *without}
    found = [r for r in bound(large, device).resources if r.name not in left_out]
    if not found:
        return 0.0, "nothing"
    return found[0].seconds * prod(grid) / prod(trace.grid), found[0].name

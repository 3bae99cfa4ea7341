"""The line about time: how long many blocks like those of a launch take on a GPU, modelled.

It also says how many registers the compiler gives a thread, and whether they are too few.

The stopwatch needs the compiler and, at first, some seconds; so only a person who reads it gets the
line, and whoever has no compiler, as the Python of a page, gets none. Traced launches are mostly
too small for a time that says anything, so it is that of a large grid of the same blocks."""

from __future__ import annotations

from importlib.util import find_spec
from math import isfinite, prod

from warpwise.devices import Device
from warpwise.model.bound import duration
from warpwise.person import reads_here
from warpwise.traces import Trace

BLOCKS = {1: (65_536,), 2: (256, 256), 3: (64, 32, 32)}  # by the axes that the launch uses
LARGE = 4096  #: blocks from which a launch's own time says something
NEEDED = ("cuda", "scipy")  #: packages without which there is no use in trying


def of_interest(trace: Trace, device: Device) -> str:
    """Return a line of the report where somebody may read it, "" elsewhere."""
    found = sentence(trace, device) if reads_here() else ""
    return f"Stopwatch: {found}." if found else ""


def sentence(trace: Trace, device: Device | str, note: str = "modelled") -> str:
    """Return the line; "" without the compiler, or where the stopwatch fails."""
    if trace.launched is None or not all(map(find_spec, NEEDED)):
        return ""
    own = prod(trace.grid) >= LARGE
    axes = max((axis for axis, n in enumerate(trace.grid, 1) if n > 1), default=1)
    try:
        found = trace.time(device, grid=trace.grid if own else BLOCKS[axes])
    except Exception:  # whatever is wrong with a model, a trace stays right
        return ""
    if not found.registers:  # it was not compiled
        return ""
    many = "" if own else f"{' x '.join(f'{n:,}' for n in BLOCKS[axes])} such blocks: "
    time = f"about {duration(found.seconds)}"
    if not isfinite(found.high):
        time = f"at least {duration(found.seconds)}"
    elif found.doubtful:
        time = f"between {duration(found.low)} and {duration(found.high)}"
    article = "an" if found.device[0] in "AHLR" else "a"
    kept = registers(found.registers, found.spill_bytes, found.stack_bytes)
    return f"{many}{time} on {article} {found.device}, bound by {found.binds}, with {kept} ({note})"


def registers(count: int, spill_bytes: int, stack_bytes: int = 0) -> str:
    """Say what the compiler gives a thread.

    What lies on its stack without spills is an array of its own, with places that are not known
    when the kernel is compiled: it cannot be in registers."""
    spills = f"{spill_bytes} bytes of spills" if spill_bytes else "no spills"
    if stack_bytes and not spill_bytes:
        return f"{count} registers a thread, no spills, and {stack_bytes} bytes of arrays in memory"
    return f"{count} registers a thread and {spills}"

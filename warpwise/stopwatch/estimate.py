"""``Estimate``: a predicted time, how far it may be off, and where the clocks go."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite

from warpwise.model.bound import duration

#: Why warps wait, in Nsight Compute's words ("Warp Stall Reasons"), by the engine's numbers.
CAUSES = (
    "wait",
    "long scoreboard",
    "short scoreboard",
    "barrier",
    "math pipe throttle",
    "LG throttle",
    "MIO throttle",
    "branch resolving",
    "not selected",
    "",  # a block that starts: its warps are not there yet
)


@dataclass(frozen=True)
class Share:
    """A part of a whole, such as a source line's part of a pipe's clocks: 0 to 1."""

    name: str
    share: float
    text: str = ""  #: of a source line

    def __str__(self) -> str:
        return f"{self.name}{f': {self.text}' * bool(self.text)} ({100 * self.share:.0f} %)"


@dataclass(frozen=True)
class Estimate:
    """The predicted time of a launch on a GPU, in seconds, modelled.

    ``low`` and ``high`` are its range, by the mean error on the published kernels of ``family``.
    Without the compiler there is only a bound: then ``high`` is infinite, and ``notes`` say why."""

    kernel: str
    device: str
    grid: tuple[int, int, int]
    seconds: float
    low: float
    high: float
    binds: str  #: the resource that is busiest, or "latency" if none is busy for long
    pipes: tuple[Share, ...] = ()  #: how busy each resource is, the busiest first
    lines: tuple[Share, ...] = ()  #: source lines, by their part of what binds
    waits: tuple[Share, ...] = ()  #: causes of waiting, by their part of all waiting
    family: str = ""
    flops: float = 0.0  #: of the whole launch
    dram_bytes: float = 0.0
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not isfinite(self.high):
            return f"at least {duration(self.seconds)}, bound by {self.binds}; modelled"
        low, high = (_plain(t, self.seconds) for t in (self.low, self.high))
        time = duration(self.seconds)
        return f"{time} ({low} to {high}), bound by {self.binds}; modelled"

    __repr__ = __str__

    @property
    def flops_per_s(self) -> float:
        """Floating-point operations in a second."""
        return self.flops / self.seconds if self.seconds else 0.0

    @property
    def dram_bytes_per_s(self) -> float:
        """Bytes between L2 and DRAM in a second."""
        return self.dram_bytes / self.seconds if self.seconds else 0.0

    def show(self) -> str:
        """Return all of it as text: pipes, lines and causes of waiting, with the notes."""
        head = f"{self.kernel} on {self.device}, grid {self.grid}: {self}"
        parts = [head]
        for title, shares in (
            ("Busy", self.pipes),
            (f"Lines that use {self.binds}", self.lines),
            ("Warps wait for", self.waits),
        ):
            if shares:
                parts.append(f"{title}: " + "; ".join(map(str, shares)))
        return "\n".join([*parts, *self.notes])


def _plain(seconds: float, like: float) -> str:
    """Format a time in the unit of another one, without it: "5.5"."""
    unit = duration(like).rpartition(" ")[2]
    scale = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]
    return f"{seconds / scale:.3g}" if seconds < inf else "?"

"""``Estimate``: a predicted time, how far it may be off, and where the clocks go."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite
from typing import TYPE_CHECKING, ClassVar, Protocol

from warpwise.model.bound import duration

if TYPE_CHECKING:
    from warpwise.stopwatch.film import Timeline
    from warpwise.views.tabs import Tabs

IMPOSSIBLE = 1.02  #: of a device's peak, from which a rate is; data sheets are rounded
NEAR = 0.9  #: of the time in which DRAM is busy, from which there is little to win
FAR = 0.5  #: of the peak, below which there is more to win than what was tried
BUSY = 0.6  #: a resource that is busy for less of the time does not bind: latency does

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
class Hint:
    """A change to a kernel, and the time in seconds that the model has for the kernel after it."""

    change: str  #: as one reads it after "with": "conflict-free stores to shared memory"
    seconds: float
    lines: tuple[str, ...] = ()  #: places that the change is about
    how: str = ""  #: in a few words, as one is asked to: "give each row of the tile one more"

    def __str__(self) -> str:
        where = f" ({', '.join(self.lines)})" if self.lines else ""
        how = f" ({self.how})" if self.how else ""
        return f"with {self.change}{where}: {duration(self.seconds)}{how}"


class Detailed(Protocol):
    """Details as they are read: kept, or worked out when they are first asked for."""

    @property
    def hints(self) -> tuple[Hint, ...]: ...
    @property
    def timeline(self) -> Timeline | None: ...


@dataclass(frozen=True)
class Details:
    """What many estimates are never asked for: what would help, most of all first, and one SM's
    warps in some of its clocks."""

    hints: tuple[Hint, ...] = ()
    timeline: Timeline | None = None


@dataclass(frozen=True)
class Estimate:
    """The predicted time of a launch on a GPU, in seconds, modelled.

    ``low`` and ``high`` are its range, which held four in five times of ``family``.
    Without the compiler, or if the recorded block is unlike the others, there is only a bound: then
    ``high`` is infinite, and ``notes`` say why."""

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
    doubtful: bool = False  #: the range is wide, for reasons in ``notes``, and nothing is hinted
    family: str = ""
    registers: int = 0  #: of a thread, by the compiler; 0 of a bound
    spill_bytes: int = 0  #: that a thread stores to and loads from memory for want of registers
    stack_bytes: int = 0  #: of a thread in memory: its spills, and arrays with places not known
    flops_per_issue_slot: float = 0.0  #: in its inner loop, by the machine code; 0 of a bound
    flops: float = 0.0  #: of the whole launch
    dram_bytes: float = 0.0
    peak_flops_per_s: float = 0.0  #: of the device, for these operations; 0 if it is not known
    peak_bytes_per_s: float = 0.0  #: of DRAM
    notes: tuple[str, ...] = ()
    details: Detailed = field(default=Details(), repr=False, compare=False)

    binding: ClassVar[float] = BUSY

    def __str__(self) -> str:
        if not isfinite(self.high):
            return f"at least {duration(self.seconds)}, bound by {self.binds}; modelled"
        low, high = (_plain(t, self.seconds) for t in (self.low, self.high))
        time = duration(self.seconds)
        return f"{time} ({low} to {high}), bound by {self.binds}; modelled"

    __repr__ = __str__

    @property
    def hints(self) -> tuple[Hint, ...]:
        """What would help, most of all first; worked out when it is first asked for."""
        return self.details.hints

    @property
    def timeline(self) -> Timeline | None:
        """One SM's warps in some of its clocks, run when it is first asked for; None of a bound."""
        return self.details.timeline

    @property
    def flops_per_s(self) -> float:
        """Floating-point operations in a second."""
        return self.flops / self.seconds if self.seconds else 0.0

    @property
    def dram_bytes_per_s(self) -> float:
        """Bytes between L2 and DRAM in a second."""
        return self.dram_bytes / self.seconds if self.seconds else 0.0

    @property
    def share_of_peak(self) -> float:
        """The larger of the shares of two peaks, of arithmetic and of DRAM; 0 if unknown."""
        return max(self._shares())

    @property
    def rate(self) -> str:
        """The rate that is nearer to its peak: "31 TFLOP/s, 81 % of the peak"; "" if unknown, as of
        a bound, or impossible, as where a compiler leaves out operations."""
        if not isfinite(self.high):
            return ""
        arithmetic, memory = self._shares()
        if not 0 < max(arithmetic, memory) < IMPOSSIBLE:
            return ""
        of_flops = f"{few(self.flops_per_s / 1e12)} TFLOP/s"
        of_dram = f"{few(self.dram_bytes_per_s / 1e9)} GB/s of DRAM"
        fast = of_flops if arithmetic >= memory else of_dram
        return f"{fast}, {few(100 * max(arithmetic, memory), 2)} % of the peak"

    def _shares(self) -> tuple[float, float]:
        flops, of_bytes = self.peak_flops_per_s, self.peak_bytes_per_s
        return (
            self.flops_per_s / flops if flops else 0.0,
            self.dram_bytes_per_s / of_bytes if of_bytes else 0.0,
        )

    def show(self) -> Tabs:
        """Draw where the clocks go, and one SM's warps over time. Printed, it is text."""
        from warpwise.stopwatch.shown import shown  # draws, which few estimates are asked for

        return shown(self)

    def text(self) -> str:
        """Return all of it as text: pipes, lines and causes of waiting, with the notes."""
        head = f"{self.kernel} on {self.device}, grid {self.grid}: {self}"
        parts = [head, *filter(None, [self.rate])]
        for title, shares in (
            ("Busy", self.pipes),
            (self._of_lines, self.lines),
            ("Warps wait for", self.waits),
        ):
            if shares:
                parts.append(f"{title}: " + "; ".join(map(str, shares)))
        return "\n".join([*parts, *filter(None, [self.helps(), self.origin]), *self.notes])

    @property
    def origin(self) -> str:
        """Where the range comes from, as a sentence; "" where ``notes`` say it."""
        return f"The range comes from {self.family}." if self.family else ""

    @property
    def _of_lines(self) -> str:
        if self.binds == "latency":
            return "Lines at which warps wait"
        return f"Lines that use {self.binds}"

    def helps(self, most: int = 3) -> str:
        """Return what would help, or why nothing is hinted; "" for a bound."""
        if self.doubtful:
            return "What would help: not worked out, for the estimate is doubtful"
        if not isfinite(self.high):
            return ""
        said = (
            "; ".join(map(str, self.hints[:most]))
            or f"nothing that was tried saves 5 %{self._near or self._far}"
        )
        return f"What would help: {said}"

    @property
    def _near(self) -> str:
        """Whether a launch is at the limit of DRAM, in words that follow; "" if it is not."""
        busy = {pipe.name: pipe.share for pipe in self.pipes}.get("DRAM", 0.0)
        limit = f"DRAM is busy for {100 * busy:.0f} % of the time, and only fewer bytes take less"
        return f", for this is near the limit: {limit}" if busy >= NEAR else ""

    @property
    def _far(self) -> str:
        """How far a launch is from its peak, in words that follow; "" if it is near or unknown."""
        share = self.share_of_peak
        if not self.rate or share >= FAR:
            return ""
        return (
            f", yet this is at {few(100 * share, 2)} % of the peak: a change that was not tried, "
            "such as more work for each thread, may save more"
        )


def few(number: float, digits: int = 3) -> str:
    """Return a number to so many digits: "1,750", "31.2", "0.41"."""
    return f"{float(f'{number:.{digits}g}'):,.10g}"


def _plain(seconds: float, like: float) -> str:
    """Format a time in the unit of another one, without it: "5.5"."""
    unit = duration(like).rpartition(" ")[2]
    scale = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]
    return few(seconds / scale) if seconds < inf else "?"

"""Many launches kernel by kernel, as Nsight Systems sums up a profile: bytes, FLOPs and time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from warpwise.stopwatch.clock import time
from warpwise.stopwatch.estimate import Estimate
from warpwise.traces import Trace

HEADS = ("kernel", "launches", "kB", "%", "asked", "MFLOP", "%", "us", "%", "bound by")
NOTHING = 1e-12  #: in place of a sum that is 0, for shares


@dataclass(frozen=True)
class Row:
    """All launches of one kernel: least bytes from and to DRAM, FLOPs, and modelled seconds.

    ``bytes_asked``: what its warps ask global memory for, of which caches serve some."""

    kernel: str
    launches: int
    bytes_moved: int
    bytes_asked: int
    flops: int
    seconds: float
    binds: str  #: what its longest launch is bound by


def timed(
    traces: Sequence[Trace], device: str, tick: Callable[[], None] = lambda: None
) -> list[Estimate]:
    """Return an estimate of each launch; those that are alike are timed once."""
    found: dict[object, Estimate] = {}
    estimates = []
    for one in traces:
        key = one.launched, one.grid, one.block, one.metrics
        if key not in found:
            found[key] = time(one, device)
        estimates.append(found[key])
        tick()
    return estimates


def rows(traces: Sequence[Trace], estimates: Sequence[Estimate]) -> list[Row]:
    """Return a row for each kernel, that of the most time first."""
    of_kernel = defaultdict(list)
    for one, estimate in zip(traces, estimates, strict=True):
        of_kernel[one.kernel].append((one.metrics, estimate))
    made = []
    for kernel, launches in of_kernel.items():
        moved = sum(m.dram_bytes_moved[0] for m, _ in launches)
        asked = sum(m.global_bytes_moved for m, _ in launches)
        flops, seconds = sum(m.flops for m, _ in launches), sum(e.seconds for _, e in launches)
        longest = max((e for _, e in launches), key=lambda e: e.seconds)
        made.append(Row(kernel, len(launches), moved, asked, flops, seconds, longest.binds))
    return sorted(made, key=lambda row: -row.seconds)


def table(found: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the table, with all kernels' sums last."""
    names = "bytes_moved", "flops", "seconds", "bytes_asked"
    sums = [max(sum(getattr(row, name) for row in found), NOTHING) for name in names]
    launches = sum(row.launches for row in found)
    of_all = Row("all", launches, int(sums[0]), int(sums[3]), int(sums[1]), sums[2], "")
    lines = [HEADS, *(_cells(row, sums) for row in (*found, of_all))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        kernel, *numbers, binds = line
        middle = (cell.rjust(width) for cell, width in zip(numbers, widths[1:-1], strict=True))
        yield "  ".join([kernel.ljust(widths[0]), *middle, binds]).rstrip()


def _cells(row: Row, sums: Sequence[float]) -> tuple[str, ...]:
    parts = (row.bytes_moved, sums[0], 1e3), (row.flops, sums[1], 1e6), (row.seconds, sums[2], 1e-6)
    pairs = ((f"{own / unit:,.1f}", f"{100 * own / of_all:.1f}") for own, of_all, unit in parts)
    moved, share, *others = (cell for pair in pairs for cell in pair)
    asked = f"{row.bytes_asked / 1e3:,.1f}"
    return row.kernel, str(row.launches), moved, share, asked, *others, row.binds


def how(estimates: Sequence[Estimate]) -> str:
    """Say what the times are: of the stopwatch, or bounds, as where there is no compiler."""
    if all(isfinite(e.high) for e in estimates):
        return "modelled by the stopwatch, each launch alone"
    if all(e.registers for e in estimates):
        kernels = ", ".join(dict.fromkeys(e.kernel for e in estimates if not isfinite(e.high)))
        least = f"at least, for {kernels}, whose blocks differ"
        return f"modelled by the stopwatch, each launch alone ({least})"
    return "bounds from counters alone: the stopwatch needs the compiler, in the extra toolchain"

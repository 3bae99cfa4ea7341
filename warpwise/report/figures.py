"""The launch as a whole, in lines: memory traffic, occupancy, waves, a bound on time, and oddities.

An empty line is left out. Modelled figures say so; no compiler is asked, so the registers are an
assumption."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from warpwise.devices import Device
from warpwise.metrics import WARP_SIZE, Metrics
from warpwise.model.bound import bound
from warpwise.model.occupancy import occupancy
from warpwise.model.waves import waves
from warpwise.traces import Trace

MOST_NUMBERS = 4  # of active lanes, in one line
WORTH_NAMING = 0.005  # share of the warp instructions


def traffic(m: Metrics) -> str:
    """Compare the least and the most bytes that may move, both modelled: a cache decides."""
    used, moved = m.global_bytes_distinct, m.global_bytes_moved
    if not moved:
        return "No global memory was used."
    if moved == used:
        return f"Global memory: {used:,} bytes used, and no others moved (modelled)."
    return (
        f"Global memory: {used:,} different bytes used, {moved:,} moved if no cache helps: "
        f"{moved / max(used, 1):.1f} times as many (modelled)."
    )


def figures(t: Trace, device: Device, registers: int) -> Iterator[str]:
    """Yield the lines after the table and the traffic, for so many ``registers`` per thread."""
    if t.sample:
        yield str(t.sample)
    held = occupancy(device, prod(t.block), registers, t.shared_bytes_per_block)
    yield f"Occupancy: {held}, at {registers} registers per thread (assumed)."
    if held.blocks:
        yield f"Waves: {waves(prod(t.grid), device, held.blocks)}."
    least = bound(t, device)
    if least.resources:
        yield f"Time: {least}; latency and launching come on top."
    yield from filter(None, (_float64(t, device), _atomics(t.metrics), _lanes(t.metrics)))


def _float64(t: Trace, device: Device) -> str:
    """Report the share of float64 next to float32, and how much slower this device does it."""
    m = t.metrics
    single = m.flops_fp32 or any(array.dtype == "float32" for array in t.arrays)
    if not m.flops_fp64 or not single:
        return ""
    times = device.fp32_tflops / device.fp64_tflops
    slower = f"{times:.0f} times slower than float32 on {device.name}"
    return f"Arithmetic: {100 * m.fp64_share:.0f} % of {m.flops:,} flops are float64, {slower}."


def _atomics(m: Metrics) -> str:
    if not m.atomic_requests:
        return ""
    return (
        f"Atomics: {m.atomics:,} in {m.atomic_requests:,} requests of warps, "
        f"{m.atomic_serialisation:.1f} passes each."
    )


def _lanes(m: Metrics) -> str:
    """Report the commonest numbers of active lanes, if some warp instruction has fewer than 32."""
    issued = sum(m.lanes_active)
    if not issued or m.lanes_active[WARP_SIZE] == issued:
        return ""
    common = sorted(range(WARP_SIZE + 1), key=lambda lanes: -m.lanes_active[lanes])[:MOST_NUMBERS]
    shown = [
        (lanes, m.lanes_active[lanes] / issued)
        for lanes in common
        if m.lanes_active[lanes] >= WORTH_NAMING * issued
    ]
    words = [f"{lanes} in {100 * share:.0f} %" for lanes, share in shown]
    rest = 1 - sum(share for _, share in shown)
    others = f", others in {100 * rest:.0f} %" if rest >= WORTH_NAMING else ""
    return f"Active lanes: {', '.join(words)} of warp instructions{others}."

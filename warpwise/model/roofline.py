"""The roofline: the rate of operations a kernel can reach, given its operations per byte of DRAM.

Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", 2009. Below
the knee the memory is the limit, above it the arithmetic. Caches decide how many bytes really move,
so a kernel has a stretch of the roof, not a point."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.devices import Device
from warpwise.metrics import Metrics
from warpwise.traces import Trace

MEMORY, ARITHMETIC, EITHER = "memory", "arithmetic", "memory or arithmetic"


@dataclass(frozen=True)
class Roofline:
    """The place of a kernel under the roof of a device. All modelled; pairs are (least, most)."""

    device: str
    #: of DRAM traffic: no cache helps, and every byte moves once
    flops_per_byte: tuple[float, float]
    knee: float  #: flops per byte at which memory and arithmetic take equally long
    peak_flops_per_s: float  #: for this kernel's share of float64
    attainable_flops_per_s: tuple[float, float]

    @property
    def side(self) -> str:
        """The limit: "memory", "arithmetic", or "memory or arithmetic" where caches decide."""
        least, most = self.flops_per_byte
        if most < self.knee:
            return MEMORY
        return ARITHMETIC if least >= self.knee else EITHER

    def __str__(self) -> str:
        (low, high), (slow, fast) = self.flops_per_byte, self.attainable_flops_per_s
        return (
            f"{low:.3g} to {high:.3g} flops per byte, knee of {self.device} at {self.knee:.3g}: "
            f"limited by {self.side}, at most {slow / 1e9:,.0f} to {fast / 1e9:,.0f} GFLOP/s "
            "(modelled)"
        )


def roofline(launch: Trace | Metrics, device: Device) -> Roofline:
    """Place a launch, or one line's ``Metrics``, under the roof. Rates in operations per second.

    The peak is that of ordinary lanes, without tensor cores, and float16 counts at float32's rate;
    float64's share lowers it."""
    m = launch if isinstance(launch, Metrics) else launch.metrics
    peak = peak_flops_per_s(m, device)
    least, most = m.flops_per_byte
    reach = min(peak, least * device.dram_bytes_per_s), min(peak, most * device.dram_bytes_per_s)
    return Roofline(device.name, (least, most), peak / device.dram_bytes_per_s, peak, reach)


def peak_flops_per_s(m: Metrics, device: Device) -> float:
    """Return the rate of ordinary lanes at this mix of float32 and float64.

    Every operation is half of a multiply-add."""
    single, double = 1 - m.fp64_share, m.fp64_share
    return 1 / (single / device.fp32_flops_per_s + double / device.fp64_flops_per_s)

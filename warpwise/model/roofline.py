"""The roofline: how many operations a second a kernel can reach, given how many it does for each byte from DRAM.

Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", 2009. Below the knee the memory is the limit,
above it the arithmetic. Caches decide how many bytes really move, so a kernel has a stretch of the roof, not a point.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.devices import Device
from warpwise.metrics import Metrics
from warpwise.trace import Trace

MEMORY, ARITHMETIC, EITHER = "memory", "arithmetic", "memory or arithmetic"


@dataclass(frozen=True)
class Roofline:
    """Where a kernel stands under the roof of a device. All modelled; pairs are (least, most)."""

    device: str
    flops_per_byte: tuple[float, float]  #: of DRAM traffic: no cache helps, and every byte moves once
    knee: float  #: flops per byte at which memory and arithmetic take equally long
    peak_flops_per_s: float  #: for this kernel's share of float64
    attainable_flops_per_s: tuple[float, float]

    @property
    def side(self) -> str:
        """What the kernel waits for: "memory", "arithmetic", or "memory or arithmetic" where the caches decide."""
        least, most = self.flops_per_byte
        if most < self.knee:
            return MEMORY
        return ARITHMETIC if least >= self.knee else EITHER

    def __str__(self) -> str:
        (low, high), (slow, fast) = self.flops_per_byte, self.attainable_flops_per_s
        return (
            f"{low:.3g} to {high:.3g} flops per byte, knee of {self.device} at {self.knee:.3g}: limited by {self.side}, "
            f"at most {slow / 1e9:,.0f} to {fast / 1e9:,.0f} GFLOP/s (modelled)"
        )


def roofline(launch: Trace | Metrics, device: Device) -> Roofline:
    """The position of a launch, or of one line's ``Metrics``. Rates in operations per second.

    The peak is that of ordinary lanes, no tensor cores, and float16 counts at float32's rate; float64's share lowers it.
    """
    m = launch if isinstance(launch, Metrics) else launch.metrics
    peak = peak_flops_per_s(m, device)
    least, most = m.flops_per_byte
    reach = min(peak, least * device.dram_bytes_per_s), min(peak, most * device.dram_bytes_per_s)
    return Roofline(device.name, (least, most), peak / device.dram_bytes_per_s, peak, reach)


def peak_flops_per_s(m: Metrics, device: Device) -> float:
    """The rate at which ordinary lanes do this mix of float32 and float64: every operation half of a multiply-add."""
    seconds_per_flop = (1 - m.fp64_share) / device.fp32_flops_per_s + m.fp64_share / device.fp64_flops_per_s
    return 1 / seconds_per_flop

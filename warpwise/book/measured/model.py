"""The models beside measurements: what a device could do at best, each in one line of arithmetic, and where each figure comes from.

A model takes a device, or None where its figures are not known, and a place of the x axis. Peaks are those of ``warpwise.devices``; how
long a launch takes is what chapter 6 assumes. What a model leaves out is what the measurement beside it shows.
"""

from __future__ import annotations

import re

from warpwise.book.measured.plot import Model
from warpwise.devices import A100, A100_40, H100, H100_PCIE, H200, MEASURED, MULTIPROCESSORS, Device, Memories, of_driver
from warpwise.measurements import Record

NOT_KNOWN = 0.0  # the peak of tensor cores, which no ceiling gives
LAUNCH_S = 4e-6  # the least of what susun_launch gives for a launch; chapter 6 takes the same

#: Whose memories were measured that are built like these: the same chip, with other DRAM or a few SMs more.
ALIKE = {A100_40.name: A100, H100.name: H100_PCIE, H200.name: H100_PCIE}


def device_of(record: Record) -> Device | None:
    """The GPU of a record: as ``warpwise.devices`` has it, or else with the ceilings that the record itself has for peaks."""
    if known := of_driver(record.device):
        return known
    told, ceilings = record.told, record.told.get("ceilings", {})
    copied, computed = ceilings.get("copy_GB_per_s"), ceilings.get("ffma_TFLOP_per_s")
    capability = tuple(map(int, str(told.get("compute_capability", "")).split("."))) if copied and computed else ()
    if capability not in MULTIPROCESSORS:
        return None
    return Device(record.device, capability, told["sms"], computed, NOT_KNOWN, copied, told["l2_bytes"])


def memories(device: Device | None) -> Memories | None:
    """What others measured of a device's memories, or of one with the same chip."""
    return MEASURED.get(ALIKE.get(device.name, device).name) if device else None


def constant(value: float) -> Model:
    """The same on every device, everywhere."""
    return lambda device, x: value


def dram_gb_per_s(share: float = 1.0) -> Model:
    """A share of the peak bandwidth: bytes that are useful over those that travel."""
    return lambda device, x: device and share * device.dram_gb_per_s


def streamed_gb_per_s(accesses: int, item_bytes: int = 1) -> Model:
    """Bandwidth over the size of an array, x in items: the launch takes longer than the bytes, then L2 holds them, then DRAM does."""

    def model(device: Device | None, x: float) -> float | None:
        moved, found = accesses * item_bytes * x, memories(device)
        if device is None:
            return None
        if moved > device.l2_bytes:
            rate = device.dram_gb_per_s
        elif found and found.l2_gb_per_s:
            rate = found.l2_gb_per_s.value
        else:
            return None
        return min(rate, moved / LAUNCH_S / 1e9)

    return model


def cold_gb_per_s(accesses: int, item_bytes: int) -> Model:
    """The same where nothing is in a cache."""
    return lambda device, x: device and min(device.dram_gb_per_s, accesses * item_bytes * x / LAUNCH_S / 1e9)


def launched_us(*accesses: int) -> Model:
    """Time of kernels with so many accesses of 4 bytes for each of x elements: of each its bytes' or its launch's, as in chapter 6."""
    return lambda device, x: device and 1e6 * sum(max(LAUNCH_S, 4 * x * count / device.dram_bytes_per_s) for count in accesses)


def chased_ns(device: Device | None, footprint: float) -> float | None:
    """Time of a load that waits for the one before it, by the memory that the footprint fits into."""
    found = memories(device)
    if found is None:
        return None
    level = found.l1_clocks if footprint <= found.unified_bytes else found.l2_clocks if footprint <= device.l2_bytes else found.dram_clocks
    return level.value / mhz(level.how) * 1e3


def mhz(how: str) -> float:
    """The clock in the description of a measurement, such as "on an H100 PCIe at 1,755 MHz"."""
    return float(re.search(r"at ([\d,]+) MHz", how)[1].replace(",", ""))

"""Models drawn beside benchmark records: a device's upper limits, each in a line of arithmetic.

A model takes a device, or None if its figures are unknown, and a position on the x axis. Peaks come
from ``warpwise.devices``; the time of a launch is chapter 6's assumption. The measurement beside a
model shows what the model leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from warpwise.benchmark_records import Record
from warpwise.book.charts.plot import Model
from warpwise.devices import (
    A100,
    A100_40,
    H100,
    H100_PCIE,
    H200,
    MEASURED,
    MULTIPROCESSORS,
    Device,
    Memories,
    of_driver,
)

UNKNOWN_PEAK = 0.0  # of tensor cores, which no ceiling measures
LAUNCH_S = 4e-6  # the least that susun_launch reports for a launch; chapter 6 uses the same

#: Device -> one with measured memories and the same chip, but other DRAM or a few SMs fewer.
ALIKE = {A100_40.name: A100, H100.name: H100_PCIE, H200.name: H100_PCIE}


def of_known(figure: Callable[[Device, float], float | None]) -> Model:
    """Return the model of a figure that only a known device has."""
    return lambda device, x: None if device is None else figure(device, x)


def device_of(record: Record) -> Device | None:
    """Return the GPU of a record, from ``warpwise.devices`` or with the record's own ceilings."""
    if known := of_driver(record.device):
        return known
    contents, ceilings = record.contents, record.contents.get("ceilings", {})
    copied, computed = ceilings.get("copy_GB_per_s"), ceilings.get("ffma_TFLOP_per_s")
    version = re.fullmatch(r"(\d+)\.(\d+)", str(contents.get("compute_capability", "")))
    capability = (int(version[1]), int(version[2])) if version else (0, 0)
    if not (copied and computed) or capability not in MULTIPROCESSORS:
        return None
    sms, l2_bytes = contents["sms"], contents["l2_bytes"]
    return Device(record.device, capability, sms, computed, UNKNOWN_PEAK, copied, l2_bytes)


def memories(device: Device) -> Memories | None:
    """Return published measurements of a device's memories, or of one with the same chip."""
    return MEASURED.get(ALIKE.get(device.name, device).name)


def constant(value: float) -> Model:
    """Return the model that is the same on every device and everywhere."""
    return lambda device, x: value


def dram_gb_per_s(share: float = 1.0) -> Model:
    """Return a share of the peak bandwidth: useful bytes over bytes moved."""
    return of_known(lambda device, x: share * device.dram_gb_per_s)


def streamed_gb_per_s(accesses: int, item_bytes: int = 1) -> Model:
    """Return bandwidth over the size of an array, x in items.

    At first the launch takes longer than the bytes, then L2 holds them, then DRAM does.
    """

    def bandwidth(device: Device, x: float) -> float | None:
        moved, found = accesses * item_bytes * x, memories(device)
        if moved > device.l2_bytes:
            rate = device.dram_gb_per_s
        elif found and found.l2_gb_per_s:
            rate = found.l2_gb_per_s.value
        else:
            return None
        return min(rate, moved / LAUNCH_S / 1e9)

    return of_known(bandwidth)


def cold_gb_per_s(accesses: int, item_bytes: int) -> Model:
    """Return bandwidth over the size of an array of which no cache holds anything."""
    moved = accesses * item_bytes
    return of_known(lambda device, x: min(device.dram_gb_per_s, moved * x / LAUNCH_S / 1e9))


def launched_us(*accesses: int) -> Model:
    """Return the time of kernels with so many accesses of 4 bytes for each of x elements.

    Each kernel takes as long as its bytes or its launch, whichever is longer, as in chapter 6.
    """

    def microseconds(device: Device, x: float) -> float:
        seconds = (4 * x * count / device.dram_bytes_per_s for count in accesses)
        return 1e6 * sum(max(LAUNCH_S, each) for each in seconds)

    return of_known(microseconds)


@of_known
def chased_ns(device: Device, footprint: float) -> float | None:
    """Return the latency of a dependent load, by the memory that holds the footprint."""
    found = memories(device)
    if found is None:
        return None
    if footprint <= found.unified_bytes:
        clocks = found.l1_clocks
    else:
        clocks = found.l2_clocks if footprint <= device.l2_bytes else found.dram_clocks
    return clocks.value / mhz(clocks.how) * 1e3 if clocks else None


def mhz(how: str) -> float:
    """Return the clock in a measurement's description, such as "on an H100 PCIe at 1,755 MHz"."""
    (clock,) = re.findall(r"at ([\d,]+) MHz", how)[:1]
    return float(clock.replace(",", ""))

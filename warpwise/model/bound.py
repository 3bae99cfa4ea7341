"""A lower bound on a launch's time: that of the slowest resource, each alone at its peak.

A resource that every SM has of its own is divided among as many SMs as the grid has blocks for.
Latency is left out, so small launches and few warps take far longer; so is the launch itself, some
microseconds. L2 is left out because NVIDIA gives its rate for few products, float16 because it
depends on what the compiler pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from warpwise.devices import Device, Multiprocessor
from warpwise.metrics import WARP_SIZE, Metrics
from warpwise.traces import Trace


@dataclass(frozen=True)
class Resource:
    """One resource of a device: its use by a launch, and its peak per second with the source."""

    name: str
    unit: str
    used: int
    per_s: float
    source: str

    @property
    def seconds(self) -> float:
        """Time at the peak rate."""
        return self.used / self.per_s


@dataclass(frozen=True)
class Bound:
    """The least time of a launch on a device, modelled.

    ``resources`` are those it uses, the slowest first."""

    device: str
    resources: tuple[Resource, ...]

    @property
    def seconds(self) -> float:
        """The bound: the time of the slowest resource, 0 for a launch that does nothing."""
        return self.resources[0].seconds if self.resources else 0.0

    @property
    def limiter(self) -> str:
        """The slowest resource, "" if there is none."""
        return self.resources[0].name if self.resources else ""

    def __str__(self) -> str:
        if not self.resources:
            return f"no time at all on {self.device} (modelled)"
        slowest, *others = self.resources
        also = f"; next {others[0].name}, {duration(others[0].seconds)}" if others else ""
        least = f"at least {duration(slowest.seconds)} on {self.device}"
        return f"{least}, set by {slowest.name}{also} (modelled)"


@dataclass(frozen=True)
class _Rule:
    """One resource: the counters that use it, and its peak per clock on so many SMs and warps."""

    name: str
    unit: str
    used: Callable[[Metrics], int]
    per_clock: Callable[[Multiprocessor, int, int], float]
    source: str


_THROUGHPUT = "CUDA C++ Best Practices Guide, Throughput of Native Arithmetic Instructions"
_ONE_MEMORY = (
    "Tesla V100 and GA102 whitepapers: L1 and shared memory are one memory, "
    "of 128 bytes in a clock, on Turing 64"
)
_RULES = (
    _Rule(
        "L1",
        "bytes",
        lambda m: m.l1_bytes_moved,
        lambda sm, sms, warps: sms * sm.l1_bytes_per_clock,
        _ONE_MEMORY,
    ),
    _Rule(
        "shared memory",
        "wavefronts",
        lambda m: m.shared_load_wavefronts + m.shared_store_wavefronts,
        lambda sm, sms, warps: sms * sm.shared_wavefronts,
        _ONE_MEMORY,
    ),
    _Rule(
        "float32 arithmetic",
        "flops",
        lambda m: m.flops_fp32,
        lambda sm, sms, warps: sms * 2 * sm.fp32_lanes,
        _THROUGHPUT,
    ),
    _Rule(
        "float64 arithmetic",
        "flops",
        lambda m: m.flops_fp64,
        lambda sm, sms, warps: sms * 2 * sm.fp64_lanes,
        _THROUGHPUT,
    ),
    _Rule(
        "special functions",
        "operations",
        lambda m: m.op_special,
        lambda sm, sms, warps: sms * sm.special_lanes,
        _THROUGHPUT,
    ),
    _Rule(
        "issue slots",
        "warp instructions",
        lambda m: m.warp_instructions,
        # a warp stays with one scheduler
        lambda sm, sms, warps: min(sms * sm.sub_partitions, warps),
        "CUDA C++ Programming Guide, compute capabilities: "
        "each of 4 schedulers issues one instruction in a clock",
    ),
)


def bound(launch: Trace | Metrics, device: Device) -> Bound:
    """Return the least time of a launch, in seconds, resource by resource.

    For ``Metrics`` alone the grid is unknown: all SMs take part. DRAM is charged the least bytes
    that have to move, with caches cold. Issue slots and special functions count the source's
    operations, of which a compiler may remove or fuse some: only there can a launch be faster than
    its bound."""
    m, sms, warps = _parts(launch, device)
    least, source = m.dram_bytes_moved[0], f"datasheet of {device.name}"
    found = [Resource("DRAM", "bytes", least, device.dram_bytes_per_s, source)]
    for rule in _RULES:
        per_s = rule.per_clock(device.sm, sms, warps) * device.clock_hz
        found.append(Resource(rule.name, rule.unit, rule.used(m), per_s, rule.source))
    return Bound(device.name, tuple(sorted((r for r in found if r.used), key=lambda r: -r.seconds)))


def _parts(launch: Trace | Metrics, device: Device) -> tuple[Metrics, int, int]:
    """Return the counters, the SMs that have a block, and the warps.

    Without a grid, all SMs and as many warps as they hold."""
    if isinstance(launch, Metrics):
        return launch, device.sms, device.sms * device.sm.warps
    blocks = prod(launch.grid)
    return launch.metrics, min(device.sms, blocks), blocks * -(-prod(launch.block) // WARP_SIZE)


def duration(seconds: float) -> str:
    """Format a time to three figures in a unit that suits it: "1.23 us"."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"

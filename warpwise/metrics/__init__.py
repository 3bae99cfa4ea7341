"""Metrics: the counters of a trace and what follows from them, for a launch or one source line.

``counters`` has what is counted. Here is what is worked out of it, and the lists of names.
``ABOUT`` describes every metric: whatever shows one reads its unit and its names there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf
from operator import add
from typing import Any

from warpwise.metrics.about import About, Derived, derived
from warpwise.metrics.counters import BANK_BYTES, BANKS, SECTOR_BYTES, WARP_SIZE, Counters

__all__ = [
    "ABOUT",
    "BANKS",
    "BANK_BYTES",
    "DISTINCT",
    "FIELDS",
    "MORE_IS_BETTER",
    "NUMBERS",
    "OPERATIONS",
    "RATIOS",
    "SECTOR_BYTES",
    "WARP_SIZE",
    "Metrics",
]

_SECTORS = "global_load_sectors + global_store_sectors"
_SECTORS_OF_TMA = "tma_load_sectors + tma_store_sectors"
_SECTORS_DISTINCT = "global_load_sectors_distinct + global_store_sectors_distinct"


@dataclass(frozen=True)
class Metrics(Counters):
    """Counters of one launch, or of one source line of it, and what follows from them."""

    @classmethod
    def of(cls, counts: Mapping[str, Any]) -> Metrics:
        """Return ``Metrics(**counts)``, in a quarter of the time.

        A frozen dataclass sets each of its many fields by a call, and every launch makes one of
        these for each of its lines."""
        made = cls.__new__(cls)
        vars(made).update(_NOTHING)
        vars(made).update(counts)
        made.__post_init__()
        return made

    @derived(
        "thread_instructions / (WARP_SIZE * warp_instructions)",
        unit="share, from 0 to 1",
        label="active lanes",
        nsight="smsp__thread_inst_executed_per_inst_executed.ratio",
        divisor=WARP_SIZE,
        agrees=True,
        more_is_better=True,
    )
    def warp_efficiency(self) -> float:
        """Active lanes per issued lane slot, 0 to 1."""
        return _ratio(self.thread_instructions, WARP_SIZE * self.warp_instructions)

    @derived(
        "global_load_sectors / global_load_requests",
        unit="sectors per request",
        label="sectors per load",
    )
    def sectors_per_request_load(self) -> float:
        """Sectors per global load request, 0 without loads.

        4 is ideal for a full warp of 4-byte elements, 32 the worst."""
        return _ratio(self.global_load_sectors, self.global_load_requests)

    @derived(
        "global_store_sectors / global_store_requests",
        unit="sectors per request",
        label="sectors per store",
    )
    def sectors_per_request_store(self) -> float:
        """Sectors per global store request, 0 without stores."""
        return _ratio(self.global_store_sectors, self.global_store_requests)

    @derived(
        "shared_load_bank_conflicts + shared_store_bank_conflicts",
        unit="wavefronts",
        label="bank conflicts",
    )
    def shared_bank_conflicts(self) -> int:
        """Bank conflicts of shared loads and stores together."""
        return self.shared_load_bank_conflicts + self.shared_store_bank_conflicts

    @derived(
        "global_atomic_requests + shared_atomic_requests",
        unit="requests of warps",
        label="atomics",
    )
    def atomic_requests(self) -> int:
        """Warp-level atomic operations on global and shared memory together."""
        return self.global_atomic_requests + self.shared_atomic_requests

    @derived(
        "atomic_passes / (global_atomic_requests + shared_atomic_requests)",
        unit="passes per request",
    )
    def atomic_serialisation(self) -> float:
        """Passes per atomic request, 0 without atomics.

        1 where the lanes of a warp name different addresses, 32 where all name one."""
        return _ratio(self.atomic_passes, self.atomic_requests)

    @derived(
        "flops_fp16 + flops_fp32 + flops_fp64 + flops_tensor", unit="floating-point operations"
    )
    def flops(self) -> int:
        """Floating-point operations of all three widths, and of tensor cores.

        Comparisons are none."""
        return self.flops_fp16 + self.flops_fp32 + self.flops_fp64 + self.flops_tensor

    @derived(
        "flops_fp64 / (flops_fp16 + flops_fp32 + flops_fp64 + flops_tensor)",
        unit="share, from 0 to 1",
    )
    def fp64_share(self) -> float:
        """Share of ``flops`` that are float64, 0 to 1; 0 without flops."""
        return _ratio(self.flops_fp64, self.flops)

    @derived("{name: op[name] / sum(op.values()) for name in op}", unit="share, from 0 to 1")
    def instruction_mix(self) -> dict[str, float]:
        """Share of thread instructions, 0 to 1, by class of operation.

        The ``op_`` counters over their sum."""
        counts = {name: getattr(self, f"op_{name}") for name in OPERATIONS}
        return {name: _ratio(count, sum(counts.values())) for name, count in counts.items()}

    @derived(
        f"SECTOR_BYTES * ({_SECTORS} + {_SECTORS_OF_TMA} + global_atomic_sectors)", unit="bytes"
    )
    def global_bytes_moved(self) -> int:
        """Bytes in all touched sectors, which move if no cache keeps one for a second request."""
        past_l1 = self.tma_load_sectors + self.tma_store_sectors + self.global_atomic_sectors
        return self.l1_bytes_moved + SECTOR_BYTES * past_l1

    @derived(f"SECTOR_BYTES * ({_SECTORS})", unit="bytes")
    def l1_bytes_moved(self) -> int:
        """Bytes in the sectors that loads and stores request from L1.

        Atomics and TMA copies go past it to L2."""
        return SECTOR_BYTES * (self.global_load_sectors + self.global_store_sectors)

    @derived(
        f"max(SECTOR_BYTES * ({_SECTORS_DISTINCT} + global_atomic_sectors), "
        f"global_bytes_distinct), "
        f"SECTOR_BYTES * ({_SECTORS} + {_SECTORS_OF_TMA} + global_atomic_sectors)",
        unit="bytes, as (least, most)",
    )
    def l2_bytes_moved(self) -> tuple[int, int]:
        """(least, most) bytes between L1 and L2.

        Each sector moves once if L1 keeps all of them, for every request if it keeps none."""
        least = self._distinct_sectors + self.global_atomic_sectors
        return max(SECTOR_BYTES * least, self.global_bytes_distinct), self.global_bytes_moved

    @derived(
        f"max(SECTOR_BYTES * ({_SECTORS_DISTINCT}), global_bytes_distinct), "
        f"SECTOR_BYTES * ({_SECTORS} + {_SECTORS_OF_TMA} + 2 * global_atomic_sectors)",
        unit="bytes, as (least, most)",
    )
    def dram_bytes_moved(self) -> tuple[int, int]:
        """(least, most) bytes between L2 and DRAM; an atomic reads and writes.

        Caches are cold at first and written back at last."""
        most = self.global_bytes_moved + SECTOR_BYTES * self.global_atomic_sectors
        return max(SECTOR_BYTES * self._distinct_sectors, self.global_bytes_distinct), most

    @derived("shared_load_bytes + shared_store_bytes", unit="bytes")
    def shared_bytes_moved(self) -> int:
        """Bytes that active lanes read from and wrote to shared memory, without atomics."""
        return self.shared_load_bytes + self.shared_store_bytes

    @derived(
        "flops / dram_bytes_moved[1], flops / dram_bytes_moved[0]",
        unit="floating-point operations per byte, as (least, most)",
    )
    def flops_per_byte(self) -> tuple[float, float]:
        """(least, most) arithmetic intensity: ``flops`` per byte of DRAM traffic.

        The least if the most bytes move, and the most if the least do; infinite if none do."""
        least, most = (
            self.flops / n if n else inf if self.flops else 0.0
            for n in reversed(self.dram_bytes_moved)
        )
        return least, most

    @property
    def _distinct_sectors(self) -> int:
        return self.global_load_sectors_distinct + self.global_store_sectors_distinct

    def __add__(self, other: Metrics) -> Metrics:
        """Add counter by counter, and ``lanes_active`` entry by entry.

        Right for lines, except for the distinct counters, which lines share."""
        return Metrics(*(_sum(getattr(self, name), getattr(other, name)) for name in FIELDS))


def _sum(a: Any, b: Any) -> Any:
    """The sum of two counters: integers, or tuples of them."""
    return tuple(map(add, a, b)) if isinstance(a, tuple) else a + b


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


FIELDS = tuple(f.name for f in fields(Metrics))
_NOTHING = vars(Metrics())
#: Every metric's description, counters first.
ABOUT: dict[str, About] = {f.name: f.metadata["about"] for f in fields(Metrics)} | {
    name: metric.about for name, metric in vars(Metrics).items() if isinstance(metric, Derived)
}
RATIOS = tuple(name for name in ABOUT if name not in FIELDS)
OPERATIONS = tuple(name.removeprefix("op_") for name in FIELDS if ABOUT[name].group == "mix")
# of a launch; not the sum of its lines
DISTINCT = tuple(name for name, about in ABOUT.items() if about.of_launch)
#: those of which a budget gives the least; the last is of the compiler (``CompilerFigures``)
MORE_IS_BETTER = (
    *(name for name, about in ABOUT.items() if about.more_is_better),
    "flops_per_issue_slot",
)
# the names that a budget can use
NUMBERS = tuple(name for name in ABOUT if isinstance(getattr(Metrics(), name), int | float))

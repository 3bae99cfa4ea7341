"""Occupancy: the blocks of a kernel that one SM holds at a time, and the resource that limits them.

The rule is that of ``cuda_occupancy.h`` in the CUDA toolkit, with all of the SM's shared memory
given to blocks. Clusters, and a smaller choice of shared memory in favour of L1, are left out."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.devices import Device, Multiprocessor
from warpwise.metrics import WARP_SIZE
from warpwise.model.arguments import quantity, whole

UNLIMITED = 2**31 - 1  # blocks, by shared memory of which a block takes nothing


@dataclass(frozen=True)
class Occupancy:
    """The share of a multiprocessor that a kernel fills; at 0 ``blocks`` a GPU refuses it."""

    device: str
    blocks: int  #: at a time on one SM
    warps: int  #: of these blocks together
    fraction: float  #: of the warps that an SM can hold, 0 to 1
    limiter: str  #: "warps", "blocks", "registers" or "shared memory"
    blocks_by_warps: int  #: the most blocks that each resource alone would allow
    blocks_by_blocks: int
    blocks_by_registers: int
    blocks_by_shared_memory: int  #: UNLIMITED where a block takes none

    def __str__(self) -> str:
        if not self.blocks:
            return f"no block fits on an SM of {self.device}, for lack of {self.limiter}"
        share = f"{quantity(self.warps, 'warp')} ({100 * self.fraction:.0f} %)"
        blocks = f"{quantity(self.blocks, 'block')}, {share} on each SM of {self.device}"
        return f"{blocks}, limited by {self.limiter}"


def occupancy(
    device: Device, threads: int, registers: int = 32, shared_bytes: int = 0
) -> Occupancy:
    """Return the occupancy of blocks of ``threads`` threads.

    ``registers``: of each thread, 1 to 255, as a compiler reports them. ``shared_bytes``: of each
    block, static and dynamic together. Raises LaunchError for a number outside its range. A block
    that fits no SM gives 0 blocks."""
    sm = device.sm
    threads = whole("threads", threads, 1, device.threads_per_block)
    registers = whole("registers", registers, 1, sm.registers_per_thread)
    shared_bytes = whole("shared_bytes", shared_bytes, 0)
    warps = -(-threads // WARP_SIZE)
    # Of equal limits the first is named: warps and blocks are fixed by the hardware.
    limits = {
        "warps": sm.warps // warps,
        "blocks": sm.blocks,
        "registers": _by_registers(sm, warps, registers),
        "shared memory": _by_shared_memory(sm, shared_bytes),
    }
    limiter = min(limits, key=limits.__getitem__)
    blocks = limits[limiter]
    return Occupancy(
        device.name, blocks, blocks * warps, blocks * warps / sm.warps, limiter, *limits.values()
    )


def _by_registers(sm: Multiprocessor, warps: int, registers: int) -> int:
    """Return the most blocks that the registers allow.

    Registers belong to sub-partitions and are allocated to whole warps; a block's warps are dealt
    to the sub-partitions in turn."""
    per_warp = _rounded_up(registers * WARP_SIZE, sm.registers_unit)
    per_part = sm.registers // sm.sub_partitions
    if per_warp * -(-warps // sm.sub_partitions) > per_part:
        return 0
    return sm.sub_partitions * (per_part // per_warp) // warps


def _by_shared_memory(sm: Multiprocessor, shared_bytes: int) -> int:
    taken = _rounded_up(shared_bytes + sm.shared_bytes_reserved, sm.shared_bytes_unit)
    return sm.shared_bytes // taken if taken else UNLIMITED


def _rounded_up(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit

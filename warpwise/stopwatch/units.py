"""What one SM of a card has: its arithmetic, and its share of the memories behind it, in clocks."""

from __future__ import annotations

from warpwise.metrics import WARP_SIZE
from warpwise.stopwatch.cards import Card

#: Clocks for which an instruction holds its pipe: 32 lanes on the 16 of a quarter of an SM.
ARITHMETIC_CLOCKS = 2.0
#: Latencies in clocks, assumed but for plain arithmetic (Core): of special functions, of float64
#: where it has lanes of its own and where it has two, and of the uniform datapath.
SPECIAL_LATENCY, FP64_LATENCY, SLOW_FP64_LATENCY, UNIFORM_LATENCY = 20.0, 8.0, 40.0, 12.0
#: Share of the datasheet's bandwidth that DRAM gives: reads or writes alone, and mixed in halves.
#: gpu-stream on an A100, where it no longer depends on the size of the block; taken for all.
UNMIXED, MIXED = 0.96, 0.89
L2_PORT = 64.0  #: bytes a clock that an SM gets from L2 at most
#: DRAM's load, as a share of what it gives, at which its latency under load is measured: by a chase
#: beside a copy of 3.0 TB/s on an H200 (`warpwise measure constants`).
LOADED = 0.7


def timing(pipe: str, card: Card) -> tuple[float, float]:
    """Return the clocks for which plain instructions hold a pipe, and the latency of a result."""
    sm = card.device.sm
    if pipe == "special":
        return sm.sub_partitions * WARP_SIZE / sm.special_lanes, SPECIAL_LATENCY
    if pipe == "fp64":  # one pipe for the whole SM
        slow = sm.fp64_lanes < 16
        return WARP_SIZE / sm.fp64_lanes, SLOW_FP64_LATENCY if slow else FP64_LATENCY
    if pipe == "uniform":
        return 1.0, UNIFORM_LATENCY
    return ARITHMETIC_CLOCKS, card.core.arithmetic_latency


def rates_of(card: Card, sms: int, reads: float) -> tuple[float, float]:
    """Return the clocks that a sector takes of one SM's share of L2, and of DRAM.

    Few SMs have more of each; of L2 at most what its port is wide."""
    share = UNMIXED - (UNMIXED - MIXED) * mixed(reads)
    l2 = min(L2_PORT, card.l2_bytes_per_clock / sms)
    return 32 / l2, 32 * sms / (card.dram_bytes_per_clock * share)


def of_busier(rates: tuple[float, float], share: float) -> tuple[float, float]:
    """Return the clocks of a sector, ``share`` of an average SM's, for one with more blocks.

    Memory that all SMs share serves whoever asks: an SM that asks more often has more of it."""
    return max(32 / L2_PORT, rates[0] * share), rates[1] * share


def mixed(reads: float) -> float:
    """Return how mixed reads and writes are, by the share of reads: 1 in halves, 0 if alone."""
    return 1 - abs(2 * reads - 1)


def latencies_of(card: Card, reads: float = 1.0) -> tuple[float, ...]:
    """Return the clocks that an access of shared memory, L1, L2 and DRAM takes, and what it takes
    more of DRAM under full load.

    That grows with the load and with how mixed it is: it was measured beside a copy, and
    gpu-stream's reads on an H200 have none of it."""
    core, idle = card.core, card.dram_latency
    more = mixed(reads) * max(0.0, (card.dram_latency_loaded or idle) - idle) / LOADED
    return core.shared_latency, core.l1_latency, card.l2_latency, idle, more

"""Advice on the costly lines of a launch, in sentences.

Rules judge by counters alone. A line earns advice when it wastes at least a tenth of what its
launch spends on the same thing; below that, a fix would not pay. Races and notes of the simulator
come first, then the most wasteful line of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from warpwise.devices import Device
from warpwise.metrics import SECTOR_BYTES, WARP_SIZE, Metrics
from warpwise.model.arguments import quantity
from warpwise.traces import Trace

# share of the launch's sectors, shared passes, lane slots, issued passes or flops that one line
# must waste
WORTH_A_WORD = 0.1
# sectors per needed sector; below it, requests that begin inside a sector explain the excess
SCATTERED = 2.0
MOST_RACES, MOST_NOTES = 2, 3


@dataclass(frozen=True)
class Row:
    """One source line and its counters, or the launch's total; ``place``: the line in words."""

    name: str
    source: str
    metrics: Metrics
    place: str = ""


def advice(rows: list[Row], t: Trace, device: Device) -> Iterator[str]:
    """Yield sentences: races, notes, wasteful lines by kind of waste, and the size of the grid."""
    yield from (f"{race.what}. Try: {race.try_this}." for race in t.races[:MOST_RACES])
    yield from (
        f"{note.place}: {note.what}. Try: {note.try_this}." for note in t.notes[:MOST_NOTES]
    )
    rules = [_sectors, _conflicts, _atomics, _idle_lanes]
    if not any(array.dtype in ("float64", "complex128") for array in t.arrays):
        rules.insert(3, _float64)
    noted = {note.place for note in t.notes}
    for rule in rules:
        found = [
            (waste, row.place, text)
            for row in rows
            for waste, text in rule(row.metrics, t.metrics)
            if waste >= WORTH_A_WORD and not (rule is _float64 and row.place in noted)
        ]
        yield from (f"{place}: {text}" for _, place, text in sorted(found, key=lambda f: -f[0]))
    yield from _grid(prod(t.grid), prod(t.block), device)


def needed_sectors(requests: int, bytes_used: int) -> int:
    """Return the fewest sectors that could serve these requests, at least one for each."""
    return max(requests, -(-bytes_used // SECTOR_BYTES))


# Each rule yields (waste, sentence) for one line: waste is a share, 0 to 1, of what the whole
# launch spends.


def _sectors(m: Metrics, total: Metrics) -> Iterator[tuple[float, str]]:
    """Judge the line's loads, then its stores."""
    spent = max(total.global_load_sectors + total.global_store_sectors, 1)
    sides = (
        ("load", "read", m.global_load_requests, m.global_load_sectors, m.global_load_bytes),
        ("store", "write", m.global_store_requests, m.global_store_sectors, m.global_store_bytes),
    )
    for noun, verb, requests, sectors, used in sides:
        needed = needed_sectors(requests, used)
        if sectors <= needed:
            continue
        cost = f"{sectors / requests:.1f} sectors per {noun} where {needed / requests:.1f} would do"
        remedy = f"let neighbouring lanes {verb} neighbouring elements"
        if sectors < SCATTERED * needed:
            remedy = (
                f"begin each warp's {noun} on a multiple of {SECTOR_BYTES} bytes, "
                "for example by padding rows"
            )
        yield (sectors - needed) / spent, f"{cost}; {remedy}."


def _conflicts(m: Metrics, total: Metrics) -> Iterator[tuple[float, str]]:
    spent = max(total.shared_load_wavefronts + total.shared_store_wavefronts, 1)
    remedy = "make each row of the shared array one element longer"
    conflicts = m.shared_bank_conflicts
    yield conflicts / spent, f"{conflicts:,} bank conflicts; {remedy}."


def _atomics(m: Metrics, total: Metrics) -> Iterator[tuple[float, str]]:
    """Compare passes beyond one per request with everything that the launch issues."""
    spent = max(total.warp_instructions + total.atomic_passes - total.atomic_requests, 1)
    cost = (
        f"an atomic takes {m.atomic_serialisation:.1f} passes, "
        "because lanes that share an address wait for one another"
    )
    remedy = "add up within the warp or block first, and let one lane do the atomic"
    yield (m.atomic_passes - m.atomic_requests) / spent, f"{cost}; {remedy}."


def _float64(m: Metrics, total: Metrics) -> Iterator[tuple[float, str]]:
    """Judge float64 where no array is float64, so that nobody seems to want it."""
    cost = f"{m.flops_fp64:,} float64 operations, and no array holds float64"
    remedy = "write np.float32(...) around literals such as 0.0 and around arguments"
    yield m.flops_fp64 / max(total.flops, 1), f"{cost}; {remedy}."


def _idle_lanes(m: Metrics, total: Metrics) -> Iterator[tuple[float, str]]:
    idle = m.warp_instructions - m.thread_instructions / WARP_SIZE
    remedy = "let whole warps take the same path, and fill each warp"
    cost = f"{100 * m.warp_efficiency:.0f} % of the lanes are active"
    yield idle / max(total.warp_instructions, 1), f"{cost}; {remedy}."


def _grid(blocks: int, threads: int, device: Device) -> Iterator[str]:
    """Judge a grid of fewer blocks than SMs whose threads, in smaller blocks, would reach all."""
    share = blocks * threads // device.sms
    if blocks < device.sms and share >= WARP_SIZE:
        idle = f"{device.sms - blocks} of the {device.sms} SMs of {device.name}"
        smaller = 1 << (share.bit_length() - 1)  # a power of two
        yield (
            f"launch: with {quantity(blocks, 'block')}, {idle} have nothing to do; "
            f"blocks of {smaller} threads would reach them all."
        )

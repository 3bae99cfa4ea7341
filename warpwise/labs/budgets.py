"""Budgets: the counters that a launch may be held to, and what counts into each.

A budget on loads or stores counts the atomics of that memory, too: ``cuda.atomic.add(x, i, 0)``
loads ``x[i]`` for whoever keeps its result. A budget on float64 arithmetic counts float64's
functions, such as ``exp``, as operations. The counters of a trace stay those of Nsight Compute,
which keeps them apart. Left out: deciding on a launch, which ``judge`` does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from warpwise.cluster import Record, switch
from warpwise.metrics import ABOUT, FIELDS, MORE_IS_BETTER, NUMBERS, Metrics
from warpwise.traces import Trace

#: counters of a trace itself that a budget can name too
OF_A_TRACE = (
    "shared_bytes_per_block",
    "local_bytes_per_thread",
    "most_bytes_loaded_by_a_warp",
    "most_bytes_stored_by_a_warp",
    "loads_stored_at_once",
)
#: the names that a budget can use
NAMES = (*NUMBERS, *OF_A_TRACE)
#: counters of a program's run on a cluster that a budget can name
OF_A_RUN = (
    "most_bytes_sent_by_a_rank",
    "most_bytes_over_a_link",
    "most_bytes_in_a_collective",
    "collectives",
    "rounds",
    "microseconds",
    "microseconds_not_hidden",
)
#: what NVIDIA's compiler gives a thread of a kernel, and what an instruction of its inner loop
#: computes, which ``Launch.compiled`` can limit: of ``CompilerFigures``
OF_THE_COMPILER = (
    "registers_per_thread",
    "spilled_bytes",
    "local_memory_bytes",
    "flops_per_issue_slot",
)
#: a counter of loads or stores -> that of atomics which its budget pays for as well
ATOMICS = {
    name: atomics
    for name in FIELDS
    for kind in ("load", "store")
    if (atomics := name.replace(f"_{kind}_", "_atomic_")) != name and atomics in FIELDS
}
#: counters of float64 arithmetic, whose budgets pay for its functions as well
FLOAT64 = ("op_fp64", "flops_fp64")
MANY = 1e12  #: seconds of latency, and bytes per second, beside which nothing else takes time
_BY_THEMSELVES = frozenset(
    name for name in NUMBERS if "atomic" in name or "atomic" in ABOUT[name].formula
)
#: a counter that work which helps nobody can mend, such as a ratio -> the totals of which one has
#: to be kept as well
TOTALS = {
    "warp_efficiency": ("warp_instructions", "thread_instructions"),
    "sectors_per_request_load": (
        "global_load_sectors",
        "global_load_requests",
        "global_bytes_moved",
        "l1_bytes_moved",
    ),
    "sectors_per_request_store": (
        "global_store_sectors",
        "global_store_requests",
        "global_bytes_moved",
        "l1_bytes_moved",
    ),
    "atomic_serialisation": ("atomic_passes", "atomic_requests", "atomics"),
    "fp64_share": ("flops_fp64", "flops"),
    # none where lanes take turns, which makes as many requests instead
    "shared_bank_conflicts": ("shared_load_requests", "shared_load_wavefronts"),
}


def counter_value(t: Trace, counter: str) -> float:
    """Return the value that a budget on this counter limits."""
    value: float = getattr(t, counter) if counter in OF_A_TRACE else charged(t.metrics, counter)
    return value


def charged(m: Metrics, counter: str) -> float:
    """Return a counter of a launch or a line, with atomics counted into loads and stores, and
    functions of float64 into its arithmetic."""
    if counter not in _BY_THEMSELVES:
        more = dict.fromkeys(FLOAT64, m.special_fp64)
        more |= {name: getattr(m, atomics) for name, atomics in ATOMICS.items()}
        if any(more.values()):
            m = replace(m, **{name: getattr(m, name) + count for name, count in more.items()})
    value: float = getattr(m, counter)
    return value


def run_value(run: Record, counter: str) -> float:
    """Return the value of a counter of a run, of OF_A_RUN.

    ``rounds`` is the longest chain of messages of which each had to wait for the one before, and
    ``microseconds_not_hidden`` what the run takes beyond the work of the rank with least of it."""
    if counter == "collectives":
        return len(run.collectives)
    if counter == "most_bytes_in_a_collective":
        return max((one.nbytes for one in run.collectives), default=0)
    if counter == "microseconds":
        return 1e6 * run.seconds
    if counter == "microseconds_not_hidden":
        return 1e6 * (run.seconds - min(rank.compute for rank in run.ranks))
    if counter == "most_bytes_sent_by_a_rank":
        return max(rank.bytes_sent for rank in run.ranks)
    if counter == "most_bytes_over_a_link":
        return max(run.bytes_by_link.values(), default=0)
    ranks = run.log.ranks
    if ranks == 1:
        return 0
    alone = run.on(switch(ranks, bytes_per_s=MANY, latency_s=MANY))
    return int(max((passage.end for passage in alone.times.passages), default=0.0) / MANY + 0.5)


def counts_atomics(t: Trace, counter: str) -> bool:
    """True if a budget on this counter counts atomics as loads or stores, and the kernel has any.

    The kernel's text decides, so that the answer tells nothing of the data."""
    return counter in _CHARGED and any("atomic" in line for line in t.source.values())


def figure(value: float) -> str:
    """Format a counter for a reader: groups of three digits, at most two after the point."""
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"


def within(counter: str, value: float, limit: float) -> bool:
    """True if a counter keeps its limit: the most, or for those in MORE_IS_BETTER the least."""
    return value >= limit if counter in MORE_IS_BETTER else value <= limit


def bound(counter: str) -> str:
    """Return the words for a limit on this counter: "at most" or "at least"."""
    return "at least" if counter in MORE_IS_BETTER else "at most"


def ratios_alone(budget: Iterable[str]) -> tuple[str, ...]:
    """Return the ratios among the counters of a budget that have none of their totals beside."""
    names = tuple(budget)
    return tuple(name for name in names if name in TOTALS and not {*TOTALS[name]} & {*names})


_ONCE: dict[str, Any] = dict.fromkeys(ATOMICS.values(), 1)
_ATOMICS_ALONE = Metrics(**_ONCE)
#: counters whose budgets count atomics that the counters themselves leave out
_CHARGED = frozenset(
    name for name in NUMBERS if charged(_ATOMICS_ALONE, name) != getattr(_ATOMICS_ALONE, name)
)

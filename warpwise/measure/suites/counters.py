"""The simulator's counters beside Nsight Compute's, for the patterns of ``warpwise.measure``.

A pattern must agree exactly unless a note says why it cannot. Warp efficiency is compared only if
all instructions of a warp have the same active lanes: the compiler's instructions are not the
source's.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from warpwise import trace
from warpwise.benchmark_records import EQUAL
from warpwise.cuda import numba_backend
from warpwise.errors import MeasureError, WarpwiseError
from warpwise.measure.ncu import METRICS, NcuError, counters, matched, profiled
from warpwise.measure.patterns import Pattern, on_global_memory, on_shared_memory
from warpwise.measure.patterns_of_atomics import of_atomics
from warpwise.measure.patterns_of_quads import of_quads
from warpwise.measure.place import Place
from warpwise.metrics import ABOUT

TITLE = "Counters of the simulator beside Nsight Compute's"
OPTIONAL = {name for name, about in ABOUT.items() if not about.everywhere}
Counters = dict[str, float | None]
ROUNDING = 2e-3  # ncu prints lanes per instruction with two or three digits


def patterns() -> list[Pattern]:
    return [*on_global_memory(), *on_shared_memory(), *of_quads(), *of_atomics()]


def collect(place: Place) -> list[dict[str, Any]]:
    """Return a row for each pattern, with a ``problem`` if counters wrongly differ.

    Raises MeasureError if ncu returns none.
    """
    chosen = patterns()
    try:
        theirs = measured() if not place.rehearsal else [None] * len(chosen)
    except NcuError as error:
        raise MeasureError(str(error)) from error
    rows = []
    for pattern, counted in zip(chosen, theirs, strict=True):
        missed = "" if counted or place.rehearsal else "ncu shows no such launch"
        rows.append(row(pattern, modelled(pattern), counted, missed))
    return rows


def modelled(pattern: Pattern) -> Counters | str:
    """Return the simulator's counters of one pattern after checking its result, or a problem."""
    try:
        m = trace(pattern.kernel, pattern.blocks, pattern.threads, *pattern.args, record=()).metrics
    except WarpwiseError as error:
        return str(error).splitlines()[0]
    if not np.allclose(pattern.args[-1], pattern.want, rtol=1e-5, atol=1e-4):
        return "the simulator's result is not NumPy's"
    return {name: getattr(m, name) for name in METRICS}


def differences(ours: Counters, theirs: Counters, even: bool) -> list[str]:
    """Return the names of counters that differ; warp efficiency counts if lanes are ``even``."""
    found = []
    for name, mine in ours.items():
        other = theirs.get(name)
        if mine is None or other is None or (name == "warp_efficiency" and not even):
            continue
        same = abs(mine - other) <= ROUNDING if name == "warp_efficiency" else mine == other
        if not same:
            found.append(name)
    return found


def verdict(pattern: Pattern, ours: Counters | str, theirs: Counters | None) -> str:
    if isinstance(ours, str):
        return f"not modelled: {ours}"
    missing = [name for name in METRICS if theirs is None or theirs.get(name) is None]
    if theirs is None or len(missing) == len(METRICS):
        return "not measured"
    if differ := differences(ours, theirs, pattern.even):
        return "differs: " + ", ".join(differ)
    return "not measured: " + ", ".join(missing) if set(missing) - OPTIONAL else EQUAL


def row(
    pattern: Pattern, ours: Counters | str, theirs: Counters | None, problem: str = ""
) -> dict[str, Any]:
    """Return the row of one pattern."""
    found = verdict(pattern, ours, theirs)
    wrong = found.startswith("not modelled") or (pattern.must_agree and found.startswith("differs"))
    parameters = {
        "blocks": pattern.blocks,
        "threads": pattern.threads,
        "width": pattern.width,
        "must_agree": pattern.must_agree,
        "modelled": ours if isinstance(ours, dict) else None,
        "measured": theirs,
        "verdict": found,
    }
    by = "ncu" if problem else "numba"  # a machine's faulty ncu is no fault of our kernels
    return {
        "case": pattern.name,
        "variant": pattern.function,
        "by": by,
        "parameters": parameters,
        "note": pattern.note,
        "problem": problem or (found if wrong else ""),
    }


def measured() -> list[Counters | None]:
    """Run this module under ncu as one process; return the GPU's counters of each pattern."""
    launches = profiled([sys.executable, "-m", __name__])
    found = matched(launches, [pattern.function for pattern in patterns()])
    return [None if launch is None else counters(launch) for launch in found]


def launch_all() -> None:
    """Launch every pattern once on the GPU and check its result; this runs under ncu."""
    cuda = numba_backend.load()

    for pattern in patterns():
        held = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in pattern.args]
        pattern.kernel[pattern.blocks, pattern.threads](*held)
        cuda.synchronize()
        if not np.allclose(held[-1].copy_to_host(), pattern.want, rtol=1e-4, atol=1e-3):
            print(f"{pattern.name}: the GPU's result is not NumPy's")


if __name__ == "__main__":
    launch_all()

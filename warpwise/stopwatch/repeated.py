"""Loads that the source asks for again at once, and that a compiler therefore leaves out.

``a[i] * a[i]`` is two loads for the simulator and one for the machine, and what a loop loads in
every trip from the same place is loaded once before it. Only a store, an atomic or a barrier in
between makes a compiler load again: arguments may overlap."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from warpwise.traces import KINDS, Records, Trace

LOAD = KINDS.index("load")
CHANGES = tuple(KINDS.index(kind) for kind in ("store", "atomic", "barrier"))

#: of an array and a line, the last record of a load and its addresses
Latest = dict[tuple[int, int], tuple[int, np.ndarray]]


def without_repeats(trace: Trace) -> Trace:
    """Return a trace whose records lack loads of what their lanes have just loaded.

    The trace itself if there are none. Counters stay as they are."""
    r = trace.records
    kept = np.ones(len(r.kind), bool)
    latest: Latest = {}
    block = -1
    rows = np.flatnonzero((r.kind == LOAD) | np.isin(r.kind, CHANGES)).tolist()
    for i in rows:
        if r.kind[i] != LOAD or r.block[i] != block:
            latest, block = {}, int(r.block[i])
        if r.kind[i] == LOAD:
            place = int(r.array[i]), int(r.line[i])
            kept[i] = not _again(r.addresses[i], place, latest)
            latest[place] = i, r.addresses[i]
    if kept.all():
        return trace
    columns = {f.name: getattr(r, f.name)[kept] for f in fields(Records)}
    return replace(trace, records=Records(**columns))


def _again(addresses: np.ndarray, place: tuple[int, int], latest: Latest) -> bool:
    """Return whether each lane that loads has loaded just this at last: on this line, or since then
    on another one."""
    on, (since, _) = addresses >= 0, latest.get(place, (0, addresses))
    return any(
        bool((addresses[on] == before[on]).all())
        for (array, _), (row, before) in latest.items()
        if array == place[0] and row >= since
    )

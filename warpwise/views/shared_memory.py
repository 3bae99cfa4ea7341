"""A block's shared memory over time: the elements that a warp names, and who has written them.

A trace holds addresses, not values: what an element holds is not shown. An asynchronous copy writes
when its wait ends. A step is one line as the
block's warps ran it together, in the order of the trace; between two barriers a GPU runs the warps
in any order. The first recorded steps are kept, as many as a page can carry, and large arrays are
drawn with several elements to a square: the widget says so where it does."""

from __future__ import annotations

import gzip
import json
from html import escape
from itertools import groupby
from math import prod

import numpy as np
import numpy.typing as npt

from warpwise.errors import TraceError
from warpwise.metrics import WARP_SIZE
from warpwise.model.arguments import whole
from warpwise.traces import KINDS, ArrayInfo, Trace, unlinear
from warpwise.views.controls import Player, Slider
from warpwise.views.html import DATA_BUDGET
from warpwise.views.request import VERBS
from warpwise.views.view import Json, View

MOST_STEPS = 400
#: what a step does, before the name of the array
DOES = VERBS | {"copy": "starts a copy to", "arrive": "ends the copy to"}
MOST_SQUARES = 64  #: in a row or a column of a picture
WRAP = 32  #: squares in a row of an array with one axis
ROOM = DATA_BUDGET * 3 // 4  #: bytes of steps, gzipped; style and controls need the rest

Run = tuple[int, int]  #: a step from thread to thread, and how often it comes in a row


def of_trace(
    trace: Trace,
    block: int | None = None,
    step: int = 1,
    warp: int = 0,
    line: int | None = None,
) -> View:
    """Show the shared arrays of a traced kernel's block step by step, from ``step`` and ``warp``.

    ``block`` is its number in the grid, x fastest; the first recorded one if it is None. With
    ``line`` the step is the first on that line in which the warp takes part. Raises TraceError if
    block or line was not recorded, and LaunchError for a step or a warp that is not there. A trace
    without shared memory says so in a sentence."""
    blocks = _blocks(trace)
    if not trace.shared_bytes_per_block:
        return _nothing(f"{trace.kernel} uses no shared memory.")
    if block is None and not blocks:
        return _nothing(f"{trace.kernel} has shared memory, but no recorded block accessed it.")
    block = blocks[0] if block is None else block
    if block not in blocks:
        raise TraceError(
            f"block {block} of {trace.kernel} has no recorded access to shared memory; "
            f"blocks that have: {blocks or 'none'}"
        )
    records = _records(trace, block)
    data = _data(trace, records)
    warps, steps = data["total"], len(data["steps"])
    warp = whole("warp", warp, 0, warps - 1)
    step = (
        whole("step", step, 1, steps) if line is None else _on(trace, records[:steps], line, warp)
    )
    controls = (Slider("warp", "warp", 0, warps - 1, warp), Player("step", "step", 1, steps, step))
    note = escape(_note(trace, block, steps, len(records)))
    return View("shared_memory", data, controls, f'<p class="note">{note}</p>')


def _on(trace: Trace, records: list[int], line: int, warp: int) -> int:
    """Return the first step, from 1, in which a warp is on a line."""
    lanes = slice(WARP_SIZE * warp, WARP_SIZE * (warp + 1))
    for step, i in enumerate(records, 1):
        if trace.records.line[i] == line and trace.records.active[i, lanes].any():
            return step
    raise TraceError(
        f"of warp {warp}, line {line} of {trace.kernel} has no access to shared memory to show"
    )


def _nothing(why: str) -> View:
    return View("shared_memory", {"nothing": why})


def _blocks(trace: Trace) -> list[int]:
    """Return the recorded blocks that accessed shared memory."""
    return sorted(set(trace.records.block[_on_shared(trace)].tolist()))


def _records(trace: Trace, block: int) -> list[int]:
    """Return the records of a block that access shared memory or are barriers, in their order."""
    wanted = _on_shared(trace) | (trace.records.kind == KINDS.index("barrier"))
    return np.flatnonzero(wanted & (trace.records.block == block)).tolist()


def _on_shared(trace: Trace) -> npt.NDArray[np.bool_]:
    """Return a mask of the records that access shared memory."""
    shared = [info.space == "shared" for info in trace.arrays]
    of_array = np.array([*shared, False], bool)  # the last is for array -1, none
    mask: npt.NDArray[np.bool_] = of_array[trace.records.array]
    return mask


def _data(trace: Trace, records: list[int]) -> Json:
    """Pack the records for the script: as many first steps as fit a page."""
    used = sorted({int(trace.records.array[i]) for i in records} - {-1})
    lines = sorted({int(trace.records.line[i]) for i in records})
    whole_block = {
        "arrays": [_layout(trace.arrays[number]) for number in used],
        "source": {n: f"{trace.place(n)}, {trace.source[n].strip()}" for n in lines},
        "total": -(-prod(trace.block) // WARP_SIZE),
    }
    most = MOST_STEPS
    while True:
        steps, patterns = _steps(trace, records[:most], used)
        data = {**whole_block, "steps": steps, "patterns": patterns}
        if most == 1 or len(gzip.compress(json.dumps(data).encode())) <= ROOM:
            return data
        most = max(1, min(most, len(records)) * 3 // 4)


def _steps(
    trace: Trace, records: list[int], used: list[int]
) -> tuple[list[Json], list[tuple[Run, ...]]]:
    """Return each record's step, and the patterns of elements that the steps refer to by number.

    Loops name the same elements again and again."""
    steps: list[Json] = []
    patterns: dict[tuple[Run, ...], int] = {}
    for i in records:
        kind, number = KINDS[trace.records.kind[i]], int(trace.records.array[i])
        info = trace.arrays[number] if number >= 0 else None
        elements = _elements(trace, i, info)
        pattern = patterns.setdefault(_runs(elements), len(patterns))
        what = f"{DOES[kind]} {info.name} in" if info else "is a barrier for"
        warps = len(set(np.flatnonzero(elements >= 0) // WARP_SIZE))
        array, line = used.index(number) if info else -1, int(trace.records.line[i])
        where = {"line": line, "array": array, "pattern": pattern}
        if info and (span := int(trace.records.width[i]) // info.itemsize) > 1:
            where["span"] = span
        steps.append({"kind": kind, "what": what, "warps": warps, **where})
    return steps, list(patterns)


def _elements(trace: Trace, i: int, info: ArrayInfo | None) -> npt.NDArray[np.int64]:
    """Return the number of the element that each thread of the block names, the last axis fastest.

    It is 0 at a barrier, and -1 for threads not there."""
    active = trace.records.active[i]
    if info is None:
        return np.where(active, 0, -1)
    rest, number = trace.records.addresses[i] - info.address, 0
    for size, stride in zip(info.shape, info.strides, strict=True):
        number = number * size + rest // stride
        rest = rest % stride
    return np.where(active, number, -1)


def _runs(elements: npt.NDArray[np.int64]) -> tuple[Run, ...]:
    """Return the runs from thread to thread, from 0: few for what kernels do."""
    steps = np.diff(elements, prepend=0).tolist()
    return tuple((step, len(list(run))) for step, run in groupby(steps))


def _layout(info: ArrayInfo) -> Json:
    """Lay an array out: ``row`` elements in a row of ``columns`` squares.

    ``scale``: elements in a square, down and along. ``steps``: elements from one to the next by
    axis."""
    size = prod(info.shape)
    if len(info.shape) == 1:
        along = -(-size // (WRAP * MOST_SQUARES))
        row, scale = min(size, WRAP * along), (1, along)
    else:
        row = info.shape[-1]
        scale = -(-(size // row) // MOST_SQUARES), -(-row // MOST_SQUARES)
    many = f", {prod(scale)} to a square" if prod(scale) > 1 else ""
    title = f"{info.name}: {' by '.join(map(str, info.shape))} {info.dtype}{many}"
    columns = -(-row // scale[1])
    steps = [prod(info.shape[axis + 1 :]) for axis in range(len(info.shape))]
    drawn = {"row": row, "scale": scale, "columns": columns, "title": title}
    return {"name": info.name, "shape": info.shape, "size": size, "steps": steps, **drawn}


def _note(trace: Trace, block: int, shown: int, recorded: int) -> str:
    note = (
        f"Block {unlinear(block, trace.grid)} of {trace.kernel}, line by line as traced; "
        "a GPU runs warps in any order between barriers."
    )
    if shown < recorded or trace.truncated:
        of = f" of {recorded:,}" if shown < recorded else ""
        note += f" The first {shown:,} steps are shown{of}."
    return note

"""The shared memory of one block over time: which elements of its arrays a warp names, and which have been written by whom.

A trace holds addresses, not values: what an element holds is not shown. A step is one line as the block's warps ran it together, in the
order of the trace; between two barriers a GPU runs the warps in any order. The recorded first steps are kept, as many as a page can
carry, and large arrays are drawn with several elements to a square: the widget says so where it does.
"""

from __future__ import annotations

import gzip
import json
from html import escape
from itertools import groupby
from math import prod

import numpy as np

from warpwise.errors import TraceError
from warpwise.metrics import WARP_SIZE
from warpwise.model.arguments import whole
from warpwise.trace import KINDS, ArrayInfo, Trace, unlinear
from warpwise.views.controls import Player, Slider
from warpwise.views.html import DATA_BUDGET
from warpwise.views.request import VERBS
from warpwise.views.view import View

MOST_STEPS = 400
MOST_SQUARES = 64  #: in a row or a column of a picture
WRAP = 32  #: squares in a row of an array with one axis
ROOM = DATA_BUDGET * 3 // 4  #: bytes of steps, gzipped; style and controls need the rest


def of_trace(trace: Trace, block: int | None = None, step: int = 1, warp: int = 0) -> View:
    """The shared arrays of a recorded block of a traced kernel, step by step. Opens on ``step`` and ``warp``.

    ``block`` is its number in the grid, x fastest; the first recorded one if it is None. Raises TraceError if it was not recorded, and
    LaunchError for a step or a warp that is not there. A trace without shared memory says so in a sentence.
    """
    blocks = _blocks(trace)
    if not trace.shared_bytes_per_block:
        return View("shared_memory", {"nothing": f"{trace.kernel} uses no shared memory."})
    if block is None and not blocks:
        return View("shared_memory", {"nothing": f"{trace.kernel} has shared memory, but no recorded block accessed it."})
    block = blocks[0] if block is None else block
    if block not in blocks:
        raise TraceError(f"block {block} of {trace.kernel} has no recorded access to shared memory; blocks that have: {blocks or 'none'}")
    records = _records(trace, block)
    data = _data(trace, records)
    warps, steps = data["total"], len(data["steps"])
    step, warp = whole("step", step, 1, steps), whole("warp", warp, 0, warps - 1)
    controls = (Slider("warp", "warp", 0, warps - 1, warp), Player("step", "step", 1, steps, step))
    return View("shared_memory", data, controls, f'<p class="note">{escape(_note(trace, block, steps, len(records)))}</p>')


def _blocks(trace: Trace) -> list[int]:
    """The recorded blocks that accessed shared memory."""
    return sorted(set(trace.records.block[_on_shared(trace)].tolist()))


def _records(trace: Trace, block: int) -> list[int]:
    """The records of a block that access shared memory or are barriers, in their order."""
    wanted = _on_shared(trace) | (trace.records.kind == KINDS.index("barrier"))
    return np.flatnonzero(wanted & (trace.records.block == block)).tolist()


def _on_shared(trace: Trace) -> np.ndarray:
    """Of each record, whether it is an access to shared memory. The last entry is for array -1, which is none."""
    return np.array([info.space == "shared" for info in trace.arrays] + [False])[trace.records.array]


def _data(trace: Trace, records: list[int]) -> dict:
    """For the script: as many first steps as fit a page."""
    used = sorted({int(trace.records.array[i]) for i in records} - {-1})
    arrays = [_layout(trace.arrays[number]) for number in used]
    total = -(-prod(trace.block) // WARP_SIZE)
    source = {number: trace.source[number].strip() for number in sorted({int(trace.records.line[i]) for i in records})}
    most = MOST_STEPS
    while True:
        steps, patterns = _steps(trace, records[:most], used)
        data = {"arrays": arrays, "steps": steps, "patterns": patterns, "source": source, "total": total}
        if most == 1 or len(gzip.compress(json.dumps(data).encode())) <= ROOM:
            return data
        most = max(1, min(most, len(records)) * 3 // 4)


def _steps(trace: Trace, records: list[int], used: list[int]) -> tuple[list[dict], list[list]]:
    """Each record's step, and the patterns of elements that they name by number: loops name the same ones again and again."""
    steps, patterns = [], {}
    for i in records:
        kind, number = KINDS[trace.records.kind[i]], int(trace.records.array[i])
        info = trace.arrays[number] if number >= 0 else None
        elements = _elements(trace, i, info)
        pattern = patterns.setdefault(_runs(elements), len(patterns))
        what = f"{VERBS[kind]} {info.name} in" if info else "is a barrier for"
        warps = len(set(np.flatnonzero(elements >= 0) // WARP_SIZE))
        where = {"line": int(trace.records.line[i]), "array": used.index(number) if info else -1, "pattern": pattern}
        steps.append({"kind": kind, "what": what, "warps": warps, **where})
    return steps, list(patterns)


def _elements(trace: Trace, i: int, info: ArrayInfo | None) -> np.ndarray:
    """The number of the element that each thread of the block names, the last axis fastest; 0 at a barrier; -1 for threads not there."""
    active = trace.records.active[i]
    if info is None:
        return np.where(active, 0, -1)
    rest, number = trace.records.addresses[i] - info.address, 0
    for size, stride in zip(info.shape, info.strides, strict=True):
        number = number * size + rest // stride
        rest = rest % stride
    return np.where(active, number, -1)


def _runs(elements: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Steps from thread to thread, from 0, with how often each comes: small for what kernels do."""
    steps = np.diff(elements, prepend=0).tolist()
    return tuple((step, len(list(run))) for step, run in groupby(steps))


def _layout(info: ArrayInfo) -> dict:
    """How an array is drawn: ``row`` elements in a row of ``columns`` squares, ``scale`` (down, along) elements in a square.

    ``steps``: elements from one to the next by axis.
    """
    size = prod(info.shape)
    if len(info.shape) == 1:
        along = -(-size // (WRAP * MOST_SQUARES))
        row, scale = min(size, WRAP * along), (1, along)
    else:
        row = info.shape[-1]
        scale = tuple(-(-extent // MOST_SQUARES) for extent in (size // row, row))
    many = f", {prod(scale)} to a square" if prod(scale) > 1 else ""
    title = f"{info.name}: {' by '.join(map(str, info.shape))} {info.dtype}{many}"
    columns = -(-row // scale[1])
    steps = [prod(info.shape[axis + 1 :]) for axis in range(len(info.shape))]
    drawn = {"row": row, "scale": scale, "columns": columns, "title": title}
    return {"name": info.name, "shape": info.shape, "size": size, "steps": steps, **drawn}


def _note(trace: Trace, block: int, shown: int, recorded: int) -> str:
    note = f"Block {unlinear(block, trace.grid)} of {trace.kernel}, line by line as traced; a GPU runs warps in any order between barriers."
    if shown < recorded or trace.truncated:
        note += f" The first {shown:,} steps are shown{f' of {recorded:,}' if shown < recorded else ''}."
    return note

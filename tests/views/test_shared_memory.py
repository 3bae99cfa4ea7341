"""The shared-memory widget's Python side: steps and elements, large arrays, and its size."""

from __future__ import annotations

import gzip
import json
import re
from math import prod

import numpy as np
import pytest
from support.view_kernels import no_shared

from warpwise import cuda, trace
from warpwise.errors import TraceError
from warpwise.traces import ArrayInfo, Trace
from warpwise.views import shared_memory
from warpwise.views.html import DATA_BUDGET

POINT = np.dtype([("x", np.float32), ("y", np.float64)], align=True)


@cuda.jit
def tiled(a, b, c):
    s = cuda.shared.array((16, 16), np.float32)
    r = cuda.shared.array((16, 16), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    total = np.float32(0)
    for t in range(a.shape[1] // 16):
        s[ty, tx] = a[y, t * 16 + tx]
        r[ty, tx] = b[t * 16 + ty, x]
        cuda.syncthreads()
        for k in range(16):
            total += s[ty, k] * r[k, tx]
        cuda.syncthreads()
    c[y, x] = total


@cuda.jit
def scattered(seed, out):
    s = cuda.shared.array(4096, np.float32)
    t = cuda.threadIdx.x
    for k in range(300):
        s[(t * 2654435761 + seed[k]) % 4096] = 1
        cuda.syncthreads()
    out[t] = t


@cuda.jit
def points(out):
    s = cuda.shared.array(32, POINT)
    t = cuda.threadIdx.x
    s[t].y = 1.0
    s[t].x = 2
    cuda.syncthreads()
    out[t] = s[31 - t].y


def traced_tiled(n: int = 32) -> Trace:
    ones = np.ones((n, n), np.float32)
    return trace(tiled, (n // 16, n // 16), (16, 16), ones, ones.copy(), ones.copy(), record=(1, 2))


def unpacked(runs) -> list[int]:
    return np.cumsum([step for step, times in runs for _ in range(times)]).tolist()


def test_steps_name_the_elements_that_the_events_address():
    """Number, array and line of each access, thread by thread, against the trace's events."""
    t = traced_tiled()
    data = shared_memory.of_trace(t, block=2).data
    block = (0, 1, 0)
    events = [e for e in t.events if e.block == block and e.space == "shared"]
    starts = {info.name: info.address for info in t.arrays}
    expected = [
        (e.line, e.array, [(a - starts[e.array]) // 4 if a >= 0 else -1 for a in e.addresses])
        for e in events
    ]
    found = []
    for step in data["steps"]:
        elements = unpacked(data["patterns"][step["pattern"]])
        if step["array"] >= 0:
            name = data["arrays"][step["array"]]["name"]
            found += [
                (step["line"], name, elements[first : first + 32])
                for first in range(0, len(elements), 32)
            ]
    assert found == expected
    barriers = [step for step in data["steps"] if step["kind"] == "barrier"]
    assert sum(step["warps"] for step in barriers) == sum(
        e.kind == "barrier" and e.block == block for e in t.events
    )


def test_loops_name_the_same_patterns_again():
    data = shared_memory.of_trace(traced_tiled(64)).data
    assert len(data["patterns"]) < 36 < len(data["steps"])


def test_fields_of_records_are_arrays_of_their_own():
    data = shared_memory.of_trace(trace(points, 1, 32, np.zeros(32))).data
    assert [array["name"] for array in data["arrays"]] == ["s.y", "s.x"]
    load = data["steps"][-1]
    assert unpacked(data["patterns"][load["pattern"]]) == list(range(31, -1, -1))


@pytest.mark.parametrize(
    "shape",
    [
        (1,),
        (20,),
        (32,),
        (33,),
        (4096,),
        (12_000,),
        (8, 8),
        (33, 65),
        (200, 3),
        (3, 4, 5),
        (2, 70, 130),
    ],
)
def test_every_element_has_a_square_and_pictures_stay_small(shape):
    strides = tuple(4 * prod(shape[axis + 1 :]) for axis in range(len(shape)))
    layout = shared_memory._layout(ArrayInfo("s", "shared", "float32", shape, 0, strides))
    (down, along), row, columns = layout["scale"], layout["row"], layout["columns"]
    squares = [k // row // down * columns + k % row // along for k in range(prod(shape))]
    assert set(squares) == set(range(max(squares) + 1))
    assert (
        columns <= shared_memory.MOST_SQUARES
        and -(-len(set(squares)) // columns) <= shared_memory.MOST_SQUARES
    )
    assert max(np.bincount(squares)) <= down * along
    assert (f"{down * along} to a square" in layout["title"]) == (down * along > 1)


def test_a_kernel_without_shared_memory_says_so():
    view = shared_memory.of_trace(trace(no_shared, 1, 32, np.zeros(32)))
    assert str(view) == "no_shared uses no shared memory."
    assert view.controls == ()


def test_it_refuses_blocks_steps_and_warps_that_are_not_there():
    t = traced_tiled()
    with pytest.raises(
        TraceError,
        match=re.escape(
            "block 3 of tiled has no recorded access to shared memory; blocks that have: [1, 2]"
        ),
    ):
        shared_memory.of_trace(t, block=3)
    with pytest.raises(ValueError, match="step is 0; it can be 1 to "):
        shared_memory.of_trace(t, step=0)
    with pytest.raises(ValueError, match="warp is 8; it can be 0 to 7"):
        shared_memory.of_trace(t, warp=8)
    warp, step = shared_memory.of_trace(t).controls
    assert (warp.least, warp.most, step.least) == (0, 7, 1)


def test_a_trace_without_recorded_blocks_says_so():
    ones = np.ones((16, 16), np.float32)
    t = trace(tiled, 1, (16, 16), ones, ones.copy(), ones.copy(), record=())
    assert (
        str(shared_memory.of_trace(t))
        == "tiled has shared memory, but no recorded block accessed it."
    )
    with pytest.raises(
        TraceError,
        match="block 0 of tiled has no recorded access to shared memory; blocks that have: none",
    ):
        shared_memory.of_trace(t, block=0)


def test_long_and_scattered_kernels_keep_to_the_budget_and_say_how_many_steps_are_shown():
    random = np.random.default_rng(5)
    t = trace(scattered, 1, 1024, random.integers(0, 4096, 300), np.zeros(1024))
    view = shared_memory.of_trace(t)
    shown = len(view.data["steps"])
    assert 10 < shown < 600
    assert f"The first {shown} steps are shown of 600." in view.above
    assert len(gzip.compress(json.dumps(view.payload).encode())) < DATA_BUDGET


def test_a_trace_that_left_events_out_shows_its_first_steps():
    ones = np.ones((32, 32), np.float32)
    t = trace(tiled, (2, 2), (16, 16), ones, ones.copy(), ones.copy(), max_records=20)
    assert t.truncated
    view = shared_memory.of_trace(t)
    assert f"The first {len(view.data['steps'])} steps are shown." in view.above


def test_the_sentence_says_the_state_in_words_and_figures():
    t = traced_tiled()
    line = next(number for number in t.source if t.source[number].strip().startswith("s[ty, tx]"))
    assert str(shared_memory.of_trace(t, warp=3)) == (
        f"Step 1 of {len(shared_memory.of_trace(t).data['steps'])}, line {line}, "
        "s[ty, tx] = a[y, t * 16 + tx], writes s in 8 warps of 8. "
        "Warp 3 names 32 elements, lane 0 s[6, 0] and lane 31 s[7, 15]. "
        "By now 256 of 256 elements are written in s, "
        "0 of 256 elements are written in r; 0 barriers passed."
    )

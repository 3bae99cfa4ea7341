"""The bank widget's Python side: its counts are the simulator's, its lists worst first.

It hands little to a page."""

from __future__ import annotations

import gzip
import json
import re

import numpy as np
import pytest
from support.view_kernels import no_shared

from warpwise import cuda, trace
from warpwise.errors import TraceError
from warpwise.metrics import BANK_BYTES, WARP_SIZE
from warpwise.simt.lanes.counting import count_wavefronts
from warpwise.views import banks
from warpwise.views.html import DATA_BUDGET


@cuda.jit
def columns(src, dst):
    tile = cuda.shared.array((32, 32), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = src[y, x]
    cuda.syncthreads()
    dst[y, x] = tile[x, y] + tile[y, 2 * x % 32]


@cuda.jit
def counted(out):
    total = cuda.shared.array(1, np.int32)
    if cuda.threadIdx.x == 0:
        total[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(total, 0, 1)
    cuda.syncthreads()
    out[cuda.threadIdx.x] = total[0]


@cuda.jit
def many_lines(out):
    s = cuda.shared.array(1024, np.float32)
    t = cuda.threadIdx.x
    total = np.float32(0)
    for k in range(40):
        s[(t * (k + 1)) % 1024] = 1
        cuda.syncthreads()
        total += s[(t * t * (k + 3) + k) % (k + 1)]
        cuda.syncthreads()
    out[t] = total


def traced_columns():
    return trace(
        columns, 1, (32, 32), np.ones((32, 32), np.float32), np.zeros((32, 32), np.float32)
    )


def traced_many():
    """Trace a race: many lanes store the same 1, in another pattern in each trip."""
    return trace(many_lines, 1, 256, np.zeros(256, np.float32))


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_passes_count_what_the_simulator_counts(width):
    """Addresses and lanes are random, aligned as a GPU asks."""
    random = np.random.default_rng(width)
    for _ in range(200):
        addresses = random.integers(0, random.choice([4, 40, 400]), WARP_SIZE) * width
        active = random.random(WARP_SIZE) < random.choice([0.1, 0.6, 1])
        active[random.integers(WARP_SIZE)] = True
        words = np.where(active, addresses // BANK_BYTES, -1).tolist()
        if random.random() < 0.5:
            addresses = addresses[np.arange(WARP_SIZE) // 2]  # in pairs
            words = np.where(active, addresses // BANK_BYTES, -1).tolist()
        for load in (True, False):
            found = banks.passes(words, max(1, width // BANK_BYTES), load)
            assert (sum(found), len(found)) == count_wavefronts(
                addresses[None, :], active[None, :], width, load
            )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"stride": 65}, "stride is 65; it can be 0 to 64"),
        ({"stride": -1}, "stride is -1"),
        ({"stride": 1.5}, "stride is 1.5; it has to be a whole number"),
        ({"padding": 5}, "padding is 5; it can be 0 to 4"),
        ({"dtype": "int128"}, "dtype is 'int128'; it can be float16, float32, float64, complex128"),
    ],
)
def test_the_explorer_refuses_what_it_cannot_show(arguments, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        banks.explorer(**arguments)


def test_the_sentence_says_the_state_in_words_and_figures():
    assert str(banks.explorer(32)) == (
        "Lane i reads float32 s[(32 + 0) * i]. It names 32 words in 1 bank and takes 32 "
        "wavefronts: 31 bank conflicts. Wavefront 1 serves 1 lane: 0. Lane 0: word 0, bank 0, "
        "wavefront 1."
    )
    assert "It names 32 words in 32 banks and takes 1 wavefront: 0 bank conflicts." in str(
        banks.explorer(32, padding=1)
    )
    assert "It names 64 words in 32 banks and takes 2 wavefronts: 0 bank conflicts." in str(
        banks.explorer(1, "float64")
    )
    assert "Lane 0: word 0 to 1, bank 0 to 1, wavefront 1." in str(banks.explorer(1, "float64"))
    assert "It names 1 word in 1 bank and takes 1 wavefront" in str(banks.explorer(0))


def test_lines_are_listed_worst_first_with_the_metrics_of_the_launch():
    t = traced_columns()
    view = banks.of_trace(t)
    rows = re.findall(
        r"<tr><td>(\d+)</td><td>(\w+)s</td><td>([\d,]+)</td><td>([\d,]+)</td><td>([\d,]+)</td>",
        view.above,
    )
    conflicts = [int(row[4].replace(",", "")) for row in rows]
    assert conflicts == sorted(conflicts, reverse=True)
    for line, kind, *counts in rows:
        names = (f"shared_{kind}_{what}" for what in ("requests", "wavefronts", "bank_conflicts"))
        assert [int(count.replace(",", "")) for count in counts] == [
            getattr(t.by_line[int(line)], name) for name in names
        ]
    assert sum(conflicts) == t.metrics.shared_bank_conflicts > 0
    offered = [
        re.match(r"(\d+), (\w+):", option).groups() for option in view.controls[0].options.values()
    ]
    assert offered == [row[:2] for row in rows]


def test_it_opens_on_the_line_that_is_asked_for():
    t = traced_columns()
    (store,) = (line for line in t.source if t.source[line].strip().startswith("tile[y, x] ="))
    assert str(banks.of_trace(t, store)).startswith(
        f"Line {store}: warp 0 of block (0, 0, 0) writes tile."
    )
    with pytest.raises(
        TraceError,
        match=(
            f"line 1 of columns has no request to shared memory to show; lines that have: {store}, "
        ),
    ):
        banks.of_trace(t, 1)


def test_a_kernel_without_shared_memory_says_so():
    view = banks.of_trace(trace(no_shared, 1, 32, np.zeros(32)))
    assert (
        str(view)
        == "no_shared neither loads from shared memory nor stores to it: it has no bank conflicts."
    )
    assert view.controls == ()


def test_blocks_that_were_not_recorded_leave_the_table():
    t = trace(
        columns,
        1,
        (32, 32),
        np.ones((32, 32), np.float32),
        np.zeros((32, 32), np.float32),
        record=(),
    )
    view = banks.of_trace(t)
    assert str(view) == "No requests to show: the recorded blocks made none."
    assert f"{t.metrics.shared_load_bank_conflicts:,}" in view.above


def test_a_trace_that_left_events_out_says_so():
    t = trace(many_lines, 1, 256, np.zeros(256, np.float32), max_records=50)
    assert t.truncated
    assert str(banks.of_trace(t)) == "No requests to show: the trace left events out."


def test_atomics_are_named_as_left_out():
    view = banks.of_trace(trace(counted, 1, 64, np.zeros(64, np.int32)))
    assert "Atomics are not among them" in view.above
    options = view.controls[0].options.values()
    assert {re.match(r"\d+, (\w+):", option)[1] for option in options} == {"store", "load"}


def test_data_stays_small_and_says_how_many_requests_it_carries():
    t = traced_many()
    view = banks.of_trace(t)
    carried = [len(requests) for requests in view.data["lines"]]
    assert max(carried) == banks.MOST_REQUESTS // len(carried) < t.metrics.shared_load_requests
    assert f"at most {max(carried)} of a line, around its worst." in view.above
    assert len(gzip.compress(json.dumps(view.payload).encode())) < DATA_BUDGET

"""Traces: their events are what the warps did, and they survive a file."""

import json
from dataclasses import fields
from html import escape
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

from warpwise import Trace, trace
from warpwise.errors import TraceError
from warpwise.metrics import Metrics
from warpwise.races import Access, Race
from warpwise.trace_file import FORMAT
from warpwise.traces import KINDS, ArrayInfo, Function, Note, Records


@cuda.jit
def copy_some(src, dst, n):
    i = cuda.grid(1)
    if i < n:
        dst[i] = src[2 * i]


@cuda.jit
def swap_in_block(x):
    part = cuda.shared.array((2, 20), np.float64)
    t = cuda.threadIdx.x
    part[1, t] = x[t]
    cuda.syncthreads()
    x[t] = part[1, cuda.blockDim.x - 1 - t]


@cuda.jit
def racy(x):
    part = cuda.shared.array(20, np.float64)
    part[0] = x[cuda.threadIdx.x]


def copied(n=36, threads=40, blocks=2, **options):
    return trace(
        copy_some,
        blocks,
        threads,
        np.zeros(400, np.float32),
        np.zeros(200, np.float32),
        n,
        **options,
    )


def kinds(t, kind):
    return [event for event in t.events if event.kind == kind]


def test_a_load_says_line_block_warp_lanes_and_addresses():
    t = copied()
    first, second = kinds(t, "load")
    array = next(a for a in t.arrays if a.name == "src")
    assert t.source[first.line].strip() == "dst[i] = src[2 * i]"
    assert (first.block, first.warp, first.space, first.array, first.itemsize) == (
        (0, 0, 0),
        0,
        "global",
        "src",
        4,
    )
    assert first.lanes == tuple(range(32))
    assert first.addresses == tuple(array.address + 8 * i for i in range(32))
    assert (second.warp, second.lanes) == (1, (0, 1, 2, 3))
    assert second.addresses == tuple(array.address + 8 * i for i in range(32, 36)) + (-1,) * 28


def test_its_text_is_one_line_that_says_where_to_look():
    text = (
        "<trace of copy_some, grid (2, 1, 1), block (40, 1, 1): .metrics has its counters, "
        ".show() draws it>"
    )
    assert repr(copied()) == text


def test_what_to_do_first_stands_above_the_tabs():
    """Reading every second element wastes sectors, as ``show`` says above the tabs."""
    shown = copied().show()
    assert 1 <= len(shown.lead) <= 3 and "sectors per load where" in shown.lead[0]
    page = shown._repr_html_()
    assert page.index(escape(shown.lead[0])) < page.index("<ww-tabs")


def test_a_store_follows_its_load():
    t = copied()
    line = kinds(t, "load")[0].line
    assert [(e.kind, e.array, e.warp) for e in t.accesses(line)] == [
        ("load", "src", 0),
        ("load", "src", 1),
        ("store", "dst", 0),
        ("store", "dst", 1),
    ]
    assert t.accesses() == t.accesses(line)
    assert t.accesses(line, "shared") == t.accesses(line - 1) == ()


def test_a_branch_says_who_took_it():
    first, second = kinds(copied(n=36), "branch")
    assert (first.active, first.taken) == (2**32 - 1, 2**32 - 1)
    assert (second.active, second.taken) == (0b11111111, 0b1111)
    (alone, _) = kinds(copied(n=0), "branch")
    assert (alone.active, alone.taken) == (2**32 - 1, 0)


def test_arrays_are_aligned_and_apart():
    t = copied()
    src, dst = t.arrays
    assert (src.name, src.dtype, src.shape, src.itemsize, src.space) == (
        "src",
        "float32",
        (400,),
        4,
        "global",
    )
    assert src.address % 256 == dst.address % 256 == 0
    assert dst.address >= src.address + 400 * 4


def test_shared_memory_and_barriers():
    t = trace(swap_in_block, 1, 20, np.arange(20.0))
    (store,) = t.accesses(space="shared")[:1]
    assert (store.kind, store.array, store.itemsize) == ("store", "part", 8)
    assert store.addresses[:20] == tuple(160 + 8 * i for i in range(20))
    (barrier,) = kinds(t, "barrier")
    assert (barrier.active, barrier.addresses, barrier.array) == (2**20 - 1, (), "")


def test_events_add_up_to_the_counters():
    t = copied(record=range(2))
    issued = kinds(t, "issue")
    assert sum(e.slots for e in issued) == t.metrics.warp_instructions
    assert sum(e.slots * len(e.lanes) for e in issued) == t.metrics.thread_instructions
    assert len(kinds(t, "load")) == t.metrics.global_load_requests
    assert (
        sum(len({a // 32 for a in e.addresses if a >= 0}) for e in kinds(t, "load"))
        == t.metrics.global_load_sectors
    )
    assert len(kinds(t, "branch")) == t.metrics.branches


@pytest.mark.parametrize("record", [(0,), (3,), (1, 2), range(4)])
def test_only_the_recorded_blocks_have_events(record):
    t = copied(n=160, blocks=4, record=record)
    assert {e.block for e in t.events} == {(b, 0, 0) for b in record}


def test_nothing_is_recorded_on_request():
    assert copied(record=()).events == ()


def test_blocks_of_a_grid_of_two_dimensions_are_numbered_x_first():
    t = trace(
        copy_some, (3, 2), 32, np.zeros(200, np.float32), np.zeros(100, np.float32), 32, record=(4,)
    )
    assert {e.block for e in t.events} == {(1, 1, 0)}


def test_blocks_beyond_the_first_batch_can_be_recorded():
    t = trace(
        copy_some,
        3000,
        32,
        np.zeros(200, np.float32),
        np.zeros(100, np.float32),
        32,
        record=(2999,),
    )
    assert {e.block for e in t.events} == {(2999, 0, 0)}
    assert kinds(t, "load") == []


def test_too_many_events_are_an_error_that_says_what_to_do():
    t = copied(max_records=3)
    assert t.truncated
    with pytest.raises(
        TraceError,
        match=r"copy_some made more events than the trace keeps \(3 records\).*max_records=N",
    ):
        _ = t.events
    assert t.metrics == copied().metrics


@pytest.mark.parametrize("kernel", [copy_some, swap_in_block, racy], ids=lambda k: k.__name__)
def test_a_trace_survives_a_file(kernel, tmp_path):
    t = copied() if kernel is copy_some else trace(kernel, 1, 20, np.arange(20.0))
    t.save(tmp_path / "a.trace")
    again = Trace.load(tmp_path / "a.trace")
    assert again == t
    assert again.events == t.events
    assert again.by_line == t.by_line and again.races == t.races and again.source == t.source
    assert isinstance(again.metrics, Metrics)


def test_a_race_survives_a_file(tmp_path):
    t = trace(racy, 1, 20, np.arange(20.0))
    t.save(str(tmp_path / "a"))
    assert (
        [str(r) for r in Trace.load(str(tmp_path / "a")).races] == [str(r) for r in t.races] != []
    )


def test_what_is_no_trace_is_refused(tmp_path):
    path = tmp_path / "a"
    with pytest.raises(TraceError, match="not a trace"):
        Trace.load(path)
    for content in (b"", b"text", b"PK\x03\x04 no zip", b"\x93NUMPY"):
        path.write_bytes(content)
        with pytest.raises(TraceError, match="not a trace"):
            Trace.load(path)
    np.save(path.open("wb"), np.zeros(3))
    with pytest.raises(TraceError, match="not a trace"):
        Trace.load(path)
    np.savez(path.open("wb"), other=np.zeros(3))
    with pytest.raises(TraceError, match="not a trace"):
        Trace.load(path)
    copied().save(path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(TraceError, match="not a trace"):
        Trace.load(path)


@pytest.mark.parametrize(
    ("version", "advice"), [(1, "trace the kernel again"), (99, "update Warpwise")]
)
def test_another_format_is_refused_and_the_message_says_what_to_do(version, advice, tmp_path):
    path = tmp_path / "a"
    copied().save(path)
    with np.load(path) as data:
        columns = dict(data)
    header = json.loads(columns["header"].tobytes()) | {"format": version}
    del header["races"]  # another format need not have what this one has
    columns["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path.open("wb"), **columns)
    with pytest.raises(
        TraceError,
        match=(
            f"has trace format {version}, and this version of Warpwise reads "
            f"format {FORMAT}: {advice}"
        ),
    ):
        Trace.load(path)


# --- the golden file ---

GOLDEN = Path(__file__).parent / "golden" / f"trace_v{FORMAT}.npz"


def golden() -> Trace:
    """Return a hand-written trace whose values differ wherever they can.

    A new field makes it differ from the file.

    ``python tests/core/test_trace.py`` saves it as GOLDEN. Do so for a new FORMAT only: files of
    this one are in use."""
    counters = {f.name: i for i, f in enumerate(fields(Metrics), 100)} | {
        "lanes_active": tuple(range(200, 233))
    }
    lines = {7: Metrics(**counters), 9: Metrics(warp_instructions=3)}
    arrays = (
        ArrayInfo("x", "global", "float32", (5, 6), 1 << 32, (24, 4)),
        ArrayInfo("s", "shared", "float64", (4,), 16, (8,)),
    )
    first = Access((1, 0, 0), (2, 0, 0), 7, True, False, "golden.py:7", "x[i] = 1")
    atomic = "golden.py:9", "cuda.atomic.add(x, i, 1)", "line 2 of put", (7,)
    second = Access((0, 1, 0), (1, 2, 0), 9, True, True, *atomic)
    race = Race("x", "global", (3, 4), first, second, "grid", False, True)
    kinds, lanes = len(KINDS), np.arange(len(KINDS) * 6, dtype=np.int64).reshape(len(KINDS), 6)
    active = lanes % 5 != 0
    records = Records(
        np.arange(kinds, dtype=np.uint8),
        np.arange(7, 7 + kinds, dtype=np.int32),
        np.arange(kinds, dtype=np.int64),
        np.array([-1, 0, 1, 0, -1, -1, 1, 1, -1], np.int16),
        np.arange(20, 20 + kinds, dtype=np.int32),
        active,
        active & (lanes % 2 == 0),
        np.where(active, lanes * 4, -1),
        np.array([0, 4, 16, 4, 0, 0, 16, 8, 0], np.int32),
    )
    return Trace(
        kernel="golden",
        file="golden.py",
        source={7: "x[i] = 1", 9: "cuda.atomic.add(x, i, 1)"},
        grid=(3, 2, 1),
        block=(2, 3, 1),
        arrays=arrays,
        metrics=Metrics(**{name: 2 * n for name, n in counters.items() if name != "lanes_active"}),
        by_line=lines,
        races=(race,),
        notes=(Note(7, "x[i] = 1", "float64 arithmetic", "np.float32(1)", "put"),),
        functions=(Function("put", 8, 9, 7, (7, 8)),),
        shared_bytes_per_block=48,
        local_bytes_per_thread=24,
        most_bytes_loaded_by_a_warp=60,
        most_bytes_stored_by_a_warp=36,
        loads_stored_at_once=12,
        records=records,
    )


def test_the_golden_file_is_read_as_it_was_written():
    t, want = Trace.load(GOLDEN), golden()
    for field in fields(Trace):
        if field.name != "records":
            assert getattr(t, field.name) == getattr(want, field.name), field.name
    for field in fields(Records):
        got, column = getattr(t.records, field.name), getattr(want.records, field.name)
        assert got.dtype == column.dtype and np.array_equal(got, column), field.name
    assert t.events == want.events and [event.kind for event in t.events] == list(KINDS)
    assert t.events[3].addresses[:6] == (72, 76, -1, 84, 88, 92) and t.events[3].array == "x"


@pytest.mark.parametrize(
    ("name", "none"),
    [
        ("local_bytes_per_thread", 0),
        ("most_bytes_loaded_by_a_warp", 0),
        ("most_bytes_stored_by_a_warp", 0),
        ("loads_stored_at_once", 0),
        ("functions", ()),
    ],
)
def test_a_file_of_before_these_were_kept_is_read(name, none, tmp_path):
    with np.load(GOLDEN) as file:
        columns = {name: file[name] for name in file.files}
    header = json.loads(columns["header"].tobytes())
    assert header.pop(name) and getattr(Trace.load(GOLDEN), name) == getattr(golden(), name)
    columns["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez_compressed(tmp_path / "before.npz", **columns)
    assert getattr(Trace.load(tmp_path / "before.npz"), name) == none


def test_a_race_of_an_older_file_lacks_where_its_index_came_from(tmp_path):
    with np.load(GOLDEN) as file:
        columns = dict(file)
    header = json.loads(columns["header"].tobytes())
    for race in header["races"]:
        del race["axes"], race["first"]["index_from"], race["second"]["index_from"]
    columns["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez_compressed(tmp_path / "before.npz", **columns)
    assert Trace.load(tmp_path / "before.npz").races == golden().races


def test_a_file_of_before_boxes_were_counted_has_none(tmp_path):
    with np.load(GOLDEN) as file:
        columns = dict(file)
    header = json.loads(columns["header"].tobytes())
    for counted in (header["metrics"], *header["by_line"].values()):
        for name in [name for name in counted if name.startswith("tma_")]:
            del counted[name]
    columns["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez_compressed(tmp_path / "before.npz", **columns)
    old = Trace.load(tmp_path / "before.npz").metrics
    assert (old.tma_load_bytes, old.tma_store_sectors, old.flops_fp32) == (
        0,
        0,
        golden().metrics.flops_fp32,
    )


def test_local_arrays_are_counted_by_thread():
    @cuda.jit
    def kernel(y):
        one = cuda.local.array(5, np.float32)
        two = cuda.local.array((2, 3), np.float64)
        for i in range(3):
            one[i] = i
            two[0, i] = one[i]
        y[cuda.grid(1)] = two[0, 2]

    assert trace(kernel, 2, 40, np.zeros(80, np.float32)).local_bytes_per_thread == 5 * 4 + 6 * 8


def test_the_golden_file_has_all_that_is_saved_now(tmp_path):
    golden().save(tmp_path / "a")
    with np.load(tmp_path / "a") as now, np.load(GOLDEN) as then:
        assert sorted(now) == sorted(then)
        assert json.loads(now["header"].tobytes()) == json.loads(then["header"].tobytes())


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    golden().save(GOLDEN)

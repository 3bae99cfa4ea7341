"""Observers: the events of a launch, what they are told with, and that watching changes nothing."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from difflib import get_close_matches
from importlib import import_module

import jupytext
import numpy as np
import pytest
from numba import cuda
from support.paths import ROOT

from warpwise import Observer, trace
from warpwise.errors import LaunchError, OutOfBoundsError
from warpwise.simt import launch
from warpwise.simt.machine import batches
from warpwise.simt.machine.observer import EVENTS, hooks_of
from warpwise.simt.sanitizer.sanitizer import Sanitizer

MODULES = sorted(path.stem for path in (ROOT / "warpwise/simt/observers").glob("[!_]*.py"))
POINT = np.dtype([("x", np.float32), ("y", np.int32)])
TABLE = np.arange(8)


class Log(Observer):
    """Keeps the events of every kind, in order, as (event, arguments)."""

    def __init__(self):
        self.events = []

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.events]

    def of(self, *names: str) -> list[tuple]:
        return [arguments for name, arguments in self.events if name in names]

    def lines(self, t, *names: str) -> list[tuple[str, str]]:
        """Return (event, text of its line) of some events."""
        return [
            (name, t.source[line_of(arguments)].strip())
            for name, arguments in self.events
            if name in names
        ]


def line_of(arguments: tuple) -> int:
    """Return the line of an event that has one."""
    places = [getattr(a, "site", a) for a in arguments]
    return next(getattr(a, "line", a) for a in places if isinstance(a, int) or hasattr(a, "line"))


def noting(event: str):
    return lambda self, *arguments: self.events.append((event, arguments))


for name in EVENTS:
    setattr(Log, name, noting(name))


def watched(*of_launch, **options) -> tuple[Log, object]:
    log = Log()
    return log, trace(*of_launch, observers=[log], **options)


# --- which events there are ---


@cuda.jit
def everything(x, out, points):
    i = cuda.grid(1)
    if i >= x.size:
        return
    out[i] = x[i]
    cuda.atomic.add(out, 0, 1)
    points[i] = points[x.size - 1 - i]
    cuda.threadfence()
    cuda.syncwarp()


def test_each_event_comes_in_the_order_of_the_kernel():
    """One batch of one block; its second warp returns."""
    x, out, points = np.arange(32), np.zeros(32, np.int64), np.zeros(32, POINT)
    log, t = watched(everything, 1, 64, x, out, points)
    assert [name for name in log.names if name != "issue"] == [
        "launch_begins",
        "batch_begins",
        "branch",
        "leave",
        *("load", "store"),
        "atomic",
        *("copy", "load", "store", "load", "store"),
        "fence",
        "syncwarp",
        "batch_ends",
        "launch_ends",
    ]
    (mask,), (branch,) = log.of("leave")[0], log.of("branch")
    assert mask.threads == 32 and mask.grid()[0].nonzero()[0].tolist() == list(range(32, 64))
    line, reached, taken, left = branch
    assert "if i >=" in t.source[line]
    assert (reached.threads, taken.threads, left.threads) == (64, 32, 32)
    ((scope, fencing),) = log.of("fence")
    assert (scope, fencing.threads) == ("grid", 32)


def test_a_piece_of_work_is_issued_before_what_it_does():
    x, out, points = np.arange(32), np.zeros(32, np.int64), np.zeros(32, POINT)
    log, t = watched(everything, 1, 32, x, out, points)
    lines = [text for _, text in log.lines(t, "issue")]
    assert lines == [
        "i = cuda.grid(1)",
        "if i >= x.size:",
        "out[i] = x[i]",
        "cuda.atomic.add(out, 0, 1)",
        "points[i] = points[x.size - 1 - i]",
        "cuda.threadfence()",
        "cuda.syncwarp()",
    ]
    work = [work for work, mask in log.of("issue")]
    assert sum(one.slots for one in work) == t.metrics.warp_instructions
    told = log.lines(t, "issue", "load", "store", "atomic", "copy", "branch")
    for n, (name, text) in enumerate(told):
        assert name == "issue" or ("issue", text) in told[:n]


@cuda.jit
def meeting(out):
    s = cuda.shared.array(64, np.int64)
    t = cuda.threadIdx.x
    s[t] = t
    cuda.syncthreads()
    for _ in range(2):
        out[cuda.grid(1)] += s[63 - t]
        cuda.syncthreads_count(t)


def test_barriers_come_once_for_all_blocks_of_a_batch():
    log, t = watched(meeting, 3, 64, np.zeros(192, np.int64))
    arrivals = [(scope, mask.threads) for scope, mask, _ in log.of("barrier")]
    assert arrivals == [("block", 192)] * 3
    assert log.names.count("load") == 2 * 2 and log.names.count("store") == 1 + 2
    spaces = [request.array.space for (request,) in log.of("load", "store")]
    assert spaces == ["shared", *["global", "shared", "global"] * 2]
    assert t.metrics.barriers == 3 * 6


@cuda.jit
def whole_grid(out):
    cuda.cg.this_grid().sync()
    out[cuda.grid(1)] = 1


def test_a_sync_of_the_grid_says_so():
    log, _ = watched(whole_grid, 2, 32, np.zeros(64))
    ((scope, mask, site),) = log.of("barrier")
    assert (scope, mask.threads) == ("grid", 64) and "sync()" in site.text


@cuda.jit
def other_memory(out):
    own = cuda.local.array(2, np.int64)
    own[0] = cuda.grid(1)
    out[cuda.grid(1)] = own[0] + TABLE[3]


def test_requests_of_every_memory_are_told():
    log, _ = watched(other_memory, 1, 32, np.zeros(32, np.int64))
    requests = [request for (request,) in log.of("load", "store")]
    assert [(one.access, one.array.space) for one in requests] == [
        ("store", "local"),
        ("load", "local"),
        ("load", "const"),
        ("store", "global"),
    ]


# --- what they are told with ---


class Before(Observer):
    """Reads what a store is about to overwrite."""

    def __init__(self):
        self.found = []

    def store(self, request):
        self.found += np.ravel(request.array.load(request.offset, request.mask)).tolist()


@cuda.jit
def overwrite(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = 2 * i
        x[i] = 3 * i


def test_a_store_is_told_before_memory_changes():
    x, before = np.full(4, 7), Before()
    trace(overwrite, 1, 4, x, observers=[before])
    assert before.found == [7] * 4 + [0, 2, 4, 6] and x.tolist() == [0, 3, 6, 9]


def test_a_request_names_addresses_lanes_and_line():
    x = np.zeros(100, np.int64)
    log, t = watched(overwrite, 2, 64, x)
    (request,), _ = log.of("store")
    mask = request.mask
    addresses = np.broadcast_to(request.addresses, mask.group.shape)[mask.grid()]
    assert addresses.tolist() == [t.arrays[0].address + 8 * i for i in range(100)]
    assert mask.group.numbers[mask.grid()].tolist() == list(range(100))
    assert request.access == "store" and "2 * i" in request.site.text
    assert t.source[request.site.line].strip() == request.site.text.strip()


def test_a_launch_begins_with_what_was_asked_for():
    log, _ = watched(overwrite, (2, 3), 16, np.zeros(9), shared_bytes=64)
    ((begun,),) = log.of("launch_begins")
    assert (begun.kernel.name, begun.grid, begun.block) == ("overwrite", (2, 3, 1), (16, 1, 1))
    assert (begun.threads, begun.dynamic_bytes) == (16, 64)
    (array,) = begun.memory
    assert (array.name, array.shape) == ("x", (9,)) and begun.written == begun.memory


# --- batches ---


def test_every_batch_begins_and_ends(monkeypatch):
    monkeypatch.setattr(batches, "BATCH_LANES", 64)
    log, _ = watched(overwrite, 5, 32, np.zeros(9))
    begun = [(group.first, group.rows) for (group,) in log.of("batch_begins")]
    assert begun == [(0, 2), (2, 2), (4, 1)]
    assert [name for name in log.names if "batch" in name] == ["batch_begins", "batch_ends"] * 3


@cuda.jit
def chain(flag, out):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) < b:
            pass
        out[b] = b
        cuda.atomic.add(flag, 0, 1)


def test_blocks_that_wait_for_one_another_are_told_apart():
    log, _ = watched(chain, 3, 32, np.zeros(1, np.int64), np.zeros(3, np.int64))
    assert [group.first for (group,) in log.of("batch_begins")] == [0, 1, 2]
    assert sorted(group.first for (group,) in log.of("batch_ends")) == [0, 1, 2]
    assert [request.mask.group.first for (request,) in log.of("store")] == [0, 1, 2]


def test_a_launch_that_fails_does_not_end():
    log = Log()
    with pytest.raises(OutOfBoundsError):
        trace(beyond, 1, 32, np.zeros(4), observers=[log])
    assert log.names[0] == "launch_begins"
    assert not {"store", "batch_ends", "launch_ends"} & set(log.names)


@cuda.jit
def beyond(x):
    x[cuda.grid(1)] = 1


@cuda.jit
def down(x, out):
    i = cuda.grid(1)
    value = cuda.shfl_down_sync(0xFFFFFFFF, x[i], 16)
    if i < 8:
        out[i] = value


def test_a_launch_that_runs_again_is_told_once():
    """A shuffle that reads from threads that are not there: the result does not use it."""
    log, _ = watched(down, 1, 24, np.arange(24), np.zeros(8, np.int64))
    assert log.names.count("launch_begins") == log.names.count("launch_ends") == 1


# --- what an observer costs ---


@pytest.mark.parametrize("event", EVENTS)
def test_only_overridden_hooks_are_called(event):
    one = type("One", (Observer,), {event: noting(event)})()
    hooks = hooks_of([Observer(), one])
    called = {name: getattr(hooks, name) for name in EVENTS}
    assert called.pop(event) == (getattr(one, event),)
    assert set(called.values()) == {()}
    assert getattr(Observer(), event)(*[None] * (len(arguments_of(Observer, event)))) is None


def test_hooks_are_called_in_the_order_of_observers():
    first, second = Log(), Log()
    hooks = hooks_of([first, second])
    assert all(getattr(hooks, event)[0].__self__ is first for event in EVENTS)
    assert all(getattr(hooks, event)[1].__self__ is second for event in EVENTS)


def test_what_was_not_asked_for_does_not_watch(monkeypatch):
    monkeypatch.setattr(launch, "Recorder", None)
    monkeypatch.setattr(launch, "Sanitizer", None)
    t = trace(overwrite, 1, 32, np.zeros(32), record=(), sanitize=False)
    assert t.events == () and t.races == ()
    with pytest.raises(TypeError):
        trace(overwrite, 1, 32, np.zeros(32), sanitize=False)


@cuda.jit
def racing(x, out):
    i = cuda.grid(1)
    s = cuda.shared.array(64, np.float32)
    s[cuda.threadIdx.x] = x[i]
    out[i] = s[63 - cuda.threadIdx.x]
    for k in range(cuda.threadIdx.x):
        x[k] += 1


def test_a_further_observer_changes_nothing():
    def run(*observers: Observer):
        x, out = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
        t = trace(racing, 2, 64, x, out, record=(0, 1), observers=observers)
        return t, x, out

    alone, *arrays = run()
    beside, *others = run(Log(), Observer())
    assert alone.races and alone == beside
    assert alone.events == beside.events
    for one, other in zip(arrays, others, strict=True):
        np.testing.assert_array_equal(one, other)


# --- the observers of the package ---


def arguments_of(kind: type, event: str) -> list[str]:
    return list(inspect.signature(getattr(kind, event)).parameters)[1:]


def observers_of(module: str) -> Iterator[type]:
    found = vars(import_module(f"warpwise.simt.observers.{module}")).values()
    return (one for one in found if isinstance(one, type) and issubclass(one, Observer))


@pytest.mark.parametrize("module", [*MODULES, "sanitizer"])
def test_hooks_take_what_the_page_of_events_says(module):
    """And none is misspelt, as far as spelling tells."""
    kinds = [Sanitizer] if module == "sanitizer" else observers_of(module)
    for kind in kinds:
        hooks = [event for event in EVENTS if event in vars(kind)]
        assert hooks or kind is Observer, f"{kind} overrides no hook; there are {EVENTS}"
        others = {name for name in vars(kind) if name not in EVENTS}
        near = {name for name in others if get_close_matches(name, EVENTS, n=1, cutoff=0.85)}
        assert not near, f"{kind} has {near}, which are spelt like hooks"
        for event in hooks:
            assert arguments_of(kind, event) == arguments_of(Observer, event)


def test_an_observer_may_stand_alone_and_anything_else_is_refused_in_a_line():
    arguments = np.arange(32), np.zeros(32, np.int64), np.zeros(32, POINT)
    alone = Log()
    trace(everything, 1, 64, *arguments, observers=alone)
    assert alone.names[-1] == "launch_ends"
    for wrong in (Log, print):
        with pytest.raises(LaunchError, match="instances of Observer") as error:
            trace(everything, 1, 64, *arguments, observers=[wrong])
        assert "\n" not in str(error.value)


# --- the cache of the simulator's page ---


@pytest.fixture(scope="module")
def cache_of_the_page():
    cells = jupytext.read(ROOT / "chapters/reference_simulator.md").cells
    (code,) = [cell.source for cell in cells if "class Cache(" in cell.source]
    assert len(code.splitlines()) < 40
    names = {"np": np}
    exec(code, names)
    return names["Cache"]


@cuda.jit
def walk(x, out):
    total = x[0]  # miss
    total += x[32]  # miss
    total += x[31]  # hit: the line of x[0]
    total += x[64]  # miss, and x[32] was used least recently
    total += x[33]  # miss, and x[31] was
    total += x[64]  # hit
    out[0] = total


def test_a_cache_forgets_the_line_used_least_recently(cache_of_the_page):
    cache = cache_of_the_page(sets=1, ways=2)
    t = trace(walk, 1, 1, np.zeros(96, np.float32), np.zeros(1, np.float32), observers=[cache])
    for line, text in t.source.items():
        assert cache.misses[line] == ("# miss" in text), text
        assert cache.hits[line] == ("# hit" in text), text


@cuda.jit
def twice(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i]
        out[i] += x[i]


def test_a_warp_looks_up_each_line_of_its_active_lanes_once(cache_of_the_page):
    """72 elements are 288 bytes: warps 0 and 1 name one line each, the 8 lanes of warp 2 another.

    In the second line of the kernel, ``out`` is read too, for the first time."""
    cache = cache_of_the_page()
    t = trace(twice, 1, 96, np.zeros(72, np.float32), np.zeros(72, np.float32), observers=[cache])
    first, second = (n for n, text in t.source.items() if "out[i]" in text)
    assert (cache.misses[first], cache.hits[first]) == (3, 0)
    assert (cache.misses[second], cache.hits[second]) == (3, 3)


def test_lines_of_one_set_push_each_other_out(cache_of_the_page):
    """Lines 0, 16 and 32 belong to set 0 of 16: three do not fit two ways."""
    x = np.zeros(33 * 32, np.float32)
    for ways, hits in [(2, 0), (3, 3)]:
        cache = cache_of_the_page(ways=ways)
        trace(around, 1, 1, x, np.zeros(1, np.float32), observers=[cache])
        assert sum(cache.hits.values()) == hits


@cuda.jit
def around(x, out):
    total = np.float32(0)
    for k in range(6):
        total += x[k % 3 * 16 * 32]
    out[0] = total

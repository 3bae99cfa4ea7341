"""The divergence widget's Python side: its steps, its slots, and notes on what it leaves out."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import TraceError
from warpwise.traces import Trace
from warpwise.views import divergence, html
from warpwise.views.timeline import timelines


@cuda.jit
def first_four(x):
    i = cuda.grid(1)
    if cuda.threadIdx.x < 4:
        x[i] = 2 * x[i] + 1
    else:
        x[i] = x[i] - 3


@cuda.jit(device=True)
def at_least(v, low):
    if v < low:
        return low
    return v


@cuda.jit
def everything(x, hist):
    """A kernel with one of each kind of event,

    under a docstring that is not shown.
    """
    part = cuda.shared.array(64, "float32")
    t = cuda.threadIdx.x
    # Nor is a comment.
    part[t] = at_least(x[cuda.grid(1)], np.float32(3))
    cuda.syncthreads()
    for k in range(t % 5):
        if k == 2:
            continue
        part[t] += x[k]
    if t >= 40:
        return
    while x[t] > 0 and part[t] < 6:
        part[t] += 1
    if t < 20:
        if t % 2:
            x[t] = part[t]
        else:
            x[t] = -part[t]
    cuda.atomic.add(hist, t % 4, 1)


@cuda.jit
def twice(x):
    x[cuda.threadIdx.x] = x[cuda.threadIdx.x + 32] + x[cuda.threadIdx.x]


@cuda.jit
def flips(x, signs):
    i = cuda.grid(1)
    for k in range(x.shape[0]):
        if x[k, i] > 0.5:
            signs[i] += 1
        else:
            signs[i] -= 1


def traced(threads: int, blocks: int = 1, **settings) -> Trace:
    return trace(
        everything,
        blocks,
        threads,
        np.arange(blocks * threads, dtype=np.float32),
        np.zeros(4, np.int32),
        **settings,
    )


def traced_flips(trips: int, threads: int, **settings) -> Trace:
    x = np.random.default_rng(5).random((trips, threads), np.float32)
    return trace(flips, 1, threads, x, np.zeros(threads, np.float32), **settings)


@pytest.mark.parametrize("threads", [1, 20, 32, 45, 64])
def test_slots_and_lanes_of_all_warps_are_those_of_metrics(threads):
    launch = traced(threads, 3, record=(0, 1, 2))
    warps = timelines(launch)
    assert list(warps) == [
        ((block, 0, 0), warp) for block in range(3) for warp in range(-(-threads // 32))
    ]
    assert sum(warp.slots for warp in warps.values()) == launch.metrics.warp_instructions
    assert sum(warp.lanes for warp in warps.values()) == launch.metrics.thread_instructions
    assert sum(warp.threads for warp in warps.values()) == 3 * threads


def test_of_one_warp_the_efficiency_is_that_of_metrics():
    launch = traced(32)
    (warp,) = timelines(launch).values()
    assert warp.lanes / (32 * warp.slots) == launch.metrics.warp_efficiency < 1


def test_every_event_is_in_a_step_once_and_in_its_order():
    launch = traced(64)
    for (block, number), warp in timelines(launch).items():
        issued = [(step.line, step.slots, step.active) for step in warp.steps]
        own = [event for event in launch.events if (event.block, event.warp) == (block, number)]
        assert issued == [
            (event.line, event.slots, event.active) for event in own if event.kind == "issue"
        ]
        assert [event for step in warp.steps for event in step.events] == [
            event for event in own if event.kind != "issue"
        ]


def test_both_sides_of_an_if_take_slots_of_the_warp():
    (warp,) = timelines(trace(first_four, 1, 32, np.zeros(32, np.float32))).values()
    first = min(step.line for step in warp.steps)
    assert [(step.line - first, step.active) for step in warp.steps] == [
        (0, 2**32 - 1),
        (1, 2**32 - 1),
        (2, 0xF),
        (4, 0xFFFFFFF0),
    ]


def test_lines_are_those_of_the_source_without_docstrings_comments_and_blanks():
    launch = traced(32)
    lines = divergence.of_trace(launch).data["kernels"][0]["lines"]
    assert all(launch.source[int(number)].endswith(text) for number, _, text, _ in lines)
    assert all(place == f"Line {number}" for number, _, _, place in lines)
    texts = [text for _, _, text, _ in lines]
    assert (
        "def everything(x, hist):" in texts
        and "def at_least(v, low):" in texts
        and "else:" in texts
    )
    assert not any(
        "docstring" in text or "comment" in text or '"""' in text or not text for text in texts
    )
    assert {indent for _, indent, text, _ in lines if text.startswith("def")} == {0}
    assert {event.line for event in launch.events} <= {int(number) for number, *_ in lines}


def test_marks_are_the_kinds_of_the_events():
    launch = traced(32)
    kernel = divergence.of_trace(launch).data["kernels"][0]
    (warp,) = kernel["blocks"][0]
    drawn = Counter(
        letter
        for *_, mark in warp["steps"]
        for _, letters in kernel["marks"][mark][1]
        for letter in letters
    )
    assert drawn == Counter(
        divergence.MARKS[event.kind] for event in launch.events if event.kind != "issue"
    )
    assert kernel["key"] == ["L: load", "S: store", "A: atomic", "?: branch", "B: barrier"]


def test_the_sentence_says_what_happens_and_to_whom():
    view = divergence.of_trace(trace(first_four, 1, 32, np.zeros(32, np.float32)))
    assert "step 3. Line" in str(view) and "(x[i] = 2 * x[i] + 1)" in str(view)
    assert "takes 4 issue slots with 4 active lanes (0 to 3) and 28 masked" in str(view)
    assert "; load of global x by 4 lanes; store of global x by 4 lanes. " in str(view)
    again = trace(twice, 1, 32, np.zeros(64, np.float32))
    assert "; load of global x by 32 lanes (2 times); store of global x by 32 lanes. " in str(
        divergence.of_trace(again)
    )
    parity = divergence.of_trace(traced(64), warp=1)
    assert str(parity).startswith("everything, block (0, 0, 0), warp 1, step ")


def test_a_trace_from_a_file_shows_the_same(tmp_path):
    launch = traced(64)
    launch.save(tmp_path / "trace.npz")
    assert (
        divergence.of_trace(Trace.load(tmp_path / "trace.npz"))._repr_html_()
        == divergence.of_trace(launch)._repr_html_()
    )


@pytest.mark.slow
@pytest.mark.parametrize(("trips", "threads"), [(1200, 32), (60, 1024)])
def test_a_long_warp_is_cut_with_words_and_its_data_stay_small(trips, threads):
    launch = traced_flips(trips, threads, max_records=100_000)
    view = divergence.of_trace(launch)
    warps = view.data["kernels"][0]["blocks"][0]
    carried, steps = len(warps[0]["steps"]), len(next(iter(timelines(launch).values())).steps)
    assert carried == divergence.MOST_STEPS // len(warps) < steps
    assert f"The first {carried:,} of {steps:,} steps can be chosen" in str(view)
    assert sum(warp["all"] for warp in warps) == launch.metrics.warp_instructions
    assert sum(warp["lanes"] for warp in warps) == launch.metrics.thread_instructions
    assert len(gzip.compress(json.dumps(view.payload).encode())) <= html.DATA_BUDGET


def test_a_short_warp_is_not_cut():
    assert "can be chosen" not in divergence.of_trace(traced(32))._repr_html_()


@pytest.mark.slow
def test_blocks_that_do_not_fit_are_left_out_with_words():
    launch = traced(64, 90, record=tuple(range(90)))
    view = divergence.of_trace(launch, block=(58, 0, 0))
    choice = view.controls[0]
    assert 1 < len(choice.options) < 90 and choice.options["0"] == "(58, 0, 0)"
    assert f"{len(choice.options)} of the 90 recorded blocks can be chosen" in view.above
    assert str(view).startswith("everything, block (58, 0, 0), warp 0")


def test_what_is_not_there_is_refused_with_what_is():
    launch = traced(64, 3, record=(0, 2))
    with pytest.raises(
        TraceError,
        match=(
            r"block \(1, 0, 0\) of everything is not recorded; "
            r"recorded blocks: \(0, 0, 0\), \(2, 0, 0\)"
        ),
    ):
        divergence.of_trace(launch, block=(1, 0, 0))
    with pytest.raises(TraceError, match="warp is 2; the block has warps 0 to 1"):
        divergence.of_trace(launch, warp=2)
    with pytest.raises(TraceError, match="nothing of everything is recorded"):
        divergence.of_trace(traced(64, record=()))
    with pytest.raises(TraceError, match="more events than the trace keeps"):
        divergence.of_trace(traced_flips(100, 32, max_records=50))
    with pytest.raises(ValueError, match="explorer has no traces"):
        divergence.explorer({})


def test_names_and_code_cannot_end_the_page():
    view = divergence.explorer({"</script><b>": traced(32)}, label="<i>")
    page = view._repr_html_()
    assert "</script><b>" not in page and "<i>" not in page


def test_traces_to_compare_have_a_title_and_a_question_and_one_trace_has_none():
    title = "<b>A warp at a branch.</b> Which of its lanes work, and which only wait?"
    assert title in divergence.explorer({"all": traced(32)}).payload["body"]
    assert 'class="asks"' not in divergence.of_trace(traced(32)).payload["body"]

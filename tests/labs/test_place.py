"""Where the picture of a verdict opens: at the line, block and warp of what failed."""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.labs import place
from warpwise.labs.exercise import Launch, Out
from warpwise.labs.judge import judge_launch
from warpwise.traces import Trace
from warpwise.views import banks, burst, divergence, hierarchy, shared_memory

X = np.arange(256, dtype=np.float32)


@cuda.jit
def wrong_in_one_thread(x, y):
    i = cuda.grid(1)
    y[i] = x[i]
    if i == 200:
        y[i] = 0


@cuda.jit
def races_in_warp_3(x, y):
    part = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    if t == 100:
        part[5] = 0
    y[t] = part[t]


@cuda.jit
def idles_in_warp_3(x, y):
    i = cuda.grid(1)
    if i < 98:
        y[i] = x[i]
    else:
        if i < 100:
            y[i] = x[i] + 1


@cuda.jit
def columns(x, y):
    tile = cuda.shared.array((32, 32), np.float32)
    i = cuda.threadIdx.x
    for k in range(32):
        tile[i, k] = x[i]
    y[i] = tile[i, 31]


@cuda.jit
def columns_again(x, y):
    tile = cuda.shared.array((32, 32), np.float32)
    i = cuda.threadIdx.x
    for k in range(1):
        tile[i, k] = x[i]
    for k in range(32):
        tile[i, k] = x[i]
    y[i] = tile[i, 31]


def line_of(text: str, t: Trace) -> int:
    """The number of the only line with this text."""
    (line,) = (number for number, source in t.source.items() if text in source)
    return line


def opened(kernel, launch, view=None):
    """The place of a launch's verdict, and the values that the picture opens with."""
    verdict = judge_launch(kernel, launch)
    assert not verdict.passed and verdict.trace is not None
    t, found = place.found(kernel, launch, verdict, verdict.trace)
    return t, found, place.picture(kernel, launch, verdict, view)


def test_a_wrong_element_leads_to_the_block_and_warp_that_wrote_it():
    launch = Launch("256", 2, 128, (X, Out(256)), (X,))
    t, found, view = opened(wrong_in_one_thread, launch)
    line = line_of("y[i] = 0", t)
    assert found == place.Place(line, "store", (1, 0, 0), 2)
    assert view.sentence.startswith(f"Line {line}: warp 2 of block (1, 0, 0) writes y")
    walked = place.picture(
        wrong_in_one_thread, launch, judge_launch(wrong_in_one_thread, launch), divergence
    )
    assert walked.values["warp"] == 2 and f"Line {line}" in walked.sentence


def test_a_race_in_shared_memory_opens_the_picture_of_it_at_one_of_the_two_threads():
    launch = Launch("128", 1, 128, (X[:128], Out(128)), (X[:128],))
    _, found, view = opened(races_in_warp_3, launch)
    assert view.name == "shared_memory" and found.space == "shared"
    assert view.values["warp"] == found.warp == 3
    assert view.values["step"] > 1


def test_idle_lanes_open_on_the_warp_that_idles():
    want = np.where(np.arange(128) < 98, X[:128], X[:128] + 1)[:100]
    launch = Launch("100", 1, 128, (X[:128], Out(100)), (want,), {"warp_efficiency": 0.99})
    _, found, view = opened(idles_in_warp_3, launch)
    assert found.warp == 3 and view.name == "divergence" and view.values["warp"] == 3


def test_bank_conflicts_open_the_picture_of_banks():
    launch = Launch("32", 1, 32, (X[:32], Out(32)), (X[:32],), {"shared_bank_conflicts": 0})
    t, found, view = opened(columns, launch)
    assert view.name == "banks" and found.line == line_of("tile[i, k] =", t)
    assert view.sentence.startswith(f"Line {found.line}")


def test_of_two_lines_with_one_text_the_one_to_blame_is_opened():
    launch = Launch("32", 1, 32, (X[:32], Out(32)), (X[:32],), {"shared_bank_conflicts": 40})
    t, found, _ = opened(columns_again, launch)
    assert found.line == line_of("range(32)", t) + 1


def test_a_view_that_knows_no_place_and_one_that_lacks_it_open_as_usual():
    launch = Launch("256", 2, 128, (X, Out(256)), (X,))
    verdict = judge_launch(wrong_in_one_thread, launch)
    t = verdict.trace
    at = place.Place(line=10_000, kind="store", warp=77)
    for view in (burst, divergence, banks, shared_memory, hierarchy):
        assert repr(place.drawn(t, at, view)) == repr(place.drawn(t, place.Place(), view))


def test_what_passed_opens_as_usual():
    launch = Launch("256", 2, 128, (X, Out(256)), (np.where(X == 200, 0, X).astype(np.float32),))
    verdict = judge_launch(wrong_in_one_thread, launch)
    assert verdict.passed
    assert place.found(wrong_in_one_thread, launch, verdict, verdict.trace)[1] == place.Place()


@cuda.jit
def leaves_its_array(x, y):
    i = cuda.grid(1)
    if cuda.threadIdx.x >= 0:
        y[i] = x[i + 1]


@cuda.jit
def adds_to_a_word(x, y):
    y[cuda.grid(1)] = x + 1


def mistake(kernel, launch):
    verdict = judge_launch(kernel, launch)
    assert not verdict.passed and verdict.trace is None
    return place.of_mistake(kernel, launch, verdict)


def test_a_launch_that_a_mistake_ended_shows_the_threads_warp_up_to_there():
    view = mistake(leaves_its_array, Launch("256", 2, 128, (X, Out(256)), (X,)))
    assert view.name == "divergence" and view.values["warp"] == 3
    assert "by thread (127, 0, 0) of block (1, 0, 0): nothing after it ran" in view.above
    assert "block (1, 0, 0), warp 3" in view.sentence and "y[i] = x[i + 1]" in view.sentence
    assert view.values["step"] == view.controls[-1].most


def test_a_mistake_that_is_no_threads_has_no_picture():
    assert mistake(adds_to_a_word, Launch("32", 1, 32, (X[:32], Out(32)), (X[:32],))) is None

"""The shared-memory widget in Chromium, at every step, against the trace's own events."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.pages import move, number, opened

from warpwise import cuda, trace
from warpwise.metrics import WARP_SIZE
from warpwise.traces import Trace
from warpwise.views import shared_memory

# A square's look in the browser: the last of these shapes that covers its middle.
LOOKS = """([rows, columns]) => {
  const svg = document.querySelector("ww-shared_memory").shadowRoot.querySelector("svg");
  const box = svg.querySelector(".grid:not(rect)").getBBox();
  const names = ["faint", "hatched", "mem-other", "one"];
  const shapes = names.map((name) => svg.querySelector(`path.${name}`));
  const inside = (shape, row, column) => {
    const x = box.x + ((column + .5) * box.width) / columns;
    const y = box.y + ((row + .5) * box.height) / rows;
    return shape.isPointInFill(new DOMPoint(x, y));
  };
  const look = (i, j) => names.findLast((_, k) => inside(shapes[k], i, j)) ?? "";
  const looks = (i) => Array.from({ length: columns }, (_, j) => look(i, j));
  return Array.from({ length: rows }, (_, i) => looks(i));
}"""


@cuda.jit
def transpose(src, dst):
    tile = cuda.shared.array((16, 20), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    if x != y:
        tile[y, x + 3] = src[y, x]
    else:
        tile[y, x + 3] = 0
    cuda.syncthreads()
    dst[y, x] = tile[x, y + 3]


@cuda.jit
def sum_of_block(x, out):
    part = cuda.shared.array(100, np.float64)
    total = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    if t == 0:
        total[0] = 0
    cuda.syncthreads()
    step = 50
    while step > 2:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    cuda.atomic.add(total, 0, 1)
    cuda.syncthreads()
    out[t] = total[0]


@cuda.jit
def large(out):
    a = cuda.shared.array((40, 100), np.float32)
    t = cuda.threadIdx.x
    a[1, t] = 1
    out[t] = a[1, t]


def traced_transpose() -> Trace:
    return trace(
        transpose, 1, (16, 16), np.ones((16, 16), np.float32), np.zeros((16, 16), np.float32)
    )


def traced_sum() -> Trace:
    return trace(sum_of_block, 2, 100, np.ones(100), np.zeros(100), record=(1,))


def steps_of(traced: Trace) -> list[list]:
    """Group the shared-memory events and barriers of one block by the line its warps ran."""
    steps = []
    for event in traced.events:
        if event.space == "shared" or event.kind == "barrier":
            together = (
                steps
                and steps[-1][-1].warp < event.warp
                and steps[-1][-1].line == event.line
                and steps[-1][-1].kind == event.kind
            )
            steps[-1].append(event) if together and steps[-1][
                -1
            ].array == event.array else steps.append([event])
    return steps


def written_by(traced: Trace, steps: list[list]) -> dict[tuple[str, int], int]:
    """Map each (array, address) to the warp that wrote it last."""
    return {
        (event.array, address): event.warp
        for step in steps
        for event in step
        if event.kind in ("store", "atomic")
        for address in event.addresses
        if address >= 0
    }


def text(page) -> str:
    return page.locator("p.text").inner_text()


@pytest.mark.parametrize(("make", "warp"), [(traced_transpose, 3), (traced_sum, 1)])
def test_every_step_by_keyboard_and_numbers_are_those_of_the_events(browser, make, warp):
    traced = make()
    steps = steps_of(traced)
    assert len(steps) > 3
    sizes = {
        info.name: int(np.prod(info.shape)) for info in traced.arrays if info.space == "shared"
    }
    with opened(browser, shared_memory.of_trace(traced, warp=warp)._repr_html_()) as page:
        assert int(page.get_by_role("slider", name="step").get_attribute("max")) == len(steps)
        for at in range(1, len(steps) + 1):
            move(page, "step", at)
            by = written_by(traced, steps[:at])
            for name, size in sizes.items():
                written = sum(array == name for array, _ in by)
                assert int(number(page, f"written in {name}").replace(",", "")) == written, (
                    at,
                    name,
                )
                assert f"{written} of {size} elements are written in {name}" in text(page)
            passed = sum(
                event.kind == "barrier" and event.warp == warp
                for step in steps[:at]
                for event in step
            )
            assert int(number(page, "barriers")) == passed
            event = steps[at - 1][0]
            assert (
                f"Step {at} of {len(steps)}, line {event.line}, "
                f"{traced.source[event.line].strip()},"
            ) in text(page)
            assert f"{len(steps[at - 1])} warp" in text(page)


def test_barriers_of_a_warp_at_the_end_are_those_of_metrics(browser):
    traced = traced_sum()
    warps = -(-100 // WARP_SIZE)
    last = len(steps_of(traced))
    with opened(browser, shared_memory.of_trace(traced, step=last)._repr_html_()) as page:
        passed = []
        for warp in range(warps):
            move(page, "warp", warp)
            passed.append(int(number(page, "barriers")))
        assert sum(passed) * 2 == traced.metrics.barriers  # there are two blocks


@pytest.mark.parametrize("warp", [0, 5])
def test_the_squares_are_what_the_events_name(browser, warp):
    traced = traced_transpose()
    steps = steps_of(traced)
    with opened(browser, shared_memory.of_trace(traced, warp=warp)._repr_html_()) as page:
        for at in range(1, len(steps) + 1):
            move(page, "step", at)
            expected = [[""] * 20 for _ in range(16)]
            for (_, address), by in written_by(traced, steps[:at]).items():
                expected[address // 80][address % 80 // 4] = "hatched" if by == warp else "faint"
            named = sorted(
                (event.warp == warp, a)
                for event in steps[at - 1]
                if event.space
                for a in event.addresses
                if a >= 0
            )
            for mine, address in named:
                expected[address // 80][address % 80 // 4] = "one" if mine else "mem-other"
            assert page.evaluate(LOOKS, [16, 20]) == expected, at


def test_what_a_warp_names_is_said_by_index(browser):
    with opened(
        browser, shared_memory.of_trace(traced_transpose(), step=4, warp=2)._repr_html_()
    ) as page:
        assert "Warp 2 names 32 elements, lane 0 tile[0, 7] and lane 31 tile[15, 8]." in text(page)
        move(page, "warp", 0)
        assert "Warp 0 names 32 elements, lane 0 tile[0, 3] and lane 31 tile[15, 4]." in text(page)
        move(page, "step", 3)
        assert "is a barrier for 8 warps of 8. Warp 0 passes it." in text(page)


def test_a_warp_without_an_active_lane_says_so(browser):
    view = shared_memory.of_trace(traced_sum(), step=2, warp=1)
    with opened(browser, view._repr_html_()) as page:
        assert "writes total in 1 warp of 4. Warp 1 is not in it." in text(page)
        assert text(page) == view.sentence


def test_a_large_array_says_what_a_square_is(browser):
    traced = trace(large, 1, 64, np.zeros(64, np.float32))
    with opened(browser, shared_memory.of_trace(traced)._repr_html_()) as page:
        assert page.locator(
            "[role=img] text", has_text="a: 40 by 100 float32, 2 to a square"
        ).last.is_visible()
        looks = page.evaluate(LOOKS, [40, 50])
        assert looks[1][:34] == ["one"] * 16 + ["mem-other"] * 16 + [""] * 2
        assert {look for row in looks[2:] for look in row} == {""}


def test_it_plays_to_the_end(browser):
    with opened(browser, shared_memory.of_trace(traced_transpose(), step=3)._repr_html_()) as page:
        page.get_by_role("button", name="Play").click()
        page.wait_for_function(
            "document.querySelector('ww-shared_memory').shadowRoot"
            ".querySelector('[name=step]').value == 4"
        )
        assert re.match("Step 4 of 4", text(page))
        assert page.get_by_role("button", name="Next").is_disabled()

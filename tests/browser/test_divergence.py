"""The divergence widget in Chromium, against the events of traces and ``Metrics``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from support.pages import box, move, number, opened

from warpwise import cuda, trace
from warpwise.traces import Event, Trace
from warpwise.views import divergence

THREADS = 64
ROUNDED = 0.0005001  # percent are shown with one decimal


@cuda.jit
def first_four(x, n):
    i = cuda.grid(1)
    if cuda.threadIdx.x < 4:
        x[i] = 2 * x[i] + 1
    else:
        x[i] = x[i] - 3


@cuda.jit
def by_warp(x, n):
    i = cuda.grid(1)
    if cuda.threadIdx.x // 32 == 0:
        x[i] = 2 * x[i] + 1
        x[i] = x[i] * x[i]
    else:
        x[i] = x[i] - 3


@cuda.jit
def nested(x, n):
    i = cuda.grid(1)
    if i % 2 == 0:
        x[i] = 1
        if i < 16:
            x[i] += 1
    cuda.syncthreads()
    cuda.atomic.add(n, 0, 1)


@cuda.jit
def loop(x, n):
    i = cuda.grid(1)
    total = np.float32(0)
    for k in range(n[i]):
        total += n[(i + k) % n.size]
    x[i] = total


def traced(kernel, **settings) -> Trace:
    return (
        trace(kernel, 2, THREADS // 2, *arguments(), **settings)
        if settings
        else trace(kernel, 1, THREADS, *arguments())
    )


def arguments() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(THREADS, np.float32), np.random.default_rng(7).integers(0, 9, THREADS).astype(
        np.int32
    )


TRACES = {
    "threadIdx.x < 4": traced(first_four),
    "by warp": traced(by_warp),
    "nested": traced(nested),
    "a loop": traced(loop),
}
EXPLORER = divergence.explorer(TRACES)


@dataclass
class Expected:
    """The line, lanes and figures that belong on screen at one step."""

    line: int
    lanes: tuple[int, ...]
    slots: int
    all: int
    efficiency: float
    end: float


def issued(launch: Trace, warp: int, block: int = 0) -> list[Event]:
    return [
        event
        for event in launch.events
        if (event.kind, event.warp, event.block[0]) == ("issue", warp, block)
    ]


def expected(launch: Trace, warp: int, block: int = 0) -> list[Expected]:
    """Return the expected steps, straight from the events of the trace."""
    own = issued(launch, warp, block)
    slots, lanes = (
        np.cumsum([event.slots for event in own]),
        np.cumsum([event.slots * len(event.lanes) for event in own]),
    )
    efficiency = lanes / (32 * slots)
    return [
        Expected(
            event.line, event.lanes, int(slots[i]), int(slots[-1]), efficiency[i], efficiency[-1]
        )
        for i, event in enumerate(own)
    ]


def share(words: str) -> float:
    return float(words.removesuffix(" %")) / 100


def check(page, wanted: Expected) -> None:
    """Check the four numbers: active lanes, issue slots, efficiency so far and at the end."""
    lanes, slots, so_far, end = (
        words.strip() for words in page.locator(".ww dd").all_inner_texts()
    )
    assert (lanes, slots) == (f"{len(wanted.lanes)} of 32", f"{wanted.slots:,} of {wanted.all:,}")
    assert share(so_far) == pytest.approx(wanted.efficiency, abs=ROUNDED)
    assert share(end) == pytest.approx(wanted.end, abs=ROUNDED)


def cells(page) -> dict[int, tuple[int, ...]]:
    """Map each drawn step to its active lanes, by their height under the words "lane 0"."""
    found = page.locator(".ww [data-set]").evaluate_all(
        """hits => hits.map((hit) => {
            let run = hit;
            while (!run.matches("path.wd-run")) run = run.previousElementSibling;
            const words = [...hit.closest("svg").querySelectorAll("text")]
                .find((one) => one.textContent === "lane 0");
            const first = words.getAttribute("y") - 6;
            const cells = [...run.getAttribute("d").matchAll(/M\\S+ (\\S+?)h/g)].slice(1);
            const lanes = cells.map((cell) => (cell[1] - first) / 5);
            return [hit.dataset.set.split("=")[1], lanes];
        })"""
    )
    return {int(step): tuple(lanes) for step, lanes in found}


@pytest.mark.parametrize("name", TRACES)
@pytest.mark.parametrize("warp", [0, 1])
def test_every_step_by_keyboard_shows_what_the_events_say(browser, name, warp):
    with opened(browser, EXPLORER._repr_html_()) as page:
        page.get_by_label("condition").select_option(label=name)
        move(page, "warp", warp)
        slider = page.get_by_role("slider", name="step")
        slider.press("Home")
        steps = expected(TRACES[name], warp)
        assert int(slider.get_attribute("max")) == len(steps)
        for step, wanted in enumerate(steps, 1):
            check(page, wanted)
            sentence = page.locator(".ww p.text").inner_text()
            assert (
                f"warp {warp}, step {step}. Line {wanted.line} "
                f"({TRACES[name].source[wanted.line].strip()})"
            ) in sentence
            assert (
                f"{len(wanted.lanes)} active lane"
                if len(wanted.lanes) < 32
                else "all 32 lanes active"
            ) in sentence
            assert cells(page)[step] == wanted.lanes
            slider.press("ArrowRight")


def test_of_a_launch_of_one_warp_the_end_is_the_metrics_warp_efficiency(browser):
    launch = trace(loop, 1, 32, *arguments())
    with opened(browser, divergence.of_trace(launch)._repr_html_()) as page:
        assert share(number(page, "at the end")) == pytest.approx(
            launch.metrics.warp_efficiency, abs=ROUNDED
        )
        # One warp and one block leave nothing to choose but the step.
        assert page.get_by_role("slider").count() == 1
        page.get_by_role("slider", name="step").press("End")
        assert number(page, "warp efficiency") == number(page, "at the end")
        assert int(number(page, "issue slots")) == launch.metrics.warp_instructions


def test_next_back_play_and_a_pressed_column(browser):
    with opened(browser, EXPLORER._repr_html_()) as page:
        slider = page.get_by_role("slider", name="step")
        steps = expected(TRACES["threadIdx.x < 4"], 0)
        assert int(slider.input_value()) == 3  # the first step at which lanes are masked
        page.get_by_role("button", name="Next").click()
        check(page, steps[3])
        page.get_by_role("button", name="Back").click()
        check(page, steps[2])
        page.locator(".ww [data-set='step=2']").click()
        check(page, steps[1])
        page.get_by_role("button", name="Play").click()
        page.wait_for_function(
            "() => document.querySelector('ww-divergence').shadowRoot"
            ".querySelector('form').elements.step.value === '4'"
        )
        check(page, steps[3])


def test_blocks_are_chosen_too(browser):
    launch = traced(loop, record=(0, 1))
    with opened(browser, divergence.of_trace(launch, block=(1, 0, 0))._repr_html_()) as page:
        for block in (1, 0):
            page.get_by_label("block").select_option(label=f"({block}, 0, 0)")
            page.get_by_role("slider", name="step").press("End")
            check(page, expected(launch, 0, block)[-1])
            assert f"block ({block}, 0, 0)" in page.locator(".ww p.text").inner_text()


def test_a_fork_says_how_many_lanes_go_which_way(browser):
    (branch,) = [
        event
        for event in TRACES["threadIdx.x < 4"].events
        if (event.kind, event.warp) == ("branch", 0)
    ]
    with opened(browser, EXPLORER._repr_html_()) as page:
        move(page, "step", 2)
        ways = branch.taken.bit_count(), 32 - branch.taken.bit_count()
        assert (
            f"the branch parts 32 lanes: {ways[0]} one way, {ways[1]} the other"
            in page.locator(".ww p.text").inner_text()
        )
        assert page.locator(".ww .inside", has_text="?").count() == 1


@pytest.mark.parametrize(("width", "above"), [(390, False), (800, True)])
def test_on_a_phone_the_marked_slot_leaves_the_code_free(browser, width, above):
    shown = divergence.of_trace(TRACES["a loop"])._repr_html_()
    with opened(browser, shown, viewport={"width": width, "height": 900}) as page:
        top = box(page.locator(".picture .wd-now"))["y"]
        first, *_, last = page.locator(".picture .wd-code").all()
        assert (top < box(first)["y"]) == above
        assert (top > box(last)["y"] + box(last)["height"]) != above


def test_pages_of_slots_follow_the_step(browser):
    steps = expected(TRACES["a loop"], 0)
    with opened(browser, divergence.of_trace(TRACES["a loop"])._repr_html_()) as page:
        slider, seen = page.get_by_role("slider", name="step"), []
        slider.press("Home")
        for step in range(1, len(steps) + 1):
            on_page = cells(page)
            assert step in on_page
            seen += [one for one in on_page if one not in seen]
            slider.press("ArrowRight")
        assert seen == list(range(1, len(steps) + 1))
        # Nothing is to come at the last step.
        assert page.locator(".ww .wd-later [data-set]").count() == 0


def test_a_warp_that_is_cut_still_ends_with_the_efficiency_of_all_its_slots(browser):
    n = np.full(32, divergence.MOST_STEPS, np.int32)
    n[0] = 5
    launch = trace(loop, 1, 32, np.zeros(32, np.float32), n, max_records=100_000)
    view = divergence.of_trace(launch)
    with opened(browser, view._repr_html_()) as page:
        slider = page.get_by_role("slider", name="step")
        assert int(slider.get_attribute("max")) == divergence.MOST_STEPS
        slider.press("End")
        check(page, expected(launch, 0)[divergence.MOST_STEPS - 1])
        assert share(number(page, "at the end")) == pytest.approx(
            launch.metrics.warp_efficiency, abs=ROUNDED
        )
        assert (
            "steps can be chosen; all count at the end" in page.locator(".ww p.text").inner_text()
        )


def test_the_sentence_before_any_script_is_the_one_after_it(browser):
    with opened(browser, EXPLORER._repr_html_()) as page:
        assert page.locator(".ww p.text").inner_text() == str(EXPLORER)

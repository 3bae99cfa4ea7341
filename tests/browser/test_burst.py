"""The burst widget in Chromium, by keyboard and mouse, against ``Metrics`` of a traced kernel."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np
import pytest
from support.pages import box, load_metrics, move, number, opened, violations
from support.spoken import sentence
from support.view_kernels import sum_shifted_late, transpose_at_once

from warpwise import cuda, trace
from warpwise.metrics import SECTOR_BYTES, Metrics
from warpwise.views import burst, html
from warpwise.views.request import requests_of, strided

STRIP = ".ww svg [y='142']"  # the boxes of the strip, which the legend shows too
EXPLORER = burst.explorer()._repr_html_()


@cuda.jit
def transpose(src, dst):
    x, y = cuda.grid(2)
    if y < src.shape[0] and x < src.shape[1]:
        value = src[y, x]
        dst[x, y] = value


@cuda.jit
def wordy(x):
    if cuda.threadIdx.x < x.shape[0] and cuda.threadIdx.x < cuda.blockDim.x and x.size > 0:
        x[cuda.threadIdx.x] = 1


def traced_transpose():
    return trace(
        transpose,
        (2, 3),
        (32, 4),
        np.zeros((11, 45), np.float32),
        np.zeros((45, 11), np.float32),
        record=tuple(range(6)),
    )


def shown(page) -> tuple[int, int, int]:
    """Return the sectors, bytes used and bytes moved that are on screen."""
    moved = page.locator(".ww dl > div", has_text="bytes used").inner_text()
    return (
        int(number(page, "sectors per request")),
        int(number(page, "bytes used")),
        int(re.search(r"of (\d+) moved", moved)[1]),
    )


def counted(metrics: Metrics) -> tuple[int, int, int]:
    used = metrics.global_bytes_distinct - metrics.global_store_bytes
    return metrics.global_load_sectors, used, SECTOR_BYTES * metrics.global_load_sectors


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_keyboard_moves_it_and_numbers_equal_metrics(browser, dtype):
    with opened(browser, EXPLORER) as page:
        page.get_by_label("element type").select_option(dtype)
        for stride, offset in [(1, 0), (1, 1), (2, 1), (3, 0), (8, 7), (0, 7), (32, 32)]:
            move(page, "stride", stride)
            move(page, "offset", offset)
            assert shown(page) == counted(load_metrics(stride, offset, dtype)), (stride, offset)


def test_mouse_drags_the_stride_and_numbers_equal_metrics(browser):
    with opened(browser, EXPLORER) as page:
        slider = page.get_by_label("stride")
        at = box(slider)
        middle = at["y"] + at["height"] / 2
        page.mouse.move(at["x"] + at["width"] / 32, middle)
        page.mouse.down()
        strides = []
        for part in (0.2, 0.5, 1.0):
            page.mouse.move(at["x"] + at["width"] * part, middle, steps=4)
            strides.append(int(slider.input_value()))
            assert shown(page) == counted(load_metrics(strides[-1], 0))
        page.mouse.up()
        assert all(before < after for before, after in pairwise(strides)) and strides[-1] == 32


def test_toy_memory_has_bursts_of_four_values(browser):
    with opened(browser, EXPLORER) as page:
        page.get_by_label("memory").select_option("toy")
        assert page.get_by_label("element type").is_disabled()
        assert number(page, "bursts per request") == "8"
        move(page, "stride", 4)
        assert number(page, "bursts per request") == str(strided(4, toy=True).sectors) == "32"
        said = page.locator("p.text").inner_text()
        assert said.startswith(
            f"Stride 4, offset 0, toy memory. {sentence(strided(4, toy=True))} "
            "Lane 0 reads value 0, in burst 0"
        )
        page.get_by_label("memory").select_option("real")
        assert number(page, "sectors per request") == "16"


def test_sentence_after_moves_is_that_of_a_view_made_so(browser):
    with opened(browser, EXPLORER) as page:
        live = page.locator(".ww [aria-live=polite]")
        for stride, offset in [(1, 0), (1, 3), (0, 3)]:
            move(page, "stride", stride)
            move(page, "offset", offset)
            said = live.locator(".text").inner_text()
            assert said == burst.explorer(stride, offset).sentence
            assert said.startswith(
                f"Stride {stride}, offset {offset}, float32. "
                f"{sentence(strided(stride, offset))} Lane 0 "
            )


def test_followed_lane_says_its_bytes(browser):
    with opened(browser, burst.explorer(2, 1)._repr_html_()) as page:
        move(page, "follow lane", 5)
        said = "Lane 5 reads bytes 44 to 47 of x, in sector 1: the 2nd of the 8 touched."
        assert page.locator("p.text").inner_text().endswith(said)
        assert (
            page.locator(".ww svg .lane.followed").count()
            == page.locator(".ww svg .line.followed").count()
            == 1
        )


def test_sectors_are_numbered_from_0_and_places_are_ordinals(browser):
    with opened(browser, burst.explorer(8, 8)._repr_html_()) as page:
        for lane, place in (
            (0, "1st"),
            (2, "3rd"),
            (3, "4th"),
            (10, "11th"),
            (11, "12th"),
            (12, "13th"),
            (20, "21st"),
            (22, "23rd"),
        ):
            move(page, "follow lane", lane)
            first = (8 + 8 * lane) * 4
            said = (
                f"Lane {lane} reads bytes {first} to {first + 3} of x, in sector {first // 32}: "
                f"the {place} of the 32 touched."
            )
            assert page.locator("p.text").inner_text().endswith(said)
        move(page, "stride", 0)
        assert page.locator("p.text").inner_text().endswith("in sector 1: the only one touched.")


def test_lane_is_followed_when_it_is_pressed(browser):
    with opened(browser, EXPLORER) as page:
        page.locator(".ww svg .lane").nth(7).click()
        assert page.get_by_role("slider", name="follow lane").input_value() == "7"
        assert (
            page.locator("p.text")
            .inner_text()
            .endswith("Lane 7 reads bytes 28 to 31 of x, in sector 0: the 1st of the 4 touched.")
        )


def test_page_and_python_draw_one_picture(browser):
    """Before the script runs, the page shows what the script draws, at Python's width."""
    for view in (
        burst.explorer(5, 3),
        burst.explorer(9, 1, "float16", True),
        burst.of_trace(traced_transpose()),
    ):
        margins = 2 * 16 + (2 * (16 + 1) if view.frame else 0)
        with opened(
            browser, view._repr_html_(), viewport={"width": 620 + margins, "height": 900}
        ) as page:
            # Words and ways are for the script alone.
            inside = """e => e.innerHTML.replace(/ data-[a-z]+="[^"]*"/g, '')"""
            assert page.locator(".ww svg").evaluate(inside) == page.locator(
                f"ww-{view.name} > [role=group] > svg"
            ).evaluate(inside)


def test_picture_shows_what_is_touched_without_colour(browser):
    """Outlines, numbers and hatching tell touched from unused bytes in grey, too."""
    with opened(browser, burst.explorer(2)._repr_html_()) as page:
        assert (
            page.locator(f"{STRIP}.edge").count() == page.locator(f"{STRIP}.hatched").count() == 8
        )
        assert page.locator(".ww svg .strong").all_text_contents() == [str(k) for k in range(8)]
        strokes = [
            page.locator(f"{STRIP}{name}").first.evaluate("e => getComputedStyle(e).strokeWidth")
            for name in (".edge", ".empty")
        ]
        assert strokes == ["1.5px", "1px"]
        assert "ww-hatching" in page.locator(f"{STRIP}.hatched").first.evaluate(
            "e => getComputedStyle(e).fill"
        )


def min_sectors(page) -> int:
    return int(re.search(r"fewest possible: (\d+)", page.locator(".ww dl").inner_text())[1])


def test_loads_and_stores_of_one_line_are_chosen_apart(browser):
    t = trace(
        transpose_at_once, 1, (32, 8), np.zeros((8, 32), np.float32), np.zeros((32, 8), np.float32)
    )
    (line,) = requests_of(t)
    with opened(browser, burst.of_trace(t)._repr_html_()) as page:
        names = [
            f"{count} sectors per {kind}, line {line}:"
            for count, kind in ((4, "load"), (32, "store"))
        ]
        radios = [page.get_by_role("radio", name=name) for name in names]
        assert [radio.is_checked() for radio in radios] == [False, True]
        assert (number(page, "sectors per request"), number(page, "efficiency")) == ("32", "12.5 %")
        radios[1].press("ArrowUp")
        assert [radio.is_checked() for radio in radios] == [True, False]
        assert (number(page, "sectors per request"), number(page, "efficiency")) == ("4", "100 %")
        assert (
            page.locator(".text")
            .inner_text()
            .startswith(f"Line {line}: warp 0 of block (0, 0, 0) reads src")
        )
        assert page.locator("tr:has(:checked)").count() == 1


def test_late_worst_request_is_shown_first_with_what_is_around_it(browser):
    t = trace(sum_shifted_late, 1, 32, np.zeros(32 * 300 + 1, np.float32), np.zeros(32, np.float32))
    view = burst.of_trace(t)
    with opened(browser, view._repr_html_()) as page:
        assert page.locator(".text").inner_text() == view.sentence
        step = page.get_by_role("slider", name="request")
        first, last = int(step.get_attribute("min")), int(step.get_attribute("max"))
        assert (step.input_value(), last - first) == ("251", 127)
        assert (
            page.locator("output[for=step]").inner_text() == f"251 of 300, shown: {first} to {last}"
        )
        page.get_by_role("button", name="Previous").click()
        assert (step.input_value(), number(page, "sectors per request")) == ("250", "4")
        for key, button in (("Home", "Previous"), ("End", "Next")):
            step.press(key)
            assert page.get_by_role("button", name=button).is_disabled()


def test_long_source_lines_are_wrapped_not_cut(browser):
    t = trace(wordy, 1, 32, np.zeros(32, np.float32))
    with opened(
        browser, burst.of_trace(t)._repr_html_(), viewport={"width": 760, "height": 900}
    ) as page:
        assert page.locator(".ww .listing").evaluate("e => e.scrollWidth <= e.clientWidth")
        heights = page.locator(".ww tbody tr").evaluate_all(
            "rows => rows.map(row => row.clientHeight)"
        )
        assert max(heights) >= 2 * min(heights)


def test_trace_is_stepped_through_and_its_requests_add_up_to_metrics(browser):
    t = traced_transpose()
    with opened(browser, burst.of_trace(t)._repr_html_()) as page:
        for line, requests in requests_of(t).items():
            page.get_by_role("radio", name=f"line {line}:").check()
            assert int(number(page, "sectors per request")) - max(
                r.wasted for r in requests
            ) == min_sectors(page)
            while page.get_by_role("button", name="Previous").is_enabled():
                page.get_by_role("button", name="Previous").click()
            sectors = [int(number(page, "sectors per request"))]
            assert page.get_by_role("slider", name="request").input_value() == "1"
            while page.get_by_role("button", name="Next").is_enabled():
                page.get_by_role("button", name="Next").click()
                sectors.append(int(number(page, "sectors per request")))
            metrics = t.by_line[line]
            assert (
                len(sectors)
                == len(requests)
                == metrics.global_load_requests + metrics.global_store_requests
            )
            assert sum(sectors) == metrics.global_load_sectors + metrics.global_store_sectors


def test_trace_sentences_name_warp_block_and_idle_lanes(browser):
    t = traced_transpose()
    view = burst.of_trace(t)
    with opened(browser, view._repr_html_()) as page:
        assert page.locator(".text").inner_text() == view.sentence
        line = int(view.values["row"].split()[0])
        last = requests_of(t)[line][-1]
        move(page, "request", int(page.get_by_role("slider", name="request").get_attribute("max")))
        lead = f"Line {line}: warp {last.warp} of block {last.block} writes dst with 13 lanes."
        assert (
            page.locator("p.text").inner_text().startswith(f"{lead} {sentence(last)} Lane 0 writes")
        )
        move(page, "follow lane", 31)
        assert (
            page.locator("p.text").inner_text() == f"{lead} {sentence(last)} Lane 31 is not active."
        )
        assert page.locator(".ww svg .idle").count() == 32 - 13


def test_lines_are_chosen_by_keyboard(browser):
    t = traced_transpose()
    load, store = requests_of(t)
    with opened(browser, burst.of_trace(t, load)._repr_html_()) as page:
        page.get_by_role("radio", name=f"line {load}:").focus()
        page.keyboard.press("ArrowDown")
        assert page.locator(".text").inner_text().startswith(f"Line {store}:")
        assert page.locator("tr:has(:checked)").inner_text().startswith(str(store))


def test_keys_stay_inside_but_for_shortcuts_and_escape(browser):
    with opened(browser, EXPLORER) as page:
        page.evaluate(
            "window.keys = []; "
            "document.addEventListener('keydown', (event) => keys.push(event.key))"
        )
        page.get_by_label("stride").focus()
        for key in ("ArrowRight", "a", "Escape", "Control+b"):
            page.keyboard.press(key)
        assert page.evaluate("keys") == ["Escape", "Control", "b"]


def test_every_control_is_reached_by_tab_and_shows_its_focus(browser):
    with opened(browser, EXPLORER) as page:
        names = []
        for _ in range(6):
            page.keyboard.press("Tab")
            focused = "document.querySelector('ww-burst, ww-requests').shadowRoot.activeElement"
            names.append(page.evaluate(f"{focused}.name"))
            assert page.evaluate(f"getComputedStyle({focused}).outlineStyle") == "solid"
        assert names == ["stride", None, "memory", "dtype", "offset", "lane"]  # None: "More"


def test_several_widgets_live_on_one_page(browser):
    with opened(
        browser,
        EXPLORER
        + burst.explorer(8)._repr_html_()
        + burst.of_trace(traced_transpose())._repr_html_(),
    ) as page:
        assert [number(page, "sectors per request", nth) for nth in range(2)] == ["4", "32"]
        page.get_by_label("stride").first.fill("2")
        assert [number(page, "sectors per request", nth) for nth in range(2)] == ["8", "32"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["explorer", "trace"])
def test_axe_finds_nothing(browser, view, scheme):
    body = EXPLORER if view == "explorer" else burst.of_trace(traced_transpose())._repr_html_()
    with opened(browser, body + body) as page:
        page.evaluate(f"document.documentElement.className = '{scheme}'")
        dark = (
            "document.querySelector('ww-burst, ww-requests').hasAttribute('data-dark') === "
            f"{json.dumps(scheme == 'dark')}"
        )
        page.wait_for_function(dark)
        assert violations(page) == []


def test_without_scripts_there_are_pictures_and_the_source(browser):
    views = [burst.explorer(2, 1), burst.of_trace(traced_transpose())]
    with opened(
        browser, "".join(view._repr_html_() for view in views), java_script_enabled=False
    ) as page:
        assert page.locator("svg:visible").count() == 2
        assert page.get_by_text("value = src[y, x]").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_paper_picture_numbers_and_sentence_stay_and_controls_go(browser, scheme):
    with opened(browser, EXPLORER) as page:
        page.evaluate(f"document.documentElement.className = '{scheme}'")
        page.emulate_media(media="print")
        visible = {
            name: page.locator(f".ww {name}").first.is_visible()
            for name in ("form", "svg", "dl", ".text")
        }
        assert visible == {"form": False, "svg": True, "dl": True, ".text": True}
        assert page.locator(".text").evaluate("e => getComputedStyle(e).color") == "rgb(0, 0, 0)"


@pytest.mark.parametrize("view", ["explorer", "trace"])
def test_phone_shows_all_of_it_in_letters_of_eleven_pixels(browser, view):
    body = (
        burst.explorer(32, 31)._repr_html_()
        if view == "explorer"
        else burst.of_trace(traced_transpose())._repr_html_()
    )
    with opened(browser, body, viewport={"width": 360, "height": 740}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        sizes = """[...document.querySelector('ww-burst, ww-requests')
            .shadowRoot.querySelectorAll('.ww *')]
            .filter(e => e.textContent.trim()).map(e => parseFloat(getComputedStyle(e).fontSize))"""
        assert min(page.evaluate(sizes)) >= 11
        svg = page.locator(".ww svg")
        assert box(svg)["width"] == float(svg.get_attribute("width")) <= 360 - 2 * 16


MODEL = """([data, values]) => {
    window.model = {
        values: { data, values }, heard: {}, saved: [],
        get(name) { return this.values[name]; },
        set(name, value) {
            this.values[name] = value;
            (this.heard[`change:${name}`] ?? []).forEach((f) => f());
        },
        save_changes() { this.saved.push(this.values.values.row); },
        on(name, f) { (this.heard[name] ??= []).push(f); },
        off(name, f) { this.heard[name] = this.heard[name].filter((g) => g !== f); },
    };
}"""
RENDER = """async (script) => {
    const blob = new Blob([script], { type: 'text/javascript' });
    const module = await import(URL.createObjectURL(blob));
    const el = document.querySelector('#lab');
    window.leave = module.default.render({ model: window.model, el });
}"""


def test_lab_keeps_the_readers_choice_within_a_line(browser):
    """A value that comes back leaves the reader at the loads, although the stores are worse."""
    t = trace(
        transpose_at_once, 1, (32, 8), np.zeros((8, 32), np.float32), np.zeros((32, 8), np.float32)
    )
    (line,) = requests_of(t)
    view = burst.of_trace(t)
    with opened(browser, '<div id="lab"></div>') as page:
        page.evaluate(MODEL, [view.payload, view.values])
        page.evaluate(RENDER, html.script("requests"))
        page.get_by_role("radio", name="4 sectors per load").check()
        assert page.evaluate("model.saved") == [f"{line} load"]
        assert " reads src with" in page.locator(".text").inner_text()


def test_lab_gets_the_chosen_request_and_sets_it(browser):
    """anywidget's module with a stand-in for the kernel's model.

    The real one is in test_jupyterlab.py."""
    t = trace(sum_shifted_late, 1, 32, np.zeros(32 * 300 + 1, np.float32), np.zeros(32, np.float32))
    load, store = requests_of(t)
    view = burst.of_trace(t, store)
    with opened(browser, '<div id="lab"></div>') as page:
        page.evaluate(MODEL, [view.payload, view.values])
        page.evaluate(RENDER, html.script("requests"))
        assert page.locator(".text").inner_text().startswith(f"Line {store}:")
        page.get_by_role("radio", name=f"line {load}:").check()
        assert page.evaluate("model.saved") == [f"{load} load"]
        assert page.evaluate("model.get('values').step") == 251
        page.evaluate(f"model.set('values', {{ row: '{store} store', step: 1, lane: 2 }})")
        assert page.locator(".text").inner_text().startswith(f"Line {store}:")
        page.evaluate(f"model.set('values', {{ row: '{load} load', step: 250, lane: 2 }})")
        assert page.get_by_role("slider", name="request").input_value() == "250"
        assert page.get_by_role("radio", name=f"line {load}:").is_checked()
        page.evaluate("leave()")
        assert page.evaluate("Object.values(model.heard).flat().length") == 0

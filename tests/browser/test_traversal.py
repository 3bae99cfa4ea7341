"""The traversal widget in Chromium, against ``Metrics`` of a kernel that walks a matrix."""

from __future__ import annotations

import re
from math import floor

import numpy as np
import pytest
from support.pages import move, number, opened
from support.view_kernels import transpose_at_once

from warpwise import cuda, trace
from warpwise.metrics import SECTOR_BYTES, Metrics
from warpwise.views import traversal


@cuda.jit
def walk(a, out, along, requests):
    i = cuda.threadIdx.x
    total = 0.0
    for k in range(requests):
        if along:
            total += a[k, i]
        else:
            total += a[i, k]
    out[i] = total


def metrics_of(
    rows: int, columns: int, lanes: str, dtype: str, padded: bool, requests: int
) -> Metrics:
    """Return counts of so many requests by a warp with a lane in each column, or each row."""
    along, a = lanes == "row", np.zeros((rows, columns + padded), dtype)[:, :columns]
    return trace(
        walk, 1, columns if along else rows, a, np.zeros(32, np.float64), along, requests
    ).metrics


def shown(page) -> tuple[int, int]:
    """Return the sectors and bytes used so far that are on screen."""
    used = page.locator(".ww dl > div", has_text="bytes used so far").inner_text()
    return int(number(page, "sectors so far").replace(",", "")), int(
        re.search(r"([\d,]+) of", used)[1].replace(",", "")
    )


def counted(metrics: Metrics) -> tuple[int, int]:
    return metrics.global_load_sectors, metrics.global_load_bytes


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_every_control_is_moved_by_keyboard_and_numbers_equal_metrics(browser, dtype):
    with opened(browser, traversal.explorer(lanes="row")._repr_html_()) as page:
        page.get_by_label("element type").select_option(dtype)
        for lanes, rows, columns, padded, request in [
            ("row", 32, 32, False, 1),
            ("row", 32, 32, True, 5),
            ("column", 32, 32, True, 32),
            ("column", 30, 32, False, 7),
            ("column", 30, 27, False, 27),
            ("row", 5, 27, True, 5),
        ]:
            page.get_by_label("lanes stand").select_option(lanes)
            move(page, "rows", rows)
            move(page, "columns", columns)
            box = page.get_by_role("checkbox", name="rows padded")
            if box.is_checked() != padded:
                box.press("Space")
            move(page, "request", request)
            metrics = metrics_of(rows, columns, lanes, dtype, padded, request)
            before = (
                metrics_of(rows, columns, lanes, dtype, padded, request - 1).global_load_sectors
                if request > 1
                else 0
            )
            assert shown(page) == counted(metrics), (lanes, rows, columns, padded, request)
            assert (
                int(number(page, "sectors of this request")) == metrics.global_load_sectors - before
            )
            different = f"{metrics.global_load_sectors_distinct} different"
            assert different in page.locator(
                ".ww dl > div", has_text="sectors so far"
            ).inner_text().replace(",", "")
            share = metrics.global_load_bytes / (SECTOR_BYTES * metrics.global_load_sectors)
            assert number(page, "bytes used so far") == f"{floor(1000 * share + 0.5) / 10:g} %"


def test_sentence_says_what_the_picture_shows(browser):
    with opened(
        browser, traversal.explorer(20, 32, padded=True, lanes="row")._repr_html_()
    ) as page:
        page.get_by_role("button", name="Next").click()
        assert page.locator(".ww [aria-live=polite] .text").inner_text() == (
            "A matrix of 20 by 32 float32, rows padded by one element. Request 2 of 20: "
            "lanes 0 to 31 read row 1. It touches 5 sectors, where 4 would do. "
            "So far 9 sectors moved, 9 of them different, and 88.9 % of their bytes were used."
        )
        assert page.get_by_role("slider", name="request").input_value() == "2"


def test_request_is_brought_up_by_pressing_its_bar(browser):
    with opened(browser, traversal.explorer()._repr_html_()) as page:
        page.locator(".ww [data-set='step=20']").click()
        assert page.get_by_role("slider", name="request").input_value() == "20"
        assert shown(page) == counted(metrics_of(32, 32, "column", "float32", False, 20))


def test_fewer_requests_take_the_slider_along(browser):
    with opened(browser, traversal.explorer(lanes="row")._repr_html_()) as page:
        move(page, "request", 32)
        move(page, "rows", 6)
        slider = page.get_by_role("slider", name="request")
        assert (slider.get_attribute("max"), slider.input_value()) == ("6", "6")
        assert shown(page) == counted(metrics_of(6, 32, "row", "float32", False, 6))


def test_used_and_moved_have_the_places_they_have_in_memory(browser):
    """Four sectors of a row of 33 floats begin three elements before it and end in the next."""
    with opened(
        browser, traversal.explorer(20, 32, padded=True, lanes="row")._repr_html_()
    ) as page:
        move(page, "request", 2)
        grid = page.locator(".ww svg").evaluate("""svg => {
            const place = (e) => ['x', 'y', 'width'].map((k) => +e.getAttribute(k));
            const of = (name) => [...svg.querySelectorAll(name)].slice(0, -1).map(place);
            return { one: of('rect.one'), hatched: of('rect.hatched') };
        }""")
        cell = 18
        used = [[34 + 0, 20 + 14, 32 * cell]]
        assert grid["one"][:1] == used
        # The padding of row 0.
        assert min(left for left, top, _ in grid["hatched"] if top == 20) == 34 + 32 * cell
        assert (
            max(left + width for left, top, width in grid["hatched"] if top == 34) == 34 + 33 * cell
        )
        assert (
            max(left + width for left, top, width in grid["hatched"] if top == 48) == 34 + 6 * cell
        )


def test_arrays_of_a_trace_are_chosen_and_add_up_to_metrics(browser):
    src, dst = np.zeros((19, 45), np.float32), np.zeros((45, 19), np.float32)
    t = trace(transpose_at_once, (2, 3), (32, 8), src, dst, record=tuple(range(6)))
    with opened(browser, traversal.of_trace(t)._repr_html_()) as page:
        slider = page.get_by_role("slider", name="request")
        for array, sectors, used in [
            ("src", t.metrics.global_load_sectors, t.metrics.global_load_bytes),
            ("dst", t.metrics.global_store_sectors, t.metrics.global_store_bytes),
        ]:
            page.get_by_label("array").select_option(array)
            slider.press("End")
            assert shown(page) == (sectors, used)
            assert int(slider.input_value()) == t.metrics.global_load_requests
        assert "writes it with 13 lanes" in page.locator("p.text").inner_text()
        slider.press("Home")
        first = next(event for event in t.accesses() if event.array == "dst")
        lead = (
            f"on line {first.line} warp {first.warp} of block {first.block} writes it with 32 lanes"
        )
        said = f"dst has 45 by 19 float32. Request 1 of {t.metrics.global_store_requests}: {lead}."
        assert page.locator("p.text").inner_text().startswith(said)

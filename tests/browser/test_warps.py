"""The warps and clocks widgets in Chromium: controls, marks by keys, and tabs of an estimate."""

from __future__ import annotations

import json
import re

import pytest
from support.pages import number, opened, violations

from warpwise.stopwatch.estimate import Details, Estimate, Hint, Share
from warpwise.views import clocks, warps

FILMS = json.loads(warps.STORED.read_text("utf-8"))
FOUND = Estimate(
    "k", "T4", (8, 1, 1), 2e-3, 1.8e-3, 2.2e-3, "L1",
    pipes=(Share("L1", 0.9), Share("issue slots", 0.25)),
    lines=(Share("line 7", 0.64, "total += tile[(t * 32 + i) % 1024]"),),
    waits=(Share("LG throttle", 0.75), Share("wait", 0.25)),
    details=Details((Hint("conflict-free loads", 1e-3),)),
)  # fmt: skip


def issues(key: str) -> int:
    return sum(one < 0 for row in FILMS[key]["warps"] for one in row)


def test_more_warps_and_loads_use_more_slots(browser):
    with opened(browser, warps.explorer(1, 1)._repr_html_()) as page:
        shares = []
        for count, loads in ((1, 1), (32, 1), (32, 4)):
            page.get_by_label("warps on the SM").select_option(str(count))
            page.get_by_label("independent loads").select_option(str(loads))
            shares.append(float(number(page, "issue slots used").removesuffix(" %")))
            key = f"{count} {loads}"
            expected = 100 * issues(key) / 4 / FILMS[key]["clocks"]
            assert shares[-1] == pytest.approx(expected, abs=0.0501)
        assert shares[0] < 2 and shares[2] > 90


def test_keys_go_from_mark_to_mark_and_say_what_each_is(browser):
    with opened(browser, warps.explorer(4, 1)._repr_html_()) as page:
        picture, tip = page.locator(".picture"), page.locator(".tip")
        picture.press("Home")
        assert tip.inner_text().startswith("scheduler 0: issues in ")
        said = set()
        for _ in range(12):
            picture.press("ArrowRight")
            said.add(tip.inner_text())
        assert any(re.fullmatch(r"warp 0, clock \d+: issues FFMA, .*", one) for one in said)
        assert any(re.match(r"warp 0, clocks \d+ to \d+: wait, before FFMA", one) for one in said)


def test_fewer_clocks_can_be_moved_along(browser):
    with opened(browser, warps.explorer(8, 2)._repr_html_()) as page:
        page.get_by_role("slider", name="clocks in sight").press("Home")
        along = page.get_by_role("slider", name="from clock")
        along.press("End")
        last = FILMS["8 2"]["clocks"]
        assert (
            f"clocks {last - 40} to {last - 1}, four schedulers"
            in page.locator("p.text").inner_text()
        )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("view", [warps.explorer(32, 2), clocks.of_estimate(FOUND)], ids=["w", "c"])
def test_a_phone_has_room_for_it(browser, view, dark: bool):
    body = f'<main style="{"color:#eee;background:#111" * dark}">{view._repr_html_()}</main>'
    with opened(browser, body, viewport={"width": 390, "height": 800}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert violations(page, f"ww-{view.name}") == []


def test_bars_have_their_words_by_pointer(browser):
    with opened(browser, clocks.of_estimate(FOUND)._repr_html_()) as page:
        page.locator(".picture rect.over").nth(2).hover()
        assert page.locator(".tip").inner_text() == (
            "line 7, total += tile[(t * 32 + i) % 1024]: 64 %"
        )

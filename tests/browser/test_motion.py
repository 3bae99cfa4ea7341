"""Motion after a step, in Chromium: what moves glides from where it was, for a moment; whoever
drags, or asks for less motion, sees the new picture at once."""

from __future__ import annotations

import pytest
from support.pages import opened
from support.view_kernels import traced_gather

from warpwise.views import (
    banks,
    burst,
    flash_attention,
    fusion,
    memory,
    online_softmax,
    recomputation,
    tiles,
    traversal,
    waves,
)

#: By what moves: a view one step before it does, and the player's slider.
MOVING = {
    "a load travels down": lambda: memory.explorer(step=1),
    "words come to their lanes": lambda: banks.explorer(stride=32),
    "a request goes on": lambda: traversal.explorer(),
    "a request travels to its sectors": lambda: burst.of_trace(traced_gather(32)),
    "tiles are copied": lambda: tiles.explorer(step=1),
    "a wave fills": lambda: waves.explorer(size=2048, wave=1),
    "a tile of keys slides": lambda: flash_attention.explorer(key=1),
    "terms shrink": lambda: online_softmax.explorer(values=[0.5, 2.0, 3.0]),
    "values are taken along": lambda: fusion.explorer(step=1),
    "an access arrives": lambda: recomputation.explorer("eager", step=1),
}
RUNNING = """() => [...document.querySelectorAll('*')].flatMap(
    (host) => host.shadowRoot?.getAnimations().map((one) => one.effect.getTiming()) ?? [])"""
# Whatever is said to a screen reader from now on.
LISTEN = """(live) => { globalThis.said = [];
    const hear = () => live.ariaLive === 'polite' && said.push(live.textContent);
    new MutationObserver(hear).observe(
        live, { subtree: true, childList: true, characterData: true }); }"""


def stepped(page) -> list[dict]:
    """Go on, or else back, and return the motions that this begins."""
    on = page.get_by_role("button", name="Next").last
    (page.get_by_role("button", name="Back").last if on.is_disabled() else on).click()
    return page.evaluate(RUNNING)


@pytest.mark.parametrize("make", MOVING.values(), ids=MOVING)
def test_a_step_moves_what_it_changes_for_a_moment(browser, make):
    with opened(browser, make()._repr_html_()) as page:
        times = stepped(page)
        assert times and all(200 <= one["duration"] <= 300 for one in times)
        assert {one["easing"] for one in times} == {"ease-in-out"}
        page.wait_for_function(f"() => ({RUNNING})().length === 0")


@pytest.mark.parametrize("make", MOVING.values(), ids=MOVING)
def test_a_slider_and_a_reader_who_wants_less_motion_see_the_picture_at_once(browser, make):
    with opened(browser, make()._repr_html_(), reduced_motion="reduce") as page:
        assert stepped(page) == []
        page.emulate_media(reduced_motion="no-preference")
        slider = page.get_by_role("slider").last
        slider.press("End")
        before = page.locator(".picture").inner_html()
        slider.press("Home")
        assert page.locator(".picture").inner_html() != before
        assert page.evaluate(RUNNING) == []


def test_a_step_is_said_once_and_a_play_once_at_its_end(browser):
    with opened(browser, memory.explorer(found="L2", step=1)._repr_html_()) as page:
        page.locator(".ww > [aria-live]").first.evaluate(LISTEN)
        page.get_by_role("button", name="Next").click()
        page.wait_for_function(f"() => ({RUNNING})().length === 0")
        assert len(page.evaluate("said")) == 1
        page.get_by_role("button", name="Play").click()
        page.wait_for_function("() => said.length > 1")
        page.wait_for_timeout(100)
        (last,) = page.evaluate("said.slice(1)")
        assert last.startswith("A100 80 GB SXM, step 4 of 4")

"""The words of a mark in Chromium: by pointer, by finger and by keys. That each mark has words is
tested without a browser, in tests/views."""

from __future__ import annotations

import numpy as np
import pytest
from support.pages import box, opened, violations

from warpwise import model
from warpwise.devices import H100
from warpwise.views import banks, burst, dependence, memory, occupancy

INPUTS = {"a": np.array([["used", "missing", "used"], ["used", "unused", "used"]])}


@pytest.fixture(scope="module")
def page(browser):
    """A picture whose shapes say what they are, and one whose cells are drawn as one."""
    body = banks.explorer(stride=1)._repr_html_() + memory.explorer()._repr_html_()
    with opened(browser, body) as page:
        yield page


def tip(page, widget: str = "ww-banks"):
    return page.locator(f"{widget} .tip")


def picture(page, widget: str = "ww-banks"):
    return page.locator(f"{widget} .picture")


def test_a_pointer_on_a_mark_shows_its_words_beside_it_and_says_nothing(page):
    page.locator("ww-banks [data-is^='word 5:']").hover()
    assert tip(page).inner_text() == "word 5: bank 5, lane 5, served now"
    assert tip(page).get_attribute("aria-live") == "off"
    mark, words = box(page.locator("ww-banks [data-is^='word 5:']")), box(tip(page))
    assert words["y"] + words["height"] <= mark["y"]
    assert words["x"] >= 0 and words["x"] + words["width"] <= 800
    page.mouse.move(5, 5)
    assert not tip(page).is_visible()


def test_words_follow_the_mark_when_the_picture_is_drawn_anew(page):
    page.locator("ww-banks [data-is^='lane 1:']").hover()
    assert tip(page).inner_text() == "lane 1: word 1, bank 1, served now"
    slider = page.locator("ww-banks").get_by_role("slider", name="stride")
    slider.press("ArrowRight")
    assert tip(page).inner_text() == "lane 1: word 2, bank 2, served now"
    slider.press("ArrowLeft")


def test_arrow_keys_go_from_mark_to_mark_and_are_said(page):
    picture(page).focus()
    picture(page).press("Home")
    assert tip(page).inner_text() == "lane 0: word 0, bank 0, served now"
    assert tip(page).get_attribute("aria-live") == "polite"
    picture(page).press("ArrowRight")
    assert tip(page).inner_text().startswith("lane 1:")
    picture(page).press("ArrowDown")
    assert tip(page).inner_text().startswith("word 1:")
    picture(page).press("ArrowUp")
    assert tip(page).inner_text().startswith("lane 1:")
    picture(page).press("End")
    assert tip(page).inner_text() == "bank 31: 1 word to serve"
    assert page.locator("ww-banks .ring").is_visible()
    assert violations(page, "ww-banks") == []
    picture(page).press("Escape")
    assert not tip(page).is_visible()


def test_enter_presses_a_mark_and_keys_go_on_from_there(page):
    picture(page).focus()
    picture(page).press("Home")
    for _ in range(3):
        picture(page).press("ArrowRight")
    picture(page).press("Enter")
    assert page.locator("ww-banks").get_by_role("slider", name="lane").input_value() == "3"
    picture(page).press("ArrowRight")
    assert tip(page).inner_text().startswith("lane 4:")


def test_every_mark_is_reached_with_one_key(page):
    picture(page, "ww-memory").focus()
    picture(page, "ww-memory").press("Home")
    count = page.locator("ww-memory [data-is]").count()
    seen = [tip(page, "ww-memory").inner_text()]
    for _ in range(count - 1):
        picture(page, "ww-memory").press("ArrowRight")
        seen.append(tip(page, "ww-memory").inner_text())
    assert seen == page.locator("ww-memory [data-is]").evaluate_all(
        "all => all.map((one) => one.dataset.is)"
    )
    assert "DRAM: latency 572 clocks" in seen and "L2: bandwidth 5.45 TB/s" in seen


def test_cells_that_are_drawn_as_one_shape_have_words(browser):
    view = dependence.explorer("c[0, 0]", INPUTS)
    with opened(browser, view._repr_html_()) as page:
        at = box(page.locator(".picture svg"))
        page.mouse.move(at["x"] + 2 + 1.5 * 13, at["y"] + 20 + 0.5 * 13)
        assert page.locator(".tip").inner_text() == "a[0, 1]: missing"


def test_a_finger_shows_words_until_it_touches_elsewhere(browser):
    with opened(browser, burst.explorer(2)._repr_html_(), has_touch=True) as page:
        page.locator("[data-is^='lane 7:']").tap()
        assert page.locator(".tip").inner_text() == "lane 7: bytes 56 to 59, sector 1"
        assert page.get_by_role("slider", name="lane").input_value() == "7"
        page.locator("h1").tap()
        assert not page.locator(".tip").is_visible()


def test_a_curve_says_its_value_under_the_pointer_and_keys_pass_it(browser):
    with opened(browser, occupancy.explorer(H100, 320, 40)._repr_html_()) as page:
        at = box(page.locator(".picture svg"))
        # The place of 255 registers, at the end of the second curve.
        page.mouse.move(at["x"] + at["width"] - 12, at["y"] + 264 + 64 + 20)
        found = model.occupancy(H100, 320, 255)
        expected = f"registers 255: occupancy {100 * found.fraction:.3g} %"
        assert page.locator(".tip").inner_text() == expected
        page.locator(".picture").focus()
        page.locator(".picture").press("End")
        assert page.locator(".tip").inner_text().startswith("shared memory: occupancy")

"""The built chapter on coalescing in Chromium: its widgets offline, in print, without scripts.

Axe's findings on this page, as on every other, are in test_site.py."""

from __future__ import annotations

import re

import pytest
from support.pages import OPEN_MORE, Watch, box, load_metrics, move

PAGE = "chapters/08_coalescing.html"
# Widgets are drawn one after the other; on a busy machine after the page has loaded.
DRAWN = "[...document.querySelectorAll('ww-burst')].every(widget => widget.shadowRoot)"


@pytest.fixture
def chapter(site, browser):
    """Open the chapter; afterwards check that it used nothing outside and logged no error."""
    contexts, watches = [], []

    def open_chapter(**settings):
        contexts.append(browser.new_context(**settings))
        page = contexts[-1].new_page()
        watches.append(Watch().over(page))
        page.goto(f"{site.url}/{PAGE}", wait_until="networkidle")
        return page

    yield open_chapter
    for context in contexts:
        context.close()
    for watch in watches:
        watch.check(site.url)


def explorers(page) -> list:
    """Return the widgets with a stride."""
    found = page.locator("ww-burst").all()
    return [widget for widget in found if widget.get_by_role("slider", name="stride").count()]


def sectors(widget) -> str:
    return widget.locator(".ww dl b").first.inner_text()


def test_widgets_are_moved_by_keyboard_and_mouse_and_equal_metrics(chapter):
    page = chapter()
    page.wait_for_function(DRAWN)
    page.evaluate(OPEN_MORE)
    assert explorers(page)
    for widget in explorers(page):
        widget.get_by_label("memory").select_option("real")
        widget.get_by_label("element type").select_option("float32")
        for stride, offset in ((1, 0), (1, 1), (4, 0), (9, 3)):
            move(widget, "stride", stride)
            move(widget, "offset", offset)
            assert sectors(widget) == str(load_metrics(stride, offset).global_load_sectors)
        slider = widget.get_by_role("slider", name="stride")
        slider.scroll_into_view_if_needed()
        at = box(slider)
        page.mouse.move(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
        page.mouse.down()
        page.mouse.move(at["x"] + at["width"] / 8, at["y"] + at["height"] / 2, steps=4)
        page.mouse.up()
        stride = int(slider.input_value())
        assert stride < 9
        assert sectors(widget) == str(load_metrics(stride, 3).global_load_sectors)


def test_every_widget_has_drawn_its_picture_and_sentence(chapter):
    page = chapter()
    widgets = page.locator("ww-burst, ww-requests").all()
    assert widgets
    for widget in widgets:
        assert widget.locator(".ww svg").is_visible()
        assert re.search(r"touches \d+ (sector|burst)s? of", widget.locator("p.text").inner_text())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_widgets_follow_the_theme_on_its_own_ground(chapter, scheme):
    """The widget's text has the colour of the page's text, and no panel lies under it."""
    page = chapter(color_scheme=scheme)
    widget = page.locator("ww-burst").first
    page.wait_for_function(
        "document.querySelector('ww-burst').hasAttribute('data-dark') === "
        f"{str(scheme == 'dark').lower()}"
    )
    colours = widget.evaluate("""element =>
        [element.shadowRoot.querySelector('p'), document.querySelector('article p')]
        .map(e => getComputedStyle(e).color)""")
    assert colours[0] == colours[1]
    panels = """element => {
        const found = [];
        for (let e = element; e && !e.matches('article'); e = e.parentElement)
            found.push(getComputedStyle(e).backgroundColor);
        return found.filter(colour => colour !== 'rgba(0, 0, 0, 0)');
    }"""
    assert widget.evaluate(panels) == []


def test_switching_the_theme_takes_the_widgets_along(chapter):
    page = chapter(color_scheme="light")
    assert not page.locator("ww-burst[data-dark]").count()
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.wait_for_function(
        "document.querySelectorAll('ww-burst[data-dark]').length === "
        "document.querySelectorAll('ww-burst').length"
    )


def test_without_scripts_every_widget_is_a_picture_and_a_sentence(chapter):
    page = chapter(java_script_enabled=False)
    widgets = page.locator("ww-burst, ww-requests").all()
    assert widgets
    for widget in widgets:
        assert widget.locator("svg").is_visible()
        assert re.search(r"touches \d+ (sector|burst)s? of", widget.locator("p").last.inner_text())


def test_on_paper_controls_go_and_pictures_fit(chapter):
    page = chapter()
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 1000})
    for widget in page.locator("ww-burst, ww-requests").all():
        picture = widget.locator(".ww svg")
        assert picture.is_visible() and widget.locator("p.text").is_visible()
        assert box(picture)["width"] <= 700
    assert not page.locator(":is(ww-burst, ww-requests) .ww form:not(.source)").first.is_visible()
    assert page.locator(".ww-opening li").first.is_visible()
    assert not page.locator(".ww-opening summary, .ww-told summary").first.is_visible()


def test_phone_is_not_pushed_sideways(chapter):
    page = chapter(viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360

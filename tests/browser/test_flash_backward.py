"""The backward pass in tiles in Chromium: stepped, pressed, and with the other owner."""

from __future__ import annotations

from support.pages import number, opened

from warpwise.views import flash_backward


def stands(page) -> tuple[int, str]:
    """Return the tiles added to memory, and the sentence."""
    said = page.locator("[aria-live=polite]").inner_text()
    return int(number(page, "tiles added to memory")), said


def test_steps_presses_and_the_other_owner(browser):
    with opened(browser, flash_backward.explorer(4, "keys", 1)._repr_html_()) as page:
        page.get_by_role("button", name="Next").click()
        assert stands(page)[0] == 2
        page.locator(".picture [data-set='step=7']").click()
        added, said = stands(page)
        assert added == 7 and "queries 3, keys 2" in said
        page.get_by_label("a block for each").select_option("queries")
        added, said = stands(page)
        assert added == 14 and "queries 2, keys 3" in said
        page.get_by_role("slider", name="tile", exact=True).press("End")
        assert int(number(page, "tiles written once")) == 4

"""The dependence widget in Chromium, by keyboard and by pressing a cell."""

from __future__ import annotations

import numpy as np
from support.pages import box, opened

from warpwise.views import dependence


def inputs() -> dict[str, np.ndarray]:
    a, b = np.full((4, 6), "unused", "U7"), np.full((6, 4), "unused", "U7")
    a[0], b[:5, 0], b[5, 0], b[0, 1] = "used", "used", "missing", "extra"
    return {"a": a, "b": b}


def sentence(page) -> str:
    return page.locator("p.text").inner_text()


def test_keys_go_from_input_to_input_and_each_is_said(browser):
    with opened(browser, dependence.explorer("c[0, 0]", inputs())._repr_html_()) as page:
        assert sentence(page).startswith("c[0, 0] depends on b[0, 1], and should not.")
        slider = page.get_by_role("slider", name="input")
        slider.press("ArrowLeft")
        assert sentence(page).startswith("c[0, 0] depends on b[0, 0], as it should.")
        slider.press("Home")
        assert sentence(page).startswith("c[0, 0] depends on a[0, 0], as it should.")
        slider.press("End")
        assert sentence(page).startswith("c[0, 0] does not depend on b[5, 3], and need not.")
        assert page.locator("output").inner_text() == "b[5, 3]"


def test_a_press_takes_the_cell_under_the_pointer(browser):
    with opened(browser, dependence.explorer("c[0, 0]", inputs())._repr_html_()) as page:
        slider, ring = page.get_by_role("slider", name="input"), page.locator(".picture rect.edge")
        for cell in (0, 23, 44, 47):
            slider.fill(str(cell))
            place = box(ring)
            slider.press("Home")
            page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
            assert slider.input_value() == str(cell)

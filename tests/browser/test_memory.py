"""The memory widget in Chromium, by keyboard, buttons and playing, against ``devices``."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from support.pages import move, number, opened

from warpwise import devices
from warpwise.devices import A100, MEASURED, V100
from warpwise.views import memory


def choose(page, label: str, value: str) -> None:
    """Set a select input to a value with the arrow keys."""
    select = page.get_by_label(label, exact=True)
    keys = select.evaluate("node => [...node.options].map((option) => option.value)")
    while (now := select.input_value()) != value:
        select.press("ArrowDown" if keys.index(now) < keys.index(value) else "ArrowUp")


def check(page, device, level: str) -> None:
    _, clocks, rate = memory.figures(device)[level]
    assert number(page, "latency") == (f"{clocks[0]:.0f} clocks" if clocks else "not known")
    assert float(number(page, "bandwidth").removesuffix(" TB/s")) == pytest.approx(
        rate[0] / 1e12, rel=0.005
    )
    if not clocks:
        assert number(page, "bytes under way") == "not known"
        return
    busy, unit = number(page, "bytes under way").split()
    assert float(busy) * 1024 ** ["bytes", "KiB", "MiB"].index(unit) == pytest.approx(
        rate[0] * clocks[0] / device.clock_hz, rel=0.005
    )


@pytest.mark.parametrize("name", MEASURED)
def test_every_level_of_every_device(browser, name):
    with opened(browser, memory.explorer()._repr_html_()) as page:
        choose(page, "device", name)
        for level in memory.LEVELS:
            choose(page, "the value is in", level)
            check(page, devices.find(name), level)
            assert page.locator("p.text").inner_text().startswith(name)


def test_the_scale_changes_the_bars_and_no_number(browser):
    with opened(browser, memory.explorer(found="L1")._repr_html_()) as page:
        table, widths = (
            page.locator(".ww .wm"),
            "nodes => nodes.map((node) => +node.getAttribute('width'))",
        )
        before, text = page.locator(".picture rect").evaluate_all(widths), table.inner_text()
        choose(page, "scale of the bars", "linear")
        assert page.locator(".picture rect").evaluate_all(widths) != before
        assert table.inner_text() == text
        check(page, A100, "L1")


def test_a_load_goes_down_and_comes_back(browser):
    """Back, Next and the slider move a load.

    The lane down ends at the level that is asked, the lane up at the one that the value has
    reached."""
    with opened(browser, memory.explorer(V100)._repr_html_()) as page:
        picture, text = page.locator(".picture"), page.locator("p.text")
        seen = []
        for step in range(1, 7):
            assert f"step {step} of 6" in text.inner_text()
            seen.append(
                (picture.get_by_text(", miss").count(), picture.get_by_text(", found").count())
            )
            if step < 6:
                page.get_by_role("button", name="Next").press("Enter")
        assert seen == [(1, 0), (2, 0), (2, 1), (2, 1), (2, 1), (2, 1)]
        assert "436 clocks since the load was issued" in text.inner_text()
        assert page.get_by_role("button", name="Next").is_disabled()
        page.get_by_role("button", name="Back").press("Enter")
        assert "L1 keeps a copy" in text.inner_text()
        move(page, "step", 2)
        assert (
            "L2 is asked and does not have the value; from here it would take 215 clocks"
            in text.inner_text()
        )


def test_a_shorter_way_takes_the_step_along(browser):
    with opened(browser, memory.explorer(step=6)._repr_html_()) as page:
        choose(page, "the value is in", "L1")
        assert page.get_by_role("slider", name="step").input_value() == "2"
        assert (
            "step 2 of 2: the value is in a register: 36 clocks"
            in page.locator("p.text").inner_text()
        )


def test_it_plays(browser):
    with opened(browser, memory.explorer(found="L2")._repr_html_()) as page:
        page.get_by_role("button", name="Play").click()
        expect(page.get_by_role("slider", name="step")).to_have_value("4")
        expect(page.get_by_role("button", name="Play")).to_be_visible()
        assert "211 clocks since the load was issued" in page.locator("p.text").inner_text()


def test_sources_stand_there_without_a_script(browser):
    view = memory.explorer(V100, "L2", "linear", 3)
    with opened(browser, view._repr_html_(), java_script_enabled=False) as page:
        assert page.locator(".wm li").count() == len(view.data["devices"][V100.name]["sources"])

"""The hierarchy widget in Chromium: the thread it names is the one that a traced kernel names."""

from __future__ import annotations

import re
from math import prod

import numpy as np
import pytest
from support.pages import move, number, opened
from support.view_kernels import write_down

from warpwise import model, trace
from warpwise.devices import DEVICES
from warpwise.views import hierarchy

SHAPE = {
    "grid, x": "gx",
    "grid, y": "gy",
    "grid, z": "gz",
    "block, x": "bx",
    "block, y": "by",
    "block, z": "bz",
}


def numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


def check(page, grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
    """Compare the screen with what the thread at that place wrote."""
    out = np.full((*(g * b for g, b in zip(reversed(grid), reversed(block), strict=True)), 7), -1)
    trace(write_down, grid, block, out, record=())
    x, y, z = (*numbers(number(page, "global index")), 0, 0)[:3]
    thread, index = (
        (*numbers(page.locator(f"output[for={name}]").inner_text()), 0, 0)[:3]
        for name in ("thread", "block")
    )
    assert tuple(out[z, y, x]) == (*thread, *index, int(number(page, "lane")))
    count = int(number(page, "thread in block"))
    assert divmod(count, 32) == (int(number(page, "warp")), out[z, y, x, 6])
    assert (
        int(number(page, "linear index"))
        == int(number(page, "block in grid")) * prod(block) + count
    )
    in_use = min(32, prod(block) - count // 32 * 32)
    assert f"Warp {count // 32}: {in_use} lane" in page.locator(".picture").inner_text()


def test_every_slider_by_keyboard(browser):
    now = {"gx": 3, "gy": 2, "gz": 1, "bx": 8, "by": 5, "bz": 1}
    with opened(
        browser,
        hierarchy.explorer((3, 2), (8, 5), block_index=(2, 1), thread_index=(7, 4))._repr_html_(),
    ) as page:
        shape = lambda letter: tuple(now[letter + axis] for axis in "xyz")  # noqa: E731
        check(page, shape("g"), shape("b"))
        for label, value in [
            ("block, z", 3),
            ("block, x", 5),
            ("grid, z", 2),
            ("grid, x", 4),
            ("block, y", 3),
            ("grid, y", 1),
        ]:
            move(page, label, value)
            now[SHAPE[label]] = value
            check(page, shape("g"), shape("b"))
        for block, thread in [(0, 0), (7, 44), (3, 31), (5, 32)]:
            move(page, "this block", block)
            move(page, "this thread", thread)
            assert (int(number(page, "block in grid")), int(number(page, "thread in block"))) == (
                block,
                thread,
            )
            check(page, shape("g"), shape("b"))


def test_a_press_picks_a_block_a_thread_and_a_lane(browser):
    with opened(browser, hierarchy.explorer((12, 4), (16, 6))._repr_html_()) as page:
        page.locator(".picture [data-set='block=30']").click()
        page.locator(".picture [data-set='thread=70']").first.click()
        assert page.locator("output[for=block]").inner_text() == "(6, 2)"
        assert page.locator("output[for=thread]").inner_text() == "(6, 4)"
        check(page, (12, 4, 1), (16, 6, 1))
        # The warp's strip comes after the block.
        page.locator(".picture [data-set='thread=95']").last.click()
        assert (number(page, "warp"), number(page, "lane")) == ("2", "31")
        assert page.locator(".picture [data-set^=block]").count() == 48
        assert page.locator(".picture [data-set^=thread]").count() == 96 + 32


def test_the_shape_gives_way_to_the_limit_of_a_block(browser):
    with opened(browser, hierarchy.explorer(4, (16, 16))._repr_html_()) as page:
        page.get_by_role("slider", name="block, z").press("End")
        page.get_by_role("slider", name="block, x").press("End")
        shape = [int(page.locator(f"#b{axis}").input_value()) for axis in "xyz"]
        assert shape == [16, 16, 4]
        check(page, (4, 1, 1), tuple(shape))


@pytest.mark.parametrize("threads", [64, 800])
def test_every_device_s_sms(browser, threads):
    with opened(browser, hierarchy.explorer(300, threads, block_index=299)._repr_html_()) as page:
        for device in DEVICES:
            page.get_by_label("device").select_option(device.name)
            held = model.occupancy(device, threads).blocks
            wave = model.waves(300, device, held).count
            assert number(page, "SM") == str(299 % device.sms)
            assert f"holds {held} block" in page.locator("p.text").inner_text()
            assert (
                page.locator("p.text")
                .inner_text()
                .endswith(f"on SM {299 % device.sms} in wave {wave}.")
            )

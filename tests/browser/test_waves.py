"""The waves widget in Chromium, by keyboard, mouse and playing, against the model."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect
from support.pages import box, number, opened

from warpwise import cuda, model, trace
from warpwise.devices import A100, DEVICES, H100
from warpwise.views import waves


@cuda.jit
def fill(x):
    x[cuda.grid(1)] = 1


def shown(page, word: str = "tiles") -> tuple[int, int, float]:
    share = number(page, "share of").removesuffix(" %")
    return (
        int(number(page, word).replace(",", "")),
        int(number(page, "waves").replace(",", "")),
        float(share),
    )


def modelled(size: int, device, sides=(256, 128)) -> tuple[int, int, float]:
    cut = model.tiles(size, size, *sides)
    found = model.waves(cut.count, device)
    return cut.count, found.count, pytest.approx(100 * cut.useful * found.useful, abs=0.0501)


@pytest.mark.parametrize(("device", "size"), [(A100, 1792), (H100, 2048)], ids=str)
def test_one_key_falls_off_the_cliff(browser, device, size):
    with opened(browser, waves.explorer(device, size)._repr_html_()) as page:
        before = shown(page)
        page.get_by_role("slider", name="size of the result").press("ArrowRight")
        after = shown(page)
        assert (before, after) == (modelled(size, device), modelled(size + 1, device))
        assert after[1] == before[1] + 1 and after[2] < 0.51 * before[2]


def test_every_device_and_tile(browser):
    with opened(browser, waves.explorer(A100, 3000)._repr_html_()) as page:
        for device in DEVICES:
            page.get_by_label("device").select_option(device.name)
            for tile in waves.TILES:
                page.get_by_label("tile", exact=True).select_option(tile)
                assert shown(page) == modelled(3000, device, tuple(map(int, tile.split("x"))))
                assert page.locator(".picture text.inside").count() == device.sms


def test_it_plays_wave_by_wave_and_each_tile_is_placed_once(browser):
    placed = []
    with opened(browser, waves.explorer(A100, 3072)._repr_html_()) as page:
        slider, play = (
            page.get_by_role("slider", name="wave"),
            page.get_by_role("button", name="Play"),
        )
        for wave in (1, 2, 3):
            assert slider.input_value() == str(wave)
            placed += [
                int(cell) for cell in page.locator(".picture text.inside").all_text_contents()
            ]
            if wave < 3:
                page.get_by_role("button", name="Next").click()
        assert placed == list(range(288))
        play.click()
        expect(slider).to_have_value("3")
        expect(play).to_be_visible()


def test_the_curve_is_dragged(browser):
    with opened(browser, waves.explorer()._repr_html_()) as page:
        slider, at = (
            page.get_by_role("slider", name="size of the result"),
            box(page.locator(".picture svg")),
        )
        left, right = at["x"] + 44, at["x"] + at["width"] - 20
        page.mouse.move(left + (right - left) / 4, at["y"] + 80)
        page.mouse.down()
        assert abs(int(slider.input_value()) - 1024) <= 4
        page.mouse.move(left + (right - left) / 2, at["y"] + 60)
        page.mouse.up()
        size = int(slider.input_value())
        assert abs(size - 2048) <= 4 and shown(page) == modelled(size, A100)
        page.mouse.click(left + 20, at["y"] + 250)  # below the curve: nothing
        assert int(slider.input_value()) == size


def test_a_launch_s_blocks(browser):
    t = trace(fill, 900, 256, np.zeros(900 * 256, np.float32), record=())
    with opened(browser, waves.of_trace(t, A100)._repr_html_()) as page:
        slider = page.get_by_role("slider", name="blocks")
        for blocks, key in ((900, "ArrowRight"), (901, "Home"), (1, "End"), (3600, "End")):
            for device in (A100, H100):
                page.get_by_label("device").select_option(device.name)
                found = model.waves(blocks, device, model.occupancy(device, 256).blocks)
                assert shown(page, "blocks") == (
                    blocks,
                    found.count,
                    pytest.approx(100 * found.useful, abs=0.0501),
                )
            slider.press(key)

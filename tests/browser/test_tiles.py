"""The tiles widget in Chromium, by keyboard and by playing, against traced kernels."""

from __future__ import annotations

from playwright.sync_api import expect
from support.matmuls import product
from support.pages import move, number, opened

from warpwise.views import tiles


def read(page, kernel: str) -> int:
    return int(number(page, f"elements read, {kernel}").replace(",", ""))


def sectors(page) -> int:
    return int(number(page, "sectors of this tile"))


def test_keyboard_sets_every_control_and_the_last_step_is_the_traced_launch(browser):
    with opened(browser, tiles.explorer(16, 8)._repr_html_()) as page:
        step = page.get_by_role("slider", name="step")
        for tile, n, wider in [
            (8, 20, False),
            (8, 21, True),
            (4, 10, True),
            (16, 33, False),
            (32, 64, True),
        ]:
            page.get_by_label("tile", exact=True).select_option(str(tile))
            page.get_by_label("one column more").set_checked(wider)
            move(page, "size n", n)
            step.press("End")
            assert int(step.input_value()) == (-(-n // tile)) ** 3
            traced = product(n, tile, wider)
            assert read(page, "tiled") * tiles.ITEM_BYTES == traced.launch.global_load_bytes
            assert (
                read(page, "naive") * tiles.ITEM_BYTES
                == product(n, tile, False, naive=True).launch.global_load_bytes
            )


def test_steps_add_up_to_the_sectors_of_the_traced_line(browser):
    with opened(browser, tiles.explorer(24, 8, wider=True)._repr_html_()) as page:
        taken = [sectors(page)]
        while page.get_by_role("button", name="Next").is_enabled():
            page.get_by_role("button", name="Next").click()
            taken.append(sectors(page))
        assert len(taken) == 27 and sum(taken) == product(24, 8, True).of_a.global_load_sectors


def test_it_plays_to_the_end(browser):
    with opened(browser, tiles.explorer(16, 8, step=6)._repr_html_()) as page:
        page.get_by_role("button", name="Play").click()
        expect(page.get_by_role("slider", name="step")).to_have_value("8")
        assert page.get_by_role("button", name="Play").is_visible()
        assert (
            read(page, "tiled") * tiles.ITEM_BYTES == product(16, 8, False).launch.global_load_bytes
        )


def test_a_smaller_matrix_takes_the_step_with_it(browser):
    with opened(browser, tiles.explorer(32, 8, step=64)._repr_html_()) as page:
        move(page, "size n", 9)
        assert page.locator("p.text").inner_text().startswith("Step 8 of 8:")

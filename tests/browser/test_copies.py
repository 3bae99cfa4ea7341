"""The swizzle, pipeline and warp roles widgets in Chromium, by keyboard and mouse."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from support.pages import box, move, number, opened
from support.watched import watched

from warpwise.model.pipeline import pipeline as modelled
from warpwise.model.swizzle import PITCHES, SWIZZLES, Tile
from warpwise.views import pipeline, swizzle, warp_roles

NARROW = {"width": 390, "height": 800}


def middle(page, mark: str) -> tuple[float, float]:
    at = box(page.locator(f'.picture [data-is^="{mark}"]').first)
    return at["x"] + at["width"] / 2, at["y"] + at["height"] / 2


def test_every_swizzle_of_every_row_takes_the_models_wavefronts(browser):
    with opened(browser, swizzle.explorer()._repr_html_()) as page:
        for mode in SWIZZLES:
            page.get_by_label("swizzle").select_option(str(mode))
            for row in PITCHES:
                page.get_by_label("a row of the tile").select_option(str(row))
                tile = Tile(row, mode)
                phases = tile.phases("down")
                assert int(number(page, "all phases")) == sum(map(tile.wavefronts, phases))
                slider = page.get_by_role("slider", name="phase")
                assert int(slider.get_attribute("max")) == len(phases)


def test_a_press_on_a_chunk_takes_its_phase_and_keys_go_on(browser):
    with opened(browser, swizzle.explorer()._repr_html_()) as page:
        page.mouse.click(*middle(page, "row 9, chunk 3"))
        slider = page.get_by_role("slider", name="phase")
        assert slider.input_value() == "8"  # chunks 0 to 3, each of rows 0 to 7 and 8 to 15
        slider.press("ArrowRight")
        assert "Phase 9 of 16 reads chunk 4 of rows 0 to 7" in page.locator("p.text").inner_text()
        page.mouse.move(*middle(page, "row 9, chunk 3"))
        expect(page.locator(".tip")).to_have_text("row 9, chunk 3: line 9, banks 8 to 11, phase 8")


def test_sliders_move_the_pipeline_as_the_model_does(browser):
    with opened(browser, pipeline.explorer()._repr_html_()) as page:
        for stages, copy, product in ((1, 8, 4), (3, 8, 4), (4, 8, 5), (4, 3, 5)):
            for name, value in (("stages", stages), ("a copy takes", copy), ("a product", product)):
                move(page, name, value)
            found = modelled(8, stages, copy, product, 2)
            assert int(number(page, "total")) == found.total
            assert number(page, "tensor cores work") == f"{100 * float(found.busy):.1f} %".replace(
                ".0", ""
            )


@pytest.mark.threads
@pytest.mark.parametrize(
    "viewport", [{"width": 800, "height": 900}, NARROW], ids=("wide", "narrow")
)
def test_steps_say_their_source_line_by_pointer_and_by_keys(browser, viewport):
    view = warp_roles.of_timeline(watched(4), 20)
    with opened(browser, view._repr_html_(), viewport=viewport) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
        page.mouse.move(*middle(page, "warp 4: wait for phase 0 of empty[0]"))
        tip = page.locator(".tip")
        expect(tip).to_contain_text("ticks 19 to 40, line ")
        expect(tip).to_contain_text("while not hopper.mbarr")
        page.mouse.move(2, 2)
        page.locator(".picture").focus()
        page.keyboard.press("End")
        expect(tip).to_contain_text("full[2]: phase 0 is ")
        page.keyboard.press("Home")
        expect(tip).to_contain_text("warp 4: ")


@pytest.mark.threads
def test_a_press_on_a_step_goes_to_its_tick_and_its_source_stands_below(browser):
    with opened(browser, warp_roles.of_timeline(watched(4))._repr_html_()) as page:
        page.mouse.click(*middle(page, "warps 1 to 3: product into sums"))
        assert page.get_by_role("slider", name="tick").input_value() == "23"
        lines = page.locator(".picture text.code").all_text_contents()
        assert [line.split(":")[0].rpartition(",")[0] for line in lines] == [
            "warp 4",
            "warp 0",
            "warps 1 to 3",
        ]
        assert lines[2].endswith(
            "hopper.wgmma_mma_async(sums, left + 2 * part, right + 2 * part, adds)"
        )

"""The mystery widget in Chromium, by keyboard and mouse, against the model."""

from __future__ import annotations

import random

import pytest
from support.pages import box, number, opened

from warpwise.devices import A100, H100
from warpwise.model import matmul
from warpwise.views import mystery

POINTS = "path.mystery-dot, path.mystery-odd"


def speed(page, nth: int = 0) -> float:
    return float(page.locator(".ww dl b").nth(nth).inner_text())


def modelled(n: int, device=A100, causes=matmul.CAUSES) -> float:
    return pytest.approx(matmul.product(n, device, causes).flops_per_s / 1e12, rel=6e-3)


def test_one_key_falls_off_the_cliff_and_one_more_climbs_a_line(browser):
    with opened(browser, mystery.explorer()._repr_html_()) as page:
        slider = page.get_by_role("slider", name="size n")
        for n in (1792, 1793, 1794, 1795, 1796):
            assert number(page, f"{n:,}") and (speed(page), speed(page, 1)) == (
                modelled(n),
                modelled(n + 1),
            )
            slider.press("ArrowRight")
        slider.press("Home")
        assert speed(page) == modelled(mystery.LEAST)
        slider.press("End")
        assert speed(page) == modelled(mystery.MOST)


def test_each_box_takes_its_cause_away_and_each_device_has_its_own_rates(browser):
    drawn = random.Random(4)
    with opened(browser, mystery.explorer(n=1793)._repr_html_()) as page:
        for device in matmul.KNOWN:
            page.get_by_label("device").select_option(device.name)
            for _ in range(4):
                option = page.get_by_label(drawn.choice(list(mystery.LABELS.values())))
                option.press("Space")
                causes = tuple(
                    c
                    for c, label in mystery.LABELS.items()
                    if page.get_by_label(label).is_checked()
                )
                assert (speed(page), speed(page, 1)) == (
                    modelled(1793, device, causes),
                    modelled(1794, device, causes),
                )


def test_each_line_has_all_its_points_and_without_causes_all_lie_on_the_peak(browser):
    with opened(browser, mystery.explorer(H100)._repr_html_()) as page:
        starts = """(all) => all.map((path) =>
            path.getAttribute('d').match(/M[-\\d.]+ [-\\d.]+(?=[hm])/g)
            .map((start) => start.slice(1).split(' ').map(Number)))"""
        lines = page.locator(f".picture :is({POINTS})").evaluate_all(starts)
        # Every sixteenth size of two lines, and two points of the legend.
        assert sum(len(line) for line in lines) == 189 + 188 + 2
        for label in mystery.LABELS.values():
            page.get_by_label(label).uncheck()
        lines = page.locator(f".picture :is({POINTS})").evaluate_all(starts)
        heights = {y for line in lines if len(line) > 1 for _, y in line}
        assert heights == {44.0} and speed(page) == pytest.approx(H100.tensor16_tflops, rel=6e-3)


def test_pressing_and_dragging_take_the_nearest_point(browser):
    with opened(browser, mystery.explorer()._repr_html_()) as page:
        at = box(page.locator(".picture svg"))
        slider = page.get_by_role("slider", name="size n")
        for n in (1793, 2561, 1024, 2050, 100):
            ring = page.evaluate(
                """(n) => {
                    const root = document.querySelector('ww-mystery').shadowRoot;
                    const form = root.querySelector('form');
                    form.elements.n.value = n;
                    form.oninput();
                    const ring = root.querySelector('circle');
                    return [+ring.getAttribute('cx'), +ring.getAttribute('cy')];
                }""",
                n,
            )
            slider.press("Home")
            page.mouse.move(at["x"] + ring[0], at["y"] + ring[1])
            page.mouse.down()
            page.mouse.up()
            on_a_line = n % 16 in (0, 1)
            assert (int(slider.input_value()) == n) == on_a_line
            assert abs(int(slider.input_value()) - n) <= 16
            assert speed(page) == modelled(int(slider.input_value()))


def test_points_of_odd_sizes_stand_there_without_a_script(browser):
    with opened(browser, mystery.explorer(n=2561)._repr_html_(), java_script_enabled=False) as page:
        assert page.locator("svg path.mystery-odd").first.is_visible()

"""The fusion widget in Chromium, by keyboard and by playing, against traced kernels."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect
from support import elementwise
from support.pages import move, number, opened

from warpwise.views import fusion


def said(page) -> list[int]:
    """Return the bytes in the live sentence: unfused so far and in all, then fused."""
    pairs = re.findall(r"moved ([\d,]+) of ([\d,]+)", page.locator("p.text").inner_text())
    return [int(word.replace(",", "")) for pair in pairs for word in pair]


def rounded(count: int) -> str:
    """Round a count as a row shows it."""
    for unit, size in (("GB", 10**9), ("MB", 10**6)):
        if count >= size:
            return f"{float(f'{count / size:.3g}'):g}\N{NO-BREAK SPACE}{unit}"
    return f"{count:,}"


def belts(page) -> list[int]:
    """Count the values read and written in the picture, both ways together, and those to come."""
    return [
        page.locator(f".picture path.{look}").count()
        for look in ("stroke-one", "stroke-two", "rule")
    ]


def test_every_kernel_of_every_program_is_the_traced_one(browser):
    with opened(browser, fusion.explorer(n=1024, step=0)._repr_html_()) as page:
        for operations, dtype, length in [
            ("trig", "float64", 1),
            ("silu", "float32", 1),
            ("axpy", "float16", 1),
            ("chain", "float32", 5),
        ]:
            page.get_by_label("operations").select_option(operations)
            page.get_by_label("element", exact=True).select_option(dtype)
            if operations == "chain":
                move(page, "length of the chain", length)
            else:
                assert page.get_by_role("slider", name="length of the chain").is_disabled()
            apart, fused = elementwise.launches(operations, 1024, dtype, length)
            page.get_by_role("slider", name="kernels run").press("Home")
            assert said(page)[::2] == [0, 0] and belts(page)[:2] == [0, 0]
            size = 1024 * np.dtype(dtype).itemsize
            for step in range(1, len(apart) + 1):
                page.get_by_role("button", name="Next").press("Enter")
                ran = [*apart[:step], fused]
                assert said(page) == [
                    *(elementwise.moved(part) for part in (apart[:step], apart)),
                    *[elementwise.moved([fused])] * 2,
                ]
                loaded, stored = (
                    sum(getattr(t.metrics, f"global_{way}_bytes") for t in ran)
                    for way in ("load", "store")
                )
                assert belts(page)[:2] == [loaded / size, stored / size]
            assert page.get_by_role("button", name="Next").is_disabled() and belts(page)[2] == 0
            check_rows(page, apart, fused)


def check_rows(page, apart, fused) -> None:
    """Compare the big numbers after the last kernel with the traces."""
    both = elementwise.moved(apart), elementwise.moved([fused])
    assert [number(page, f"bytes moved, {way}") for way in ("unfused", "fused")] == [
        rounded(count) for count in both
    ]
    assert float(number(page, "unfused to fused")) == round(both[0] / both[1], 2)
    assert float(number(page, "FLOP per byte")) == pytest.approx(
        elementwise.flops([fused]) / both[1], abs=6e-5
    )


def test_elements_scale_the_bytes(browser):
    with opened(browser, fusion.explorer("chain", 3, n=5000, step=2)._repr_html_()) as page:
        slider = page.get_by_role("slider", name="elements n")
        assert (slider.get_attribute("aria-valuetext"), said(page)) == (
            "5,000",
            [80_000, 120_000, 40_000, 40_000],
        )
        for place in (10, 17, 26):
            move(page, "elements n", place)
            assert said(page)[1:] == [6 * 4 * 2**place, 2 * 4 * 2**place, 2 * 4 * 2**place]
            assert number(page, "bytes moved, unfused") == rounded(4 * 4 * 2**place)


def test_bars_are_as_long_as_the_bytes(browser):
    with opened(browser, fusion.explorer("trig", step=3)._repr_html_()) as page:
        length = "nodes => nodes.map(node => +node.getAttribute('width'))"
        # The third is the legend's.
        unfused, fused, _ = page.locator(".picture rect.three").evaluate_all(length)
        assert abs(unfused / fused - 6 / 2) < 0.01


def test_a_shorter_chain_takes_the_step_with_it(browser):
    with opened(browser, fusion.explorer("chain", 8)._repr_html_()) as page:
        move(page, "length of the chain", 2)
        assert page.locator("p.text").inner_text().startswith("2 of 2 unfused kernels have run")


def test_it_plays_through_traced_launches(browser):
    apart, fused = elementwise.launches("silu", 1000)
    with opened(browser, fusion.of_traces(apart, fused)._repr_html_()) as page:
        page.get_by_role("button", name="Back").press("Enter")
        page.get_by_role("button", name="Back").press("Enter")
        assert said(page) == [0, elementwise.moved(apart), 0, elementwise.moved([fused])]
        page.get_by_role("button", name="Play").click()
        expect(page.get_by_role("slider", name="kernels run")).to_have_value("2")
        check_rows(page, apart, fused)
        words = page.locator(".picture").inner_text()
        assert "sigmoid" in words and f"{apart[1].metrics.global_load_bytes:,} B" in words


def test_the_sentence_is_the_same_with_and_without_a_script(browser):
    view = fusion.explorer("axpy", n=3000, step=1)
    with opened(browser, view._repr_html_()) as page:
        assert page.locator("p.text").inner_text() == str(view)
    with opened(browser, view._repr_html_(), java_script_enabled=False) as page:
        assert page.get_by_text(str(view)).is_visible()

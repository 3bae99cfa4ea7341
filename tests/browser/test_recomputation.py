"""The recomputation widget in Chromium, against the accesses of traced kernels."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from support import sigmoids
from support.pages import move, number, opened

from warpwise.views import recomputation

VARIANTS = list(recomputation.VARIANTS)


def choose(page, variant: str) -> None:
    """Choose a variant by keyboard."""
    select = page.get_by_label("kernels")
    while (now := select.input_value()) != variant:
        select.press("ArrowDown" if VARIANTS.index(now) < VARIANTS.index(variant) else "ArrowUp")


def arrows(page) -> tuple[int, int, int]:
    """Count the reads and writes done in the picture, and the accesses to come."""
    return tuple(
        page.locator(f".picture path.{look}").count()
        for look in ("stroke-one", "stroke-two", "rule")
    )


def check(page, variant: str) -> None:
    """Check the numbers after the last access."""
    counts = sigmoids.launch(variant)[1]
    assert int(number(page, "accesses per element")) == counts.accesses
    assert int(number(page, "bytes per element")) == counts.bytes
    assert int(number(page, "operations per element")) == counts.flops + counts.special
    assert float(number(page, "operations per byte")) == pytest.approx(
        (counts.flops + counts.special) / counts.bytes, abs=6e-4
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_step_is_the_next_access_and_the_end_is_the_traced_count(browser, variant: str):
    with opened(
        browser,
        recomputation.explorer("eager" if variant != "eager" else "all", step=0)._repr_html_(),
    ) as page:
        choose(page, variant)
        expected = [
            (kernel, access) for kernel in recomputation.plan(variant) for access in kernel.accesses
        ]
        page.get_by_role("slider", name="accesses done").press("Home")
        assert arrows(page) == (0, 0, len(expected))
        reads = 0
        for step, (kernel, access) in enumerate(expected, 1):
            page.get_by_role("button", name="Next").press("Enter")
            reads += access.kind == "read"
            assert arrows(page) == (reads, step - reads, len(expected) - step)
            side = (
                "backward"
                if any(one in recomputation.BACKWARD for one in kernel.operations)
                else "forward"
            )
            done = (
                f"Access {step} of {len(expected)}: the {side} pass {access.kind}s {access.value}."
            )
            assert done in page.locator("p.text").inner_text()
        assert page.get_by_role("button", name="Next").is_disabled()
        check(page, variant)


def test_bars_show_all_variants_and_a_press_chooses_one(browser):
    with opened(browser, recomputation.explorer("eager")._repr_html_()) as page:
        for variant in VARIANTS[::-1]:
            page.locator(f".picture [data-set='variant={variant}']").click()
            page.get_by_role("slider", name="accesses done").press("End")
            assert page.get_by_label("kernels").input_value() == variant
            check(page, variant)
        shown = page.locator(".picture").inner_text().split()
        counts = [sigmoids.launch(variant)[1] for variant in VARIANTS]
        drawn = page.locator(
            ".picture rect.faint[height='15'], .picture rect.one[height='15'], "
            ".picture rect.two[height='15']"
        ).count()
        assert drawn == sum(one.accesses for one in counts)
        assert all(
            f"{number:.0f}" in shown
            for one in counts
            for number in (one.accesses, one.flops + one.special)
        )


def test_the_type_scales_the_bytes_and_the_step_keeps_within_a_variant(browser):
    with opened(browser, recomputation.explorer("eager", step=12)._repr_html_()) as page:
        for name, item in recomputation.ITEMSIZES.items():
            page.get_by_label("element", exact=True).select_option(name)
            assert int(number(page, "bytes per element")) == 12 * item
        choose(page, "all")
        assert page.get_by_role("slider", name="accesses done").input_value() == "5"
        move(page, "accesses done", 3)
        assert (arrows(page), int(number(page, "bytes per element"))) == ((2, 1, 2), 24)


def test_recomputed_is_hatched_once_for_each_sigmoid(browser):
    with opened(browser, recomputation.explorer("all")._repr_html_()) as page:
        for variant, again in {"all": 3, "out": 1, "stored": 0, "eager": 0}.items():
            choose(page, variant)
            assert page.locator(".picture rect.hatched[width='7']").count() == again
            assert page.locator(".picture text", has_text="recomputed").count() == bool(again)
            assert sigmoids.launch(variant)[1].special == 3 + again


def test_it_plays_to_the_end(browser):
    with opened(browser, recomputation.explorer("all", step=3)._repr_html_()) as page:
        page.get_by_role("button", name="Play").click()
        expect(page.get_by_role("slider", name="accesses done")).to_have_value("5")
        check(page, "all")


def test_the_sentence_is_the_same_with_and_without_a_script(browser):
    view = recomputation.explorer("stored", "float16", step=6)
    with opened(browser, view._repr_html_()) as page:
        assert page.locator("p.text").inner_text() == str(view)
    with opened(browser, view._repr_html_(), java_script_enabled=False) as page:
        assert page.get_by_text(str(view)).is_visible()

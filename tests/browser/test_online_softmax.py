"""The online softmax widget in Chromium, against NumPy over all values seen so far."""

from __future__ import annotations

import numpy as np
import pytest
from support.pages import move, number, opened

from warpwise.views import online_softmax

ROWS = online_softmax.inputs()
NAMES = list(ROWS)


def said(page, term: str) -> float:
    return float(number(page, term).replace("\N{MINUS SIGN}", "-").replace("∞", "inf"))


def choose(page, name: str) -> None:
    """Choose a row of values by keyboard."""
    select = page.get_by_role("combobox", name="values")
    while (now := select.input_value()) != name:
        select.press("ArrowDown" if NAMES.index(now) < NAMES.index(name) else "ArrowUp")


def check(page, seen: list[float]) -> None:
    """Compare the numbers on screen with sums over all values seen, not with the step before."""
    x = np.array(seen)
    with np.errstate(over="ignore"):
        plain = np.cumsum(np.exp(x).astype(np.float32), dtype=np.float32)[-1]
    assert said(page, "running maximum m") == x.max()
    assert said(page, "corrected sum d") == pytest.approx(np.exp(x - x.max()).sum(), rel=1e-3)
    assert said(page, "plain float32 sum") == pytest.approx(plain, rel=1e-3)
    correction = np.exp(x[:-1].max() - x.max()) if len(x) > 1 else 0
    assert said(page, "correction") == pytest.approx(correction, rel=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_each_step_of_each_row(browser, name: str):
    with opened(browser, online_softmax.explorer(step=0)._repr_html_()) as page:
        choose(page, name)
        forward = page.get_by_role("button", name="Next")
        for count in range(1, len(ROWS[name][0]) + 1):
            forward.press("Enter")
            check(page, ROWS[name][0][:count])
        assert forward.is_disabled()
        assert "One read of each value has given both" in page.locator("p.text").inner_text()


def test_the_seed_changes_the_random_row_and_no_other(browser):
    with opened(browser, online_softmax.explorer(step=12)._repr_html_()) as page:
        for seed in (1, 7, 19):
            move(page, "random seed", seed)
            check(page, ROWS["random"][seed])
        choose(page, "falling")
        assert page.get_by_role("slider", name="random seed").is_disabled()
        check(page, ROWS["falling"][0])


def test_steps_back_and_presses_on_values(browser):
    row = ROWS["spike"][0]
    with opened(browser, online_softmax.explorer(start="spike", step=9)._repr_html_()) as page:
        page.get_by_role("button", name="Back").press("Enter")
        check(page, row[:8])
        page.locator(".picture [data-set='step=3']").click()
        check(page, row[:3])
        move(page, "seen", 5)
        check(page, row[:5])


def test_hatched_bars_show_what_the_correction_took(browser):
    """At the spike all earlier bars shrink by one factor; without a correction none is hatched."""
    with opened(browser, online_softmax.explorer(start="spike", step=8)._repr_html_()) as page:
        tall = "nodes => nodes.map(node => +node.getAttribute('height'))"
        bars, gone = (
            page.locator(".picture rect.one[width='30']"),
            page.locator(".picture rect.hatched[width='30']"),
        )
        now, lost = bars.evaluate_all(tall), gone.evaluate_all(tall)
        assert len(now) == 8 and len(lost) == 7
        x = np.array(ROWS["spike"][0][:8])
        assert np.allclose(np.array(now) / now[-1], np.exp(x - x[-1]), atol=0.002)
        assert np.allclose(
            np.array(lost) / now[-1],
            np.exp(x[:7] - x[:7].max()) - np.exp(x[:7] - x[-1]),
            atol=0.002,
        )
        move(page, "seen", 9)
        assert gone.count() == 0

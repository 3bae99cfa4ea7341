"""``trace(...).show()`` in Chromium: tabs by mouse and keyboard, without scripts, on paper."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from support.pages import number, opened, violations

from warpwise import cuda, trace

TITLES = ["By line", "One warp", "Shared memory", "Report"]


@cuda.jit
def transpose(src, dst):
    tile = cuda.shared.array((32, 32), np.float32)
    x, y = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = src[y, x]
    cuda.syncthreads()
    dst[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


@cuda.jit
def double(x):
    i = cuda.grid(1)
    x[i] *= 2


def traced(**settings):
    return trace(
        transpose,
        1,
        (32, 32),
        np.zeros((32, 32), np.float32),
        np.zeros((32, 32), np.float32),
        **settings,
    )


TRACE = traced()
SHOWN = TRACE.show()._repr_html_()


def panels(page) -> list[bool]:
    """Return which panels are visible."""
    return [panel.is_visible() for panel in page.locator("ww-tabs > .panel").all()]


def test_first_tab_is_open_and_others_open_by_mouse(browser):
    with opened(browser, SHOWN) as page:
        assert [tab.inner_text() for tab in page.get_by_role("tab").all()] == TITLES
        for i, title in enumerate(TITLES):
            if i:
                page.get_by_role("tab", name=title).click()
            assert panels(page) == [k == i for k in range(4)]
            assert page.get_by_role("tabpanel", name=title).is_visible()
            assert not page.locator("ww-tabs h3:visible").count()


def test_arrow_keys_home_and_end_go_from_tab_to_tab_and_stay_inside(browser):
    with opened(browser, SHOWN) as page:
        page.evaluate(
            "window.keys = []; "
            "document.addEventListener('keydown', (event) => keys.push(event.key))"
        )
        page.get_by_role("tab", name="By line").focus()
        for key, title in [
            ("ArrowRight", 1),
            ("ArrowRight", 2),
            ("End", 3),
            ("ArrowRight", 0),
            ("ArrowLeft", 3),
            ("Home", 0),
        ]:
            page.keyboard.press(key)
            tab = page.get_by_role("tab", name=TITLES[title])
            assert page.evaluate("document.activeElement.textContent") == TITLES[title]
            assert (tab.get_attribute("aria-selected"), tab.get_attribute("tabindex")) == (
                "true",
                "0",
            )
            assert page.locator("[role=tab][tabindex='0']").count() == 1
            assert panels(page) == [k == title for k in range(4)]
        page.keyboard.press("Escape")
        assert page.evaluate("keys") == ["Escape"]
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('role')") == "tabpanel"


def test_tabs_show_what_the_trace_counted(browser):
    metrics = TRACE.metrics
    store = next(number for number, text in TRACE.source.items() if "dst[y, x]" in text)
    with opened(browser, SHOWN) as page:
        row = page.locator("ww-requests .ww tbody tr", has_text="dst[y, x]").inner_text()
        cells = [cell.strip() for cell in row.split("\t")][:5]
        assert cells == [
            f"{store}",
            "32",
            "",
            f"{metrics.sectors_per_request_store:g}",
            f"{metrics.shared_load_bank_conflicts}",
        ]
        assert number(page.locator("ww-requests"), "sectors per request") == "4"
        page.get_by_role("tab", name="Shared memory").click()
        assert (
            page.locator("ww-banks p.text")
            .inner_text()
            .startswith(f"Line {store}, its worst request: warp 0 of block")
        )
        assert "32 wavefronts" in page.locator("ww-banks p.text").inner_text()
        page.get_by_role("tab", name="Report").click()
        assert (
            f"{metrics.shared_bank_conflicts:,} bank conflicts"
            in page.get_by_role("tabpanel").inner_text()
        )


def test_widget_in_a_hidden_tab_takes_the_room_when_it_is_opened(browser):
    with opened(browser, SHOWN) as page:
        page.get_by_role("tab", name="One warp").click()
        page.wait_for_function(
            "document.querySelector('ww-divergence').shadowRoot"
            ".querySelector('.picture svg').clientWidth > 600"
        )


def test_without_scripts_all_panels_stand_below_one_another_with_headings(browser):
    with opened(browser, SHOWN, java_script_enabled=False) as page:
        assert panels(page) == [True] * 4
        assert [
            heading.inner_text() for heading in page.locator("ww-tabs h3:visible").all()
        ] == TITLES
        assert not page.get_by_role("tab").count()


def test_on_paper_are_all_panels_and_no_tabs(browser):
    with opened(browser, SHOWN) as page:
        page.emulate_media(media="print")
        assert panels(page) == [True] * 4
        assert page.locator("ww-tabs h3:visible").count() == 4
        assert not page.get_by_role("tab").first.is_visible()


def test_phone_is_not_pushed_sideways(browser):
    with opened(browser, SHOWN, viewport={"width": 320, "height": 740}) as page:
        for title in TITLES:
            page.get_by_role("tab", name=title).click()
            assert page.evaluate("document.documentElement.scrollWidth") == 320


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_two_on_one_page(browser, scheme):
    with opened(
        browser, f"<h2>Kernels</h2>{SHOWN}{trace(double, 1, 32, np.zeros(32)).show()._repr_html_()}"
    ) as page:
        page.evaluate(f"document.documentElement.className = '{scheme}'")
        for title in TITLES:
            for tab in page.get_by_role("tab", name=title).all():
                tab.click()
            page.wait_for_timeout(100)
            assert violations(page) == [], title


def test_what_cannot_be_shown_is_said_in_its_tab():
    plain, cut = repr(trace(double, 1, 32, np.zeros(32)).show()), repr(traced(max_records=3).show())
    assert "double uses no shared memory." in plain
    assert "transpose made more events than the trace keeps" in cut
    for text in (plain, cut):
        assert [line for line in text.splitlines() if line in TITLES] == TITLES


def test_show_needs_no_anywidget_and_the_lab_widget_says_what_it_needs(tmp_path):
    code = """
import sys
sys.modules["anywidget"] = None
import numpy as np
from warpwise import cuda, trace
from warpwise.views import burst

@cuda.jit
def double(x):
    x[cuda.grid(1)] *= 2

t = trace(double, 1, 32, np.zeros(32))
assert "<ww-tabs" in t.show()._repr_html_()
try:
    burst.widget(t)
except ImportError as error:
    print(error)
"""
    (tmp_path / "double.py").write_text(code)
    done = subprocess.run([sys.executable, tmp_path / "double.py"], capture_output=True, text=True)
    assert "needs anywidget (pip install anywidget)" in done.stdout, done.stderr

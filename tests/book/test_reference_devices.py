"""The page of GPUs: its tables are those of ``warpwise.devices``, and scroll on a phone."""

from __future__ import annotations

from dataclasses import fields

import pytest
from bs4 import BeautifulSoup

from warpwise import devices
from warpwise.book.devices import COLUMNS, LIMITS, comments, knee
from warpwise.devices import DEVICES, KB, MB, MULTIPROCESSORS, Multiprocessor

PAGE = "chapters/reference_devices.html"
BOX = ".pst-scrollable-table-container"  # what the theme puts around a table


@pytest.fixture(scope="module")
def page(site) -> BeautifulSoup:
    return BeautifulSoup((site.folder / PAGE).read_text("utf-8"), "html.parser").select_one(
        "article"
    )


def rows(table) -> list[list[str]]:
    return [
        [cell.get_text(" ", strip=True) for cell in row.select("th, td")]
        for row in table.select("tr")
    ]


def number(text: str) -> float:
    return float(text.replace(",", ""))


def test_every_device_has_its_row(page):
    _, *found = rows(page.select("table.ww-devices")[0])
    assert [row[0] for row in found] == [device.name for device in DEVICES]
    for row, d in zip(found, DEVICES, strict=True):
        shown = [number(text) for text in row[1:]]
        assert shown[0] == float(".".join(map(str, d.compute_capability)))
        assert shown[1:6] == [
            d.sms,
            d.fp32_tflops,
            d.tensor16_tflops,
            d.dram_gb_per_s,
            d.l2_bytes / MB,
        ]
        assert shown[6] == pytest.approx(1e3 * d.fp32_tflops / d.dram_gb_per_s, abs=0.05)
        assert shown[7] == pytest.approx(1e3 * d.tensor16_tflops / d.dram_gb_per_s, abs=0.5)


def test_headings_have_units(page):
    head, *_ = rows(page.select("table.ww-devices")[0])
    assert head == [f"{column.title} {column.unit}".strip() for column in COLUMNS]
    assert (
        sum("TFLOP/s" in title for title in head) == 2
        and "DRAM GB/s" in head
        and "L2 cache MiB" in head
    )


def test_the_knee_is_where_memory_and_arithmetic_take_equally_long():
    d = devices.H100
    flops = knee(d.fp32_flops_per_s, d) * 10**9
    assert flops / (1e12 * d.fp32_tflops) == pytest.approx(10**9 / (1e9 * d.dram_gb_per_s))


def test_every_limit_of_a_multiprocessor_is_on_the_page(page):
    assert set(LIMITS) == {f.name for f in fields(Multiprocessor)}
    head, *found = rows(page.select("table.ww-devices")[1])
    assert head[1:] == [f"{major}.{minor}" for major, minor in MULTIPROCESSORS]
    shown = {row[0]: [number(text) for text in row[1:]] for row in found}
    assert shown["Warps"] == [sm.warps for sm in MULTIPROCESSORS.values()]
    assert shown["Shared memory of a block KiB"] == [
        sm.shared_bytes_per_block / KB for sm in MULTIPROCESSORS.values()
    ]
    text = " ".join(page.get_text(" ").split())
    for name, (title, unit, divisor) in LIMITS.items():
        all_of_them = {getattr(sm, name) for sm in MULTIPROCESSORS.values()}
        if len(all_of_them) == 1:
            assert f"{title}: {all_of_them.pop() // divisor:,} {unit}".strip() in text
        else:
            assert f"{title} {unit}".strip() in shown


def test_comments_of_the_code_are_on_the_page(page):
    text = " ".join(page.get_text(" ").split()).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    assert len(comments()) >= 8
    assert [comment for comment in comments().values() if comment not in text] == []


def test_sources_are_named(page):
    sources = page.select_one("#sources").get_text(" ")
    assert (
        "cuda_occupancy.h" in sources
        and "Technical Specifications per Compute Capability" in sources
    )
    assert len(page.select("#sources a[href*='bibliography']")) == 3


def test_a_phone_scrolls_the_table_by_keyboard_and_keeps_the_names_in_view(site, browser):
    context = browser.new_context(viewport={"width": 320, "height": 700})
    opened = context.new_page()
    opened.goto(f"{site.url}/{PAGE}")
    box = opened.locator(BOX).first
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    assert opened.evaluate("document.documentElement.scrollWidth") <= 320
    opened.wait_for_function(f"document.querySelector('{BOX}').tabIndex === 0")
    box.focus()
    for _ in range(40):
        opened.keyboard.press("ArrowRight")
    opened.wait_for_function(f"document.querySelector('{BOX}').scrollLeft > 100")
    name = opened.locator("table.ww-devices tbody th").first.bounding_box()
    assert name["x"] >= 0, "the device's name has scrolled away"
    context.close()

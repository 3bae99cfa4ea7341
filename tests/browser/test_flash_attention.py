"""The FlashAttention widget in Chromium, against the model, NumPy and a traced kernel."""

from __future__ import annotations

import numpy as np
import pytest
from support.flash_kernel import arguments, flash
from support.pages import move, number, opened

from warpwise import trace
from warpwise.devices import DEVICES
from warpwise.model.attention import attention, visits
from warpwise.views import flash_attention

UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
NAMES = [device.name for device in DEVICES]
SLIDERS = {
    "n": "queries, keys: N",
    "d": "vector length: d",
    "rows": "queries in a tile",
    "columns": "keys in a tile",
}


def shown_bytes(page, name: str) -> float:
    """Return the amount beside a bar."""
    words = (
        page.locator(".picture text", has_text=name).first.text_content().removeprefix(name).split()
    )
    return float(words[0]) * UNITS[words[1]]


def control(page, name: str) -> int | bool | str:
    element = page.locator(f".ww [name={name}]")
    if element.get_attribute("type") == "checkbox":
        return element.is_checked()
    return element.input_value() if name == "device" else int(element.input_value())


def check(page) -> None:
    """Compare everything on screen with the model, for the present controls."""
    n, d, rows, columns = (2 ** control(page, name) for name in SLIDERS)
    causal, query, key = (control(page, name) for name in ("causal", "query", "key"))
    model = attention(n, d, rows, columns, causal=causal)
    near = pytest.approx
    assert shown_bytes(page, "FlashAttention ") == near(
        model.read_bytes + model.written_bytes, rel=0.006
    )
    assert shown_bytes(page, "standard ") == near(
        model.standard_read_bytes + model.standard_written_bytes, rel=0.006
    )
    assert shown_bytes(page, "each matrix once ") == near(model.least_bytes, rel=0.006)
    assert number(page, "tiles skipped") == f"{model.skipped:,}"
    times = float(number(page, "bytes moved")[:-1])
    assert times == near(max(model.bytes_saved, 1 / model.bytes_saved), rel=0.006)
    seen = flash_attention.scores()[: min(key * columns, query * rows if causal else n)]
    assert float(number(page, "running maximum")) == near(seen.max(), abs=0.0051)
    assert float(number(page, "running sum")) == near(np.exp(seen - seen.max()).sum(), rel=0.006)
    meets = visits(n, rows, columns, query - 1, causal)
    sentence = page.locator("p.text").inner_text()
    assert sentence.startswith(
        f"Query tile {query} of {n // rows} meets key tile {key} of {meets} on "
        f"{control(page, 'device')}."
    )


@pytest.mark.parametrize("name", SLIDERS)
def test_each_size_over_its_whole_range(browser, name: str):
    with opened(
        browser, flash_attention.explorer(n=512, d=32, rows=64, columns=32)._repr_html_()
    ) as page:
        slider = page.locator(f".ww input[name={name}]")
        least, most = (int(slider.get_attribute(end)) for end in ("min", "max"))
        for value in range(least, most + 1):
            move(page, SLIDERS[name], value)
            assert page.locator(f".ww output[for={name}]").inner_text() == str(2**value)
            check(page)


def test_the_tiles_walk_to_the_diagonal(browser):
    with opened(
        browser, flash_attention.explorer(n=512, rows=64, columns=32, query=3, key=1)._repr_html_()
    ) as page:
        forward, back = (page.get_by_role("button", name=name) for name in ("Next", "Back"))
        assert back.is_disabled()
        for key in range(1, 7):
            assert control(page, "key") == key
            check(page)
            if key < 6:
                forward.press("Enter")
        assert forward.is_disabled()
        move(page, "query tile", 2)  # its row is shorter: the key tile gives way
        assert control(page, "key") == 4
        check(page)


def test_mask_and_registers(browser):
    with opened(browser, flash_attention.explorer()._repr_html_()) as page:
        heading = page.locator(".picture text", has_text="Shared memory:")
        before = heading.text_content()
        page.get_by_role("checkbox", name="S and O in registers").press("Space")
        check(page)
        assert (before, heading.text_content()) == (
            "Shared memory: 32 KiB of 227 KiB",
            "Shared memory: 96 KiB of 227 KiB",
        )
        assert page.locator(".picture text", has_text="Registers:").count() == 0
        page.get_by_role("checkbox", name="causal mask").press("Space")
        check(page)
        assert number(page, "tiles skipped") == "0"


@pytest.mark.parametrize("device", DEVICES, ids=NAMES)
def test_each_device_gives_a_block_what_the_table_says(browser, device):
    start = flash_attention.explorer(d=256, rows=128, columns=64, registers=False)
    with opened(browser, start._repr_html_()) as page:
        select = page.get_by_role("combobox", name="device")
        while (now := select.input_value()) != device.name:
            select.press("ArrowDown" if NAMES.index(now) < NAMES.index(device.name) else "ArrowUp")
        check(page)
        held, limit = (
            sum(attention(1024, 256, 128, 64).tile_bytes.values()),
            device.sm.shared_bytes_per_block,
        )
        expected = f"Shared memory: {held // 1024} KiB of {limit // 1024} KiB" + (
            ", too much" if held > limit else ""
        )
        assert page.locator(".picture text", has_text="Shared memory:").text_content() == expected


def test_a_tile_is_pressed(browser):
    with opened(browser, flash_attention.explorer()._repr_html_()) as page:
        page.locator(".picture [data-set='query=7&key=11']").click()
        assert (control(page, "query"), control(page, "key")) == (7, 11)
        check(page)
        assert page.locator(".picture [data-set='query=1&key=3']").count() == 0  # skipped


def test_its_bytes_are_those_of_a_traced_kernel(browser):
    """The kernel's elements take four bytes, the widget's two."""
    n, d, tile = 256, 32, 128
    m = trace(flash(tile, d), n // tile, tile, *arguments(n, d, causal=True), record=()).metrics
    with opened(
        browser, flash_attention.explorer(n, d, tile, tile, causal=True)._repr_html_()
    ) as page:
        assert shown_bytes(page, "FlashAttention ") == pytest.approx(
            (m.global_load_bytes + m.global_store_bytes) / 2, rel=0.006
        )

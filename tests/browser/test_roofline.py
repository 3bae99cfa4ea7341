"""The roofline widget in Chromium, against ``warpwise.model.roofline`` of real traces."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context

import numpy as np
import pytest
from playwright.sync_api import expect
from support.pages import box, move, number, opened
from support.view_kernels import scale

from warpwise import cuda, model, trace
from warpwise.devices import DEVICES, H100, L4, RTX_3090, T4, Device
from warpwise.views import roofline

# Sets all controls at once, and reads the screen.
BRING = """states => {
  const root = document.querySelector("ww-roofline").shadowRoot, form = root.querySelector("form");
  const all = css => [...root.querySelectorAll(css)].map(e => e.textContent);
  return states.map(state => {
    for (const name in state) form.elements[name].value = state[name];
    form.dispatchEvent(new Event("input"));
    return [...all("dl b"), ...all("dd"), all("p.text")[0]];
  });
}"""


@cuda.jit
def polynomial(x, y):
    i = cuda.grid(1)
    v = x[i]
    total = v
    for _ in range(64):
        total = total * v + np.float32(0.5)
    y[i] = total


@cuda.jit
def polynomial_64(x, y):
    i = cuda.grid(1)
    total = np.float32(0)
    for _ in range(16):
        total = np.float32(total * x[i]) + np.float32(x[i] * 0.5)
    y[i] = total


@cuda.jit
def matmul_1_naive(a, b, c):
    col, row = cuda.grid(2)
    total = np.float32(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, col]
    c[row, col] = total


def zeros(*shape: int):
    return np.zeros(shape, np.float32)


@pytest.fixture(scope="module")
def traces() -> dict:
    matrices = [zeros(64, 64) for _ in range(3)]
    return {
        "scale": trace(scale, 4, 128, zeros(512), zeros(512), np.float32(2), record=()),
        "a polynomial": trace(polynomial, 4, 128, zeros(512), zeros(512), record=()),
        "mixed <precision>": trace(polynomial_64, 4, 128, zeros(512), zeros(512), record=()),
        "matmul_1_naive": trace(matmul_1_naive, (4, 4), (16, 16), *matrices, record=()),
    }


def three(value: float) -> str:
    """Format three significant digits, exactly, halves rounded up."""
    return f"{float(Context(prec=3, rounding=ROUND_HALF_UP).create_decimal(value)):g}"


def rate(value: float) -> str:
    for letter, unit in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if float(three(value / unit)) >= 1:
            return f"{three(value / unit)} {letter}FLOP/s"
    raise AssertionError(value)


def span(ends: tuple[float, float], words) -> str:
    a, b = map(words, ends)
    return a if a == b else f"{a} to {b}"


def said(
    device: Device,
    intensity: tuple[float, float],
    peak: float,
    reach: tuple[float, float],
    side: str,
) -> tuple[str, ...]:
    """Return the texts that belong on screen."""
    knee = f"{three(peak / (1e9 * device.dram_gb_per_s))} FLOP per byte"
    part = span(reach, lambda v: f"{three(100 * v / peak)} %")
    most = span(reach, rate)
    sentence = (
        f"{span(intensity, three)} FLOP per byte of DRAM",
        f"{device.name} can do at most {most}, {part} of its peak of {rate(peak)}.",
        f"limit is {side}, for the knee is at {knee}.",
    )
    return most, side, f"{most} {part} of the peak", f"{side} knee at {knee}", *sentence


def check(shown: list[str], expected: tuple[str, ...]) -> None:
    assert tuple(shown[:4]) == expected[:4]
    assert all(part in shown[4] for part in expected[4:]), (shown[4], expected[4:])


PEAKS = {
    "float32": lambda d: 1e12 * d.fp32_tflops,
    "tensor16": lambda d: 1e12 * d.tensor16_tflops,
    "float64": lambda d: 1e12 * d.fp64_tflops,
}


def test_every_device_and_precision_at_many_intensities(browser):
    asked = [(d, p, place) for d in DEVICES for p in PEAKS for place in range(-64, 97, 10)]
    with opened(browser, roofline.explorer()._repr_html_()) as page:
        shown = page.evaluate(
            BRING, [{"device": d.name, "precision": p, "intensity": i} for d, p, i in asked]
        )
    for (device, precision, place), on_screen in zip(asked, shown, strict=True):
        intensity, peak = 2 ** (place / 8), PEAKS[precision](device)
        reach = min(peak, intensity * device.dram_gb_per_s * 1e9)
        side = "arithmetic" if intensity >= peak / (device.dram_gb_per_s * 1e9) else "memory"
        check(on_screen, said(device, (intensity, intensity), peak, (reach, reach), side))
        assert f", in {roofline.PRECISIONS[precision]}: " in on_screen[4]


def test_every_kernel_on_every_device_is_what_the_model_says(browser, traces):
    asked = [(d, i) for d in DEVICES for i in range(len(traces))]
    with opened(browser, roofline.explorer(traces=traces)._repr_html_()) as page:
        shown = page.evaluate(BRING, [{"device": d.name, "kernel": str(i)} for d, i in asked])
    sides = set()
    for (device, i), on_screen in zip(asked, shown, strict=True):
        name, traced = list(traces.items())[i]
        found = model.roofline(traced, device)
        check(
            on_screen,
            said(
                device,
                found.flops_per_byte,
                found.peak_flops_per_s,
                found.attainable_flops_per_s,
                found.side,
            ),
        )
        assert on_screen[4].startswith(f"{name} at ")
        sides.add(found.side)
    assert sides == {"memory", "arithmetic", "memory or arithmetic"}


def test_a_mix_of_precisions_has_a_peak_of_its_own(browser, traces):
    """Float64 work on a device with few lanes for it.

    The roof drawn strong lies between those of float32 and float64."""
    mixed = traces["mixed <precision>"]
    assert 0.2 < mixed.metrics.fp64_share < 0.8
    with opened(browser, roofline.of_trace(mixed, T4)._repr_html_()) as page:
        text = page.locator("p.text").inner_text()
        assert f"in float32 with {100 * mixed.metrics.fp64_share:.3g} % float64: " in text
        heights = {
            name: [float(p.split(",")[1]) for p in d.split("L")][-1]
            for name, d in roofs(page).items()
        }
        assert heights["float32"] < heights["roof"] < heights["float64"]
        assert (
            page.get_by_label("precision").is_disabled()
            and page.get_by_role("slider").is_disabled()
        )


def roofs(page) -> dict[str, str]:
    """Return the paths of the three roofs, by precision, and of the one that counts."""
    paths = page.locator(".ww svg path.rule").evaluate_all(
        "all => all.map(e => e.getAttribute('d').slice(1))"
    )
    return dict(zip(PEAKS, paths, strict=True)) | {
        "roof": page.locator(".ww svg path.roof").get_attribute("d").removeprefix("M")
    }


@pytest.mark.parametrize("device", [H100, RTX_3090], ids=lambda d: d.name)
def test_keyboard_moves_every_control(browser, traces, device: Device):
    with opened(browser, roofline.explorer(L4, traces)._repr_html_()) as page:
        page.get_by_label("device").select_option(device.name)
        page.get_by_label("precision").select_option("float64")
        move(page, "FLOP per byte", -4)
        assert page.locator("output").inner_text() == three(2**-0.5)
        assert number(page, "at most") == rate(
            min(1e12 * device.fp64_tflops, 2**-0.5 * 1e9 * device.dram_gb_per_s)
        )
        page.get_by_label("kernel").focus()
        page.keyboard.press("ArrowDown")
        found = model.roofline(traces["scale"], device)
        assert number(page, "at most") == span(found.attainable_flops_per_s, rate)
        assert number(page, "limited by") == found.side
        assert page.get_by_role("slider").is_disabled()
        assert page.locator("output").is_hidden()  # a number that counts for nothing


def test_sentence_after_moves_is_that_of_a_view_made_so(browser):
    with opened(browser, roofline.explorer(H100)._repr_html_()) as page:
        page.get_by_label("precision").select_option("tensor16")
        move(page, "FLOP per byte", 24)
        assert (
            page.locator("[aria-live=polite] p.text").inner_text()
            == roofline.explorer("h100sxm", None, "tensor16", 8).sentence
        )


def drag(page, x: float, y: float, by: float = 0) -> None:
    """Press in the picture at x and y, and move right before releasing the mouse."""
    at = box(page.locator(".ww svg"))
    page.mouse.move(at["x"] + x, at["y"] + y)
    page.mouse.down()
    page.mouse.move(at["x"] + x + by, at["y"] + y, steps=4)
    page.mouse.up()


def test_mouse_drags_the_intensity(browser, traces):
    with opened(browser, roofline.explorer(H100, traces)._repr_html_()) as page:
        places = []
        for x in (100, 300, 500):
            drag(page, x, 150, 80)
            places.append(int(page.get_by_role("slider").input_value()))
            point = page.locator(".ww svg .ink.chosen")
            assert float(point.get_attribute("cx")) == pytest.approx(x + 80, abs=4)
            assert number(page, "at most") == rate(min(67e12, 2 ** (places[-1] / 8) * 3350e9))
        assert places == sorted(set(places))
        drag(page, 20, 150)
        assert page.get_by_role("slider").input_value() == "-64"


def test_a_press_on_a_kernel_selects_it_and_a_press_above_lets_it_go(browser, traces):
    with opened(browser, roofline.explorer(H100, traces)._repr_html_()) as page:
        for name in reversed(traces):
            row = box(page.locator(".ww svg rect[data-set]").nth(list(traces).index(name)))
            page.mouse.click(row["x"] + 400, row["y"] + 20)
            assert page.locator("p.text").inner_text().startswith(f"{name} at ")
            assert page.locator(".ww svg text.strong", has_text=name).count() == 1
        drag(page, 300, 100)
        assert page.get_by_label("kernel").input_value() == ""
        assert page.locator("p.text").inner_text().startswith("A point at ")


def test_a_press_on_a_kernels_point_under_the_roof_selects_it(browser, traces):
    with opened(browser, roofline.explorer(H100, traces)._repr_html_()) as page:
        point = box(page.locator(".ww svg circle.ink[data-set='kernel=1']").first)
        page.mouse.click(point["x"] + 4, point["y"] + 4)
        assert page.get_by_label("kernel").input_value() == "1"


def test_picture_puts_a_stretch_where_its_numbers_are(browser, traces):
    traced = traces["matmul_1_naive"]
    with opened(browser, roofline.of_trace(traced, H100)._repr_html_()) as page:
        width = page.locator(".ww svg").evaluate("e => e.viewBox.baseVal.width")
        ends = [
            float(page.locator(f".ww svg .{end}.chosen").get_attribute("cx"))
            for end in ("ring", "ink")
        ]
        expected = [
            42 + (width - 50) * (np.log2(v) + 8) / 20 for v in traced.metrics.flops_per_byte
        ]
        assert ends == pytest.approx(expected, abs=0.06)
        # On the roof, and on the row below it, at the same places.
        rows = page.locator(".ww svg circle:not(.chosen):not([data-set])").evaluate_all(
            "all => all.map(e => +e.getAttribute('cx'))"
        )
        assert rows == ends


def test_a_kernel_with_one_intensity_and_marks_without_colour(browser, traces):
    with opened(browser, roofline.of_trace(traces["scale"])._repr_html_()) as page:
        text = page.locator("p.text").inner_text()
        assert text.startswith("scale at 0.125 FLOP per byte of DRAM, in float32: ")
        ring, disc = (page.locator(f".ww svg .{end}.chosen") for end in ("ring", "ink"))
        # Drawn anew at the first measure of its width, a mark may be gone when it is asked.
        expect(ring).to_have_css("fill", "none")
        expect(disc).to_have_css("fill", re.compile("rgb"))

"""The bank widget in Chromium, at every setting, against ``Metrics`` of traced kernels."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.pages import move, number, opened

from warpwise import cuda, trace
from warpwise.metrics import BANKS, WARP_SIZE, Metrics
from warpwise.views import banks

# Stride of float32 -> wavefronts by the rule.
STRIDES = {0: 1, 1: 1, 2: 2, 3: 1, 4: 4, 8: 8, 16: 16, 31: 1, 32: 32, 33: 1}


def strided(dtype: str):
    """Return a kernel that stores to and loads from every ``stride``-th shared element.

    Threads that share an element store the same value, so nothing races."""

    @cuda.jit
    def kernel(out, stride):
        s = cuda.shared.array(2200, dtype)
        t = cuda.threadIdx.x
        s[stride * t] = t
        out[t] = s[stride * t]

    return kernel


@cuda.jit
def transpose(src, dst):
    tile = cuda.shared.array((32, 32), np.float32)
    wide = cuda.shared.array((32, 33), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = src[y, x]
    wide[y, x] = src[y, x]
    cuda.syncthreads()
    if y < 6 and x % 3 != 1:
        dst[y, x] = tile[x, y] + tile[0, 0]
    dst[y, x] += wide[x, y]


STRIDED = {dtype: strided(dtype) for dtype in banks.ITEMSIZES}


def loads(dtype: str, pitch: int) -> Metrics:
    """Return the simulator's counts for a warp that reads every ``pitch``-th shared element."""
    return trace(STRIDED[dtype], 1, WARP_SIZE, np.zeros(WARP_SIZE, dtype), pitch).metrics


def traced_transpose():
    return trace(
        transpose, 1, (32, 32), np.ones((32, 32), np.float32), np.zeros((32, 32), np.float32)
    )


def shown(page) -> tuple[int, int]:
    return int(number(page, "wavefronts")), int(number(page, "bank conflicts"))


def sentence(page) -> str:
    return page.locator("p.text").inner_text()


def served(page) -> list[int]:
    """Return the lanes of the present wavefront, as the sentence names them."""
    named = re.search(r"serves \d+ lanes?: ([\d, to]+)\.", sentence(page))[1]
    ends = [[int(k) for k in part.split(" to ")] for part in named.split(", ")]
    return [lane for end in ends for lane in range(end[0], end[-1] + 1)]


@pytest.mark.parametrize("dtype", STRIDED)
def test_stride_and_padding_by_keyboard_and_numbers_equal_metrics(browser, dtype):
    with opened(browser, banks.explorer(1, dtype)._repr_html_()) as page:
        for stride in sorted(STRIDES) if dtype == "float32" else (0, 1, 2, 3, 8, 17, 32):
            move(page, "stride", stride)
            for padding in (1, 0) if stride in (8, 32) else (0,):
                move(page, "padding", padding)
                metrics = loads(dtype, stride + padding)
                assert shown(page) == (
                    metrics.shared_load_wavefronts,
                    metrics.shared_load_bank_conflicts,
                ), (stride, padding)
                assert dtype != "float32" or shown(page)[0] == (1 if padding else STRIDES[stride])


def test_the_element_type_changes_by_keyboard(browser):
    with opened(browser, banks.explorer(2, "float16")._repr_html_()) as page:
        choice = page.get_by_label("element type")
        for dtype in ("float16", "float32", "float64", "complex128"):
            assert choice.input_value() == dtype
            assert shown(page)[0] == loads(dtype, 2).shared_load_wavefronts
            choice.press("ArrowDown")


WARPS = [
    (8, "float32", 0),
    (32, "float32", 1),
    (0, "float32", 0),
    (5, "float16", 0),
    (4, "float64", 0),
    (0, "complex128", 0),
]


@pytest.mark.parametrize(("stride", "dtype", "padding"), [*WARPS, (3, "complex128", 1)])
def test_a_wavefront_takes_one_word_of_a_bank_and_each_lane_is_served_once(
    browser, stride, dtype, padding
):
    """By the sentences alone, wavefronts cover the warp, each with one word per bank.

    No two groups of lanes meet in a wavefront."""
    size = banks.ITEMSIZES[dtype]
    span = max(1, size // 4)
    # lanes that load the same words in pairs are served in groups of twice as many
    group = WARP_SIZE // span * (2 if span > 1 and stride + padding == 0 else 1)
    with opened(browser, banks.explorer(stride, dtype, padding)._repr_html_()) as page:
        total, lanes = shown(page)[0], []
        for wavefront in range(1, total + 1):
            now = served(page)
            words = {(stride + padding) * lane * size // 4 + k for lane in now for k in range(span)}
            assert len({word % BANKS for word in words}) == len(words)
            assert len({lane // group for lane in now}) == 1
            assert page.get_by_text(f"{wavefront} of {total}", exact=True).is_visible()
            lanes += now
            if wavefront < total:
                page.get_by_role("button", name="Next").click()
        assert page.get_by_role("button", name="Next").is_disabled()
        assert sorted(lanes) == list(range(WARP_SIZE))


def test_follow_a_lane_by_keyboard_and_by_pressing_its_word(browser):
    with opened(browser, banks.explorer(32, "float32", 1)._repr_html_()) as page:
        move(page, "follow lane", 5)
        assert "Lane 5: word 165, bank 5, wavefront 1." in sentence(page)
        page.locator("[data-set='lane=31']").last.click()
        assert "Lane 31: word 1023, bank 31, wavefront 1." in sentence(page)
        assert page.get_by_role("slider", name="follow lane").input_value() == "31"


def test_every_request_of_a_traced_line_counts_what_metrics_count(browser):
    """Wavefronts and conflicts of a line's requests add up to those of the line."""
    traced = traced_transpose()
    with opened(browser, banks.of_trace(traced)._repr_html_()) as page:
        line = page.get_by_label("source line")
        for option in line.locator("option").all():
            number_, kind = re.match(r"(\d+), (\w+):", option.inner_text()).groups()
            line.select_option(option.get_attribute("value"))
            metrics, sums = traced.by_line[int(number_)], [0, 0]
            requests = page.get_by_role("slider", name="request")
            assert int(requests.get_attribute("max")) == getattr(metrics, f"shared_{kind}_requests")
            move(page, "request", 1)
            for request in range(1, int(requests.get_attribute("max")) + 1):
                move(page, "request", request)
                sums = [a + b for a, b in zip(sums, shown(page), strict=True)]
            assert sums == [
                getattr(metrics, f"shared_{kind}_{what}")
                for what in ("wavefronts", "bank_conflicts")
            ], option.inner_text()


def test_a_trace_opens_on_its_worst_request_and_says_who_it_is(browser):
    traced = traced_transpose()
    view = banks.of_trace(traced)
    with opened(browser, view._repr_html_()) as page:
        assert sentence(page) == view.sentence
        assert ", its worst request: warp 0 of block (0, 0, 0) reads tile." in view.sentence
        active = [lane for lane in range(WARP_SIZE) if lane % 3 != 1]
        assert shown(page) == (len(active), len(active) - 1)
        move(page, "follow lane", 1)
        assert sentence(page).endswith("Lane 1: not active.")


def test_the_first_picture_is_the_same_without_a_browser(browser):
    view = banks.explorer(8, "float64", 1)
    with opened(browser, view._repr_html_()) as page:
        assert sentence(page) == view.sentence
        assert page.locator(".picture svg rect").count() == view.svg(760).count("<rect")

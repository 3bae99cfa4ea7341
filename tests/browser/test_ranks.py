"""The picture of a cluster's run in Chromium: lanes and marks by pointer and keys, against the
record; on a screen and on a phone, light and dark."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from support.pages import box, opened, violations

from warpwise import cluster, cuda

WIDTHS = 800, 360


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def program(dist):
    gradients = np.ones(400_000, np.float32)
    work = dist.all_reduce(gradients, async_op=True)
    double[4096, 256](np.ones(1 << 20, np.float32))
    dist.compute(4e-6 * (1 + dist.get_rank()), "next layer")
    work.wait()
    dist.compute(3e-6 * (1 + dist.get_rank()), "update")


RECORD = cluster.run(program, 4)
SHOWN = RECORD.show()._repr_html_()
# Of each mark: its words and where it stands, from the left of the picture.
MARKS = """host => {
    const svg = host.shadowRoot.querySelector('svg'), { left, top } = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('[data-key]')].map((node) => {
        const box = node.getBoundingClientRect();
        return [node.dataset.is, box.left - left, box.top - top, box.width, box.height];
    });
}"""


@pytest.fixture(scope="module", params=WIDTHS)
def page(browser, request):
    with opened(browser, SHOWN, viewport={"width": request.param, "height": 900}) as page:
        yield page


def tip(page) -> str:
    return page.locator(".tip").inner_text()


def outlined(page) -> list[str]:
    return page.locator(".picture .with").evaluate_all("all => all.map((one) => one.dataset.is)")


def test_marks_stand_in_their_lanes_at_their_times(page):
    found = page.locator("ww-ranks").evaluate(MARKS)
    assert len(found) == len(RECORD.timeline) + len(RECORD.log.messages)
    lanes = [box(page.locator(f"[data-is^='rank {r}: ']")) for r in range(4)]
    room = box(page.locator(".picture svg"))
    for words, _, top, _, high in found:
        lane = lanes[int(re.match(r"rank (\d+)", words)[1])]
        assert lane["y"] - room["y"] - 1 <= top
        assert top + high <= lane["y"] - room["y"] + lane["height"] + 1


def test_widths_are_in_proportion_to_time(page):
    found = page.locator("ww-ranks").evaluate(MARKS)
    works = [(x, wide) for words, x, _, wide, _ in found if " works: " in words]
    left = min(x for x, _ in works)
    scale = max(x + wide - left for _, x, _, wide, _ in found) / RECORD.seconds
    order = sorted(RECORD.times.works, key=lambda one: (one.rank, one.begin))
    for one, (x, wide) in zip(order, works, strict=True):
        assert x - left == pytest.approx(one.begin * scale, abs=0.3)
        assert wide == pytest.approx((one.end - one.begin) * scale, abs=0.3)


def test_a_pointer_on_a_message_shows_its_words_and_its_other_end(page):
    line = program.__code__.co_firstlineno + 2
    page.locator("[data-is^='rank 0 sends to rank 1: ']").first.hover()
    first = next(one for one in RECORD.times.passages if one.message.source == 0)
    said = f"all_reduce, line {line} of test_ranks.py, {first.message.nbytes:,} bytes, at 0 µs for"
    assert tip(page).startswith(f"rank 0 sends to rank 1: {said} ")
    (other,) = outlined(page)
    assert other.startswith(f"rank 1 receives from rank 0: {said} ")
    stroke = "node => [getComputedStyle(node).strokeWidth, getComputedStyle(node).stroke]"
    wide, colour = page.locator(".picture .with").evaluate(stroke)
    assert wide == "3px" and colour != "none"
    page.mouse.move(2, 2)
    assert outlined(page) == [] and not page.locator(".tip").is_visible()


def test_a_kernel_is_named_with_its_line_and_has_no_other_end(page):
    page.locator("[data-is^='rank 2 works: kernel double, ']").hover()
    line = program.__code__.co_firstlineno + 3
    assert f"kernel double, line {line} of test_ranks.py, at 0 µs for " in tip(page)
    assert outlined(page) == []


def test_a_gap_says_how_long_the_rank_is_idle(page):
    begin, length = RECORD.spans[0].either[-1][1], RECORD.ranks[0].idle
    room, lane = box(page.locator(".picture svg")), box(page.locator("[data-is^='rank 0: ']"))
    scale = (room["width"] - 51) / RECORD.seconds
    page.mouse.move(room["x"] + 50 + (begin + length / 2) * scale, lane["y"] + 6)
    assert length > 5e-6 and tip(page) == (
        f"rank 0 is idle: at {1e6 * begin:.3g} µs for {1e6 * length:.3g} µs"
    )


def test_arrow_keys_reach_every_mark_and_outline_the_other_end(page):
    picture = page.locator(".picture")
    picture.focus()
    picture.press("Home")
    assert tip(page).startswith("rank 0: works ")
    said = [tip(page)]
    for _ in range(400):
        picture.press("ArrowRight")
        if tip(page) == said[-1]:
            break
        said.append(tip(page))
        if " sends to " in said[-1]:
            (other,) = outlined(page)
            assert " receives from " in other
    found = [words for words, *_ in page.locator("ww-ranks").evaluate(MARKS)]
    assert [words for words in said if re.match(r"rank \d (works:|sends|receives)", words)] == found
    assert [words for words in said if words.startswith("rank 3: ")]
    assert said[-1].startswith("switch > gpu 3: ")
    picture.press("Escape")
    assert outlined(page) == []


def test_nothing_is_pushed_sideways(page):
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert box(page.locator(".picture svg"))["width"] <= width - 32


def test_numbers_and_sentence_are_said(page):
    terms = page.locator("dl > div").all_inner_texts()
    assert [term.lower().split("\n")[0] for term in terms] == [
        "the run takes",
        "both at once",
        "idle",
    ]
    assert page.locator("[aria-live] p.text").inner_text() == repr(RECORD.show())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, scheme):
    with opened(browser, SHOWN) as page:
        page.evaluate(f"document.documentElement.className = '{scheme}'")
        page.locator(".picture").focus()
        page.locator(".picture").press("ArrowRight")
        page.wait_for_timeout(100)
        assert violations(page) == []


def test_without_scripts_there_is_a_picture_and_the_sentence(browser):
    with opened(browser, SHOWN, java_script_enabled=False) as page:
        assert page.locator("ww-ranks svg").is_visible()
        assert page.locator("ww-ranks p").inner_text() == repr(RECORD.show())


def test_64_ranks_have_lanes_that_do_not_overlap(browser):
    record = cluster.run(lambda dist: dist.all_reduce(np.zeros(64, np.float32)), 64)
    with opened(
        browser, record.show()._repr_html_(), viewport={"width": 360, "height": 900}
    ) as page:
        labels = page.locator(".picture text", has_text="rank ").all()
        assert [one.inner_html() for one in labels] == [f"rank {r}" for r in range(64)]
        tops = [box(one)["y"] for one in labels]
        assert all(14 <= below - above <= 18 for above, below in pairwise(tops))
        assert violations(page) == []

"""The clocks widget without a browser: its bars are an estimate's figures."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

pytest.importorskip("warpwise.stopwatch")

from warpwise.stopwatch.estimate import CAUSES, Details, Estimate, Hint, Share
from warpwise.views import clocks

CODE = "total += tile[(t * 32 + i) % 1024] * other[cuda.threadIdx.y, i] + third[a < b]"
FOUND = Estimate(
    "k", "T4", (8, 1, 1), 2e-3, 1.8e-3, 2.2e-3, "L1",
    pipes=(Share("L1", 0.9), Share("issue slots", 0.25)),
    lines=(Share("line 7", 0.64, CODE), Share("line 3", 0.36)),
    waits=(Share("LG throttle", 0.75), Share("wait", 0.25)),
)  # fmt: skip


def bars(picture: str) -> list[tuple[str, float]]:
    """Return look and width of each bar that stands on a track."""
    rects = re.findall(r'<rect class="(?!over)(\w+)" [^>]*?width="([\d.]+)"', picture)
    assert [look for look, _ in rects[::2]] == ["track"] * (len(rects) // 2)
    room = dict(zip(range(len(rects)), (float(wide) for _, wide in rects[::2]), strict=False))
    return [(look, float(wide) / room[i]) for i, (look, wide) in enumerate(rects[1::2])]


@pytest.mark.parametrize("width", [330, 620])
def test_bars_are_as_long_as_their_shares(width: int):
    shown = bars(clocks.of_estimate(FOUND).svg(width))
    assert [look for look, _ in shown] == ["two", "one", "two", "two", "three", "three"]
    shares = [share for _, share in shown]
    assert shares == pytest.approx([0.9, 0.25, 0.64, 0.36, 0.75, 0.25], abs=0.01)


def test_it_says_what_the_bars_show():
    assert str(clocks.of_estimate(FOUND)) == (
        "L1 is busy for 90 % of the time; 64 % of that is line 7; warps wait most for room in the "
        "queue to global memory (LG throttle). Modelled."
    )
    late = replace(FOUND, binds="latency")
    assert "64 % of all waiting is line 7" in str(clocks.of_estimate(late))
    assert "Lines at which warps wait" in clocks.of_estimate(late).svg()


def test_a_long_line_is_cut_where_there_is_no_room():
    narrow, wide = (clocks.of_estimate(FOUND).svg(width) for width in (330, 1200))
    whole = CODE.replace("<", "&#60;")
    assert f"line 7: {whole}" in wide and f"line 7: {whole}" not in narrow and "…" in narrow


def test_changes_are_bars_of_their_times():
    hints = Hint("half the loads", 1e-3, ("line 7",)), Hint("no", 4e-3)
    found = replace(FOUND, details=Details(hints))
    picture = clocks.of_estimate(found).svg()
    shown = bars(picture)[-3:]
    assert [share for _, share in shown] == pytest.approx([1, 0.5, 1], abs=0.01)
    assert "with half the loads, line 7" in picture and ">1 ms<" in picture and ">4 ms<" in picture


def test_every_cause_has_a_meaning():
    assert clocks.MEANINGS.keys() == set(filter(None, CAUSES))

"""The warp roles widget without a browser: a recorded timeline, step by step, and made-up ones."""

from __future__ import annotations

import gzip
import json
import re
from math import ceil
from types import SimpleNamespace

import pytest
from support.drawn_marks import Script
from support.watched import watched

from warpwise import hopper
from warpwise.errors import LaunchError
from warpwise.kernels.producer_consumer import STAGES
from warpwise.views import ring, warp_roles

pytestmark = pytest.mark.threads
MARK = re.compile(r'<rect class="(\w+)" x="([\d.]+)"[^>]*width="([\d.]+)"[^>]*data-is="([^"]*)"')
WIDE = 1000  # all ticks of four trips are in sight
BESIDE = ceil(12 * 0.56 * len("warps 1 to 3")) + 8  # the names of the rows, in pixels


@pytest.fixture(scope="module")
def script() -> Script:
    return Script("warp_roles")


def drawn(script: Script, view, width: int = WIDE, **values) -> list[tuple[str, ...]]:
    """Return look, x, width and words of each mark."""
    return MARK.findall(script.shown(view.data, view.values | values, width)["picture"])


def step(warp: int, word: str, begin: int, end: int, detail="", phase=None, line=1) -> hopper.Step:
    kind = {"tma_load": "copy", "wgmma_mma_async": "product", "mbarrier_try_wait": "wait"}
    return hopper.Step(warp, kind.get(word, "word"), word, begin, end, detail, line, phase, "f()")


def shown(*steps: hopper.Step, block: int = 0):
    return warp_roles.of_timeline(SimpleNamespace(steps=steps, block=block))


def test_warps_are_rows_by_role_and_those_that_did_the_same_share_one():
    found = [(row["role"], row["name"]) for row in shown(*watched(4).steps).data["rows"]]
    assert found == [
        ("Producer", "warp 4"),
        ("Consumers", "warp 0"),
        ("Consumers", "warps 1 to 3"),
    ]


@pytest.mark.parametrize(("warp", "name"), [(4, "warp 4"), (0, "warp 0"), (2, "warps 1 to 3")])
def test_every_step_of_a_warp_is_drawn_from_its_begin_as_long_as_it_lasts(script, warp, name):
    timeline = watched(4)
    view = warp_roles.of_timeline(timeline)
    told = [one for one in drawn(script, view) if one[3].startswith(f"{name}: ")]
    bars = [one for one in told if "line" in one[3]]
    steps = timeline.of(warp)
    scale = (WIDE - BESIDE - 14) / view.data["end"]
    assert [float(x) for _, x, _, _ in bars] == pytest.approx(
        [BESIDE + scale * step.begin for step in steps], abs=0.06
    )
    for (look, _, wide, words), one in zip(bars, steps, strict=True):
        ticks = one.end - one.begin if one.kind == "wait" else 1
        assert float(wide) == pytest.approx(scale * ticks - 0.7, abs=0.11)
        assert f"line {one.line}" in words
        assert one.text.replace(":", "")[:12] in words.replace("&#38;", "&")
        waits = one.kind == "wait" and ticks > 1
        assert look == (
            "hatched" if waits else {"copy": "one", "product": "three"}.get(one.kind, "grey")
        )


def test_below_a_row_is_what_units_do_for_it():
    producer, *_, consumers = shown(*watched(4).steps).data["rows"]
    assert [span[3] for span in producer["under"]] == ["6 copies under way", "2 copies under way"]
    assert [span[3] for span in consumers["under"]] == ["4 products under way"] * 4


def test_a_stage_is_filled_full_in_use_and_free_again():
    """By the consumers' waits and arrivals, trip by trip."""
    trips = 7
    timeline = watched(trips)
    found = ring.stages(timeline.steps)
    assert [stage.name for stage in found] == [f"full[{k}]" for k in range(STAGES)]
    copies = [step for step in timeline.of(4) if step.kind == "copy"]
    waits = [step for step in timeline.of(1) if step.word == "mbarrier_try_wait"]
    arrivals = [step for step in timeline.of(1) if step.word == "mbarrier_arrive"]
    for trip in range(trips):
        turn = found[trip % STAGES].turns[trip // STAGES]
        both = copies[2 * trip : 2 * trip + 2]
        assert turn == ring.Turn(
            trip // STAGES,
            both[0].begin,
            max(copy.end for copy in both),
            waits[trip].end,
            arrivals[trip].end,
        )
        assert turn.begins < turn.full <= turn.used < turn.ends
    assert sum(len(stage.turns) for stage in found) == trips


def test_a_stage_that_nobody_gives_back_is_in_use_until_it_is_filled_again():
    steps = [
        step(0, "tma_load", 0, 12, "a -> bar[0]", 0),
        step(0, "mbarrier_try_wait", 1, 12, "bar[0]", 0),
        step(0, "wgmma_mma_async", 12, 16, "sums"),
        step(0, "tma_load", 20, 32, "a -> bar[0]", 1),
    ]
    first, second = ring.stages(steps)[0].turns
    assert first == ring.Turn(0, 0, 12, 12, 20)
    assert second == ring.Turn(1, 20, 32, 32, 32)
    (row,) = shown(*steps).data["rows"]
    assert (row["role"], row["name"]) == ("Copies and products", "warp 0")


def test_warps_that_are_not_neighbours_are_listed():
    steps = [step(warp, "setmaxnreg_dec", 0, 1, "40") for warp in (0, 2, 5)]
    view = shown(*steps, step(1, "fence_proxy_async", 0, 1))
    assert [row["name"] for row in view.data["rows"]] == ["warps 0, 2, 5", "warp 1"]
    assert {row["role"] for row in view.data["rows"]} == {"Other warps"}
    assert "warps 0, 2, 5, setmaxnreg_dec 40; warp 1, fence before a unit reads" in view.sentence


@pytest.mark.parametrize(
    ("tick", "words"),
    [
        (7, "warp 4, empty[0] is free from the start; warp 0 and warps 1 to 3, wait for phase 0 "),
        (9, "warp 4, copy a[stage] -> full[0] starts; warp 0 and warps 1 to 3, wait for phase 0 "),
        (30, "warp 4, wait for phase 0 of empty[0]; warp 0 and warps 1 to 3, wait for products."),
        (40, "warp 4, arrival at full[0], phase 1; warp 0 and warps 1 to 3, no wait for phase 0 "),
        (6, "At tick 6 of 111: no warp is at a word of hopper. "),
        (3, "Ticks are the order in which the simulator ran the warps, and no clock."),
    ],
)
def test_it_says_what_each_warp_does_at_a_tick(tick, words):
    view = warp_roles.of_timeline(watched(4), tick)
    assert words in view.sentence
    lines = re.findall(r'class="code"[^>]*>([^<]*)<', view.svg())
    assert all(", line " in line for line in lines)
    assert bool(lines) == ("no warp is" not in view.sentence)


def test_the_source_lines_under_way_stand_below():
    lines = re.findall(
        r'class="code"[^>]*>([^<]*)<', warp_roles.of_timeline(watched(4), 30).svg(760)
    )
    assert lines[0].startswith("warp 4, line ")
    assert lines[0].endswith("while not hopper.mbarrier_try_wait(empty, stage, parity ^ 1):")
    assert lines[1].endswith("hopper.wgmma_wait_group(0)") and len(lines) == 3


@pytest.mark.parametrize("tick", [0, 40, 77, 110])
def test_on_a_narrow_page_a_part_is_in_sight_with_the_tick_in_it(script, tick):
    view = warp_roles.of_timeline(watched(4), tick)
    made = script.shown(view.data, view.values, 330)
    cursor = float(re.search(r'class="edge" d="M([\d.]+) ', made["picture"])[1])
    assert BESIDE <= cursor <= 330
    for _, x, wide, _ in drawn(script, view, 330):
        assert float(x) >= BESIDE and float(x) + float(wide) <= 330


def test_figures_count_copies_and_products():
    assert warp_roles.of_timeline(watched(4)).shown["rows"] == [
        ["ticks", 111, "the simulator's order, no clock"],
        ["copies", 8, "by TMA, counted by 3 mbarriers"],
        ["products", 16, "of a warpgroup"],
    ]


def test_some_hundred_steps_are_small_and_many_are_cut():
    timeline = watched(20)
    assert len(timeline.steps) > 700
    assert len(gzip.compress(json.dumps(warp_roles.of_timeline(timeline).data).encode())) < 6000
    many = shown(*(step(0, "mbarrier_arrive", k, k + 1, "full[0]", k) for k in range(4000)))
    assert many.data["end"] == warp_roles.MOST_TICKS
    assert "The first 1,500 of 4,000 ticks are shown." in many.above


def test_a_timeline_of_nothing_says_so_and_a_tick_beyond_it_is_refused():
    assert repr(shown(block=3)) == "No warp of block 3 came to a word of warpwise.hopper."
    with pytest.raises(LaunchError, match="tick is 111; it can be 0 to 110"):
        warp_roles.of_timeline(watched(4), 111)
    for other in (None, hopper.Timeline, object()):
        with pytest.raises(LaunchError, match=r"trace\(\.\.\., observers=\[timeline\]\)"):
            warp_roles.of_timeline(other)

"""The warps widget without a browser: its counts against the stored timelines; refusals."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest
from support.share import share

from warpwise.errors import LaunchError
from warpwise.views import view, warps

FILMS = json.loads(warps.STORED.read_text("utf-8"))
BOTH = [(w, n) for w in warps.WARPS for n in warps.LOADS]


def issues(key: str, part: int | None = None) -> int:
    """Return the instructions that a scheduler issues, or all four."""
    rows = [row for w, row in enumerate(FILMS[key]["warps"]) if part in (None, w % 4)]
    return sum(one < 0 for row in rows for one in row)


def rows(opened: view.View, **values) -> list[list[str]]:
    return view.shown("warps", opened.data, {**opened.values, **values})["rows"]


@pytest.mark.parametrize(("count", "loads"), BOTH)
def test_it_counts_the_slots_that_are_used(count: int, loads: int):
    opened, key = warps.explorer(count, loads), f"{count} {loads}"
    clocks = FILMS[key]["clocks"]
    assert opened.shown["rows"][0][2] == f"{issues(key):,} of {4 * clocks:,}"
    for part in range(4):
        used = rows(opened, scheduler=str(part))[0]
        assert used[2] == f"{issues(key, part):,} of {clocks:,}"


def test_holes_close_with_more_warps_and_with_more_loads():
    for loads in warps.LOADS:
        found = [issues(f"{count} {loads}") for count in warps.WARPS]
        assert found == sorted(found)
    for count in warps.WARPS:
        found = [issues(f"{count} {loads}") for loads in warps.LOADS]
        assert found == sorted(found)
    clocks = 4 * FILMS["1 1"]["clocks"]
    assert issues("1 1") < 0.02 * clocks and issues("32 4") > 0.9 * clocks


@pytest.mark.parametrize("key", FILMS)
def test_a_stored_timeline_is_whole(key: str):
    film = FILMS[key]
    assert len(film["warps"]) == int(key.split()[0])
    lengths = [sum(1 if n < 0 else n % 10_000 for n in row) for row in film["warps"]]
    assert lengths == [film["clocks"]] * len(lengths)
    assert all(0 <= line < len(film["lines"]) for _, line in film["ops"])


def test_a_part_of_the_clocks_is_counted_for_itself():
    opened = warps.explorer(8, 2)
    clocks = FILMS["8 2"]["clocks"]
    parts = [
        rows(opened, scheduler="1", first=first, clocks=clocks // 4)[0]
        for first in range(0, clocks, clocks // 4)
    ]
    assert sum(int(part[2].split()[0]) for part in parts) == issues("8 2", 1)


def test_it_reads_as_a_sentence():
    assert re.fullmatch(
        r"One SM of H100 SXM, clocks 0 to \d+, four schedulers: 4 warps, an instruction in [\d,]+ "
        r"of [\d,]+ issue slots\. Of the warps' other clocks [\d.]+ % go to long scoreboard, "
        r"waiting for data from global or local memory\. Modelled\.",
        str(warps.explorer(4, 1)),
    )


@pytest.mark.parametrize("width", [280, 390, 760])
def test_shapes_stay_inside_at_any_width(width: int):
    picture = warps.explorer(16, 4).svg(width)
    ends = [
        float(x) + float(wide) for x, wide in re.findall(r"M([\d.]+) [\d.]+h([\d.]+)v", picture)
    ]
    assert ends and max(ends) <= width


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: warps.explorer(3), "warps is 3; it can be 1, 2, 4, 8, 16, 32"),
        (lambda: warps.explorer(4, 3), "loads is 3; it can be 1, 2, 4"),
    ],
    ids=["warps", "loads"],
)
def test_what_is_not_there_is_refused(call, message: str):
    with pytest.raises(LaunchError, match=message):
        call()


def test_its_script_knows_the_numbers_of_the_stopwatch():
    """The script's list of what a warp does is in the order of the engine's numbers."""
    from warpwise.stopwatch import engine, film
    from warpwise.stopwatch.estimate import CAUSES

    stalls, script = (
        (files("warpwise.views") / name).read_text("utf-8") for name in ("stalls.js", "warps.js")
    )
    named = re.findall(r'^  \["([^"]+)", "', stalls, re.MULTILINE)
    assert named == [*CAUSES[: engine.START], "its block starts", "issues"]
    assert f"ISSUES = {engine.ISSUES};" in stalls and f"ABSENT = {engine.ABSENT};" in stalls
    assert f"PACKED = {film.PACKED:_};" in script


@pytest.mark.slow
def test_the_stored_timelines_are_those_of_the_stopwatch():
    """``python -m warpwise.stopwatch.switching`` writes them anew. An ordinary run makes one in
    four, of each kernel one or two."""
    toolchain = pytest.importorskip("warpwise.toolchain")
    if toolchain.missing():
        pytest.skip(f"no {', '.join(toolchain.missing())}")
    from warpwise.stopwatch.switching import ALL, timelines

    assert {f"{warps} {loads}" for warps, loads in ALL} == FILMS.keys()
    made = timelines(share(ALL, 4))
    assert made == {key: FILMS[key] for key in made}

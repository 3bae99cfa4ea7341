"""The memory widget without a browser: bars to scale, sources of figures, and unknown ones."""

from __future__ import annotations

import re
from math import log10

import pytest

from warpwise import devices
from warpwise.devices import A100, H100, H100_PCIE, MEASURED, V100
from warpwise.errors import LaunchError
from warpwise.views import memory, view

WIDTH = 620
# Of the bars, by place in a row of figures: beside those of the latency a load travels.
ROOM = {1: WIDTH - 140 - 88, 2: WIDTH - 102 - 88, 0: WIDTH - 102 - 88}
PLACES = {"bandwidth": 2, "clocks": 1, "size": 0}  # in a row of figures


def shown(**values) -> dict:
    opened = memory.explorer()
    return view.shown("memory", opened.data, opened.values | values, WIDTH)


def bars(made: dict) -> list[float]:
    """Return the widths of the bars that stand at the axis, from the top, of all panels."""
    return [
        float(width)
        for width in re.findall(
            r'<rect class="(?:one|grey)" x="1(?:02|40)" y="[\d.]+" width="([\d.]+)"',
            made["picture"],
        )
    ]


def known(device, place: int) -> list[float]:
    return [row[place][0] for row in memory.figures(device).values() if row[place]]


def test_the_size_of_all_registers_says_how_many_an_sm_has():
    size, source = memory.figures(A100)["registers"][0]
    assert size == 108 * 256 * 1024
    assert source.startswith("256 KiB ") and source.endswith(" in each of 108 SMs")


@pytest.mark.parametrize("name", MEASURED)
def test_linear_bars_are_as_long_as_their_figures(name):
    device, found = devices.find(name), bars(shown(device=name, scale="linear"))
    for place, most in ((1, 700), (2, 3.2e14), (0, 80 * 2**30)):
        figures, now = known(device, place), found[: len(known(device, place))]
        found = found[len(now) :]
        for figure, width in zip(figures, now, strict=True):
            assert width == pytest.approx(max(1, ROOM[place] * figure / most), abs=0.051)
    assert found == []


@pytest.mark.parametrize("name", MEASURED)
def test_logarithmic_bars_grow_by_the_same_for_the_same_factor(name):
    device, found = devices.find(name), bars(shown(device=name, scale="log"))
    for place, least, most in ((1, 1, 1e3), (2, 1e11, 1e15), (0, 2**20, 2**40)):
        for figure in known(device, place):
            assert found.pop(0) == pytest.approx(
                ROOM[place] * log10(figure / least) / log10(most / least), abs=0.051
            )
    assert found == []


@pytest.mark.parametrize("name", MEASURED)
def test_no_figure_is_longer_than_its_axis(name):
    for place, most in ((1, 700), (2, 3.2e14), (0, 80 * 2**30)):
        assert max(known(devices.find(name), place)) <= most


@pytest.mark.parametrize("name", MEASURED)
def test_each_figure_s_mark_leads_to_its_source(name):
    picture = shown(device=name)["picture"]
    sources = re.findall(r"<li>(.*?)</li>", picture)
    cells = re.findall(r"<td>(.*?)</td>", picture)
    figures = [
        figure
        for row in memory.figures(devices.find(name)).values()
        for figure in (row[1], row[2], row[0])
    ]
    assert len(cells) == len(figures) == 15
    used = set()
    for cell, figure in zip(cells, figures, strict=True):
        if figure is None:
            assert cell == "not known"
        else:
            mark = int(re.search(r"<small>\[(\d+)\]</small>", cell)[1])
            assert sources[mark - 1].replace("&#x27;", "'").replace("&#39;", "'") == figure[1]
            used.add(mark)
    assert used == set(range(1, len(sources) + 1))


def test_peaks_follow_from_rate_and_clock():
    """Peaks are in TB/s.

    An A100's registers feed three operands to 64 lanes, its shared memory has 128 bytes a clock;
    the datasheet has DRAM's."""
    rows = memory.figures(A100)
    clock = 1.41e9
    assert rows["registers"][2][0] == pytest.approx(108 * 64 * 12 * clock, rel=0.01)
    assert (
        rows["shared memory"][2][0]
        == rows["L1"][2][0]
        == pytest.approx(108 * 128 * clock, rel=0.01)
    )
    assert rows["DRAM"][2][0] == 2039e9 and rows["L2"][2][0] == 5447.7e9
    assert [rows[level][0][0] for level in ("registers", "L2", "DRAM")] == [
        108 * 256 * 1024,
        40 * 2**20,
        80 * 2**30,
    ]


def test_what_nobody_measured_is_said_to_be_unknown():
    assert "latency not known" in str(memory.explorer(V100, "shared memory"))
    assert "latency not known" in str(memory.explorer(H100_PCIE, "registers"))
    assert (
        dict(
            (term, value)
            for term, value, _ in shown(device=V100.name, found="shared memory", step=1)["rows"]
        )["latency"]
        == "not known"
    )
    assert shown(device=V100.name)["picture"].count("not known") == 2  # a bar and a cell


@pytest.mark.parametrize(
    ("found", "asked"),
    [("registers", []), ("shared memory", []), ("L1", []), ("L2", ["L1"]), ("DRAM", ["L1", "L2"])],
)
def test_a_load_asks_each_level_on_its_way_and_copies_stay_behind(found, asked):
    texts = [shown(found=found, step=step)["text"] for step in range(1, 2 * (len(asked) + 1) + 1)]
    for text, level in zip(texts, asked, strict=False):
        would = round(memory.figures(A100)[level][1][0])
        assert (
            f"{level} is asked and does not have the value; from here it would take {would} clocks"
            in text
        )
    assert found in texts[len(asked)] and "does not" not in texts[len(asked)]
    for text, level in zip(texts[len(asked) + 1 :], reversed(asked), strict=False):
        assert f"{level} keeps a copy" in text
    assert f"{memory.figures(A100)[found][1][0]:.0f} clocks" in texts[-1].split(". ")[0]
    assert all(f"step {i} of {len(texts)}" in text for i, text in enumerate(texts, 1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: memory.explorer(H100),
            "device is 'H100 SXM'; it can be V100 SXM2, A100 80 GB SXM, H100 PCIe",
        ),
        (lambda: memory.explorer("GTX"), "no device is called 'GTX'"),
        (
            lambda: memory.explorer(found="disk"),
            "found is 'disk'; it can be registers, shared memory, L1, L2, DRAM",
        ),
        (lambda: memory.explorer(scale="square"), "scale is 'square'; it can be log, linear"),
        (lambda: memory.explorer(found="L2", step=5), "step is 5; it can be 1 to 4"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(LaunchError) as caught:
        call()
    assert message in str(caught.value)

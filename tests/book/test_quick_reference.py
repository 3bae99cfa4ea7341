"""The quick reference: rows name what exists, and figures agree with pencil and paper."""

from __future__ import annotations

import re
from math import ceil

import pytest
from support.cells import CELL
from support.chapter_form import (
    GLUE,
    NUMBER,
    SEVERAL_SENTENCES,
    Chapter,
    number,
    plain,
    prose_lines,
    run,
)
from support.paths import ROOT

from warpwise import model
from warpwise.devices import H100
from warpwise.metrics import FIELDS, RATIOS
from warpwise.model import matmul

STEM = "quick_reference"
ROW = re.compile(r"^(?P<symptom>[^:#\n].*)\n: (?P<cause>.*)\n  (?P<cure>\*\*.*)$", re.MULTILINE)
LINK = re.compile(r"\[Chapter (\d+)\]\((\d\d)_(\w+)\.md(?:#[\w-]+)?\)")
COUNTERS = {*FIELDS, *RATIOS}
MODELS = {"occupancy(...)", "waves(...).useful", "load_width(n)"}


@pytest.fixture(scope="module")
def page() -> Chapter:
    return run(STEM)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    body = CELL.sub("", (ROOT / f"chapters/{STEM}.md").read_text("utf-8"))
    return [found.groupdict() for found in ROW.finditer(body)]


def test_the_page_is_a_list_of_symptom_cause_and_cure(rows, page):
    assert 20 <= len(rows) <= 30
    assert page.text.count("\n: ") == len(rows)
    assert all(re.match(r"\*\*[^*]+\.\*\* ", row["cure"]) for row in rows)
    assert len({row["symptom"] for row in rows}) == len(rows)


def test_every_name_in_a_symptom_is_a_counter_or_a_model(rows):
    names = {name for row in rows for name in re.findall(r"`([^`]+)`", row["symptom"])} - {
        "inf",
        "nan",
    }
    assert names <= COUNTERS | MODELS
    assert len(names & COUNTERS) >= 10
    for name in names & MODELS:
        name = name.split("(")[0]
        assert hasattr(model, name) or hasattr(matmul, name)


def test_every_row_leads_to_one_chapter_and_every_chapter_is_named(rows, page):
    there = {path.stem for path in (ROOT / "chapters").glob("[0-9]*.md")}
    for row in rows:
        ((spoken, number_of_file, topic),) = LINK.findall(row["cure"])
        assert int(spoken) == int(number_of_file)
        assert f"{number_of_file}_{topic}" in there
    linked = {f"{digits}_{topic}" for digits, topic in re.findall(r"\((\d\d)_(\w+)\.md", page.text)}
    assert there <= linked


def test_every_figure_is_kept_and_shown_and_every_row_has_a_pair(rows, page):
    shown = GLUE.findall(page.text)
    assert set(shown) == set(page.glued) and len(shown) == len(set(shown))
    for row in rows:
        before, after = GLUE.findall(row["cure"])
        assert before.removesuffix("_before") == after.removesuffix("_after")


def test_no_number_is_typed_that_could_be_counted(rows):
    loose = {
        found
        for row in rows
        for part in row.values()
        for found in NUMBER.findall(plain(part.replace("$T$ = 16", "")))
    }
    sizes_chosen = {
        "0",
        "1",
        "2",
        "4",
        "5",
        "8",
        "9",
        "16",
        "32",
        "50,257",
        "50,304",
        "64",
        "128",
        "132",
        "133",
        "256",
        "4,096",
    }
    assert loose <= sizes_chosen


def test_one_sentence_a_line_and_little_more_than_a_page(page):
    # A cure ends with its figure and its chapter.
    lines = [line for line in prose_lines(page.text) if not line.startswith("**")]
    assert [line for line in lines if SEVERAL_SENTENCES.search(plain(line))] == []
    assert 500 <= sum(len(line.split()) for line in prose_lines(page.text)) <= 1_300


def test_the_kernels_are_folded_away(page):
    assert all("hide-input" in cell.metadata["tags"] for cell in page.code)


# Closed forms. A warp's request of 32 neighbouring floats touches 4 sectors; x has 4,096 elements.

N = 4096
PAIRS = {
    "sms": (1, H100.sms),
    # a wait before and after each of eight steps makes nine, for eight warps
    "barriers": (9 * 8, 8),
    "atomics": (N, N // 32),
    "stride": (32, 4),
    "turn": (32, 4),
    "pitch": (4.875, 4),
    "wide": (N // 32, N * 4 // 16 // 32),
    "narrow": (2 * 4 * N, 2 * 2 * N),
    "fp64": (100, 0),
    "shared": (9 * 4 * 2048, 4 * (2048 + 8 * 8)),
    "tile": (2 * 4 * 64**3, 2 * 4 * 64**3 // 16),
    "register": (2 * 4 / 2, 4 * 4 / 8),
    "banks": (32 * 31, 0),
    "swizzle": (4 * 8, 4),
    "fusion": (3 * 8, 8),
    "recompute": (9 * 4, 5 * 4),
    "zero": (2 + 2 + 12, 16 / 64),
    "kept": (64, 8 + 8 - 1),
    "under_way": (108 * 64 * 0.100608, 108 * 2 * 0.100608),
    "occupancy": (65_536 // 128 // 32, 65_536 // 64 // 32),
    "waves": (100 * 133 / (2 * 132), 100),
    "width": (2, 16),
    "softmax": (4 * 4, 3 * 4),
    "scores": ((4 * N * 64 + 4 * N**2) * 2 / 1e6, (2 * N * 64 + 2 * 32 * N * 64) * 2 / 1e6),
    "causal": (32 * 32, 32 * 33 // 2),
    "decode": (32, 512),
    "packed": (64 // 8, 1),
    "weights": (N**2, N),
    "dq": (4 * 64, 0),
}


def shown(page: Chapter, name: str) -> tuple[float, float]:
    return tuple(number(page.glued[f"{name}_{when}"]) for when in ("before", "after"))


@pytest.mark.parametrize("name", PAIRS)
def test_figures_are_those_of_closed_forms(page, name):
    assert shown(page, name) == pytest.approx(PAIRS[name], rel=0.015, abs=0.01)


def test_every_pair_has_a_closed_form_or_a_bound(page):
    assert {name.rsplit("_", 1)[0] for name in page.glued} == {*PAIRS, "branch"}


def test_a_branch_between_lanes_leaves_some_idle_and_one_between_warps_none(page):
    before, after = shown(page, "branch")
    assert 50 < before < 100 == after


def test_rows_of_65_floats_touch_a_fifth_sector_unless_they_begin_on_one():
    # Half rows begin 32 floats apart.
    touched = [ceil((65 * row % 8 + 32) / 8) for row in range(64)]
    assert sum(touched) / 64 == PAIRS["pitch"][0] == 4.875

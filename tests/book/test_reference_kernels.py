"""The page of reference kernels: every ladder, and every step of it."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from support.ladders import LADDERS, STEPS
from support.paths import ROOT

PAGE = (ROOT / "chapters/reference_kernels.md").read_text("utf-8")


@pytest.fixture(scope="module")
def items(site) -> list[str]:
    page = BeautifulSoup(
        (site.folder / "chapters/reference_kernels.html").read_text("utf-8"), "html.parser"
    )
    return [
        " ".join(item.get_text().split()).replace("\u2019", "'")
        for item in page.select("article section li")
    ]


@pytest.mark.parametrize("name", LADDERS)
def test_a_module_has_its_ladder_in_the_source(name):
    assert PAGE.count(f"```{{kernel-ladder}} {name}\n") == 1


def test_every_step_is_on_the_page_and_no_other(items):
    assert sorted(item.partition(":")[0] for item in items) == sorted(step.name for step in STEPS)


def test_an_item_says_what_is_new_and_how_full_an_sm_gets(items):
    assert (
        "transpose_3_padded: one more column in the tile, against bank conflicts (256 x 8)" in items
    )
    assert all(
        step.idea in item for step in STEPS for item in items if item.startswith(f"{step.name}:")
    )

"""Charts for the book's pages: readable by eye and screen reader, and the same in each build."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import matplotlib
import pytest

matplotlib.use("agg")

import matplotlib.pyplot as plt

from warpwise.views.chart import INK, STYLE, USED, chart


def draw(alt="Two bars & a line <here>"):
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(4, 2))
        axes.bar([0, 1], [1, 2], color=USED, hatch="//", ec=INK)
        axes.plot([0, 1], [2, 1], color=INK, marker="o")
        axes.set(xlabel="lanes", title="bars")
        axes.grid()
        return chart(figure, alt)


@pytest.fixture(scope="module")
def drawn():
    return draw()


def test_it_is_one_well_formed_element_that_fits_its_place(drawn):
    root = ElementTree.fromstring(drawn._repr_html_())
    assert root.tag == "svg"
    assert "max-width:100%" in root.get("style")


def test_it_says_in_words_what_it_shows(drawn):
    root = ElementTree.fromstring(drawn.svg)
    assert (root.get("role"), root.get("aria-label")) == ("img", "Two bars & a line <here>")
    assert repr(drawn) == "Two bars & a line <here>"


def test_ink_is_the_colour_of_the_page(drawn):
    assert "currentColor" in drawn.svg
    assert set(re.findall(r"#[0-9a-f]{6}\b", drawn.svg)) <= {USED} | {
        f"#{name[1:]}" for name in re.findall(r"url\((#\w+)\)", drawn.svg)
    }
    assert "black" not in drawn.svg


def test_letters_are_text(drawn):
    assert "lanes" in "".join(ElementTree.fromstring(drawn.svg).itertext())


def test_it_styles_nothing_but_itself(drawn):
    assert "<style" not in drawn.svg


def test_two_charts_of_a_page_share_no_ids(drawn):
    ids = [re.findall(r'\bid="([^"]+)"', svg) for svg in (drawn.svg, draw("another").svg)]
    assert all(len(found) == len(set(found)) > 0 for found in ids)
    assert not set(ids[0]) & set(ids[1])


def test_every_reference_has_its_target(drawn):
    wanted = set(re.findall(r'(?:url\(|href=")#([\w-]+)', drawn.svg))
    assert wanted
    assert wanted <= set(re.findall(r'\bid="([^"]+)"', drawn.svg))


def test_a_build_repeats_itself(drawn):
    assert draw().svg == drawn.svg


def test_the_figure_is_closed():
    before = plt.get_fignums()
    draw()
    assert plt.get_fignums() == before

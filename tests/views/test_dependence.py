"""The dependence widget without a browser: its counts, its words, and what it draws in part."""

from __future__ import annotations

import re

import numpy as np
import pytest

from warpwise.errors import LaunchError
from warpwise.views import dependence, view


def inputs(**changes) -> dict[str, np.ndarray]:
    a, b = np.full((5, 6), "unused", "U7"), np.full((6, 4), "unused", "U7")
    a[0, :5], a[0, 5] = "used", "missing"
    b[:5, 0], b[5, 0], b[0, 1] = "used", "missing", "extra"
    return {"a": a, "b": b, "scale": np.array("used"), "v": np.full(70, "untried")} | changes


def told(opened: view.View, cell: int) -> str:
    """Return the first sentence about a cell."""
    text = view.shown("dependence", opened.data, {"cell": cell})["text"]
    return text.split(". ")[0] + "."


def test_it_counts_the_inputs_by_what_is_known_of_them():
    shown = dependence.explorer("c[0, 0]", inputs()).shown
    assert [row[:2] for row in shown["rows"]] == [
        ["used", "11"],
        ["missing", "2"],
        ["too many", "1"],
    ]


def test_it_opens_at_the_first_input_that_is_wrong():
    assert str(dependence.explorer("c[0, 0]", inputs())) == (
        "c[0, 0] should depend on a[0, 5] and does not. "
        "In all: 11 inputs used as they should be, 2 missing, 1 too many; 70 not tried."
    )
    right = {"x": np.array(["unused", "used"])}
    assert str(dependence.explorer("y", right)) == (
        "y does not depend on x[0], and need not. "
        "In all: 1 input used as they should be, 0 missing, 0 too many."
    )


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        (4, "c[0, 0] depends on a[0, 4], as it should."),
        (29, "c[0, 0] does not depend on a[4, 5], and need not."),
        (31, "c[0, 0] depends on b[0, 1], and should not."),
        (50, "c[0, 0] should depend on b[5, 0] and does not."),
        (54, "c[0, 0] depends on scale, as it should."),
        (124, "It was not tried whether c[0, 0] depends on v[69]."),
    ],
)
def test_each_cell_is_named_and_said(cell: int, sentence: str):
    assert told(dependence.explorer("c[0, 0]", inputs()), cell) == sentence


def test_the_cells_of_three_axes_have_three_indices():
    uses = np.full((2, 3, 4), "unused", "U7")
    uses[1, 2, 3] = "extra"
    opened = dependence.explorer("o[0]", {"k": uses})
    assert opened.values == {"cell": 23}
    assert told(opened, 23) == "o[0] depends on k[1, 2, 3], and should not."


def test_of_a_large_input_the_part_around_the_first_wrong_one_is_drawn():
    uses = np.full((200, 300), "unused", "U7")
    uses[0, 0], uses[120, 210] = "used", "missing"
    opened = dependence.explorer("c[0, 0]", {"a": uses})
    (part,) = opened.data["parts"]
    assert len(part["rows"]) == dependence.MOST_ROWS
    assert {len(row) for row in part["rows"]} == {dependence.MOST_COLUMNS}
    assert str(opened).startswith("c[0, 0] should depend on a[120, 210] and does not.")
    assert "a (200, 300), a part" in opened.svg()
    assert opened.shown["rows"][0][1] == "1"  # counted all the same


def test_each_word_has_a_sign_of_its_own_besides_its_colour():
    words = {use: np.array([use]) for use in dependence.USES}
    svg = dependence.explorer("e", words).svg()
    assert svg.startswith("<svg") and 'aria-label="Inputs that e depends on"' in svg
    legend = re.findall(r'<path class="[\w-]+" d="(M[^"]+)"', svg)[-5:]
    signs = {re.sub(r"M[-\d. ]+", "M", sign) for sign in legend}
    assert len(legend) == len(signs) == 5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "there are no inputs to show"),
        ({"a": np.zeros((0, 3), "U7")}, "there are no inputs to show"),
        ({"a": np.array(["read"])}, "a has other words than untried, unused, used, missing, extra"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given: dict, message: str):
    with pytest.raises(LaunchError) as caught:
        dependence.explorer("e", given)
    assert message in str(caught.value)

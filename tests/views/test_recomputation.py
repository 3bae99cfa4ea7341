"""The recomputation widget's Python side: its variants, against traced kernels."""

from __future__ import annotations

import pytest
from support import sigmoids

from warpwise.errors import LaunchError
from warpwise.views import recomputation
from warpwise.views.view import shown

VARIANTS = list(recomputation.VARIANTS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_sentence_gives_the_counts_of_traced_kernels(variant: str):
    counts = sigmoids.launch(variant)[1]
    said = recomputation.explorer(variant).sentence
    assert f"{counts.accesses:.0f} accesses move {counts.bytes:.0f} bytes for each element" in said
    assert f"{counts.flops:.0f} flops and {counts.special:.0f} exponentials" in said


@pytest.mark.parametrize(
    ("variant", "kept"),
    [("eager", "s1, s2, out"), ("stored", "s1, s2, out"), ("out", "s1, s2"), ("all", "x")],
)
def test_what_is_kept_for_the_backward_pass_is_named_and_marked(variant: str, kept: str):
    view = recomputation.explorer(variant)
    assert view.sentence.endswith(f"Kept for the backward pass: {kept}.")
    assert view.svg().count(">kept<") == len(kept.split(", "))


def test_what_is_recomputed_is_marked():
    again = {v: recomputation.explorer(v).data["variants"][v]["again"] for v in VARIANTS}
    assert again == {"eager": [], "stored": [], "out": [2], "all": [0, 1, 2]}


def test_the_player_begins_before_the_first_access():
    player = recomputation.explorer("all", step=0).controls[-1]
    assert (player.least, player.most, player.value) == (0, 5, 0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_value_is_in_memory_from_the_access_that_writes_it(variant: str):
    """Replayed accesses find what they read in memory, since when the widget says."""
    drawn = recomputation.explorer(variant).data["variants"][variant]
    there = {"x": 0, "dout": 0}
    for i, (_, _, kind, value, *_) in enumerate(drawn["accesses"]):
        if kind == "read":
            assert value in there
        else:
            there[value] = i + 1
    assert drawn["since"] == there


@pytest.mark.parametrize("variant", VARIANTS)
def test_accesses_meet_their_kernels(variant: str):
    """The level of each access lies between the ends of its kernel.

    At a lower end it is not the uppermost level."""
    drawn = recomputation.explorer(variant).data["variants"][variant]
    for kernel, side, _, _, level, lower, _ in drawn["accesses"]:
        there, first, last = drawn["kernels"][kernel]
        assert side == there and first <= level <= last
        assert level > first if lower else level < last


@pytest.mark.parametrize(("dtype", "item"), recomputation.ITEMSIZES.items())
def test_bytes_follow_the_type(dtype: str, item: int):
    rows = {row[0]: row[1] for row in recomputation.explorer("stored", dtype, step=5).shown["rows"]}
    assert (rows["bytes per element"], rows["accesses per element"]) == (5 * item, 5)
    assert rows["operations per byte"] == round(18 / (9 * item), 3)


def test_nothing_read_is_a_state():
    assert "Nothing has been read yet." in recomputation.explorer(step=0).sentence


@pytest.mark.parametrize("width", [280, 320, 400, 760])
def test_the_picture_keeps_to_its_width(width: int):
    view = recomputation.explorer("eager")
    assert (
        f'width="{width}"' in shown("recomputation", view.data, view.values, width)["picture"][:120]
    )


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"variant": "none"}, "eager, stored, out, all"),
        ({"dtype": "int8"}, "float16"),
        ({"step": 9}, "0 to 8"),
        ({"step": 1.5}, "whole"),
    ],
)
def test_what_cannot_be_is_named(wrong: dict, says: str):
    with pytest.raises(LaunchError, match=says):
        recomputation.explorer(**wrong)

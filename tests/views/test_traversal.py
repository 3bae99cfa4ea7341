"""The traversal widget's Python side: its refusals, what it leaves out, and its size."""

from __future__ import annotations

import gzip
import json
import re

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import LaunchError, TraceError
from warpwise.views import html, traversal


@cuda.jit
def copy(src, dst):
    x, y = cuda.grid(2)
    if y < src.shape[0] and x < src.shape[1]:
        dst[y, x] = src[y, x]


@cuda.jit
def scatter(src, index):
    i = cuda.grid(1)
    src[index[i] // src.shape[1], index[i] % src.shape[1]] = 1


def test_first_picture_says_the_lectures_case():
    """A warp along a row takes 4 sectors, down a column 32."""
    assert "It touches 4 sectors. " in traversal.explorer(lanes="row").sentence
    assert "It touches 32 sectors, where 4 would do." in traversal.explorer(lanes="column").sentence


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"rows": 33}, LaunchError, "rows"),
        ({"columns": 3}, LaunchError, "columns"),
        ({"rows": 8.5}, LaunchError, "rows"),
        ({"lanes": "rows"}, LaunchError, "lanes is 'rows'; it can be row, column"),
        ({"dtype": "int8"}, LaunchError, "dtype is 'int8'; it can be float16, float32, float64"),
    ],
)
def test_explorer_refuses_what_its_controls_cannot_show(arguments, error, message):
    with pytest.raises(error, match=message):
        traversal.explorer(**arguments)


def test_array_is_named_or_the_first_and_others_are_refused():
    t = trace(copy, 1, (32, 2), np.zeros((2, 32), np.float32), np.zeros((2, 32), np.float32))
    assert [traversal.of_trace(t, name).values["array"] for name in (None, "src", "dst")] == [
        "src",
        "src",
        "dst",
    ]
    with pytest.raises(
        TraceError,
        match=(
            "no request on a two-dimensional array 'x' of global memory; arrays to show: src, dst"
        ),
    ):
        traversal.of_trace(t, "x")
    with pytest.raises(
        TraceError, match="two-dimensional array of global memory; arrays to show: none"
    ):
        traversal.of_trace(
            trace(copy, 1, (32, 2), *[np.zeros((2, 32), np.float32, "F") for _ in range(2)])
        )


@pytest.mark.parametrize("there", [np.s_[:, ::2], np.s_[:, :, 0]])
def test_an_array_with_gaps_in_its_rows_is_not_shown(there):
    whole = np.zeros((2, 64, 2) if len(there) == 3 else (2, 64), np.float32)
    with pytest.raises(TraceError, match="arrays to show: none"):
        traversal.of_trace(trace(copy, 1, (32, 2), whole[there], whole[there].copy("F")))


TABLE = np.zeros((2, 32), np.float32)


@cuda.jit
def copy_of_a_table(dst):
    table, (x, y) = cuda.const.array_like(TABLE), cuda.grid(2)
    dst[y, x] = table[y, x]


def test_constant_memory_is_not_shown():
    t = trace(copy_of_a_table, 1, (32, 2), np.zeros((2, 32), np.float32))
    assert list(traversal.of_trace(t).data["arrays"]) == ["dst"]


def test_large_array_is_shown_in_part_and_says_so():
    a = np.zeros((1000, 1000), np.float32)
    near, far = np.arange(200_500, 200_532), np.arange(990_000, 990_032)
    shown = traversal.of_trace(trace(scatter, 1, 64, a, np.r_[near, far]), "src").data["arrays"][
        "src"
    ]
    assert (
        shown["top"],
        shown["rows"],
        shown["left"],
        shown["columns"],
        len(shown["requests"]),
    ) == (200, 128, 496, 128, 1)
    rows = "Shown are rows 200 to 327 and columns 496 to 623."
    assert shown["what"] == f"src has 1000 by 1000 float32. {rows} Of its 2 requests, 1 are shown."


def test_part_of_an_array_has_its_sectors_where_memory_has_them():
    """Columns 500 to 531 of rows of 1,000 floats.

    200,500 floats are 25,062.5 sectors, so the request takes five."""
    view = traversal.of_trace(
        trace(scatter, 1, 32, np.zeros((1000, 1000), np.float32), np.arange(200_500, 200_532))
    )
    assert "It touches 5 sectors, where 4 would do." in view.sentence
    used = re.findall(
        r'<rect class="one" x="([\d.]+)" y="20" width="([\d.]+)"', view.svg(34 + 2 + 128 * 5)
    )
    assert used == [(f"{34 + 5 * 4}", f"{5 * 32}")]


def test_data_of_the_worst_array_keeps_to_its_budget():
    index = np.random.default_rng(8).permutation(128 * 4096)[: 32 * 300]
    view = traversal.of_trace(
        trace(scatter, 1, 32 * 30, np.zeros((128, 4096), np.float32), index[: 32 * 30])
    )
    assert len(gzip.compress(json.dumps(view.payload).encode())) <= html.DATA_BUDGET

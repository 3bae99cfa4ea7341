"""The online softmax widget's Python side: rows, errors, and accesses of traced kernels."""

from __future__ import annotations

import gzip
import json
import math
import re

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import LaunchError
from warpwise.views import html, online_softmax
from warpwise.views.view import shown

LENGTH = 40


@cuda.jit
def softmax_1_safe(x, y):
    row = cuda.grid(1)
    m = np.float32(-np.inf)
    for j in range(x.shape[1]):
        m = max(m, x[row, j])
    d = np.float32(0)
    for j in range(x.shape[1]):
        d += math.exp(x[row, j] - m)
    for j in range(x.shape[1]):
        y[row, j] = math.exp(x[row, j] - m) / d


@cuda.jit
def softmax_2_online(x, y):
    row = cuda.grid(1)
    m, d = np.float32(-np.inf), np.float32(0)
    for j in range(x.shape[1]):
        value = x[row, j]
        above = max(m, value)
        d = d * math.exp(m - above) + math.exp(value - above)
        m = above
    for j in range(x.shape[1]):
        y[row, j] = math.exp(x[row, j] - m) / d


@cuda.jit
def softmax_3_on_chip(x, y):
    kept = cuda.local.array(LENGTH, "float32")
    row = cuda.grid(1)
    m, d = np.float32(-np.inf), np.float32(0)
    for j in range(x.shape[1]):
        kept[j] = x[row, j]
        above = max(m, kept[j])
        d = d * math.exp(m - above) + math.exp(kept[j] - above)
        m = above
    for j in range(x.shape[1]):
        y[row, j] = math.exp(kept[j] - m) / d


def texts(picture: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture)


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("safe softmax", softmax_1_safe),
        ("online softmax", softmax_2_online),
        ("row kept on chip", softmax_3_on_chip),
    ],
)
def test_the_accesses_shown_are_those_of_a_traced_kernel(name: str, kernel):
    x = np.random.default_rng(1).normal(size=(32, LENGTH)).astype(np.float32)
    y = np.zeros_like(x)
    m = trace(kernel, 1, 32, x, y, record=()).metrics
    e = np.exp(x - x.max(1, keepdims=True))
    assert np.allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5)
    words = texts(online_softmax.explorer().svg())
    row = words[words.index(name) + 1 :]
    reads, writes = m.global_load_bytes / x.nbytes, m.global_store_bytes / x.nbytes
    assert row[: int(reads + writes) + 1] == ["read"] * int(reads) + ["write"] * int(writes) + [
        f"{reads + writes:.0f}"
    ]


def test_prepared_rows_do_what_they_are_called():
    rows = online_softmax.inputs()
    assert all(len(row) == online_softmax.VALUES for kind in rows.values() for row in kind)
    assert rows["rising"][0] == sorted(rows["rising"][0]) == rows["falling"][0][::-1]
    assert (
        len(rows["random"]) == online_softmax.SEEDS == len({tuple(row) for row in rows["random"]})
    )
    with np.errstate(over="ignore"):
        first = np.cumsum(np.exp(np.float32(rows["large"][0])))
    assert np.isfinite(first[0]) and np.isinf(first[-1])  # it overflows on the way, not at once
    assert np.exp(np.float32(rows["small"][0])).sum() == 0


def test_it_opens_on_the_last_correction():
    view = online_softmax.explorer([0.5, 2, -1, 3.25, 1])
    assert view.values == {"input": "own", "seed": 0, "step": 4}
    assert "Value 4 of 5, 3.25, raises the maximum from 2.00 to 3.25" in view.sentence


@pytest.mark.parametrize("name", [*online_softmax.inputs(), "own"])
def test_the_sum_is_the_same_at_the_end_whatever_the_order(name: str):
    """Any order of a row gives the same maximum and sum: the corrections make up for it."""
    own = np.random.default_rng(4).normal(0, 3, 16).round(2)
    rows = online_softmax.inputs() | {"own": [own.tolist()]}
    row = rows[name][0]
    data = [{"inputs": {name: [order]}} for order in (row, row[::-1], sorted(row))]
    ends = [
        shown("online_softmax", one, {"input": name, "seed": 0, "step": len(row)})["rows"]
        for one in data
    ]
    assert len({(end[0][1], end[2][1]) for end in ends}) == 1


def test_nothing_seen_yet_is_a_state():
    assert (
        online_softmax.explorer(step=0).sentence
        == "No value has been seen: the maximum is \N{MINUS SIGN}∞, and the sum is 0."
    )


def test_a_float32_sum_overflows_though_no_term_does():
    assert np.isfinite(np.exp(np.float32(88.5)))
    sentences = [online_softmax.explorer([88.5, 88.5], step=step).sentence for step in (1, 2)]
    assert ["overflowed" in sentence for sentence in sentences] == [False, True]


def test_a_row_of_equal_values_has_no_height_to_scale():
    view = online_softmax.explorer([2, 2, 2], step=3)
    assert "The sum is now 3.000" in view.sentence and "NaN" not in view.svg()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"values": [1]}, "2 to 16"),
        ({"values": range(17)}, "2 to 16"),
        ({"values": [1, float("nan")]}, "-1000 to 1000"),
        ({"values": [1, -1001]}, "-1001"),
        ({"start": "none"}, "rising"),
        ({"start": "own"}, "falling"),
        ({"seed": 20}, "0 to 19"),
        ({"step": 13}, "0 to 12"),
        ({"values": [1, 2, 3], "step": 4}, "0 to 3"),
    ],
)
def test_what_cannot_be_is_named(wrong: dict, says: str):
    with pytest.raises(LaunchError, match=says):
        online_softmax.explorer(**wrong)


def test_data_keeps_to_its_budget():
    view = online_softmax.explorer(np.linspace(-3, 3, 16))
    assert len(gzip.compress(json.dumps(view.payload).encode())) <= html.DATA_BUDGET

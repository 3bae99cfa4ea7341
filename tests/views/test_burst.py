"""The burst widget's Python side: counts of ``Metrics``, opened on what wastes most."""

from __future__ import annotations

import json
import re
from itertools import pairwise, product

import numpy as np
import pytest
from support.spoken import sentence
from support.view_kernels import copy_strided, sum_shifted_late, traced_gather, transpose_at_once
from traitlets import TraitError

from warpwise import cuda, trace
from warpwise.errors import TraceError
from warpwise.traces import Trace
from warpwise.views import burst
from warpwise.views.request import ITEMSIZES, packed, requests_of, strided
from warpwise.views.view import shown


@cuda.jit
def transpose(src, dst):
    tile = cuda.shared.array((32, 32), "float32")
    x, y = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = src[y, x]
    cuda.syncthreads()
    dst[x, y] = tile[cuda.threadIdx.y, cuda.threadIdx.x]


@cuda.jit
def copy_rows(src, dst):
    x, y = cuda.grid(2)
    dst[y, x] = src[y, x]


@cuda.jit
def sum_columns(a, out):
    col = cuda.grid(1)
    total = np.float32(0)
    for row in range(a.shape[0]):
        total += a[row, col]
    out[col] = total


@cuda.jit
def idle(x):
    i = cuda.grid(1)
    if i < 0:
        x[i] = 1


def traced_copy(stride: int, offset: int, dtype: str) -> Trace:
    """Trace one warp that reads ``x[offset + stride * i]``."""
    x = np.zeros(offset + 31 * stride + 1, dtype)
    return trace(copy_strided, 1, 32, x, np.zeros(32, dtype), stride, offset)


def traced_transpose() -> Trace:
    return trace(
        transpose, (2, 2), (32, 8), np.zeros((64, 64), np.float32), np.zeros((64, 64), np.float32)
    )


def traced_at_once() -> Trace:
    """Trace one line of perfect loads and the worst of stores."""
    return trace(
        transpose_at_once,
        (2, 2),
        (32, 8),
        np.zeros((16, 64), np.float32),
        np.zeros((64, 16), np.float32),
    )


def line_of(text: str, t: Trace) -> int:
    return next(number for number, line in t.source.items() if text in line)


@pytest.mark.parametrize(
    ("dtype", "sectors"),
    [
        ("float16", {1: 2, 2: 4, 4: 8, 8: 16, 16: 32}),
        ("float32", {0: 1, 1: 4, 2: 8, 3: 12, 4: 16, 5: 20, 6: 24, 7: 28, 8: 32, 9: 32, 32: 32}),
        ("float64", {1: 8, 2: 16, 4: 32}),
    ],
)
def test_closed_form_gives_the_table(dtype, sectors):
    assert {stride: strided(stride, 0, dtype).sectors for stride in sectors} == sectors


def test_one_element_off_costs_a_sector_and_one_sector_off_does_not():
    assert [strided(1, offset).sectors for offset in (0, 1, 7, 8)] == [4, 5, 5, 4]


@pytest.mark.parametrize(
    ("dtype", "stride", "offset"), [*product(ITEMSIZES, (0, 1, 2, 5, 8, 32), (0, 1, 31))]
)
def test_closed_form_equals_the_trace(dtype, stride, offset):
    t, request = traced_copy(stride, offset, dtype), strided(stride, offset, dtype)
    load = next(r for found in requests_of(t).values() for r in found if r.kind == "load")
    assert load.addresses == request.addresses
    assert (request.sectors, 1) == (t.metrics.global_load_sectors, t.metrics.global_load_requests)
    assert request.moved == t.metrics.global_bytes_moved - 32 * t.metrics.global_store_sectors
    assert request.used == t.metrics.global_bytes_distinct - t.metrics.global_store_bytes


def test_toy_bursts_of_four_give_the_lectures_factor():
    apart, together = strided(4, toy=True), strided(1, toy=True)
    assert (apart.sectors, together.sectors) == (32, 8)
    assert (apart.efficiency, together.efficiency) == (0.25, 1)


def test_sentence_says_the_counts_and_what_would_do():
    assert burst.explorer(2, 1).sentence == (
        "Stride 2, offset 1, float32. The request touches 8 sectors of 32 bytes and uses 128 of "
        "the 256 bytes moved, 50 %. 4 sectors could hold what it uses. "
        "Lane 0 reads bytes 4 to 7 of x, in sector 0: the 1st of the 8 touched."
    )
    assert burst.explorer(0).sentence == (
        "Stride 0, offset 0, float32. The request touches 1 sector of 32 bytes and uses 4 of the "
        "32 bytes moved, 12.5 %. Lane 0 reads bytes 0 to 3 of x, in sector 0: "
        "the only one touched."
    )


@pytest.mark.parametrize("toy", [False, True])
@pytest.mark.parametrize(
    ("dtype", "stride", "offset"), [*product(ITEMSIZES, (0, 1, 3, 8, 32), (0, 1, 31))]
)
def test_script_counts_what_python_counts(dtype, stride, offset, toy):
    """The script, without a browser, against the closed form that the test above checks."""
    view, request = burst.explorer(stride, offset, dtype, toy), strided(stride, offset, dtype, toy)
    assert f" {sentence(request)} Lane 0 reads" in view.sentence
    (_, sectors, fewest), (_, used, moved), _ = view.shown["rows"]
    found = (sectors, fewest, used, moved)
    assert found == (
        request.sectors,
        f"fewest possible: {request.ideal}",
        request.used,
        f"of {request.moved} moved",
    )


@pytest.mark.parametrize("make", [traced_transpose, traced_gather], ids=["transpose", "gather"])
def test_requests_of_all_blocks_add_up_to_the_counters(make):
    t = make()
    if make is traced_transpose:
        t = trace(
            transpose,
            (2, 2),
            (32, 8),
            np.zeros((64, 64), np.float32),
            np.zeros((64, 64), np.float32),
            record=(0, 1, 2, 3),
        )
    for line, found in requests_of(t).items():
        counted = {
            kind: sum(r.sectors for r in found if r.kind == kind) for kind in ("load", "store")
        }
        metrics = t.by_line[line]
        assert counted == {
            "load": metrics.global_load_sectors,
            "store": metrics.global_store_sectors,
        }


def test_trace_is_listed_by_line_worst_line_first():
    t = traced_transpose()
    view = burst.of_trace(t)
    load, store = line_of("= src[y, x]", t), line_of("dst[x, y] =", t)
    assert view.values["row"] == f"{store} store"
    assert [(row["row"], row["total"]) for row in view.data["lines"]] == [
        (f"{load} load", 8),
        (f"{store} store", 8),
    ]
    assert view.sentence.startswith(
        f"Line {store}: warp 0 of block (0, 0, 0) writes dst with 32 lanes. "
        "The request touches 32 sectors"
    )
    assert burst.of_trace(t, load).values["row"] == f"{load} load"


def test_bad_store_is_not_hidden_behind_the_good_loads_of_its_line():
    t = traced_at_once()
    line, view = line_of("dst[x, y] =", t), burst.of_trace(t)
    assert [(row["row"], row["total"], row["opens"]) for row in view.data["lines"]] == [
        (f"{line} load", 8, False),
        (f"{line} store", 8, True),
    ]
    assert view.values["row"] == f"{line} store"
    assert view.sentence.startswith(
        f"Line {line}: warp 0 of block (0, 0, 0) writes dst with 32 lanes. "
        "The request touches 32 sectors"
    )
    for kind in ("load", "store"):
        assert f'value="{line} {kind}"' in view.payload["body"]


def test_kind_says_what_is_shown_first_and_is_passed_over_where_there_is_none():
    t = traced_transpose()
    load, store = line_of("= src[y, x]", t), line_of("dst[x, y] =", t)
    for kind, first in (
        ("load", (load, "load")),
        ("store", (store, "store")),
        ("atomic", (store, "store")),
        (None, (store, "store")),
    ):
        assert burst.of_trace(t, kind=kind).values["row"] == "{} {}".format(*first)
    assert burst.of_trace(t, load, "store").values["row"] == f"{load} load"
    one_line = traced_at_once()
    assert (
        "reads src" in burst.of_trace(one_line, line_of("dst[x, y] =", one_line), "load").sentence
    )
    with pytest.raises(ValueError, match="kind is 'stores'; it can be load, store, atomic"):
        burst.widget(t, kind="stores")


def test_shown_first_is_the_request_that_wastes_most_not_the_first():
    """Rows of 33 floats: the warp of row 0 is aligned, that of row 1 is not."""
    t = trace(copy_rows, 1, (32, 8), np.zeros((8, 33), np.float32), np.zeros((8, 32), np.float32))
    view = burst.of_trace(t)
    assert [(row["row"].split()[1], row["worst"]) for row in view.data["lines"]] == [
        ("load", 2),
        ("store", 1),
    ]
    assert view.values["step"] == 2
    assert "warp 1 of block (0, 0, 0) reads src" in view.sentence and "5 sectors" in view.sentence


def test_worst_request_is_carried_however_late_it_comes():
    t = trace(sum_shifted_late, 1, 32, np.zeros(32 * 300 + 1, np.float32), np.zeros(32, np.float32))
    late, store = burst.of_trace(t).data["lines"]
    assert (late["total"], late["worst"], len(late["requests"])) == (300, 251, 128)
    assert late["first"] <= 251 < late["first"] + 128 <= 301
    assert (store["first"], store["worst"], len(store["requests"])) == (1, 1, 1)


def test_note_says_where_bank_conflicts_are_if_there_is_shared_memory():
    shared, without = burst.of_trace(traced_transpose()), burst.of_trace(traced_at_once())
    for text in (shared.plain, shared.above):
        assert "The picture shows global memory only: bank conflicts" in text
    assert "bank conflict" not in without.plain + without.above


def labels(view, width: float, y: float) -> list[tuple[float, str]]:
    """Return left ends and words of the labels at a height of the picture."""
    return [
        (float(x), words)
        for x, words in re.findall(
            rf'<text class="[^"]*" x="([\d.]+)" y="{y}">([^<]*)<', view.svg(width)
        )
    ]


@pytest.mark.parametrize("stride", [1, 2, 3, 8, 12, 32])
@pytest.mark.parametrize("width", [288, 328, 620, 768])
def test_byte_labels_stand_at_equal_distances_and_apart(stride, width):
    drawn = labels(burst.explorer(stride), width, 216)
    found = [int(words.removeprefix("byte ")) for _, words in drawn]
    assert found[0] == 0 and len(found) > 1
    assert len({after - before for before, after in pairwise(found)}) == 1
    assert all(left + 6 * len(words) < right for (left, words), (right, _) in pairwise(drawn))


@pytest.mark.parametrize("stride", [4, 5, 8])
@pytest.mark.parametrize("offset", [0, 5, 7])
def test_touched_sectors_have_the_numbers_of_the_sentence_and_stand_apart(stride, offset):
    view = burst.explorer(stride, offset)
    drawn = labels(view, 328, 197)
    assert all(right - left > 12 for (left, _), (right, _) in pairwise(drawn))
    touched = sorted({4 * (offset + stride * lane) // 32 for lane in range(32)})
    found = [int(words) for _, words in drawn]
    every = next(after for after in (1, 2, 4, 8) if found == touched[::after])
    assert every < 8
    assert f"in sector {found[0]}: the 1st" in view.sentence


@pytest.mark.parametrize("stride", [96, 256, 1024])
@pytest.mark.parametrize("width", [328, 620, 768])
def test_byte_labels_of_far_sectors_stand_at_equal_distances(stride, width):
    line = {
        "row": "1",
        "total": 1,
        "first": 1,
        "worst": 1,
        "requests": [packed(strided(stride), "")],
    }
    values = {"row": "1", "step": 1, "lane": 0}
    drawn = shown("requests", {"lines": [line], "sector": 32}, values, width)["picture"]
    found = [int(text) for text in re.findall(r'y="216">(?:byte )?(\d+)<', drawn)]
    assert found[0] == 0 and len(found) > 1
    assert len({after - before for before, after in pairwise(found)}) == 1


def test_table_has_the_counters_of_each_line_and_no_empty_column():
    t = traced_transpose()
    load = line_of("= src[y, x]", t)
    assert f'value="{load} load"' in burst.of_trace(t).above
    assert (
        f"<td>{load}</td><td>32</td><td>4</td><td></td><td>0</td><td><code"
        in burst.of_trace(t).plain
    )
    assert "bank conflicts" not in burst.of_trace(traced_copy(1, 0, "float32")).plain


def test_line_without_a_request_is_refused_with_those_that_have():
    t = traced_transpose()
    able = ", ".join(map(str, requests_of(t)))
    with pytest.raises(
        TraceError,
        match=f"line 1 of transpose has no global request to show; lines that have: {able}",
    ):
        burst.of_trace(t, 1)


def test_kernel_without_requests_is_listed():
    view = burst.of_trace(trace(idle, 1, 32, np.zeros(32, np.float32)))
    assert (view.data["lines"], view.controls) == ([], ())
    assert "made no global request" in view.sentence and "x[i] = 1" in view.plain
    assert burst.widget(trace(idle, 1, 32, np.zeros(32, np.float32))).line == 0


def test_cut_off_trace_is_listed_with_counters_and_the_reason():
    a = np.ones((50, 64), np.float32)
    t = trace(sum_columns, 1, 64, a, np.zeros(64, np.float32), max_records=10)
    assert t.truncated
    view = burst.of_trace(t)
    assert "made more events than the trace keeps" in view.sentence
    assert "<td>4</td>" in view.plain


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stride": 33}, "stride is 33; it can be 0 to 32"),
        ({"offset": -1}, "offset is -1"),
        ({"stride": 1.5}, "stride is 1.5; it has to be a whole number"),
        ({"dtype": "int8"}, "dtype is 'int8'; it can be float16, float32, float64"),
    ],
)
def test_explorer_refuses_what_its_controls_cannot_show(arguments, message):
    with pytest.raises(ValueError, match=message):
        burst.explorer(**arguments)


def test_lab_widget_selects_the_worst_line_and_keeps_its_text():
    t = traced_transpose()
    widget = burst.widget(t)
    assert widget.line == line_of("dst[x, y] =", t)
    assert widget.data == burst.of_trace(t).payload
    assert burst.of_trace(t).widget().line == widget.line  # a view is made into the same widget
    load = burst.widget(t, kind="load")
    assert (load.line, load.values["row"].split()[1]) == (line_of("= src[y, x]", t), "load")
    texts = {
        json.dumps(burst.widget(x)._repr_mimebundle_()[0]["text/plain"])
        for x in (t, traced_gather())
    }
    assert len(texts) == 1


def test_line_of_the_lab_widget_follows_the_reader_is_observed_and_is_set():
    t = traced_at_once()
    line, widget, seen = line_of("dst[x, y] =", t), burst.widget(t, kind="load"), []
    widget.observe(seen.append, "line")
    assert (widget.line, widget.values["row"]) == (line, f"{line} load")
    widget.line = line  # the reader's choice within the line stays
    assert (widget.values["row"], seen) == (f"{line} load", [])

    t = traced_transpose()
    load, store = line_of("= src[y, x]", t), line_of("dst[x, y] =", t)
    widget = burst.widget(t)
    widget.observe(lambda change: seen.append(change["new"]), "line")
    widget.values = widget.values | {"row": f"{load} load", "step": 3}
    widget.line = store
    assert (seen, widget.values["row"], widget.values["step"]) == (
        [load, store],
        f"{store} store",
        1,
    )
    with pytest.raises(
        TraitError, match=f"line 1 has no request to show; lines that have: {load}, {store}"
    ):
        widget.line = 1

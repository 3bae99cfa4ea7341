"""The report on a trace: its figures are those of Metrics, and its advice names the line that earns it."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

from warpwise import Trace, cuda, trace
from warpwise.report import needed_sectors, report

ONE = np.float32(1)


@cuda.jit
def copy_down(x, y):
    row, col = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        y[row, col] = x[row, col]  # scattered


@cuda.jit
def copy_across(x, y):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        y[row, col] = x[row, col]  # coalesced


@cuda.jit
def copy_shifted(x, y, offset):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[i + offset]  # shifted


@cuda.jit
def turn_tile(x, y):
    tile = cuda.shared.array((32, 32), np.float32)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    tile[j, i] = x[j, i]
    cuda.syncthreads()
    y[j, i] = tile[i, j]  # conflicts


@cuda.jit
def exchange(x):
    pair = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    pair[i] = x[i]
    x[i] = pair[63 - i]  # no barrier before this


@cuda.jit
def one_lane_works(x):
    i = cuda.threadIdx.x
    if i == 0:
        for _ in range(100):
            x[0] += ONE  # idle


@cuda.jit
def mostly_fine(x, y):
    i = cuda.grid(1)
    for k in range(40):
        y[i] = x[i + 32 * k]
    y[i] = x[i + 1]  # one shifted load among many


@cuda.jit
def nothing(n):
    n += cuda.grid(1)


def matrix(rows=64, cols=64):
    return np.arange(rows * cols, dtype=np.float32).reshape(rows, cols)


def line_of(t: Trace, comment: str) -> int:
    return next(line for line, text in t.source.items() if text.endswith(f"# {comment}"))


@pytest.fixture
def scattered() -> Trace:
    return trace(copy_down, (2, 8), (32, 8), matrix(), matrix())


def test_a_coalesced_copy_earns_no_advice():
    done = report(trace(copy_across, (2, 8), (32, 8), matrix(), matrix()))
    assert done.advice == ()
    assert done.traffic == "Global memory: 32,768 bytes used, and no others moved (modelled)."


def test_figures_are_those_of_metrics(scattered):
    text = str(report(scattered)).splitlines()
    m = scattered.metrics
    figures = f"{m.global_load_requests} {m.sectors_per_request_load} {m.global_store_requests} {m.sectors_per_request_store} 100 %"
    assert next(line for line in text if line.startswith("total")).split()[1:] == figures.split()
    row = next(line for line in text if line.endswith("# scattered"))
    assert row.split()[:7] == [str(line_of(scattered, "scattered")), *figures.split()]


def test_scattered_loads_and_stores_are_named(scattered):
    number = line_of(scattered, "scattered")
    assert report(scattered).advice == (
        f"line {number}: 32.0 sectors per load where 4.0 would do; let neighbouring lanes read neighbouring elements.",
        f"line {number}: 32.0 sectors per store where 4.0 would do; let neighbouring lanes write neighbouring elements.",
    )
    assert "8.0 times as many" in report(scattered).traffic


def test_a_shift_is_told_from_scatter():
    t = trace(copy_shifted, 4, 256, np.zeros(1025, np.float32), np.zeros(1024, np.float32), 1)
    (advice,) = report(t).advice
    assert advice.startswith(f"line {line_of(t, 'shifted')}: 5.0 sectors per load where 4.0 would do; begin each warp's load on a multiple")


def test_a_ragged_end_is_no_shift():
    t = trace(copy_shifted, 1, 64, np.zeros(33, np.float32), np.zeros(33, np.float32), 0)
    assert t.metrics.global_load_requests == 2  # one full, one of a single lane
    assert not any("sectors" in advice for advice in report(t).advice)


def test_waste_below_a_tenth_is_not_worth_a_word():
    t = trace(mostly_fine, 1, 32, np.zeros(2000, np.float32), np.zeros(32, np.float32))
    assert t.by_line[line_of(t, "one shifted load among many")].sectors_per_request_load == 5
    assert report(t).advice == ()


def test_bank_conflicts_are_named():
    t = trace(turn_tile, 1, (32, 32), matrix(32, 32), matrix(32, 32))
    (advice,) = report(t).advice
    assert advice.startswith(f"line {line_of(t, 'conflicts')}: {t.metrics.shared_bank_conflicts:,} bank conflicts;")


def test_races_come_first():
    t = trace(exchange, 1, 64, np.zeros(64, np.float32))
    assert t.races
    assert report(t).advice[0].startswith("race on pair[")


def test_idle_lanes_are_named():
    t = trace(one_lane_works, 1, 32, np.zeros(1, np.float32))
    assert any(advice.startswith(f"line {line_of(t, 'idle')}: 3 % of the lanes are active") for advice in report(t).advice)


def test_a_kernel_without_memory():
    done = report(trace(nothing, 1, 32, 1))
    assert done.traffic == "No global memory was used."
    assert [column.heading for column in done.columns()] == ["active lanes"]


def test_columns_that_say_nothing_are_left_out(scattered):
    assert "bank conflicts" not in [column.heading for column in report(scattered).columns()]


def test_a_trace_read_from_a_file_gives_the_same_report(scattered, tmp_path):
    scattered.save(tmp_path / "copy.npz")
    again = report(Trace.load(tmp_path / "copy.npz"))
    assert str(again) == str(report(scattered))
    assert again._repr_html_() == report(scattered)._repr_html_()


class Table(HTMLParser):
    """The cells of a table, row by row, as text."""

    def __init__(self, html: str):
        super().__init__()
        self.rows: list[list[str]] = []
        self.open = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.open = True

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.open = False

    def handle_data(self, data):
        if self.open:
            self.rows[-1][-1] += data


def test_html_says_what_the_text_says(scattered):
    done = report(scattered)
    head, *body = Table(done._repr_html_()).rows
    assert head == ["line", *(column.heading for column in done.columns()), "source"]
    assert body == [[row.name, *(column.text(row.metrics) for column in done.columns()), row.source] for row in done.rows]
    assert "if row &lt; x.shape[0]" in done._repr_html_()


@pytest.mark.parametrize(
    ("requests", "used", "needed"),
    [(1, 128, 4), (1, 4, 1), (32, 128, 32), (2, 132, 5), (1, 33, 2), (0, 0, 0)],
)
def test_needed_sectors(requests, used, needed):
    assert needed_sectors(requests, used) == needed

"""The report on a trace: figures of ``Metrics``, and advice that names the line which earns it."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from html import escape
from html.parser import HTMLParser

import numpy as np
import pytest

from warpwise import Metrics, Trace, cuda, trace
from warpwise.devices import H100, RTX_4090, T4
from warpwise.model import bound, occupancy, waves
from warpwise.report import needed_sectors, report
from warpwise.report.modelled_time import sentence
from warpwise.toolchain import missing
from warpwise.traces import Note

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
def scaled(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] * 0.5 + ONE  # a bare literal


@cuda.jit
def tiled_matmul(a, b, c):
    left = cuda.shared.array((16, 16), np.float32)
    right = cuda.shared.array((16, 16), np.float32)
    col, row = cuda.grid(2)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for k in range(a.shape[1] // 16):
        left[j, i] = a[row, 16 * k + i]
        right[j, i] = b[16 * k + j, col]
        cuda.syncthreads()
        for n in range(16):
            total += left[j, n] * right[n, i]
        cuda.syncthreads()
    c[row, col] = total


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
    figures = (
        f"{m.global_load_requests} {m.sectors_per_request_load} {m.global_store_requests} "
        f"{m.sectors_per_request_store} 100 %"
    )
    assert next(line for line in text if line.startswith("total")).split()[1:] == figures.split()
    row = next(line for line in text if line.endswith("# scattered"))
    assert row.split()[:7] == [str(line_of(scattered, "scattered")), *figures.split()]


def test_scattered_loads_and_stores_are_named(scattered):
    number = line_of(scattered, "scattered")
    assert report(scattered).advice == (
        (
            f"line {number}: 32.0 sectors per load where 4.0 would do; "
            "let neighbouring lanes read neighbouring elements."
        ),
        (
            f"line {number}: 32.0 sectors per store where 4.0 would do; "
            "let neighbouring lanes write neighbouring elements."
        ),
    )
    assert "8.0 times as many" in report(scattered).traffic


def test_a_shift_is_told_from_scatter():
    t = trace(copy_shifted, 4, 256, np.zeros(1025, np.float32), np.zeros(1024, np.float32), 1)
    (advice,) = report(t).advice
    assert advice.startswith(
        f"line {line_of(t, 'shifted')}: 5.0 sectors per load where 4.0 would do; "
        "begin each warp's load on a multiple"
    )


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
    assert advice.startswith(
        f"line {line_of(t, 'conflicts')}: {t.metrics.shared_bank_conflicts:,} bank conflicts;"
    )


def test_races_come_first():
    t = trace(exchange, 1, 64, np.zeros(64, np.float32))
    assert t.races
    assert report(t).advice[0].startswith("race on pair[")


def test_a_race_says_what_to_try():
    t = trace(exchange, 1, 64, np.zeros(64, np.float32))
    assert report(t).advice[0] == f"{t.races[0].what}. Try: {t.races[0].try_this}."


def test_notes_come_before_what_counters_say_and_are_not_said_twice():
    t = trace(scaled, 4, 64, np.zeros(256, np.float32), np.zeros(256, np.float32))
    line = line_of(t, "a bare literal")
    noted = replace(
        t, notes=(Note(line, t.source[line], "0.5 makes this float64", "np.float32(0.5)"),)
    )
    assert report(noted).advice == (f"line {line}: 0.5 makes this float64. Try: np.float32(0.5).",)
    assert "Arithmetic" in labels(report(noted))


def test_a_few_notes_are_enough():
    t = trace(copy_across, (2, 8), (32, 8), matrix(), matrix())
    notes = tuple(Note(line, "", f"note {line}", "this") for line in range(9))
    assert report(replace(t, notes=notes)).advice == tuple(
        f"line {n}: note {n}. Try: this." for n in range(3)
    )


def test_idle_lanes_are_named():
    t = trace(one_lane_works, 1, 32, np.zeros(1, np.float32))
    assert any(
        advice.startswith(f"line {line_of(t, 'idle')}: 3 % of the lanes are active")
        for advice in report(t).advice
    )


def test_a_kernel_without_memory():
    done = report(trace(nothing, 1, 32, 1))
    assert done.traffic == "No global memory was used."
    assert [column.heading for column in done.columns()] == ["active lanes"]


def figure(done, label: str) -> str:
    """Return the one line about the launch that begins with a label."""
    (line,) = [line for line in done.figures if line.startswith(f"{label}: ")]
    return line


def labels(done) -> list[str]:
    return [line.partition(":")[0] for line in done.figures]


@pytest.mark.parametrize(("device", "registers"), [(H100, 32), (T4, 32), (RTX_4090, 128)])
def test_the_launch_is_set_against_a_device(scattered, device, registers):
    done = report(scattered, device, registers)
    held = occupancy(device, 256, registers)
    assert done.figures == (
        f"Occupancy: {held}, at {registers} registers per thread (assumed).",
        f"Waves: {waves(16, device, held.blocks)}.",
        f"Time: {bound(scattered, device)}; latency and launching come on top.",
    )
    assert all(line in str(done).splitlines() for line in done.figures)


def test_an_ordinary_kernel_fits_a_screen():
    t = trace(tiled_matmul, (8, 8), (16, 16), matrix(128, 128), matrix(128, 128), matrix(128, 128))
    text = str(report(t)).splitlines()
    assert len(text) <= 25 and max(map(len, text)) <= 140


def test_shared_arrays_count_for_occupancy():
    t = trace(tiled_matmul, (8, 8), (16, 16), matrix(128, 128), matrix(128, 128), matrix(128, 128))
    assert str(occupancy(T4, 256, 32, 2 * 16 * 16 * 4)) in figure(report(t, T4), "Occupancy")
    assert "limited by shared memory" in figure(
        report(replace(t, shared_bytes_per_block=40 * 1024), T4), "Occupancy"
    )


def test_a_block_that_fits_no_sm_has_no_waves(scattered):
    done = report(replace(scattered, block=(1024, 1, 1)), H100, 255)
    assert "no block fits on an SM of H100 SXM, for lack of registers" in figure(done, "Occupancy")
    assert "Waves" not in labels(done)


def test_a_grid_that_leaves_sms_idle_is_told_so():
    t = trace(copy_across, (2, 32), (32, 32), matrix(1024, 64), matrix(1024, 64), record=())
    assert (
        "launch: with 64 blocks, 68 of the 132 SMs of H100 SXM have nothing to do; "
        "blocks of 256 threads would reach them all."
    ) in report(t).advice
    assert not any(advice.startswith("launch") for advice in report(t, T4).advice)


def test_a_launch_too_small_for_any_gpu_gets_its_share_of_a_wave_and_no_advice():
    done = report(trace(copy_across, (2, 8), (32, 8), matrix(), matrix()))
    assert (
        "16 blocks of 1,056 at a time: 1.5 % of one wave" in figure(done, "Waves")
        and done.advice == ()
    )


def test_float64_by_a_bare_literal_is_named():
    t = replace(
        trace(scaled, 4, 64, np.zeros(256, np.float32), np.zeros(256, np.float32)), notes=()
    )
    assert report(t).advice == (
        f"line {line_of(t, 'a bare literal')}: 512 float64 operations, and no array holds float64; "
        "write np.float32(...) around literals such as 0.0 and around arguments.",
    )
    assert figure(report(t, RTX_4090), "Arithmetic").endswith(
        "100 % of 512 flops are float64, 64 times slower than float32 on RTX 4090."
    )


def test_float64_that_somebody_asked_for_is_not():
    t = trace(scaled, 4, 64, np.zeros(256), np.zeros(256))
    assert t.metrics.fp64_share == 1
    assert report(t).advice == () and "Arithmetic" not in labels(report(t))


def with_counters(t: Trace, comment: str, **counters: int) -> Trace:
    """Return the trace with some counters of one line, and of the launch, replaced."""
    line = line_of(t, comment)
    return replace(
        t,
        metrics=replace(t.metrics, **counters),
        by_line={**t.by_line, line: replace(t.by_line[line], **counters)},
    )


def test_atomics_of_many_lanes_on_one_address_are_named(scattered):
    t = with_counters(
        scattered,
        "scattered",
        atomics=1024,
        global_atomic_requests=30,
        shared_atomic_requests=2,
        atomic_passes=1024,
    )
    done = report(t)
    assert figure(done, "Atomics") == "Atomics: 1,024 in 32 requests of warps, 32.0 passes each."
    assert any(
        advice.startswith(f"line {line_of(t, 'scattered')}: an atomic takes 32.0 passes,")
        for advice in done.advice
    )
    assert (
        next(column for column in done.columns() if column.heading == "atomics").text(
            done.rows[-1].metrics
        )
        == "32"
    )


@pytest.mark.parametrize("passes", [32, 40])
def test_atomics_that_hardly_wait_are_not(scattered, passes):
    t = with_counters(
        scattered, "scattered", atomics=1024, global_atomic_requests=32, atomic_passes=passes
    )
    assert not any("atomic takes" in advice for advice in report(t).advice)
    assert "Atomics" in labels(report(t)) and "Atomics" not in labels(report(scattered))


def test_the_numbers_of_active_lanes_are_shown_where_they_differ(scattered):
    def shown(counts: dict[int, int]) -> list[str]:
        lanes = tuple(counts.get(k, 0) for k in range(33))
        return [
            line
            for line in report(replace(scattered, metrics=Metrics(lanes_active=lanes))).figures
            if line.startswith("Active")
        ]

    assert shown({}) == shown({32: 7}) == []
    assert shown({32: 75, 1: 25}) == ["Active lanes: 32 in 75 %, 1 in 25 % of warp instructions."]
    assert shown({20: 8}) == ["Active lanes: 20 in 100 % of warp instructions."]
    many = {32: 50, 16: 20, 8: 12, 4: 10, 2: 5, 1: 3}
    assert shown(many) == [
        (
            "Active lanes: 32 in 50 %, 16 in 20 %, 8 in 12 %, 4 in 10 % of warp instructions, "
            "others in 8 %."
        )
    ]


def test_a_divergent_kernel_shows_its_lanes():
    done = report(trace(one_lane_works, 1, 32, np.zeros(1, np.float32)))
    assert figure(done, "Active lanes").startswith("Active lanes: 1 in 99 %, 32 in 1 %")


def test_columns_that_say_nothing_are_left_out(scattered):
    assert "bank conflicts" not in [column.heading for column in report(scattered).columns()]


def test_a_trace_read_from_a_file_gives_the_same_report(scattered, tmp_path):
    scattered.save(tmp_path / "copy.npz")
    again = report(Trace.load(tmp_path / "copy.npz"))
    assert str(again) == str(report(scattered))
    assert again._repr_html_() == report(scattered)._repr_html_()


class Table(HTMLParser):
    """A parser of a table's cells, row by row, as text."""

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
    assert body == [
        [row.name, *(column.text(row.metrics) for column in done.columns()), row.source]
        for row in done.rows
    ]
    assert "if row &lt; x.shape[0]" in done._repr_html_()
    assert all(
        escape(line) in done._repr_html_() for line in (done.traffic, *done.figures, *done.advice)
    )
    assert done.figures and done.advice


@pytest.mark.parametrize(
    ("requests", "used", "needed"),
    [(1, 128, 4), (1, 4, 1), (32, 128, 32), (2, 132, 5), (1, 33, 2), (0, 0, 0)],
)
def test_needed_sectors(requests, used, needed):
    assert needed_sectors(requests, used) == needed


class Terminal(io.StringIO):
    """A stream that a person reads."""

    def isatty(self) -> bool:
        return True


@pytest.mark.skipif(bool(missing()), reason="no compiler")
def test_a_person_reads_how_long_many_such_blocks_take(scattered):
    program = str(report(scattered))
    with redirect_stdout(Terminal()):
        person = str(report(scattered))
    (line,) = set(person.splitlines()) - set(program.splitlines())
    time = r"Stopwatch: 256 x 256 such blocks: about [\d.]+ [um]s on an H100 SXM, bound by \w+"
    kept = r"with \d+ registers a thread and no spills \(modelled\)\."
    assert re.fullmatch(f"{time}, {kept}", line), line


@pytest.mark.skipif(bool(missing()), reason="no compiler")
def test_a_doubtful_time_is_told_by_its_bounds():
    @cuda.jit
    def count(x, bins):
        cuda.atomic.add(bins, x[cuda.grid(1)], 1)

    made = trace(count, 4, 64, np.arange(256, dtype=np.int32) % 8, np.zeros(8, np.int32))
    assert re.match(
        r"65,536 such blocks: between [\d.]+ \ws and [\d.]+ \ws on a T4", sentence(made, T4)
    )


def test_a_trace_without_its_kernel_says_nothing_of_time(scattered):
    with redirect_stdout(Terminal()):
        assert report(replace(scattered, launched=None)).time == ""


def test_a_report_that_nobody_reads_loads_no_stopwatch():
    code = (
        "import sys, numpy as np\nfrom warpwise import cuda, trace\n"
        "from warpwise.kernels import copy\nfrom warpwise.report import report\n"
        "x = np.zeros(64, np.float32)\n"
        "report(trace(copy.copy_1_plain, 1, 64, x, x.copy(), 64)).time\n"
        "print([name for name in sys.modules if 'stopwatch' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

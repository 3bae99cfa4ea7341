"""The book's charts of measurements: models without records, measurements with them."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.markers import MarkerStyle
from support.paths import ROOT

from warpwise.benchmark_records import FOLDER, Record, Row, read, recorded, slug
from warpwise.book.charts import measured_chart, measured_counters, measured_list
from warpwise.book.charts.alt_text import alt_text
from warpwise.book.charts.catalogue import PLOTS
from warpwise.book.charts.draw import LOOKS
from warpwise.book.charts.plot import GB_PER_S, Axis, Line, Plot, amount, tick
from warpwise.book.charts.predicted import predictions
from warpwise.book.charts.series import panels
from warpwise.devices import A100, H200, RTX_4090
from warpwise.errors import MeasureError
from warpwise.measure.suites import SUITES
from warpwise.measure.summary import reached, targets
from warpwise.views.chart import USED

PAGE, HERE = ROOT / "chapters/measured.md", ROOT / FOLDER

# Prints every suite's cases as a rehearsal makes them, without running any.
CASES = """
import json, sys
from warpwise.measure.place import in_simulator
place = in_simulator()
from warpwise.measure.suites import suite
found = {}
for name in sys.argv[1:]:
    cases = suite(name).cases(place)
    found[name] = [(c.name, v.name, v.by, dict(c.parameters)) for c in cases for v in c.variants]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def rehearsed() -> dict[str, list]:
    """Map each chart to (case, variant, by, parameters) of the rows its suite would write."""
    names = [name for name in SUITES if name not in ("counters", "constants")]
    done = subprocess.run(
        [sys.executable, "-c", CASES, *names], cwd=ROOT, capture_output=True, text=True, check=True
    )
    written = json.loads(done.stdout)
    return {name: written[suite_of(name)] for name in PLOTS}


def suite_of(name: str) -> str:
    return PLOTS[name].suite or name


@pytest.fixture
def records(tmp_path: Path, monkeypatch) -> Path:
    """An empty folder for records."""
    monkeypatch.setenv("WARPWISE_MEASUREMENTS", str(tmp_path))
    return tmp_path


def row(case: str, variant: str, parameters: dict, **more) -> dict:
    return {
        "case": case,
        "variant": variant,
        "by": "numba",
        "parameters": parameters,
        "samples_ms": [1.0],
        "median_ms": 1.0,
    } | more


def write(folder: Path, suite: str, device: str, rows: list[dict]) -> Path:
    path = folder / device.lower().replace(" ", "-") / f"{suite}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        json.dumps(
            {
                "suite": suite,
                "title": suite,
                "device": device,
                "date": "2026-11-22",
                "quick": False,
                "rows": rows,
            }
        )
    )
    return path


def rows_of(cases: list, faster: float = 1.0) -> list[dict]:
    """Return a row for each variant of the cases, with made-up figures that all differ."""
    made = []
    for i, (case, variant, by, parameters) in enumerate(cases):
        ms = (1 + i / 16) / faster
        made.append(
            row(
                case,
                variant,
                parameters,
                by=by,
                median_ms=ms,
                GB_per_s=100 / ms,
                TFLOP_per_s=7 / ms,
                ns_per_step=300 * ms,
            )
        )
    return made


def letters(picture: str) -> str:
    return " ".join("".join(ElementTree.fromstring(picture).itertext()).split())


# --- no record ---


@pytest.mark.parametrize("suite", PLOTS)
def test_without_a_record_a_chart_is_modelled_and_says_so(records, suite):
    chart = measured_chart(suite)
    for told in (chart.alt, letters(chart.svg)):
        assert "modelled" in told and "measured on" not in told
    assert re.search(r"\d", chart.alt), "an alt text without numbers says nothing"


def test_of_what_a_model_has_for_a_device_the_h200_is_asked(records):
    (panel,) = panels(PLOTS["reduction"], ())
    assert panel.title == f"modelled for an {H200.name}" and not panel.measured
    assert max(panel.modelled[0].ys) == H200.dram_gb_per_s


def test_a_ladder_s_roof_is_that_of_its_banks_or_of_its_issue_slots():
    """On an H200 multiply-adds need every slot; an A100's lanes leave half of them to loads."""
    model = {line.label: line.model for line in PLOTS["sgemm_ladder"].lines}
    shares = {
        "tiles of 32 x 32": (1 / 8, 1 / 4),
        "patches of 8 x 8": (64 / 80, 1),
        "and wider loads": (64 / 68, 1),
        "patches of 8 x 16": (128 / 134, 1),
    }
    for name, share in shares.items():
        found = tuple(model[name](device, 4096) / device.fp32_tflops for device in (H200, A100))
        assert found == pytest.approx(share), name


def test_a_model_that_needs_no_device_names_none():
    (panel,) = panels(PLOTS["divergence"], ())
    assert panel.title == "modelled"
    assert [series.ys[-1] for series in panel.modelled] == [32, 1]


def test_without_counters_the_page_says_that_none_were_measured(records):
    assert measured_counters() == "not measured yet"
    assert " ".join(measured_list().split()) == f"not measured yet: {', '.join(SUITES)}"


# --- records ---


@pytest.mark.slow
@pytest.mark.parametrize("suite", PLOTS)
def test_a_record_is_drawn_with_its_device_and_its_values(records, rehearsed, suite):
    write(records, suite_of(suite), "Test GPU", rows_of(rehearsed[suite]))
    chart = measured_chart(suite)
    for told in (chart.alt, letters(chart.svg)):
        assert "measured on Test GPU" in told and "modelled for" not in told
    plot = PLOTS[suite]
    (panel,) = panels(plot, recorded(suite_of(suite)))
    assert panel.measured
    wanted = {line.label: expected(plot, line, rehearsed[suite]) for line in plot.lines}
    for series in panel.measured:
        assert dict(zip(series.xs, series.ys, strict=True)) == pytest.approx(
            wanted[series.label]
        ), series.label
        assert amount(series.ys[-1]) in chart.alt


def expected(plot: Plot, line: Line, cases: list) -> dict[float, float]:
    """Return what a line should show of made-up rows, found without the charts' code.

    It goes through the rows once for each pattern."""
    found = {}
    rows = rows_of(cases)
    for pattern in line.variants:
        for one in rows:
            fits = re.fullmatch(pattern.replace("*", ".*"), one["variant"])
            if not fits or any(
                one["parameters"].get(name) != value for name, value in line.when.items()
            ):
                continue
            if plot.over and plot.over not in one["parameters"]:
                continue
            x = one["parameters"][plot.over] if plot.over else 0
            found.setdefault(x, value_of(plot, one, rows))
    if plot.value.relative and found:
        least = found[min(found)]
        found = {x: y / least for x, y in found.items()}
    return found if plot.x else dict([max(found.items())]) if found else {}


def value_of(plot: Plot, one: dict, rows: list[dict]) -> float:
    label = plot.value.axis.label
    if "GB/s" in label:
        return one["GB_per_s"]
    if "TFLOP/s" in label:
        return one["TFLOP_per_s"]
    if label.startswith("ns") or label == "times as long as stride 0":
        return one["ns_per_step"]
    if label == "tokens/s":
        return 1000 * one["parameters"]["tokens"] / one["median_ms"]
    if label == "microseconds":
        return 1000 * one["median_ms"]
    beside = {
        "times as fast as five kernels": "fusion_2_five_wide",
        "times as long as recomputing all": "recompute_4_all_again",
    }.get(label)
    if beside is None:
        return one["median_ms"]
    (other,) = (row for row in rows if row["case"] == one["case"] and row["variant"] == beside)
    ratio = one["median_ms"] / other["median_ms"]
    return 1 / ratio if "fast" in label else ratio


def test_two_devices_are_two_series_and_an_h200_is_the_first(records, rehearsed):
    write(records, "stride", "A Laptop GPU", rows_of(rehearsed["stride"]))
    write(records, "stride", "NVIDIA H200", rows_of(rehearsed["stride"], faster=20))
    chart = measured_chart("stride")
    first, second = panels(PLOTS["stride"], recorded("stride"))
    assert (first.device, second.device) == ("NVIDIA H200", "A Laptop GPU")
    assert first.measured[0].ys == pytest.approx([20 * y for y in second.measured[0].ys])
    for told in (chart.alt, letters(chart.svg)):
        assert told.index("measured on NVIDIA H200") < told.index("measured on A Laptop GPU")


def test_a_known_device_has_its_own_model_beside_it_and_another_one_none(records, rehearsed):
    write(records, "stride", "NVIDIA GeForce RTX 4090", rows_of(rehearsed["stride"]))
    write(records, "stride", "A Laptop GPU", rows_of(rehearsed["stride"]))
    unknown, known = panels(PLOTS["stride"], recorded("stride"))
    assert unknown.modelled == ()
    assert known.modelled[0].ys[0] == RTX_4090.dram_gb_per_s
    assert "modelled" in letters(measured_chart("stride").svg)


def test_a_device_with_ceilings_is_its_own_model(records, rehearsed):
    """A GPU of which the course has no figures, and whose record holds its ceilings."""
    path = write(records, "stride", "A Laptop GPU", rows_of(rehearsed["stride"]))
    ceilings = {"copy_GB_per_s": 220.0, "ffma_TFLOP_per_s": 11.0}
    of_gpu = {"compute_capability": "8.9", "sms": 24, "l2_bytes": 32 * 2**20, "ceilings": ceilings}
    path.write_text(json.dumps(json.loads(path.read_text()) | of_gpu))
    (panel,) = panels(PLOTS["stride"], recorded("stride"))
    assert panel.modelled[0].ys[0] == 220
    path.write_text(json.dumps(json.loads(path.read_text()) | {"compute_capability": "6.1"}))
    (panel,) = panels(PLOTS["stride"], recorded("stride"))
    assert panel.modelled == ()  # nothing is known of such multiprocessors


def test_the_model_reaches_as_far_as_what_was_measured(records):
    write(
        records,
        "banks",
        "Test GPU",
        [row(f"{x}", "banks_1_strided", {"stride": x}, ns_per_step=x + 1) for x in (0, 1, 2, 3)],
    )
    (panel,) = panels(PLOTS["banks"], recorded("banks"))
    assert panel.measured[0].xs == panel.modelled[0].xs == (0, 1, 2, 3)


def test_what_is_missing_and_what_went_wrong_is_passed_over(records):
    good = row("1", "copy_1_plain", {"bytes": 4096}, GB_per_s=5.0)
    bad = row(
        "2",
        "copy_1_plain",
        {"bytes": 8192},
        GB_per_s=7.0,
        problem="the result at [0] is 1, expected 2",
    )
    strange = [
        row("3", "copy_9_new", {"bytes": 4096}, GB_per_s=9.0),
        row("4", "copy_1_plain", {"n": 1}, GB_per_s=9.0),
    ]
    untimed = row("5", "copy_1_plain", {"bytes": 16384}, median_ms=None)
    write(records, "copy", "Test GPU", [bad, good, *strange, untimed])
    (panel,) = panels(PLOTS["copy"], recorded("copy"))
    assert [(series.label, series.xs, series.ys) for series in panel.measured] == [
        ("an element a thread", (4096,), (5.0,))
    ]
    assert "an element a thread: 5 GB/s at 4 KiB" in measured_chart("copy").alt


def test_a_record_with_nothing_to_draw_leaves_the_model(records):
    write(
        records,
        "copy",
        "Test GPU",
        [row("1", "copy_1_plain", {"bytes": 4096}, problem="no sample was taken")],
    )
    assert "measured on" not in measured_chart("copy").alt


def test_a_ratio_needs_what_it_is_a_ratio_to(records):
    rows = [
        row("1", "fusion_3_one_kernel", {"n": 8}, median_ms=2.0),
        row("1", "fusion_2_five_wide", {"n": 8}, median_ms=9.0),
    ]
    write(records, "fusion", "Test GPU", rows)
    assert "one kernel: 4.5 times as fast" in measured_chart("fusion").alt
    write(records, "fusion", "Test GPU", rows[:1])
    assert "measured on" not in measured_chart("fusion").alt


def test_a_line_that_is_relative_needs_the_place_it_is_relative_to(records):
    rows = [row(f"{x}", "banks_1_strided", {"stride": x}, ns_per_step=10.0 * x) for x in (1, 2)]
    write(records, "banks", "Test GPU", rows)
    assert "measured on" not in measured_chart("banks").alt


def test_a_file_that_is_no_record_is_named_in_one_line(records, rehearsed):
    path = write(records, "copy", "Test GPU", [])
    path.write_text('{"suite": "copy", "rows": [{"case": ')
    with pytest.raises(MeasureError) as caught:
        measured_chart("copy")
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_suite_without_a_chart_is_named():
    with pytest.raises(MeasureError, match="no chart of 'copies'; there are copy, "):
        measured_chart("copies")


def test_counters_are_told_with_those_that_differ_by_cause(records):
    same = {
        "modelled": {"global_load_sectors": 4},
        "measured": {"global_load_sectors": 4},
        "verdict": "equal",
    }
    other = {
        "modelled": {"global_load_sectors": 4},
        "measured": {"global_load_sectors": 5},
        "verdict": "differs: global_load_sectors",
    }
    none = {"modelled": {"global_load_sectors": 4}, "measured": None, "verdict": "not measured"}
    more = {
        "modelled": {"global_load_sectors": 4, "global_load_requests": 1},
        "measured": {"global_load_sectors": 1200.0, "global_load_requests": 2.0},
        "verdict": "differs: global_load_sectors, global_load_requests",
    }
    split = "an access is split"
    rows = [
        row("row", "read", same, median_ms=None),
        row("corner", "read", none, median_ms=None),
        row("both", "read", more, median_ms=None, note=split),
        row("column", "read", other, median_ms=None, note=split),
        row("last", "read", more, median_ms=None),
    ]
    write(records, "counters", "Test GPU", rows)
    assert measured_counters().splitlines() == [
        "measured on Test GPU:",
        "1 of 4 access patterns count the same",
        "3 differ, by cause:",
        "",
        "2 x an access is split",
        "  such as column",  # which differs least
        "                         simulator  Nsight Compute",
        "    global_load_sectors          4               5",
        "",
        "1 x read: no cause is noted",
        "  such as last",
        "                          simulator  Nsight Compute",
        "    global_load_sectors           4           1,200",
        "    global_load_requests          1               2",
    ]


def test_all_counters_alike_are_one_line(records):
    counted = {"modelled": {"a": 4}, "measured": {"a": 4}, "verdict": "equal"}
    write(records, "counters", "Test GPU", [row("row", "read", counted, median_ms=None)])
    assert measured_counters() == "measured on Test GPU:\n1 of 1 access patterns count the same"


def test_the_list_says_what_was_measured_where_and_when(records, rehearsed):
    write(records, "copy", "Test GPU", rows_of(rehearsed["copy"]))
    path = write(records, "stride", "Test GPU", rows_of(rehearsed["stride"]))
    more = {"date": "2026-11-24", "unfinished": "the power failed", "driver": "580.1"}
    path.write_text(json.dumps(json.loads(path.read_text()) | more | {"quick": True}))
    assert measured_list().splitlines()[:6] == [
        "Test GPU, 2026-11-22 to 2026-11-24",
        "  2 suites: copy, stride",
        "  small sizes: stride",
        "  a part of stride: the power failed",
        "  driver 580.1",
        "",
    ]
    assert "not measured yet: offset, latency, " in measured_list()


def test_what_is_printed_fits_a_box():
    for text in (measured_list(), measured_counters()):
        assert max(map(len, text.splitlines())) <= 72


# --- the picture ---


def test_what_is_modelled_does_not_look_like_what_was_measured(records, rehearsed):
    """Marks and filled bars are for measurements."""
    marks = r"<use "
    modelled = measured_chart("divergence").svg, measured_chart("fusion").svg
    write(records, "divergence", "Test GPU", rows_of(rehearsed["divergence"]))
    write(records, "fusion", "Test GPU", rows_of(rehearsed["fusion"]))
    measured = measured_chart("divergence").svg, measured_chart("fusion").svg
    assert len(re.findall(marks, measured[0])) >= len(re.findall(marks, modelled[0])) + 6
    filled = f"fill: {USED}"
    assert filled not in modelled[1] and filled in measured[1]


def test_charts_are_in_the_pages_ink_and_narrow_enough_for_its_letters(records, rehearsed):
    for suite in PLOTS:
        write(records, suite_of(suite), "NVIDIA H200", rows_of(rehearsed[suite]))
        svg = measured_chart(suite).svg
        assert "#000000" not in svg and "black" not in svg
        assert int(re.search(r"style=\"width:(\d+)px", svg)[1]) <= 500, suite


def test_numbers_are_short_and_places_are_exact():
    assert [amount(value) for value in (0.51234, 5.5, 1234.5, 4800)] == [
        "0.512",
        "5.5",
        "1,230",
        "4,800",
    ]
    assert (
        amount(96 * 1024, "bytes") == "96 KiB"
        and amount(2**30, "bytes") == "1 GiB"
        and amount(40, "bytes") == "40 bytes"
    )
    assert (
        tick(4096, Axis("n", log=2), 8192) == "4,096"
        and tick(4096, Axis("n", log=2), 2**20) == "2¹²"
    )


def test_words_say_how_a_line_goes():
    line = Line("it", ("v",), lambda device, x: 10 - (x - 2) ** 2)
    plot = Plot("A hill", "x", GB_PER_S, (line,), at=(0, 1, 2, 3), x=Axis("x", "x = {}"))
    assert alt_text(plot, panels(plot, ())) == (
        "A hill, modelled: it: from 6 at x = 0, at most 10 at x = 2, to 9 GB/s at x = 3."
    )


def test_where_lines_end_together_is_said_once():
    lines = (
        Line("hill", ("v",), lambda device, x: 10 - (x - 2) ** 2),
        Line("slope", ("v",), lambda device, x: 1 + x),
        Line("point", ("v",), lambda device, x: 7 if x == 3 else None),
        Line("plain", ("v",), lambda device, x: 5),
    )
    plot = Plot("Land", "x", GB_PER_S, lines, at=(0, 1, 2, 3), x=Axis("x", "x = {}"))
    assert alt_text(plot, panels(plot, ())) == (
        "Land, modelled: from x = 0 to x = 3, hill: 6, at most 10 at x = 2, to 9 GB/s; "
        "slope: 1 to 4 GB/s; point: 7 GB/s at x = 3; plain: 5 GB/s throughout."
    )


@pytest.mark.parametrize("suite", PLOTS)
def test_an_alt_text_is_not_longer_than_somebody_listens_to(suite):
    assert len(measured_chart(suite).alt.split()) <= 185


def test_every_mark_can_be_hollow():
    """A prediction's mark beside a measured one differs by nothing else."""
    assert all(MarkerStyle(mark).is_filled() for _, mark, _ in LOOKS)


# --- nothing falls behind ---


@pytest.mark.parametrize("suite", PLOTS)
def test_committed_records_are_in_their_chart(monkeypatch, suite):
    monkeypatch.setenv("WARPWISE_MEASUREMENTS", str(ROOT / FOLDER))
    alt = measured_chart(suite).alt
    for path in (ROOT / FOLDER).glob(f"*/{suite_of(suite)}.json"):
        record = read(path)
        assert (slug(record.device), record.suite) == (path.parent.name, path.stem)
        assert f"measured on {record.device}" in alt


def test_every_suite_has_a_chart_and_every_chart_a_suite():
    assert (*dict.fromkeys(map(suite_of, PLOTS)), "counters", "constants") == SUITES


@pytest.mark.parametrize("suite", PLOTS)
def test_what_a_chart_looks_up_is_what_its_suite_writes(rehearsed, suite):
    """Kernel names, parameters and their values, against a rehearsal.

    What only a GPU has is left out."""
    plot = PLOTS[suite]
    written = {variant for _, variant, by, _ in rehearsed[suite] if by == "numba"}
    for line in plot.lines:
        if line.of_library or ", graph" in line.variants[0]:
            continue
        assert any(fnmatchcase(name, pattern) for pattern in line.variants for name in written), (
            line
        )
    parameters = {name for _, _, _, given in rehearsed[suite] for name in given}
    assert {plot.over} - {""} | {name for line in plot.lines for name in line.when} <= parameters


def test_the_page_shows_every_chart_once_and_the_table():
    shown = re.findall(r'^measured_chart\("(\w+)"\)$', PAGE.read_text("utf-8"), re.MULTILINE)
    assert sorted(shown) == sorted(PLOTS)
    assert "print(measured_counters())" in PAGE.read_text(
        "utf-8"
    ) and "print(measured_list())" in PAGE.read_text("utf-8")


def test_the_readme_has_the_figures_of_the_records():
    """Those that the home page computes: patterns that agree, and the ratio to cuBLAS."""
    found = (ROOT / "README.md").read_text("utf-8")
    equal, patterns = map(int, re.search(r"(\d+) of (\d+) access patterns", found).groups())
    percent = int(re.search(r"(\d+) % of the speed of cuBLAS", found)[1])
    (counted, *_), (timed, *_) = (recorded(suite, HERE) for suite in ("counters", "sgemm_ladder"))
    alike = [one.parameters["verdict"] == "equal" for one in counted.rows]
    assert (sum(alike), len(alike)) == (equal, patterns)
    assert all(row.note for row, same in zip(counted.rows, alike, strict=True) if not same)
    must = [row.parameters["must_agree"] for row in counted.rows]
    assert must == alike, "the page says that all which must agree do"
    (bar,) = (one for one in reached(timed) if one.bar.what == "float32 matrix product")
    assert round(100 * bar.ratio) == percent


def test_the_reason_for_the_plain_copy_s_miss_is_in_the_records():
    """Bytes under way, by the time of a load and of a block's start, are what was measured."""
    text = PAGE.read_text("utf-8")
    assert targets([recorded("copy", HERE)[0]]).count("missed") == 1
    (cell,) = (part for part in text.split("```") if "fed_gb=" in part)
    with contextlib.chdir(PAGE.parent):
        ns = {"recorded": recorded, "Path": Path}
        exec(cell.partition(":tags: [remove-cell]")[2], ns)
    fed = 2 * ns["in_flight"] / (ns["wait_ns"] + ns["start_ns"])
    assert fed == pytest.approx(ns["plain"], rel=0.05)
    assert ns["wide"] == pytest.approx(ns["most"], rel=0.01)


def test_the_kernels_page_compares_two_softmaxes_as_they_were_measured():
    """Step 3's time by step 2's, predicted and measured, for short rows and for long ones."""
    text = (ROOT / "chapters/reference_kernels.md").read_text("utf-8")
    ((record, *_), foretold) = recorded("softmax", HERE), predictions("softmax", H200.name, HERE)

    def ratio(rows, columns: int) -> float:
        times = {r.variant[:9]: r.median_ms for r in rows if r.parameters["columns"] == columns}
        return times["softmax_3"] / times["softmax_2"]

    assert "predicted it a fifth slower" in text and "a little faster for rows of 8,192" in text
    assert ratio(foretold.rows, 1024) == pytest.approx(1.2, abs=0.05)
    assert 0.9 < ratio(foretold.rows, 8192) < 1
    assert "took a tenth longer for the short rows, and a quarter less for the long ones" in text
    assert ratio(record.rows, 1024) == pytest.approx(1.1, abs=0.02)
    assert ratio(record.rows, 8192) == pytest.approx(0.75, abs=0.03)


def test_of_all_records_nothing_but_the_plain_copy_is_missed():
    found = targets(record for suite in SUITES for record in recorded(suite, HERE)[:1])
    missed = [line.split()[:2] for line in found.splitlines() if line.endswith("missed")]
    assert missed == [["plain", "copy"]]
    assert found.count("reached") > 10 and max(map(len, found.splitlines())) <= 66


@pytest.mark.parametrize(
    "path", sorted((ROOT / "chapters").glob("[01]*.md")), ids=lambda path: path.stem
)
def test_a_chapter_shows_charts_that_there_are_each_once(path):
    shown = re.findall(r'^measured_chart\("(\w+)"\)$', path.read_text("utf-8"), re.MULTILINE)
    assert set(shown) <= set(PLOTS) and len(shown) == len(set(shown))
    assert not shown or "(measured.md)" in path.read_text("utf-8")


def test_bars_are_of_one_case_and_the_title_names_it():
    """A step that failed at the largest size has no bar.

    A bar of a smaller size would stand beside others that it cannot be compared with."""

    def row(n: int, variant: str, rate: float) -> Row:
        return Row(f"sgemm {n}", variant, "numba", {"n": n}, (1.0,), 1.0, None, rate, None)

    rows = (
        row(2048, "sgemm_1_naive", 1.0),
        row(2048, "sgemm_7_warp_tile", 30.0),
        row(4096, "sgemm_7_warp_tile", 40.0),
    )
    (panel,) = panels(
        PLOTS["sgemm_ladder"], [Record("sgemm_ladder", "Test GPU", "2026-01-01", rows, {})]
    )
    assert [(series.label, series.ys) for series in panel.measured] == [
        ("and tiles for warps", (40.0,))
    ]
    assert panel.title == "measured on Test GPU, n = 4,096"

"""Predicted times in the book's charts: hollow marks and hatched bars beside models and records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.paths import ROOT

from warpwise.benchmark_records import FOLDER as RECORDS
from warpwise.benchmark_records import PREDICTED
from warpwise.book.charts import measured_chart
from warpwise.book.charts.predicted import predictions
from warpwise.devices import H200
from warpwise.errors import MeasureError

PLAIN, COALESCED = "sgemm_1_naive", "sgemm_2_coalesced"


@pytest.fixture
def records(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("WARPWISE_MEASUREMENTS", str(tmp_path))
    return tmp_path


def row(suite: str, case: str, variant: str, ms: float, **more) -> dict:
    found = {"suite": suite, "case": case, "variant": variant, "predicted_ms": [ms, ms, ms]}
    return found | {"parameters": {"n": 4096}, "bytes": 10**9, "flops": 10**12} | more


def predict(folder: Path, *rows: dict) -> None:
    path = folder / PREDICTED / "h200-sxm.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"device": H200.name, "date": "2026-11-26", "rows": rows}))


def measure(folder: Path, variant: str, tflops: float) -> None:
    path = folder / "nvidia-h200" / "sgemm_ladder.json"
    path.parent.mkdir()
    of = {"case": "sgemm 4096", "variant": variant, "by": "numba", "parameters": {"n": 4096}}
    measured = of | {"samples_ms": [1.0], "median_ms": 1.0, "TFLOP_per_s": tflops}
    record = {"suite": "sgemm_ladder", "device": "NVIDIA H200", "date": "2026-11-26"}
    path.write_text(json.dumps(record | {"rows": [measured]}))


def test_bars_are_predicted_with_the_modelled_roof_beside_them(records):
    predict(
        records,
        row("sgemm_ladder", "sgemm 4096", PLAIN, 2000),
        row("sgemm_ladder", "sgemm 4096", COALESCED, 200),
    )
    made = measured_chart("sgemm_ladder")
    assert "predicted for an H200 SXM, n = 4,096: " in made.alt
    assert "plain, uncoalesced: 0.5 TFLOP/s; plain, coalesced: 5 TFLOP/s. Modelled: " in made.alt
    assert "measured" not in made.alt
    # each bar and the legend's mark fill themselves with the same hatching
    assert made.svg.count("fill: url(#") == 3


def test_a_line_of_which_nothing_is_predicted_shows_its_modelled_roof(records):
    predict(records, row("sgemm_ladder", "sgemm 4096", PLAIN, 2000))
    made = measured_chart("sgemm_ladder")
    modelled = made.alt.partition("Modelled: ")[2].count("TFLOP/s")
    others = 2  # in the legend, and the hatching itself
    assert made.svg.count("stroke-width: 1.2") == modelled + others > 3


def test_beside_a_measured_bar_stands_what_was_predicted_of_it(records):
    predict(
        records,
        row("sgemm_ladder", "sgemm 4096", PLAIN, 2000),
        row("sgemm_ladder", "sgemm 8192", PLAIN, 9, parameters={"n": 8192}),
    )
    measure(records, PLAIN, 0.4)
    made = measured_chart("sgemm_ladder")
    assert made.alt.endswith(
        "measured on NVIDIA H200, n = 4,096: "
        "plain, uncoalesced: 0.4 TFLOP/s (predicted 0.5, modelled 0.508)."
    )


def test_a_curve_has_marks_where_something_is_predicted(records):
    without = measured_chart("copy")
    at = {"parameters": {"bytes": 2**20}}
    predict(
        records,
        row("copy", "copy 2^18 float32", "copy_1_plain", 1, **at),
        row("copy", "copy 2^18 float32", "copy_2_wide", 1, **at, problem="none"),
    )
    made = measured_chart("copy")
    assert "predicted for an H200 SXM: an element a thread: 1,000 GB/s at 1 MiB. " in made.alt
    assert "predicted" in made.svg and "predicted" not in without.svg


def test_of_a_relative_chart_one_predicted_point_says_nothing(records):
    """It would be 1 by definition; two are worth a mark."""
    steps = {"suite": "divergence", "variant": "divergence_1_lanes", "predicted_ms": [1, 1, 1]}
    one, two = ({**steps, "case": str(n), "parameters": {"paths": n}} for n in (1, 2))
    predict(records, one)
    assert "predicted" not in measured_chart("divergence").alt
    (records / PREDICTED / "h200-sxm.json").unlink()
    (records / PREDICTED).rmdir()
    predict(records, one, two)
    assert "predicted" in measured_chart("divergence").alt


def test_only_the_device_and_the_suite_in_question_count(records):
    predict(records, row("copy", "copy 2^18 float32", "copy_1_plain", 1))
    assert predictions("copy", H200.name) and not predictions("copy", "T4")
    assert predictions("stride", H200.name) is None


def test_a_file_that_holds_no_predictions_is_named(records):
    (records / PREDICTED).mkdir()
    (records / PREDICTED / "h200-sxm.json").write_text('{"rows": [{}]}')
    with pytest.raises(MeasureError, match=r"h200-sxm\.json holds no predictions"):
        measured_chart("copy")


def test_the_chart_of_chapter_9_is_predicted_for_every_step():
    kept = predictions("sgemm_ladder", H200.name, ROOT / RECORDS)
    assert kept and len({r.variant for r in kept.rows if r.case == "sgemm 4096"}) == 9

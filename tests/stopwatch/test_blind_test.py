"""What was predicted of a GPU's suites beside what was measured there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpwise.benchmark_records import predicted_times
from warpwise.stopwatch.blind_test import (
    Pair,
    bound_by,
    by_resource,
    by_suite,
    errors_of,
    pairs,
    predicted_again,
    with_times,
)

ROWS = [
    {"case": "a", "variant": "x", "median_ms": 2.0, "predicted_ms": [1.0, 0.5, 3.0]},
    {"case": "b", "variant": "x", "median_ms": 1.0, "predicted_ms": [1.2, 1.1, 1.3]},
    {"case": "c", "variant": "library", "median_ms": 1.0, "predicted_ms": None},
    {"case": "d", "variant": "x", "median_ms": None, "predicted_ms": [1.0, 1.0, 1.0]},
]


def records(place: Path) -> Path:
    for device, rows in (("nvidia-h200", ROWS), ("nvidia-h100", ROWS[:1])):
        (place / device).mkdir()
        made = [{"by": "numba", **row} for row in rows]
        contents = {"suite": "copy", "device": device, "date": "2026", "rows": made}
        (place / device / "copy.json").write_text(json.dumps(contents), "utf-8")
    return place


def test_a_pair_is_a_row_that_was_predicted_and_measured(tmp_path: Path):
    found = pairs(where=records(tmp_path))
    assert [(p.suite, p.case, p.variant) for p in found] == [("copy", "a", "x"), ("copy", "b", "x")]
    assert [p.error for p in found] == pytest.approx([-0.5, 0.2])
    assert [p.within for p in found] == [True, False]


def test_errors_of_a_suite_are_shares_of_the_measured_time(tmp_path: Path):
    (suite,) = by_suite(pairs(where=records(tmp_path)))
    assert (suite.name, suite.rows, suite.within) == ("copy", 2, 1)
    assert (suite.mean, suite.middle, suite.worst) == pytest.approx((0.35, 0.35, -0.5))


def test_errors_are_sorted_by_what_bound_a_row_when_it_was_predicted(tmp_path: Path):
    found = pairs(where=records(tmp_path))
    (tmp_path / "predicted").mkdir()
    rows = [
        {"suite": "copy", "case": case, "variant": "x", "binds": binds}
        for case, binds in (("a", "latency"), ("b", "issue slots"), ("c", "DRAM"))
    ]
    (tmp_path / "predicted" / "h200-sxm.json").write_text(json.dumps({"rows": rows}), "utf-8")
    binds = bound_by(where=tmp_path)
    assert [*binds.values()] == ["latency", "arithmetic", "DRAM"]
    groups = by_resource(found, binds)
    assert [(g.name, g.rows, g.within) for g in groups] == [("latency", 1, 1), ("arithmetic", 1, 0)]


def test_later_predictions_stand_beside_the_same_measured_times(tmp_path: Path):
    found = pairs(where=records(tmp_path))
    assert predicted_again(where=tmp_path) == {}
    (tmp_path / "predicted" / "again").mkdir(parents=True)
    row = {"suite": "copy", "case": "a", "variant": "x", "predicted_ms": [2.2, 1.9, 2.4]}
    path = tmp_path / "predicted" / "again" / "h200-sxm.json"
    path.write_text(json.dumps({"rows": [row]}), "utf-8")
    (again,) = with_times(found, predicted_again(where=tmp_path))
    assert again == Pair("copy", "a", "x", 2.2, 1.9, 2.4, 2.0) and again.within
    assert predicted_times("NVIDIA H200", tmp_path) == {}, "those before measuring are others"


def test_the_h200_s_records_hold_what_had_been_predicted_before():
    found, before = pairs(), predicted_times("NVIDIA H200")
    assert len(found) >= 90 and len({p.suite for p in found}) >= 15
    for p in found:
        assert [p.predicted, p.low, p.high] == before[p.key]
    every = errors_of("all", found)
    assert every.mean < 0.2 and every.within / every.rows > 0.7

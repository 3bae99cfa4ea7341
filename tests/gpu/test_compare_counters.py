"""The labs' counters that a GPU has counted, and the tool that compares them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import compare_counters

from warpwise.benchmark_records import recorded
from warpwise.measure.ncu import METRICS, Launch

#: kernels that were written anew after a GPU had counted them
CHANGED = {f"solutions/14_speed_of_light:{name}" for name in ("turned", "ahead")}
#: launches that its check no longer makes
GONE = {("solutions/14_speed_of_light:patch", "(64, 32) by (32, 64)")}


@pytest.mark.slow
@pytest.mark.parametrize("stored", recorded("lab_counters"), ids=lambda one: one.device)
def test_the_simulator_counts_the_labs_as_it_did_beside_the_gpu(stored, tmp_path):
    """Every launch that was measured is traced anew: its counters and its verdict stay."""
    everything = stored.contents["rows"]
    rows = [
        row
        for row in everything
        if row["case"] not in CHANGED and (row["case"], row["variant"]) not in GONE
    ]
    measured = {(row["case"], row["variant"]) for row in rows}  # labs that came later were not
    again = [
        one for one in compare_counters.launches(tmp_path) if (one.case, one.label) in measured
    ]
    made = [
        compare_counters.row(
            one, Launch(one.function, _by_their_names(row["parameters"]["measured"]))
        )
        for one, row in zip(again, rows, strict=True)
    ]
    assert made == rows
    equal = sum(row["parameters"]["verdict"] == "equal" for row in everything)
    sectors = [row["parameters"] for row in everything]
    alike = sum(
        one["measured"]["global_load_sectors"] == one["modelled"]["global_load_sectors"]
        for one in sectors
    )
    assert equal >= 0.7 * len(everything) and alike >= 0.96 * len(everything)


def _by_their_names(counted: dict[str, float]) -> dict[str, float]:
    return {METRICS[name]: value for name, value in counted.items()}


def test_a_launch_that_ncu_does_not_show_is_a_problem(tmp_path):
    one = next(compare_counters.launches(tmp_path))
    assert compare_counters.row(one, None)["problem"] == "ncu shows no such launch"
    made = compare_counters.row(one, Launch(one.function, {}))
    assert made["problem"] == "" and json.dumps(made)

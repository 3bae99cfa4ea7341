"""Predictions of suites: launches that are taken and not made, and times beside measured ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from warpwise import cuda
from warpwise.benchmark_records import is_of, predicted_rows, predicted_times
from warpwise.cuda.redirected import Asked, redirected
from warpwise.errors import LaunchError, MeasureError
from warpwise.measure.case import Case, Variant
from warpwise.measure.ceilings import largest_copy
from warpwise.measure.place import Place, modelled
from warpwise.measure.predictions import Launches, path_of, put, row_of, spread, written
from warpwise.stopwatch import find
from warpwise.toolchain import missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"no {', '.join(missing())}")
CARD = find("H200")


@pytest.fixture
def place(monkeypatch) -> Place:
    monkeypatch.setenv("WARPWISE_BACKEND", "simulator")
    return modelled(CARD)


@cuda.jit
def fill(x, value):
    x[cuda.grid(1)] = value


@cuda.jit
def triangle(x):
    i = cuda.grid(1)
    for k in range(cuda.blockIdx.x // 32):
        x[i] += k


def test_launches_are_taken_and_not_made():
    x, taken = np.zeros(64, np.float32), []
    with redirected(taken.append):
        fill[2, 32](x, 1)
    assert not x.any()
    (asked,) = taken
    assert (asked.grid, asked.block) == ((2, 1, 1), (32, 1, 1)) and isinstance(asked, Asked)
    fill[2, 32](x, 1)
    assert x.all() and len(taken) == 1


def test_equal_launches_are_predicted_once():
    launches, x = Launches(CARD), np.zeros(8 * 32, np.float32)
    with redirected(launches.take):
        for value in (1, 1, 2, 1):
            fill[8, 32](x, value)
    assert len(launches.found) == 4 and len(launches.known) == 2


def test_sizes_are_a_gpus_and_large_arrays_take_no_memory(place: Place):
    assert place.pick(3, 2, 1) == 3 and not place.small and place.sms == CARD.device.sms
    assert place.random(2**30).nbytes == 2**32 and not place.random(2**30)[-1]
    assert place.random(1000).any()
    assert place.resident_blocks(256) == 8 * CARD.device.sms


def test_a_row_says_when_and_why(place: Place):
    case = largest_copy(place, 22)
    plain, wide, library = _taken(case)
    assert [row["variant"] for row in (plain, wide, library)] == [
        "copy_1_plain",
        "copy_2_wide",
        "cupy",
    ]
    for row in (plain, wide):
        expected, least, most = row["predicted_ms"]
        assert least < expected < most and row["launches"] == 1 and row["family"]
        assert 1000 * 2**25 / CARD.device.dram_bytes_per_s < expected < 0.05
    assert "no kernel of ours" in library["problem"]


def _taken(case: Case) -> list[dict]:
    launches, rows = Launches(CARD), []
    for variant in case.variants:
        with redirected(launches.take):
            rows.append(row_of("copy", case, variant, launches))
    return rows


def test_what_cannot_be_sampled_is_traced_whole_or_says_why():
    small, large = (np.zeros(32 * n, np.float32) for n in (128, 2**13 + 32))

    def rows_for(x: np.ndarray) -> dict:
        launches = Launches(CARD)
        case = Case("c", (Variant("v", "numba", lambda: triangle[x.size // 32, 32](x)),))
        with redirected(launches.take):
            return row_of("s", case, case.variants[0], launches)

    assert rows_for(small)["predicted_ms"]
    assert "differ" in rows_for(large)["problem"]


def test_cases_are_spread_from_the_first_to_the_last():
    assert spread("abcdefg", 3) == ("a", "d", "g")
    assert spread("ab", 3) == ("a", "b") and spread("a", 3) == ("a",) and spread("", 3) == ()


def test_predictions_are_written(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("WARPWISE_BACKEND", "simulator")
    monkeypatch.setattr("warpwise.measure.predictions.rows_of", lambda *asked: ())
    lines = list(written("H200", ["counters", "copy"], tmp_path, ["measure"]))
    path = path_of(CARD, tmp_path)
    assert lines == [
        "counters: there is nothing to predict",
        "copy: 0 predictions",
        f"predictions: {path}",
    ]
    assert path.is_file()


def test_suites_without_predictions_write_no_file(tmp_path: Path):
    with pytest.raises(MeasureError, match=r"gpt2: there is nothing to predict; counters: "):
        list(written("H200", ["gpt2", "counters"], tmp_path, []))
    assert not any(tmp_path.iterdir())


def test_predictions_are_found_beside_what_is_measured(tmp_path: Path):
    path = path_of(CARD, tmp_path)
    path.parent.mkdir(parents=True)
    row = {"suite": "copy", "case": "c", "variant": "v", "predicted_ms": [2.0, 1.0, 3.0]}
    path.write_text(json.dumps({"rows": [row, row | {"variant": "w", "predicted_ms": None}]}))
    assert len(predicted_rows(path)) == 2
    assert predicted_times("NVIDIA H200", tmp_path)["copy", "c", "v"] == [2.0, 1.0, 3.0]
    assert predicted_times("NVIDIA RTX A6000", tmp_path) == {}


def test_what_is_unknown_is_refused(tmp_path: Path):
    with pytest.raises(LaunchError, match="does not know"):
        list(written("GTX 970", [], tmp_path, []))
    with pytest.raises(MeasureError, match="no suite is called"):
        list(written("H200", ["nothing"], tmp_path, []))


@pytest.mark.parametrize(
    ("name", "device", "same"),
    [
        ("H200 SXM", "NVIDIA H200", True),
        ("A100 80 GB SXM", "NVIDIA A100-SXM4-80GB", True),
        ("A100 40 GB SXM", "NVIDIA A100-SXM4-80GB", False),
        ("RTX A6000", "NVIDIA RTX A6000", True),
        ("RTX 4090", "NVIDIA GeForce RTX 3090", False),
    ],
)
def test_a_driver_names_a_product_in_other_words(name: str, device: str, same: bool):
    assert is_of(name, device) is same


def test_new_rows_take_the_place_of_those_of_their_cases(tmp_path):
    path = path_of(CARD, tmp_path)
    path.parent.mkdir(parents=True)
    small, large, other = (
        {"suite": suite, "case": case, "variant": "v", "predicted_ms": [2.0, 1.0, 3.0]}
        for suite, case in (("softmax", "1"), ("softmax", "2"), ("copy", "2"))
    )
    put(CARD, "one", [small, large, other], path)
    put(CARD, "two", [large | {"variant": "w"}], path)
    rows = predicted_rows(path)
    assert [(row["suite"], row["case"], row["variant"]) for row in rows] == [
        ("copy", "2", "v"),
        ("softmax", "1", "v"),
        ("softmax", "2", "w"),
    ]
    assert json.loads(path.read_text())["command"] == "two"

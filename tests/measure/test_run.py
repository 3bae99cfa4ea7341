"""``warpwise measure`` without a GPU: the runner, its files and its messages, over small suites."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.paths import ROOT
from typer.testing import CliRunner, Result

from warpwise import benchmark_records
from warpwise.cli import app
from warpwise.errors import MeasureError
from warpwise.measure import run, summary, worker
from warpwise.measure.case import Bar, Case, Variant
from warpwise.measure.correctness import wanted, worst_error
from warpwise.measure.place import Place
from warpwise.measure.timing import PROTOCOL, Timer

SIMULATOR = Place(np, "the simulator", (9, 0), 132, 50 * 2**20, rehearsal=True)
HERE = SIMULATOR.empty(4)  # what the variants below write


def writing(*values: float):
    def write() -> None:
        HERE[:] = values

    return write


def a_case(*variants: Variant, **more) -> Case:
    return Case(
        "four numbers",
        variants,
        want=lambda: np.array([1.0, 2, 3, 4]),
        **({"bytes": 16, "flops": 4} | more),
    )


def variant(name: str, *values: float, by: str = "numba") -> Variant:
    return Variant(name, by, writing(*values), lambda: HERE)


def failing(name: str) -> Variant:
    def fail() -> None:
        raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS\nand much more")

    return Variant(name, "cupy", fail, lambda: HERE)


# --- checking ---


def test_a_right_result_says_how_near_it_is():
    case = a_case(variant("near", 1, 2, 3.0002, 4), rtol=1e-4, atol=0)
    assert worst_error(SIMULATOR, case, case.variants[0], wanted(SIMULATOR, case)) == pytest.approx(
        2 / 3, rel=1e-3
    )


def test_more_is_allowed_to_the_variant_that_asks_for_it_alone():
    exact, rounded = (
        variant("exact", 1, 2, 3.0002, 4),
        replace(variant("rounded", 1, 2, 3.0002, 4), atol=1e-3),
    )
    case = a_case(exact, rounded, rtol=0, atol=1e-5)
    assert worst_error(SIMULATOR, case, rounded, wanted(SIMULATOR, case)) == pytest.approx(
        0.2, rel=1e-2
    )
    with pytest.raises(MeasureError, match="expected 3"):
        worst_error(SIMULATOR, case, exact, wanted(SIMULATOR, case))


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ((1, 2, 3.01, 4), r"at \[2\] is 3.01, expected 3"),
        ((1, 2, 3, np.nan), r"at \[3\] is nan"),
        ((1, 2, 3, np.inf), r"\[3\] is inf"),
    ],
)
def test_a_wrong_result_is_told_with_its_place(values, told):
    case = a_case(variant("wrong", *values))
    with pytest.raises(MeasureError, match=told):
        worst_error(SIMULATOR, case, case.variants[0], wanted(SIMULATOR, case))


def test_a_result_that_was_never_written_is_wrong():
    case = Case(
        "nothing",
        (Variant("idle", "numba", lambda: None, lambda: SIMULATOR.empty(3)),),
        want=lambda: np.zeros(3),
    )
    with pytest.raises(MeasureError, match="is nan, expected 0"):
        worst_error(SIMULATOR, case, case.variants[0], wanted(SIMULATOR, case))


def test_a_result_of_another_shape_is_wrong():
    case = a_case(Variant("short", "numba", lambda: None, lambda: HERE[:3]))
    with pytest.raises(MeasureError, match=r"has shape \(3,\), expected \(4,\)"):
        worst_error(SIMULATOR, case, case.variants[0], wanted(SIMULATOR, case))


# --- timing ---


def test_rows_hold_samples_and_rates_and_a_failure_costs_its_variant_alone():
    case = a_case(
        variant("good", 1, 2, 3, 4),
        variant("wrong", 1, 2, 3, 5),
        failing("broken"),
        parameters={"n": 4},
        steps=2,
    )
    good, wrong, broken = worker.rows_of(SIMULATOR, Timer(SIMULATOR), case)
    assert len(good["samples_ms"]) == 1 and good["problem"] == "" and good["parameters"] == {"n": 4}
    seconds = good["median_ms"] / 1000
    assert good["GB_per_s"] == pytest.approx(16 / seconds / 1e9) and good[
        "TFLOP_per_s"
    ] == pytest.approx(4 / seconds / 1e12)
    assert good["ns_per_step"] == pytest.approx(1e9 * seconds / 2)
    assert wrong["problem"] == "the result at [3] is 5, expected 4" and wrong["samples_ms"] == []
    assert broken["problem"] == "RuntimeError: CUDA_ERROR_ILLEGAL_ADDRESS"


def test_what_an_older_gpu_cannot_run_is_not_our_mistake():
    case = a_case(
        replace(variant("new", 1, 2, 3, 4), capability=(8, 0)),
        replace(variant("old", 1, 2, 3, 4), capability=(7, 5)),
    )
    turing = replace(SIMULATOR, compute_capability=(7, 5))
    rows = list(worker.rows_of(turing, Timer(turing), case))
    assert [row["problem"] for row in rows] == ["needs compute capability 8.0", ""]
    record = benchmark_records.Record(
        "copy", "NVIDIA T4", "", tuple(map(benchmark_records._row, rows)), {}
    )
    assert summary.problems([record]) == ()


def test_variants_take_turns():
    order = []
    noting = [Variant(name, "numba", lambda name=name: order.append(name)) for name in "ab"]
    timer = Timer(SIMULATOR)
    timer.turns = range(-1, 3)
    samples, problems = timer.samples(Case("turns", tuple(noting), repeat=2), noting)
    assert "".join(order) == "aabb" * 4 and problems == {}
    assert {name: len(taken) for name, taken in samples.items()} == {"a": 3, "b": 3}


def test_the_median_and_quartiles_are_those_of_the_samples():
    row = worker.row(a_case(), variant("v", 0, 0, 0, 0), [4.0, 1.0, 3.0, 2.0, 5.0], None, "")
    assert (row["median_ms"], row["quartiles_ms"]) == (3.0, [2.0, 4.0])


# --- running ---


def rehearsed(*arguments: str, out: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "warpwise.cli", "measure", *arguments, "--out", str(out)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"COLUMNS": "200"}
    )


def asked(*arguments: str) -> Result:
    """Ask for what is answered without a process of its own."""
    return CliRunner().invoke(app, ["measure", *arguments])


@pytest.mark.slow
def test_a_rehearsal_goes_all_the_way_and_its_record_is_read(tmp_path):
    done = rehearsed("copy", "offset", "--rehearse", out=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Copy bandwidth over size: rehearsed in the simulator" in done.stdout
    assert f"records: {tmp_path / 'the-simulator'}" in done.stdout
    record = benchmark_records.read(tmp_path / "the-simulator" / "copy.json")
    assert (record.suite, record.device, record.contents["unfinished"]) == (
        "copy",
        "the simulator",
        "",
    )
    assert record.contents["command"].startswith("warpwise measure copy offset --rehearse --out ")
    assert str(tmp_path) not in json.dumps(record.contents)
    assert (
        record.contents["protocol"] == PROTOCOL
        and record.contents["versions"]["numpy"] == np.__version__
    )
    assert {row.by for row in record.rows} == {"numba", "cupy"} and all(
        row.samples_ms and not row.problem for row in record.rows
    )
    assert (
        record.contents["ceilings"]["copy_GB_per_s"] > 0
        and record.contents["ceilings"]["ffma_TFLOP_per_s"] > 0
    )


def test_a_suite_that_takes_too_long_is_stopped_and_the_next_one_runs(tmp_path):
    said = []
    outcomes = list(
        run.run(
            ("copy", "stride"),
            run.Settings(tmp_path, rehearsal=True, seconds=0.05),
            lambda *told: said.append(told),
        )
    )
    assert [(o.suite, o.record, o.problem) for o in outcomes] == [
        (n, None, "stopped after 0 seconds") for n in ("copy", "stride")
    ]
    assert not list(tmp_path.iterdir())


def test_an_earlier_record_stays_until_there_is_a_new_one(tmp_path):
    (tmp_path / "the-simulator").mkdir()
    kept = tmp_path / "the-simulator" / "copy.json"
    kept.write_text("kept")
    list(run.run(("copy",), run.Settings(tmp_path, rehearsal=True, seconds=0.05), print))
    assert kept.read_text() == "kept"
    (outcome,) = run.run(("copy",), run.Settings(tmp_path, rehearsal=True), print)
    assert outcome.problem == "" and benchmark_records.read(kept) == outcome.record


@pytest.mark.parametrize(
    ("earlier", "new", "stays"),
    [
        ({}, {}, ""),
        ({"quick": True}, {}, ""),
        ({"quick": True}, {"quick": True}, ""),
        ({}, {"quick": True}, "not a quick one"),
        ({"unfinished": "stopped"}, {"unfinished": "stopped"}, ""),
        ({}, {"unfinished": "stopped"}, "finished"),
        ({"unfinished": "stopped"}, {"quick": True}, "not a quick one"),
    ],
)
def test_no_record_takes_the_place_of_a_better_one(tmp_path, earlier, new, stays):
    place, fresh = tmp_path / "out" / "nvidia-h200" / "copy.json", tmp_path / "fresh.json"
    worker.write(a_record(ours=2.0).contents | earlier, place)
    worker.write(a_record(ours=1.0).contents | new, fresh)
    outcome = run._kept("copy", fresh, tmp_path / "out", new.get("unfinished", ""))
    assert outcome.stays == stays
    assert benchmark_records.read(place).rows[0].median_ms == (2.0 if stays else 1.0)


def test_no_record_takes_the_place_of_one_with_more_in_it(tmp_path):
    place, fresh = tmp_path / "out" / "nvidia-h200" / "copy.json", tmp_path / "fresh.json"
    whole, less = a_record(ours=2.0).contents, a_record(ours=1.0).contents
    less["rows"] = [row | {"median_ms": None} for row in less["rows"]]
    worker.write(whole, place)
    worker.write(less, fresh)
    assert run._kept("copy", fresh, tmp_path / "out", "").stays == "more complete"
    assert benchmark_records.read(place).rows[0].median_ms == 2.0


class WithPeers(Place):
    """A place that has a library beside ours."""

    @property
    def torch(self):
        return sys if self.peers else None


def test_a_suite_that_a_library_ends_is_measured_without_it(tmp_path, monkeypatch, capsys):
    def cases(place):
        yield a_case(variant("ours", 1, 2, 3, 4))
        if place.torch:
            raise RuntimeError("torch has no such backend\nand much more")
        yield a_case(variant("second", 1, 2, 3, 4))

    place = WithPeers(np, "the simulator", (9, 0), 132, 50 * 2**20, rehearsal=True)
    monkeypatch.setattr(worker, "in_simulator", lambda: place)
    monkeypatch.setattr(worker, "_free", lambda place: None)
    monkeypatch.setattr(
        "warpwise.measure.suites.suite", lambda name: SimpleNamespace(TITLE="", cases=cases)
    )
    assert worker.main(["copy", str(tmp_path / "copy.json"), "rehearsal"]) == 1
    assert [row.variant for row in benchmark_records.read(tmp_path / "copy.json").rows] == [
        "ours",
        "second",
    ]
    said = capsys.readouterr().err.splitlines()
    assert said[-1] == (
        "measured without PyTorch, which ended the suite: RuntimeError: torch has no such backend"
    )


def test_a_record_of_a_part_says_why(tmp_path):
    worker.write(
        a_record(ours=1.0).contents | {"unfinished": "stopped before its end"},
        tmp_path / "fresh.json",
    )
    run._kept("copy", tmp_path / "fresh.json", tmp_path, "stopped after 300 seconds")
    assert (
        benchmark_records.read(tmp_path / "nvidia-h200" / "copy.json").contents["unfinished"]
        == "stopped after 300 seconds"
    )


def test_what_cannot_be_checked_is_not_timed():
    def fail():
        raise ImportError("libcublas.so.13 is not there")

    case = replace(a_case(variant("v", 1, 2, 3, 4)), want=fail)
    (row,) = worker.rows_of(SIMULATOR, Timer(SIMULATOR), case)
    assert (
        row["samples_ms"] == []
        and row["problem"] == "no expected result: ImportError: libcublas.so.13 is not there"
    )


def test_without_a_gpu_the_command_says_what_it_needs(tmp_path):
    done = asked("copy", "--out", str(tmp_path))
    assert done.exit_code == 2 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("warpwise: measuring needs ") and "--rehearse needs" in line


def test_an_unknown_suite_is_named_with_those_there_are(tmp_path):
    done = asked("sotfmax", "--out", str(tmp_path))
    assert done.exit_code == 2
    assert done.stderr.startswith("warpwise: no suite is called 'sotfmax'; there are copy, stride,")


def test_suites_are_listed():
    done = asked("--list")
    assert done.exit_code == 0
    assert "copy " in done.stdout and "Copy bandwidth over size" in done.stdout


def test_a_device_that_nobody_recorded_is_named(tmp_path):
    done = asked("copy", "--rehearse", "--compare", "Voodoo 2", "--out", str(tmp_path))
    assert done.exit_code == 2
    assert done.stderr.startswith(
        "warpwise: no record of a device called 'Voodoo 2'; recorded devices: "
    )


# --- messages ---


def a_record(device: str = "NVIDIA H200", **times: float) -> benchmark_records.Record:
    rows = []
    for name, milliseconds in times.items():
        case = Case("work", (), bytes=10**9)
        rows.append(worker.row(case, Variant(name, "numba", print), [milliseconds], None, ""))
    told = {
        "suite": "copy",
        "title": "t",
        "device": device,
        "date": "2026-01-01",
        "rows": rows,
        "ceilings": {"copy_GB_per_s": 4000.0},
    }
    return benchmark_records.Record(
        "copy", device, "2026-01-01", tuple(map(benchmark_records._row, rows)), told
    )


@pytest.mark.parametrize(
    ("beside", "ratio", "verdict"),
    [
        ("peer", 0.5, "reached"),
        ("copy", 0.125, "missed"),
        ("peak bandwidth", 1000 / 2 / 4800, "missed"),
        ("nobody", None, "not measured"),
    ],
)
def test_a_bar_is_a_ratio_of_the_same_run(monkeypatch, beside, ratio, verdict):
    bar = Bar("ours", "work", "ours", beside, 0.4, 0.8)
    monkeypatch.setattr(summary, "suite", lambda name: type("Suite", (), {"BARS": (bar,)}))
    (found,) = summary.reached(a_record(ours=2.0, peer=1.0))
    assert (found.ratio and pytest.approx(found.ratio)) == ratio and found.verdict == verdict
    assert replace(found, ratio=0.9).verdict == "aim reached"
    assert (
        found.ratio is None
        or replace(found, bar=replace(bar, at_least=0.0)).verdict == "aim missed"
    )


def test_two_devices_are_compared_where_both_measured():
    rows = list(summary.compared(a_record(ours=2.0, alone=1.0), a_record("NVIDIA A100", ours=6.0)))
    assert rows == [("work", "ours", "2.000 ms", "6.000 ms", "3.00")]


def test_a_training_step_has_its_tokens_a_second_beside_its_rate():
    (row,) = a_record(step=200.0).rows
    step = replace(row, parameters={"tokens": 4096}, GB_per_s=None, TFLOP_per_s=17.2)
    assert summary._rate(step) == "20,480 tokens/s, 17.20 TFLOP/s"
    piece = replace(step, parameters={"tokens": 4096, "piece": "adamw"})
    assert summary._rate(piece) == "17.20 TFLOP/s"
    assert summary._rate(replace(step, median_ms=None)) == "17.20 TFLOP/s"


def test_of_many_cases_the_first_and_the_last_are_shown():
    shown = summary._some([str(n) for n in range(100)])
    assert len(shown) == summary.MOST_CASES and {"0", "99"} <= shown


# --- records ---


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"suite": "copy"}',
        '{"suite": "copy", "device": "d", "date": "x", "rows": [{}]}',
    ],
)
def test_a_file_that_is_no_record_is_named_in_one_line(tmp_path, text):
    (tmp_path / "copy.json").write_text(text)
    with pytest.raises(
        MeasureError, match=r"copy\.json is no record of `warpwise measure`"
    ) as caught:
        benchmark_records.read(tmp_path / "copy.json")
    assert "\n" not in str(caught.value)


def test_an_h200_s_record_comes_first(tmp_path):
    for device in ("NVIDIA A100", "NVIDIA H200"):
        worker.write(
            a_record(device, ours=1.0).contents,
            tmp_path / benchmark_records.slug(device) / "copy.json",
        )
    assert [record.device for record in benchmark_records.recorded("copy", tmp_path)] == [
        "NVIDIA H200",
        "NVIDIA A100",
    ]


def test_folders_are_named_after_the_device():
    assert benchmark_records.slug("NVIDIA H200") == "nvidia-h200"
    assert benchmark_records.slug("Tesla T4 (Colab)") == "tesla-t4-colab"


BARE = """
import builtins, sys
real = builtins.__import__
def only(name, *rest, **more):
    if name.partition(".")[0] in ("typer", "rich", "click", "matplotlib", "nbformat", "yaml"):
        raise ImportError(f"{name} is not on a bare machine")
    return real(name, *rest, **more)
builtins.__import__ = only
from warpwise.measure.__main__ import main
sys.exit(main(["transpose", "--rehearse", "--out", sys.argv[1]]))
"""


def test_a_bare_machine_can_measure_without_a_command_line_library(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", BARE, str(tmp_path)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "transpose: transpose 64 x 128 float32" in done.stdout
        and "transpose_3_padded" in done.stdout
    )
    assert (
        benchmark_records.read(tmp_path / "the-simulator" / "transpose.json").contents["unfinished"]
        == ""
    )

"""Comparing counters without a GPU: patterns, compiled code, and reading Nsight Compute."""

from __future__ import annotations

import collections
import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numba import typeof
from support.share import share_of_kinds

from warpwise import trace
from warpwise.benchmark_records import EQUAL, recorded
from warpwise.errors import MeasureError
from warpwise.measure import ncu
from warpwise.measure.place import Place, in_simulator
from warpwise.measure.suites import counters
from warpwise.toolchain import compile_kernel

PATTERNS = counters.patterns()
WHOLE = ()
ALIKE = ("quad_exchange, all the same", "quad_exchange, pairs the same")

#: ncu's output, in its own words as far as they matter: notes, the program's output, the names, the
#: units, a row for each launch.
CAPTURED = """\
==PROF== Connected to process 4711 (/usr/bin/python3)
==PROF== Profiling "strided_load" - 0: 0%....50%....100% - 3 passes
some line of the program, with "quotes", and commas
==PROF== Disconnected from process 4711
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream",\
"Block Size","Grid Size","Device","CC",\
"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",\
"smsp__inst_executed_op_shared_ld.sum","smsp__thread_inst_executed_per_inst_executed.ratio"
"","","","","","","","","","","","","sector","inst","inst/inst"
"0","4711","python3","127.0.0.1","patterns::strided_load[abi:v1](Array<float, 1>, long long)",\
"1","7","(128, 1, 1)","(2, 1, 1)","0","9.0","8","1,024","n/a","32"
"1","4711","python3","127.0.0.1","memset",\
"1","7","(128, 1, 1)","(2, 1, 1)","0","9.0","0","0","0","31.50"
"2","4711","python3","127.0.0.1","patterns::gather[abi:v2](Array<float, 1>)",\
"1","7","(128, 1, 1)","(2, 1, 1)","0","9.0","16","281","0","16"
"""


def a_pattern(name: str):
    return next(p for p in PATTERNS if p.name.startswith(name))


# --- patterns ---


def test_there_are_enough_patterns_and_each_has_a_name():
    assert len(PATTERNS) >= 60 and sum(p.must_agree for p in PATTERNS) >= 60
    assert len({p.name for p in PATTERNS}) == len(PATTERNS)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p.name)
def test_a_pattern_computes_what_numpy_does(pattern):
    t = trace(pattern.kernel, pattern.blocks, pattern.threads, *pattern.args, record=())
    np.testing.assert_allclose(pattern.args[-1], pattern.want, rtol=1e-5, atol=1e-4)
    # lanes that store the same to one place are a race, if a harmless one
    assert bool(t.races) == (pattern.name in ALIKE)


@pytest.mark.parametrize("record", recorded("counters"), ids=lambda record: record.device)
def test_the_simulator_counts_what_a_gpu_counted(record):
    """Every pattern that was measured is counted anew, and what differed then is all that does."""
    patterns = {pattern.name: pattern for pattern in counters.patterns()}  # with fresh arrays
    told = {row["case"]: row for row in record.contents["rows"]}
    assert told.keys() == patterns.keys()
    for name, pattern in patterns.items():
        before = told[name]["parameters"]
        now = counters.row(pattern, counters.modelled(pattern), before["measured"])
        assert now["problem"] == "" and now["note"] == told[name]["note"]
        assert {key: now["parameters"][key] for key in ("modelled", "verdict")} == {
            key: before[key] for key in ("modelled", "verdict")
        }
    equal = sum(row["parameters"]["verdict"] == EQUAL for row in told.values())
    assert equal == sum(pattern.must_agree for pattern in PATTERNS) >= 140


TWO_LOADS = ("gather", "add_global")
NO_STORE = ("count_global", "add_global")
SIMPLE = {
    (p.kernel, tuple(map(typeof, p.args))): p
    for p in PATTERNS
    if p.must_agree and p.name not in WHOLE
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern",
    share_of_kinds(SIMPLE.values(), kind=lambda p: p.function, one_in=4),
    ids=lambda p: p.name,
)
def test_the_compiler_neither_joins_nor_repeats_an_access(pattern):
    """Global memory has one load and one store, as has shared memory where it is used.

    Nothing is folded, and nothing is in local memory."""
    compiled = compile_kernel(pattern.kernel, tuple(map(typeof, pattern.args)), (9, 0))
    found = collections.Counter(i.opcode.split(".")[0] for i in compiled.machine_code)
    shared = int(compiled.shared_bytes > 0)
    loads = 2 if pattern.function in TWO_LOADS else 3 if pattern.function == "quad_exchange" else 1
    atomics = sum(found[op] for op in ("ATOMG", "REDG", "ATOMS"))
    stores = 0 if pattern.function in NO_STORE else 1
    counted = [found[op] for op in ("LDG", "STG", "LDS", "STS", "LDL", "STL")]
    assert counted == [loads, stores, shared, shared, 0, 0]
    assert atomics == ("atomic" in inspect.getsource(pattern.kernel.py_func))


# --- Nsight Compute ---


def test_what_ncu_prints_is_read_whatever_stands_around_it():
    first, other, last = ncu.read_csv(CAPTURED)
    assert "strided_load" in first.kernel
    assert first.values == {
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 8,
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 1024,
        "smsp__inst_executed_op_shared_ld.sum": None,
        "smsp__thread_inst_executed_per_inst_executed.ratio": 32,
    }
    assert ncu.counters(other)["warp_efficiency"] == 31.5 / 32
    assert ncu.counters(last) | {
        "global_load_requests": 16,
        "global_load_sectors": 281,
        "warp_efficiency": 0.5,
    } == ncu.counters(last)
    assert ncu.counters(last)["global_store_sectors"] is None


@pytest.mark.parametrize(
    "text", ["", "==ERROR== no kernels were profiled\n", '"ID","Kernel Name"\n"",""\n']
)
def test_a_run_without_launches_is_read_as_none(text):
    assert ncu.read_csv(text) == []


def test_launches_are_matched_in_order_and_others_are_passed_over():
    launches = ncu.read_csv(CAPTURED)
    assert ncu.matched(launches, ["strided_load", "gather"]) == [launches[0], launches[2]]
    assert ncu.matched(launches, ["gather", "strided_load"]) == [launches[2], None]


def test_a_missing_ncu_is_named(tmp_path):
    with pytest.raises(ncu.NcuError, match=r"cannot run .*No such file.*PATH") as caught:
        ncu.profiled(["true"], str(tmp_path / "ncu"))
    assert "\n" not in str(caught.value)


def an_ncu(folder: Path, script: str) -> str:
    """Make a program that stands in for ncu."""
    path = folder / "ncu"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.unix("its programs are shell scripts")
@pytest.mark.parametrize(
    ("says", "told"),
    [
        (
            "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access counters",
            r"ERR_NVGPUCTRPERM.*root",
        ),
        ("==ERROR== The application returned an error code (9).", r"status 1.*error code \(9\)"),
        ("==ERROR== LibraryNotLoaded\n==WARNING== No kernels were profiled.", "LibraryNotLoaded"),
        ("Segmentation fault", "it said: Segmentation fault"),
    ],
)
def test_why_nothing_was_counted_is_one_line(tmp_path, says, told):
    with pytest.raises(ncu.NcuError, match=told) as caught:
        ncu.profiled(["true"], an_ncu(tmp_path, f'echo "{says}"; exit 1'))
    assert "\n" not in str(caught.value)


@pytest.mark.unix("its programs are shell scripts")
def test_a_metric_that_this_ncu_does_not_know_is_left_out(tmp_path):
    (tmp_path / "table").write_text(CAPTURED)
    unknown = ncu.METRICS["shared_load_requests"]
    script = (
        f'case "$*" in *{unknown}*) echo "==ERROR== Failed to find metric {unknown}"; exit 1;; '
        f"esac; cat {tmp_path}/table"
    )
    assert ncu.profiled(["true"], an_ncu(tmp_path, script)) == ncu.read_csv(CAPTURED)


@pytest.mark.unix("its programs are shell scripts")
def test_an_ncu_that_knows_no_metric_is_not_asked_for_ever(tmp_path):
    script = (
        'for name in $(echo "$*" | grep -o "[a-z0-9]*__[a-z0-9_.]*"); '
        'do echo "Failed to find metric $name"; done; exit 1'
    )
    with pytest.raises(ncu.NcuError, match="knows none of the metrics"):
        ncu.profiled(["true"], an_ncu(tmp_path, script))


@pytest.mark.unix("its programs are shell scripts")
def test_an_ncu_that_does_not_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(ncu, "SECONDS", 0.2)
    with pytest.raises(ncu.NcuError, match=r"stopped after 0.2 seconds"):
        ncu.profiled(["true"], an_ncu(tmp_path, "exec sleep 60"))


def test_without_counters_there_is_no_record(monkeypatch):
    def refused(*_):
        raise ncu.NcuError("LibraryNotLoaded")

    monkeypatch.setattr(counters, "profiled", refused)
    with pytest.raises(MeasureError, match=r"^LibraryNotLoaded$"):
        counters.collect(Place(np, "a GPU", (9, 0), 132, 50 * 2**20))


# --- verdicts ---


def test_equal_counters_are_equal_and_one_that_differs_is_named():
    pattern = a_pattern("strided_load 4 B")
    ours = counters.modelled(pattern)
    assert counters.verdict(pattern, ours, dict(ours)) == "equal"
    for name in ncu.METRICS:
        theirs = ours | {name: ours[name] + 1}
        assert counters.verdict(pattern, ours, theirs) == f"differs: {name}"


def test_efficiency_counts_only_where_all_instructions_have_the_same_lanes():
    pattern = a_pattern("strided_load 4 B")
    ours = counters.modelled(pattern)
    theirs = ours | {"warp_efficiency": 0.5}
    assert counters.verdict(pattern, ours, theirs) == "differs: warp_efficiency"
    assert counters.verdict(replace(pattern, even=False), ours, theirs) == "equal"


def test_what_was_not_measured_is_not_called_equal():
    pattern = a_pattern("strided_load 4 B")
    ours = counters.modelled(pattern)
    assert counters.verdict(pattern, ours, None) == "not measured"
    assert (
        counters.verdict(pattern, ours, ours | {"global_load_sectors": None})
        == "not measured: global_load_sectors"
    )
    assert counters.verdict(pattern, ours, ours | {"shared_load_requests": None}) == "equal"
    assert counters.verdict(pattern, "why", ours) == "not modelled: why"


def test_a_rehearsal_models_every_pattern_and_measures_none(monkeypatch):
    monkeypatch.setenv("WARPWISE_BACKEND", "simulator")
    rows = counters.collect(in_simulator())
    assert len(rows) == len(PATTERNS)
    assert {row["parameters"]["verdict"] for row in rows} == {"not measured"} and not any(
        row["problem"] for row in rows
    )


def test_counters_that_must_agree_and_do_not_are_a_problem():
    pattern = a_pattern("strided_load 4 B")
    ours = counters.modelled(pattern)
    assert counters.row(pattern, ours, dict(ours))["problem"] == ""
    assert (
        counters.row(pattern, ours, ours | {"global_load_sectors": 7})["problem"]
        == "differs: global_load_sectors"
    )
    assert (
        counters.row(replace(pattern, note="why"), ours, ours | {"global_load_sectors": 7})[
            "problem"
        ]
        == ""
    )
    refused = counters.row(pattern, ours, None, "the driver lets only administrators read counters")
    assert (refused["by"], refused["problem"]) == (
        "ncu",
        "the driver lets only administrators read counters",
    )

"""``warpwise time``: a file's launches timed on GPUs that are not here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT
from typer.testing import CliRunner

from warpwise.cli import app
from warpwise.toolchain import missing

PROGRAM = """
import numpy as np
from warpwise import cuda, trace

@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]

@cuda.jit
def idle(a):
    a[cuda.grid(1)] = 1

print("said by the file")
a, b, c = (np.ones(16 * 256, np.float32) for _ in range(3))
trace(add, 16, 256, a, b, c)
add[16, 256](a, b, c)
add[8, 256](a, b, c)
"""
TWO = PROGRAM + "\nidle[1, 32](a)\n"
STOPPED = PROGRAM + "\n1 / 0\n"
compiles = pytest.mark.skipif(bool(missing()), reason="no compiler")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, text in (("one", PROGRAM), ("two", TWO), ("stopped", STOPPED), ("none", "x = 1\n")):
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WARPWISE_BACKEND", "simulator")
    return lambda *words: CliRunner().invoke(app, ["time", *words])


@compiles
def test_a_line_for_each_device_says_time_range_what_binds_and_the_rate(run):
    done = run("two.py:add", "--device", "A100", "--device", "rtx a6000", "--grid", "64x2048")
    assert done.exit_code == 0, done.stderr
    title, heads, *lines = done.stdout.splitlines()
    assert title == "add: 64 x 2,048 blocks of 256 threads"  # one of two launches, the larger
    assert heads.split() == "device modelled range bound by rate".split()
    names = ["A100 40 GB SXM", "A100 80 GB SXM", "RTX A6000"]
    assert [line.strip().partition("  ")[0] for line in lines] == names
    assert all("  DRAM  " in line and " GB/s of DRAM, 9" in line for line in lines)
    assert lines[2].endswith("% of the peak") and " to " in lines[2]


@compiles
def test_every_launch_that_differs_is_timed_without_a_kernels_name(run):
    done = run("one.py")
    titles = [line for line in done.stdout.splitlines() if line.startswith("add")]
    assert titles == ["add: 16 blocks of 256 threads", "add: 8 blocks of 256 threads"]
    assert "said by the file" not in done.stdout and done.stderr == ""
    assert done.stdout.count("H100 SXM") == 2


@compiles
@pytest.mark.parametrize("option", ["--show", "--lines"])
def test_lines_pipes_and_waits_are_shown_on_demand(run, option):
    said = run("one.py:add", option, "--grid", "9999").stdout
    for words in ("Busy: DRAM", "Lines that use DRAM: line ", "Warps wait for: long scoreboard"):
        assert words in said
    assert "\nThe range comes from kernels bound by DRAM, " in said
    assert "Busy" not in run("one.py:add").stdout


@compiles
def test_json_has_every_figure(run):
    (found,) = json.loads(run("one.py:add", "--json", "--grid", "4096", "--device", "T4").stdout)
    assert (found["kernel"], found["device"], found["binds"]) == ("add", "T4", "DRAM")
    assert found["grid"] == [4096, 1, 1] and found["block"] == [256, 1, 1]
    assert found["low"] < found["seconds"] < found["high"]
    assert 0.5 < found["share_of_peak"] < 1 and "of the peak" in found["rate"]
    assert found["lines"][0]["share"] > 0 and found["waits"][0]["name"]


def kept(folder: Path, device: str, **constants: float) -> str:
    """Write a record of measured constants, and return its name."""
    record = {"suite": "constants", "device": device, "date": "2026-01-02T03:04:05+00:00"}
    text = json.dumps(record | {"rows": [], "constants": constants})
    (folder / "constants.json").write_text(text)
    return "constants.json"


@compiles
@pytest.mark.parametrize("named", [[], ["--device", "h200"]], ids=["by the file", "by name"])
def test_measured_constants_stand_in_place_of_published_ones(run, tmp_path, named):
    from warpwise.stopwatch.predict import LAUNCH_SECONDS  # needs the compiler's packages

    words = ["two.py:idle", "--json", "--grid", "1"]
    (published,) = json.loads(run(*words, "--device", "H200").stdout)
    file = kept(tmp_path, "NVIDIA H200", ghz=0.99)
    done = run(*words, *named, "--constants", file)
    (found,) = json.loads(done.stdout)
    assert found["device"] == "H200 SXM"
    running = [one["seconds"] - LAUNCH_SECONDS for one in (published, found)]
    assert running[1] == pytest.approx(2 * running[0])  # at half the clock


@pytest.mark.parametrize(
    ("device", "words", "said"),
    [
        ("NVIDIA H200", ["--device", "T4"], "has constants of NVIDIA H200, and not of T4"),
        ("NVIDIA H200", ["--device", "T4", "--device", "V100"], "those of one device: name it"),
        ("NVIDIA H100", [], "which may be H100 PCIe, H100 SXM: name one with --device"),
        ("GTX 970", [], "is of GTX 970, which the stopwatch does not know: name one with"),
    ],
)
def test_constants_of_another_device_are_refused(run, tmp_path, device, words, said):
    done = run("one.py:add", *words, "--constants", kept(tmp_path, device, ghz=1.0))
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr.startswith("warpwise: ") and done.stderr.count("\n") == 1
    assert said in done.stderr


@compiles
def test_a_file_that_stops_is_timed_as_far_as_it_came(run):
    done = run("stopped.py:add", "--device", "T4")
    assert done.exit_code == 0 and "  T4  " in done.stdout
    assert "ZeroDivisionError" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gone.py:add"], "no file at gone.py"),
        (["gone.py"], "no file at gone.py"),
        (["two.py:multiply"], "no kernel 'multiply' in two.py; it launches add, idle"),
        (["two.py"], "which kernel of two.py? Write FILE:KERNEL; it launches add, idle"),
        (["one.py:idle"], "one.py never launches idle on the simulator; launch it by trace("),
        (["none.py"], "none.py launches no kernel"),
        (["one.py:add", "--device", "GTX 970"], "does not know 'GTX 970'; it knows T4, V100"),
        (["one.py:add", "--grid", "many"], "'many' is not a grid; write it as 4096 or 64x64"),
        (["one.py:add", "--constants", "gone.json"], "no record of measurements at gone.json"),
        (["one.py:add", "--constants", "one.py"], "one.py is no record of `warpwise measure`"),
        (["one.py:add", "--grid", "0"], "a grid is one to three positive integers, not 0\n"),
        (["one.py:add", "--grid", "8x0"], "a grid is one to three positive integers, not 8x0\n"),
    ],
)
def test_a_mistake_is_one_line(run, words, said):
    done = run(*words)
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr.startswith("warpwise: ") and done.stderr.count("\n") == 1
    assert said in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("without", ["numba", "scipy"])
def test_without_the_compiler_there_is_a_bound_and_a_note(run, without, tmp_path):
    """An interpreter in which one of its packages cannot be imported."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.modules[{without!r}] = None; "
        "from warpwise.cli import app; app()"
    )
    words = [sys.executable, "-c", code, "time", "one.py:add", "--grid", "4096"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "  at least 3.76 us  " in done.stdout, done.stdout
    why = "a bound from counters alone, for the kernel was not compiled: its compiler is not "
    assert f"{why}installed (no {without}): python -m pip install " in done.stdout


def test_a_lab_that_is_not_done_launches_nothing(run):
    done = run(str(ROOT / "labs" / "08_coalescing.ipynb") + ":transpose")
    assert done.exit_code == 2 and "never launches transpose" in done.stderr


@compiles
@pytest.mark.slow
def test_a_lab_is_timed_in_its_checks(run):
    done = run(str(ROOT / "solutions" / "08_coalescing.md") + ":transpose", "--device", "T4")
    assert done.exit_code == 0 and done.stdout.count("  T4  ") >= 3
    assert all(
        line.startswith("transpose: ") for line in done.stdout.splitlines() if "threads" in line
    )

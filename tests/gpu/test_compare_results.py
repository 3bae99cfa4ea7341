"""``gpu/compare_results.py`` and what it reads, with Numba's simulator in a GPU's place.

That simulator has the same calls, but the types of Python's numbers where a compiler has its own,
so there are kernels that must be found to differ."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.paths import ROOT

from warpwise import cuda
from warpwise.labs.source import load_lab, role, unmarked

GPU = ROOT / "tests" / "gpu"
sys.path.insert(0, str(GPU))
compare_results, solved_labs = map(importlib.import_module, ("compare_results", "solved_labs"))
Job, Result = compare_results.Job, compare_results.Result
STEMS = solved_labs.stems()

#: Hides what a bare GPU machine lacks from imports, then solves every lab.
BARE = """
import sys, tempfile
from pathlib import Path

ABSENT = "jupytext nbformat nbclient ipykernel IPython anywidget ipywidgets matplotlib".split()

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"no {name} here", name=name)

sys.meta_path.insert(0, Absent())
sys.path[:0] = sys.argv[1:]
import solved_labs
for stem in solved_labs.stems():
    with tempfile.TemporaryDirectory() as folder:
        for one in solved_labs.solved(stem, Path(folder)):
            print(stem, one.id, len(one.launches), type(one.kernel).__name__)
"""


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(GPU / "compare_results.py"), *arguments]
    return subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )


def lines(done: subprocess.CompletedProcess) -> dict[str, tuple[str, str]]:
    """Map kernels to their status and the rest of their line."""
    rows = [
        re.match(r"(ok|differs|failed|skipped) +(\S+) *(.*)", line)
        for line in done.stdout.splitlines()
    ]
    return {row[2]: (row[1], row[3]) for row in rows if row}


# --- reading the labs ---


@pytest.mark.parametrize("stem", STEMS)
def test_a_lab_is_read_as_jupytext_reads_it(stem):
    lab = load_lab(stem)
    theirs = [
        (role(c), c.source.strip("\n"), dict(c.metadata.get("warpwise", {})))
        for c in lab.cells
        if c.cell_type == "code"
    ]
    ours = solved_labs.cells((ROOT / f"solutions/{stem}.md").read_text("utf-8"))
    assert [(cell.role, cell.source, cell.about) for cell in ours] == theirs


def solved_where(backend: str) -> subprocess.CompletedProcess:
    paths = [str(ROOT), str(GPU), str(ROOT / "tests")]
    environment = os.environ | {"WARPWISE_BACKEND": backend, "PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        [sys.executable, "-c", BARE, *paths], env=environment, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def asked() -> dict[tuple[str, str], tuple[int, str]]:
    """Map (lab, exercise) to its number of launches and kernel type, without Jupyter."""
    done = solved_where("simulator")
    assert done.returncode == 0, done.stderr[-2000:]
    rows = map(str.split, done.stdout.splitlines())
    return {(stem, exercise): (int(count), kind) for stem, exercise, count, kind in rows}


@pytest.mark.slow
def test_without_jupyters_packages_every_solution_has_its_launches(asked):
    exercises = {
        (stem, exercise.id): exercise.kind
        for stem in STEMS
        for exercise in load_lab(stem).exercises
    }
    assert set(asked) == set(exercises)
    for key, (count, kind) in asked.items():
        assert (
            (count >= 5 and kind == "SimulatedKernel")
            if exercises[key] == "kernel"
            else kind == "NoneType"
        ), key


@pytest.mark.slow
def test_where_kernels_are_numbas_every_lab_still_runs(asked):
    """The labs' own cells use nothing that only the simulator's kernels have."""
    done = solved_where("gpu")
    assert done.returncode == 0, done.stderr[-2000:]
    kernels = {
        tuple(line.split()[:2])
        for line in done.stdout.splitlines()
        if line.endswith(" CUDADispatcher")
    }
    assert kernels == {key for key, (_, kind) in asked.items() if kind == "SimulatedKernel"}


def test_a_solution_is_the_text_that_the_lab_has(tmp_path):
    found = {one.id: one.kernel for one in solved_labs.solved("08_coalescing", tmp_path)}
    cell = next(
        c
        for c in load_lab("08_coalescing").cells
        if role(c) == "exercise" and c.metadata["warpwise"]["id"] == "transpose"
    )
    assert (
        found["transpose"].source.strip()
        == unmarked(cell.source)[unmarked(cell.source).index("@cuda.jit") :].strip()
    )


# --- on a device ---


@pytest.mark.slow
def test_solutions_and_programs_run_on_a_device_and_what_differs_is_found():
    done = run(
        "--only", "s/01_why", "--most-threads", "100", "--jobs", "1", NUMBA_ENABLE_CUDASIM="1"
    )
    found = lines(done)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [found[f"solutions/01_why_gpus:{name}"][0] for name in ("square", "add", "reverse")] == [
        "ok"
    ] * 3
    assert found["solutions/01_why_gpus:place"] == ("skipped", "a host function")
    assert done.stderr.startswith("-- solutions/01_why_gpus: 1 of 1, ")


@pytest.mark.slow
def test_programs_that_a_compiler_and_numbas_simulator_see_differently_differ():
    done = run("--only", "kernels/compiler_types", "--jobs", "1", NUMBA_ENABLE_CUDASIM="1")
    found = lines(done)
    assert done.returncode == 1
    assert found["kernels/compiler_types:small_integers_widen[0]"][0] == "differs"
    told = (
        r"1 of 1 launch; array 2 \[0\] is -26 on the GPU and 230 in the simulator; 40 of 40 differ"
    )
    assert re.fullmatch(told, found["kernels/compiler_types:small_integers_widen[0]"][1])
    differ = sum(status == "differs" for status, _ in found.values())
    assert (
        done.stdout.splitlines()[-1]
        == f"{len(found)} kernels: {len(found) - differ} ok, {differ} differs, 0 failed, 0 skipped"
    )


@pytest.mark.slow
def test_the_rest_of_the_programs_agree_and_a_large_launch_is_left_out():
    done = run(
        "--only", "kernels/l", "--most-threads", "64", "--jobs", "2", NUMBA_ENABLE_CUDASIM="1"
    )
    found = lines(done)
    assert done.returncode == 0, done.stdout
    assert {status for status, _ in found.values()} <= {"ok", "skipped"}
    assert sum(status == "ok" for status, _ in found.values()) >= 20


def test_without_a_gpu_it_says_so():
    done = run(CUDA_VISIBLE_DEVICES="", NUMBA_ENABLE_CUDASIM="0")
    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        "",
        "needs an NVIDIA GPU: none was found here\n",
    )


@cuda.jit
def racy(x):
    x[0] = cuda.threadIdx.x


@cuda.jit
def wild(x):
    x[cuda.threadIdx.x + 1] = 1


@pytest.mark.parametrize(("kernel", "why"), [(racy, "race on x"), (wild, "OutOfBoundsError")])
def test_a_faulty_kernel_stays_off_the_device(kernel, why):
    """These are the simulator's kernels, which could not even start on a device."""
    result = compare_results.result_of(
        Job("faulty", kernel, (("", 1, 32, (np.zeros(32, np.int64),)),)), 1000
    )
    assert result.status == "skipped" and why in result.said and "\n" not in result.said


# --- processes that end early ---


def told(*said: dict | Result) -> list[str]:
    return [json.dumps(one if isinstance(one, dict) else vars(one)) for one in said]


def test_behind_a_kernel_that_ends_its_process_another_begins():
    fine, spoilt, last = Result("a", "ok"), Result("c", "failed", "[700]"), Result("d", "ok")
    answers = {
        0: (-11, told({"begins": "a"}, fine, {"begins": "b"}), "Segmentation fault"),
        2: (compare_results.SPOILT, told({"begins": "c"}, spoilt), ""),
        3: (0, told({"begins": "d"}, last), ""),
    }
    found = compare_results.run_group("kernels/some", 10, lambda group, after, most: answers[after])
    assert found == [fine, Result("b", "failed", "Segmentation fault"), spoilt, last]


def test_a_group_that_does_not_even_begin_fails_once():
    found = compare_results.run_group(
        "kernels/some", 10, lambda group, after, most: (1, [], "ImportError: no")
    )
    assert found == [Result("kernels/some", "failed", "ImportError: no")]


def test_a_process_that_breaks_is_told_by_its_last_line():
    status, said, complaint = compare_results._process("solutions/no_such_lab", 0, 10)
    assert status == 1 and said == [] and complaint.startswith("FileNotFoundError")


# --- comparing ---

ONE = np.array([1.0, 2.0, -3.0], np.float32)
PAIR = np.dtype([("a", "f4"), ("b", "i4")])


@pytest.mark.parametrize(
    ("got", "want", "said"),
    [
        (ONE, ONE, ""),
        (ONE * np.float32(1 + 1e-6), ONE, ""),
        (
            ONE + np.float32(0.001),
            ONE,
            r"\[0\] is 1.001\d* on the GPU and 1.0 in the simulator; 3 of 3 differ",
        ),
        (np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), ""),
        (np.array([np.nan]), np.array([1.0]), r"\[0\] is nan on the GPU.*"),
        (np.array([np.inf]), np.array([-np.inf]), r"\[0\] is inf.*"),
        (np.array([1, 2]), np.array([1, 3]), r"\[1\] is 2 on the GPU and 3.*; 1 of 2 differ"),
        (np.array([1 + 1j]), np.array([1 + 1.1j]), r"\[0\] .*"),
        (np.array([1 + 1j]), np.array([1 + (1 + 1e-9) * 1j]), ""),
        (np.array([(1, 2)], PAIR), np.array([(1, 2)], PAIR), ""),
        (np.array([(1, 2)], PAIR), np.array([(1, 3)], PAIR), r"\[0\] is 2 .*"),
        (np.array([(1, 2)], PAIR), np.array([(1.1, 2)], PAIR), r"\[0\] is 1.0 .*"),
        (np.zeros(0), np.zeros(0), ""),
    ],
)
def test_numbers_are_compared(got, want, said):
    room = compare_results.ROOM.get(compare_results._real(want.dtype), 0)
    assert re.fullmatch(said, compare_results.compared(got, want, room, 0.0)[0])


def test_copies_are_made_inside_tuples_too():
    args = (np.zeros(2), (np.zeros(3), 4), 5)
    copies = compare_results.copied(args)
    assert [a.size for a in compare_results.arrays(copies)] == [2, 3] and copies[1][1] == 4
    assert not any(
        np.shares_memory(a, b)
        for a, b in zip(compare_results.arrays(args), compare_results.arrays(copies), strict=True)
    )


def test_every_lab_and_every_program_is_a_group():
    groups = compare_results.groups()
    assert len(groups) == len(STEMS) + len(list((ROOT / "tests/programs/oracle").glob("*.py")))
    assert Path(ROOT / "solutions" / f"{groups[0].split('/')[1]}.md").exists()

"""``grade --gpu``. There is no GPU here: Numba's own simulator, which has the same calls, takes its
place in the grader's processes; and what it is given is compiled for one by Numba itself."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import cuda, typeof
from support import tiny_course
from support.lab_cases import WITHOUT_KERNELS, kernels_for_a_gpu
from support.paths import ROOT

from warpwise.errors import GradingError
from warpwise.grading import extract, gpu, hidden, material, store
from warpwise.grading.execution import Execution
from warpwise.grading.gpu_kernel import compiled
from warpwise.grading.notebook import Answer
from warpwise.labs.exercise import InOut, Launch, Out, fresh
from warpwise.toolchain.compilation import compiling_for

ON_NUMBAS_SIMULATOR = {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONWARNINGS": "ignore"}
GUARDED = (
    "@cuda.jit\ndef double(x, y):\n    i = cuda.grid(1)\n    if i < x.size:\n        y[i] = {}\n"
)
ALIASED = """@cuda.jit
def double(x, y):
    a, b = cuda.shared.array(32, np.float32), cuda.shared.array(32, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    a[t] = np.float32(1)
    b[t] = np.float32(2)
    if i < x.size:
        y[i] = a[t] * 2 * x[i]
"""  # Numba's simulator takes two shared arrays of one line for one
SCALED = (
    "TWO = 1 + 1\n\n\n"
    "@cuda.jit(device=True)\ndef scaled(value, factor=TWO - 1):\n"
    "    return factor * TWO * value\n\n\n"
)
IN_PARTS = SCALED + GUARDED.format("scaled(x[i])")
# what it prints goes where results go, if nobody takes care
CHATTY = IN_PARTS.replace("TWO - 1", "1") + "        print(i, x[i])\n"


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    return tiny_course.course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def on_numbas_simulator(monkeypatch):
    for name, value in ON_NUMBAS_SIMULATOR.items():
        monkeypatch.setenv(name, value)


def grade(
    submissions: Path, out: Path, course: Path, *more: str, **environment: str
) -> subprocess.CompletedProcess:
    command = [
        sys.executable,
        "-m",
        "warpwise.cli",
        "grade",
        str(submissions),
        "--out",
        str(out),
        "--course",
        str(course),
        "--seed",
        "5",
    ]
    return subprocess.run(
        [*command, *more], env=os.environ | environment, capture_output=True, text=True, cwd=ROOT
    )


# A run.


def test_kernels_that_pass_run_on_the_gpu_too_and_no_points_depend_on_it(sandbox, course, tmp_path):
    kernels = {"right": CHATTY, "wrong": GUARDED.format("3 * x[i]"), "aliased": ALIASED}
    submissions, out = (
        tiny_course.handed_in(course, tmp_path / "submissions", **kernels),
        tmp_path / "out",
    )
    done = grade(submissions, out, course, "--gpu", **ON_NUMBAS_SIMULATOR)
    assert done.returncode == 0, done.stderr
    rows = {row["student"]: row for row in csv.DictReader((out / "gpu.csv").open(newline=""))}
    assert {student: row["outcome"] for student, row in rows.items()} == {
        "right": "right",
        "aliased": gpu.ANOTHER,
    }
    # that simulator has no clock
    assert {(row["exercise"], row["us"], row["least_us"]) for row in rows.values()} == {
        ("double", "", "")
    }
    points = {
        row["student"]: row["points"]
        for row in csv.DictReader((out / "grades.csv").open(newline=""))
    }
    assert points == {"right": "5", "wrong": "2", "aliased": "5"}
    said = " ".join((out / "feedback/aliased.txt").read_text().split())
    assert "another result than in the simulator. The points come from the simulator." in said
    assert (
        "On a GPU" in (out / "feedback/right.html").read_text()
        and "On a GPU" not in (out / "feedback/wrong.html").read_text()
    )


def test_regrading_uses_the_gpu_again_and_a_run_without_it_does_not(
    sandbox, course, tmp_path, on_numbas_simulator
):
    submissions, out = (
        tiny_course.handed_in(
            course, tmp_path / "submissions", right=GUARDED.format("x[i] + x[i]")
        ),
        tmp_path / "out",
    )
    assert grade(submissions, out, course, "--gpu").returncode == 0
    command = [sys.executable, "-m", "warpwise.cli", "regrade", str(out)]
    assert (
        "1 submission graded again: 0 up, 0 down, 1 the same"
        in subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout
    )
    assert [
        bool(result.gpu) for record in store.load(out).records for result in record.results
    ] == [True, False]
    assert grade(submissions, out, course).returncode == 0
    assert not any(result.gpu for record in store.load(out).records for result in record.results)
    assert not (out / "gpu.csv").exists()


def test_without_a_gpu_one_line_says_so_and_nothing_is_written(sandbox, course, tmp_path):
    submissions = tiny_course.handed_in(course, tmp_path / "submissions", right=CHATTY)
    done = grade(submissions, tmp_path / "out", course, "--gpu", CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 2 and not (tmp_path / "out").exists()
    assert (
        len(done.stderr.splitlines()) == 1
        and "needs a GPU that Numba can use" in done.stderr
        and "doctor" in done.stderr
    )


def test_kernels_are_timed_one_at_a_time():
    with pytest.raises(GradingError, match="leave out --jobs"):
        Execution(jobs=2, gpu=True)


# What goes to the process and comes back.


def test_launches_are_told_without_what_is_expected():
    secret = np.array([601.0, 602.0], np.float32)
    args = (
        np.arange(6, dtype=np.int16).reshape(2, 3),
        Out((2,)),
        np.float32(1.5),
        7,
        True,
        InOut(np.ones(3)),
        0.1,
    )
    launch = Launch("", (2, 1), 3, args, (secret, np.full(3, 603.0)))
    about, arrays = gpu._encoded([launch])
    data = gpu._packed({"launches": about}, arrays)
    assert secret.tobytes() not in data and b"603" not in data
    said, arrays = gpu._unpacked(data)
    (again,) = gpu._decoded(said["launches"], arrays)
    assert (again.blocks, again.threads, len(again.args)) == ((2, 1), 3, len(args))
    np.testing.assert_array_equal(again.args[0], args[0])
    assert (
        again.args[1] == Out((2,))
        and type(again.args[2]) is np.float32
        and again.args[2:5] == (1.5, 7, True)
        and again.args[6] == 0.1
    )
    assert [(want.shape, want.dtype) for want in again.want] == [
        (want.shape, want.dtype) for want in launch.want
    ]


@pytest.mark.parametrize(
    "text",
    [
        "@cuda.jit\ndef double(x: open('{0}', 'w'), y) -> open('{0}', 'w'):\n"
        "    y[cuda.grid(1)] = 2 * x[0]\n",
        "@cuda.jit(fastmath=open('{0}', 'w'))\ndef double(x, y):\n    y[cuda.grid(1)] = 2 * x[0]\n",
        "open('{0}', 'w')\n" + GUARDED.format("x[i]"),
        "TWO = open('{0}', 'w')\n" + GUARDED.format("TWO"),
        "from os import system\n" + GUARDED.format("system('touch {0}')"),
        GUARDED.format("__import__('os').system('touch {0}')"),
        IN_PARTS.replace("TWO - 1", "open('{0}', 'w')"),
        "class Two(int):\n    open('{0}', 'w')\n\n\n" + GUARDED.format("Two(2)"),
    ],
)
def test_of_a_text_nothing_runs_but_the_kernel(text, course, tmp_path):
    """Numba's compiler, as on a GPU, may refuse a kernel; the text around it has no effect in any
    case."""
    planted = tmp_path / "planted"
    answer, given = (
        Answer("double", "kernel", "double", text.format(planted)),
        ["import numpy as np\nfrom warpwise import cuda"],
    )
    try:
        kernel = compiled(extract.kernel(answer.text, answer.name, (), given))
        ptx_of(kernel, (np.zeros(1, np.float32), np.zeros(1, np.float32)))
    except Exception as error:
        assert str(error)
    assert not planted.exists()


def test_a_default_that_is_no_literal_is_refused(course):
    given = ["import numpy as np\nfrom warpwise import cuda"]
    with pytest.raises(GradingError, match="scaled: the default TWO - 1 is no literal"):
        compiled(extract.kernel(IN_PARTS, "double", (), given))


def ptx_of(kernel, args: tuple) -> str:
    """Numba's PTX of a kernel for arguments like these."""
    with compiling_for((9, 0)):
        return cuda.compile_ptx(kernel.py_func, tuple(map(typeof, args)), cc=(9, 0), opt=False)[0]


@pytest.mark.slow
@pytest.mark.parametrize("stem", material.stems(ROOT))
def test_every_labs_kernels_compile_for_a_gpu_as_the_grader_makes_them(stem):
    of_lab, kernels = material.load(ROOT, stem, seed=3), kernels_for_a_gpu(stem)
    assert bool(kernels) == (stem not in WITHOUT_KERNELS)
    for exercise in kernels:
        answer = gpu._solution(Answer(exercise.id, exercise.kind, exercise.name, ""), of_lab)
        kernel = compiled(extract.kernel(answer.text, answer.name, answer.others, of_lab.given))
        cases = hidden.cases(of_lab.tests, exercise.id, 3)
        assert ".entry" in ptx_of(kernel, tuple(map(fresh, cases[0].args)))
        about, arrays = gpu._encoded(cases)
        for case, again in zip(
            cases, gpu._decoded(json.loads(json.dumps(about)), arrays), strict=True
        ):
            assert np.all(case.blocks == again.blocks) and np.all(case.threads == again.threads)
            for one, other in zip(map(fresh, case.args), map(fresh, again.args), strict=True):
                assert type(one) is type(other) and np.array_equal(
                    one, other, equal_nan=np.asarray(one).dtype.kind == "f"
                )


def test_a_kernel_of_the_model_stays_in_the_simulator():
    of_lab = material.load(ROOT, "15_tensor_cores", seed=3)
    answer = gpu._solution(Answer("consumer", "kernel", "consumer", ""), of_lab)
    assert gpu.run_on_gpu(answer, of_lab, "a GPU").problem == gpu.MODEL


def test_what_goes_wrong_on_the_gpu_costs_no_points(course, monkeypatch):
    monkeypatch.setattr(gpu, "COMMAND", ("echo",))
    answer = Answer("double", "kernel", "double", CHATTY)
    found = gpu.run_on_gpu(answer, material.load(course, tiny_course.STEM, seed=3), "a GPU")
    assert found.gpu == "a GPU" and found.problem and not found.seconds

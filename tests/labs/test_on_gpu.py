"""A check's words about a GPU, with Numba's own simulator in its place.

The simulator has the same calls, and runs in a process that is told to use the GPU. Its types are
Python's, so a kernel of small integers gives another result there, and it has no shuffles."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
from support.paths import ROOT

from warpwise import cuda, trace
from warpwise.devices import H100, H200
from warpwise.labs import on_gpu
from warpwise.labs.build import _reference
from warpwise.labs.exercise import Launch, Out, Verdict
from warpwise.labs.run import run_notebook

ON_NUMBAS_SIMULATOR = {
    "NUMBA_ENABLE_CUDASIM": "1",
    "WARPWISE_BACKEND": "gpu",
    "PYTHONWARNINGS": "ignore",
}
START = """
import numpy as np
from numba import cuda
from warpwise.labs import InOut, Launch, Out, check
# A compiled kernel has a py_func.
type(cuda.jit(lambda: None)).py_func = property(lambda kernel: kernel.fn)
"""
KERNELS = """
@cuda.jit
def twice(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2 * x[i]

@cuda.jit
def one_more(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1

@cuda.jit
def wide_sums(x, y):  # uint8 and uint8 make int64 for a compiler, and uint8 for NumPy
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] + x[i]

@cuda.jit
def from_a_neighbour(x, y):
    y[cuda.threadIdx.x] = cuda.shfl_sync(0xffffffff, x[cuda.threadIdx.x], 5)

@cuda.jit
def together(x, y):
    y[0] = x[cuda.threadIdx.x]

x = np.arange(40, dtype=np.float32)
small = np.full(40, 200, np.uint8)
"""
CHECKS = {
    "twice": (
        'check("twice", [Launch("40 elements", 2, 32, (x, Out(40)), (2 * x,)), '
        'Launch("one", 1, 32, (x[:1], Out(1)), (2 * x[:1],))])'
    ),
    "one_more": 'check("one_more", [Launch("40 elements", 2, 32, (InOut(x),), (x + 1,))])',
    "wide_sums": (
        'check("wide_sums", [Launch("40 bytes", 2, 32, (small, Out(40, "int64")), '
        "(np.full(40, 400),))])"
    ),
    "from_a_neighbour": (
        'check("from_a_neighbour", [Launch("a warp", 1, 32, (x[:32], Out(32)), '
        "(np.full(32, x[5]),))])"
    ),
    "together": 'check("together", [Launch("a warp", 1, 32, (x[:32], Out(1)), (x[31:32],))])',
}


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> dict[str, str]:
    """The output of each check, by the kernel's name."""
    program = tmp_path_factory.mktemp("on_gpu") / "checks.py"
    program.write_text(
        START + KERNELS + "".join(f'print("== {name}")\n{call}\n' for name, call in CHECKS.items())
    )
    done = subprocess.run(
        [sys.executable, program],
        env=os.environ | ON_NUMBAS_SIMULATOR,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return {part.split("\n")[0]: part for part in done.stdout.split("== ")[1:]}


@pytest.mark.parametrize("name", ["twice", "one_more"])
def test_a_right_kernel_is_right_on_the_device_and_its_largest_case_is_timed(said, name):
    """Numba's simulator has no clock.

    An array that changes begins each launch with its own values, or one_more would be wrong."""
    assert f"{name}: passed" in said[name]
    assert re.search(r"on the GPU of this machine, .*: right\n  40 elements: not timed", said[name])


def test_another_result_on_the_device_is_told_and_the_verdict_stays(said):
    assert "wide_sums: passed" in said["wide_sums"]
    assert (
        ": another result\n"
        "  40 bytes: the output[0] should be 400 and is 144; 40 of 40 elements are wrong"
    ) in said["wide_sums"]
    assert "Points come from the simulator" in said["wide_sums"]


def test_an_error_of_the_device_is_one_line(said):
    lines = said["from_a_neighbour"].splitlines()
    at = next(
        i
        for i, line in enumerate(lines)
        if line.startswith("on the GPU of this machine: AttributeError: ")
    )
    assert "shfl_sync" in lines[at] and "doctor" in lines[at + 1]
    assert "from_a_neighbour: passed" in said["from_a_neighbour"]


def test_a_racy_kernel_stays_off_the_device(said):
    assert "together: race" in said["together"] and "GPU of this machine" not in said["together"]


@pytest.fixture(scope="module")
def cells(tmp_path_factory) -> dict[str, list]:
    """The outputs of a check in a notebook, with a device and without."""
    found = {}
    for place, environment in {
        "gpu": ON_NUMBAS_SIMULATOR,
        "simulator": {"WARPWISE_BACKEND": "simulator"},
    }.items():
        first = (
            START if place == "gpu" else START.replace("numba", "warpwise").split("type(cuda")[0]
        )
        sources = [first, KERNELS, CHECKS["twice"]]
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for source in sources]
        )
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            found[place] = run_notebook(notebook, tmp_path_factory.mktemp(place)).cells[-1].outputs
    return found


@pytest.mark.slow
def test_what_nbval_compares_is_the_same_with_a_gpu_and_without(cells):
    assert [_reference(output) for output in cells["gpu"]] == [
        _reference(output) for output in cells["simulator"]
    ]
    shown = {
        place: "\n".join(
            str(output.get("data", {}).get("text/plain", "")) for output in cells[place]
        )
        for place in cells
    }
    assert "on the GPU of this machine" in shown["gpu"] and "on the GPU" not in shown["simulator"]


# --- words about a time ---


@cuda.jit
def copy(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]


@pytest.fixture(scope="module")
def copied():
    x = np.ones(1 << 16, np.float32)
    return trace(copy, 256, 256, x, np.zeros_like(x), record=())


def words(seconds: float, copied, device=H200) -> str:
    return "\n".join(on_gpu.time_lines("65,536 elements", seconds, copied, device))


def test_a_time_is_shown_beside_what_the_device_allows(copied):
    """Twice 262,144 bytes at 4,800 GB/s are 0.109 us."""
    text = words(1.09e-6, copied)
    assert "65,536 elements: 1.09 us, the median of 20 launches (measured)" in text
    assert (
        "at least 109 ns on H200 SXM, set by DRAM" in text
        and "(modelled): 10 % of what the roofline allows" in text
    )
    assert "little of the kernel" in text


def test_a_bound_above_the_time_is_explained_by_the_cache(copied):
    assert "L2 cache" in words(0.5e-7, copied) and "L2" not in words(1e-6, copied)


def test_a_large_case_has_no_excuse(copied):
    slow = replace(H200, dram_gb_per_s=1.0)
    assert "cover a case" not in words(1.0, copied, slow)


def test_a_device_that_nobody_knows_has_a_time_and_no_bound(copied):
    assert "1 us" in words(1e-6, copied, None) and "not known" in words(1e-6, copied, None)


# --- the device ---


#: An H100 SXM by its driver: kHz, kHz, bits.
H100_SAYS = {
    "compute_capability": (9, 0),
    "MULTIPROCESSOR_COUNT": 132,
    "CLOCK_RATE": 1_980_000,
    "MEMORY_CLOCK_RATE": 2_619_000,
    "GLOBAL_MEMORY_BUS_WIDTH": 5120,
    "L2_CACHE_SIZE": 50 << 20,
}


def test_a_devices_own_figures_are_those_of_its_datasheet():
    device = on_gpu.by_its_attributes("NVIDIA H100 80GB HBM3", SimpleNamespace(**H100_SAYS))
    assert device.fp32_tflops == pytest.approx(H100.fp32_tflops, rel=0.01)
    assert device.dram_gb_per_s == pytest.approx(H100.dram_gb_per_s, rel=0.01)
    assert (device.sms, device.clock_hz) == (132, pytest.approx(1.98e9))


@pytest.mark.parametrize("change", [{"MEMORY_CLOCK_RATE": 0}, {"compute_capability": (3, 5)}])
def test_a_device_that_keeps_a_figure_to_itself_is_not_guessed(change):
    assert on_gpu.by_its_attributes("GPU", SimpleNamespace(**H100_SAYS | change)) is None


# --- the recorded ladder ---


def row(case: str, variant: str, by: str, ms: float | None, **more) -> dict:
    return {"case": case, "variant": variant, "by": by, "median_ms": ms, **more}


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch) -> Path:
    rows = [
        row("64 x 64", "transpose_1_naive", "numba", 0.004, GB_per_s=8.0),
        row("8,192 x 8,192", "transpose_1_naive", "numba", 0.5, GB_per_s=1074.0),
        row("8,192 x 8,192", "copy", "cupy", 0.13, GB_per_s=4130.0),
        row("8,192 x 8,192", "transpose_2_tiled", "numba", 0.15, GB_per_s=3580.0),
        row("8,192 x 8,192", "transpose_3_broken", "numba", None, problem="no result"),
    ]
    for device in ("NVIDIA H200", "NVIDIA L4"):
        path = tmp_path / device.split()[-1].lower() / "transpose.json"
        path.parent.mkdir()
        path.write_text(
            json.dumps(
                {
                    "suite": "transpose",
                    "device": device,
                    "date": "2026-11-20T10:00:00+00:00",
                    "rows": rows,
                }
            )
        )
    monkeypatch.setenv("WARPWISE_MEASUREMENTS", str(tmp_path))
    return tmp_path


def test_the_ladder_of_an_exercises_topic_is_the_h200s_largest_case(recorded):
    assert on_gpu.ladder("transpose") == [
        "the reference kernels on NVIDIA H200, 8,192 x 8,192 (measured 2026-11-20):",
        "  transpose_1_naive     500 us    1,074 GB/s",
        "  transpose_2_tiled     150 us    3,580 GB/s",
        "  cupy copy             130 us    4,130 GB/s",
    ]


def test_no_ladder_without_a_topic_a_record_or_a_readable_one(recorded):
    assert on_gpu.ladder("histogram") == [] == on_gpu.ladder("matmul_tiled")
    (recorded / "h200/transpose.json").write_text("{")
    assert on_gpu.ladder("transpose") == []


def test_every_ladder_is_a_suite():
    for suite in set(on_gpu.LADDERS.values()):
        assert importlib.util.find_spec(f"warpwise.measure.suites.{suite}"), suite


# --- the rest ---


def test_room_for_roundings_of_floats_and_none_for_integers():
    want = np.array([1.0, 1000.0], np.float32)
    assert on_gpu.differs(want * np.float32(1 + 1e-6), want) is None
    # Numbers that are small beside the largest may be off.
    assert on_gpu.differs(want * np.float32(1.001), want).where.tolist() == [False, True]
    assert (
        on_gpu.differs(np.array([3]), np.array([4]))
        and on_gpu.differs(np.array([4]), np.array([4])) is None
    )


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            RuntimeError("[700] Call to cuCtxSynchronize results in CUDA_ERROR_ILLEGAL_ADDRESS"),
            "RuntimeError: [700] Call to",
        ),
        (
            TypeError(
                "\x1b[1mFailed in cuda mode pipeline (step: frontend)\n"
                "\x1b[0mNo implementation for signature:\n"
                " \n"
                " >>> add(a, b)"
            ),
            "TypeError: No implementation for signature: >>> add(a, b)",
        ),
        (ValueError(), "ValueError"),
    ],
)
def test_a_page_of_an_error_becomes_a_line(error, line):
    assert on_gpu.one_line(error).startswith(line) and "\n" not in on_gpu.one_line(error)


def test_nothing_is_launched_where_kernels_are_the_simulators():
    x = np.ones(4, np.float32)
    case = Launch("four", 1, 32, (x, Out(4)), (x,))
    assert on_gpu.report(copy, "copy", [case], [Verdict(True, "passed", case="four")]) == ""


COMPILED = """
import warnings; warnings.simplefilter("ignore")
import numpy as np
from numba import cuda as numbas, types
from warpwise import cuda

@cuda.jit
def turned(x, y):
    tile = cuda.shared.array(32, np.float32)
    t, i = cuda.threadIdx.x, cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    tile[t] = x[i]
    cuda.syncthreads()
    cuda.atomic.add(y, 0, cuda.shfl_down_sync(0xffffffff, tile[31 - t], 1))

print(numbas.compile_ptx(turned.py_func, (types.float32[::1], types.float32[::1]), cc=(9, 0))[0])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "before",
    ["", "import numpy as np\ndel np.row_stack\nnp.__all__.remove('row_stack')\n"],
    ids=["numpy", "numpy 2.5"],
)
def test_for_numbas_compiler_our_cuda_is_its_own(before, tmp_path):
    """A kernel that names ``warpwise.cuda`` compiles as it stands on the GPU backend.

    NumPy 2.5 has no ``row_stack``, which numba-cuda 0.30 names."""
    (tmp_path / "compiled.py").write_text(
        before + COMPILED + "assert not hasattr(np, 'row_stack')\n" * bool(before)
    )
    environment = os.environ | {"WARPWISE_BACKEND": "gpu", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, tmp_path / "compiled.py"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-1500:]
    assert all(
        word in done.stdout
        for word in ("%tid.x", "bar.sync", "shfl.sync.down", "atom.global.add.f32", ".shared")
    )


BY_WAY_OF_PTX = """
import numba.cuda.decorators as decorators
decorators._have_nvjitlink = lambda: True  # gpu-cu12 and gpu-cu13 install it, toolchain does not
from numba import cuda as numbas
from warpwise import cuda

def kernel(x):
    x[0] = 1

jits = (numbas.jit, cuda.jit, cuda.jit(fastmath=True), cuda.jit(lto=True))
print([jit(kernel).targetoptions["lto"] for jit in jits])
"""


def test_kernels_are_compiled_as_the_compile_command_does():
    """With nvJitLink, Numba's default gives other machine code, and half of ``fastmath``."""
    environment = os.environ | {"WARPWISE_BACKEND": "gpu", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", BY_WAY_OF_PTX],
        env=environment,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.stdout.strip() == "[True, False, False, True]", done.stderr[-1500:]


BROKEN = """
import sys
from warpwise import cuda
print(cuda.numba_backend.available())
try:
    cuda.jit
except Exception as error:
    print(type(error).__name__, str(error))
"""


@pytest.mark.parametrize(
    "says",
    [
        "raise ModuleNotFoundError('no bindings')",
        "raise RuntimeError('CUDA 12 beside CUDA 13\\nand more')",
    ],
)
def test_wheels_that_cannot_be_imported_are_one_line_that_leads_to_the_doctor(tmp_path, says):
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba/__init__.py").write_text(says)
    environment = os.environ | {"WARPWISE_BACKEND": "gpu", "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", BROKEN], env=environment, capture_output=True, text=True, check=True
    )
    first = says.split("'")[1].split("\\n")[0]
    told = (
        f"LaunchError a GPU needs numba-cuda, which cannot be imported here ({first}): "
        "`warpwise doctor` says what to do"
    )
    assert done.stdout.splitlines() == ["False", told]

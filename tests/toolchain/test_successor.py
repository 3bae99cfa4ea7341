"""numba-cuda-mlir, the successor of numba-cuda, in its place: no GPU is needed to compile.

It is imported in processes of its own: other tests are about numba-cuda."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
from support.paths import ROOT
from support.share import THOROUGH

from warpwise.cuda import numba_backend
from warpwise.errors import LaunchError

needs_it = pytest.mark.skipif(
    find_spec("numba_cuda_mlir") is None, reason="no numba-cuda-mlir: it is for Linux only"
)
USED = os.environ | {"WARPWISE_NUMBA": "numba-cuda-mlir"}
#: Kernels that run here and that numba-cuda compiles. Of most of them version 0.6.0 says that a bug
#: of its own shows. It has no words for tensor cores, asynchronous copies and accesses of 16 bytes:
#: ``warpwise.kernels`` writes these as intrinsics of llvmlite's, and it compiles through MLIR.
REFUSED = {
    "14_speed_of_light.ahead",
    "14_speed_of_light.turned",
    "15_tensor_cores.one_tile",
    "15_tensor_cores.padded",
    "15_tensor_cores.pipeline",
    "15_tensor_cores.quantise",
    "16_attention_today.powers",
    "arrays.by_numpy",
    "arrays.tuples",
    "atomics.first_come",
    "barriers.last_block_sums",
    "complex_numbers.arithmetic",
    "functions.shared_in_two_functions",
    "integers.extremes",
    "intrinsics.of_numpy",
    "records.columns",
    "syntax.aliases",
    "syntax.arguments",
    "syntax.inner_functions",
    "syntax.odds_and_ends",
    "syntax.over_arrays",
    "syntax.over_tuples",
    "syntax.steps_of_a_range",
    "values_known_early.enumerations",
    "values_known_early.expressions",
    "values_known_early.numbers_or_none",
    "values_known_early.passed_on",
    "views.blocks_of_a_matrix",
    "views.flat",
    "views.local_parts",
    "views.new_axes",
    "views.rows",
    "views.shapes",
    "views.shared_rows",
}

IN_BOTH = """
import numpy as np
from numba_cuda_mlir import cuda
from numba_cuda_mlir.cuda import float32
from numba_cuda_mlir.types import int32
from warpwise import trace
from warpwise.simt.frontend.source import kernels_in
from warpwise.toolchain import compile_kernel

@cuda.jit(device=True)
def bits(n):
    return cuda.popc(n)

@cuda.jit
def turned(x, y, ones):
    s = cuda.shared.array(32, float32)
    mine = cuda.local.array(1, int32)
    t = cuda.threadIdx.x
    s[t], mine[0] = x[t], bits(t)
    cuda.syncthreads()
    y[t] = s[31 - t] + cuda.shfl_sync(0xFFFFFFFF, x[t], 1)
    cuda.atomic.add(ones, 0, mine[0])

text = open(__file__).read()
for kernel in (turned, kernels_in(text)["turned"]):
    x, y, ones = np.arange(32, dtype=np.float32), np.zeros(32, np.float32), np.zeros(1, np.int64)
    trace(kernel, 1, 32, x, y, ones)
    assert (y == 32 - np.arange(32)).all() and ones[0] == 80, (y, ones)
print(compile_kernel(turned, "float32[::1], float32[::1], int64[::1]").registers)
"""

THROUGH_WARPWISE = """
from warpwise import cuda
from numba_cuda_mlir.types import float32
import numba_cuda_mlir.tools

def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2

numba_cuda_mlir.tools._cached_cc = (9, 0)  # as on a GPU of this compute capability
print(cuda.compile_ptx(double, (float32[::1],), cc=(9, 0))[0].count(".entry"))
"""


def said(*command: str, **environment: str) -> str:
    """Run Python, and return the last line of what it prints."""
    done = subprocess.run(
        [sys.executable, *command], env=USED | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


@needs_it
@pytest.mark.slow
def test_kernels_of_the_labs_and_of_the_oracle_compile_with_both():
    found = json.loads(said(str(ROOT / "tests/support/compiled_kernels.py")))
    tried = {*found["compiled"], *found["refused"]}
    assert set(found["refused"]) == REFUSED & tried, found["refused"]
    assert len(tried) >= (220 if THOROUGH else 50)


@needs_it
def test_its_kernels_run_in_the_simulator_and_compile(tmp_path):
    file = tmp_path / "turned.py"
    file.write_text(IN_BOTH)
    assert int(said(str(file))) > 8


@needs_it
def test_warpwise_cuda_stands_for_it_on_a_gpu(tmp_path):
    file = tmp_path / "double.py"
    file.write_text(THROUGH_WARPWISE)
    assert said(str(file), WARPWISE_BACKEND="gpu") == "1"


def test_a_package_that_does_not_exist_is_named(monkeypatch):
    numba_backend.package.cache_clear()
    monkeypatch.setenv("WARPWISE_NUMBA", "numba")
    with pytest.raises(LaunchError, match="can be numba-cuda or numba-cuda-mlir"):
        numba_backend.package()
    monkeypatch.delenv("WARPWISE_NUMBA")
    assert numba_backend.package() in numba_backend.PACKAGES

"""The simulator under Numba's name, in a Python that has no Numba."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.paths import ROOT

from warpwise.cuda import as_numba

PROGRAM = """
from warpwise.cuda import as_numba
as_numba.install()

import math
import numba
import numpy as np
import numba.cuda as renamed
from numba import cuda, float32, int64, types, void
from numba.cuda import cg, libdevice, shared
from numba.cuda.libdevice import sqrtf
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32 as draw

@cuda.jit(void(float32[:, ::1], types.Array(float32, 1, "A"), int64))
def rows(a, out, n):
    i = cuda.grid(1)
    tile = shared.array(32, float32)
    tile[cuda.threadIdx.x] = a[i, 0]
    renamed.syncthreads()
    if i < n:
        out[i] = sqrtf(tile[cuda.threadIdx.x]) + libdevice.fabsf(numba.float32(-1)) + math.pi

@numba.vectorize(["float32(float32)"], target="cuda")
def twice(x):
    return 2 * x

@cuda.jit
def drawn(states, out):
    out[cuda.grid(1)] = draw(states, cuda.grid(1)) + numba.types.float32(types.int64(1))

a, out = np.full((64, 1), 4, np.float32), np.zeros(64, np.float32)
rows[2, 32](a, out, 40)
print(out[39] == np.float32(3 + math.pi), out[40], twice(a)[0, 0])
drawn[1, 32](create_xoroshiro128p_states(32, 1), out)
print(((1 <= out[:32]) & (out[:32] < 2)).all(), numba.from_dtype(np.dtype("i4,f4")).names)
"""


@pytest.fixture
def without_numba(tmp_path) -> dict[str, str]:
    """Return the environment of a Python that has this package and NumPy, and nothing else."""
    (tmp_path / "numba").mkdir()  # a folder of that name is not Numba
    for folder in Path(np.__file__).parents[1].glob("numpy*"):
        (tmp_path / folder.name).symlink_to(folder)
    return os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}


@pytest.mark.unix("links to files")
def test_programs_that_import_numba_run_without_it(without_numba, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-S", "-W", "error", tmp_path / "program.py"]
    done = subprocess.run(command, env=without_numba, capture_output=True, text=True)
    assert (done.stderr, done.stdout.splitlines()) == (
        "",
        ["True 0.0 8.0", "True ('f0', 'f1')"],
    )


def test_numba_itself_is_left_alone():
    numba = pytest.importorskip("numba")
    as_numba.install()
    assert sys.modules["numba"] is numba

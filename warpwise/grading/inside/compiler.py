"""Compile a kernel with NVIDIA's compiler, and send back some whole numbers.

The kernel is text, of which nothing runs (``gpu_kernel``). Like a student's own code it is in a
sandbox, since compilers are large and read it. The result is exactly FRAME: the fields of
``CompilerFigures``, eight bytes each. A kernel that the compiler refuses has none, and the reason
is chatter."""

from __future__ import annotations

import site
import struct
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from io import FileIO
from typing import Any

from warpwise.errors import ToolchainError, WarpwiseError
from warpwise.grading import extract
from warpwise.grading.gpu_kernel import compiled
from warpwise.metrics.compiler_figures import CompilerFigures

FRAME = struct.Struct(f"<{len(CompilerFigures._fields)}q")
REFUSED = 3  #: exit status where the compiler refuses a kernel
TRIAL = {
    "answer": ["@cuda.jit\ndef trial(x):\n    x[0] = 1\n", "trial", []],
    "given": ["from warpwise import cuda\n"],
    "types": "float32[::1]",
    "cc": [8, 6],
}


def answer(job: dict[str, Any], result: FileIO) -> None:
    """Write what the compiler gives a kernel.

    A job is ``{"answer": [text, name, other cells], "given": [...], "types": "...", "cc": [8, 6]}``
    """
    _as_with_site()
    try:
        result.write(FRAME.pack(*numbers(job)))
    except WarpwiseError as error:
        print(error, file=sys.stderr)
        raise SystemExit(REFUSED) from None


def numbers(job: dict[str, Any]) -> CompilerFigures:
    """Return the numbers of a job. Raises WarpwiseError."""
    # the grader, which reads what is written here, needs no compiler
    from warpwise.toolchain.figures import figures_of_text

    text, name, others = job["answer"]
    kernel = extract.kernel(text, name, others, job["given"])
    warnings.simplefilter("ignore")
    major, minor = job["cc"]
    try:
        return figures_of_text(kernel, compiled(kernel).py_func, job["types"], (major, minor))
    except WarpwiseError:
        raise
    except Exception as error:  # a compiler's bugs are of many kinds
        raise ToolchainError(f"the compiler fails on {name}: {error}") from error


def _as_with_site() -> None:
    """Do what Python's own start would have done, which a sandbox leaves out (``-S``).

    NVIDIA's wheels are looked for in the folders of packages that ``site`` knows; a .pth file of
    numba-cuda's has it take the place of a part of Numba's."""
    folders = [folder for folder in sys.path if folder.endswith("-packages")]
    vars(site).update(getsitepackages=lambda prefixes=None: folders, ENABLE_USER_SITE=False)
    with suppress(ImportError):
        import_module("_numba_cuda_redirector")


def warm() -> None:
    """Load the compiler, which takes seconds, by a kernel of nobody's."""
    _as_with_site()
    numbers(TRIAL)

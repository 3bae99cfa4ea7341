"""Find CUDA's programs and libraries, and run the programs.

NVIDIA's own cuda-pathfinder knows where wheels and toolkits put them."""

from __future__ import annotations

import subprocess

from warpwise.cuda import numba_backend
from warpwise.cuda.numba_backend import INSTALL
from warpwise.errors import ToolchainError

PROGRAMS = ("ptxas", "nvdisasm")
#: What each of Numba's packages needs. Both compile with the first; numba-cuda asks the second
#: which architectures there are, and its successor makes machine code on the way to PTX.
LIBRARIES = {"numba-cuda": ("nvvm", "nvrtc"), "numba-cuda-mlir": ("nvvm", "nvrtc", "nvJitLink")}


def missing() -> tuple[str, ...]:
    """Return the parts of the toolchain that are not on this machine: none if kernels compile."""
    try:
        from cuda import pathfinder

        numba_backend.load()
    except ImportError as error:
        return (error.name or "numba-cuda",)
    lost = [name for name in PROGRAMS if pathfinder.find_nvidia_binary_utility(name) is None]
    return (*lost, *(name for name in LIBRARIES[numba_backend.package()] if not _loads(name)))


def _loads(library: str) -> bool:
    from cuda import pathfinder

    try:
        pathfinder.load_nvidia_dynamic_lib(library)
    except RuntimeError:  # the base of all that pathfinder raises for a missing library
        return False
    return True


def require() -> None:
    """Raise ToolchainError, with the command to install it, if part of the toolchain is missing."""
    lost = missing()
    if lost:
        raise ToolchainError(f"CUDA's compiler is not installed (no {', '.join(lost)}): {INSTALL}")
    if numba_backend.simulated():
        raise ToolchainError(
            "Numba's simulator stands in for its compiler: unset NUMBA_ENABLE_CUDASIM"
        )


def run(program: str, *arguments: str, text: str = "") -> tuple[bool, str]:
    """Run one of PROGRAMS on ``text``, and return True if it succeeded, and its output."""
    from cuda import pathfinder

    path = pathfinder.find_nvidia_binary_utility(program)
    if path is None:
        raise ToolchainError(f"{program} is not installed: {INSTALL}")
    done = subprocess.run([path, *arguments], input=text, capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr

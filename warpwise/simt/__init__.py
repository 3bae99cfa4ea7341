"""The simulator: kernels read as syntax and run over NumPy lanes."""

from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.source import as_kernel, kernels_in
from warpwise.simt.launch import run_unwatched, trace
from warpwise.simt.machine.observer import Observer

__all__ = ["Kernel", "Observer", "as_kernel", "kernels_in", "run_unwatched", "trace"]

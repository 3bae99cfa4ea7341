"""The simulator: kernels read as syntax and run over NumPy lanes."""

from warpwise.simt.launch import trace
from warpwise.simt.text.source import Kernel, as_kernel, kernels_in

__all__ = ["Kernel", "as_kernel", "kernels_in", "trace"]

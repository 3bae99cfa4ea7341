"""Warpwise: GPUs without the magic. Trace a Numba-CUDA kernel and see what its warps do."""

from warpwise import cuda
from warpwise.metrics import Metrics
from warpwise.traces import Trace

# isort: split
from warpwise.simt import Observer, trace  # after the module ``trace``, which that name hides

__version__ = "0.1.0"
__all__ = ["Metrics", "Observer", "Trace", "cuda", "trace"]

"""CUDA's own words: what a kernel may call or read below ``cuda``. Each called word has a method ``_cuda_<path>`` in the compiler.

What stands here is what messages suggest, what imports of single names are recognised by, and what ``warpwise.cuda`` offers.
"""

from __future__ import annotations

AXES = ("threadIdx", "blockIdx", "blockDim", "gridDim")

#: Called words -> how a message shows their arguments.
CALLED = {
    "grid": "(1)",
    "gridsize": "(1)",
    "shared.array": "(shape, dtype)",
    "local.array": "(shape, dtype)",
    "syncthreads": "()",
}

#: Words that are values.
READ = ("warpsize", "laneid", *(f"{word}.{axis}" for word in AXES for axis in "xyz"))

#: Names directly below ``cuda``.
TOP = tuple(dict.fromkeys(path.partition(".")[0] for path in (*CALLED, *READ)))

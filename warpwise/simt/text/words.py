"""CUDA's own words: what a kernel may call or read below ``cuda``. Each called word has a method ``_cuda_<path>`` in the compiler.

What stands here is what messages suggest, what imports of single names are recognised by, and what ``warpwise.cuda`` offers.
"""

from __future__ import annotations

from warpwise.simt.functions.table import CUDA_FUNCTIONS
from warpwise.simt.text.vector_names import vector_names

AXES = ("threadIdx", "blockIdx", "blockDim", "gridDim")

#: Called words -> how a message shows their arguments.
CALLED = {
    "grid": "(1)",
    "gridsize": "(1)",
    "shared.array": "(shape, dtype)",
    "local.array": "(shape, dtype)",
    "const.array_like": "(TABLE)",
    "syncthreads": "()",
    "syncthreads_count": "(predicate)",
    "syncthreads_and": "(predicate)",
    "syncthreads_or": "(predicate)",
    "threadfence": "()",
    "threadfence_block": "()",
    "threadfence_system": "()",
    "syncwarp": "(mask)",
    "activemask": "()",
    "lanemask_lt": "()",
    "shfl_sync": "(mask, value, src_lane)",
    "shfl_up_sync": "(mask, value, delta)",
    "shfl_down_sync": "(mask, value, delta)",
    "shfl_xor_sync": "(mask, value, lane_mask)",
    "all_sync": "(mask, predicate)",
    "any_sync": "(mask, predicate)",
    "eq_sync": "(mask, predicate)",
    "ballot_sync": "(mask, predicate)",
    "match_any_sync": "(mask, value)",
    "match_all_sync": "(mask, value)",
    "cg.this_grid": "()",
}

_ATOMICS = "add sub and_ or_ xor inc dec exch min max nanmin nanmax"
CALLED |= {f"atomic.{name}": "(array, index, value)" for name in _ATOMICS.split()}
CALLED |= {"atomic.cas": "(array, index, old, value)", "atomic.compare_and_swap": "(array, old, value)"}

#: Random numbers: kernel text in ``random_calls``.
_RANDOM = "next uniform_float32 uniform_float64 normal_float32 normal_float64"
CALLED |= {f"random.xoroshiro128p_{name}": "(states, index)" for name in _RANDOM.split()}

#: Functions of numbers, which have no method of their own: ``calls`` compiles them from their table.
CALLED |= {path: f"({', '.join('abcd'[: function.arity])})" for path, function in CUDA_FUNCTIONS.items()}

#: Vector types, under both of their names, each a function of its parts.
VECTOR_TYPES = {name: "(" + ", ".join("xyzw"[: int(name[-1])]) + ")" for name in vector_names()}
CALLED |= VECTOR_TYPES

#: Words that are values.
READ = ("warpsize", "laneid", *(f"{word}.{axis}" for word in AXES for axis in "xyz"))

#: Names directly below ``cuda``.
TOP = tuple(dict.fromkeys(path.partition(".")[0] for path in (*CALLED, *READ)))

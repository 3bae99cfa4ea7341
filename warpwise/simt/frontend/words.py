"""CUDA's own words: what a kernel may call or read below ``cuda``.

Each called word has a method ``_cuda_<path>`` in the compiler. Messages suggest these words,
imports of single names are recognised by them, and ``warpwise.cuda`` offers them."""

from __future__ import annotations

from warpwise.simt.builtins import CUDA_FUNCTIONS

AXES = ("threadIdx", "blockIdx", "blockDim", "gridDim")

#: Called words -> their arguments as messages show them.
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
CALLED["atomic.cas"] = "(array, index, old, value)"
CALLED["atomic.compare_and_swap"] = "(array, old, value)"

#: Random numbers: kernel text in ``random_calls``.
_RANDOM = "next uniform_float32 uniform_float64 normal_float32 normal_float64"
CALLED |= {f"random.xoroshiro128p_{name}": "(states, index)" for name in _RANDOM.split()}

#: Functions of numbers, which have no method of their own: ``calls`` compiles them from a table.
CALLED |= {path: f"({', '.join('abcd'[: f.arity])})" for path, f in CUDA_FUNCTIONS.items()}

_SIZES = (1, 2, 3, 4)
_ALIASES = {
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "longlong": "int64",
    "uchar": "uint8",
    "ushort": "uint16",
    "uint": "uint32",
    "ulong": "uint64",
    "ulonglong": "uint64",
    "float": "float32",
    "double": "float64",
}
_PARTS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"
#: Vector types, ``float32x4`` or as in CUDA C++ ``float4`` -> type and number of their parts.
VECTORS = {f"{part}x{n}": (part, n) for part in _PARTS.split() for n in _SIZES}
VECTORS |= {f"{alias}{n}": (part, n) for alias, part in _ALIASES.items() for n in _SIZES}
VECTOR_TYPES = {name: f"({', '.join('xyzw'[:size])})" for name, (_, size) in VECTORS.items()}
CALLED |= VECTOR_TYPES

#: Words that are values.
READ = ("warpsize", "laneid", *(f"{word}.{axis}" for word in AXES for axis in "xyz"))

#: Names directly below ``cuda``.
TOP = tuple(dict.fromkeys(path.partition(".")[0] for path in (*CALLED, *READ)))

"""CUDA's own words in a kernel: grid and gridsize, shared and local arrays, barriers."""

from __future__ import annotations

import ast

import numpy as np

from warpwise.simt import types
from warpwise.simt.compiled import Code
from warpwise.simt.source import CudaName
from warpwise.simt.types import INT64, NONE, ArrayType, TupleType

LOCAL_BYTES_PER_THREAD = 16 * 1024  # kept by the simulator, for each of a batch's 16k lanes; a GPU has 512 KB
MAX_SHARED_ELEMENTS = 256 * 1024


class CudaCalls:
    """The part of the compiler that knows ``cuda.*`` calls; mixed into ``compiler.Compiler``."""

    def cuda_call(self, node: ast.Call, path: str) -> Code:
        method = {
            "grid": self._grid, "gridsize": self._gridsize, "syncthreads": self._syncthreads,
            "shared.array": self._shared_array, "local.array": self._local_array,
        }.get(path)  # fmt: skip
        if method is None:
            return self.refuse(node, f"cuda.{path} is not known to the simulator", _ADVICE.get(path.partition(".")[0], ""))
        return method(node)

    def _axes(self, node: ast.Call) -> int:
        axes = self.constant(node.args[0]) if len(node.args) == 1 else None
        if axes not in (1, 2, 3):
            self.refuse(node, f"{ast.unparse(node)}: the number of dimensions is 1, 2 or 3")
        return axes

    def _per_axis(self, axes: int, value) -> Code:
        """``value(batch, axis)`` for one axis, or a tuple of it for two or three."""
        self.cost.slots += axes
        if axes == 1:
            return Code(lambda f, m: value(f.batch, 0), INT64)
        return Code(lambda f, m: tuple(value(f.batch, i) for i in range(axes)), TupleType((INT64,) * axes))

    def _grid(self, node: ast.Call) -> Code:
        return self._per_axis(self._axes(node), lambda batch, axis: batch.grid_index(axis))

    def _gridsize(self, node: ast.Call) -> Code:
        return self._per_axis(self._axes(node), lambda batch, axis: batch.launch.grid[axis] * batch.launch.block[axis])

    def _syncthreads(self, node: ast.Call) -> Code:
        if node.args or node.keywords:
            self.refuse(node, "syncthreads takes no arguments")
        site = self.site(node)
        self.cost.slots += 1
        return Code(lambda f, m: f.batch.barrier(m, site), NONE)

    def _array_of(self, node: ast.Call) -> tuple[np.dtype, tuple[int, ...], str]:
        """The element type, shape and name of a shared or local array."""
        given = dict(zip(("shape", "dtype"), node.args, strict=False)) | {k.arg: k.value for k in node.keywords}
        if not {"shape", "dtype"} <= set(given):
            self.refuse(node, f"{ast.unparse(node)}: a shape and a dtype are needed", "cuda.shared.array((32, 33), float32)")
        shape = self.constant(given["shape"])
        shape = shape if isinstance(shape, tuple) else (shape,)
        if not shape or not all(isinstance(n, int) and n > 0 for n in shape):
            self.refuse(node, f"{ast.unparse(given['shape'])} is no shape: positive integers are needed")
        name = self.target or f"array on line {node.lineno}"
        return self._dtype(given["dtype"]), shape, name

    def _dtype(self, node: ast.expr) -> np.dtype:
        value = node.value if isinstance(node, ast.Constant) else self.static(node)
        if isinstance(value, CudaName):
            value = value.path
        try:
            dtype = np.dtype(value) if value is not NotImplemented and value is not None else None
        except TypeError:
            dtype = None
        if dtype not in types.SCALARS:
            self.refuse(node, f"{ast.unparse(node)} is not an element type the simulator knows", "numba.float32 or np.float32, for example")
        return dtype

    def _shared_array(self, node: ast.Call) -> Code:
        dtype, shape, name = self._array_of(node)
        if np.prod(shape, dtype=float) > MAX_SHARED_ELEMENTS:
            self.refuse(node, f"{name} of shape {shape} is larger than any GPU's shared memory")
        key, site = (self.kernel, node.lineno, node.col_offset), self.site(node)
        return Code(lambda f, m: f.batch.shared_array(key, name, dtype, shape, site), ArrayType(dtype, len(shape), "shared"))

    def _local_array(self, node: ast.Call) -> Code:
        dtype, shape, name = self._array_of(node)
        if np.prod(shape, dtype=float) * dtype.itemsize > LOCAL_BYTES_PER_THREAD:
            self.refuse(node, f"{name} of shape {shape} is larger than the {LOCAL_BYTES_PER_THREAD:,} bytes that a thread has here")
        key = (self.kernel, node.lineno, node.col_offset)
        return Code(lambda f, m: f.batch.local_array(key, name, dtype, shape), ArrayType(dtype, len(shape), "local"))


_ADVICE = {
    "atomic": "let one thread own each result, or reduce in shared memory",
    "syncwarp": "use cuda.syncthreads()",
    "shfl_sync": "exchange values through shared memory",
    "shfl_up_sync": "exchange values through shared memory",
    "shfl_down_sync": "exchange values through shared memory",
    "shfl_xor_sync": "exchange values through shared memory",
    "const": "pass the array as an argument",
    "jit": "define device functions outside the kernel",
}

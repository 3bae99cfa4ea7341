"""CUDA's own words in a kernel: grid and gridsize, shared and local arrays, barriers."""

from __future__ import annotations

import ast

import numpy as np

from warpwise.devices import H100
from warpwise.errors import UndefinedNameError, UnsupportedError
from warpwise.simt import advice, types
from warpwise.simt.compiled import Code
from warpwise.simt.source import CudaName
from warpwise.simt.types import INT64, NONE, ArrayType, TupleType

LOCAL_BYTES_PER_THREAD = 16 * 1024  # kept by the simulator, for each of a batch's 16k lanes; a GPU has 512 KB
MAX_SHARED_ELEMENTS = 256 * 1024


class CudaCalls:
    """The part of the compiler that knows ``cuda.*`` calls; mixed into ``compiler.Compiler``."""

    def cuda_call(self, node: ast.Call, path: str) -> Code:
        method = getattr(self, f"_cuda_{path.replace('.', '_')}", None)
        if method is None:
            return self.refuse_cuda(node.func, path)
        return method(node)

    def refuse_cuda(self, node: ast.expr, path: str):
        """Refuse ``cuda.<path>``: misspelled, unknown to the simulator, or a function where a value is needed or the other way round."""
        what, try_this, is_missing = advice.unknown_cuda(path, ast.unparse(node))
        return self.refuse(node, what, try_this, UndefinedNameError if is_missing else UnsupportedError)

    def _axes(self, node: ast.Call) -> int:
        axes = self.constant(node.args[0]) if len(node.args) == 1 else None
        if axes not in (1, 2, 3):
            name = ast.unparse(node.func)
            self.refuse(node, f"{ast.unparse(node)}: the number of dimensions is 1, 2 or 3", f"i = {name}(1), or x, y = {name}(2)")
        return axes

    def _per_axis(self, axes: int, value) -> Code:
        """``value(extent, axis)`` for one axis, or a tuple of it for two or three."""
        self.cost.add("integer", axes)
        if axes == 1:
            return Code(lambda f, m: value(m.extent, 0), INT64)
        return Code(lambda f, m: tuple(value(m.extent, i) for i in range(axes)), TupleType((INT64,) * axes))

    def _cuda_grid(self, node: ast.Call) -> Code:
        return self._per_axis(self._axes(node), lambda extent, axis: extent.grid_index(axis))

    def _cuda_gridsize(self, node: ast.Call) -> Code:
        return self._per_axis(self._axes(node), lambda extent, axis: extent.grid[axis] * extent.block[axis])

    def _cuda_syncthreads(self, node: ast.Call) -> Code:
        if node.args or node.keywords:
            self.refuse(node, "syncthreads takes no arguments", f"{ast.unparse(node.func)}()")
        site = self.site(node)
        self.cost.add("control")
        self.barriers += 1
        return Code(lambda f, m: f.batch.barrier(m, site), NONE)

    def _array_of(self, node: ast.Call) -> tuple[np.dtype, tuple[int, ...], str]:
        """The element type, shape and name of a shared or local array."""
        given = dict(zip(("shape", "dtype"), node.args, strict=False)) | {k.arg: k.value for k in node.keywords}
        if not {"shape", "dtype"} <= set(given):
            self.refuse(node, f"{ast.unparse(node)}: a shape and a dtype are needed", self._array_call(node, given))
        if isinstance(given["dtype"], (ast.Tuple, ast.List)):
            swapped = f"{ast.unparse(node.func)}({ast.unparse(given['dtype'])}, {ast.unparse(given['shape'])})"
            self.refuse(node, f"{ast.unparse(node)}: the shape comes first, then the type", swapped)
        shape = self.constant(given["shape"])
        shape = shape if isinstance(shape, tuple) else (shape,)
        if not shape or not all(isinstance(n, int) and n > 0 for n in shape):
            what = f"{ast.unparse(given['shape'])} is no shape: positive integers are needed"
            self.refuse(node, what, "whole numbers above 0, such as 32 or (32, 32); // divides integers")
        name = self.target or f"array on line {node.lineno}"
        return self._dtype(given["dtype"]), shape, name

    def _array_call(self, node: ast.Call, given: dict[str, ast.expr]) -> str:
        """The call as it would be complete, with the shape and type that are there already."""
        dtype = ast.unparse(given["dtype"]) if "dtype" in given else advice.element_type(self.kernel.names())
        shape = ast.unparse(given["shape"]) if "shape" in given else "shape"
        return f"{ast.unparse(node.func)}({shape}, {dtype})" + ("" if "shape" in given else ", with numbers for the shape")

    def _dtype(self, node: ast.expr) -> np.dtype:
        value = node.value if isinstance(node, ast.Constant) else self.static(node)
        if isinstance(value, CudaName):
            value = value.path
        try:
            dtype = np.dtype(value) if value is not NotImplemented and value is not None else None
        except TypeError:
            dtype = None
        if dtype not in types.SCALARS:
            what = f"{ast.unparse(node)} is not an element type the simulator knows"
            self.refuse(node, what, f"{advice.element_type(self.kernel.names())}, for example")
        return dtype

    def _cuda_shared_array(self, node: ast.Call) -> Code:
        dtype, shape, name = self._array_of(node)
        if np.prod(shape, dtype=float) > MAX_SHARED_ELEMENTS:
            most = H100.shared_bytes_per_block // dtype.itemsize
            self.refuse(node, f"{name} of shape {shape} is larger than any GPU's shared memory", f"at most {most:,} elements of {dtype}")
        key, site = (self.kernel, node.lineno, node.col_offset), self.site(node)
        return Code(lambda f, m: f.batch.shared_array(key, name, dtype, shape, site), ArrayType(dtype, len(shape), "shared"))

    def _cuda_local_array(self, node: ast.Call) -> Code:
        dtype, shape, name = self._array_of(node)
        if np.prod(shape, dtype=float) * dtype.itemsize > LOCAL_BYTES_PER_THREAD:
            what = f"{name} of shape {shape} is larger than the {LOCAL_BYTES_PER_THREAD:,} bytes that a thread has here"
            self.refuse(node, what, f"at most {LOCAL_BYTES_PER_THREAD // dtype.itemsize:,} elements of {dtype}")
        key = (self.kernel, node.lineno, node.col_offset)
        return Code(lambda f, m: f.batch.local_array(key, name, dtype, shape), ArrayType(dtype, len(shape), "local"))

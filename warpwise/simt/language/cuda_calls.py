"""CUDA's own words in a kernel: grid and gridsize, shared and local arrays, barriers."""

from __future__ import annotations

import ast

from warpwise.errors import UndefinedNameError, UnsupportedError
from warpwise.simt.functions.table import CUDA_FUNCTIONS
from warpwise.simt.language import advice
from warpwise.simt.language.atomic_calls import ELEMENTS as ATOMICS
from warpwise.simt.language.compiled import Code
from warpwise.simt.text.words import CALLED
from warpwise.simt.types import INT64, NONE, TupleType

LOCAL_BYTES_PER_THREAD = 16 * 1024  # kept by the simulator, for each of a batch's 16k lanes; a GPU has 512 KB
MAX_SHARED_ELEMENTS = 256 * 1024


class CudaCalls:
    """The part of the compiler that knows ``cuda.*`` calls; mixed into ``compiler.Compiler``."""

    def cuda_call(self, node: ast.Call, path: str) -> Code:
        head, _, rest = path.partition(".")
        if head == "atomic" and rest in ATOMICS:
            return self.atomic_call(node, rest)
        if head == "random" and path in CALLED:
            return self.random_call(node, path)
        method = getattr(self, f"_cuda_{path.replace('.', '_')}", None)
        if method is None:
            function = CUDA_FUNCTIONS.get(path)
            return self.refuse_cuda(node.func, path) if function is None else self.function_call(node, function)
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

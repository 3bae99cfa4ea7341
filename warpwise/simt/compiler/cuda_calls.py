"""CUDA's own words in a kernel: grid and gridsize, shared and local arrays, barriers."""

from __future__ import annotations

import ast

from warpwise.errors import UndefinedNameError, UnsupportedError
from warpwise.simt.builtins import CUDA_FUNCTIONS
from warpwise.simt.compiler import advice
from warpwise.simt.compiler.atomic_calls import ELEMENTS as ATOMICS
from warpwise.simt.compiler.closures import Code
from warpwise.simt.frontend.words import CALLED
from warpwise.simt.types import INT64, NONE, TupleType


class CudaCalls:
    """Mixin of ``Compiler`` for ``cuda.*`` calls."""

    def cuda_call(self, node: ast.Call, path: str) -> Code:
        head, _, rest = path.partition(".")
        if head == "atomic" and rest in ATOMICS:
            return self.atomic_call(node, rest)
        if head == "random" and path in CALLED:
            return self.random_call(node, path)
        method = getattr(self, f"_cuda_{path.replace('.', '_')}", None)
        if method is not None:
            return method(node)
        if path in CUDA_FUNCTIONS:
            return self.function_call(node, CUDA_FUNCTIONS[path])
        return self.refuse_cuda(node.func, path)

    def refuse_cuda(self, node: ast.expr, path: str):
        """Refuse ``cuda.<path>``: misspelled, unknown, or a function where a value is needed."""
        what, try_this, is_missing = advice.unknown_cuda(path, ast.unparse(node))
        kind = UndefinedNameError if is_missing else UnsupportedError
        return self.refuse(node, what, try_this, kind)

    def _axes(self, node: ast.Call) -> int:
        axes = self.constant(node.args[0]) if len(node.args) == 1 else None
        if axes not in (1, 2, 3):
            name = ast.unparse(node.func)
            what = f"{ast.unparse(node)}: the number of dimensions is 1, 2 or 3"
            self.refuse(node, what, f"i = {name}(1), or x, y = {name}(2)")
        return axes

    def _per_axis(self, axes: int, value) -> Code:
        """Compile ``value(group, axis)``: one number for one axis, a tuple for two or three."""
        self.cost.add("integer", axes)
        if axes == 1:
            return Code(lambda f, m: value(m.group, 0), INT64)
        return Code(
            lambda f, m: tuple(value(m.group, i) for i in range(axes)), TupleType((INT64,) * axes)
        )

    def _cuda_grid(self, node: ast.Call) -> Code:
        return self._per_axis(self._axes(node), lambda group, axis: group.grid_index(axis))

    def _cuda_gridsize(self, node: ast.Call) -> Code:
        return self._per_axis(
            self._axes(node), lambda group, axis: group.grid[axis] * group.block[axis]
        )

    def _cuda_syncthreads(self, node: ast.Call) -> Code:
        if node.args or node.keywords:
            self.refuse(node, "syncthreads takes no arguments", f"{ast.unparse(node.func)}()")
        site = self.site(node)
        self.cost.add("control")
        self.barriers += 1
        return Code(lambda f, m: f.batch.barriers.block(m, site), NONE)

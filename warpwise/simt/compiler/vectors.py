"""CUDA's vector types: ``cuda.float32x4(x, y, z, w)``, also called ``cuda.float4``.

A kernel makes them, passes them and reads their parts. Numba defines no arithmetic on them and no
arrays of them; their parts cannot be assigned to."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import partialmethod

import numpy as np

from warpwise.simt import types
from warpwise.simt.compiler.closures import Code, converted
from warpwise.simt.frontend import words
from warpwise.simt.types import is_complex, is_scalar

PARTS = "xyzw"


@dataclass(frozen=True)
class VectorType:
    """``size`` numbers of one type; its values are tuples."""

    dtype: np.dtype
    size: int

    def __str__(self) -> str:
        return f"{self.dtype}x{self.size}"


#: Names below ``cuda`` -> the vector types that they make.
VECTORS = {name: VectorType(np.dtype(part), size) for name, (part, size) in words.VECTORS.items()}


class Vectors:
    """Mixin of ``Compiler`` for vector types, with a method for each of ``VECTORS``."""

    def _vector(self, node: ast.Call, name: str) -> Code:
        t = VECTORS[name]
        complete = f"{ast.unparse(node.func)}({', '.join(PARTS[: t.size])})"
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            self.refuse(node, f"{name} takes {t.size} plain numbers", complete)
        parts = [part for argument in node.args for part in self._numbers_of(argument)]
        if len(parts) != t.size:
            made_of = f"{name} is made of {t.size} number{'s' * (t.size != 1)}"
            self.refuse(node, f"{ast.unparse(node)}: {made_of}, not {len(parts)}", complete)
        runs = [converted(part, t.dtype).run for part in parts]
        self.cost.add("conversion", sum(part.type != t.dtype for part in parts))
        return Code(lambda f, m: tuple(run(f, m) for run in runs), t)

    def _numbers_of(self, node: ast.expr) -> list[Code]:
        """Compile a number, or the numbers of another vector."""
        code = self.expression(node)
        run, t = code.run, code.type
        if isinstance(t, VectorType):
            return [Code(lambda f, m, i=i: run(f, m)[i], t.dtype) for i in range(t.size)]
        if not is_scalar(t) or is_complex(t):
            what = f"{ast.unparse(node)} is {types.described(t)}"
            raise types.TypeMismatch(f"{what}, and a vector is made of numbers")
        return [code]

    def vector_part(self, node: ast.Attribute, base: Code) -> Code:
        i = PARTS[: base.type.size].find(node.attr)
        if i < 0 or len(node.attr) != 1:
            known = ", ".join(f".{part}" for part in PARTS[: base.type.size])
            what = f"{ast.unparse(node)}: a {base.type} has no {node.attr!r}"
            self.refuse(node, what, f"it has {known}")
        run = base.run
        return Code(lambda f, m: run(f, m)[i], base.type.dtype)


for _name in VECTORS:
    setattr(Vectors, f"_cuda_{_name}", partialmethod(Vectors._vector, name=_name))

"""Calls of ``cuda.random``'s device functions: kernel text, counted at the line that calls them.

The float32 and the float64 normal numbers both come from two uniform float32 (Box and Muller), as
in ``numba.cuda.random``."""

from __future__ import annotations

import ast
import math
from functools import partial

import numpy as np

from warpwise.simt.compiler.closures import Code
from warpwise.simt.frontend.kernel import Kernel

_NEXT = """
def xoroshiro128p_next(states, index):
    a = states[index]["s0"]
    b = states[index]["s1"]
    mixed = a ^ b
    states[index]["s0"] = (a << uint32(55) | a >> uint32(9)) ^ mixed ^ mixed << uint32(14)
    states[index]["s1"] = mixed << uint32(36) | mixed >> uint32(28)
    return a + b
"""
_UNIFORM = """
def xoroshiro128p_uniform_{t}(states, index):
    return {t}((xoroshiro128p_next(states, index) >> uint32(11)) * UNIT)
"""
_NORMAL = """
def xoroshiro128p_normal_{t}(states, index):
    size = xoroshiro128p_uniform_float32(states, index)
    angle = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt({t}(-2) * math.log(size)) * math.cos({t}(TWO_PI) * angle)
"""
_TYPED = [text.format(t=t) for text in (_UNIFORM, _NORMAL) for t in ("float32", "float64")]
_TREES = {tree.name: tree for tree in (ast.parse(text).body[0] for text in [_NEXT, *_TYPED])}
_NAMES = {
    "math": math,
    "uint32": np.uint32,
    "float32": np.float32,
    "float64": np.float64,
    "UNIT": 2.0**-53,
    "TWO_PI": 2 * math.pi,
}


class RandomCalls:
    """Mixin of ``Compiler`` for random numbers."""

    def random_call(self, node: ast.Call, path: str) -> Code:
        kernels = self.kernel.inner
        if node not in kernels:
            kernels[node] = self._random_function(node, path.partition(".")[2])
        return self.call_device(node, kernels[node])

    def _random_function(self, node: ast.Call, name: str) -> Kernel:
        """Return one of the functions, with every node at the place of the call."""
        tree = ast.parse(ast.unparse(_TREES[name])).body[0]
        for part in ast.walk(tree):
            if hasattr(part, "lineno"):
                ast.copy_location(part, node)
        lookup, kernel = partial(self._random_name, node), self.kernel
        return Kernel(tree, lookup, kernel.file, kernel.lines, device=True)

    def _random_name(self, node: ast.Call, name: str) -> object:
        return self._random_function(node, name) if name in _TREES else _NAMES[name]

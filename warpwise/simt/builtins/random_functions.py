"""The functions of ``cuda.random`` that kernels call, as kernel text.

The float32 and the float64 normal numbers both come from two uniform float32 (Box and Muller), as
in ``numba.cuda.random``. The states are made in ``random_states``."""

from __future__ import annotations

import ast
import math

import numpy as np

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
_PARSED = [statement for text in (_NEXT, *_TYPED) for statement in ast.parse(text).body]
#: Functions by their name below ``cuda.random``.
RANDOM: dict[str, ast.FunctionDef] = {
    tree.name: tree for tree in _PARSED if isinstance(tree, ast.FunctionDef)
}
#: The other names in their text.
CONSTANTS: dict[str, object] = {
    "math": math,
    "uint32": np.uint32,
    "float32": np.float32,
    "float64": np.float64,
    "UNIT": 2.0**-53,
    "TWO_PI": 2 * math.pi,
}

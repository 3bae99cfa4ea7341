"""``cuda.atomic.*`` in a kernel's text: which types it takes, and what it costs. What it does is in ``atomics``."""

from __future__ import annotations

import ast
from functools import cached_property

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.simt import types
from warpwise.simt.language.compiled import Code, converted
from warpwise.simt.types import ArrayType

INTEGERS = tuple(np.dtype(name) for name in "int32 int64 uint32 uint64".split())
UNSIGNED = tuple(t for t in INTEGERS if t.kind == "u")
NUMBERS = (*INTEGERS, np.dtype(np.float32), np.dtype(np.float64))

#: Operation -> the element types it knows (Numba's typing of ``cuda.atomic``).
ELEMENTS = (
    dict.fromkeys(("add", "sub", "min", "max", "nanmin", "nanmax"), NUMBERS)
    | dict.fromkeys(("and_", "or_", "xor", "exch", "cas", "compare_and_swap"), INTEGERS)
    | dict.fromkeys(("inc", "dec"), UNSIGNED)
)
_ARGUMENTS = {"cas": "(array, index, old, value)", "compare_and_swap": "(array, old, value)"}


class AtomicCalls:
    """The part of the compiler that knows atomic operations; mixed into ``compiler.Compiler``."""

    def atomic_call(self, node: ast.Call, kind: str) -> Code:
        parts = self._atomic_parts(node, kind)
        array = self.expression(parts[0])
        self._check_atomic(node, kind, array.type)
        index = ast.Constant(0) if kind == "compare_and_swap" else parts[1]
        element = ast.fix_missing_locations(ast.copy_location(ast.Subscript(parts[0], index, ast.Load()), node))
        if isinstance(element.slice, ast.Tuple) and len(element.slice.elts) == 1:
            index = ast.unparse(element.slice.elts[0])
            what = f"{ast.unparse(node)}: Numba's compiler takes no tuple of one index here"
            self.refuse(node, what, f"{index} without the brackets and the comma")
        indices = self.indices(element, array)
        dtype, site, wanted = array.type.dtype, self.site(node), node not in self._unused_calls
        runs = [converted(self.scalar(part), dtype).run for part in parts[1 if kind == "compare_and_swap" else 2 :]]
        self.atomics += 1
        self.cost.add("memory")
        if kind in ("add", "sub"):
            self.cost.flop(dtype)
        kind, memory = {"compare_and_swap": "cas"}.get(kind, kind), array.run

        def run(frame, mask):
            places = [i(frame, mask) for i in indices]
            operands = [run(frame, mask) for run in runs]
            return frame.batch.atomic(kind, memory(frame, mask), places, operands, wanted, mask, site)

        return Code(lambda f, m: types.cast(run(f, m), dtype), dtype)

    def _atomic_parts(self, node: ast.Call, kind: str) -> list[ast.expr]:
        form = _ARGUMENTS.get(kind, "(array, index, value)")
        if len(node.args) != form.count(",") + 1 or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            name = ast.unparse(node.func)
            self.refuse(node, f"{name} takes {form.count(',') + 1} plain arguments", f"{name}{form}")
        return node.args

    def _check_atomic(self, node: ast.Call, kind: str, t) -> None:
        text, name = ast.unparse(node.args[0]), ast.unparse(node.func)
        if not isinstance(t, ArrayType):
            what = f"{name} works on an element of an array, and {text} is {types.described(t)}"
            raise KernelTypeError(what, self.kernel.where(node), "pass the array and the index apart: cuda.atomic.add(array, i, value)")
        if t.space not in ("global", "shared"):
            what = f"{text} is {t.space} memory, and atomic operations work on global and shared memory"
            self.refuse(node, what, "only this thread sees its local memory: a plain operation will do")
        if t.dtype not in ELEMENTS[kind]:
            known = ", ".join(str(e) for e in ELEMENTS[kind])
            raise KernelTypeError(f"{name} does not know elements of {t.dtype}", self.kernel.where(node), f"an array of {known}")
        if kind == "compare_and_swap" and t.ndim != 1:
            what = f"{name} takes an array of one dimension"
            raise KernelTypeError(what, self.kernel.where(node), "cuda.atomic.cas(array, index, old, value)")

    @cached_property
    def _unused_calls(self) -> frozenset[ast.Call]:
        """Calls whose result nobody uses."""
        return frozenset(n.value for n in ast.walk(self.kernel.tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call))

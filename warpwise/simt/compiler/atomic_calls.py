"""``cuda.atomic.*`` in a kernel's text: its types and costs; ``machine.atomics`` executes it."""

from __future__ import annotations

import ast
from functools import cached_property

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.simt import types
from warpwise.simt.compiler.closures import Code, converted
from warpwise.simt.types import ArrayType

INTEGERS = tuple(np.dtype(name) for name in "int32 int64 uint32 uint64".split())
UNSIGNED = tuple(t for t in INTEGERS if t.kind == "u")
NUMBERS = (*INTEGERS, np.dtype(np.float32), np.dtype(np.float64))

#: Operation -> the element types that it takes (Numba's typing of ``cuda.atomic``).
ELEMENTS = (
    dict.fromkeys(("add", "sub", "min", "max", "nanmin", "nanmax"), NUMBERS)
    | dict.fromkeys(("and_", "or_", "xor", "exch", "cas", "compare_and_swap"), INTEGERS)
    | dict.fromkeys(("inc", "dec"), UNSIGNED)
)
_ARGUMENTS = {"cas": "(array, index, old, value)", "compare_and_swap": "(array, old, value)"}


class AtomicCalls:
    """Mixin of ``Compiler`` for atomic operations."""

    def atomic_call(self, node: ast.Call, kind: str) -> Code:
        parts = self._atomic_parts(node, kind)
        array = self.expression(parts[0])
        self._check_atomic(node, kind, array.type)
        without_index = kind == "compare_and_swap"
        index = ast.Constant(0) if without_index else parts[1]
        element = ast.copy_location(ast.Subscript(parts[0], index, ast.Load()), node)
        ast.fix_missing_locations(element)
        if isinstance(element.slice, ast.Tuple) and len(element.slice.elts) == 1:
            index = ast.unparse(element.slice.elts[0])
            what = f"{ast.unparse(node)}: Numba's compiler takes no tuple of one index here"
            self.refuse(node, what, f"{index} without the brackets and the comma")
        indices = self.indices(element, array)
        dtype, site, wanted = array.type.dtype, self.site(node), node not in self._unused_calls
        operands = parts[1 if without_index else 2 :]
        runs = [converted(self.scalar(operand), dtype).run for operand in operands]
        self.atomics += 1
        self.cost.add("memory")
        if kind in ("add", "sub"):
            self.cost.flop(dtype)
        kind, memory = "cas" if without_index else kind, array.run

        def run(frame, mask):
            places = [i(frame, mask) for i in indices]
            values, batch = [run(frame, mask) for run in runs], frame.batch
            return batch.memory.atomic(
                kind, memory(frame, mask), places, values, wanted, mask, site
            )

        return Code(lambda f, m: types.cast(run(f, m), dtype), dtype)

    def _atomic_parts(self, node: ast.Call, kind: str) -> list[ast.expr]:
        form = _ARGUMENTS.get(kind, "(array, index, value)")
        name, count = ast.unparse(node.func), form.count(",") + 1
        starred = any(isinstance(a, ast.Starred) for a in node.args)
        if len(node.args) != count or node.keywords or starred:
            self.refuse(node, f"{name} takes {count} plain arguments", f"{name}{form}")
        return node.args

    def _check_atomic(self, node: ast.Call, kind: str, t) -> None:
        text, name = ast.unparse(node.args[0]), ast.unparse(node.func)
        if not isinstance(t, ArrayType):
            what = f"{name} works on an element of an array, and {text} is {types.described(t)}"
            try_this = "pass the array and the index apart: cuda.atomic.add(array, i, value)"
            self.refuse(node, what, try_this, KernelTypeError)
        if t.space not in ("global", "shared"):
            where = "atomic operations work on global and shared memory"
            try_this = "only this thread sees its local memory: a plain operation will do"
            self.refuse(node, f"{text} is {t.space} memory, and {where}", try_this)
        if t.dtype not in ELEMENTS[kind]:
            what = f"{name} does not know elements of {t.dtype}"
            known = ", ".join(map(str, ELEMENTS[kind]))
            self.refuse(node, what, f"an array of {known}", KernelTypeError)
        if kind == "compare_and_swap" and t.ndim != 1:
            what = f"{name} takes an array of one dimension"
            self.refuse(node, what, "cuda.atomic.cas(array, index, old, value)", KernelTypeError)

    @cached_property
    def _unused_calls(self) -> frozenset[ast.Call]:
        """Calls whose result nobody uses."""
        lines = (n for n in ast.walk(self.kernel.tree) if isinstance(n, ast.Expr))
        return frozenset(n.value for n in lines if isinstance(n.value, ast.Call))

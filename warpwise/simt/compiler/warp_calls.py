"""Cooperation of threads: shuffles, votes and matches, voting barriers, fences, the grid's sync.

Types are those of Numba's CUDA target; a shuffle takes no width there. The calls are executed in
``machine.warp``, ``machine.barriers`` and ``sanitizer.order``."""

from __future__ import annotations

import ast
from functools import partialmethod

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.simt.builtins.overloads import one_of
from warpwise.simt.compiler.closures import Code, converted, truth
from warpwise.simt.machine.members import ALL_LANES
from warpwise.simt.types import BOOL, GRID, INT32, NONE, TupleType, is_integer

UINT32 = np.dtype(np.uint32)
SHUFFLED = tuple(np.dtype(name) for name in "int32 int64 float32 float64".split())
_MATCHED = one_of("i4(i4,i4) i4(i4,i8) i4(i4,f4) i4(i4,f8)")


class WarpCalls:
    """Mixin of ``Compiler`` for calls in which threads work together."""

    def _parts(self, node: ast.Call, *names: str) -> list[ast.expr]:
        """Return the positional arguments of a call; anything but these parameters is refused."""
        starred = any(isinstance(a, ast.Starred) for a in node.args)
        if len(node.args) != len(names) or node.keywords or starred:
            form = f"{ast.unparse(node.func)}({', '.join(names)})"
            count = f"{len(names) or 'no'} argument{'s' * (len(names) != 1)}"
            self.refuse(node, f"{ast.unparse(node)}: {form} takes {count} and no keywords", form)
        return node.args

    def _whole_number(self, node: ast.expr, what: str) -> Code:
        code = self.scalar(node)
        if not is_integer(code.type):
            text = ast.unparse(node)
            what = f"{what} is an integer, and {text} is {code.type}"
            self.refuse(node, what, f"int({text})", KernelTypeError)
        return code

    def _lane_mask(self, node: ast.expr):
        return self._whole_number(node, "a mask of lanes").run

    # --- warps ---

    def _cuda_syncwarp(self, node: ast.Call) -> Code:
        parts, site = self._parts(node, *(("mask",) if node.args else ())), self.site(node)
        named = self._lane_mask(parts[0]) if parts else lambda frame, mask: ALL_LANES
        self.cost.add("control")
        return Code(lambda f, m: f.batch.warps.syncwarp(named(f, m), m, site), NONE)

    def _shuffle(self, node: ast.Call, kind: str, third: str) -> Code:
        parts = self._parts(node, "mask", "value", third)
        named, value = self._lane_mask(parts[0]), self.scalar(parts[1])
        lane, site, t = self._whole_number(parts[2], third), self.site(node), value.type
        if t not in SHUFFLED:
            text = ast.unparse(parts[1])
            what = f"{text} is {t}, and a shuffle takes {', '.join(map(str, SHUFFLED))}"
            wider = np.promote_types(t, np.float32 if t.kind == "f" else INT32)
            wider = wider if wider in SHUFFLED else np.dtype(np.int64)
            self.refuse(parts[1], what, f"np.{wider}({text})", KernelTypeError)
        self.cost.add("communication")
        self.shuffles += 1
        run, at = value.run, lane.run
        return Code(
            lambda f, m: f.batch.warps.shuffle(kind, named(f, m), run(f, m), at(f, m), m, site), t
        )

    _cuda_shfl_sync = partialmethod(_shuffle, kind="idx", third="src_lane")
    _cuda_shfl_up_sync = partialmethod(_shuffle, kind="up", third="delta")
    _cuda_shfl_down_sync = partialmethod(_shuffle, kind="down", third="delta")
    _cuda_shfl_xor_sync = partialmethod(_shuffle, kind="xor", third="lane_mask")

    def _vote(self, node: ast.Call, kind: str) -> Code:
        mask, predicate = self._parts(node, "mask", "predicate")
        named, site = self._lane_mask(mask), self.site(node)
        agrees = truth(self._whole_number(predicate, "a predicate")).run
        self.cost.add("communication")
        t = INT32 if kind == "ballot" else BOOL
        return Code(lambda f, m: f.batch.warps.vote(kind, named(f, m), agrees(f, m), m, site), t)

    _cuda_all_sync = partialmethod(_vote, kind="all")
    _cuda_any_sync = partialmethod(_vote, kind="any")
    _cuda_eq_sync = partialmethod(_vote, kind="eq")
    _cuda_ballot_sync = partialmethod(_vote, kind="ballot")

    def _match(self, node: ast.Call, kind: str) -> Code:
        mask, value = self._parts(node, "mask", "value")
        named, code, site = self._lane_mask(mask), self.scalar(value), self.site(node)
        run = converted(code, _MATCHED(INT32, code.type).arguments[1]).run
        self.cost.add("communication")
        result = INT32 if kind == "any" else TupleType((INT32, BOOL))
        return Code(lambda f, m: f.batch.warps.match(kind, named(f, m), run(f, m), m, site), result)

    _cuda_match_any_sync = partialmethod(_match, kind="any")
    _cuda_match_all_sync = partialmethod(_match, kind="all")

    def _cuda_activemask(self, node: ast.Call) -> Code:
        self._parts(node)
        self.cost.add("communication")
        return Code(lambda f, m: f.batch.warps.active_lanes(m), UINT32)

    def _cuda_lanemask_lt(self, node: ast.Call) -> Code:
        self._parts(node)
        self.cost.add("integer")
        return Code(lambda f, m: ((1 << m.group.lane) - 1).astype(UINT32), UINT32)

    # --- blocks ---

    def _block_vote(self, node: ast.Call, kind: str) -> Code:
        (predicate,) = self._parts(node, "predicate")
        code, site = self._whole_number(predicate, "a predicate"), self.site(node)
        if code.type == BOOL:  # Numba's typing refuses it too
            text = ast.unparse(predicate)
            what = f"{ast.unparse(node.func)} takes an integer, and {text} is a bool"
            self.refuse(predicate, what, f"int({text})", KernelTypeError)
        agrees = truth(converted(code, INT32)).run
        self.cost.add("control")
        self.barriers += 1
        return Code(lambda f, m: f.batch.barriers.vote(kind, agrees(f, m), m, site), INT32)

    _cuda_syncthreads_count = partialmethod(_block_vote, kind="count")
    _cuda_syncthreads_and = partialmethod(_block_vote, kind="and")
    _cuda_syncthreads_or = partialmethod(_block_vote, kind="or")

    def _fence(self, node: ast.Call, scope: str) -> Code:
        self._parts(node)
        self.cost.add("control")
        return Code(lambda f, m: f.batch.fence(m, scope), NONE)

    _cuda_threadfence = partialmethod(_fence, scope="grid")
    _cuda_threadfence_block = partialmethod(_fence, scope="block")
    _cuda_threadfence_system = partialmethod(_fence, scope="system")

    # --- the grid ---

    def _cuda_cg_this_grid(self, node: ast.Call) -> Code:
        self._parts(node)
        return Code(lambda f, m: (), GRID)

    def grid_sync_call(self, node: ast.Call) -> Code | None:
        """Compile ``g.sync()`` of a grid group ``g``; None if the call is something else."""
        function = node.func
        is_sync = isinstance(function, ast.Attribute) and function.attr == "sync"
        if not is_sync or self._type_of(function.value) is not GRID:
            return None
        self._parts(node)
        site = self.site(node)
        self.cost.add("control")
        self.barriers += 1
        self.grid_syncs += 1
        return Code(lambda f, m: f.batch.barriers.grid(m, site), INT32)

    def _type_of(self, node: ast.expr):
        """Return the type of a variable or a call; None for what cannot be a grid group."""
        if isinstance(node, ast.Name):
            return self.env.get(node.id)
        return self.expression(node).type if isinstance(node, ast.Call) else None

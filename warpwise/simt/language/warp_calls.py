"""Calls in which threads work together: shuffles, votes and matches of a warp, block barriers that vote, fences, the grid's sync.

Types are those of Numba's CUDA target; a shuffle takes no width there. What the calls do is in ``warp``, ``barriers`` and ``order``.
"""

from __future__ import annotations

import ast
from functools import partialmethod

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.simt.functions.overloads import one_of
from warpwise.simt.language.compiled import Code, converted, truth
from warpwise.simt.machine.warp import ALL_LANES
from warpwise.simt.types import BOOL, GRID, INT32, NONE, TupleType, is_integer

UINT32 = np.dtype(np.uint32)
SHUFFLED = tuple(np.dtype(name) for name in "int32 int64 float32 float64".split())
_MATCHED = one_of("i4(i4,i4) i4(i4,i8) i4(i4,f4) i4(i4,f8)")


class WarpCalls:
    """The part of the compiler that knows how threads work together; mixed into ``compiler.Compiler``."""

    def _parts(self, node: ast.Call, *names: str) -> list[ast.expr]:
        """The arguments of a call, which has those of these names, by place."""
        if len(node.args) != len(names) or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            form = f"{ast.unparse(node.func)}({', '.join(names)})"
            what = f"{ast.unparse(node)}: {form} takes {len(names) or 'no'} argument{'s' * (len(names) != 1)} and no keywords"
            self.refuse(node, what, form if names or node.args or node.keywords else f"{ast.unparse(node.func)}()")
        return node.args

    def _whole_number(self, node: ast.expr, what: str) -> Code:
        code = self.scalar(node)
        if not is_integer(code.type):
            text = ast.unparse(node)
            raise KernelTypeError(f"{what} is an integer, and {text} is {code.type}", self.kernel.where(node), f"int({text})")
        return code

    def _named(self, node: ast.expr):
        return self._whole_number(node, "a mask of lanes").run

    # --- warps ---

    def _cuda_syncwarp(self, node: ast.Call) -> Code:
        named = (lambda frame, mask: ALL_LANES) if not node.args else self._named(self._parts(node, "mask")[0])
        if not node.args:
            self._parts(node)
        site = self.site(node)
        self.cost.add("control")
        return Code(lambda f, m: f.batch.syncwarp(named(f, m), m, site), NONE)

    def _shuffle(self, node: ast.Call, kind: str, third: str) -> Code:
        parts = self._parts(node, "mask", "value", third)
        named, value, lane, site = self._named(parts[0]), self.scalar(parts[1]), self._whole_number(parts[2], third), self.site(node)
        if value.type not in SHUFFLED:
            what = f"{ast.unparse(parts[1])} is {value.type}, and a shuffle takes {', '.join(map(str, SHUFFLED))}"
            wider = np.promote_types(value.type, np.float32 if value.type.kind == "f" else INT32)
            wider = wider if wider in SHUFFLED else np.dtype(np.int64)
            raise KernelTypeError(what, self.kernel.where(parts[1]), f"np.{wider}({ast.unparse(parts[1])})")
        self.cost.add("communication")
        self.shuffles += 1
        run, at = value.run, lane.run
        return Code(lambda f, m: f.batch.shuffle(kind, named(f, m), run(f, m), at(f, m), m, site), value.type)

    _cuda_shfl_sync = partialmethod(_shuffle, kind="idx", third="src_lane")
    _cuda_shfl_up_sync = partialmethod(_shuffle, kind="up", third="delta")
    _cuda_shfl_down_sync = partialmethod(_shuffle, kind="down", third="delta")
    _cuda_shfl_xor_sync = partialmethod(_shuffle, kind="xor", third="lane_mask")

    def _vote(self, node: ast.Call, kind: str) -> Code:
        mask, predicate = self._parts(node, "mask", "predicate")
        named, agrees, site = self._named(mask), truth(self._whole_number(predicate, "a predicate")).run, self.site(node)
        self.cost.add("communication")
        return Code(lambda f, m: f.batch.vote(kind, named(f, m), agrees(f, m), m, site), INT32 if kind == "ballot" else BOOL)

    _cuda_all_sync = partialmethod(_vote, kind="all")
    _cuda_any_sync = partialmethod(_vote, kind="any")
    _cuda_eq_sync = partialmethod(_vote, kind="eq")
    _cuda_ballot_sync = partialmethod(_vote, kind="ballot")

    def _match(self, node: ast.Call, kind: str) -> Code:
        mask, value = self._parts(node, "mask", "value")
        named, code, site = self._named(mask), self.scalar(value), self.site(node)
        run = converted(code, _MATCHED(INT32, code.type).arguments[1]).run
        self.cost.add("communication")
        result = INT32 if kind == "any" else TupleType((INT32, BOOL))
        return Code(lambda f, m: f.batch.match(kind, named(f, m), run(f, m), m, site), result)

    _cuda_match_any_sync = partialmethod(_match, kind="any")
    _cuda_match_all_sync = partialmethod(_match, kind="all")

    def _cuda_activemask(self, node: ast.Call) -> Code:
        self._parts(node)
        self.cost.add("communication")
        return Code(lambda f, m: f.batch.active_lanes(m), UINT32)

    def _cuda_lanemask_lt(self, node: ast.Call) -> Code:
        self._parts(node)
        self.cost.add("integer")
        return Code(lambda f, m: ((1 << m.extent.lane) - 1).astype(UINT32), UINT32)

    # --- blocks ---

    def _block_vote(self, node: ast.Call, kind: str) -> Code:
        (predicate,) = self._parts(node, "predicate")
        code, site = self._whole_number(predicate, "a predicate"), self.site(node)
        if code.type == BOOL:  # Numba's typing refuses it too
            what = f"{ast.unparse(node.func)} takes an integer, and {ast.unparse(predicate)} is a bool"
            raise KernelTypeError(what, self.kernel.where(predicate), f"int({ast.unparse(predicate)})")
        agrees = truth(converted(code, INT32)).run
        self.cost.add("control")
        self.barriers += 1
        return Code(lambda f, m: f.batch.voting_barrier(kind, agrees(f, m), m, site), INT32)

    _cuda_syncthreads_count = partialmethod(_block_vote, kind="count")
    _cuda_syncthreads_and = partialmethod(_block_vote, kind="and")
    _cuda_syncthreads_or = partialmethod(_block_vote, kind="or")

    def _fence(self, node: ast.Call, scope: str) -> Code:
        self._parts(node)
        self.cost.add("control")
        return Code(lambda f, m: f.batch.order.fence(m, scope), NONE)

    _cuda_threadfence = partialmethod(_fence, scope="grid")
    _cuda_threadfence_block = partialmethod(_fence, scope="block")
    _cuda_threadfence_system = partialmethod(_fence, scope="system")

    # --- the grid ---

    def _cuda_cg_this_grid(self, node: ast.Call) -> Code:
        self._parts(node)
        return Code(lambda f, m: (), GRID)

    def grid_sync_call(self, node: ast.Call) -> Code | None:
        """``g.sync()`` of a grid group ``g``; None if the call is something else."""
        function = node.func
        if not isinstance(function, ast.Attribute) or function.attr != "sync" or self._type_of(function.value) is not GRID:
            return None
        self._parts(node)
        site = self.site(node)
        self.cost.add("control")
        self.barriers += 1
        self.grid_syncs += 1
        return Code(lambda f, m: f.batch.grid_barrier(m, site), INT32)

    def _type_of(self, node: ast.expr):
        """The type of a variable or of a call of ``this_grid``; None for what cannot be a grid group."""
        if isinstance(node, ast.Name):
            return self.env.get(node.id)
        return self.expression(node).type if isinstance(node, ast.Call) else None

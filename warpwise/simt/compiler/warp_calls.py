"""Cooperation of threads: shuffles, votes and matches, voting barriers, fences, the grid's sync.

Types are those of Numba's CUDA target; a shuffle takes no width there. The calls are executed in
``machine.warp``, ``machine.barriers`` and ``sanitizer.order``."""

from __future__ import annotations

import ast

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.simt.builtins.overloads import one_of
from warpwise.simt.compiler.arguments import as_whole, exactly, whole_number
from warpwise.simt.compiler.closures import Code, Number, Run, converted, truth
from warpwise.simt.compiler.context import Context
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.frame import Frame
from warpwise.simt.machine.members import ALL_LANES
from warpwise.simt.types import BOOL, GRID, INT32, NONE, TupleType, Type, is_integer

UINT32 = np.dtype(np.uint32)
FLOAT32 = np.dtype(np.float32)
SHUFFLED = tuple(np.dtype(name) for name in "int32 int64 float32 float64".split())
_MATCHED = one_of("i4(i4,i4) i4(i4,i8) i4(i4,f4) i4(i4,f8)")


def _lane_mask(c: Context, node: ast.expr) -> Run:
    return _as_mask(c, node, c.scalar(node))


def _as_mask(c: Context, node: ast.expr, code: Number) -> Run:
    if as_whole(c, node, "a mask of lanes", code).type == BOOL:  # Numba's typing refuses it too
        text = ast.unparse(node)
        what = f"a mask of lanes is an integer, and {text} is a bool"
        c.refuse(node, what, f"cuda.ballot_sync(0xffffffff, {text})", KernelTypeError)
    return code.run


def _all_lanes(frame: Frame, mask: Mask) -> int:
    return ALL_LANES


# --- warps ---


def syncwarp(c: Context, node: ast.Call) -> Code:
    """Compile ``cuda.syncwarp()`` and ``cuda.syncwarp(mask)``."""
    parts, site = exactly(c, node, *(("mask",) if node.args else ())), c.site(node)
    named = _lane_mask(c, parts[0]) if parts else _all_lanes
    c.cost.add("control")
    return Code(lambda f, m: f.batch.warps.syncwarp(named(f, m), m, site), NONE)


def shuffle(c: Context, node: ast.Call, kind: str, third: str) -> Code:
    """Compile ``cuda.shfl_sync(mask, value, src_lane)`` and its kin; ``third``: their last part."""
    parts = exactly(c, node, "mask", "value", third)
    lanes, value, place = (c.scalar(part) for part in parts)
    if is_integer(value.type) and FLOAT32 in (lanes.type, place.type):
        word = ast.unparse(node.func)
        what = f"{word} takes a mask, a value and {third}, in this order"
        c.refuse(node, what, f"{word}(mask, value, {third})", KernelTypeError)
    named = _as_mask(c, parts[0], lanes)
    lane, site, t = as_whole(c, parts[2], third, place), c.site(node), value.type
    if t not in SHUFFLED:
        text = ast.unparse(parts[1])
        what = f"{text} is {t}, and a shuffle takes {', '.join(map(str, SHUFFLED))}"
        wider = np.promote_types(t, np.float32 if t.kind == "f" else INT32)
        wider = wider if wider in SHUFFLED else np.dtype(np.int64)
        c.refuse(parts[1], what, f"np.{wider}({text})", KernelTypeError)
    c.cost.add("communication")
    c.counts.shuffles += 1
    run, at = value.run, lane.run
    return Code(
        lambda f, m: f.batch.warps.shuffle(kind, named(f, m), run(f, m), at(f, m), m, site), t
    )


def vote(c: Context, node: ast.Call, kind: str) -> Code:
    """Compile ``cuda.any_sync(mask, predicate)`` and its kin."""
    mask, predicate = exactly(c, node, "mask", "predicate")
    named, site = _lane_mask(c, mask), c.site(node)
    agrees = truth(whole_number(c, predicate, "a predicate")).run
    c.cost.add("communication")
    t: Type = INT32 if kind == "ballot" else BOOL
    return Code(lambda f, m: f.batch.warps.vote(kind, named(f, m), agrees(f, m), m, site), t)


def match(c: Context, node: ast.Call, kind: str) -> Code:
    """Compile ``cuda.match_any_sync(mask, value)`` and its kin."""
    mask, value = exactly(c, node, "mask", "value")
    named, code, site = _lane_mask(c, mask), c.scalar(value), c.site(node)
    run = converted(code, _MATCHED(INT32, code.type).arguments[1]).run
    c.cost.add("communication")
    result: Type = INT32 if kind == "any" else TupleType((INT32, BOOL))
    return Code(lambda f, m: f.batch.warps.match(kind, named(f, m), run(f, m), m, site), result)


def activemask(c: Context, node: ast.Call) -> Code:
    exactly(c, node)
    c.cost.add("communication")
    return Code(lambda f, m: f.batch.warps.active_lanes(m), UINT32)


def lanemask_lt(c: Context, node: ast.Call) -> Code:
    exactly(c, node)
    c.cost.add("integer")
    return Code(lambda f, m: ((1 << m.group.lane) - 1).astype(UINT32), UINT32)


# --- blocks ---


def block_vote(c: Context, node: ast.Call, kind: str) -> Code:
    """Compile ``cuda.syncthreads_count(predicate)`` and its kin."""
    (predicate,) = exactly(c, node, "predicate")
    code, site = whole_number(c, predicate, "a predicate"), c.site(node)
    if code.type == BOOL:  # Numba's typing refuses it too
        text = ast.unparse(predicate)
        what = f"{ast.unparse(node.func)} takes an integer, and {text} is a bool"
        c.refuse(predicate, what, f"int({text})", KernelTypeError)
    agrees = truth(converted(code, INT32)).run
    c.cost.add("control")
    c.counts.barriers += 1
    return Code(lambda f, m: f.batch.barriers.vote(kind, agrees(f, m), m, site), INT32)


def fence(c: Context, node: ast.Call, scope: str) -> Code:
    """Compile ``cuda.threadfence()`` and its kin."""
    exactly(c, node)
    c.cost.add("control")
    return Code(lambda f, m: f.batch.fence(m, scope), NONE)


# --- the grid ---


def this_grid(c: Context, node: ast.Call) -> Code:
    exactly(c, node)
    c.counts.cooperative = True
    return Code(lambda f, m: (), GRID)


def grid_sync_call(c: Context, node: ast.Call) -> Code | None:
    """Compile ``g.sync()`` of a grid group ``g``; None if the call is something else."""
    function = node.func
    if not isinstance(function, ast.Attribute) or function.attr != "sync":
        return None
    if _type_of(c, function.value) is not GRID:
        return None
    exactly(c, node)
    site = c.site(node)
    c.cost.add("control")
    c.counts.barriers += 1
    c.counts.grid_syncs += 1
    return Code(lambda f, m: f.batch.barriers.grid(m, site), INT32)


def _type_of(c: Context, node: ast.expr) -> Type | None:
    """Return the type of a variable or a call; None for what cannot be a grid group."""
    if isinstance(node, ast.Name):
        return c.variables.env.get(node.id)
    return c.expression(node).type if isinstance(node, ast.Call) else None

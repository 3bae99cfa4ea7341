"""Compilation of the words of ``warpwise.hopper``; they are executed in ``simt.hopper``.

A kernel that has one counts as one that waits, so that its warps take turns."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from warpwise.errors import KernelTypeError
from warpwise.simt.compiler.arguments import exactly, whole_number
from warpwise.simt.compiler.closures import Code, Number, Run
from warpwise.simt.compiler.context import Context
from warpwise.simt.hopper import copies, wgmma, words
from warpwise.simt.hopper.block import Units, units_of
from warpwise.simt.hopper.layout import PATTERN
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.frame import Frame
from warpwise.simt.machine.site import Site
from warpwise.simt.types import (
    BOOL,
    FLOAT16,
    FLOAT32,
    NONE,
    UINT64,
    ArrayType,
    TupleType,
    Type,
    Value,
    is_integer,
)

MAP = ("array", "box", "swizzle")  #: the fields of a tensor map
FEWEST, MOST, STEP = 24, 256, 8  #: registers that setmaxnreg takes (PTX ISA, "setmaxnreg")
_TRY_WAIT = "while not {}: pass"


def _word(
    c: Context, node: ast.Call, run: Callable[..., Value], *parts: Run, op: str = "control"
) -> Run:
    """Return the closure of a word: ``run(units, *values, mask, site)``. ``op``: its class."""
    c.cost.add(op)
    c.counts.waits = c.counts.units = True
    site = c.site(node)

    def call(f: Frame, m: Mask) -> Value:
        return run(units_of(f.batch, site), *(part(f, m) for part in parts), m, site)

    return call


def _bars(c: Context, node: ast.expr) -> Run:
    code = c.expression(node)
    if code.type == ArrayType(UINT64, 1, "shared"):
        return code.run
    what = f"{ast.unparse(node)} is {code.type}, and mbarriers lie in a shared array of uint64"
    c.refuse(node, what, "cuda.shared.array(STAGES, np.uint64)", KernelTypeError)


def _tile(c: Context, node: ast.expr) -> Run:
    code = c.expression(node)
    if isinstance(code.type, ArrayType) and code.type.space == "shared":
        return code.run
    what = f"{ast.unparse(node)} is {code.type}, and a tile is a shared array or a part of one"
    c.refuse(node, what, "tiles[stage] of a shared array of stages", KernelTypeError)


def _map(c: Context, node: ast.expr) -> tuple[Run, int]:
    """Compile a tensor map; return its number of dimensions as well."""
    code = c.expression(node)
    t = code.type
    if isinstance(t, TupleType) and t.names == MAP and isinstance(t.items[0], ArrayType):
        return code.run, t.items[0].ndim
    what = f"{ast.unparse(node)} is no tensor map"
    try_this = "pass hopper.tensor_map(array, box, swizzle) to the kernel"
    c.refuse(node, what, try_this, KernelTypeError)


def _corner(c: Context, node: ast.expr, ndim: int) -> Run:
    """Compile the coordinates of a box: one integer for each axis."""
    code = c.expression(node)
    t: Type = code.type
    if isinstance(t, TupleType) and len(t.items) == ndim and all(map(is_integer, t.items)):
        return code.run
    what = f"{ast.unparse(node)}: a box begins at {ndim} integers, one for each axis of the array"
    c.refuse(node, what, f"({', '.join(('row', 'column', 'z')[:ndim])})", KernelTypeError)


def _known(c: Context, node: ast.expr, what: str, allowed: tuple[int, ...]) -> int:
    value = c.constant(node)
    if isinstance(value, int) and value in allowed:
        return value
    shown = ", ".join(map(str, allowed[:4])) + (" ..." if len(allowed) > 4 else "")
    c.refuse(node, f"{what} is a constant, one of {shown}", str(allowed[-1]))


# --- mbarriers ---


def mbarrier_init(c: Context, node: ast.Call) -> Code:
    bars, index, count = exactly(c, node, "bars", "index", "count")
    parts = (
        _bars(c, bars),
        whole_number(c, index, "an index").run,
        whole_number(c, count, "a count").run,
    )
    return Code(_word(c, node, words.init, *parts), NONE)


def mbarrier_arrive(c: Context, node: ast.Call, arrives: bool, expects: bool) -> Code:
    names = ("bars", "index", "bytes") if expects else ("bars", "index")
    given = exactly(c, node, *names)
    size = whole_number(c, given[2], "a number of bytes").run if expects else lambda f, m: 0

    def run(units: Units, bars: Value, at: Value, expected: Value, mask: Mask, site: Site) -> None:
        words.arrive(units, bars, at, expected, mask, site, arrives)

    parts = _bars(c, given[0]), whole_number(c, given[1], "an index").run, size
    return Code(_word(c, node, run, *parts), NONE)


def mbarrier_try_wait(c: Context, node: ast.Call) -> Code:
    bars, index, parity = exactly(c, node, "bars", "index", "parity")
    if node is not c.looping:
        what = f"{ast.unparse(node)} may give up and return False before its phase is over"
        why = "the condition of a while loop, which tries again"
        c.refuse(node, f"{what}, so it has to be {why}", _TRY_WAIT.format(ast.unparse(node)))
    parts = (
        _bars(c, bars),
        whole_number(c, index, "an index").run,
        whole_number(c, parity, "a parity").run,
    )
    return Number(_word(c, node, words.try_wait, *parts), BOOL)


# --- copies ---


def tma_load(c: Context, node: ast.Call) -> Code:
    names = "tile", "tensor_map", "coordinates", "bars", "index"
    tile, tensor_map, corner, bars, index = exactly(c, node, *names)
    mapped, ndim = _map(c, tensor_map)
    parts = _tile(c, tile), mapped, _corner(c, corner, ndim), _bars(c, bars)
    return Code(_word(c, node, copies.load, *parts, whole_number(c, index, "an index").run), NONE)


def tma_store(c: Context, node: ast.Call) -> Code:
    tensor_map, corner, tile = exactly(c, node, "tensor_map", "coordinates", "tile")
    mapped, ndim = _map(c, tensor_map)
    parts = mapped, _corner(c, corner, ndim), _tile(c, tile)
    return Code(_word(c, node, copies.store, *parts), NONE)


# --- products ---


def wgmma_descriptor(c: Context, node: ast.Call) -> Code:
    tile, mode = exactly(c, node, "tile", "swizzle")
    swizzle, run = _known(c, mode, "a swizzle", tuple(PATTERN)), _tile(c, tile)
    code = c.expression(tile)
    if not isinstance(code.type, ArrayType) or code.type.dtype != FLOAT16 or code.type.ndim != 2:
        what = f"{ast.unparse(tile)} is {code.type}; wgmma takes tiles of float16 here, 2D"
        c.refuse(tile, what, "tiles[stage] of a shared array of np.float16", KernelTypeError)
    site = c.site(node)
    c.cost.add("integer")
    return Number(lambda f, m: wgmma.descriptor(run(f, m), swizzle, m, site), UINT64)


def wgmma_mma_async(c: Context, node: ast.Call) -> Code:
    sums, a, b, scale = exactly(c, node, "sums", "a", "b", "scale_d")
    code = c.expression(sums)
    if code.type != ArrayType(FLOAT32, 1, "local"):
        what = f"{ast.unparse(sums)} is {code.type}, and accumulators are a local array of float32"
        try_this = "SUMS = N // 2 above the kernel, cuda.local.array(SUMS, np.float32) in it"
        c.refuse(sums, what, try_this, KernelTypeError)
    parts = (
        whole_number(c, a, "a descriptor").run,
        whole_number(c, b, "a descriptor").run,
        c.scalar(scale).run,
    )

    def run(units: Units, found: Value, *rest: Any) -> None:
        _need_columns(c, sums, 2 * int(found.shape[0]))
        wgmma.mma(units, found, *rest)

    return Code(_word(c, node, run, code.run, *parts, op="tensor"), NONE)


def _need_columns(c: Context, node: ast.expr, columns: int) -> None:
    if columns % 8 == 0 and 8 <= columns <= 256:
        return
    what = f"{ast.unparse(node)} has the registers of {columns} columns: N is a multiple of 8"
    c.refuse(node, f"{what}, up to 256", "N // 2 registers for N columns")


# --- fences, groups, registers ---


def plain(c: Context, node: ast.Call, run: Callable[..., None]) -> Code:
    """Compile a word without arguments."""
    exactly(c, node)
    return Code(_word(c, node, run), NONE)


def group_wait(c: Context, node: ast.Call, run: Callable[..., None]) -> Code:
    """Compile a wait for all groups but the newest ``n``."""
    (newest,) = exactly(c, node, "n")
    count = _known(c, newest, "the number of groups that may go on", tuple(range(8)))
    return Code(_word(c, node, run, lambda f, m: count), NONE)


def setmaxnreg(c: Context, node: ast.Call, grows: bool) -> Code:
    (registers,) = exactly(c, node, "registers")
    count = c.constant(registers)
    if not isinstance(count, int) or count not in range(FEWEST, MOST + 1, STEP):
        what = f"{ast.unparse(registers)}: registers are a constant from {FEWEST} to {MOST}"
        c.refuse(node, f"{what}, a multiple of {STEP}", "24, 40, 232 or 240, for example")

    def run(units: Units, mask: Mask, site: Site) -> None:
        words.setmaxnreg(units, count, grows, mask, site)

    return Code(_word(c, node, run), NONE)

"""wgmma m64nNk16: the product of two tiles in shared memory, added to a warpgroup's accumulators.

Both tiles are float16 with K innermost: 64 rows of A, N rows of B, each named by a *descriptor* of
64 bits: start address (in 16 bytes) in bits 0-13, leading offset in 16-29, stride offset, from one
group of eight rows to the next, in 32-45, and the swizzle's mode in 62-63 (PTX ISA, "Matrix
Descriptor Format"). The next 16 numbers of K begin 32 bytes on: add 2."""

from __future__ import annotations

import numpy as np

from warpwise.errors import KernelTypeError, OutOfBoundsError, UnwrittenReadError
from warpwise.messages import Constant, Name, Size, message
from warpwise.model.swizzle import CHUNK, swizzled
from warpwise.simt.hopper.block import Units, need_warpgroup
from warpwise.simt.hopper.layout import tile_of, uniform
from warpwise.simt.hopper.products import Product
from warpwise.simt.hopper.shadow import PRODUCT, Use
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.async_events import Filled
from warpwise.simt.machine.block_memory import SharedArray
from warpwise.simt.machine.memory import Array, Memory
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes, Value

MODES = {0: 0, 128: 1, 64: 2, 32: 3}  #: of a swizzle, in a descriptor
SWIZZLES = {mode: swizzle for swizzle, mode in MODES.items()}
ROWS, K = 64, 16  #: of A, and numbers in a row of a product
TICKS = 4  #: of a product on the tensor cores
FIELD = (1 << 14) - 1


def descriptor(array: Array, swizzle: int, mask: Mask, site: Site) -> np.uint64:
    """Return the descriptor of a tile that TMA has filled with the same swizzle."""
    tile = tile_of(array, mask, site, swizzle)
    row = tile.shape[-1] * tile.itemsize
    _need_rows(array, row, swizzle, mask, site)
    stride = 8 * (swizzle or CHUNK)
    leading = tile.size if not swizzle else CHUNK
    fields = tile.address >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32
    return np.uint64(fields | MODES[swizzle] << 62)


def _need_rows(array: Array, row: int, swizzle: int, mask: Mask, site: Site) -> None:
    """Raise KernelTypeError unless rows are as long as the swizzle."""
    wanted = swizzle or CHUNK
    if row == wanted:
        return
    what = message(
        "the rows of {array} have {row} bytes, and a product reads rows of {wanted} bytes "
        "[[with a swizzle of {swizzle}|here]]",
        array=Name(array.name),
        row=Constant(row),
        wanted=Constant(wanted),
        swizzle=Constant(swizzle),
    )
    where = site.where_first(mask)
    fits = f": {row} for rows of {row} bytes" if row in MODES and row > CHUNK else ""
    raise KernelTypeError(what, where, f"the swizzle of the tensor map{fits}")


def mma(
    units: Units, sums: Array, a: Value, b: Value, scale: Value, mask: Mask, site: Site
) -> None:
    """Issue the product of the running warp's 16 rows."""
    need_warpgroup(units, mask, site, "wgmma_mma_async")
    warp, columns, root = units.warp, 2 * int(sums.shape[0]), sums.root
    use = Use(warp, mask, site, root.name)
    units.products.need_fence(use, root)
    adds = bool(uniform(scale, mask, site, "scale_d"))
    if adds and (warp, root) not in units.products.known:
        raise _never_written(use)
    operands = []
    parts = (("A", a, 16 * (warp % 4), 16), ("B", b, 0, columns))
    for name, value, first, rows in parts:
        number = uniform(value, mask, site, "a descriptor")
        operands.append(_operand(units, name, number, first, rows, use))
    (tile_a, chunks_a, array_a, how_a), (tile_b, chunks_b, array_b, how_b) = operands
    product = tile_a.astype(np.float32) @ tile_b.astype(np.float32).T
    end = max(units.products.free_from[warp % 4], units.ticks[warp]) + TICKS
    units.products.free_from[warp % 4] = end
    for name, chunks, swizzle in ((array_a, chunks_a, how_a), (array_b, chunks_b, how_b)):
        reads = Use(warp, mask, site, name, PRODUCT)
        units.shadow.need_swizzle(reads, chunks, swizzle)
        units.products.read(reads, Product(site, chunks, name, end, root))
    units.products.issued[warp].append(site)
    units.products.known.add((warp, root))
    _accumulate(root, product, adds, mask)
    flops = 2 * product.size * K  # of the warp's 16 rows
    units.tell(
        "wgmma_mma_async",
        mask,
        site,
        end,
        filled=Filled(root),
        detail=root.name,
        flops=flops,
        operands=(tile_a, tile_b),
    )


def _operand(
    units: Units, name: str, number: int, first: int, rows: int, use: Use
) -> tuple[Lanes, Lanes, str, int]:
    """Return a tile's numbers, ``(rows, 16)``, their chunks, their array and its swizzle."""
    swizzle = SWIZZLES[number >> 62 & 3]
    start, leading, stride = (((number >> at) & FIELD) << 4 for at in (0, 16, 32))
    row = np.arange(first, first + rows, dtype=np.int64)[:, None]
    chunk = np.arange(2, dtype=np.int64)[None, :]
    step = leading if not swizzle else CHUNK
    places = start + row // 8 * stride + row % 8 * (swizzle or CHUNK) + chunk * step
    places = swizzled(places, swizzle)
    root = _array_at(units, start, use)
    within = places - root.address
    if within.min() < 0 or within.max() + CHUNK > root.memory_bytes:
        what = message(
            "the {operand} of this product, of [[{rows}|so many]] rows, reaches beyond {array}",
            operand=Name(f"tile {name}"),
            rows=Size(rows),
            array=Name(root.name),
        )
        where = use.where
        raise OutOfBoundsError(what, where, "64 rows of A, and as many of B as C has columns")
    every = within[..., None] + np.arange(CHUNK, dtype=np.int64)
    numbers = root.raw[every.reshape(rows, 2 * CHUNK)].view(np.float16)
    return numbers, np.unique(places // CHUNK), root.name, swizzle


def _array_at(units: Units, address: int, use: Use) -> SharedArray:
    for array in units.batch.arrays.shared_arrays.values():
        if array.address <= address < array.address + array.memory_bytes:
            return array
    what = message("this product's descriptor points at no shared array")
    where = use.where
    raise OutOfBoundsError(what, where, "a descriptor from hopper.wgmma_descriptor(tile, swizzle)")


def _accumulate(root: Memory, product: Lanes, adds: bool, mask: Mask) -> None:
    """Put a warp's 16 rows into its lanes' registers."""
    lane = np.arange(32, dtype=np.int64)
    for i in range(product.shape[1] // 2):
        row, column = lane // 4 + i // 2 % 2 * 8, i // 4 * 8 + lane % 4 * 2 + i % 2
        values = product[row, column][None, :]
        before = root.load(i, mask) if adds else np.float32(0)
        root.store(i, (values + before).astype(np.float32), mask)


def _never_written(use: Use) -> UnwrittenReadError:
    what = message(
        "this product adds to {array}, to which nothing was written: registers start with "
        "whatever was left in them",
        array=Name(use.array),
    )
    where = use.where
    return UnwrittenReadError(what, where, "scale_d = 0 in the first product, 1 in the others")

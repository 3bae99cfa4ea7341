"""Tensor cores: products of small matrices whose elements lie in the registers of a warp's lanes.

A *fragment* is a lane's part of a matrix. With ``g = lane // 4`` and ``q = lane % 4`` (PTX ISA,
"Matrix Fragments for mma.m16n8k16" and "mma.m16n8k8"):

- bfloat16, 16 x 8 x 16: a register of A or B has two neighbours of a row of A, or of a column of B.
  ``a0`` is row g of A, columns 2q and 2q + 1; ``a1`` eight rows on; ``a2, a3`` eight columns on.
  ``b0`` is column g of B, rows 2q and 2q + 1; ``b1`` eight rows on.
- TF32, 16 x 8 x 8: ``a0`` is row g, column q; ``a1`` eight rows on; ``a2, a3`` four columns on.
  ``b0`` is row q, column g; ``b1`` four rows on.
- C of both, 16 x 8: ``c0, c1`` are row g, columns 2q and 2q + 1; ``c2, c3`` eight rows on.

Sums are exact and rounded once; those of a GPU are rounded on the way, in an order that nobody
specifies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpwise.errors import WarpMaskError
from warpwise.messages import Chosen, LaneNumbers, Words, message
from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.mask_errors import lanes_of
from warpwise.simt.machine.members import ALL_LANES, arrived, padded
from warpwise.simt.machine.site import Site
from warpwise.simt.types import DType, Lanes, Value, as_array

BF16, TF32 = "bf16", "tf32"
DEPTHS = {BF16: 16, TF32: 8}  #: of a product: columns of A, rows of B
ROWS, COLUMNS = 16, 8
_KEPT_BY_TF32 = np.uint32(0xFFFFE000)  #: the lowest 13 bits are ignored
WHOLE_WARPS = (
    "let all lanes of the warp get here, outside of branches and of loops that they leave at "
    "different times: a lane that has no element of its own brings zeros"
)
_WORD, _FLOAT = np.dtype(np.uint32), np.dtype(np.float32)


@dataclass(frozen=True, eq=False)
class Product:
    """A product as the registers of its warps hold it.

    ``a``, ``b`` and ``c``: ``(warps, 32, registers)``, of four, two and four; words of two bfloat16
    or float32. ``rows``: of the lane group that these warps come from."""

    kind: str
    a: Lanes
    b: Lanes
    c: Lanes
    mask: Mask
    site: Site
    rows: int


def product(kind: str, values: list[Value], mask: Mask, site: Site) -> Product:
    """Return a product from lane-shaped values: four registers of A, two of B and four of C."""
    rows = max([1, *(len(v) for v in values if isinstance(v, np.ndarray))])
    dtype = _WORD if kind == BF16 else _FLOAT
    a, b, c = (
        np.stack([by_warp(v, rows, mask.group.threads, t) for v in part], axis=-1)
        for part, t in ((values[:4], dtype), (values[4:6], dtype), (values[6:], _FLOAT))
    )
    return Product(kind, a, b, c, mask, site, rows)


def mma(one: Product) -> tuple[Lanes, ...]:
    """Return C + A B as each lane's four registers of C."""
    numbers = _of_bf16 if one.kind == BF16 else _of_tf32
    sums = _matrix_of_c(one.c.astype(np.float64))
    sums = sums + matrix_of_a(numbers(one.a)) @ matrix_of_b(numbers(one.b))
    with np.errstate(all="ignore"):
        registers = _registers_of_c(sums.astype(np.float32))
    threads = one.mask.group.threads
    return tuple(by_lane(registers[..., k], one.rows, threads) for k in range(4))


def by_warp(value: Value, rows: int, threads: int, dtype: DType) -> Lanes:
    """Return a lane-shaped value as ``(warps, 32)``, filled up to whole warps."""
    lanes = np.broadcast_to(as_array(value), (rows, threads))
    return padded(lanes.astype(dtype, copy=False)).reshape(-1, WARP_SIZE)


def by_lane(registers: Lanes, rows: int, threads: int) -> Lanes:
    """Return ``(warps, 32)`` as ``(rows, threads)``, without what fills up a warp."""
    return np.ascontiguousarray(registers.reshape(rows, -1)[:, :threads])


def matrix_of_a(parts: Lanes) -> Lanes:
    """Return A, ``(warps, 16, depth)``, from what registers hold: ``(warps, 32, 4, parts)``.

    A word of two bfloat16 has two parts, a float32 one."""
    by_place = parts.reshape(-1, 8, 4, 2, 2, parts.shape[-1])
    # warp, g, q, columns on, rows on, part
    return by_place.transpose(0, 4, 1, 3, 2, 5).reshape(-1, ROWS, 8 * parts.shape[-1])


def matrix_of_b(parts: Lanes) -> Lanes:
    """Return B, ``(warps, depth, 8)``, from what registers hold: ``(warps, 32, 2, parts)``."""
    by_place = parts.reshape(-1, 8, 4, 2, parts.shape[-1])  # warp, g, q, rows on, part
    return by_place.transpose(0, 3, 2, 4, 1).reshape(-1, 8 * parts.shape[-1], COLUMNS)


def _of_bf16(words: Lanes) -> Lanes:
    """Return the two bfloat16 in each word as float64, the lower half first."""
    halves = halves_of(words).astype(np.uint32) << np.uint32(16)
    with np.errstate(all="ignore"):
        return halves.view(np.float32).astype(np.float64)


def halves_of(words: Lanes) -> Lanes:
    """Return the two halves of each word, the lower one first, on a new last axis."""
    return np.ascontiguousarray(words).view(np.uint16).reshape(*words.shape, 2)


def _of_tf32(registers: Lanes) -> Lanes:
    """Return float32 as tensor cores read them, on a last axis of one."""
    words = np.ascontiguousarray(registers).view(np.uint32) & _KEPT_BY_TF32
    return words.view(np.float32).astype(np.float64)[..., None]


def _matrix_of_c(registers: Lanes) -> Lanes:
    by_place = registers.reshape(-1, 8, 4, 2, 2)  # warp, g, q, rows on, which of two
    return by_place.transpose(0, 3, 1, 2, 4).reshape(-1, ROWS, COLUMNS)


def _registers_of_c(matrix: Lanes) -> Lanes:
    by_place = matrix.reshape(-1, 2, 8, 4, 2).transpose(0, 2, 3, 1, 4)
    return by_place.reshape(-1, WARP_SIZE, 4)


def matrices(words: tuple[Value, ...], mask: Mask, transposed: bool) -> tuple[Lanes, ...]:
    """Return the registers that ``ldmatrix`` gives, one for each of four 8 x 8 matrices.

    ``words``: the 16 bytes at each lane's address: of lane ``8 m + r``, row r of matrix m. Of
    matrix m, lane ``4 r + p`` gets word p of row r; ``transposed``, rows 2p and 2p + 1 of column r.
    """
    group = mask.group
    rows = max([1, *(len(w) for w in words if isinstance(w, np.ndarray))])
    loaded = np.stack([by_warp(w, rows, group.threads, _WORD) for w in words], axis=-1)
    matrix = loaded.reshape(-1, 4, 8, 4)
    if transposed:
        halves = np.ascontiguousarray(matrix).view(np.uint16)
        matrix = np.ascontiguousarray(halves.swapaxes(2, 3)).view(np.uint32)
    registers = matrix.reshape(-1, 4, WARP_SIZE)
    return tuple(by_lane(registers[:, m], rows, group.threads) for m in range(4))


def need_whole_warps(mask: Mask, site: Site, word: str) -> None:
    """Raise WarpMaskError unless all 32 lanes of each warp that is here take part."""
    words = arrived(mask)
    partly = np.flatnonzero((words != 0) & (words != ALL_LANES))
    if not partly.size:
        return
    row, warp = divmod(int(partly[0]), words.shape[1])
    lanes = lanes_of(int(words[row, warp]))
    what = message(
        "{word} takes all 32 lanes of a warp[[, and only {lanes} {get} here]]",
        word=Words(word),
        lanes=LaneNumbers(lanes),
        get=Chosen("get" if lanes.startswith("lanes") else "gets"),
    )
    here = mask.grid()[row, WARP_SIZE * warp :]
    column = WARP_SIZE * warp + int(np.argmax(here))
    where = site.where(mask.group.block_of(row), mask.group.thread_of(row, column))
    raise WarpMaskError(what, where, WHOLE_WARPS)

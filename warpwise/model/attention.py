"""Attention by tiles: how many tiles of scores there are, what one block keeps on the chip, and what travels to and from global memory.

The tiled kernel is that of FlashAttention-2 (Dao 2023, arXiv 2307.08691, algorithm 1): a block has one tile of queries, goes over the
tiles of keys and values, and writes its outputs once. Standard attention (Dao et al. 2022, arXiv 2205.14135, algorithm 0) writes the
scores, reads them for the softmax, writes its result and reads that again. Left out: caches, which serve many of the repeated reads;
the logarithm of each row's sum, which training keeps, one float32 a row; batches and heads, each of which adds as much again.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.model.arguments import counted, whole

SUM_BYTES = 4  #: of a score or an output under way: sums are float32, whatever the matrices are


@dataclass(frozen=True)
class Attention:
    """One head: Q, K, V and O of ``n`` rows and ``d`` columns, in tiles of ``rows`` queries and ``columns`` keys."""

    n: int
    d: int
    rows: int
    columns: int
    item_bytes: int  #: of an element of Q, K, V, O and, in standard attention, of the scores
    causal: bool  #: query i sees keys 0 to i only
    tiles: int  #: of scores, skipped ones included
    skipped: int  #: tiles that no query of theirs may see
    read_bytes: int  #: by all blocks together
    written_bytes: int

    @property
    def least_bytes(self) -> int:
        """Q, K, V and O, each moved once: what a cache that loses nothing would leave."""
        return 4 * self.n * self.d * self.item_bytes

    @property
    def standard_read_bytes(self) -> int:
        """Of standard attention, which masks scores and skips none: Q and K, the scores, the weights and V."""
        return (3 * self.n * self.d + 2 * self.n**2) * self.item_bytes

    @property
    def standard_written_bytes(self) -> int:
        """Of standard attention: scores, weights and O."""
        return (2 * self.n**2 + self.n * self.d) * self.item_bytes

    @property
    def bytes_saved(self) -> float:
        """How many times the bytes of the tiled kernel standard attention moves. Below 1, the tiles move more."""
        return (self.standard_read_bytes + self.standard_written_bytes) / (self.read_bytes + self.written_bytes)

    @property
    def tile_bytes(self) -> dict[str, int]:
        """What a block keeps on the chip, by name. K, V and S are replaced with each tile of keys; Q and O stay."""
        q, kv = self.rows * self.d * self.item_bytes, self.columns * self.d * self.item_bytes
        return {"Q": q, "K": kv, "V": kv, "S": self.rows * self.columns * SUM_BYTES, "O": self.rows * self.d * SUM_BYTES}

    def __str__(self) -> str:
        skipped = f", {self.skipped:,} of them skipped" if self.causal else ""
        moved = f"reads {self.read_bytes:,} bytes and writes {self.written_bytes:,}"
        return f"{counted(self.tiles, 'tile')}{skipped}; {moved}; standard attention moves {self.bytes_saved:.3g} times as much (modelled)"


def attention(n: int, d: int, rows: int, columns: int, item_bytes: int = 2, causal: bool = False) -> Attention:
    """Attention over ``n`` queries and keys of ``d`` elements, in tiles of ``rows`` x ``columns`` scores; the last ones may be ragged.

    Raises LaunchError for a number below 1, or an ``item_bytes`` above 8.
    """
    n, d, rows, columns = (whole(name, value, 1) for name, value in (("n", n), ("d", d), ("rows", rows), ("columns", columns)))
    item_bytes = whole("item_bytes", item_bytes, 1, 8)
    starts, across = range(0, n, rows), -(-n // columns)
    visited = [visits(n, rows, columns, start // rows, causal) for start in starts]
    keys = sum(min(n, tiles * columns) for tiles in visited)  # rows of K that are read, and as many of V
    return Attention(
        n, d, rows, columns, item_bytes, bool(causal),
        tiles=len(starts) * across, skipped=len(starts) * across - sum(visited),
        read_bytes=(n + 2 * keys) * d * item_bytes, written_bytes=n * d * item_bytes,
    )  # fmt: skip


def visits(n: int, rows: int, columns: int, query: int, causal: bool) -> int:
    """How many tiles of keys the tile ``query`` of queries meets: with a causal mask, those that begin before its last row ends."""
    last = min(n, (query + 1) * rows)
    return -(-(last if causal else n) // columns)

"""Attention by tiles: tiles of scores, on-chip bytes of a block, and global memory traffic.

The tiled kernel is that of FlashAttention-2 (Dao 2023, arXiv 2307.08691, algorithm 1): a block has
one tile of queries, goes over the tiles of keys and values, and writes its outputs once. Standard
attention (Dao et al. 2022, arXiv 2205.14135, algorithm 0) writes the scores, reads them for the
softmax, writes its result and reads that again. Left out: caches, which serve many of the repeated
reads; the logarithm of each row's sum, which training keeps, one float32 a row; batches and heads,
each of which adds as much again."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.model.arguments import quantity, whole

SUM_BYTES = 4  #: of a score or an output under way: sums are float32, whatever the matrices are


@dataclass(frozen=True)
class Attention:
    """One head: Q, K, V and O of ``n`` rows and ``d`` columns.

    Tiles have ``rows`` queries and ``columns`` keys."""

    n: int
    d: int
    rows: int
    columns: int
    item_bytes: int  #: of an element of Q, K, V, O and, in standard attention, of the scores
    causal: bool  #: query i sees keys 0 to i only
    tiles: int  #: of scores, skipped ones included
    skipped: int  #: tiles whose keys none of their queries may see
    read_bytes: int  #: by all blocks together
    written_bytes: int

    @property
    def least_bytes(self) -> int:
        """Bytes of Q, K, V and O, each moved once, as with an infinite cache."""
        return 4 * self.n * self.d * self.item_bytes

    @property
    def standard_read_bytes(self) -> int:
        """Bytes that standard attention reads: Q and K, the scores, the weights and V.

        It masks scores and skips none."""
        return (3 * self.n * self.d + 2 * self.n**2) * self.item_bytes

    @property
    def standard_written_bytes(self) -> int:
        """Bytes that standard attention writes: scores, weights and O."""
        return (2 * self.n**2 + self.n * self.d) * self.item_bytes

    @property
    def bytes_saved(self) -> float:
        """Bytes that standard attention moves, over those of the tiled kernel.

        Below 1, the tiles move more."""
        standard = self.standard_read_bytes + self.standard_written_bytes
        return standard / (self.read_bytes + self.written_bytes)

    @property
    def tile_bytes(self) -> dict[str, int]:
        """On-chip bytes of a block, by matrix.

        K, V and S are replaced with each tile of keys; Q and O stay."""
        q, kv = self.rows * self.d * self.item_bytes, self.columns * self.d * self.item_bytes
        s, o = self.rows * self.columns * SUM_BYTES, self.rows * self.d * SUM_BYTES
        return {"Q": q, "K": kv, "V": kv, "S": s, "O": o}

    def __str__(self) -> str:
        skipped = f", {self.skipped:,} of them skipped" if self.causal else ""
        return (
            f"{quantity(self.tiles, 'tile')}{skipped}; "
            f"reads {self.read_bytes:,} bytes and writes {self.written_bytes:,}; "
            f"standard attention moves {self.bytes_saved:.3g} times as much (modelled)"
        )


def attention(
    n: int, d: int, rows: int, columns: int, item_bytes: int = 2, causal: bool = False
) -> Attention:
    """Model attention over ``n`` queries and keys of ``d`` elements.

    Tiles have ``rows`` x ``columns`` scores; the last ones may be ragged. Raises LaunchError for a
    number below 1, or an ``item_bytes`` above 8.
    """
    sizes = {"n": n, "d": d, "rows": rows, "columns": columns}
    n, d, rows, columns = (whole(name, size, 1) for name, size in sizes.items())
    item_bytes = whole("item_bytes", item_bytes, 1, 8)
    starts, across = range(0, n, rows), -(-n // columns)
    visited = [visits(n, rows, columns, start // rows, causal) for start in starts]
    # rows of K that are read, and as many of V
    keys = sum(min(n, tiles * columns) for tiles in visited)
    return Attention(
        n,
        d,
        rows,
        columns,
        item_bytes,
        bool(causal),
        tiles=len(starts) * across,
        skipped=len(starts) * across - sum(visited),
        read_bytes=(n + 2 * keys) * d * item_bytes,
        written_bytes=n * d * item_bytes,
    )


def visits(n: int, rows: int, columns: int, query: int, causal: bool) -> int:
    """Return the number of tiles of keys that the tile ``query`` of queries meets.

    With a causal mask, those that begin before its last row ends."""
    last = min(n, (query + 1) * rows)
    return -(-(last if causal else n) // columns)

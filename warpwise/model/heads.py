"""Decoding: who reads keys and values, and what a byte of them is worth.

In decoding a head has one query, or a few that are tried at once. Heads that share a head of keys
and values (grouped-query attention, Ainslie et al. 2023, arXiv 2305.13245) make a group. A kernel
that gives each query head blocks of its own reads them once a query head; one that packs a group's
queries into the rows of one tile reads them once a group. MLA (DeepSeek-V2, arXiv 2405.04434) keeps
one vector of 576 elements for all heads, the first 512 of which are the values too. Left
out: caches, which may serve the repeated reads, and Q and O, which are short."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.errors import LaunchError
from warpwise.model.arguments import whole

ROWS = 16  #: rows of a tensor core's smallest tile, m16n8k16
ITEM_BYTES = 2
K_MLA, V_MLA = 576, 512  #: elements of a key and a value of DeepSeek's models


@dataclass(frozen=True)
class Decoding:
    """One step of decoding, for one key and its value, of all heads together."""

    heads: int  #: of queries
    kv_heads: int
    queries: int  #: of each head
    packed: bool
    mla: bool

    @property
    def group(self) -> int:
        """Query heads that share keys and values."""
        return self.heads // self.kv_heads

    @property
    def reads(self) -> int:
        """How often a head of keys and values is read, all reads together."""
        return self.kv_heads if self.packed else self.heads

    @property
    def rows(self) -> int:
        """Rows of a tile of scores that a read of keys serves."""
        return self.queries * (self.group if self.packed else 1)

    @property
    def filled(self) -> float:
        """Share of the rows of a tensor core's tiles that hold a query."""
        return self.rows / (-(-self.rows // ROWS) * ROWS)

    @property
    def flop_per_byte(self) -> float:
        """FLOP for each byte of keys and values that is read, with 2 bytes an element."""
        key, value = (K_MLA, V_MLA) if self.mla else (1, 1)
        elements = key if self.mla else key + value
        return 2 * self.rows * (key + value) / (elements * ITEM_BYTES)


def decoding(
    heads: int, kv_heads: int, queries: int = 1, packed: bool = True, mla: bool = False
) -> Decoding:
    """Return who reads what. ``mla`` goes with one head of keys and values.

    Raises LaunchError for numbers below 1, and for heads that do not divide into groups."""
    heads, queries = whole("heads", heads, 1), whole("queries", queries, 1)
    kv_heads = whole("kv_heads", kv_heads, 1, 1 if mla else heads)
    if heads % kv_heads:
        raise LaunchError(f"{heads} heads do not divide into {kv_heads} groups of equal size")
    return Decoding(heads, kv_heads, queries, bool(packed), bool(mla))

"""Swizzles: where a tile's 16-byte chunks lie in shared memory, and how eight are read at once.

A warp's accesses of 16 bytes, and ``ldmatrix``, are served eight chunks at a time: a *phase*. The
32 banks are as wide as eight chunks, so a phase takes one wavefront if its chunks lie in eight
groups of four banks, and as many as its busiest group has chunks (CUDA C++ Programming Guide,
"Shared Memory"). A swizzle exchanges chunks within their line of 128 bytes, by XOR of the place in
the line with bits of the line's number: three bits for 128 bytes, two for 64, one for 32 (PTX ISA,
"Tensor Swizzling Modes")."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from warpwise.metrics import BANK_BYTES, BANKS
from warpwise.model.arguments import one_of

CHUNK = 16  #: bytes that stay together
GROUPS = BANKS * BANK_BYTES // CHUNK  #: of four banks: chunks in a line of 128 bytes
SWIZZLES = (0, 32, 64, 128)  #: bytes; 0 is none
ROWS = 16  #: of a tile
PITCHES = (32, 64, 128)  #: bytes from one row of a tile to the next
WAYS = ("down", "along")  #: a chunk of eight rows, as ldmatrix; eight chunks in order, as a copy

Addresses = TypeVar("Addresses", int, np.ndarray[Any, Any])
Chunk = tuple[int, int]  #: row, and place in the row


def swizzled(addresses: Addresses, swizzle: int) -> Addresses:
    """Return where bytes lie that would be at some addresses without a swizzle."""
    bits = max(swizzle // CHUNK - 1, 0)
    found: Addresses = addresses ^ ((addresses >> 7 & bits) << 4)
    return found


@dataclass(frozen=True)
class Tile:
    """A tile of 16 rows of ``pitch`` bytes, which begins where a line of banks does.

    Raises LaunchError for pitches and swizzles that are not among those above."""

    pitch: int
    swizzle: int

    def __post_init__(self) -> None:
        one_of("pitch", self.pitch, PITCHES)
        one_of("swizzle", self.swizzle, SWIZZLES)

    def place(self, row: int, chunk: int) -> tuple[int, int]:
        """Return the line of 128 bytes and the group of banks where a chunk lies."""
        return divmod(swizzled(self.pitch * row + CHUNK * chunk, self.swizzle) // CHUNK, GROUPS)

    def phases(self, way: str) -> tuple[tuple[Chunk, ...], ...]:
        """Return the chunks of each phase in which the whole tile is read once.

        ``way``: "down" eight rows, the next eight, then the next chunk; or "along" the rows."""
        across = self.pitch // CHUNK
        if one_of("way", way, WAYS) == "down":
            order = [(row, chunk) for chunk in range(across) for row in range(ROWS)]
        else:
            order = [(row, chunk) for row in range(ROWS) for chunk in range(across)]
        return tuple(tuple(order[at : at + 8]) for at in range(0, len(order), 8))

    def wavefronts(self, phase: tuple[Chunk, ...]) -> int:
        """Return the wavefronts of a phase: the most chunks that it has in one group of banks."""
        return max(Counter(self.place(*chunk)[1] for chunk in phase).values())

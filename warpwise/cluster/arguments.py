"""Arguments of collectives that are lists, or one array in parts: one for each rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from warpwise.cluster.buffers import values_of
from warpwise.cluster.sites import call_site
from warpwise.errors import MismatchError
from warpwise.messages import Lengths, Rank, Size, TypeName, Words, message


def listed(given: Sequence[Any], size: int, word: str, site: str) -> list[np.ndarray]:
    """Return the values of a list with an array for each of ``size`` ranks.

    Raises MismatchError for another number of them, or for an array of numbers."""
    if isinstance(given, np.ndarray) and given.ndim < 2:
        what = message(
            "{word} at {site} takes a list with one array for each rank, and not one array",
            word=Words(word),
            site=Words(site),
        )
        raise MismatchError(what)
    found = [values_of(one, word, site) for one in given]
    if len(found) != size:
        what = message(
            "{word} at {site} takes a list with one array for each rank[[: {size}, not {given}]]",
            word=Words(word),
            site=Words(site),
            size=Size(size),
            given=Size(len(found)),
        )
        raise MismatchError(what)
    return found


def parts_of(whole: Any, part: Any, size: int, word: str) -> list[np.ndarray]:
    """Return an array as ``size`` parts, each shaped as ``part``, in its memory.

    Raises MismatchError if it has not so many elements, or not in a row."""
    site = call_site()
    values, one = values_of(whole, word, site), values_of(part, word, site)
    if values.size != size * one.size or not values.flags.c_contiguous:
        what = message(
            "{word} at {site} takes a contiguous array with one part of {part} for each rank"
            "[[, not one of {whole}]]",
            word=Words(word),
            site=Words(site),
            part=Lengths(one.shape),
            whole=Lengths(values.shape),
        )
        raise MismatchError(what)
    return list(values.reshape(size, *one.shape))


def need_alike(rank: int, mine: np.ndarray, piece: np.ndarray, word: str, site: str) -> None:
    """Raise MismatchError unless a rank's array is like its own place in a list."""
    if (mine.shape, mine.dtype) != (piece.shape, piece.dtype):
        what = message(
            "{word} at {site}: {rank} has {mine} of {type}, and in the list {piece} of {other} "
            "for itself",
            word=Words(word),
            site=Words(site),
            rank=Rank(rank),
            mine=Lengths(mine.shape),
            type=TypeName(mine.dtype),
            piece=Lengths(piece.shape),
            other=TypeName(piece.dtype),
        )
        raise MismatchError(what)

"""Extents: stretches of memory, and which of them overlap, as slices of one array do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar


class Extent(Protocol):
    """A stretch of memory, from ``address`` to before ``end``."""

    @property
    def address(self) -> int: ...
    @property
    def end(self) -> int: ...


AnExtent = TypeVar("AnExtent", bound=Extent)


def overlapping(extents: Iterable[AnExtent]) -> list[list[AnExtent]]:
    """Return stretches of memory in groups that overlap; most are alone."""
    groups: list[list[AnExtent]] = []
    for extent in sorted(extents, key=lambda one: one.address):
        if groups and extent.address < max(one.end for one in groups[-1]):
            groups[-1].append(extent)
        else:
            groups.append([extent])
    return groups

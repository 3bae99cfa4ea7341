"""Groups of asynchronous reads of shared memory, which a warp commits and waits for."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes


@dataclass(frozen=True)
class Reading:
    """Something asynchronous that reads chunks of shared memory."""

    site: Site
    chunks: Lanes
    array: str
    end: int  #: tick


class Groups:
    """Groups of what is under way, of one warp: the last is open until a commit.

    ``waited``: the groups that the last wait let go on, and where it was."""

    def __init__(self) -> None:
        self.open: list[Reading] = []
        self.closed: list[list[Reading]] = []
        self.waited: tuple[int, Site] | None = None

    def commit(self) -> None:
        """Close the open group, and open another."""
        self.closed.append(self.open)
        self.open = []

    def wait(self, newest: int, site: Site) -> list[Reading]:
        """Take and return all groups but so many."""
        self.waited = newest, site
        count = max(len(self.closed) - newest, 0)
        ended, self.closed = self.closed[:count], self.closed[count:]
        return [one for group in ended for one in group]

    @property
    def under_way(self) -> list[Reading]:
        """What no wait has let end as yet, the oldest first."""
        return [one for group in (*self.closed, self.open) for one in group]

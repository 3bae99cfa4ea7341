"""Groups: some of the ranks, which call collectives together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpwise.cluster.sites import call_site
from warpwise.errors import ClusterError
from warpwise.messages import Lengths, Rank, Words, message


@dataclass(frozen=True)
class Group:
    """Some ranks, in order; their places here are their numbers in the group."""

    ranks: tuple[int, ...]

    def need(self, rank: int) -> None:
        """Raise ClusterError unless a rank is in the group."""
        if rank not in self.ranks:
            what = message(
                "{rank} is not in the group of ranks {ranks}, at {site}",
                rank=Rank(rank),
                ranks=Lengths(self.ranks),
                site=Words(call_site()),
            )
            raise ClusterError(what)

    def number(self, rank: int) -> int:
        """Return a rank's number in the group. Raises ClusterError if it is not in it."""
        self.need(rank)
        return self.ranks.index(rank)


def group_of(ranks: Sequence[int], world: int) -> Group:
    """Return a group of some of ``world`` ranks. Raises ClusterError unless each is there once."""
    found = tuple(sorted(map(int, ranks)))
    if not found or len(set(found)) < len(found) or not set(found) <= set(range(world)):
        what = message(
            "a group at {site} has ranks from 0 to {last}, each once[[, not {given}]]",
            site=Words(call_site()),
            last=Rank(world - 1),
            given=Lengths(found),
        )
        raise ClusterError(what)
    return Group(found)

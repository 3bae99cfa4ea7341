"""What to say of ranks of which none can go on: who waits for whom, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warpwise.cluster.fabric import Side
from warpwise.cluster.state import Collective, Run
from warpwise.cluster.transfers import Transfers
from warpwise.errors import DeadlockError
from warpwise.messages import NOTHING, Datum, Joined, Message, Rank, Size, Words, message

MOST = 4  #: ranks that a message names


def stuck(run: Run, ranks: Mapping[int, Transfers]) -> DeadlockError:
    """Return the error of a run: the first circle of ranks that wait, or the way to one that ended.

    ``ranks``: the transfers of those that have not ended, by rank."""
    way = [min(ranks)]
    while (after := _waits_for(run, _of(ranks[way[-1]]))) in ranks and after not in way:
        way.append(after)
    circle = way[way.index(after) :] if after in way else []
    named = circle[:MOST] or way[-MOST:]
    first, *others = [_told(run, rank, _of(ranks[rank]), ranks[rank]) for rank in named]
    if len(circle) > MOST:
        others.append(message("and so on around {ranks} ranks", ranks=Size(len(circle))))
    # how many are named depends on how many there are, which of a hidden case nobody is told
    also = Joined(tuple(message(", {one}", one=one) for one in others), "")
    ended = NOTHING if circle else message(", and {rank} has ended", rank=Rank(after))
    what = message("deadlock: {first}[[{others}]]{ended}", first=first, others=also, ended=ended)
    return DeadlockError(what)


def _of(transfers: Transfers) -> Side | Collective:
    """Return the first that a rank waits for, and that is not done."""
    blocked: Sequence[Any] = transfers.task.blocked
    found: Side | Collective = next(work.of for work in blocked if not work.ready)
    return found


def _waits_for(run: Run, of: Side | Collective) -> int:
    if isinstance(of, Side):
        return of.peer
    return run.register.missing(of.key)[0]


def _told(run: Run, rank: int, of: Side | Collective, transfers: Transfers) -> Message:
    site = transfers.task.site
    if isinstance(of, Collective):
        return message(
            "{rank} waits in {word} at {site}, which {other} has not called",
            rank=Rank(rank),
            word=Words(of.word),
            site=Words(site),
            other=Rank(_waits_for(run, of)),
        )
    return waits_for_side(rank, of, site)


def waits_for_side(rank: int, side: Side, site: str) -> Message:
    """Return that a rank waits at ``site`` for its side of a message."""
    return message(
        "{rank} waits at {site} for its {word} {way} {peer}{tag}{begun}",
        rank=Rank(rank),
        site=Words(site),
        word=Words(side.word),
        way=Words("to" if side.sends else "from"),
        peer=Rank(side.peer),
        tag=message("[[ with tag {tag}]]", tag=Datum(side.tag)) if side.tag else NOTHING,
        begun=Words("" if side.site == site else f" at {side.site}"),
    )

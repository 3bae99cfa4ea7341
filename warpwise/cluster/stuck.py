"""What to say of ranks of which none can go on: who waits for whom, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warpwise.cluster.fabric import Side
from warpwise.cluster.state import Collective, Run
from warpwise.errors import DeadlockError
from warpwise.messages import NOTHING, Datum, Joined, Message, Rank, Size, Words, message

MOST = 4  #: ranks that a message names


def stuck(run: Run, ranks: Mapping[int, Any]) -> DeadlockError:
    """Return the error of a run: the first circle of ranks that wait, or the way to one that ended.

    ``ranks``: the communicators that have not ended, by rank."""
    way = [min(ranks)]
    while (after := _waits_for(run, _of(ranks[way[-1]]))) in ranks and after not in way:
        way.append(after)
    circle = way[way.index(after) :] if after in way else []
    named = circle[:MOST] or way[-MOST:]
    told = [_told(run, rank, _of(ranks[rank]), ranks[rank]) for rank in named]
    if not circle:
        told.append(message("and {rank} has ended", rank=Rank(after)))
    elif len(circle) > MOST:
        told.append(message("and so on[[ around {ranks} ranks]]", ranks=Size(len(circle))))
    return DeadlockError(message("deadlock: {chain}", chain=Joined(tuple(told), ", ")))


def _of(communicator: Any) -> Side | Collective:
    """Return the first that a rank waits for, and that is not done."""
    found: Side | Collective = next(w.of for w in communicator._task.blocked if not w.ready)
    return found


def _waits_for(run: Run, of: Side | Collective) -> int:
    if isinstance(of, Side):
        return of.peer
    return run.register.missing(of.key)[0]


def _told(run: Run, rank: int, of: Side | Collective, communicator: Any) -> Message:
    site = communicator._task.site
    if isinstance(of, Collective):
        return message(
            "{rank} waits in {word} at {site}, which {other} has not called",
            rank=Rank(rank),
            word=Words(of.word),
            site=Words(site),
            other=Rank(_waits_for(run, of)),
        )
    return message(
        "{rank} waits at {site} for its {word} {way} {peer}{tag}{begun}",
        rank=Rank(rank),
        site=Words(site),
        word=Words(of.word),
        way=Words("to" if of.sends else "from"),
        peer=Rank(of.peer),
        tag=message("[[ with tag {tag}]]", tag=Datum(of.tag)) if of.tag else NOTHING,
        begun=Words("" if of.site == site else f" at {of.site}"),
    )

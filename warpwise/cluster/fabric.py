"""The fabric: pairs sends with receives, and carries their bytes.

A send waits for its receive (a rendezvous, as with NCCL), and its bytes are those at the time of
the call. Of two sends to one rank in one channel, the first belongs to the first receive."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from warpwise import messages
from warpwise.cluster.calls import Key
from warpwise.cluster.log import SentMessage
from warpwise.errors import MismatchError
from warpwise.messages import Lengths, Rank, TypeName, Words, message

Channel: TypeAlias = tuple[Key | None, int]  #: the collective, if it is one's, and the tag


@dataclass
class Side:
    """One side of a message. ``values``: a sender's copy; a receiver's once it is ``done``."""

    number: int
    rank: int
    peer: int
    sends: bool
    word: str  #: the call that it belongs to
    site: str
    shape: tuple[int, ...]
    dtype: np.dtype
    tag: int = 0
    values: np.ndarray | None = None
    done: bool = False

    @property
    def got(self) -> np.ndarray:
        """What was received."""
        assert self.values is not None  # it is done
        return self.values


class Fabric:
    """The sides that wait for their other, and the messages so far."""

    def __init__(self) -> None:
        self.messages: list[SentMessage] = []
        self.waiting: dict[Hashable, deque[Side]] = {}
        self.sides = 0

    def post(self, side: Side, channel: Channel) -> None:
        """Pair a side with its other, if that is there, or let it wait.

        Raises MismatchError if their shapes or types differ."""
        ends = (side.rank, side.peer) if side.sends else (side.peer, side.rank)
        queue = self.waiting.setdefault((*ends, channel), deque())
        if queue and queue[0].sends != side.sends:
            self._join(*((side, queue.popleft()) if side.sends else (queue.popleft(), side)))
        else:
            queue.append(side)

    def _join(self, sent: Side, received: Side) -> None:
        if (sent.shape, sent.dtype) != (received.shape, received.dtype):
            raise MismatchError(unlike(sent, received))
        received.values = sent.values
        sent.done = received.done = True
        nbytes = sent.got.nbytes
        self.messages.append(
            SentMessage(
                sent.rank, sent.peer, nbytes, sent.number, received.number, sent.word, sent.site
            )
        )


def unlike(sent: Side, received: Side) -> messages.Message:
    return message(
        "{sender} sends {shape} of {dtype} at {there}, and {receiver} receives {room} of {other} "
        "at {here}",
        sender=Rank(sent.rank),
        shape=Lengths(sent.shape),
        dtype=TypeName(sent.dtype),
        there=Words(sent.site),
        receiver=Rank(received.rank),
        room=Lengths(received.shape),
        other=TypeName(received.dtype),
        here=Words(received.site),
    )

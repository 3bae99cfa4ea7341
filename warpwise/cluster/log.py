"""The log of a run: what each rank did and sent, in the order of its own program, without times.

Programs cannot ask for the time, so what they do does not depend on it: ``clock`` times a log
afterwards, over any topology. A rank has one track for its program and one for each collective,
which goes on beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from warpwise.metrics import Metrics


@dataclass(frozen=True)
class Spent:
    """Work of the rank itself. ``metrics``: the counters of a kernel, None for other work."""

    seconds: float
    what: str
    site: str
    metrics: Metrics | None = None


@dataclass(frozen=True)
class Posted:
    """One side of a message is ready: its bytes, or room for them."""

    side: int


@dataclass(frozen=True)
class Awaited:
    """The track goes on when these sides are done."""

    sides: tuple[int, ...]


@dataclass(frozen=True)
class Started:
    """A collective begins on a track of its own."""

    track: int


@dataclass(frozen=True)
class Joined:
    """The track goes on when a collective is done."""

    track: int


Step: TypeAlias = Spent | Posted | Awaited | Started | Joined


@dataclass(frozen=True)
class SentMessage:
    """Bytes from one rank to another. ``sent``, ``received``: the numbers of its two sides.

    ``what``: the call that it belongs to, such as "all_reduce"; ``site``: the sender's."""

    source: int
    target: int
    nbytes: int
    sent: int
    received: int
    what: str
    site: str


@dataclass(frozen=True)
class Call:
    """A rank's part in a collective; calls of one collective have the same ``key``.

    ``nbytes``: of the whole array, such as that which is reduced. ``steps``: rounds of messages in
    which this rank took part."""

    key: tuple[tuple[int, ...], int]
    word: str
    nbytes: int
    steps: int


@dataclass(frozen=True)
class Track:
    """What one rank does in order. ``after``: the track of its collective before, None without."""

    rank: int
    steps: tuple[Step, ...]
    site: str = ""
    call: Call | None = None  #: None for the track of its program
    after: int | None = None


@dataclass(frozen=True)
class Log:
    """The tracks of all ranks, their programs' first, by rank; and the messages."""

    ranks: int
    tracks: tuple[Track, ...] = field(repr=False)
    messages: tuple[SentMessage, ...] = field(repr=False)

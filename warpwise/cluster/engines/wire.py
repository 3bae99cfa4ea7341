"""The wire: messages of one rank to ranks in other processes, in place of the fabric.

A sender announces a message by a head: its channel, call, shape and type. The receiver takes the
bytes once its program receives in that channel; so a send waits for its receive, as with NCCL,
and calls that do not fit are found. Reading a head runs nothing of what is in it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np

from warpwise.cluster.calls import Part, Register, compare
from warpwise.cluster.fabric import Channel, Fabric, Side, unlike
from warpwise.errors import ClusterError, MismatchError

HEAD = 4096  #: bytes of a head
LONGEST = 120  #: characters of a value in a head
HEADS = 0  #: the tag of heads; those of bytes count from 1 on, and begin again
TAGS = 30_000  #: MPI promises 32,767
ENDED: list[Any] = []  #: the head of a rank that sends no more
NO_CALL = Part(0, "", "", {})  #: in place of a collective, of a message of the program's own

Done: TypeAlias = Callable[[], bool]
Ends: TypeAlias = tuple[int, str]  #: another rank, and the name of a channel


class GoneError(ClusterError):
    """A process that is not there any more."""


class Transport(Protocol):
    """An engine: bytes from process to process. Of two with one tag, the first arrives first."""

    rank: int
    ranks: int

    def send(self, data: np.ndarray, to: int, tag: int) -> Done:
        """Start to send bytes; return what says whether they are received, or a head is sent."""

    def receive(self, room: np.ndarray, sender: int, tag: int) -> Done:
        """Start to receive bytes; return what says whether they are there."""

    def close(self) -> None:
        """Leave the others, of whom nothing is expected any more."""

    def abort(self, error: Exception) -> None:
        """Tell an error, and end the processes of all ranks; do nothing if a launcher will."""


class Wire(Fabric):
    """What one rank has sent, announced and received."""

    def __init__(self, transport: Transport, register: Register):
        super().__init__()
        self.transport, self.register = transport, register
        self.heads: dict[int, tuple[np.ndarray, Done]] = {}
        self.announced: dict[Ends, deque[list[Any]]] = {}
        self.expected: dict[Ends, deque[tuple[Side, Part]]] = {}
        self.under_way: list[tuple[Done, np.ndarray, Side | None]] = []
        self.sent = Counter[int]()
        self.peers = [one for one in range(transport.ranks) if one != transport.rank]
        for peer in self.peers:
            self._await_head(peer)

    def post(self, side: Side, channel: Channel) -> None:
        """Announce a message and send it, or let it be received once it is announced."""
        name = _name(channel)
        part = self.register.parts[channel[0]][side.rank] if channel[0] else NO_CALL
        if side.sends:
            self._send(side, name, part)
        else:
            self.expected.setdefault((side.peer, name), deque()).append((side, part))
            self._match(side.peer, name)

    def progress(self) -> bool:
        """Take what has come; return whether anything has. Raises MismatchError, DeadlockError."""
        moved = False
        for peer, (room, done) in list(self.heads.items()):
            if done():
                moved = True
                self._read(peer, json.loads(room.tobytes().rstrip(b"\0")))
        rest = []
        for done, data, side in self.under_way:
            if not done():
                rest.append((done, data, side))
            elif side is not None:
                moved = True
                if not side.sends:
                    side.values = np.frombuffer(data.tobytes(), side.dtype, _size(side.shape))
                    side.values = side.values.reshape(side.shape)
                side.done = True
        self.under_way = rest
        return moved

    def has_ended(self, peer: int) -> bool:
        """Return whether a rank has said that it sends no more."""
        return peer not in self.heads and peer != self.transport.rank

    def is_in_vain(self, side: Side) -> bool:
        """Return whether a side waits to receive what a rank that has ended never sent."""
        queues = (queue for ends, queue in self.expected.items() if ends[0] == side.peer)
        return self.has_ended(side.peer) and any(side is one for q in queues for one, _ in q)

    def say_end(self) -> None:
        """Tell all that nothing more is sent from here."""
        for peer in self.peers:
            self._send_head(peer, ENDED)

    @property
    def all_ended(self) -> bool:
        """True once all have ended, and what was sent has arrived."""
        return not self.heads and not self.under_way

    def _await_head(self, peer: int) -> None:
        room = np.zeros(HEAD, np.uint8)
        self.heads[peer] = room, self.transport.receive(room, peer, HEADS)

    def _read(self, peer: int, head: list[Any]) -> None:
        if head == ENDED:
            del self.heads[peer]
            return
        self._await_head(peer)
        name = head[1]
        self.announced.setdefault((peer, name), deque()).append(head)
        self._match(peer, name)

    def _send(self, side: Side, name: str, part: Part) -> None:
        self.sent[side.peer] += 1
        number = self.sent[side.peer]
        details = {one: _short(value) for one, value in part.details.items()}
        call = [side.word, side.site[:LONGEST], side.shape, side.dtype.str, details]
        self._send_head(side.peer, [number, name, *call])
        data = np.frombuffer(side.got.tobytes() or b"\0", np.uint8).copy()
        self.under_way.append((self.transport.send(data, side.peer, _tag(number)), data, side))

    def _send_head(self, peer: int, head: list[Any]) -> None:
        data = np.zeros(HEAD, np.uint8)
        text = json.dumps(head, ensure_ascii=False).encode()
        data[: len(text)] = np.frombuffer(text, np.uint8)
        self.under_way.append((self.transport.send(data, peer, HEADS), data, None))

    def _match(self, peer: int, name: str) -> None:
        """Take the bytes of announced messages that the program receives."""
        heads = self.announced.setdefault((peer, name), deque())
        sides = self.expected.setdefault((peer, name), deque())
        while heads and sides:
            head, (side, part) = heads.popleft(), sides.popleft()
            _check(side, part, head)
            room = np.zeros(max(1, _size(side.shape) * side.dtype.itemsize), np.uint8)
            done = self.transport.receive(room, peer, _tag(head[0]))
            self.under_way.append((done, room, side))
        if not heads:
            del self.announced[peer, name]
        if not sides:
            del self.expected[peer, name]


def _check(side: Side, own: Part, head: list[Any]) -> None:
    """Raise MismatchError or DeadlockError unless a side fits what is announced to it."""
    number, _, word, site, shape, dtype, details = head
    if own.word:
        mine = {one: _short(value) for one, value in own.details.items()}
        parts = Part(side.rank, own.word, own.site, mine), Part(side.peer, word, site, details)
        compare(*sorted(parts, key=lambda part: part.rank))
    if (tuple(shape), np.dtype(dtype)) != (side.shape, side.dtype):
        ends = side.peer, side.rank
        sent = Side(number, *ends, True, word, site, tuple(shape), np.dtype(dtype))
        raise MismatchError(unlike(sent, side))


def _name(channel: Channel) -> str:
    """Return a short name of a channel, the same on all ranks."""
    return hashlib.sha256(repr(channel).encode()).hexdigest()[:24]


def _tag(number: int) -> int:
    return 1 + number % TAGS


def _size(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64))


def _short(value: object) -> str:
    """Return a value as heads carry it: the words, or their begin and a digest."""
    text = str(value)
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - 20]} ... {hashlib.sha256(text.encode()).hexdigest()[:12]}"

"""Collectives, written out of copies between neighbours: what each rank sends in which round.

Each is a generator of one rank: it yields the sides of its messages, goes on when they are done,
and returns what the rank has then. ``p`` ranks, ``S`` bytes in all, ``a`` a message's latency and
``W`` bytes per second of a link:

===============  ==========================  =======  ==================================
collective       way                         rounds   time on links that nobody shares
===============  ==========================  =======  ==================================
reduce_scatter   ring                        p - 1    (p-1) a + (p-1)/p S/W
all_gather       ring                        p - 1    the same
all_reduce       ring: the two together      2(p-1)   2(p-1) a + 2 (p-1)/p S/W
all_reduce       tree: to rank 0 and back    2 log p  2 log p (a + S/W)
all_reduce       doubling, p a power of two  log p    log p (a + S/W)
broadcast        tree                        log p    log p (a + S/W)
all_to_all       a partner for each round    p - 1    (p-1) a + (p-1)/p S/W
barrier          dissemination               log p    a log p
===============  ==========================  =======  ==================================

(Thakur, Rabenseifner and Gropp 2005; ``log p`` is rounded up.) The order of a sum is fixed, so that
a run repeats bit by bit and all ranks have the same bits. Piece ``c`` of a ring's sum begins with
rank c + 1 and goes around to rank c: ((x[c+1] + x[c+2]) + ...) + x[c]. In the tree and by doubling
the lower rank stands on the left: (x[0] + x[1]) + (x[2] + x[3]) ..., and by doubling a rank beyond
the last power of two joins its partner first and hears from it at the end: two rounds more."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Protocol, TypeAlias

import numpy as np

from warpwise.cluster.fabric import Side

Reduce: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]
Arrays: TypeAlias = list[np.ndarray]


Rounds: TypeAlias = Generator[tuple[Side, ...], None, Arrays]


class Member(Protocol):
    """A rank's place in a group, whose members are numbered from 0 on."""

    number: int
    size: int

    def send(self, array: np.ndarray, to: int) -> Side:
        """Post a copy of an array to a member."""

    def receive(self, like: np.ndarray, sender: int) -> Side:
        """Post room for an array of this shape and type from a member."""


def reduce_scatter(me: Member, pieces: Sequence[np.ndarray], add: Reduce) -> Rounds:
    """Return the sum of all members' piece of my number."""
    p, held = me.size, list(pieces)
    for step in range(1, p):
        out, into = (me.number - step) % p, (me.number - step - 1) % p
        sent = me.send(held[out], (me.number + 1) % p)
        room = me.receive(held[into], (me.number - 1) % p)
        yield sent, room
        held[into] = add(room.got, held[into])
    return [held[me.number]]


def all_gather(me: Member, pieces: Sequence[np.ndarray]) -> Rounds:
    """Return all members' pieces. Of ``pieces``, mine has values, and others shape and type."""
    p, held = me.size, list(pieces)
    for step in range(p - 1):
        out, into = (me.number - step) % p, (me.number - step - 1) % p
        sent = me.send(held[out], (me.number + 1) % p)
        room = me.receive(held[into], (me.number - 1) % p)
        yield sent, room
        held[into] = room.got
    return held


def ring_all_reduce(me: Member, array: np.ndarray, add: Reduce) -> Rounds:
    """Return the sum of all members' arrays: a reduce-scatter, and an all-gather of its pieces."""
    pieces = np.array_split(array.reshape(-1), me.size)
    pieces[me.number : me.number + 1] = yield from reduce_scatter(me, pieces, add)
    gathered = yield from all_gather(me, pieces)
    return [np.concatenate(gathered).reshape(array.shape)]


def tree_all_reduce(me: Member, array: np.ndarray, add: Reduce) -> Rounds:
    """Return the sum of all members' arrays: added up a binomial tree, and sent down again."""
    held, reach = array, 1
    while reach < me.size and me.number % (2 * reach) == 0:
        if me.number + reach < me.size:
            room = me.receive(held, me.number + reach)
            yield (room,)
            held = add(held, room.got)
        reach *= 2
    if me.number:
        yield (me.send(held, me.number - reach),)
    return (yield from broadcast(me, held, 0))


def doubling_all_reduce(me: Member, array: np.ndarray, add: Reduce) -> Rounds:
    """Return the sum of all members' arrays, each exchanged with the member 1, 2, 4 ... away.

    Members beyond the last power of two hand theirs to a partner first, and get the sum last."""
    held, power = array, 1 << me.size.bit_length() - 1
    extra = me.size - power
    if me.number >= power:
        yield (me.send(held, me.number - power),)
    elif me.number < extra:
        room = me.receive(held, me.number + power)
        yield (room,)
        held = add(held, room.got)
    reach = 1
    while reach < power and me.number < power:
        partner = me.number ^ reach
        sent, room = me.send(held, partner), me.receive(held, partner)
        yield sent, room
        pair = (held, room.got) if me.number < partner else (room.got, held)
        held, reach = add(*pair), 2 * reach
    if me.number >= power:
        room = me.receive(held, me.number - power)
        yield (room,)
        held = room.got
    elif me.number < extra:
        yield (me.send(held, me.number + power),)
    return [held]


def broadcast(me: Member, array: np.ndarray, root: int) -> Rounds:
    """Return the root's array, sent down a binomial tree: who has it doubles in each round."""
    p, mine, held = me.size, (me.number - root) % me.size, array
    reach = 1
    while reach < p:
        if mine < reach and mine + reach < p:
            yield (me.send(held, (me.number + reach) % p),)
        elif reach <= mine < 2 * reach:
            room = me.receive(array, (me.number - reach) % p)
            yield (room,)
            held = room.got
        reach *= 2
    return [held]


def all_to_all(me: Member, pieces: Sequence[np.ndarray], room_for: Sequence[np.ndarray]) -> Rounds:
    """Return from each member its piece of my number; in round k my partners are k away."""
    p, found = me.size, list(pieces)
    for step in range(1, p):
        to, sender = (me.number + step) % p, (me.number - step) % p
        sent, room = me.send(pieces[to], to), me.receive(room_for[sender], sender)
        yield sent, room
        found[sender] = room.got
    return found


def barrier(me: Member) -> Rounds:
    """Return when all members are here: in round k each tells the member 2^k further."""
    nothing, reach = np.zeros(0, np.uint8), 1
    while reach < me.size:
        sent = me.send(nothing, (me.number + reach) % me.size)
        room = me.receive(nothing, (me.number - reach) % me.size)
        yield sent, room
        reach *= 2
    return []


ALL_REDUCE = {"ring": ring_all_reduce, "tree": tree_all_reduce, "doubling": doubling_all_reduce}

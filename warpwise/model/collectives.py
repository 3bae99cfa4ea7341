"""Collectives by the alpha-beta model: who sends what in which round, and what that costs.

A message takes ``latency_s`` seconds and its bytes over ``bytes_per_s`` of a link (Hockney 1994,
Parallel Computing 20); rounds follow one another, and nobody shares a link (Thakur, Rabenseifner
and Gropp 2005). ``p`` ranks with ``nbytes`` bytes each, before a reduction or after a gathering.
``warpwise.cluster`` carries the same rounds out, and tests hold the two together. Left out: adding,
several rings at once, slices of a message, and reduction in a switch."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2

from warpwise.model.arguments import one_of, whole

WAYS = (
    "ring all-reduce",
    "tree all-reduce",
    "reduce-scatter",
    "all-gather",
    "all-to-all",
    "broadcast",
)
MOST_RANKS = 65_536

#: busbw of nccl-tests over algbw, bytes by time: what a link carries of each byte, by ``p``
BUS = {
    "all-reduce": lambda p: 2 * (p - 1) / p,
    "reduce-scatter": lambda p: (p - 1) / p,
    "all-gather": lambda p: (p - 1) / p,
    "all-to-all": lambda p: (p - 1) / p,
    "broadcast": lambda p: 1.0,
}


@dataclass(frozen=True)
class Cost:
    """One collective: rounds of messages, and the bytes that the busiest rank sends in all."""

    rounds: int
    most_bytes_sent: float
    message_bytes: float  #: of each message on the longest way

    def seconds(self, latency_s: float, bytes_per_s: float) -> float:
        """Return the time of all rounds, one after the other."""
        return self.rounds * (latency_s + self.message_bytes / bytes_per_s)


def cost(way: str, p: int, nbytes: float) -> Cost:
    """Return the cost of one of ``WAYS`` among ``p`` ranks. Raises LaunchError for others.

    A tree's root sends and receives a whole array in each of its rounds, up and down again."""
    one_of("way", way, WAYS)
    whole("p", p, 1, MOST_RANKS)
    piece, levels = nbytes / p, ceil(log2(p))
    if way == "ring all-reduce":
        return Cost(2 * (p - 1), 2 * (p - 1) * piece, piece)
    if way in ("reduce-scatter", "all-gather", "all-to-all"):
        return Cost(p - 1, (p - 1) * piece, piece)
    rounds = levels * (2 if way == "tree all-reduce" else 1)
    return Cost(rounds, levels * nbytes, float(nbytes))


def crossover_bytes(p: int, latency_s: float, bytes_per_s: float) -> float:
    """Return the bytes from which a ring all-reduce is faster than a tree; infinity for never."""
    ring, tree = cost("ring all-reduce", p, 1), cost("tree all-reduce", p, 1)
    saved = tree.rounds * tree.message_bytes - ring.rounds * ring.message_bytes
    waited = (ring.rounds - tree.rounds) * latency_s * bytes_per_s
    return max(0.0, waited / saved) if saved > 0 else float("inf")


@dataclass(frozen=True)
class Send:
    """A message of one round. ``piece``: of 0 to p - 1, or -1 for the whole array."""

    source: int
    target: int
    piece: int


def sends(way: str, p: int) -> tuple[tuple[Send, ...], ...]:
    """Return the messages of each round. Piece ``c`` of a ring's sum ends with rank ``c``.

    Raises LaunchError for another way, or fewer than 2 ranks."""
    one_of("way", way, WAYS)
    whole("p", p, 2, MOST_RANKS)
    scatter = [tuple(Send(r, (r + 1) % p, (r - k) % p) for r in range(p)) for k in range(1, p)]
    gather = [tuple(Send(r, (r + 1) % p, (r - k) % p) for r in range(p)) for k in range(p - 1)]
    reaches = [2**k for k in range(ceil(log2(p)))]
    up = [tuple(Send(r, r - reach, -1) for r in range(reach, p, 2 * reach)) for reach in reaches]
    down = [
        tuple(Send(r, r + reach, -1) for r in range(min(reach, p - reach))) for reach in reaches
    ]
    exchange = [tuple(Send(r, (r + k) % p, (r + k) % p) for r in range(p)) for k in range(1, p)]
    return tuple(
        {
            "ring all-reduce": scatter + gather,
            "tree all-reduce": up + down,
            "reduce-scatter": scatter,
            "all-gather": gather,
            "all-to-all": exchange,
            "broadcast": down,
        }[way]
    )


def ring_seconds(way: str, p: int, nbytes: float, latency_s: float, bytes_per_s: float) -> float:
    """Return the time over a ring of ``p`` ranks with links both ways, round by round.

    A message takes the shorter way, of two equal ones upwards, and a latency for each hop; what
    shares a link waits for its turn, and a round for its slowest message."""
    piece, total = nbytes / p, 0.0
    for each in sends(way, p):
        loads: dict[tuple[int, int], float] = {}
        most = 0
        for one in each:
            up = (one.target - one.source) % p
            step, hops = (1, up) if up <= p - up else (-1, p - up)
            most = max(most, hops)
            for k in range(hops):
                link = (one.source + k * step) % p, step
                loads[link] = loads.get(link, 0.0) + (nbytes if one.piece < 0 else piece)
        total += most * latency_s + max(loads.values()) / bytes_per_s
    return total

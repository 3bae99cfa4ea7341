"""Pipelines of layers: when each stage works on which micro-batch, and what it holds meanwhile.

A stage's order is the schedule's; a pass begins when the stage is free and what it needs has come.
A micro-batch's forward pass through a stage takes 1 unit, its backward pass 2, half of them for the
gradient of the input and half for that of the weights. With ``chunks`` layers are dealt out so
often that each stage has several parts, whose passes are as much shorter. Sources: all forward
first (GPipe, arXiv 1811.06965), one forward one backward and interleaved (Narayanan et al. 2021,
arXiv 2104.04473), zero-bubble H1 (Qi et al. 2024, arXiv 2401.10241), in which the gradients of
weights wait for a gap. Left out: time for messages, and stages that are not equal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from warpwise.errors import LaunchError
from warpwise.model.arguments import one_of, whole

SCHEDULES = ("all forward", "1F1B", "interleaved", "zero-bubble")
INPUT, BACKWARD = "I", "B"  #: a backward pass for inputs alone, and a whole one
LENGTH = {"F": 1, INPUT: 1, "W": 1, BACKWARD: 2}


@dataclass(frozen=True)
class Pass:
    """One pass of a micro-batch through a stage's chunk. ``kind``: F, B, or halves of B: I, W."""

    stage: int
    kind: str
    micro: int
    chunk: int
    begins: int  #: in units of 1 / chunks
    ends: int


@dataclass(frozen=True)
class Schedule:
    """All passes, by stage in their order."""

    name: str
    stages: int
    micro_batches: int
    chunks: int
    passes: tuple[tuple[Pass, ...], ...]

    @property
    def total(self) -> Fraction:
        """Units from the first pass's begin to the last one's end."""
        return Fraction(max(stage[-1].ends for stage in self.passes), self.chunks)

    @property
    def bubble(self) -> Fraction:
        """The share of the total in which a stage has nothing to do."""
        return 1 - 3 * self.micro_batches / self.total

    @property
    def held(self) -> tuple[Fraction, ...]:
        """By stage: micro-batches whose activations it holds, at most, as parts of its layers."""
        return tuple(Fraction(_most_held(stage), self.chunks) for stage in self.passes)


def schedule(name: str, stages: int, micro_batches: int, chunks: int = 1) -> Schedule:
    """Return one of ``SCHEDULES``. Only "interleaved" takes ``chunks`` above 1, and from 2 on.

    Raises LaunchError for numbers that cannot be; "interleaved" needs whole rounds of stages."""
    one_of("name", name, SCHEDULES)
    p, m = whole("stages", stages, 1), whole("micro_batches", micro_batches, 1)
    v = whole("chunks", chunks, *((2, None) if name == "interleaved" else (1, 1)))
    if name == "interleaved" and m % p:
        raise LaunchError(f"{m} micro-batches are no whole rounds of {p} stages")
    orders = [ORDERS[name](stage, p, m, v) for stage in range(p)]
    return Schedule(name, p, m, v, _timed(orders, p, v))


def bubble_of_total(name: str, p: int, m: int, v: int = 1) -> Fraction:
    """Return the formula: gaps over gaps and work, (p-1)/(m+p-1) for "1F1B".

    That of "zero-bubble" holds for ``m`` from ``p`` on: with fewer micro-batches some gaps find
    nothing to fill them, and ``schedule`` has more. Raises LaunchError for another name, and for
    numbers below 1."""
    one_of("name", name, SCHEDULES)
    for what, number in (("p", p), ("m", m), ("v", v)):
        whole(what, number, 1)
    gaps = {
        "all forward": Fraction(p - 1),
        "1F1B": Fraction(p - 1),
        "interleaved": Fraction(p - 1, v),
        "zero-bubble": Fraction(p - 1, 3),
    }[name]
    return gaps / (m + gaps)


Order = list[tuple[str, int, int]]  #: kind, micro-batch, chunk


def _all_forward(stage: int, p: int, m: int, v: int) -> Order:
    return [("F", k, 0) for k in range(m)] + [(BACKWARD, k, 0) for k in range(m)]


def _one_each(stage: int, p: int, m: int, v: int) -> Order:
    """Return forward passes until the pipeline is full, then one of each kind in turn."""
    forward = [("F", *_virtual(k, p, v, False)) for k in range(m * v)]
    backward = [(BACKWARD, *_virtual(k, p, v, True)) for k in range(m * v)]
    ahead = p - 1 - stage if v == 1 else 2 * (p - 1 - stage) + (v - 1) * p
    ahead = min(ahead, m * v)
    turns = [one for pair in zip(forward[ahead:], backward, strict=False) for one in pair]
    return forward[:ahead] + turns + backward[m * v - ahead :]


def _halves(stage: int, p: int, m: int, v: int) -> Order:
    """Return "1F1B" with backward passes in halves; stage s is s weights' gradients behind.

    So all stages hold p micro-batches, as the first one does anyway."""
    ahead = min(p - 1 - stage, m)
    order: Order = [("F", k, 0) for k in range(ahead)]
    for k in range(m):
        order += [("F", k + ahead, 0)] if k + ahead < m else []
        order += [(INPUT, k, 0)]
        order += [("W", k - stage, 0)] if k >= stage else []
    return order + [("W", k, 0) for k in range(max(0, m - stage), m)]


def _virtual(k: int, p: int, v: int, backward: bool) -> tuple[int, int]:
    """Return the micro-batch and chunk of a stage's k-th pass: p micro-batches, chunk by chunk."""
    chunk = k % (p * v) // p
    micro = k // (p * v) * p + k % p
    return micro, v - 1 - chunk if backward else chunk


ORDERS: dict[str, Callable[[int, int, int, int], Order]] = {
    "all forward": _all_forward,
    "1F1B": _one_each,
    "interleaved": _one_each,
    "zero-bubble": _halves,
}


def _needs(kind: str, micro: int, chunk: int, stage: int, p: int, v: int) -> tuple[object, ...]:
    """Return the pass that has to end before: of the layers before, or behind."""
    layer = chunk * p + stage
    if kind == "F":
        return ("F", micro, layer - 1) if layer else ()
    if kind == "W":
        return (INPUT, micro, layer)
    return (kind, micro, layer + 1) if layer < p * v - 1 else ("F", micro, layer)


def _timed(orders: list[Order], p: int, v: int) -> tuple[tuple[Pass, ...], ...]:
    """Let each stage work through its order."""
    ended: dict[tuple[object, ...], int] = {(): 0}
    done: list[list[Pass]] = [[] for _ in range(p)]
    left = sum(map(len, orders))
    while left:
        for stage, order in enumerate(orders):
            while len(done[stage]) < len(order):
                kind, micro, chunk = order[len(done[stage])]
                need = _needs(kind, micro, chunk, stage, p, v)
                if need not in ended:
                    break
                free = done[stage][-1].ends if done[stage] else 0
                begins = max(free, ended[need])
                one = Pass(stage, kind, micro, chunk, begins, begins + LENGTH[kind])
                ended[kind, micro, chunk * p + stage] = one.ends
                done[stage].append(one)
                left -= 1
    return tuple(map(tuple, done))


def _most_held(stage: tuple[Pass, ...]) -> int:
    held = most = 0
    for one in stage:
        held += {"F": 1, BACKWARD: -1, "W": -1}.get(one.kind, 0)
        most = max(most, held)
    return most

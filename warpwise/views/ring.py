"""The stages of a ring in a recorded timeline: filled by copies, full, in use, and free again.

A stage goes by the mbarrier that counts its copies' bytes. It is in use from the end of the first
wait for its phase until the last arrival of a warp that waited, at another mbarrier with the same
index, as at ``empty[0]`` for ``full[0]``; where there is none, until the stage is filled again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Step = Any  #: of ``warpwise.hopper``: one span of one warp
Span = tuple[int, int, str, str]  #: begin and end in ticks, look, and words


@dataclass(frozen=True)
class Turn:
    """One use of a stage, in ticks: filled from ``begins``, ``full``, in use from ``used`` on."""

    phase: int
    begins: int
    full: int
    used: int
    ends: int

    @property
    def spans(self) -> list[Span]:
        """Return what a picture shows of it."""
        of = f"phase {self.phase}"
        found: list[Span] = [
            (self.begins, self.full, "one", f"{of} is filled"),
            (self.full, self.used, "faint", f"{of} is full"),
            (self.used, self.ends, "three", f"{of} is in use"),
        ]
        return [span for span in found if span[1] > span[0]]


@dataclass(frozen=True)
class Stage:
    """A stage, by the name of its mbarrier, with all its turns."""

    name: str
    turns: tuple[Turn, ...]

    @property
    def spans(self) -> list[Span]:
        return [span for turn in self.turns for span in turn.spans]


def barrier_of(copy: Step) -> str:
    """Return the mbarrier that counts a copy: its ``detail`` is "a[stage] -> full[0]"."""
    return str(copy.detail.rpartition("-> ")[2])


def stages(steps: Iterable[Step]) -> tuple[Stage, ...]:
    """Return the stages that copies fill, in the order of their first use."""
    steps = tuple(steps)
    copies: dict[str, dict[int, list[Step]]] = {}
    for step in sorted(steps, key=lambda step: step.begin):
        if step.word == "tma_load":
            copies.setdefault(barrier_of(step), {}).setdefault(step.phase, []).append(step)
    return tuple(Stage(name, _turns(name, fills, steps)) for name, fills in copies.items())


def _turns(name: str, fills: dict[int, list[Step]], steps: tuple[Step, ...]) -> tuple[Turn, ...]:
    last = max(step.end for step in steps)
    begins = [min(copy.begin for copy in copies) for copies in fills.values()]
    made = []
    for (phase, copies), until in zip(fills.items(), [*begins[1:], last], strict=True):
        full = max(copy.end for copy in copies)
        waits = [
            step
            for step in steps
            if (step.word, step.detail, step.phase) == ("mbarrier_try_wait", name, phase)
        ]
        used = min((wait.end for wait in waits), default=until)
        ends = _released(name, {wait.warp for wait in waits}, used, until, steps)
        made.append(Turn(phase, min(copy.begin for copy in copies), full, used, ends))
    return tuple(made)


def _released(name: str, warps: set[int], used: int, until: int, steps: tuple[Step, ...]) -> int:
    """Return the tick of the last arrival that gives a stage back, or ``until``."""
    index = name.partition("[")[2]
    arrivals = [
        step.end
        for step in steps
        if step.word == "mbarrier_arrive"
        and step.warp in warps
        and step.detail != name
        and step.detail.partition("[")[2] == index
        and used <= step.begin < until
    ]
    return max(arrivals, default=until)

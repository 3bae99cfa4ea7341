"""The timeline of a block's warps: what each did, waited for, and had done for it, in ticks.

Ticks are those of ``machine.async_events``: an order of events with gaps where warps wait, and no
time of a GPU. A copy or a product is a step of the unit that does it."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.simt.machine.async_events import AsyncEvent
from warpwise.simt.machine.observer import Observer

KINDS = {
    "mbarrier_try_wait": "wait",
    "wgmma_wait_group": "wait",
    "tma_store_wait_group": "wait",
    "tma_load": "copy",
    "tma_store": "copy",
    "wgmma_mma_async": "product",
}


@dataclass(frozen=True)
class Step:
    """A span of a warp's timeline: ``kind`` is "wait", "copy", "product" or "word".

    ``phase``: its number, of the mbarrier that ``detail`` names, or None; ``text``: the line's."""

    warp: int
    kind: str
    word: str
    begin: int
    end: int
    detail: str
    line: int
    phase: int | None = None
    text: str = ""


class Timeline(Observer):
    """Keeps the steps of one block, the first unless it is told another."""

    def __init__(self, block: int = 0):
        self.block = block
        self.steps: list[Step] = []

    def asynchronous(self, event: AsyncEvent) -> None:
        if event.mask.group.first != self.block:
            return
        kind = KINDS.get(event.word, "word")
        step = event.warp, kind, event.word, event.begin, event.end, event.detail
        phase = event.phase[1] if event.phase else None
        self.steps.append(Step(*step, event.site.line, phase, event.site.text.strip()))

    def of(self, warp: int) -> list[Step]:
        """Return the steps of one warp."""
        return [step for step in self.steps if step.warp == warp]

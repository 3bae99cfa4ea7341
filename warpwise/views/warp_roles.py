"""The warp roles widget: what each warp of a block did, waited for and had done for it, in order.

Drawn from a ``warpwise.hopper.Timeline``. A warp is a producer if it starts TMA copies to shared
memory, a consumer if it starts products; warps that did the same at the same ticks share a row.
Ticks are the simulator's order of events, and no clock: nothing here says how long a GPU takes.
Left out are words that are not ``hopper``'s, such as ``cuda.syncthreads`` and the arithmetic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from warpwise.errors import LaunchError
from warpwise.model.arguments import quantity, whole
from warpwise.views import ring
from warpwise.views.controls import Player
from warpwise.views.frame import Frame
from warpwise.views.view import Json, View

Timeline = Any  #: of ``warpwise.hopper``, which no picture runs
Step = Any  #: likewise: one span of one warp

MOST_TICKS = 1500  #: that a view carries
ASKS = Frame("Warps by role.", "Which warps wait, at which mbarriers, and what ends it?", ())
ROLES = ("Producer", "Consumers", "Copies and products", "Other warps")
LOOKS = {"wait": "hatched", "copy": "one", "product": "three", "word": "grey"}
#: By word of ``hopper``: what happens at it; ``{}`` is the step's detail.
ACTS = {
    "wgmma_wait_group": "wait for products",
    "tma_store_wait_group": "wait for copies to global memory",
    "tma_load": "copy {} starts",
    "tma_store": "copy of {} to global memory starts",
    "wgmma_mma_async": "product into {} starts",
    "mbarrier_init": "an mbarrier is made",
    "mbarrier_arrive": "arrival at {}",
    "mbarrier_expect_tx": "{} expects more bytes",
    "wgmma_fence": "fence before products",
    "wgmma_commit_group": "group of products closed",
    "tma_store_commit_group": "group of copies closed",
    "fence_proxy_async": "fence before a unit reads",
}


@dataclass(frozen=True)
class Row:
    """Warps that did the same at the same ticks."""

    warps: tuple[int, ...]
    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        """Its warps: "warp 4", "warps 1 to 3", "warps 0, 2"."""
        first, last = self.warps[0], self.warps[-1]
        if first == last:
            return f"warp {first}"
        dense = last - first == len(self.warps) - 1
        return "warps " + (f"{first} to {last}" if dense else ", ".join(map(str, self.warps)))

    @property
    def role(self) -> str:
        words = {step.word for step in self.steps}
        copies, multiplies = "tma_load" in words, "wgmma_mma_async" in words
        if copies and multiplies:
            return ROLES[2]
        return ROLES[0] if copies else ROLES[1] if multiplies else ROLES[3]


def of_timeline(timeline: Timeline, tick: int = 0) -> View:
    """Show a recorded timeline, opened at a tick.

    Raises LaunchError for a tick that it does not have, and for what is no timeline."""
    if not isinstance(getattr(timeline, "steps", None), (list, tuple)):
        raise LaunchError(
            "give it the timeline that watched the launch: timeline = hopper.Timeline(), and "
            "trace(..., observers=[timeline])"
        )
    steps = [step for step in timeline.steps if step.begin < MOST_TICKS]
    if not steps:
        nothing = f"No warp of block {timeline.block} came to a word of warpwise.hopper."
        return View("warp_roles", {"nothing": nothing})
    end = max(step.end for step in steps)
    data = {
        "end": end,
        "rows": [_packed(row) for row in rows(steps)],
        "ring": [[stage.name, stage.spans] for stage in ring.stages(steps)],
        "lines": {str(step.line): step.text for step in steps},
        "facts": _facts(steps),
    }
    player = Player("tick", "tick", 0, end - 1, whole("tick", tick, 0, end - 1))
    return View("warp_roles", data, (player,), _note(timeline.steps, end), frame=ASKS)


def rows(steps: Iterable[Step]) -> tuple[Row, ...]:
    """Return warps by role, those that did the same together."""
    by_warp: dict[int, list[Step]] = {}
    for step in steps:
        by_warp.setdefault(step.warp, []).append(step)
    alike: dict[tuple[object, ...], list[int]] = {}
    for warp in sorted(by_warp):
        alike.setdefault(tuple(map(_without_warp, by_warp[warp])), []).append(warp)
    made = [Row(tuple(warps), tuple(by_warp[warps[0]])) for warps in alike.values()]
    return tuple(sorted(made, key=lambda row: (ROLES.index(row.role), row.warps)))


def act(step: Step) -> str:
    """Return what happens at a step, as a noun phrase or a short sentence."""
    if step.word == "mbarrier_try_wait":
        if step.phase is None:
            return f"{step.detail} is free from the start"
        waits = "wait for" if step.end - step.begin > 1 else "no wait for"
        return f"{waits} phase {step.phase} of {step.detail}"
    said = ACTS.get(step.word, f"{step.word} {{}}").format(step.detail).strip()
    return f"{said}, phase {step.phase}" if step.word == "mbarrier_arrive" else said


def _without_warp(step: Step) -> tuple[object, ...]:
    return step.word, step.begin, step.end, step.detail, step.line, step.phase


def _packed(row: Row) -> Json:
    """Pack a row: its own steps, and below them what units do for it meanwhile."""
    own = [[step.begin, _until(step), _look(step), act(step), step.line] for step in row.steps]
    under = [span for kind in ("copy", "product") for span in _under_way(row.steps, kind)]
    return {"role": row.role, "name": row.name, "steps": own, "under": under}


def _until(step: Step) -> int:
    """Return the tick from which the warp goes on."""
    return int(step.end if step.kind == "wait" else step.begin + 1)


def _look(step: Step) -> str:
    passes = step.kind == "wait" and step.end - step.begin == 1
    return "grey" if passes else LOOKS[step.kind]


def _under_way(steps: Iterable[Step], kind: str) -> list[list[object]]:
    """Return the spans in which copies, or products, are under way, with how many there are."""
    spans: list[list[Any]] = []
    for step in sorted((one for one in steps if one.kind == kind), key=lambda one: one.begin):
        if spans and step.begin <= spans[-1][1]:
            spans[-1][1:3] = max(spans[-1][1], step.end), spans[-1][2] + 1
        else:
            spans.append([step.begin, step.end, 1])
    return [[begin, end, LOOKS[kind], _counted(count, kind)] for begin, end, count in spans]


def _counted(count: int, kind: str) -> str:
    nouns = {"copy": ("copy", "copies"), "product": ("product", "products")}[kind]
    return f"{count} {nouns[count > 1]} under way"


def _note(steps: Iterable[Step], end: int) -> str:
    last = max(step.end for step in steps)
    if last == end:
        return ""
    return f'<p class="note">The first {end:,} of {last:,} ticks are shown.</p>'


def _facts(steps: list[Step]) -> list[list[object]]:
    """Return the copies to shared memory, and the products of whole warpgroups, counted."""
    copies = [step for step in steps if step.word == "tma_load"]
    products = sum(step.kind == "product" for step in steps)
    into = {ring.barrier_of(step) for step in copies}
    return [
        ["copies", len(copies), f"by TMA, counted by {quantity(len(into), 'mbarrier')}"],
        ["products", products // 4, "of a warpgroup"],
    ]

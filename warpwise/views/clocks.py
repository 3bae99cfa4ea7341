"""The clocks widget: where the clocks of a modelled launch go, as bars.

How busy each resource is, which source lines use the one that binds, what warps wait for, and the
time after each change that would help. The figures are those of an estimate, as
``trace(...).time(device)`` returns it: this module draws them, and works out nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warpwise.model.bound import duration
from warpwise.views.view import Json, View

#: What warps wait for under each of Nsight Compute's names.
MEANINGS = {
    "wait": "a fixed number of clocks",
    "long scoreboard": "data from global or local memory",
    "short scoreboard": "shared memory or a special function",
    "barrier": "the other warps of the block",
    "math pipe throttle": "an arithmetic pipe that is busy",
    "LG throttle": "room in the queue to global memory",
    "MIO throttle": "room in the queue of the load/store units",
    "branch resolving": "a branch's target",
    "not selected": "their turn",
}

Estimate = Any  #: of ``warpwise.stopwatch``, a layer above this one
Share = Any  #: likewise: a name, a share, and the text of a source line


@dataclass(frozen=True)
class Bar:
    """A bar: its name, its length as a share of the whole, the figure beside it.

    ``look``: a class of ``draw.css``. ``place``: of the name, "" beside the bar where there is
    room, "above" for a long one, "code" for source text, which stands above too."""

    name: str
    share: float
    figure: str
    look: str = "one"
    place: str = ""


@dataclass(frozen=True)
class Group:
    """Bars under a title; ``mark``: the share at which a dotted line crosses them, 0 for none."""

    title: str
    bars: tuple[Bar, ...]
    note: str = ""
    mark: float = 0.0

    @property
    def packed(self) -> Json:
        return vars(self) | {"bars": [vars(bar) for bar in self.bars]}


def of_estimate(found: Estimate) -> View:
    """Show where an estimate's clocks go; one that is a bound has nothing to show."""
    groups = [group.packed for group in _groups(found) if group.bars]
    label = f"Where the clocks of {found.kernel} go"
    return View("clocks", {"label": label, "groups": groups, "sentence": _said(found)})


def _groups(found: Estimate) -> tuple[Group, ...]:
    lines = "at which warps wait" if found.binds == "latency" else f"that use {found.binds}"
    return (
        Group(
            "How busy each resource is",
            tuple(_pipe(one, found) for one in found.pipes),
            f"share of the time; beyond {_percent(found.binding)} it can bind",
            found.binding,
        ),
        Group(f"Lines {lines}", tuple(_line(one) for one in found.lines)),
        Group(
            "What warps wait for",
            tuple(_wait(one) for one in found.waits),
            "share of all waiting, in Nsight Compute's words",
        ),
        Group("What would help", _changes(found), "time after each change alone"),
    )


def _said(found: Estimate) -> str:
    """Return what the bars show as a sentence."""
    parts = [f"{one.name} is busy for {_percent(one.share)} of the time" for one in found.pipes[:1]]
    whose = "all waiting" if found.binds == "latency" else "that"
    parts += [f"{_percent(one.share)} of {whose} is {one.name}" for one in found.lines[:1]]
    parts += [f"warps wait most for {MEANINGS[one.name]} ({one.name})" for one in found.waits[:1]]
    said = "; ".join(parts) or "only a bound"
    return f"{said[0].upper()}{said[1:]}. Modelled."


def _pipe(one: Share, found: Estimate) -> Bar:
    binds = one.name == found.binds
    name = f"{one.name} (binds)" if binds else one.name
    return Bar(name, one.share, _percent(one.share), "two" if binds else "one")


def _line(one: Share) -> Bar:
    name = f"{one.name}: {one.text}" if one.text else one.name
    return Bar(name, one.share, _percent(one.share), "two", "code")


def _wait(one: Share) -> Bar:
    name = f"{one.name}: {MEANINGS[one.name]}"
    return Bar(name, one.share, _percent(one.share), "three", "above")


def _changes(found: Estimate) -> tuple[Bar, ...]:
    """Return the time as it is, and after each change."""
    times = [("as it is", found.seconds, "grey")] if found.hints else []
    times += [
        (", ".join((f"with {hint.change}", *hint.lines)), hint.seconds, "one")
        for hint in found.hints
    ]
    return tuple(
        Bar(name, min(1.0, seconds / found.seconds), duration(seconds), look, "above")
        for name, seconds, look in times
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"

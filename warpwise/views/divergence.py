"""The divergence widget: source lines against the issue slots of one warp, and which of its 32 lanes are active in each slot.

``of_trace`` shows a traced kernel warp by warp. It is the timeline of a warp too: loads, stores, atomics, branches and barriers are marked
where they happen. ``explorer`` shows several traced kernels, to be compared. Everything is taken from the traces; what a slot is, and
what slots leave out, is said in ``timeline``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape

from warpwise.errors import LaunchError, TraceError
from warpwise.metrics import WARP_SIZE
from warpwise.model.arguments import counted
from warpwise.trace import Event, Trace
from warpwise.views.controls import Choice, Control, Player, Slider
from warpwise.views.timeline import Step, Timeline, timelines
from warpwise.views.view import View

MOST_STEPS = 4096  #: that a view carries, all warps together: keeps its data small
MARKS = {"load": "L", "store": "S", "atomic": "A", "branch": "?", "barrier": "B"}  #: letters in the picture, by kind of event

Block = tuple[int, int, int]
Blocks = dict[Block, list[Timeline]]

_DOCSTRING = re.compile(r'^\s*("""|\'\'\').*?\1', re.MULTILINE | re.DOTALL)


def of_trace(trace: Trace, block: Block | None = None, warp: int = 0) -> View:
    """The warps of a traced kernel's recorded blocks, one at a time. It opens on ``warp`` of ``block``, by default of the first recorded.

    Of a warp with very many steps the first can be chosen, and of very many blocks not all; the view says so. Raises TraceError if that
    block or warp is not recorded, or if the trace left events out.
    """
    blocks = _blocks(trace)
    first = next(iter(blocks)) if block is None else tuple(block)
    if first not in blocks:
        raise TraceError(f"block {first} of {trace.kernel} is not recorded; recorded blocks: {', '.join(map(str, blocks))}")
    kept = _that_fit({first: blocks[first]} | blocks)
    left = f"<p>{len(kept)} of the {len(blocks)} recorded blocks can be chosen.</p>" if len(kept) < len(blocks) else ""
    names = {str(i): str(block) for i, block in enumerate(kept)}
    return _view([(trace, kept)], warp, (Choice("block", "block", names, "0"),) if len(names) > 1 else (), left)


def explorer(traces: Mapping[str, Trace], label: str = "condition", warp: int = 0) -> View:
    """Traced kernels to choose from: the keys are what the choice says, ``label`` is what stands above it. It opens on the first.

    Of each trace the first recorded block is shown. Raises LaunchError without traces, and TraceError as ``of_trace`` does.
    """
    if not traces:
        raise LaunchError('explorer has no traces: give it some by name, as in explorer({"i < 4": trace(kernel, 1, 32, x)})')
    kernels = [(trace, dict([next(iter(_blocks(trace).items()))])) for trace in traces.values()]
    names = {str(i): escape(name) for i, name in enumerate(traces)}
    return _view(kernels, warp, (Choice("kernel", escape(label), names, "0"),))


def _view(kernels: list[tuple[Trace, Blocks]], warp: int, choices: tuple[Control, ...], above: str = "") -> View:
    """``choices``: the controls before those of warp and step. There is one of the warp only where there are several."""
    opened = next(iter(kernels[0][1].values()))
    if not 0 <= warp < len(opened):
        raise TraceError(f"warp is {warp}; the block has warps 0 to {len(opened) - 1}")
    packed = [_packed(trace, blocks, MOST_STEPS // len(kernels)) for trace, blocks in kernels]
    warps = max(len(block) for kernel in packed for block in kernel["blocks"])
    steps = len(packed[0]["blocks"][0][warp]["steps"])
    walk = (Slider("warp", "warp", 0, warps - 1, warp),) if warps > 1 else ()
    player = Player("step", "step", 1, steps, min(steps, _opens(opened[warp])))
    return View("divergence", {"kernels": packed}, (*choices, *walk, player), above)


def _blocks(trace: Trace) -> Blocks:
    """The timelines of a trace by block."""
    blocks: Blocks = {}
    for (block, _), timeline in timelines(trace).items():
        blocks.setdefault(block, []).append(timeline)
    if not blocks:
        raise TraceError(f"nothing of {trace.kernel} is recorded: trace it with record=(0,), and with a line that does something")
    return blocks


def _that_fit(blocks: Blocks) -> Blocks:
    """The first block, and of the others, in their order, as many as can be carried whole."""
    kept: Blocks = {}
    room = MOST_STEPS
    for block, warps in blocks.items():
        room -= sum(len(warp.steps) for warp in warps)
        if kept and room < 0:
            break
        kept[block] = warps
    return kept


def _opens(warp: Timeline) -> int:
    """The step to begin with, counted from 1: the first that leaves threads of the warp out, or else the first of all."""
    return next((i for i, step in enumerate(warp.steps, 1) if step.active.bit_count() < warp.threads), 1)


def _packed(trace: Trace, blocks: Blocks, most: int) -> dict:
    """A kernel for the script. A step names its line, its mask and its marks by their places in ``lines``, ``masks`` and ``marks``."""
    lines = _lines(trace.source)
    most = max(1, most // sum(len(warps) for warps in blocks.values()))
    masks: dict[int, int] = {}
    marks: dict[tuple, int] = {}

    def row(line: int) -> int:
        return max(0, bisect_right([number for number, *_ in lines], line) - 1)

    def packed(step: Step) -> tuple[int, int, int, int]:
        happened = _words(step.events), tuple(_letters((row(event.line), event.kind) for event in step.events).items())
        return row(step.line), step.slots, masks.setdefault(step.active, len(masks)), marks.setdefault(happened, len(marks))

    def warp(block: Block, number: int, of: Timeline) -> dict:
        return _warp(f"{trace.kernel}, block {block}, warp {number}", of, most) | {"steps": list(map(packed, of.steps[:most]))}

    carried = [[warp(block, number, of) for number, of in enumerate(warps)] for block, warps in blocks.items()]
    seen = {letter for _, places in marks for _, letters in places for letter in letters}
    key = [f"{letter}: {kind}" for kind, letter in MARKS.items() if letter in seen]
    return {"lines": lines, "masks": list(map(_mask, masks)), "marks": list(marks), "key": key, "blocks": carried}


def _warp(name: str, warp: Timeline, most: int) -> dict:
    """What the script needs of a warp besides its steps. What it says of all slots includes those of the steps past ``most``."""
    few = f" The warp has {counted(warp.threads, 'thread')}: its other lanes are never active." if warp.threads < WARP_SIZE else ""
    left = f" The first {most:,} of {len(warp.steps):,} steps can be chosen; all count at the end." if len(warp.steps) > most else ""
    return {"name": name, "all": warp.slots, "lanes": warp.lanes, "threads": warp.threads, "note": few + left}


def _lines(source: dict[int, str]) -> list[tuple[int, int, str]]:
    """Number, indent and text of the lines, without blank ones, comments and docstrings."""
    numbers = sorted(source)
    whole = "\n".join(source[number] for number in numbers)
    texts = _DOCSTRING.sub(lambda found: "\n" * found[0].count("\n"), whole).split("\n")
    code = [(number, text) for number, text in zip(numbers, texts, strict=True) if text.strip() and not text.lstrip().startswith("#")]
    indents = [len(text) - len(text.lstrip()) for _, text in code]
    return [(number, indent - min(indents), text.strip()) for (number, text), indent in zip(code, indents, strict=True)]


def _mask(mask: int) -> tuple[int, str, int]:
    """How many lanes are active, which these are in words, and the mask itself. Of many stretches: the first three and the last lane."""
    active = mask.bit_count()
    if active == WARP_SIZE:
        return active, "all 32 lanes active", mask
    stretches = [(found.start(), found.end() - 1) for found in re.finditer("1+", f"{mask:032b}"[::-1])]
    which = [f"{first} to {last}" if last > first else str(first) for first, last in stretches]
    if len(which) > 4:
        which = [*which[:3], f"and so on to {stretches[-1][1]}"]
    return active, f"{counted(active, 'active lane')} ({', '.join(which)}) and {WARP_SIZE - active} masked", mask


def _letters(happened: Iterable[tuple[int, str]]) -> dict[int, str]:
    """By row of the source, the letters of what happened there."""
    letters: dict[int, str] = {}
    for row, kind in happened:
        letters[row] = letters.get(row, "") + MARKS[kind]
    return letters


def _words(events: tuple[Event, ...]) -> str:
    """What happened in a step, as the end of a sentence."""
    return "".join(f"; {what}" + f" ({times} times)" * (times > 1) for what, times in Counter(map(_what, events)).items())


def _what(event: Event) -> str:
    count, taken = event.active.bit_count(), event.taken.bit_count()
    lanes = counted(count, "lane")
    match event.kind:
        case "branch":
            parts = f"the branch parts {lanes}: {taken} one way, {count - taken} the other"
            return parts if 0 < taken < count else f"at the branch {lanes} go one way"
        case "barrier":
            return f"barrier with {lanes}"
        case kind:
            return f"{kind} of {event.space} {event.array} by {lanes}"

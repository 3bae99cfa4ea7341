"""The divergence widget: a warp's issue slots by source line, and the active lanes in each slot.

``of_trace`` shows a traced kernel warp by warp. It is the timeline of a warp too: loads, stores,
atomics, branches and barriers are marked where they happen. ``explorer`` shows several traced
kernels, to be compared. Everything is taken from the traces; ``timeline`` says what a slot is, and
what slots leave out."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape

from warpwise.errors import LaunchError, TraceError
from warpwise.metrics import WARP_SIZE
from warpwise.model.arguments import quantity
from warpwise.traces import Event, Trace
from warpwise.views.controls import Choice, Control, Player, Slider
from warpwise.views.frame import Frame
from warpwise.views.sourcetable import heading
from warpwise.views.timeline import Step, Timeline, timelines
from warpwise.views.view import Json, View

MOST_STEPS = 4096  #: that a view carries, all warps together: keeps its data small
#: letters in the picture, by kind of event
MARKS = {
    "load": "L",
    "store": "S",
    "atomic": "A",
    "branch": "?",
    "barrier": "B",
    "copy": "C",
    "arrive": "R",
    "mma": "M",
}

Block = tuple[int, int, int]
Blocks = dict[Block, list[Timeline]]
#: of a step: its events in words, and by row of the source the letters of what happened there
Happened = tuple[str, tuple[tuple[int, str], ...]]

ASKS = Frame(
    "A warp at a branch.", "Which of its lanes work, and which only wait?", ("kernel", "warp")
)

_DOCSTRING = re.compile(r'^\s*("""|\'\'\').*?\1', re.MULTILINE | re.DOTALL)


def of_trace(
    trace: Trace,
    block: Block | None = None,
    warp: int = 0,
    line: int | None = None,
    last: bool = False,
) -> View:
    """Show the warps of a traced kernel's recorded blocks, one at a time.

    It opens on ``warp`` of ``block``, by default of the first recorded, and with ``line`` on the
    first step there, if possible one that leaves threads out, or on the ``last``. Of a warp with
    very many steps the first can be chosen, and of very many blocks not all; the view says so.
    Raises TraceError if that block or warp is not recorded, if the warp never was on the line, or
    if the trace left events out."""
    blocks = _blocks(trace)
    first = next(iter(blocks)) if block is None else tuple(block)
    if first not in blocks:
        recorded = ", ".join(map(str, blocks))
        raise TraceError(
            f"block {first} of {trace.kernel} is not recorded; recorded blocks: {recorded}"
        )
    kept = _that_fit({first: blocks[first]} | blocks)
    left = f"<p>{len(kept)} of the {len(blocks)} recorded blocks can be chosen.</p>"
    names = {str(i): str(block) for i, block in enumerate(kept)}
    choice = (Choice("block", "block", names, "0"),) if len(names) > 1 else ()
    return _view([(trace, kept)], warp, choice, left if len(kept) < len(blocks) else "", line, last)


def explorer(traces: Mapping[str, Trace], label: str = "condition", warp: int = 0) -> View:
    """Show traced kernels to choose from, beginning with the first.

    The keys are the words of the choice, and ``label`` stands above it. Of each trace the first
    recorded block is shown. Raises LaunchError without traces, and TraceError as ``of_trace``
    does."""
    if not traces:
        raise LaunchError(
            "explorer has no traces: give it some by name, as in "
            'explorer({"i < 4": trace(kernel, 1, 32, x)})'
        )
    kernels = [(trace, dict([next(iter(_blocks(trace).items()))])) for trace in traces.values()]
    names = {str(i): escape(name) for i, name in enumerate(traces)}
    return _view(kernels, warp, (Choice("kernel", escape(label), names, "0"),), frame=ASKS)


def _view(
    kernels: list[tuple[Trace, Blocks]],
    warp: int,
    choices: tuple[Control, ...],
    above: str = "",
    line: int | None = None,
    last: bool = False,
    frame: Frame | None = None,
) -> View:
    """Make the view. ``choices``: the controls before those of warp and step.

    There is a control of the warp only where there are several warps."""
    opened = next(iter(kernels[0][1].values()))
    if not 0 <= warp < len(opened):
        raise TraceError(f"warp is {warp}; the block has warps 0 to {len(opened) - 1}")
    packed = [_packed(trace, blocks, MOST_STEPS // len(kernels)) for trace, blocks in kernels]
    warps = max(len(block) for kernel in packed for block in kernel["blocks"])
    steps = len(packed[0]["blocks"][0][warp]["steps"])
    walk = (Slider("warp", "warp", 0, warps - 1, warp),) if warps > 1 else ()
    player = Player("step", "step", 1, steps, min(steps, _opens(opened[warp], line, last)))
    return View("divergence", {"kernels": packed}, (*choices, *walk, player), above, frame=frame)


def _blocks(trace: Trace) -> Blocks:
    """Return the timelines of a trace by block."""
    blocks: Blocks = {}
    for (block, _), timeline in timelines(trace).items():
        blocks.setdefault(block, []).append(timeline)
    if not blocks:
        raise TraceError(
            f"nothing of {trace.kernel} is recorded: "
            "trace it with record=(0,), and with a line that does something"
        )
    return blocks


def _that_fit(blocks: Blocks) -> Blocks:
    """Return the first block, and as many of the others, in order, as can be carried whole."""
    kept: Blocks = {}
    room = MOST_STEPS
    for block, warps in blocks.items():
        room -= sum(len(warp.steps) for warp in warps)
        if kept and room < 0:
            break
        kept[block] = warps
    return kept


def _opens(warp: Timeline, line: int | None, last: bool) -> int:
    """Return the step to begin with, from 1: the first that leaves threads out, if there is one.

    With ``last`` it is the last one, with or without all threads. With ``line``, only steps there
    are looked at. Raises TraceError if there are none."""
    able = [i for i, step in enumerate(warp.steps, 1) if line in (None, step.line)]
    if line is not None and not able:
        lines = ", ".join(map(str, sorted({step.line for step in warp.steps})))
        raise TraceError(f"the warp never was on line {line}; it was on {lines or 'none'}")
    if last and able:
        return able[-1]
    apart = (i for i in able if warp.steps[i - 1].active.bit_count() < warp.threads)
    return next(apart, able[0] if able else 1)


def _packed(trace: Trace, blocks: Blocks, most: int) -> Json:
    """Pack a kernel for the script.

    A step names its line, its mask and its marks by their places in ``lines``, ``masks`` and
    ``marks``."""
    numbers, lines = _lines(trace)
    most = max(1, most // sum(len(warps) for warps in blocks.values()))
    masks: dict[int, int] = {}
    marks: dict[Happened, int] = {}

    def row(line: int) -> int:
        return max(0, bisect_right(numbers, line) - 1)

    def packed(step: Step) -> tuple[int, int, int, int]:
        letters = _letters((row(event.line), event.kind) for event in step.events)
        mask = masks.setdefault(step.active, len(masks))
        mark = marks.setdefault((_words(step.events), tuple(letters.items())), len(marks))
        return row(step.line), step.slots, mask, mark

    def warp(block: Block, number: int, of: Timeline) -> Json:
        name = f"{trace.kernel}, block {block}, warp {number}"
        return _warp(name, of, most) | {"steps": list(map(packed, of.steps[:most]))}

    carried = [
        [warp(block, number, of) for number, of in enumerate(warps)]
        for block, warps in blocks.items()
    ]
    seen = {letter for _, places in marks for _, letters in places for letter in letters}
    key = [f"{letter}: {kind}" for kind, letter in MARKS.items() if letter in seen]
    return {
        "lines": lines,
        "masks": list(map(_mask, masks)),
        "marks": list(marks),
        "key": key,
        "blocks": carried,
    }


def _warp(name: str, warp: Timeline, most: int) -> Json:
    """Pack a warp without its steps. Its sums include the slots of the steps past ``most``."""
    note, steps = "", len(warp.steps)
    if warp.threads < WARP_SIZE:
        threads = quantity(warp.threads, "thread")
        note += f" The warp has {threads}: its other lanes are never active."
    if steps > most:
        note += f" The first {most:,} of {steps:,} steps can be chosen; all count at the end."
    sums = {"all": warp.slots, "lanes": warp.lanes, "threads": warp.threads}
    return {"name": name, **sums, "note": note}


def _lines(trace: Trace) -> tuple[list[int], list[tuple[str, int, str, str]]]:
    """Return the lines without blank ones, comments and docstrings, after their numbers.

    Of each: the number shown beside it, its indent, its text, and the line in words."""
    source, numbers = trace.source, sorted(trace.source)
    whole = "\n".join(source[number] for number in numbers)
    texts = _DOCSTRING.sub(lambda found: "\n" * found[0].count("\n"), whole).split("\n")
    code = [
        (number, text)
        for number, text in zip(numbers, texts, strict=True)
        if text.strip() and not text.lstrip().startswith("#")
    ]
    indents = [len(text) - len(text.lstrip()) for _, text in code]
    lines = [
        (
            trace.own_number(number),
            indent - min(indents),
            text.strip(),
            heading(trace.place(number)),
        )
        for (number, text), indent in zip(code, indents, strict=True)
    ]
    return [number for number, _ in code], lines


def _mask(mask: int) -> tuple[int, str, int]:
    """Return the number of active lanes, which these are in words, and the mask itself.

    Of many stretches the words name the first three and the last lane."""
    active = mask.bit_count()
    if active == WARP_SIZE:
        return active, "all 32 lanes active", mask
    found = re.finditer("1+", f"{mask:032b}"[::-1])
    stretches = [(lanes.start(), lanes.end() - 1) for lanes in found]
    which = [f"{first} to {last}" if last > first else str(first) for first, last in stretches]
    if len(which) > 4:
        which = [*which[:3], f"and so on to {stretches[-1][1]}"]
    lanes = f"{quantity(active, 'active lane')} ({', '.join(which)})"
    return active, f"{lanes} and {WARP_SIZE - active} masked", mask


def _letters(happened: Iterable[tuple[int, str]]) -> dict[int, str]:
    """Return the letters of what happened, by row of the source."""
    letters: dict[int, str] = {}
    for row, kind in happened:
        letters[row] = letters.get(row, "") + MARKS[kind]
    return letters


def _words(events: tuple[Event, ...]) -> str:
    """Describe what happened in a step, as the end of a sentence."""
    counts = Counter(map(_described, events)).items()
    return "".join(f"; {what}" + f" ({times} times)" * (times > 1) for what, times in counts)


def _described(event: Event) -> str:
    count, taken = event.active.bit_count(), event.taken.bit_count()
    lanes = quantity(count, "lane")
    match event.kind:
        case "branch":
            parts = f"the branch parts {lanes}: {taken} one way, {count - taken} the other"
            return parts if 0 < taken < count else f"at the branch {lanes} go one way"
        case "barrier":
            return f"barrier with {lanes}"
        case "copy":
            return f"copy to shared {event.array} started by {lanes}"
        case "arrive":
            return f"copy to shared {event.array} arrives for {lanes}"
        case "mma":
            return f"product on tensor cores by {lanes}"
        case kind:
            return f"{kind} of {event.space} {event.array} by {lanes}"

"""The bank widget: the words of shared memory that lanes name, and the wavefronts that serve them.

``banks.js`` schedules every request that the controls choose by the rule that ``Metrics`` counts
with; browser tests hold the two together. Which word of a bank comes in which wavefront is not
documented: the picture takes them in the order of the lanes. Left out: atomics, which ``Metrics``
counts by lanes that name one address, and pairs of lanes with 16-byte elements that some GPUs serve
in fewer wavefronts than the rule says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from itertools import groupby

from warpwise.metrics import BANK_BYTES, BANKS, WARP_SIZE, Metrics
from warpwise.model.arguments import one_of, whole
from warpwise.traces import Event, Trace
from warpwise.views.controls import Choice, Control, Player, Slider
from warpwise.views.frame import Frame
from warpwise.views.request import VERBS
from warpwise.views.sourcetable import MOST_REQUESTS, around, check_line, heading, table
from warpwise.views.view import Json, View

ITEMSIZES = {"float16": 2, "float32": 4, "float64": 8, "complex128": 16}
MOST_STRIDE = 64  #: elements
MOST_PADDING = 4
KINDS = ("load", "store")
ASKS = Frame("Banks of shared memory.", "Which padding ends the conflicts?", ("stride", "padding"))


@dataclass(frozen=True)
class Group:
    """The shared loads or stores of one source line.

    ``requests``: those of the recorded blocks, in the order they happened. ``metrics``: the line's,
    of the whole launch."""

    line: int
    kind: str
    requests: tuple[Event, ...]
    metrics: Metrics

    @property
    def conflicts(self) -> int:
        """Bank conflicts of the whole launch."""
        return _of(self.metrics, self.kind, "bank_conflicts")

    @property
    def wavefronts(self) -> int:
        """Wavefronts of the whole launch."""
        return _of(self.metrics, self.kind, "wavefronts")

    @cached_property
    def worst(self) -> int:
        """The place of the first request with most conflicts."""
        return max(range(len(self.requests)), key=lambda i: _conflicts(self.requests[i]))

    def carried(self, most: int) -> range:
        """Return the places of the requests that a view carries."""
        return around(self.worst, most, len(self.requests))


def explorer(stride: int = 32, dtype: str = "float32", padding: int = 0) -> View:
    """Show a full warp in which lane ``i`` reads element ``(stride + padding) * i``.

    That is down a column of a tile with ``stride`` columns. ``stride`` is 0 to 64 elements,
    ``padding`` 0 to 4 columns that hold nothing, ``dtype`` float16, float32, float64 or complex128.
    Raises LaunchError for anything else."""
    stride = whole("stride", stride, 0, MOST_STRIDE)
    padding = whole("padding", padding, 0, MOST_PADDING)
    dtype = one_of("dtype", dtype, ITEMSIZES)
    pitch = (stride + padding) * ITEMSIZES[dtype]
    words = [pitch * lane // BANK_BYTES for lane in range(WARP_SIZE)]
    wavefronts = sum(passes(words, max(1, ITEMSIZES[dtype] // BANK_BYTES), load=True))
    types = {name: f"{name}, {size} bytes" for name, size in ITEMSIZES.items()}
    controls = (
        Choice("dtype", "element type", types, dtype),
        Slider("stride", "stride, or tile width", 0, MOST_STRIDE, stride),
        Slider("padding", "columns of padding", 0, MOST_PADDING, padding),
        *_common(wavefronts),
    )
    return View("banks", {"itemsizes": ITEMSIZES}, controls, frame=ASKS)


def of_trace(trace: Trace, line: int | None = None) -> View:
    """Show a traced kernel's requests to shared memory, by source line, worst first.

    Opens on the request with most bank conflicts, of ``line`` if it is given; raises TraceError if
    that line has none to show. A trace without requests to shared memory says so in a sentence."""
    by_line = trace.by_line
    counted = [(n, kind) for n in by_line for kind in KINDS if _of(by_line[n], kind, "requests")]
    groups = _groups(trace) if counted and not trace.truncated else ()
    above = _above(trace, counted, groups)
    check_line(trace, line, sorted({group.line for group in groups}), "request to shared memory")
    if not groups:
        return View("banks", {"nothing": _nothing(trace, bool(counted))}, (), above)
    lines = [_packed(group, _most(groups), trace.place(group.line)) for group in groups]
    return View("banks", {"lines": lines}, _choices(trace, groups, line), above)


def passes(words: list[int], span: int, load: bool = False) -> list[int]:
    """Return the wavefronts of each group of lanes with an active one.

    ``words``: the first of the ``span`` words that each lane names, -1 for none. A group is what
    can be served at once: 32 lanes, 16 or 8 for 1, 2 or 4 words each, and twice as many for wide
    loads in pairs. Its wavefronts are the most different words in one bank."""
    size = WARP_SIZE // span * (1 + (load and span > 1 and _paired(words)))
    starts = range(0, WARP_SIZE, size)
    groups = ({word for word in words[at : at + size] if word >= 0} for at in starts)
    return [max(Counter(word % BANKS for word in group).values()) for group in groups if group]


def _paired(words: list[int]) -> bool:
    """Return whether each lane names the same as its neighbour, or each as the next but one."""
    return any(
        all(word < 0 or words[i ^ far] in (-1, word) for i, word in enumerate(words))
        for far in (1, 2)
    )


def _nothing(trace: Trace, used: bool) -> str:
    if not used:
        neither = "neither loads from shared memory nor stores to it"
        return f"{trace.kernel} {neither}: it has no bank conflicts."
    why = "the trace left events out" if trace.truncated else "the recorded blocks made none"
    return f"No requests to show: {why}."


def _groups(trace: Trace) -> tuple[Group, ...]:
    """Group requests, worst first: by the launch's bank conflicts, then by its wavefronts."""
    shared = trace.accesses(space="shared")
    copies = {"copy": "store"}  # counted as what it will be
    kinds = ((event, copies.get(event.kind, event.kind)) for event in shared)
    found = (replace(event, kind=kind) for event, kind in kinds if kind in KINDS)
    events = sorted(found, key=_line_and_kind)  # stable: in their order
    split = [
        Group(line, kind, tuple(requests), trace.by_line[line])
        for (line, kind), requests in groupby(events, _line_and_kind)
    ]
    return tuple(sorted(split, key=lambda group: (-group.conflicts, -group.wavefronts, group.line)))


def _most(groups: tuple[Group, ...]) -> int:
    """Return how many requests of one line a view carries."""
    return max(1, MOST_REQUESTS // len(groups))


def _line_and_kind(event: Event) -> tuple[int, str]:
    return event.line, event.kind


def _choices(trace: Trace, groups: tuple[Group, ...], line: int | None) -> tuple[Control, ...]:
    opens = next(i for i, group in enumerate(groups) if line in (None, group.line))
    group = groups[opens]
    carried = group.carried(_most(groups))
    lane, wavefront = _common(sum(passes(*_named(group.requests[group.worst]))))
    options = {
        str(i): escape(
            f"{trace.label(group.line)}, {group.kind}: {trace.source[group.line].strip()}"
        )
        for i, group in enumerate(groups)
    }
    return (
        Choice("line", "source line, worst first", options, str(opens)),
        lane,
        Player("request", "request", 1, len(carried), carried.index(group.worst) + 1),
        wavefront,
    )


def _common(total: int) -> tuple[Slider, Player]:
    lane = Slider("lane", "follow lane", 0, WARP_SIZE - 1, 0)
    return lane, Player("wavefront", "wavefront", 1, total, 1)


def _packed(group: Group, most: int, line: str) -> list[Json]:
    """Pack requests for the script: each with what its controls say, and its line in words."""
    carried, total = group.carried(most), len(group.requests)
    packed = []
    for place in carried:
        event = group.requests[place]
        words, span, load = _named(event)
        worst = ", its worst request" if place == group.worst and _conflicts(event) else ""
        warp = f"warp {event.warp} of block {event.block}"
        lead = f"{heading(line)}{worst}: {warp} {VERBS[event.kind]} {event.array}."
        outputs = {"request": f"{place + 1:,} of {total:,}"}
        limits = {"request": [1, len(carried)]}
        served = {"words": words, "span": span, "load": load}
        packed.append({**served, "lead": lead, "limits": limits, "outputs": outputs})
    return packed


def _named(event: Event) -> tuple[list[int], int, bool]:
    """Return the first word that each lane names, -1 if idle, how many an element spans, and
    whether it is a load: what ``passes`` takes."""
    words = [address // BANK_BYTES for address in event.addresses]
    return words, max(1, event.itemsize // BANK_BYTES), event.kind == "load"


def _conflicts(event: Event) -> int:
    needed = passes(*_named(event))
    return sum(needed) - len(needed)


def _above(trace: Trace, counted: list[tuple[int, str]], groups: tuple[Group, ...]) -> str:
    """Return a table of the lines that access shared memory, worst first, of the whole launch."""
    if not counted:
        return ""

    def worst_first(row: tuple[int, str]) -> tuple[int, tuple[int, str]]:
        line, kind = row
        return -_of(trace.by_line[line], kind, "bank_conflicts"), row

    heads = ("line", "kind", "requests", "wavefronts", "bank conflicts", "source")
    rows = [_row(trace, *row) for row in sorted(counted, key=worst_first)]
    listed = table(f"Requests of {trace.kernel} to shared memory", heads, rows)
    return f'{listed}<p class="note">{escape(_note(trace, groups))}</p>'


def _row(trace: Trace, line: int, kind: str) -> list[str | int]:
    counters = ("requests", "wavefronts", "bank_conflicts")
    counts = [f"{_of(trace.by_line[line], kind, counter):,}" for counter in counters]
    return [trace.label(line), f"{kind}s", *counts, trace.source[line].strip()]


def _note(trace: Trace, groups: tuple[Group, ...]) -> str:
    note = f"The table counts the whole launch: grid {trace.grid}, block {trace.block}."
    blocks = {request.block for group in groups for request in group.requests}
    if groups:
        shown = f"block {min(blocks)}" if len(blocks) == 1 else f"{len(blocks)} blocks"
        most = _most(groups)
        cut = any(len(group.requests) > most for group in groups)
        few = f", at most {most} of a line, around its worst" if cut else ""
        note += f" The requests below are those of {shown}{few}."
    if trace.metrics.shared_atomic_requests:
        note += " Atomics are not among them: their cost is in lanes that name one address."
    return note


def _of(metrics: Metrics, kind: str, counter: str) -> int:
    count: int = getattr(metrics, f"shared_{kind}_{counter}")
    return count

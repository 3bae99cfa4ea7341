"""A traced kernel as the burst widget lists it: its source with the counters of each line, and the requests that can be looked at.

The loads and the stores of one line are two choices, for one may be good and the other bad.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape

from warpwise.errors import TraceError
from warpwise.metrics import WARP_SIZE, Metrics
from warpwise.model.arguments import counted, one_of
from warpwise.trace import Trace
from warpwise.views.request import VERBS, Request, deltas, requests_of
from warpwise.views.sourcetable import MOST_REQUESTS, around, check_line, table

MOST_PER_CHOICE = 128

#: Title, the kind of global request that is chosen in a cell, how many accesses the cell speaks of (none: it stays empty), what it says.
COLUMNS = (
    ("active lanes", "", lambda m: m.warp_instructions, lambda m: f"{WARP_SIZE * m.warp_efficiency:.3g}"),
    ("sectors per load", "load", lambda m: m.global_load_requests, lambda m: f"{m.sectors_per_request_load:.4g}"),
    ("sectors per store", "store", lambda m: m.global_store_requests, lambda m: f"{m.sectors_per_request_store:.4g}"),
    ("atomics", "atomic", lambda m: m.atomics, lambda m: f"{m.atomics:,}"),
    ("bank conflicts", "", lambda m: _shared(m), lambda m: f"{m.shared_bank_conflicts:,}"),
)


@dataclass(frozen=True)
class Choice:
    """The loads, the stores or the atomics of one source line, in the order they happened."""

    line: int
    kind: str
    requests: tuple[Request, ...]

    @cached_property
    def worst(self) -> int:
        """Where the request lies that wastes most sectors; of equally wasteful ones, the first of most sectors."""
        return max(range(len(self.requests)), key=lambda i: _cost(self.requests[i]))

    @property
    def row(self) -> str:
        """How the script names it."""
        return f"{self.line} {self.kind}"

    @property
    def cost(self) -> tuple[int, int]:
        """What the worst request wastes and touches: choices are compared by it."""
        return _cost(self.requests[self.worst])

    def packed(self, most: int) -> dict:
        """For the script: at most ``most`` requests around the worst, which is the one shown first; places count from 1."""
        carried = around(self.worst, most, len(self.requests))
        places = {"total": len(self.requests), "first": carried.start + 1, "worst": self.worst + 1}
        return {"row": self.row, **places, "requests": [_packed(self.requests[i], self.line) for i in carried]}


@dataclass(frozen=True)
class Listing:
    """``chosen`` is what is shown first, None when no line makes a request; ``note`` says what the numbers and the requests are of."""

    trace: Trace
    choices: tuple[Choice, ...]
    chosen: Choice | None
    note: str

    @cached_property
    def lines(self) -> list[dict]:
        """The choices, for the script. ``opens``: whether this is the one to show when only a line is asked for."""
        most = min(MOST_PER_CHOICE, MOST_REQUESTS // max(1, len(self.choices)))
        return [choice.packed(most) | {"opens": choice is _worst(self.choices, choice.line)} for choice in self.choices]

    def table(self, radios: bool) -> str:
        """The source with its counters as HTML; with ``radios``, the counter of what makes requests chooses them."""
        columns = [column for column in COLUMNS if any(column[2](metrics) for metrics in self.trace.by_line.values())]
        able = {(choice.line, choice.kind) for choice in self.choices if radios}
        rows = []
        for number, text in sorted(self.trace.source.items()):
            metrics, cells = self.trace.by_line.get(number, Metrics()), []
            for title, kind, accesses, value in columns:
                shown = value(metrics) if accesses(metrics) else ""
                cells.append(_radio(number, kind, shown, title, text) if (number, kind) in able else shown)
            rows.append([number, *cells, text])
        return table(f"Source of {self.trace.kernel}", ("line", *(title for title, *_ in columns), "source"), rows)


def listing(trace: Trace, line: int | None = None, kind: str | None = None) -> Listing:
    """List a trace, and choose what is shown first: what wastes most sectors in a request, of ``line`` and of ``kind`` if they are given.

    ``kind`` is "load", "store" or "atomic"; where none is recorded, the other kinds are looked at. Raises LaunchError for another word,
    and TraceError if ``line`` makes no global request. A trace that left events out is listed without requests.
    """
    kind = None if kind is None else one_of("kind", kind, VERBS)
    note = f"Numbers beside the source count the whole launch: grid {trace.grid}, block {trace.block}."
    try:
        choices = _choices(requests_of(trace))
        note += f" Requests are those of {_blocks(choices)}." if choices else " The recorded blocks made no global request."
    except TraceError as error:
        choices, note = (), f"{note} No requests to show: {error}."
    if any(_shared(metrics) for metrics in trace.by_line.values()):
        note += " The picture shows global memory only: bank conflicts, which are of shared memory, are in the numbers beside the lines."
    check_line(trace, line, [choice.line for choice in choices], "global request")
    return Listing(trace, choices, _worst(choices, line, kind), note)


def _choices(requests: dict[int, list[Request]]) -> tuple[Choice, ...]:
    """By line and then by kind, in the order of the table's rows and cells."""
    split = [(line, kind, tuple(r for r in requests[line] if r.kind == kind)) for line in sorted(requests) for kind in VERBS]
    return tuple(Choice(*parts) for parts in split if parts[-1])


def _worst(choices: tuple[Choice, ...], line: int | None = None, kind: str | None = None) -> Choice | None:
    """What wastes most in a request: of the line's choices, and of those of this kind if there is one."""
    on_line = [choice for choice in choices if line in (None, choice.line)]
    of_kind = [choice for choice in on_line if kind in (None, choice.kind)]
    return max(of_kind or on_line, key=lambda choice: choice.cost, default=None)


def _cost(request: Request) -> tuple[int, int]:
    return request.wasted, request.sectors


def _shared(metrics: Metrics) -> int:
    return metrics.shared_load_requests + metrics.shared_store_requests


def _radio(number: int, kind: str, shown: str, title: str, text: str) -> str:
    """The name begins as the screen does, with the counter, and goes on with what stands around it."""
    name = escape(f"{shown} {title}, line {number}: {text.strip()}")
    return f'<label><input type="radio" name="line" value="{number} {kind}" aria-label="{name}">{shown}</label>'


def _blocks(choices: tuple[Choice, ...]) -> str:
    blocks = sorted({request.block for choice in choices for request in choice.requests}, key=lambda block: block[::-1])
    return f"block {blocks[0]}" if len(blocks) == 1 else f"blocks {', '.join(map(str, blocks))}"


def _packed(request: Request, line: int) -> dict:
    """A request for the script: who does what, and the addresses."""
    lanes = counted(request.lanes, "lane")
    lead = f"Line {line}: warp {request.warp} of block {request.block} {request.verb} {request.array} with {lanes}"
    return {"lead": lead, "verb": request.verb, "array": request.array, "itemsize": request.itemsize, "deltas": deltas(request.addresses)}

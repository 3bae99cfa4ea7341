"""A traced kernel as the burst widget lists it: source, counters and requests by line.

The loads and the stores of one line are two choices, because one may be good and the other bad."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from html import escape

from warpwise.errors import TraceError
from warpwise.metrics import ABOUT, WARP_SIZE, Metrics
from warpwise.model.arguments import one_of, quantity
from warpwise.traces import Trace
from warpwise.views.request import VERBS, Request, packed, requests_of
from warpwise.views.sourcetable import MOST_REQUESTS, around, check_line, heading, table
from warpwise.views.view import Json

MOST_PER_CHOICE = 128
SHARED_MEMORY = (
    " The picture shows global memory only: bank conflicts, which are of shared memory, are in the "
    "numbers beside the lines."
)


@dataclass(frozen=True)
class Column:
    """A metric in the table of source lines.

    ``kind``: of the global requests that its cells choose, or "". ``accesses``: how many accesses a
    cell is about; it stays empty if there are none. ``value``: the cell's text."""

    metric: str
    kind: str
    accesses: Callable[[Metrics], int]
    value: Callable[[Metrics], str]

    @property
    def title(self) -> str:
        return ABOUT[self.metric].label


def _shared(metrics: Metrics) -> int:
    return metrics.shared_load_requests + metrics.shared_store_requests


COLUMNS = (
    Column(
        "warp_efficiency",
        "",
        lambda m: m.warp_instructions,
        lambda m: f"{WARP_SIZE * m.warp_efficiency:.3g}",
    ),
    Column(
        "sectors_per_request_load",
        "load",
        lambda m: m.global_load_requests,
        lambda m: f"{m.sectors_per_request_load:.4g}",
    ),
    Column(
        "sectors_per_request_store",
        "store",
        lambda m: m.global_store_requests,
        lambda m: f"{m.sectors_per_request_store:.4g}",
    ),
    Column("atomics", "atomic", lambda m: m.atomics, lambda m: f"{m.atomics:,}"),
    Column("shared_bank_conflicts", "", _shared, lambda m: f"{m.shared_bank_conflicts:,}"),
)


@dataclass(frozen=True)
class Choice:
    """The loads, the stores or the atomics of one source line, in the order they happened.

    ``place``: the line in words."""

    line: int
    kind: str
    requests: tuple[Request, ...]
    place: str

    @cached_property
    def worst(self) -> int:
        """The place of the request that wastes most sectors.

        Of equally wasteful ones it is the first of most sectors."""
        return max(range(len(self.requests)), key=lambda i: _cost(self.requests[i]))

    @property
    def row(self) -> str:
        """The script's name for it."""
        return f"{self.line} {self.kind}"

    @property
    def cost(self) -> tuple[int, int]:
        """Sectors that the worst request wastes and touches, to compare choices by."""
        return _cost(self.requests[self.worst])

    def packed(self, most: int) -> Json:
        """Pack it for the script, with at most ``most`` requests around the worst.

        The worst is shown first; places count from 1."""
        carried = around(self.worst, most, len(self.requests))
        return {
            "row": self.row,
            "total": len(self.requests),
            "first": carried.start + 1,
            "worst": self.worst + 1,
            "requests": [_packed(self.requests[i], self.place) for i in carried],
        }


@dataclass(frozen=True)
class Listing:
    """A trace, the choices of its requests, and the one that is shown first.

    ``chosen`` is None where no line makes a request; ``request`` is the place of the one among its
    requests; ``note`` says what the numbers and the requests are of."""

    trace: Trace
    choices: tuple[Choice, ...]
    chosen: Choice | None
    request: int
    note: str

    @cached_property
    def lines(self) -> list[Json]:
        """The choices, for the script.

        ``opens`` marks the one to show when only a line is asked for."""
        most = min(MOST_PER_CHOICE, MOST_REQUESTS // max(1, len(self.choices)))
        return [
            choice.packed(most) | {"opens": choice is _worst(self.choices, choice.line)}
            for choice in self.choices
        ]

    def table(self, radios: bool) -> str:
        """Return the source with its counters as HTML.

        With ``radios``, a counter of requests that can be shown chooses them."""
        counts = self.trace.by_line
        columns = [c for c in COLUMNS if any(c.accesses(metrics) for metrics in counts.values())]
        able = {(choice.line, choice.kind) for choice in self.choices if radios}

        def cell(number: int, text: str, column: Column) -> str:
            metrics = counts.get(number, Metrics())
            shown = column.value(metrics) if column.accesses(metrics) else ""
            if (number, column.kind) not in able:
                return shown
            return _radio(number, column, shown, f"{self.trace.place(number)}: {text.strip()}")

        rows: list[list[str | int]] = [
            [self.trace.label(number), *(cell(number, text, column) for column in columns), text]
            for number, text in sorted(self.trace.source.items())
        ]
        heads = ("line", *(column.title for column in columns), "source")
        return table(f"Source of {self.trace.kernel}", heads, rows)


def listing(
    trace: Trace, line: int | None = None, kind: str | None = None, warp: int | None = None
) -> Listing:
    """List a trace, and choose what is shown first.

    That is what wastes most sectors in a request, of ``line`` and of ``kind`` if they are given,
    and of a request of ``warp`` the first, if it made one there.
    ``kind`` is "load", "store" or "atomic"; where none is recorded, the other kinds are looked at.
    Raises LaunchError for another word, and TraceError if ``line`` makes no global request. A trace
    that left events out is listed without requests."""
    kind = None if kind is None else one_of("kind", kind, VERBS)
    launch = f"grid {trace.grid}, block {trace.block}"
    choices: tuple[Choice, ...] = ()
    try:
        choices = _choices(requests_of(trace), trace)
        made = f"Requests are those of {_blocks(choices)}." if choices else ""
        told = made or "The recorded blocks made no global request."
    except TraceError as error:
        told = f"No requests to show: {error}."
    note = f"Numbers beside the source count the whole launch: {launch}. {told}"
    if any(_shared(metrics) for metrics in trace.by_line.values()):
        note += SHARED_MEMORY
    check_line(trace, line, [choice.line for choice in choices], "global request")
    chosen = _worst(choices, line, kind)
    return Listing(trace, choices, chosen, _opens(chosen, warp) if chosen else 0, note)


def _opens(chosen: Choice, warp: int | None) -> int:
    """The place of the first request of a warp, or else of the one that wastes most."""
    of_warp = (i for i, request in enumerate(chosen.requests) if request.warp == warp)
    return next(of_warp, chosen.worst)


def _choices(requests: dict[int, list[Request]], trace: Trace) -> tuple[Choice, ...]:
    """Split requests by line and then by kind, in the order of the table's rows and cells."""
    split = (
        Choice(line, kind, tuple(r for r in requests[line] if r.kind == kind), trace.place(line))
        for line in sorted(requests)
        for kind in VERBS
    )
    return tuple(choice for choice in split if choice.requests)


def _worst(
    choices: tuple[Choice, ...], line: int | None = None, kind: str | None = None
) -> Choice | None:
    """Return what wastes most in a request: on the line, and of this kind if there is one."""
    on_line = [choice for choice in choices if line in (None, choice.line)]
    of_kind = [choice for choice in on_line if kind in (None, choice.kind)]
    return max(of_kind or on_line, key=lambda choice: choice.cost, default=None)


def _cost(request: Request) -> tuple[int, int]:
    return request.wasted, request.sectors


def _radio(number: int, column: Column, shown: str, where: str) -> str:
    """Return a counter as a radio button.

    Its name begins as the screen does, with the counter, and goes on with what is around it."""
    name = escape(f"{shown} {column.title}, {where}")
    value = f"{number} {column.kind}"
    radio = f'<input type="radio" name="line" value="{value}" aria-label="{name}">'
    return f"<label>{radio}{shown}</label>"


def _blocks(choices: tuple[Choice, ...]) -> str:
    found = {request.block for choice in choices for request in choice.requests}
    blocks = sorted(found, key=lambda block: block[::-1])
    return f"block {blocks[0]}" if len(blocks) == 1 else f"blocks {', '.join(map(str, blocks))}"


def _packed(request: Request, place: str) -> Json:
    """Pack a request for the script, with its line, warp and lanes."""
    warp = f"warp {request.warp} of block {request.block}"
    lanes = quantity(request.lanes, "lane")
    lead = f"{heading(place)}: {warp} {request.verb} {request.array} with {lanes}"
    return packed(request, lead)

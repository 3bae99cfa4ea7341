"""A traced kernel as the burst widget lists it: its source with the counters of each line, and the requests of the lines that make any."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise

from warpwise.errors import TraceError
from warpwise.metrics import Metrics
from warpwise.trace import Trace
from warpwise.views.request import Request, requests_of

MOST_REQUESTS = 384  #: requests that a view carries, all lines together: keeps its data small
MOST_PER_LINE = 128

#: Title, how many requests a cell speaks of (none: it stays empty), and what it says.
COLUMNS = (
    ("sectors per load", lambda m: m.global_load_requests, lambda m: f"{m.sectors_per_request_load:.4g}"),
    ("sectors per store", lambda m: m.global_store_requests, lambda m: f"{m.sectors_per_request_store:.4g}"),
    ("bank conflicts", lambda m: m.shared_load_requests + m.shared_store_requests, lambda m: m.shared_bank_conflicts),
)


@dataclass(frozen=True)
class Listing:
    """``line`` is the selected line, 0 when none makes a request; ``note`` says what the numbers and the requests are of."""

    trace: Trace
    requests: dict[int, list[Request]]
    line: int
    note: str

    @property
    def lines(self) -> list[dict]:
        """The lines with requests, for the script: ``total`` is how many the recorded blocks made, of which the first are carried."""
        most = min(MOST_PER_LINE, MOST_REQUESTS // max(1, len(self.requests)))
        return [
            {"number": number, "total": len(found), "requests": [_packed(request) for request in found[:most]]}
            for number, found in self.requests.items()
        ]

    def table(self, radios: bool) -> str:
        """The source with its counters as HTML; with ``radios``, lines that make requests can be chosen."""
        columns = [column for column in COLUMNS if any(column[1](metrics) for metrics in self.trace.by_line.values())]
        head = "".join(f'<th scope="col">{title}</th>' for title in ("line", *(title for title, _, _ in columns), "source"))
        rows = []
        for number, text in sorted(self.trace.source.items()):
            metrics = self.trace.by_line.get(number, Metrics())
            cells = "".join(f"<td>{value(metrics) if counted(metrics) else ''}</td>" for _, counted, value in columns)
            name = _radio(number, text) if radios and number in self.requests else number
            rows.append(f'<tr><td>{name}</td>{cells}<td><code style="white-space:pre">{escape(text)}</code></td></tr>')
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        label = f"Source of {escape(self.trace.kernel)}"
        return f'<div class="listing" style="overflow-x:auto" tabindex="0" role="group" aria-label="{label}">{table}</div>'


def listing(trace: Trace, line: int | None = None) -> Listing:
    """List a trace; without ``line``, the line whose requests touch most sectors is selected.

    Raises TraceError if ``line`` makes no global request. A trace that left events out is listed without requests.
    """
    note = f"Numbers beside the source count the whole launch: grid {trace.grid}, block {trace.block}."
    try:
        requests = dict(sorted(requests_of(trace).items()))
        note += f" Requests are those of {_blocks(requests)}." if requests else " The recorded blocks made no global request."
    except TraceError as error:
        requests, note = {}, f"{note} No requests to show: {error}."
    if line is not None and line not in requests:
        able = ", ".join(map(str, requests)) or "none"
        raise TraceError(f"line {line} of {trace.kernel} has no global request to show; lines that have: {able}")
    worst = max(requests, key=lambda number: max(request.sectors for request in requests[number]), default=0)
    return Listing(trace, requests, worst if line is None else line, note)


def who(request: Request) -> str:
    """Who does what: the start of a sentence."""
    return f"warp {request.warp} of block {request.block} {request.verb} {request.array}"


def _radio(number: int, text: str) -> str:
    name = escape(f"line {number}: {text.strip()}")
    return f'<label><input type="radio" name="line" value="{number}" aria-label="{name}">{number}</label>'


def _blocks(requests: dict[int, list[Request]]) -> str:
    blocks = sorted({request.block for found in requests.values() for request in found}, key=lambda block: block[::-1])
    return f"block {blocks[0]}" if len(blocks) == 1 else f"blocks {', '.join(map(str, blocks))}"


def _packed(request: Request) -> dict:
    """A request for the script: addresses as steps from one lane to the next, which compress well."""
    deltas = [after - before for before, after in pairwise((0, *request.addresses))]
    return {"who": who(request), "verb": request.verb, "array": request.array, "itemsize": request.itemsize, "deltas": deltas}

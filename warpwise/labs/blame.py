"""Name the lines that a counter over its budget comes from, with their counts.

One line is named alone only if it is over the budget by itself: of several that share what is
counted, one may be allowed, and a counter cannot tell which. A student can change none of what a
given function does, so that counts for the lines that call it. Which lines are named can depend on
the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add

from warpwise.labs.budgets import OF_A_TRACE, TOTALS, charged, counter_value, figure
from warpwise.labs.uses import quoted
from warpwise.messages import NOTHING, Chosen, Datum, Message, message
from warpwise.metrics import WARP_SIZE, Metrics
from warpwise.traces import Trace, reached_from

MOST_LINES = 3  # that are named beside one another


@dataclass(frozen=True)
class _Part:
    """Some of what a launch counted: lines of the student's, and the given function they call.

    Without a function it is one line, and what a function does that no other line calls."""

    lines: tuple[int, ...]
    function: str
    metrics: Metrics

    def quoted(self, t: Trace) -> str:
        lines = "\n".join(quoted(line, t.source.get(line, "").strip()) for line in self.lines)
        return (
            f"in {self.function}, which is called on\n{lines}" if self.function else f"on\n{lines}"
        )

    def listed(self, t: Trace) -> str:
        if not self.function:
            (line,) = self.lines
            return quoted(line, t.source.get(line, "").strip()).strip()
        return f"in {self.function}, called on lines {', '.join(map(str, self.lines))}"


def blame(t: Trace, counter: str, limit: float) -> Message:
    """Return the lines that a counter comes from, below the sentence about it; "" for none."""
    found = _blamed(t, counter, limit)
    if not found:
        return NOTHING
    most, first = found[0]
    on = Chosen(first.quoted(t))
    if counter == "warp_efficiency":
        return message("[[\nmost of the idle lanes {on}]]", on=on)
    if _is_ratio(counter) and most > counter_value(t, counter):
        return message(
            "[[\nthat is an average: the highest, {most}, {on}]]", most=Datum(figure(most)), on=on
        )
    if len(found) == 1:
        return message("[[\nmost of it, {most}, {on}]]", most=Datum(figure(most)), on=on)
    listed = (
        f"    {figure(value)} {'' if part.function else 'on '}{part.listed(t)}"
        for value, part in found
    )
    return message("[[\nof which\n{lines}]]", lines=Chosen("\n".join(listed)))


def blamed_line(t: Trace, counter: str, limit: float) -> int | None:
    """Return the line that ``blame`` names, None where it names several or none."""
    lines = [line for _, part in _blamed(t, counter, limit) for line in part.lines]
    return lines[0] if len(lines) == 1 else None


def _blamed(t: Trace, counter: str, limit: float) -> list[tuple[float, _Part]]:
    """Return the parts of a launch to name, with what each counted, the one with most first."""
    if not t.by_line or counter in OF_A_TRACE:
        return []
    if counter == "warp_efficiency":
        worst = max(_parts(t), key=lambda part: _idle_lanes(part.metrics))
        return [(_idle_lanes(worst.metrics), worst)]
    values = [(charged(part.metrics, counter), part) for part in _parts(t)]
    values.sort(key=lambda pair: -pair[0])
    most = values[0][0]
    if _is_ratio(counter) or (most > limit and 2 * most > sum(value for value, _ in values)):
        return values[:1]
    return [(value, part) for value, part in values[:MOST_LINES] if value]


def _parts(t: Trace) -> Iterator[_Part]:
    """Yield what the launch counted by the student's lines, in their order."""
    given = [function for function in t.functions if function.elsewhere]
    found: dict[tuple[tuple[int, ...], str], list[Metrics]] = {}
    for line, metrics in sorted(t.by_line.items()):
        own, function = reached_from(line, given), t.elsewhere(line)
        name = function.name if function is not None and len(own) > 1 else ""
        found.setdefault((own, name), []).append(metrics)
    for (own, name), counted in found.items():
        yield _Part(own, name, reduce(add, counted))


def _is_ratio(counter: str) -> bool:
    return counter in TOTALS and counter != "shared_bank_conflicts"


def _idle_lanes(m: Metrics) -> int:
    """Lanes that stood idle, summed over the warps' instructions."""
    return WARP_SIZE * m.warp_instructions - m.thread_instructions

"""What was measured, as text: a line for each variant, and each speed that is asked for beside what was reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from warpwise.devices import of_driver
from warpwise.measure.case import Bar
from warpwise.measure.suites import suite
from warpwise.measure.worker import NEEDS
from warpwise.measurements import Record, Row

MOST_CASES = 12  # of a suite in the table; the record has all


@dataclass(frozen=True)
class Reached:
    """A bar, and the ratio that was measured; None where it could not be."""

    bar: Bar
    ratio: float | None

    @property
    def verdict(self) -> str:
        if self.ratio is None:
            return "not measured"
        if self.ratio >= self.bar.aim:
            return "aim reached"
        return "aim missed" if not self.bar.at_least else "reached" if self.ratio >= self.bar.at_least else "missed"


def reached(record: Record) -> Iterator[Reached]:
    """Every speed that the record's suite asks for."""
    for bar in getattr(suite(record.suite), "BARS", ()):
        yield Reached(bar, _ratio(record, bar))


def _ratio(record: Record, bar: Bar) -> float | None:
    rows = {row.variant: row for row in record.rows if row.case == bar.case and row.median_ms}
    found = [row for row in rows.values() if row.by == "numba" and fnmatchcase(row.variant, bar.variant)]
    if not found:
        return None
    ours = min(found, key=lambda row: row.median_ms)
    if bar.beside in ("copy", "peak bandwidth"):
        device = of_driver(record.device)
        copied = record.told.get("ceilings", {}).get("copy_GB_per_s")
        most = copied if bar.beside == "copy" else device and device.dram_gb_per_s
        return ours.GB_per_s / most if most and ours.GB_per_s else None
    beside = rows.get(bar.beside)
    return beside.median_ms / ours.median_ms if beside else None


def lines(record: Record) -> Iterator[tuple[str, ...]]:
    """A row of a table for each variant: case, variant, time, rate. Of many cases the first, the last and some between are shown."""
    shown = _some(list(dict.fromkeys(row.case for row in record.rows)))
    for row in record.rows:
        if row.case in shown:
            yield row.case, row.variant, _time(row), _rate(row)


def results(record: Record) -> Iterator[tuple[str, ...]]:
    """A row of a table for each variant of a rehearsal: whether its result is right."""
    for row, told in zip(record.rows, record.told["rows"], strict=True):
        error = told.get("worst_error")
        right = row.parameters.get("verdict", "ran") if error is None else f"right, {100 * error:.2g} % of the error allowed"
        yield row.case, row.variant, row.problem or right


def _some(cases: list[str]) -> set[str]:
    if len(cases) <= MOST_CASES:
        return set(cases)
    step = (len(cases) - 1) / (MOST_CASES - 1)
    return {cases[round(i * step)] for i in range(MOST_CASES)}


def _time(row: Row) -> str:
    if row.median_ms is None:
        return row.problem or row.parameters.get("verdict", "")
    return f"{row.median_ms:.3f} ms" if row.median_ms >= 0.1 else f"{1000 * row.median_ms:.2f} us"


def _rate(row: Row) -> str:
    rates = ((row.TFLOP_per_s, "TFLOP/s", 2), (row.GB_per_s, "GB/s", 0), (row.ns_per_step, "ns a step", 1))
    return ", ".join(f"{value:,.{digits}f} {unit}" for value, unit, digits in rates if value)


def compared(record: Record, other: Record) -> Iterator[tuple[str, ...]]:
    """For each case and variant that both have: the two times, and how many times faster the first is."""
    theirs = {(row.case, row.variant): row for row in other.rows if row.median_ms}
    for row in record.rows:
        beside = theirs.get((row.case, row.variant))
        if beside and row.median_ms:
            yield row.case, row.variant, _time(row), _time(beside), f"{beside.median_ms / row.median_ms:.2f}"


def problems(records: Iterable[Record]) -> tuple[str, ...]:
    """What went wrong with code of ours, a line each: not what a library lacks on this machine."""
    rows = ((record, row) for record in records for row in record.rows)
    wrong = ((record, row) for record, row in rows if row.problem and row.by == "numba" and not row.problem.startswith(NEEDS))
    return tuple(f"{record.suite}: {row.case}: {row.variant}: {row.problem}" for record, row in wrong)

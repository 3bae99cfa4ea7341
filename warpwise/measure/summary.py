"""Records as lines of text: each variant's time and rate, and each target's ratio."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from warpwise.benchmark_records import Record, Row
from warpwise.devices import of_driver
from warpwise.measure.case import Bar
from warpwise.measure.suites import suite
from warpwise.measure.worker import NEEDS

PEERS = {"copy": "the device's fastest copy", "peak bandwidth": "the data sheet's bandwidth"}
KERNEL = 27  # characters of a kernel in a table of targets
MOST_CASES = 12  # of a suite in the table; the record has all of them


@dataclass(frozen=True)
class Reached:
    """A performance target and the measured ratio, or None."""

    bar: Bar
    ratio: float | None

    @property
    def verdict(self) -> str:
        if self.ratio is None:
            return "not measured"
        if self.ratio >= self.bar.aim:
            return "aim reached"
        if not self.bar.at_least:
            return "aim missed"
        return "reached" if self.ratio >= self.bar.at_least else "missed"


def reached(record: Record) -> Iterator[Reached]:
    """Yield every performance target of the record's suite."""
    for bar in getattr(suite(record.suite), "BARS", ()):
        yield Reached(bar, _ratio(record, bar))


def _ratio(record: Record, bar: Bar) -> float | None:
    rows = {row.variant: row for row in record.rows if row.case == bar.case and row.median_ms}
    times = {name: row.median_ms for name, row in rows.items() if row.median_ms}
    mine = [name for name, row in rows.items() if row.by == "numba"]
    found = [name for name in mine if fnmatchcase(name, bar.variant)]
    if not found:
        return None
    fastest = min(found, key=times.__getitem__)
    if bar.beside in ("copy", "peak bandwidth"):
        device, rate = of_driver(record.device), rows[fastest].GB_per_s
        copied = record.contents.get("ceilings", {}).get("copy_GB_per_s")
        most = copied if bar.beside == "copy" else device and device.dram_gb_per_s
        return rate / most if most and rate else None
    return times[bar.beside] / times[fastest] if bar.beside in times else None


def targets(records: Iterable[Record]) -> str:
    """Return a table of all targets that were measured, by device and by what is compared with."""
    found: dict[str, dict[str, list[Reached]]] = {}
    for record in records:
        for one in reached(record):
            if one.ratio is not None:
                peer = one.bar.peer or PEERS.get(one.bar.beside, one.bar.beside)
                found.setdefault(record.device, {}).setdefault(peer, []).append(one)
    parts = ["\n".join(_targets(device, groups)) for device, groups in found.items()]
    return "\n\n".join(parts) or "not measured yet"


def _targets(device: str, groups: Mapping[str, Iterable[Reached]]) -> Iterator[str]:
    yield f"measured on {device}"
    yield f"{'':{KERNEL}}  ratio  asked   aim"
    for peer, members in groups.items():
        yield f"beside {peer}:"
        for one in members:
            asked = f"{one.bar.at_least:.2f}" if one.bar.at_least else ""
            yield (
                f"  {one.bar.what:{KERNEL - 2}}  {one.ratio:5.2f}  {asked:>5}  {one.bar.aim:4.2f}"
                f" {one.verdict}"
            )


def lines(record: Record) -> Iterator[tuple[str, ...]]:
    """Yield (case, variant, time, rate); of many cases the first, the last and some between."""
    shown = _some(list(dict.fromkeys(row.case for row in record.rows)))
    for row in record.rows:
        if row.case in shown:
            yield row.case, row.variant, _time(row), _rate(row)


def results(record: Record) -> Iterator[tuple[str, ...]]:
    """Yield (case, variant, verdict on its result) of a rehearsal."""
    for row, told in zip(record.rows, record.contents["rows"], strict=True):
        if (error := told.get("worst_error")) is None:
            verdict = row.parameters.get("verdict", "ran")
        else:
            verdict = f"right, {100 * error:.2g} % of the error allowed"
        yield row.case, row.variant, row.problem or verdict


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
    rates = (
        (row.tokens_per_s, "tokens/s", 0),
        (row.TFLOP_per_s, "TFLOP/s", 2),
        (row.GB_per_s, "GB/s", 0),
        (row.ns_per_step, "ns per step", 1),
    )
    return ", ".join(f"{value:,.{digits}f} {unit}" for value, unit, digits in rates if value)


def compared(record: Record, other: Record) -> Iterator[tuple[str, ...]]:
    """Yield (case, variant, the two times, their ratio) for the variants that both have."""
    theirs = {(row.case, row.variant): row for row in other.rows}
    for row in record.rows:
        beside = theirs.get((row.case, row.variant))
        if beside and beside.median_ms and row.median_ms:
            ratio = f"{beside.median_ms / row.median_ms:.2f}"
            yield row.case, row.variant, _time(row), _time(beside), ratio


def problems(records: Iterable[Record]) -> tuple[str, ...]:
    """Return the problems of our own kernels, a line each, except on GPUs that are too old."""
    return tuple(
        f"{record.suite}: {row.case}: {row.variant}: {row.problem}"
        for record in records
        for row in record.rows
        if row.problem and row.by == "numba" and not row.problem.startswith(NEEDS)
    )

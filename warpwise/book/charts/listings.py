"""Benchmark records as text: the suites measured on each device, and counters that differ."""

from __future__ import annotations

from collections.abc import Iterator

from warpwise.benchmark_records import EQUAL, Record, Row, recorded
from warpwise.book.charts.catalogue import PLOTS

COUNTERS, CONSTANTS = "counters", "constants"  # suites without a chart
NOTHING = "not measured yet"


def measured_list() -> str:
    """Return a line for each suite with its devices and dates, then each device's software."""
    charted = (plot.suite or name for name, plot in PLOTS.items())
    suites = dict.fromkeys([*charted, COUNTERS, CONSTANTS])
    found = {suite: recorded(suite) for suite in suites}
    lines = [f"{suite:14}{', '.join(map(_when, of)) or NOTHING}" for suite, of in found.items()]
    latest = {record.device: record for records in found.values() for record in records}
    return "\n".join([*lines, *(f"\n{_software(record)}" for record in latest.values())])


def _when(record: Record) -> str:
    small = ", small sizes" if record.contents.get("quick") else ""
    part = ", a part" if record.contents.get("unfinished") else ""
    return f"{record.device} ({record.date[:10]}{small}{part})"


def _software(record: Record) -> str:
    names = {"driver": "driver", "CUDA": "cuda_runtime", "Python": "python"}
    versions = {name: record.contents.get(key) for name, key in names.items()}
    versions |= record.contents.get("versions", {})
    shown = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    return f"{record.device}: {shown}"


def measured_counters() -> str:
    """Return each device's number of access patterns that agree with the simulator, and others."""
    return "\n\n".join("\n".join(_counters(record)) for record in recorded(COUNTERS)) or NOTHING


def _counters(record: Record) -> Iterator[str]:
    rows = [row for row in record.rows if row.parameters.get("measured")]
    equal = sum(row.parameters.get("verdict") == EQUAL for row in rows)
    agree = f"{equal} of {len(rows)} access patterns count as the simulator does"
    yield f"measured on {record.device}: {agree}"
    for row in rows:
        if row.parameters.get("verdict") != EQUAL:
            yield f"  {row.case}: {row.parameters['verdict']}"
            yield from _differing(row)


def _differing(row: Row) -> Iterator[str]:
    """Yield the counters that a verdict names, ours and Nsight Compute's."""
    modelled, measured = row.parameters.get("modelled") or {}, row.parameters["measured"]
    for name, ours in modelled.items():
        if name in row.parameters["verdict"] and measured.get(name) is not None:
            yield f"    {name}: {ours:,} in the simulator, {measured[name]:,} in Nsight Compute"

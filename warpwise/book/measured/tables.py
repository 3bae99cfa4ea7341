"""Measurements as text, for the page that lists them: what was measured where, and the simulator's counters beside Nsight Compute's."""

from __future__ import annotations

from collections.abc import Iterator

from warpwise.book.measured.table import PLOTS
from warpwise.measurements import EQUAL, Record, Row, recorded

COUNTERS = "counters"  # the suite that has no times
NOTHING = "not measured yet"


def measured_list() -> str:
    """A line for each suite, with the devices it was measured on and the day; then one for each device, with its software."""
    found = {suite: recorded(suite) for suite in dict.fromkeys((*(plot.suite or name for name, plot in PLOTS.items()), COUNTERS))}
    lines = [f"{suite:14}{', '.join(map(_when, records)) or NOTHING}" for suite, records in found.items()]
    made = {record.device: record for records in found.values() for record in records}
    return "\n".join([*lines, *(f"\n{_software(record)}" for record in made.values())])


def _when(record: Record) -> str:
    small = ", small sizes" if record.told.get("quick") else ""
    part = ", a part" if record.told.get("unfinished") else ""
    return f"{record.device} ({record.date[:10]}{small}{part})"


def _software(record: Record) -> str:
    told, versions = record.told, record.told.get("versions", {})
    parts = [("driver", told.get("driver")), ("CUDA", told.get("cuda_runtime")), ("Python", told.get("python")), *versions.items()]
    return f"{record.device}: {', '.join(f'{name} {version}' for name, version in parts if version)}"


def measured_counters() -> str:
    """For each device that was measured, how many access patterns have the counters that the simulator gives, and where others differ."""
    return "\n\n".join("\n".join(_counters(record)) for record in recorded(COUNTERS)) or NOTHING


def _counters(record: Record) -> Iterator[str]:
    rows = [row for row in record.rows if row.parameters.get("measured")]
    equal = sum(row.parameters.get("verdict") == EQUAL for row in rows)
    yield f"measured on {record.device}: {equal} of {len(rows)} access patterns count as the simulator does"
    for row in rows:
        if row.parameters.get("verdict") != EQUAL:
            yield f"  {row.case}: {row.parameters['verdict']}"
            yield from _differing(row)


def _differing(row: Row) -> Iterator[str]:
    """The counters that a verdict names, ours and Nsight Compute's."""
    modelled, measured = row.parameters.get("modelled") or {}, row.parameters["measured"]
    for name, ours in modelled.items():
        if name in row.parameters["verdict"] and measured.get(name) is not None:
            yield f"    {name}: {ours:,} in the simulator, {measured[name]:,} in Nsight Compute"

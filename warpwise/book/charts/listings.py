"""Benchmark records as text: what was measured on each device, and counters that differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from textwrap import wrap

from warpwise.benchmark_records import EQUAL, Record, Row, recorded
from warpwise.book.charts.catalogue import PLOTS
from warpwise.model.arguments import quantity

COUNTERS, CONSTANTS = "counters", "constants"  # suites without a chart
NOTHING = "not measured yet"
WIDTH = 59  # characters of a line: letters of 9.5 pixels on a phone
HEADS = "simulator", "Nsight Compute"


def measured_list() -> str:
    """Return what was measured on each device, when, with which software, and what is missing."""
    charted = (plot.suite or name for name, plot in PLOTS.items())
    suites = dict.fromkeys([*charted, COUNTERS, CONSTANTS])
    found: dict[str, list[Record]] = defaultdict(list)
    for record in (record for suite in suites for record in recorded(suite)):
        found[record.device].append(record)
    parts = [_device(device, records) for device, records in found.items()]
    missing = [suite for suite in suites if not recorded(suite)]
    if missing:
        parts.append("\n".join(_filled(f"{NOTHING}: {', '.join(missing)}")))
    return "\n\n".join(parts)


def _device(device: str, records: list[Record]) -> str:
    dates = sorted({record.date[:10] for record in records})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    newest = max(records, key=lambda record: record.date)
    names = ", ".join(record.suite for record in records)
    lines = [f"{device}, {when}", *_filled(f"{quantity(len(records), 'suite')}: {names}", "  ")]
    small = [record.suite for record in records if record.contents.get("quick")]
    if small:
        lines += _filled(f"small sizes: {', '.join(small)}", "  ")
    for record in records:
        if why := record.contents.get("unfinished"):
            lines += _filled(f"a part of {record.suite}: {why}", "  ")
    return "\n".join([*lines, *_filled(_software(newest), "  ")])


def _software(record: Record) -> str:
    names = {"driver": "driver", "CUDA": "cuda_runtime", "Python": "python"}
    versions = {name: record.contents.get(key) for name, key in names.items()}
    versions |= record.contents.get("versions", {})
    return ", ".join(f"{name} {version}" for name, version in versions.items() if version)


def _filled(text: str, indent: str = "") -> list[str]:
    """Return a text in lines; what continues a line is further in."""
    return wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False
    )


def measured_counters() -> str:
    """Return how many access patterns of each device count as the simulator does, and the others.

    These stand in groups by cause, which is a row's note, with the example that differs least."""
    return "\n\n".join("\n".join(_counters(record)) for record in recorded(COUNTERS)) or NOTHING


def _counters(record: Record) -> Iterator[str]:
    rows = [row for row in record.rows if row.parameters.get("measured")]
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.parameters.get("verdict") != EQUAL:
            groups[row.note or f"{row.variant}: no cause is noted"].append(row)
    differing = sum(map(len, groups.values()))
    equal = f"{len(rows) - differing} of {len(rows)} access patterns count the same"
    yield f"measured on {record.device}:"
    yield equal
    if differing:
        yield f"{differing} {'differs' if differing == 1 else 'differ'}, by cause:"
    for cause, of in sorted(groups.items(), key=lambda group: -len(group[1])):
        yield ""
        yield from _filled(f"{len(of)} x {cause}")
        example = min(of, key=lambda row: len(_differing(row)))
        yield from _table(example)


def _table(row: Row) -> Iterator[str]:
    """Yield one pattern's counters that differ, ours beside Nsight Compute's."""
    lines = [(name, f"{ours:,.10g}", f"{theirs:,.10g}") for name, ours, theirs in _differing(row)]
    widest = max((len(name) for name, _, _ in lines), default=0)
    yield from _filled(f"such as {row.case}", "  ")
    for name, ours, theirs in [("", *HEADS), *lines]:
        yield f"    {name:{widest}}  {ours:>{len(HEADS[0])}}  {theirs:>{len(HEADS[1])}}"


def _differing(row: Row) -> list[tuple[str, float, float]]:
    """Return the counters that a verdict names, ours and Nsight Compute's."""
    modelled, measured = row.parameters.get("modelled") or {}, row.parameters["measured"]
    named = row.parameters["verdict"].partition(": ")[2].split(", ")
    return [
        (name, ours, measured[name])
        for name, ours in modelled.items()
        if name in named and measured.get(name) is not None
    ]

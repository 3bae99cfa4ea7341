"""The directives of the page of GPUs: tables of ``warpwise.devices``, none of it typed again.

Headings and units are here; the meaning of a limit is its comment in ``Multiprocessor``, and the
sources are the docstring of ``warpwise.devices``. The theme puts each table into a box that scrolls
on a narrow screen and takes the arrow keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from warpwise import devices
from warpwise.book.markup import parsed
from warpwise.devices import DEVICES, KB, MB, MULTIPROCESSORS, Device, Multiprocessor


@dataclass(frozen=True)
class Column:
    """One column of the table of GPUs."""

    title: str
    unit: str
    of: Callable[[Device], object]


COLUMNS = (
    Column("GPU", "", lambda d: d.name),
    Column("Compute capability", "", lambda d: dotted(d.compute_capability)),
    Column("SMs", "", lambda d: d.sms),
    Column("float32", "TFLOP/s", lambda d: d.fp32_tflops),
    Column("Tensor cores", "TFLOP/s", lambda d: d.tensor16_tflops),
    Column("DRAM", "GB/s", lambda d: d.dram_gb_per_s),
    Column("L2 cache", "MiB", lambda d: d.l2_bytes // MB),
    Column("Knee, float32", "FLOP/byte", lambda d: f"{knee(d.fp32_flops_per_s, d):.1f}"),
    Column("Knee, tensor", "FLOP/byte", lambda d: f"{knee(d.tensor16_flops_per_s, d):.0f}"),
)

#: Field of ``Multiprocessor`` -> (name of the limit, unit, divisor).
LIMITS = {
    "warps": ("Warps", "", 1),
    "blocks": ("Blocks", "", 1),
    "registers": ("Registers", "", 1),
    "registers_per_thread": ("Registers of a thread", "", 1),
    "registers_unit": ("Registers, unit", "", 1),
    "sub_partitions": ("Sub-partitions", "", 1),
    "shared_bytes": ("Shared memory", "KiB", KB),
    "shared_bytes_per_block": ("Shared memory of a block", "KiB", KB),
    "shared_bytes_reserved": ("Shared memory, reserved", "KiB", KB),
    "shared_bytes_unit": ("Shared memory, unit", "bytes", 1),
    "fp32_lanes": ("float32", "per clock", 1),
    "fp64_lanes": ("float64", "per clock", 1),
    "special_lanes": ("Special functions", "per clock", 1),
    "l1_bytes_per_clock": ("L1 cache and shared memory", "bytes per clock", 1),
}


class DeviceTable(SphinxDirective):
    """``{device-table}``: a row for each GPU of ``warpwise.devices``."""

    def run(self) -> list[nodes.Node]:
        note_dependency(self)
        heads = [(column.title, column.unit) for column in COLUMNS]
        return [table(heads, [[column.of(device) for column in COLUMNS] for device in DEVICES])]


class LimitTable(SphinxDirective):
    """``{limit-table}``: a row for each limit that differs, a column per compute capability."""

    def run(self) -> list[nodes.Node]:
        note_dependency(self)
        heads = [("Compute capability", ""), *((dotted(cc), "") for cc in MULTIPROCESSORS)]
        rows = [[LIMITS[name][:2], *values(name)] for name in LIMITS if len(set(values(name))) > 1]
        return [table(heads, rows)]


class LimitNotes(SphinxDirective):
    """``{limit-notes}``: the meaning of each row; with ``:same:``, the limits that never differ."""

    option_spec: ClassVar = {"same": directives.flag}

    def run(self) -> list[nodes.Node]:
        note_dependency(self)
        explained = comments()
        lines = []
        for name, (title, unit, _) in LIMITS.items():
            same = len(set(values(name))) == 1
            value = f"{values(name)[0]:,} {unit}".rstrip() if same else ""
            told = ", ".join(part for part in (value, explained.get(name)) if part)
            if same == ("same" in self.options) and told:
                lines.append(f"- {title}: {told}")
        return parsed(self, lines)


class DeviceSources(SphinxDirective):
    """``{device-sources}``: the sources of the figures, from the module's docstring."""

    def run(self) -> list[nodes.Node]:
        note_dependency(self)
        return parsed(self, (devices.__doc__ or "").partition("\n\n")[2].splitlines())


def knee(flops_per_s: float, device: Device) -> float:
    """Return the FLOP per byte of DRAM at which arithmetic and traffic take equally long."""
    return flops_per_s / device.dram_bytes_per_s


def note_dependency(directive: SphinxDirective) -> None:
    """Rebuild the page when the table of GPUs changes."""
    directive.env.note_dependency(devices.__file__)


def dotted(compute_capability: tuple[int, int]) -> str:
    return ".".join(map(str, compute_capability))


def values(name: str) -> list[int]:
    """Return a limit's value for each compute capability, in its unit."""
    return [getattr(sm, name) // LIMITS[name][2] for sm in MULTIPROCESSORS.values()]


def comments() -> dict[str, str]:
    """Return field of ``Multiprocessor`` -> its comment, for those that have one."""
    found = ModuleAnalyzer.for_module(devices.__name__).find_attr_docs()
    texts = {
        f.name: " ".join(found.get((Multiprocessor.__name__, f.name), ())).strip()
        for f in fields(Multiprocessor)
    }
    return {name: text for name, text in texts.items() if text}


def table(heads: list[tuple[str, str]], rows: Iterable[list[object]]) -> nodes.table:
    """Return a table of numbers whose first column names its rows, with units below headings."""
    first, *others = [nodes.colspec(colwidth=1) for _ in heads]
    first["stub"] = 1
    group = nodes.tgroup("", first, *others, cols=len(heads))
    group += nodes.thead("", nodes.row("", *map(cell, heads)))
    group += nodes.tbody("", *(nodes.row("", *map(cell, row)) for row in rows))
    return nodes.table("", group, classes=["ww-devices"])


def cell(value: object) -> nodes.entry:
    """Return the entry for a number, a text, or a (name, unit) pair."""
    if isinstance(value, tuple):
        name, unit = value
        words = nodes.paragraph("", name)
        if unit:
            words += [nodes.Text(" "), nodes.inline("", unit, classes=["ww-unit"])]
    else:
        shown = f"{value:,}" if isinstance(value, int | float) else str(value)
        words = nodes.paragraph("", shown)
    return nodes.entry("", words)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directives."""
    app.add_directive("device-table", DeviceTable)
    app.add_directive("limit-table", LimitTable)
    app.add_directive("limit-notes", LimitNotes)
    app.add_directive("device-sources", DeviceSources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

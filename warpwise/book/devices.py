"""The directives behind the page of GPUs: tables of ``warpwise.devices``, one row for each device or limit, none of it typed again.

Headings and units stand here; what a limit means is its comment in ``Multiprocessor``, and the sources are the module's docstring.
Tables come with the theme's box around them, which scrolls on a narrow screen and takes the arrow keys.
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

from warpwise import devices
from warpwise.book.reference import parsed
from warpwise.devices import DEVICES, KB, MB, MULTIPROCESSORS, Device, Multiprocessor


@dataclass(frozen=True)
class Column:
    """One heading of the table of products, and what stands below it."""

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

#: Field of ``Multiprocessor`` -> (name of the limit, unit, what to divide by).
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
    "shared_wavefronts": ("Shared memory", "wavefront per clock", 1),
    "l1_bytes_per_clock": ("L1 cache", "bytes per clock", 1),
}


class DeviceTable(SphinxDirective):
    """``{device-table}``: a row for each GPU of ``warpwise.devices``."""

    def run(self) -> list[nodes.Node]:
        noted(self)
        heads = [(column.title, column.unit) for column in COLUMNS]
        return [table(heads, [[column.of(device) for column in COLUMNS] for device in DEVICES], "ww-devices")]


class LimitTable(SphinxDirective):
    """``{limit-table}``: a row for each limit in which compute capabilities differ, a column for each of them."""

    def run(self) -> list[nodes.Node]:
        noted(self)
        heads = [("Compute capability", ""), *((dotted(cc), "") for cc in MULTIPROCESSORS)]
        rows = [[LIMITS[name][:2], *values(name)] for name in LIMITS if len(set(values(name))) > 1]
        return [table(heads, rows, "ww-devices")]


class LimitNotes(SphinxDirective):
    """``{limit-notes}``: what the rows mean, in the words of the code's comments; with ``:same:``, the limits that are the same on all."""

    option_spec: ClassVar = {"same": directives.flag}

    def run(self) -> list[nodes.Node]:
        noted(self)
        explained = comments()
        lines = []
        for name, (title, of, _) in LIMITS.items():
            same, meaning = len(set(values(name))) == 1, explained.get(name, "")
            value = f" {values(name)[0]:,}{of and ' ' + of}" if same else ""
            if same == ("same" in self.options) and (value or meaning):
                lines.append(f"- {title}:{value}{', ' if value and meaning else ' ' if meaning else ''}{meaning}")
        return parsed(self, lines)


class DeviceSources(SphinxDirective):
    """``{device-sources}``: where the figures come from, as the module says it."""

    def run(self) -> list[nodes.Node]:
        noted(self)
        return parsed(self, devices.__doc__.partition("\n\n")[2].splitlines())


def knee(flops_per_s: float, device: Device) -> float:
    """Floating-point operations per byte of DRAM at which a peak rate and the bandwidth take equally long."""
    return flops_per_s / device.dram_bytes_per_s


def noted(directive: SphinxDirective) -> None:
    """Have the page built anew when the table of GPUs changes."""
    directive.env.note_dependency(devices.__file__)


def dotted(compute_capability: tuple[int, int]) -> str:
    return ".".join(map(str, compute_capability))


def values(name: str) -> list[int]:
    """A limit of each compute capability, in its unit."""
    return [getattr(sm, name) // LIMITS[name][2] for sm in MULTIPROCESSORS.values()]


def comments() -> dict[str, str]:
    """Field of ``Multiprocessor`` -> its comment, for those that have one."""
    found = ModuleAnalyzer.for_module(devices.__name__).find_attr_docs()
    texts = {f.name: " ".join(found.get((Multiprocessor.__name__, f.name), ())).strip() for f in fields(Multiprocessor)}
    return {name: text for name, text in texts.items() if text}


def table(heads: list[tuple[str, str]], rows: Iterable[list[object]], kind: str) -> nodes.table:
    """A table whose first column names its rows, with units below the headings, set as numbers."""
    group = nodes.tgroup("", cols=len(heads))
    group += [nodes.colspec(colwidth=1, **({"stub": 1} if not at else {})) for at in range(len(heads))]
    group += nodes.thead("", nodes.row("", *(nodes.entry("", head(title, unit)) for title, unit in heads)))
    group += nodes.tbody("", *(nodes.row("", *map(cell, row)) for row in rows))
    return nodes.table("", group, classes=[kind])


def head(title: str, unit: str) -> nodes.paragraph:
    words = nodes.paragraph("", title)
    if unit:
        words += [nodes.Text(" "), nodes.inline("", unit, classes=["ww-unit"])]
    return words


def cell(value: object) -> nodes.entry:
    """A number, a text, or a (name, unit) pair."""
    if isinstance(value, tuple):
        return nodes.entry("", head(*value))
    return nodes.entry("", nodes.paragraph("", f"{value:,}" if isinstance(value, int | float) else str(value)))


def setup(app: Sphinx) -> dict:
    """Called by Sphinx through ``app.setup_extension``."""
    app.add_directive("device-table", DeviceTable)
    app.add_directive("limit-table", LimitTable)
    app.add_directive("limit-notes", LimitNotes)
    app.add_directive("device-sources", DeviceSources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

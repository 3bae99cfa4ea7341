"""A compiled kernel as rich tables for a terminal, and as plain values for JSON.

``sass`` is NVIDIA's name for its machine code."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from warpwise.toolchain.compilation import Compiled
from warpwise.toolchain.machine_code import KINDS, Instruction, Line, by_line

#: Fields of Compiled, and the heads of their columns.
SIZES = {
    "registers": "registers",
    "spill_load_bytes": "spill loads",
    "spill_store_bytes": "spill stores",
    "shared_bytes": "shared",
    "stack_bytes": "stack",
    "constant_bytes": "constant",
}
PIPED = 140  # columns, where there is no terminal


def show(
    results: Sequence[Compiled],
    threads: int,
    ptx: bool = False,
    sass: bool = False,
    console: Console | None = None,
) -> None:
    """Print tables of one kernel for each compute capability.

    ``sass``: with each source line's instructions."""
    width = None if sys.stdout.isatty() else PIPED
    console = console or Console(markup=False, highlight=False, width=width)
    first = results[0]
    console.print(f"{first.signature}  {Path(first.file).name}:{first.line}\n", soft_wrap=True)
    console.print(_resources(results, threads))
    if first.unlinked:
        names = ", ".join(first.unlinked)
        console.print(f"Not counted, because they are linked in later: {names}", soft_wrap=True)
    for result in results:
        console.print(f"\ncc {_cc(result)}: machine instructions by source line")
        console.print(_listing(result, sass))
        if ptx:
            console.print(f"\ncc {_cc(result)}: PTX\n{result.ptx}", soft_wrap=True)


def plain(result: Compiled, threads: int, ptx: bool = False, sass: bool = False) -> dict[str, Any]:
    """Return the same as numbers, texts, lists and dictionaries."""
    full = result.occupancy(threads)
    named = ("kernel", "signature", "file", "line", "unlinked")
    found: dict[str, Any] = {name: getattr(result, name) for name in named}
    found["cc"] = _cc(result)
    found |= {name: getattr(result, name) for name in SIZES}
    found |= {"threads": threads, "occupancy": asdict(full) if full else None}
    found["lines"] = [_plain_line(line, sass) for line in by_line(result.machine_code)]
    return found | ({"ptx": result.ptx} if ptx else {})


def _plain_line(line: Line, sass: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"file": line.file, "line": line.line, "source": _source(line)}
    found["instructions"] = line.counts
    return found | ({"sass": list(map(_text, line.instructions))} if sass else {})


def _resources(results: Iterable[Compiled], threads: int) -> Table:
    table = Table("cc", box=box.SIMPLE_HEAD, show_edge=False)
    for head in SIZES.values():
        table.add_column(head, justify="right")
    table.add_column(f"occupancy, blocks of {threads} threads")
    for result in results:
        registers, *sizes = (getattr(result, name) for name in SIZES)
        cells = (f"{size:,} B" for size in sizes)
        table.add_row(_cc(result), str(registers), *cells, _full(result, threads))
    return table


def _full(result: Compiled, threads: int) -> str:
    found = result.occupancy(threads)
    if found is None:
        return "no such GPU in the table"
    blocks = f"{found.blocks} blocks on an SM of {found.device}"
    return f"{100 * found.fraction:.0f} %, {blocks}, limited by {found.limiter}"


def _listing(result: Compiled, sass: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("source", no_wrap=True, overflow="ellipsis")
    for kind in (*KINDS, "all"):
        table.add_column(kind, justify="right", no_wrap=True, min_width=len(kind))
    for line in by_line(result.machine_code):
        counts = [*line.counts.values(), len(line.instructions)]
        cells = (str(count) if count else "" for count in counts)
        table.add_row(_place(line, result), _source(line), *cells)
        for instruction in line.instructions if sass else ():
            table.add_row("", f"  {_text(instruction)}", style="dim")
    return table


def _text(instruction: Instruction) -> str:
    return f"{instruction.address:04x}  {' '.join(instruction.text.split())}"


def _place(line: Line, result: Compiled) -> str:
    """Return the line's number, with its file where that is not the kernel's."""
    return str(line.line) if line.file == result.file else f"{Path(line.file).name}:{line.line}"


def _source(line: Line) -> str:
    return linecache.getline(line.file, line.line).rstrip()


def _cc(result: Compiled) -> str:
    return f"{result.cc[0]}.{result.cc[1]}"

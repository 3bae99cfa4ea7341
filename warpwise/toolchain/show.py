"""What was compiled, for a terminal as rich tables, and as plain values for JSON. ``sass`` is what NVIDIA calls its machine code."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from warpwise.toolchain.compiled import Compiled
from warpwise.toolchain.machine_code import KINDS, Instruction, Line, by_line

SIZES = ("registers", "spill_load_bytes", "spill_store_bytes", "shared_bytes", "stack_bytes", "constant_bytes")
HEADS = ("registers", "spill loads", "spill stores", "shared", "stack", "constant")
PIPED = 140  # columns, where there is no terminal


def show(results: Sequence[Compiled], threads: int, ptx: bool = False, sass: bool = False, console: Console | None = None) -> None:
    """Print what the compiler made of one kernel, for each compute capability; a source line's instructions if ``sass`` is true."""
    console = console or Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else PIPED)
    first = results[0]
    console.print(f"{first.signature}  {Path(first.file).name}:{first.line}\n", soft_wrap=True)
    console.print(_resources(results, threads))
    if first.unlinked:
        console.print(f"Not counted, for they are linked in later: {', '.join(first.unlinked)}", soft_wrap=True)
    for result in results:
        console.print(f"\ncc {_cc(result)}: machine instructions by source line")
        console.print(_listing(result, sass))
        if ptx:
            console.print(f"\ncc {_cc(result)}: PTX\n{result.ptx}", soft_wrap=True)


def plain(result: Compiled, threads: int, ptx: bool = False, sass: bool = False) -> dict:
    """The same as numbers, texts, lists and dictionaries."""
    full = result.occupancy(threads)
    found = {name: getattr(result, name) for name in ("kernel", "signature", "file", "line", "unlinked")} | {"cc": _cc(result)}
    found |= {name: getattr(result, name) for name in SIZES} | {"threads": threads, "occupancy": asdict(full) if full else None}
    found["lines"] = [_plain_line(line, sass) for line in by_line(result.machine_code)]
    return found | ({"ptx": result.ptx} if ptx else {})


def _plain_line(line: Line, sass: bool) -> dict:
    found = {"file": line.file, "line": line.line, "source": _source(line), "instructions": line.counts}
    return found | ({"sass": [_text(instruction) for instruction in line.instructions]} if sass else {})


def _resources(results: Iterable[Compiled], threads: int) -> Table:
    table = Table("cc", box=box.SIMPLE_HEAD, show_edge=False)
    for head in HEADS:
        table.add_column(head, justify="right")
    table.add_column(f"occupancy, blocks of {threads} threads")
    for result in results:
        first, *sizes = (getattr(result, name) for name in SIZES)
        table.add_row(_cc(result), str(first), *(f"{size:,} B" for size in sizes), _full(result, threads))
    return table


def _full(result: Compiled, threads: int) -> str:
    found = result.occupancy(threads)
    if found is None:
        return "no such GPU in the table"
    return f"{100 * found.fraction:.0f} %, {found.blocks} blocks on an SM of {found.device}, limited by {found.limiter}"


def _listing(result: Compiled, sass: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("source", no_wrap=True, overflow="ellipsis")
    for kind in (*KINDS, "all"):
        table.add_column(kind, justify="right", no_wrap=True, min_width=len(kind))
    for line in by_line(result.machine_code):
        counts = [*line.counts.values(), len(line.instructions)]
        table.add_row(_place(line, result), _source(line), *(str(count) if count else "" for count in counts))
        for instruction in line.instructions if sass else ():
            table.add_row("", f"  {_text(instruction)}", style="dim")
    return table


def _text(instruction: Instruction) -> str:
    return f"{instruction.address:04x}  {' '.join(instruction.text.split())}"


def _place(line: Line, result: Compiled) -> str:
    """The line's number; with its file, for code that comes from another one than the kernel."""
    return str(line.line) if line.file == result.file else f"{Path(line.file).name}:{line.line}"


def _source(line: Line) -> str:
    return linecache.getline(line.file, line.line).rstrip()


def _cc(result: Compiled) -> str:
    return f"{result.cc[0]}.{result.cc[1]}"

"""Tables of text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

import typer


def print_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print columns, each as wide as its widest cell. A cell may have several lines."""
    cells = [[str(cell).split("\n") for cell in row] for row in (heads, *rows)]
    lines = [line for row in cells for line in zip_longest(*row, fillvalue="")]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        typer.echo("  ".join(padded).rstrip())

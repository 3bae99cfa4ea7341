"""A bar on a terminal, for commands that take a while."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer


@contextmanager
def bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show a bar of what is done, on a terminal and nowhere else."""
    if not sys.stderr.isatty():
        yield None
        return
    with typer.progressbar(length=1, label=label, show_eta=False, file=sys.stderr) as shown:

        def tick(done: int, of: int) -> None:
            shown.length = of
            shown.update(max(0, done - shown.pos))

        yield tick
        tick(shown.length or 1, shown.length or 1)

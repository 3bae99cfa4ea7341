"""A bar for long launches: blocks done, on standard error, where there is tqdm.

A bar is for somebody who waits. In the output of a cell it also makes that output depend on the
speed of the machine, so there is none in a notebook that a program runs (nbval, nbclient, Jupyter
Book), which compares or keeps the outputs of its cells. A person's notebook is saved and may be
compared later, so there the bar is a line of text that is replaced by nothing: of tqdm's widget the
text would stay."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from warpwise.person import live_notebook

PATIENCE = 1.0  # seconds before a bar that nobody asked for appears
OFTEN = 0.2  # seconds between two changes of a line


class Progress:
    """Counts the blocks of one launch.

    ``wish``: True shows a bar, False none, and None one after PATIENCE where somebody may see it.
    In a notebook that a program runs there is never one."""

    def __init__(self, name: str, blocks: int, wish: bool | None):
        self.name, self.blocks, self.done = name, blocks, 0
        self.live = live_notebook()
        self.wanted = self.live is not False and (_watched(self.live) if wish is None else wish)
        self.due = time.monotonic() + (PATIENCE if wish is None else 0)
        self.bar: Any = None

    def advance(self, blocks: int) -> None:
        self.done += blocks
        if self.bar is not None:
            self.bar.update(blocks)
        elif self.wanted and time.monotonic() >= self.due:
            kind = _Line if self.live else _bar
            self.bar = kind(self.name, self.blocks, self.done)
            self.wanted = self.bar is not None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()


def _watched(live: bool | None) -> bool:
    """True for a live notebook and a terminal, unless TQDM_DISABLE is set.

    tqdm's own bars in notebooks pass that over."""
    if os.environ.get("TQDM_DISABLE"):
        return False
    return bool(live or getattr(sys.stderr, "isatty", bool)())


class _Line:
    """A line of text in a notebook's cell, of which an output without content is left."""

    def __init__(self, name: str, blocks: int, done: int):
        from IPython.display import display

        self.name, self.blocks, self.done = name, blocks, done
        self.handle = display(self._text(), raw=True, display_id=True)
        self.due = time.monotonic() + OFTEN

    def _text(self) -> dict[str, str]:
        return {"text/plain": f"{self.name}: {self.done:,} of {self.blocks:,} blocks"}

    def update(self, blocks: int) -> None:
        self.done += blocks
        if time.monotonic() >= self.due:
            self.handle.update(self._text(), raw=True)
            self.due = time.monotonic() + OFTEN

    def close(self) -> None:
        self.handle.update({}, raw=True)


def _bar(name: str, blocks: int, done: int) -> Any:
    """Return a bar of tqdm's, None where there is none."""
    try:
        from tqdm.auto import tqdm

        return tqdm(
            total=blocks, initial=done, desc=name, unit=" blocks", file=sys.stderr, leave=False
        )
    except ImportError:  # of tqdm, or of the widgets that it wants in a notebook
        return None

"""A bar for long launches: blocks done, on standard error. It needs tqdm, and does without where that is not installed."""

from __future__ import annotations

import os
import sys
import time

PATIENCE = 1.0  # seconds before a bar that nobody asked for appears


class Progress:
    """Counts the blocks of one launch. ``wish``: True shows a bar, False none; None one that has to wait, where somebody may see it."""

    def __init__(self, name: str, blocks: int, wish: bool | None):
        self.name, self.blocks, self.done = name, blocks, 0
        self.wanted = _watched() if wish is None else wish
        self.due = time.monotonic() + (PATIENCE if wish is None else 0)
        self.bar = None

    def advance(self, blocks: int) -> None:
        self.done += blocks
        if self.bar is not None:
            self.bar.update(blocks)
        elif self.wanted and time.monotonic() >= self.due:
            self.bar = _bar(self.name, self.blocks, self.done)
            self.wanted = self.bar is not None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_) -> None:
        if self.bar is not None:
            self.bar.close()


def _watched() -> bool:
    """A terminal, or a notebook's kernel. Not where tqdm's own switch is set, which its bars in notebooks pass over."""
    if os.environ.get("TQDM_DISABLE"):
        return False
    shell = sys.modules.get("IPython")
    in_notebook = shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
    return in_notebook or bool(getattr(sys.stderr, "isatty", bool)())


def _bar(name: str, blocks: int, done: int):
    try:
        from tqdm.auto import tqdm

        return tqdm(total=blocks, initial=done, desc=name, unit=" blocks", file=sys.stderr, leave=False)
    except ImportError:  # of tqdm, or of the widgets that it wants in a notebook
        return None

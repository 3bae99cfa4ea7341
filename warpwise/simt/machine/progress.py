"""A bar for long launches: blocks done, on standard error. Without tqdm there is none.

A bar is for somebody who waits. In the output of a cell it also makes that output depend on the
speed of the machine, so there is none in a notebook that a program runs (nbval, nbclient, Jupyter
Book), which compares or keeps the outputs of its cells."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

PATIENCE = 1.0  # seconds before a bar that nobody asked for appears


class Progress:
    """Counts the blocks of one launch.

    ``wish``: True shows a bar, False none, and None one after PATIENCE where somebody may see it.
    In a notebook that a program runs there is never one."""

    def __init__(self, name: str, blocks: int, wish: bool | None):
        self.name, self.blocks, self.done = name, blocks, 0
        live = _live_notebook()
        self.wanted = live is not False and (_watched(live) if wish is None else wish)
        self.due = time.monotonic() + (PATIENCE if wish is None else 0)
        self.bar: Any = None

    def advance(self, blocks: int) -> None:
        self.done += blocks
        if self.bar is not None:
            self.bar.update(blocks)
        elif self.wanted and time.monotonic() >= self.due:
            self.bar = _bar(self.name, self.blocks, self.done)
            self.wanted = self.bar is not None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()


def _live_notebook() -> bool | None:
    """True in a notebook that a person runs, False in one that a program runs, None elsewhere.

    They differ in ``allow_stdin`` of the request to run a cell: front ends for people, where
    ``input()`` is answered, set it; nbval and nbclient do not.
    https://jupyter-client.readthedocs.io/en/stable/messaging.html#execute"""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel") or not hasattr(shell, "get_parent"):
        return None
    return bool(shell.get_parent().get("content", {}).get("allow_stdin"))


def _watched(live: bool | None) -> bool:
    """True for a live notebook and a terminal, unless TQDM_DISABLE is set.

    tqdm's own bars in notebooks pass that over."""
    if os.environ.get("TQDM_DISABLE"):
        return False
    return bool(live or getattr(sys.stderr, "isatty", bool)())


def _bar(name: str, blocks: int, done: int) -> Any:
    """Return a bar of tqdm's, None where there is none."""
    try:
        from tqdm.auto import tqdm

        return tqdm(
            total=blocks, initial=done, desc=name, unit=" blocks", file=sys.stderr, leave=False
        )
    except ImportError:  # of tqdm, or of the widgets that it wants in a notebook
        return None

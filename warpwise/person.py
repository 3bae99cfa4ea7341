"""Whether somebody watches: a person before a notebook or a terminal, and not a program.

What takes seconds, or depends on the machine, is for people. A program that runs notebooks (nbval,
nbclient, Jupyter Book) compares or keeps what cells show, so there it is left out."""

from __future__ import annotations

import sys
from typing import Any


def live_notebook() -> bool | None:
    """True in a notebook that a person runs, False in one that a program runs, None elsewhere.

    They differ in ``allow_stdin`` of the request to run a cell: front ends for people, where
    ``input()`` is answered, set it; nbval and nbclient do not.
    https://jupyter-client.readthedocs.io/en/stable/messaging.html#execute"""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel") or not hasattr(shell, "get_parent"):
        return None
    return bool(shell.get_parent().get("content", {}).get("allow_stdin"))


def reads_here() -> bool:
    """True where a person reads what is printed: in a live notebook, and in a terminal."""
    live = live_notebook()
    return bool(getattr(sys.stdout, "isatty", bool)()) if live is None else live

"""The example below a command's help: a line that runs as it is, where its files are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

WORD = "Example: "  #: how the line begins


def command(app: typer.Typer, does: Callable[..., Any], example: str, name: str = "") -> None:
    """Put a command into an app, with the example that its help ends with.

    ``example`` is what stands after ``warpwise``; ``name`` is the command's, by default that of the
    function."""
    app.command(name or None, epilog=f"{WORD}warpwise {example}")(does)

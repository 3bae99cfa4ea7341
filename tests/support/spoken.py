"""The burst widget's words about a request, in Python, to compare its script's with."""

from __future__ import annotations

from math import floor

from warpwise.views.request import TOY_BURST, Request


def share(request: Request) -> str:
    """Say what the request touches and uses."""
    unit, part = _words(request)
    return (
        f"The request touches {_plural(request.sectors, unit)} of {request.unit} {part}s and uses "
        f"{request.used} of the {request.moved} {part}s moved, "
        f"{floor(request.used / request.moved * 1000 + 0.5) / 10:g} %."
    )


def sentence(request: Request) -> str:
    """Say the same, and whether fewer sectors would do."""
    return share(request) + (
        f" {_plural(request.ideal, _words(request)[0])} could hold what it uses."
        if request.wasted
        else ""
    )


def _words(request: Request) -> tuple[str, str]:
    return ("burst", "value") if request.unit == TOY_BURST else ("sector", "byte")


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"

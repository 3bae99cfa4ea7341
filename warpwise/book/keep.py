"""``keep``: values that a chapter computes and its text shows with ``{glue:text}``."""

from __future__ import annotations

from typing import Any

from myst_nb import glue


def keep(**values: Any) -> None:
    """Keep each value under its name, for the text. Nothing is shown where ``keep`` is called."""
    for name, value in values.items():
        glue(name, value, display=False)

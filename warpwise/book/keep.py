"""``keep``: values that a chapter computes and its text shows with ``{glue:text}``."""

from __future__ import annotations

from myst_nb import glue


def keep(**values: object) -> None:
    """Keep each value under its name for the text, and display nothing."""
    for name, value in values.items():
        glue(name, value, display=False)

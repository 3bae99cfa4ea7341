"""``keep``: values that a chapter computes and its text shows with ``{glue:text}``."""

from __future__ import annotations


def keep(**values: object) -> None:
    """Keep each value under its name for the text, and display nothing.

    Where there is no MyST-NB, as on a page, there is no text to fill either."""
    try:
        from myst_nb import glue
    except ImportError:
        return
    for name, value in values.items():
        glue(name, value, display=False)

"""The labs that an option ``--lab`` means, said where their names were not given in full."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import typer

from warpwise.labs.chosen import MISSING, chosen


def labs_meant(
    stems: Sequence[str], wanted: Iterable[str], missing: str = MISSING
) -> tuple[str, ...]:
    """Return the stems of the wanted labs, and say on standard error which were meant.

    Raises LabError as ``chosen`` does."""
    found = []
    for text in wanted:
        [stem] = chosen(stems, [text], missing)
        if stem != text:
            typer.echo(f"warpwise: lab {text} is {stem}", err=True)
        found.append(stem)
    return tuple(dict.fromkeys(found))

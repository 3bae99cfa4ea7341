"""A student's feedback as one self-contained HTML page, ``feedback.html.j2``.

It has no script and needs no other file, and suits light and dark, narrow screens, screen readers
and paper. Everything from outside is escaped but the pictures, which the simulation's process drew
(``labs.still``)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup, escape

from warpwise.grading.feedback.values import FOOTER, Bar, Notes, named, notebooks
from warpwise.grading.record import Record
from warpwise.grading.scoring.standing import Standings
from warpwise.grading.templates import environment
from warpwise.labs.source import Lab

LIMIT_AT = 60  #: percent of a bar's length at which feedback.css marks the budget


def page(
    student: str,
    records: Sequence[Record],
    labs: Mapping[str, Lab],
    notes: Notes | None = None,
    standings: Standings | None = None,
) -> str:
    """Return the page of one student, with all their labs."""
    return TEMPLATES.get_template("feedback.html.j2").render(
        student=named(student, records, standings),
        notebooks=notebooks(records, labs, notes, standings),
        footer=FOOTER,
    )


def inline(text: str) -> Markup:
    """Render a line of a lab's Markdown: code as code, emphasis as plain text."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text.replace("*", ""))))


def length(bar: Bar) -> int:
    """Return the length of a bar in percent; the words beside it say the same."""
    share = (2.0 if bar.over else 0.0) if bar.share is None else bar.share
    return min(100, round(LIMIT_AT * share))


TEMPLATES = environment(Path(__file__).parent)
TEMPLATES.filters |= {"inline": inline, "length_of_bar": length}

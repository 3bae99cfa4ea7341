"""The bibliography's style: entries labelled by author and year, as the text cites them."""

from __future__ import annotations

from collections.abc import Iterable

from pybtex.database import Entry
from pybtex.plugin import register_plugin
from pybtex.style.formatting.plain import Style as Plain
from pybtex.style.labels import BaseLabelStyle


class AuthorYearLabels(BaseLabelStyle):  # type: ignore[misc]  # pybtex has no types
    """Labels such as "Dao et al., 2022", by which entries are sorted too."""

    def format_labels(self, sorted_entries: Iterable[Entry]) -> list[str]:
        return [f"{authors(entry)}, {entry.fields.get('year', 'n.d.')}" for entry in sorted_entries]


class AuthorYear(Plain):  # type: ignore[misc]  # pybtex has no types
    """Pybtex's plain style with author-year labels."""

    default_label_style = AuthorYearLabels


def authors(entry: Entry) -> str:
    """Return one or two family names, or the first and "et al."; organisations in full."""
    names = [
        " ".join(person.prelast_names + person.last_names).strip("{}")
        for person in entry.persons["author"]
    ]
    return " and ".join(names) if len(names) < 3 else f"{names[0]} et al."


def register() -> None:
    """Register the style with sphinxcontrib-bibtex as ``warpwise``."""
    register_plugin("pybtex.style.formatting", "warpwise", AuthorYear)

"""The bibliography's style: entries are headed by author and year, as the text cites them, and sorted so."""

from __future__ import annotations

from pybtex.plugin import register_plugin
from pybtex.style.formatting.plain import Style as Plain
from pybtex.style.labels import BaseLabelStyle


class AuthorYearLabels(BaseLabelStyle):
    """Labels such as "Dao et al., 2022"."""

    def format_labels(self, sorted_entries):
        return [f"{authors(entry)}, {entry.fields.get('year', 'n.d.')}" for entry in sorted_entries]


class AuthorYear(Plain):
    """Pybtex's plain style, under labels of author and year."""

    default_label_style = AuthorYearLabels


def authors(entry) -> str:
    """One or two family names, or the first of more "et al."; an organisation keeps its whole name."""
    names = [" ".join(person.prelast_names + person.last_names).strip("{}") for person in entry.persons["author"]]
    return " and ".join(names) if len(names) < 3 else f"{names[0]} et al."


def register() -> None:
    """Make the style known to sphinxcontrib-bibtex as ``warpwise``."""
    register_plugin("pybtex.style.formatting", "warpwise", AuthorYear)

"""``{found} mistake``: lists of what the simulator said of kernels in public repositories.

The page "Found in the wild" shows them. They are made of ``chapters/found_in_the_wild.toml``, which
holds a row for each kernel that was run; nothing of those kernels' text is kept.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from warpwise.book.markup import parsed
from warpwise.book.mistakes import FOLDER

DATA = FOLDER.parent / "found_in_the_wild.toml"
#: What can come of a kernel, and how the table of repositories calls it.
RESULTS = {
    "right": "right",
    "ran": "ended",
    "mistake": "mistakes",
    "harmless": "harmless",
    "announced": "announced",
    "refused": "refused",
}


@dataclass(frozen=True)
class Found:
    """A kernel that was run: where it is, what came of it, and the place or reason if it says."""

    repository: str
    commit: str
    path: str
    kernel: str
    result: str
    said: str = ""

    @property
    def address(self) -> str:
        """The file, as its repository shows it at that commit."""
        return f"https://github.com/{self.repository}/blob/{self.commit}/{quote(self.path)}"


class Kernels(SphinxDirective):
    """``{found} repositories``, or ``{found} mistake`` for the kernels with that result."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(DATA))
        (what,) = self.arguments
        found = survey()
        return parsed(self, by_repository(found) if what == "repositories" else rows(found, what))


def survey(path: Path = DATA) -> tuple[Found, ...]:
    """Return every kernel that was run, in the order of the file."""
    data = tomllib.loads(path.read_text("utf-8"))
    return tuple(
        Found(repository["name"], repository["commit"], *row)
        for repository in data["repository"]
        for row in repository["kernels"]
    )


def counts(found: tuple[Found, ...]) -> Counter[str]:
    """Return how many kernels each result has."""
    return Counter(one.result for one in found)


def by_repository(found: tuple[Found, ...]) -> list[str]:
    """Return lines of MyST: a table with the counts of each repository."""
    lines = [row("repository", *RESULTS.values()), row("---", *("--:" for _ in RESULTS))]
    for name in dict.fromkeys(one.repository for one in found):
        of = counts(tuple(one for one in found if one.repository == name))
        lines.append(row(name, *(str(of[result] or "") for result in RESULTS)))
    return lines


def rows(found: tuple[Found, ...], result: str) -> list[str]:
    """Return lines of MyST: a list of the kernels with one result, and what was said of them."""
    return [
        f"- [{code(one.kernel)}]({one.address}) of {one.repository}: {code(one.said)}"
        for one in found
        if one.result == result
    ]


def row(*cells: str) -> str:
    """Return one line of a table."""
    return f"| {' | '.join(cells)} |"


def code(text: str) -> str:
    """Return text set as code."""
    return f"`{text}`"

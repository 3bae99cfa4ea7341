"""A chapter's opening: one quiet line of objectives and time; exercises carry its number.

A chapter opens with its question and a picture to touch. What it teaches, how long it takes and
what it needs come below as one line that opens:

    After this chapter we can

    - objectives, as the first list;

    Reading takes about 50 minutes; the lab takes 60 to 90.

The folding is done for the page alone: ``contents`` reads the same blocks from the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.typing import ExtensionMetadata

from warpwise.book.contents import CHAPTER, Opening, opening
from warpwise.book.markup import tag

NUMBER = re.compile(r"chapters/0?(\d+)_")
KIND = "exercise"  #: as sphinx-exercise calls what it numbers


class FoldOpening(SphinxPostTransform):
    """Fold a chapter's objectives, its time and what it needs into one line."""

    default_priority = 6

    def run(self, **kwargs: Any) -> None:
        if not CHAPTER.fullmatch(self.env.docname):
            return
        found = opening(self.document)
        if found.objectives is not None and found.reading is not None:
            fold(list(folded(found.objectives)), line(found))


def folded(objectives: nodes.bullet_list) -> Iterator[nodes.Node]:
    """Yield the paragraph above the objectives, the objectives, and the paragraphs below."""
    blocks = objectives.parent.children
    at = blocks.index(objectives)
    yield blocks[at - 1]
    yield objectives
    for block in blocks[at + 1 :]:
        if not isinstance(block, nodes.paragraph):
            return
        yield block


def fold(blocks: list[nodes.Node], words: str) -> None:
    """Put blocks that follow each other into ``<details>`` where the first one stood."""
    box = tag("details", "ww-opening", tag("summary", "", nodes.Text(words)))
    above = blocks[0].parent
    above.insert(above.index(blocks[0]), box)
    for block in blocks:
        above.remove(block)
        box.append(block)


def line(found: Opening) -> str:
    """Return the line in sight, such as "45 minutes to read, 60 to 90 for the lab"."""
    lab = f", {found.lab} for the lab" if found.lab else ""
    return f"{found.reading} minutes to read{lab}: what we learn, and what it takes"


def counted(env: BuildEnvironment) -> dict[str, Any]:
    """Return the numbers of the last build as Sphinx counted them, by page."""
    kept: dict[str, Any] = vars(env).setdefault("warpwise_counted", {})
    return kept


def restore(app: Sphinx, env: BuildEnvironment) -> Iterable[str]:
    """Give Sphinx its own numbers back, or every page would seem to have changed."""
    env.toc_fignumbers.update(counted(env))
    return []


def renumber(app: Sphinx, env: BuildEnvironment) -> Iterable[str]:
    """Number exercises within their chapter: (17,) becomes (3, 2)."""
    vars(env)["warpwise_counted"] = dict(env.toc_fignumbers)
    for page, kinds in env.toc_fignumbers.items():
        if (chapter := NUMBER.match(page)) and KIND in kinds:
            ordered = sorted(kinds[KIND], key=kinds[KIND].__getitem__)
            own: dict[str, tuple[int, ...]] = {
                label: (int(chapter[1]), place) for place, label in enumerate(ordered, 1)
            }
            env.toc_fignumbers[page] = {**kinds, KIND: own}
    return []


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the folding, and the numbering around Sphinx's own, at 500."""
    app.setup_extension("warpwise.book.contents")
    app.add_post_transform(FoldOpening)
    app.connect("env-get-updated", restore, priority=400)
    app.connect("env-get-updated", renumber, priority=600)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}

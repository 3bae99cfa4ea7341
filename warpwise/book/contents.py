"""``{chapters-list}``: each chapter with its question, times, objectives, lab and quiz.

Everything is read from the chapter's own opening, which therefore has to look like this; the build
warns about one that does not:

    # Chapter 8: Coalescing

    **The question, as a paragraph in bold.**

    After this chapter we can

    - objectives, as the first list;

    Reading takes about 50 minutes; the lab takes 60 to 90.

A placeholder stands in for the list until all pages are read. Chapters are the pages of
``_toc.yml`` whose file has a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri
from sphinx.util.typing import ExtensionMetadata

from warpwise.book import labs, quiz
from warpwise.book.markup import Tag, tag
from warpwise.model.arguments import quantity

# pages in folders below, such as the teaching guides, are no chapters
CHAPTER = re.compile(r"chapters/\d\d_\w+")
READING = re.compile(r"Reading takes about (\d+) minutes")
LAB = re.compile(r"\blab\b[^.]*? takes (\d+(?: to \d+)?)\b")
log = logging.getLogger(__name__)


class chapters_list(nodes.General, nodes.Element):
    """A placeholder for the list."""


class ChaptersList(SphinxDirective):
    """The directive; it has neither arguments nor content."""

    def run(self) -> list[nodes.Node]:
        for page in chapters(site_map(self.env)):
            self.env.note_dependency(self.env.doc2path(page))
        return [chapters_list()]


@dataclass(frozen=True)
class Opening:
    """A chapter's description of itself above its first section; None for what is missing."""

    title: str
    question: nodes.paragraph | None
    objectives: nodes.bullet_list | None
    reading: str | None  #: minutes
    lab: str | None  #: minutes, such as "60 to 90"

    def lacks(self, has_lab: bool) -> Iterator[str]:
        """Yield what is missing, as the author has to write it."""
        if self.question is None:
            yield "a paragraph in bold, its question, below the title"
        if self.objectives is None:
            yield 'a list of objectives, below "After this chapter we can"'
        if self.reading is None:
            yield 'the sentence "Reading takes about N minutes"'
        if has_lab and self.lab is None:
            yield 'how long its lab takes, as "the lab takes N to M" minutes'


def chapters(pages: Iterable[str]) -> list[str]:
    """Return the pages that are chapters, in the order given."""
    return [page for page in pages if CHAPTER.fullmatch(page)]


def site_map(env: BuildEnvironment) -> Iterable[str]:
    """Return all pages in the order of ``_toc.yml``."""
    pages: Iterable[str] = vars(env)["external_site_map"]  # sphinx_external_toc sets it
    return pages


def opening(doctree: nodes.document) -> Opening:
    """Read the blocks between a chapter's title and its first section."""
    title, *blocks = next(doctree.findall(nodes.section)).children
    blocks = [block for block in blocks if not isinstance(block, nodes.section)]
    paragraphs = [block for block in blocks if isinstance(block, nodes.paragraph)]
    texts = [paragraph.astext().replace("\n", " ") for paragraph in paragraphs]
    asks = paragraphs and paragraphs[0] is blocks[0] and all_bold(paragraphs[0])
    return Opening(
        title=title.astext(),
        question=paragraphs[0] if asks else None,
        objectives=next(objective_lists(blocks), None),
        reading=first_match(READING, texts),
        lab=first_match(LAB, texts),
    )


def all_bold(paragraph: nodes.paragraph) -> bool:
    """Return True for a single bold phrase, beside blank text that MyST may leave."""
    phrases = [child for child in paragraph.children if child.astext().strip()]
    return len(phrases) == 1 and isinstance(phrases[0], nodes.strong)


def objective_lists(blocks: list[nodes.Node]) -> Iterator[nodes.bullet_list]:
    """Yield the lists right below "After this chapter we can"."""
    for before, block in pairwise(blocks):
        follows = before.astext().startswith("After this chapter")
        if follows and isinstance(block, nodes.bullet_list):
            yield block


def first_match(pattern: re.Pattern[str], texts: list[str]) -> str | None:
    return next((found[1] for found in map(pattern.search, texts) if found), None)


class FillList(SphinxPostTransform):
    """Replace placeholders before references are resolved (at 10): the copies hold some."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        for place in list(self.document.findall(chapters_list)):
            items = [self.item(page) for page in chapters(site_map(self.env))]
            place.replace_self(tag("ol", "ww-chapters", *items) if items else [])

    def item(self, page: str) -> Tag:
        """Return a chapter's entry, and warn about what its opening lacks."""
        found, ways = opening(self.env.get_doctree(page)), labs.ways(self.app, page, self.address)
        for lacking in found.lacks(has_lab=bool(ways)):
            log.warning("the list of chapters needs %s", lacking, location=(page, 1))
        link = nodes.reference(
            "", found.title, refuri=self.address(page, is_page=True), internal=True
        )
        parts = [tag("p", "ww-chapter-title", link)]
        if found.question is not None:
            asked = self.copied(next(found.question.findall(nodes.strong)))
            parts.append(tag("p", "ww-chapter-question", *asked.children))
        parts.append(tag("p", "ww-chapter-facts", *between(self.facts(page, found, ways))))
        if found.objectives is not None:
            summary = tag("summary", "", nodes.Text("Objectives"))
            folded = tag("details", "ww-objectives", summary, self.copied(found.objectives))
            parts.append(folded)
        return tag("li", "", *parts)

    def facts(self, page: str, found: Opening, ways: list[labs.Way]) -> Iterator[nodes.Node]:
        """Yield the times, the lab's links and the quiz."""
        if found.reading:
            yield tag("span", "", nodes.Text(f"Reading: {found.reading} minutes"))
        if ways:
            takes = f"{found.lab} minutes, " if found.lab else ""
            # Every chapter has the same three words: the label names it to a screen reader.
            labels = [f"{way.text}: {found.title}" for way in ways]
            links = [
                tag("a", "reference", nodes.Text(way.word), href=way.url, aria_label=label)
                for way, label in zip(ways, labels, strict=True)
            ]
            yield tag("span", "", nodes.Text(f"Lab: {takes}"), *between(links, ", "))
        if quizzes := quiz.quizzes_of(self.env, page):
            fresh = f"Quiz: {quantity(len(quizzes), 'question')}"
            names = " ".join(name for name, _ in quizzes)
            yield tag("span", "", nodes.Text(fresh), data_quizzes=names, data_fresh=fresh)

    def copied(self, node: nodes.Element) -> nodes.Element:
        """Return a copy without ids, whose references are resolved from this page."""
        copy = node.deepcopy()
        for inner in copy.findall(nodes.Element):
            inner["ids"] = []
        for reference in copy.findall(addnodes.pending_xref):
            reference["refdoc"] = self.env.docname
        return copy

    def address(self, path: str, is_page: bool = False) -> str:
        """Return a path or page of the site as this page has to write it."""
        own = self.app.builder.get_target_uri(self.env.docname)
        return relative_uri(own, self.app.builder.get_target_uri(path) if is_page else path)


def between(parts: Iterable[nodes.Node], mark: str = " · ") -> Iterator[nodes.Node]:
    """Yield the parts with a mark between them."""
    for i, part in enumerate(parts):
        if i:
            yield nodes.Text(mark)
        yield part


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive and what replaces its placeholder."""
    app.setup_extension("warpwise.book.markup")
    app.setup_extension("warpwise.book.quiz")
    app.add_directive("chapters-list", ChaptersList)
    app.add_post_transform(FillList)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

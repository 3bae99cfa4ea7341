"""``{chapters-list}``: every chapter of ``_toc.yml`` with its question, its times, its objectives, its lab and its quiz.

All of it is read from the chapter's own beginning, so a chapter begins like this, and the build warns where one does not:

    # Chapter 8: Coalescing

    **The question, as a paragraph in bold.**

    After this chapter we can

    - objectives, as the first list;

    Reading takes about 50 minutes; the lab takes 60 to 90.

The list stands in for its chapters until all pages are read. Chapters are the pages whose file has a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

from warpwise.book import labs, quiz
from warpwise.book.tag import Tag, tag
from warpwise.model.arguments import counted

CHAPTER = re.compile(r"chapters/\d\d_\w+")  # what lies in folders below, such as the teaching guides, is none
READING = re.compile(r"Reading takes about (\d+) minutes")
LAB = re.compile(r"\blab\b[^.]*? takes (\d+(?: to \d+)?)\b")
log = logging.getLogger(__name__)


class chapters_list(nodes.General, nodes.Element):
    """Stands where the list will be."""


class ChaptersList(SphinxDirective):
    """The directive; it has neither arguments nor content."""

    def run(self) -> list[nodes.Node]:
        for page in chapters(self.env.external_site_map):
            self.env.note_dependency(self.env.doc2path(page))
        return [chapters_list()]


@dataclass(frozen=True)
class Opening:
    """What a chapter says of itself before it begins; None for what it does not say."""

    title: str
    question: nodes.paragraph | None
    objectives: nodes.bullet_list | None
    reading: str | None  #: minutes
    lab: str | None  #: minutes, such as "60 to 90"

    def lacks(self, has_lab: bool) -> Iterator[str]:
        """What is missing, as the author has to write it."""
        if self.question is None:
            yield "a paragraph in bold, its question, below the title"
        if self.objectives is None:
            yield 'a list of objectives, below "After this chapter we can"'
        if self.reading is None:
            yield 'the sentence "Reading takes about N minutes"'
        if has_lab and self.lab is None:
            yield 'how long its lab takes, as "the lab takes N to M" minutes'


def chapters(pages: Iterable[str]) -> list[str]:
    """The pages that are chapters, in the order given."""
    return [page for page in pages if CHAPTER.fullmatch(page)]


def opening(doctree: nodes.document) -> Opening:
    """What stands between a chapter's title and its first section."""
    section = doctree.next_node(nodes.section)
    blocks = [block for block in section.children if not isinstance(block, (nodes.section, nodes.title))]
    question = next((block for block in blocks[:1] if isinstance(block, nodes.paragraph) and all_bold(block)), None)
    texts = [block.astext().replace("\n", " ") for block in blocks if isinstance(block, nodes.paragraph)]
    return Opening(
        title=section.next_node(nodes.title).astext(),
        question=question,
        objectives=next(objective_lists(blocks), None),
        reading=first_match(READING, texts),
        lab=first_match(LAB, texts),
    )


def all_bold(paragraph: nodes.paragraph) -> bool:
    """Whether there is one bold phrase, beside empty text that MyST may leave."""
    told = [child for child in paragraph.children if child.astext().strip()]
    return len(told) == 1 and isinstance(told[0], nodes.strong)


def objective_lists(blocks: list[nodes.Node]) -> Iterator[nodes.bullet_list]:
    """The lists that stand right below "After this chapter we can"."""
    for before, block in pairwise(blocks):
        if isinstance(block, nodes.bullet_list) and before.astext().startswith("After this chapter"):
            yield block


def first_match(pattern: re.Pattern, texts: list[str]) -> str | None:
    return next((found[1] for found in map(pattern.search, texts) if found), None)


class FillList(SphinxPostTransform):
    """Puts the chapters into the list, before references are resolved (at 10), as the copies hold some."""

    default_priority = 5

    def run(self, **kwargs) -> None:
        for place in list(self.document.findall(chapters_list)):
            items = [self.item(page) for page in chapters(self.env.external_site_map)]
            place.replace_self(tag("ol", "ww-chapters", *items) if items else [])

    def item(self, page: str) -> Tag:
        """A chapter of the list; warns of what the chapter lacks."""
        found, ways = opening(self.env.get_doctree(page)), labs.ways(self.app, page, self.address)
        for lacking in found.lacks(has_lab=bool(ways)):
            log.warning("the list of chapters needs %s", lacking, location=(page, 1))
        link = nodes.reference("", found.title, refuri=self.address(page, is_page=True), internal=True)
        parts = [tag("p", "ww-chapter-title", link)]
        if found.question is not None:
            parts.append(tag("p", "ww-chapter-question", *self.copied(found.question.next_node(nodes.strong)).children))
        parts.append(tag("p", "ww-chapter-facts", *between(self.facts(page, found, ways))))
        if found.objectives is not None:
            parts.append(tag("details", "ww-objectives", tag("summary", "", nodes.Text("Objectives")), self.copied(found.objectives)))
        return tag("li", "", *parts)

    def facts(self, page: str, found: Opening, ways: list[labs.Way]) -> Iterator[nodes.Node]:
        """Times, the lab's links, the quiz."""
        if found.reading:
            yield tag("span", "", nodes.Text(f"Reading: {found.reading} minutes"))
        if ways:
            takes = f"{found.lab} minutes, " if found.lab else ""
            # The same three words stand at every chapter, so each link says to a screen reader which chapter it is of.
            links = [tag("a", "reference", nodes.Text(w.word), href=w.url, aria_label=f"{w.text}: {found.title}") for w in ways]
            yield tag("span", "", nodes.Text(f"Lab: {takes}"), *between(links, ", "))
        if quizzes := quiz.quizzes_of(self.env, page):
            fresh = f"Quiz: {counted(len(quizzes), 'question')}"
            yield tag("span", "", nodes.Text(fresh), data_quizzes=" ".join(name for name, _ in quizzes), data_fresh=fresh)

    def copied(self, node: nodes.Element) -> nodes.Element:
        """A copy whose references are resolved from this page, and whose ids stay with the original."""
        copy = node.deepcopy()
        for inner in copy.findall(nodes.Element):
            inner["ids"] = []
        for reference in copy.findall(addnodes.pending_xref):
            reference["refdoc"] = self.env.docname
        return copy

    def address(self, path: str, is_page: bool = False) -> str:
        """A path or page of the site as this page has to write it."""
        own = self.app.builder.get_target_uri(self.env.docname)
        return relative_uri(own, self.app.builder.get_target_uri(path) if is_page else path)


def between(parts: Iterable[nodes.Node], mark: str = " · ") -> Iterator[nodes.Node]:
    """The parts with a mark between them."""
    for i, part in enumerate(parts):
        if i:
            yield nodes.Text(mark)
        yield part


def setup(app: Sphinx) -> dict:
    """Called by Sphinx through ``app.setup_extension``."""
    app.setup_extension("warpwise.book.tag")
    app.setup_extension("warpwise.book.quiz")
    app.add_directive("chapters-list", ChaptersList)
    app.add_post_transform(FillList)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""``{quiz} name``: a question with explained answers, written as Markdown that reads well as it is.

    ::::{quiz} float64-neighbours
    A full warp reads 32 neighbouring float64 values.
    **How many sectors?**

    - [ ] 4

      That is the count for elements of 4 bytes.

    - [x] 8

      256 bytes lie in 8 full sectors.
    ::::

The last paragraph before the list is what is asked; one option is marked with ``x``; what follows an option explains it. Without
scripts each option opens its explanation; ``static/quiz.js`` makes it a form, and keeps answers in the reader's browser under the
quiz's name, which therefore has to stay the same. What is wrong with a quiz is a warning at its line. There are no points here: those
are the labs' business.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from warpwise.book.tag import Tag, tag

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
HOW = "Open an answer to see whether it is right."
VERDICTS = {True: "Right.", False: "No."}
log = logging.getLogger(__name__)


class Quiz(SphinxDirective):
    """The directive; its argument names the quiz, once in the whole book."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        holder = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, holder)
        asked, items, rest = parts(holder.children)
        own_line = self.get_source_info()[1]
        quizzes_of(self.env, self.env.docname).append((name, own_line))
        for line, problem in problems(name, asked, items, rest):
            log.warning("quiz %s: %s", name, problem, location=(self.env.docname, line or own_line))
        options = [option(item) for item in items if len(item.children) > 1]
        return [tag("div", "ww-quiz", tag("div", "ww-asked", *asked), *options, id=f"quiz-{name}", data_quiz=name)]


def parts(blocks: list[nodes.Node]) -> tuple[list[nodes.Node], list[nodes.list_item], list[nodes.Node]]:
    """What is asked, the options, and what comes after them, which should be nothing."""
    at = next((i for i, block in enumerate(blocks) if isinstance(block, nodes.bullet_list) and marked(block.children[0])), len(blocks))
    return blocks[:at], blocks[at].children if at < len(blocks) else [], blocks[at + 1 :]


def marked(item: nodes.list_item) -> str:
    """The checkbox that MyST's task lists put first, as HTML; empty where an item has none."""
    first = item.next_node(nodes.raw)
    return first.astext() if first is not None and "task-list-item-checkbox" in first.astext() else ""


def right(item: nodes.list_item) -> bool:
    return "checked=" in marked(item)


def problems(name: str, asked: list, items: list, rest: list) -> Iterable[tuple[int | None, str]]:
    """(line, what is wrong), for all that is wrong; the line is None where it is that of the whole quiz."""
    if not NAME.fullmatch(name):
        yield None, "a name has small letters, digits and single hyphens"
    if not asked or not isinstance(asked[-1], nodes.paragraph):
        yield None, "the text before the options has to end in a paragraph that asks"
    if len(items) < 2:
        yield None, "it needs two options or more, as a list of `- [ ] option` and one `- [x] option`"
    if items and (count := sum(map(right, items))) != 1:
        yield None, f"one option has to be marked with [x], and here {count} are"
    for item in items:
        said = item.children[0].astext().removeprefix(marked(item)).strip()
        if not marked(item):
            yield item.line, f"an option begins with [ ] or [x], unlike {said!r}"
        elif len(item.children) < 2:
            yield item.line, f"the option {said!r} has no explanation, indented below it after an empty line"
    if rest:
        yield rest[0].line, "nothing may follow the options"


def option(item: nodes.list_item) -> Tag:
    """An option as ``<details>``: folded, with its verdict in words before its explanation."""
    is_right = right(item)
    for checkbox in list(item.findall(nodes.raw))[: bool(marked(item))]:
        checkbox.parent.remove(checkbox)
    said, *why = item.children
    verdict = nodes.strong("", VERDICTS[is_right])
    if isinstance(why[0], nodes.paragraph):
        why[0][:0] = [verdict, nodes.Text(" ")]
    else:
        why.insert(0, nodes.paragraph("", "", verdict))
    # A quiz remembers an answer by its words: where they change, the question is asked again.
    known = {"data_option": f"{zlib.crc32(said.astext().strip().encode()):08x}"} | ({"data_right": ""} if is_right else {})
    return tag("details", "ww-option", tag("summary", "", *said.children), tag("div", "ww-why", *why), **known)


def quizzes_of(env: BuildEnvironment, page: str) -> list[tuple[str, int]]:
    """(name, line) of the quizzes on a page, in their order."""
    if not hasattr(env, "warpwise_quizzes"):
        env.warpwise_quizzes = {}
    return env.warpwise_quizzes.setdefault(page, [])


def number(app: Sphinx, doctree: nodes.document) -> None:
    """Number a page's quizzes; say before the first how they work, and leave room for the reader's progress after the last."""
    found = [node for node in doctree.findall(Tag) if "ww-quiz" in node["classes"]]
    for i, quiz in enumerate(found, 1):
        first = quiz.next_node(nodes.paragraph)
        if first is not None:
            first[:0] = [nodes.strong("", f"{i}."), nodes.Text(" ")]
    if found:
        found[0].parent.insert(found[0].parent.index(found[0]), tag("p", "ww-quiz-how", nodes.Text(HOW)))
        found[-1].parent.insert(found[-1].parent.index(found[-1]) + 1, tag("div", "ww-quiz-progress", hidden="hidden"))


def find_doubles(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of a name that two quizzes share: they would share their answers too."""
    seen: dict[str, str] = {}
    for page in sorted(getattr(env, "warpwise_quizzes", {})):
        for name, line in quizzes_of(env, page):
            if name in seen:
                log.warning("quiz %s: the name is taken, by a quiz in %s", name, seen[name], location=(page, line))
            seen.setdefault(name, page)


def forget(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    """A page is read anew: what it held is not known."""
    getattr(env, "warpwise_quizzes", {}).pop(page, None)


def merge(app: Sphinx, env: BuildEnvironment, pages: Iterable[str], other: BuildEnvironment) -> None:
    """Take over what a parallel reader found."""
    for page in pages:
        quizzes_of(env, page).extend(quizzes_of(other, page))


def setup(app: Sphinx) -> dict:
    """Called by Sphinx through ``app.setup_extension``."""
    app.setup_extension("warpwise.book.tag")
    app.add_directive("quiz", Quiz)
    app.connect("doctree-read", number)
    app.connect("env-check-consistency", find_doubles)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.add_js_file("quiz.js", loading_method="defer")
    app.add_css_file("quiz.css")
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}

"""``{quiz} name``: a question with explained answers, as Markdown that reads well unrendered.

    ::::{quiz} float64-neighbours
    A full warp reads 32 neighbouring float64 values.
    **How many sectors?**

    - [ ] 4

      That is the count for elements of 4 bytes.

    - [x] 8

      256 bytes lie in 8 full sectors.
    ::::

The last paragraph before the list is the question; one option is marked with ``x``; the text after
an option explains it. Without scripts each option opens its explanation. ``static/quiz.js`` makes a
form of it, and keeps answers in the reader's browser under the quiz's name, which therefore must
not change. A mistake in a quiz is a warning at its line. Quizzes give no points: labs do.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from typing import cast

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from warpwise.book.markup import Tag, tag

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
HOW = "Open an answer to see whether it is right."
VERDICTS = {True: "Right.", False: "No."}
Items = list[nodes.list_item]
log = logging.getLogger(__name__)


class Quiz(SphinxDirective):
    """The directive; its argument is a name that is unique in the whole book."""

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
        question = tag("div", "ww-asked", *asked)
        return [tag("div", "ww-quiz", question, *options, id=f"quiz-{name}", data_quiz=name)]


def parts(blocks: list[nodes.Node]) -> tuple[list[nodes.Node], Items, list[nodes.Node]]:
    """Return the question, the options, and what follows them, which should be nothing."""
    for at, block in enumerate(blocks):
        if isinstance(block, nodes.bullet_list):
            items = [item for item in block.children if isinstance(item, nodes.list_item)]
            if marked(items[0]):
                return blocks[:at], items, blocks[at + 1 :]
    return blocks, [], []


def marked(item: nodes.list_item) -> str:
    """Return the checkbox that MyST's task lists put first, as HTML; empty if there is none."""
    first = item.next_node(nodes.raw)
    checkbox = "" if first is None else first.astext()
    return checkbox if "task-list-item-checkbox" in checkbox else ""


def right(item: nodes.list_item) -> bool:
    return "checked=" in marked(item)


def problems(
    name: str, asked: list[nodes.Node], items: Items, rest: list[nodes.Node]
) -> Iterable[tuple[int | None, str]]:
    """Yield (line, problem); the line is None where it is that of the whole quiz."""
    if not NAME.fullmatch(name):
        yield None, "a name has small letters, digits and single hyphens"
    if not asked or not isinstance(asked[-1], nodes.paragraph):
        yield None, "the text before the options has to end in a paragraph that asks"
    if len(items) < 2:
        needed = "two options or more, as a list of `- [ ] option` and one `- [x] option`"
        yield None, f"it needs {needed}"
    if items and (count := sum(map(right, items))) != 1:
        yield None, f"one option has to be marked with [x], and here {count} are"
    for item in items:
        said = item.children[0].astext().removeprefix(marked(item)).strip()
        if not marked(item):
            yield item.line, f"an option begins with [ ] or [x], unlike {said!r}"
        elif len(item.children) < 2:
            where = "indented below it after an empty line"
            yield item.line, f"the option {said!r} has no explanation, {where}"
    if rest:
        yield rest[0].line, "nothing may follow the options"


def option(item: nodes.list_item) -> Tag:
    """Return an option as ``<details>``: folded, its verdict in words before its explanation."""
    is_right = right(item)
    for checkbox in list(item.findall(nodes.raw))[: bool(marked(item))]:
        checkbox.parent.remove(checkbox)
    said, *why = cast(list[nodes.Element], item.children)
    verdict = nodes.strong("", VERDICTS[is_right])
    if isinstance(why[0], nodes.paragraph):
        why[0][:0] = [verdict, nodes.Text(" ")]
    else:
        why.insert(0, nodes.paragraph("", "", verdict))
    # A quiz remembers an answer by its words: if they change, the question is asked again.
    known = {"data_option": f"{zlib.crc32(said.astext().strip().encode()):08x}"}
    if is_right:
        known["data_right"] = ""
    summary = tag("summary", "", *said.children)
    return tag("details", "ww-option", summary, tag("div", "ww-why", *why), **known)


def quizzes_of(env: BuildEnvironment, page: str) -> list[tuple[str, int]]:
    """Return (name, line) of the quizzes on a page, in their order, as a list to add to."""
    return all_quizzes(env).setdefault(page, [])


def all_quizzes(env: BuildEnvironment) -> dict[str, list[tuple[str, int]]]:
    """Return page -> (name, line) of its quizzes, which the environment keeps between builds."""
    quizzes: dict[str, list[tuple[str, int]]] = vars(env).setdefault("warpwise_quizzes", {})
    return quizzes


def number(app: Sphinx, doctree: nodes.document) -> None:
    """Number a page's quizzes, with instructions before the first and progress after the last."""
    found = [node for node in doctree.findall(Tag) if "ww-quiz" in node["classes"]]
    for i, quiz in enumerate(found, 1):
        first = quiz.next_node(nodes.paragraph)
        if first is not None:
            first[:0] = [nodes.strong("", f"{i}."), nodes.Text(" ")]
    if found:
        above, below = found[0].parent, found[-1].parent
        above.insert(above.index(found[0]), tag("p", "ww-quiz-how", nodes.Text(HOW)))
        progress = tag("div", "ww-quiz-progress", hidden="hidden")
        below.insert(below.index(found[-1]) + 1, progress)


def find_doubles(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn about a name that two quizzes share: they would share their answers too."""
    seen: dict[str, str] = {}
    for page, quizzes in sorted(all_quizzes(env).items()):
        for name, line in quizzes:
            if name in seen:
                taken = "quiz %s: the name is taken, by a quiz in %s"
                log.warning(taken, name, seen[name], location=(page, line))
            seen.setdefault(name, page)


def forget(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    """Forget the quizzes of a page that is about to be read again."""
    all_quizzes(env).pop(page, None)


def merge(
    app: Sphinx, env: BuildEnvironment, pages: Iterable[str], other: BuildEnvironment
) -> None:
    """Take over the quizzes that a parallel reader found."""
    for page in pages:
        quizzes_of(env, page).extend(quizzes_of(other, page))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive, its script and its style sheet."""
    app.setup_extension("warpwise.book.markup")
    app.add_directive("quiz", Quiz)
    app.connect("doctree-read", number)
    app.connect("env-check-consistency", find_doubles)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.add_js_file("quiz.js", loading_method="defer")
    app.add_css_file("quiz.css")
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}

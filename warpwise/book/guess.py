"""``{guess}``: the reader commits to a number before a cell shows it.

    :::{guess}
    How many sectors does one load touch?

    {glue:text}`sectors`: each lane has one to itself.
    :::

    ```{code-cell} ipython3
    print(...)
    ```

The paragraphs before the last are the question; the last one is the answer, and its first number
is the true one. Without scripts the answer is folded, and nothing else changes. ``static/guess.js``
makes a form of it, says how far off a guess is, and covers what the next cell shows until a number
is given, or the reader would rather look. Nothing is kept, and there are no points.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from warpwise.book.markup import tag

FOLDED = "Guess a number, then look"
log = logging.getLogger(__name__)


class Guess(SphinxDirective):
    """The directive; it has a question and an answer as its content."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        holder = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, holder)
        *asked, answer = holder.children or [nodes.paragraph()]
        if not asked or not all(isinstance(block, nodes.paragraph) for block in holder.children):
            where = (self.env.docname, self.get_source_info()[1])
            log.warning("a guess has a paragraph that asks and one that answers", location=where)
        summary = tag("summary", "", nodes.Text(FOLDED))
        told = tag("details", "ww-told", summary, answer)
        return [tag("div", "ww-guess", tag("div", "ww-ask", *asked), told)]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive, its script and its style sheet."""
    app.setup_extension("warpwise.book.markup")
    app.add_directive("guess", Guess)
    app.add_js_file("guess.js", loading_method="defer")
    app.add_css_file("guess.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Show what a glossary term means where it is linked: on hover, and on focus by keyboard.

A link gets the first sentence of the term's entry in ``data-meaning``, which a style sheet shows.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.typing import ExtensionMetadata

from warpwise.book.markup import rewrite_bodies

LINK = re.compile(r'(<a class="reference internal" href="[^"]*#(term-[^"]+)")>')
SENTENCE = re.compile(r".+?[.](?=\s|$)", re.DOTALL)


def first_sentences(doctree: nodes.document) -> dict[str, str]:
    """Map the ids of a page's glossary terms to the first sentence of what they mean."""
    found = {}
    for item in doctree.findall(nodes.definition_list_item):
        ids = [one for term in item.findall(nodes.term) for one in term["ids"]]
        text = next(item.findall(nodes.definition)).astext().replace("\n", " ")
        sentence = SENTENCE.match(text)
        found.update(dict.fromkeys(ids, sentence[0] if sentence else text))
    return found


@lru_cache(maxsize=1)
def meanings(env: BuildEnvironment) -> dict[str, str]:
    """Return the first sentences of all pages that define terms."""
    domain = env.get_domain("std")
    pages = {page for _, _, kind, page, *_ in domain.get_objects() if kind == "term"}
    return {
        id: text for page in pages for id, text in first_sentences(env.get_doctree(page)).items()
    }


def explain(html: str, known: dict[str, str]) -> str:
    """Return a page's HTML with the meaning in each link to a term."""

    def with_meaning(link: re.Match[str]) -> str:
        meaning = known.get(link[2])
        return f'{link[1]} data-meaning="{escape(meaning)}">' if meaning else link[0]

    return LINK.sub(with_meaning, html)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Put the meanings into every page."""
    rewrite_bodies(app, lambda app, body: explain(body, meanings(app.env)))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

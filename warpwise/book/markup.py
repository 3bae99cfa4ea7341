"""Building blocks for directives: parse generated MyST, and write one HTML element as a node.

docutils has no node for elements such as ``<details>``. Unlike a raw node, a ``Tag`` can hold other
nodes, whose links, maths and code are resolved as everywhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator


def parsed(directive: SphinxDirective, lines: list[str]) -> list[nodes.Node]:
    """Parse lines of MyST as the page's own markup."""
    holder = nodes.container()
    directive.state.nested_parse(
        StringList(lines, directive.get_source_info()[0]), directive.content_offset, holder
    )
    return holder.children


def rewrite_bodies(app: Sphinx, rewrite: Callable[[Sphinx, str], str]) -> None:
    """Have a function of the app and a page's HTML give the body of every page."""

    def apply(
        app: Sphinx,
        pagename: str,
        templatename: str,
        context: dict[str, Any],
        doctree: nodes.document | None,
    ) -> None:
        context["body"] = rewrite(app, context.get("body", ""))

    app.connect("html-page-context", apply)


def fenced(language: str, lines: list[str]) -> list[str]:
    """Return lines of MyST for a fenced block."""
    return [f"````{language}", *lines, "````", ""]


def one_line(text: str) -> str:
    return " ".join(text.split())


class Tag(nodes.General, nodes.TextElement):
    """A node written as one HTML element, made by ``tag``."""


def tag(name: str, css: str = "", *children: nodes.Node, **attributes: str) -> Tag:
    """Return a node such as ``tag("details", "ww-option", summary, body)``.

    ``css``: its classes. In the names of ``attributes``, ``_`` stands for ``-``.
    """
    named = {key.replace("_", "-"): value for key, value in attributes.items()}
    ids = [named.pop("id")] if "id" in named else []
    return Tag("", "", *children, name=name, ids=ids, classes=css.split(), attributes=named)


def visit_tag(translator: HTML5Translator, node: Tag) -> None:
    translator.body.append(translator.starttag(node, node["name"], "", **node["attributes"]))


def depart_tag(translator: HTML5Translator, node: Tag) -> None:
    translator.body.append(f"</{node['name']}>\n")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the node, once however many modules ask for it."""
    app.add_node(Tag, html=(visit_tag, depart_tag))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""A node that is written as one HTML element: for the few things on a page that docutils has no node for, such as ``<details>``.

Unlike a raw node it may hold other nodes, whose links, maths and code are resolved as everywhere else.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx


class Tag(nodes.General, nodes.TextElement):
    """``tag("details", "ww-option", summary, body)``; attributes of the element stand in ``node["attributes"]``."""


def tag(name: str, css: str = "", *children: nodes.Node, **attributes: str) -> Tag:
    """A node for the element ``name`` with classes; in the names of ``attributes``, ``_`` stands for ``-``."""
    named = {key.replace("_", "-"): value for key, value in attributes.items()}
    ids = [named.pop("id")] if "id" in named else []
    return Tag("", "", *children, name=name, ids=ids, classes=css.split(), attributes=named)


def visit_tag(translator, node: Tag) -> None:
    translator.body.append(translator.starttag(node, node["name"], "", **node["attributes"]))


def depart_tag(translator, node: Tag) -> None:
    translator.body.append(f"</{node['name']}>\n")


def setup(app: Sphinx) -> dict:
    """Called by Sphinx through ``app.setup_extension``, once however many modules ask for it."""
    app.add_node(Tag, html=(visit_tag, depart_tag))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

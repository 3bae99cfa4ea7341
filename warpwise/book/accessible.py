"""Repairs to what docutils writes, each for a violation that axe reports."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

# A deprecated role, not allowed on this element, and a list whose items do not say that they are items.
ROLES = {'role="doc-biblioentry"': 'role="listitem"'}


def repair_roles(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None) -> None:
    """Replace ARIA roles in the page's body."""
    for old, new in ROLES.items():
        context["body"] = context.get("body", "").replace(old, new)

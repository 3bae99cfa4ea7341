"""Links each glossary term at its first use on a chapter's page, so that an author need not think of it.

The terms are those of ``chapters/glossary.md``, as Sphinx knows them. A term is linked where it first stands in running text, as a
whole word, singular or plural; not in headings, code, formulas, other links, heads of tables or outputs of cells. Where a longer term
holds a shorter one ("bank conflict", "bank") the longer one is meant. A first use that the author linked with ``{term}`` is left alone.

Words that chapters use in another sense as well stay as they are: ``AMBIGUOUS`` lists them, and an author writes ``{term}`` where the
term is meant. Linking by rule rather than by hand keeps the text of chapters plain, and a test finds on the built pages what the
rule missed. Pages other than chapters are left alone: reference pages would be blue with links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from warpwise.book.contents import CHAPTER

#: Term -> the other sense in which chapters use it.
AMBIGUOUS = {
    "active": "blocks and warps that an SM holds are active as well",
    "budget": "also one of time or of memory",
    "counter": "also a variable in which a kernel counts",
    "event": "CUDA has events of its own, which take times",
    "host": "also a verb",
    "line": "most often one of a program; the term in full, cache line, is linked",
    "mask": "also one that leaves out elements of a matrix",
    "stream": "also a verb, and values that come one after another",
    "trace": "also a verb, and a sum over a diagonal",
}

#: Nodes whose text is not running text. MyST-NB marks what a cell shows by a class.
SKIPPED = (
    nodes.Titular, nodes.FixedTextElement, nodes.literal, nodes.math, nodes.math_block, nodes.raw, nodes.thead, nodes.reference,
    nodes.citation_reference, nodes.footnote_reference, nodes.rubric, nodes.Invisible, addnodes.pending_xref, addnodes.glossary,
)  # fmt: skip
SKIPPED_CLASSES = {"cell_input", "cell_output", "ww-quiz"}


class LinkFirstUses(SphinxPostTransform):
    """Runs after MyST-NB has chosen what cells show (4), and before Sphinx looks up what references refer to (10)."""

    default_priority = 8

    def run(self, **kwargs) -> None:
        if CHAPTER.fullmatch(self.env.docname):
            terms = [name for kind, name in self.env.get_domain("std").objects if kind == "term"]
            if terms:
                link_first_uses(self.document, terms, self.env.docname)


def link_first_uses(document: nodes.document, terms: Iterable[str], docname: str) -> None:
    """Replace the first use of each term by a reference that Sphinx resolves; what is linked already counts as used."""
    names = by_length(terms)
    pattern, used = uses(names), set()
    for node in list(running_text(document)):
        if isinstance(node, addnodes.pending_xref):
            used.add(node["reftarget"].lower())
            continue
        parts = linked(str(node), pattern, names, used, docname)
        if len(parts) > 1:
            node.parent.replace(node, parts)


def running_text(node: nodes.Node) -> Iterable[nodes.Node]:
    """Text in reading order, and between it the references to terms that an author wrote."""
    for child in node.children:
        if isinstance(child, nodes.Text) or (isinstance(child, addnodes.pending_xref) and child["reftype"] == "term"):
            yield child
        elif not isinstance(child, SKIPPED) and not SKIPPED_CLASSES & set(child.get("classes", ())):
            yield from running_text(child)


def linked(text: str, pattern: re.Pattern, names: list[str], used: set[str], docname: str) -> list[nodes.Node]:
    """The text in parts, with a reference for each term that is not in ``used``; it is then."""
    parts, done = [], 0
    for match in pattern.finditer(text):
        name = names[match.lastindex - 1]
        if name.lower() not in used and name not in AMBIGUOUS:
            used.add(name.lower())
            parts += [nodes.Text(text[done : match.start()]), reference(name, match[0], docname)]
            done = match.end()
    return [*parts, nodes.Text(text[done:])]


def reference(name: str, shown: str, docname: str) -> addnodes.pending_xref:
    """What ``{term}`shown <name>` `` makes."""
    words = nodes.inline(shown, shown, classes=["xref", "std", "std-term"])
    return addnodes.pending_xref(
        "", words, refdomain="std", reftype="term", reftarget=name, refexplicit=True, refwarn=True, refdoc=docname
    )


def by_length(terms: Iterable[str]) -> list[str]:
    """Longest first, so that a pattern of alternatives meets "bank conflict" before "bank"."""
    return sorted(terms, key=lambda name: (-len(name), name))


def uses(names: list[str]) -> re.Pattern:
    """Matches a use of any of the terms; the number of the group that matched, less one, is the term's place in ``names``."""
    return re.compile(rf"(?<![\w-])(?:{'|'.join(f'({form(name)})' for name in names)})(?![\w-])")


def form(name: str) -> str:
    """A pattern for a term and its plural. Terms with capitals (SM, DRAM) are as they are; others may begin a sentence."""
    words = r"\s+".join(map(re.escape, name.split()))
    if re.search(r"[^aeiou]y$", name):
        plural = f"{words[:-1]}(?:y|ies)"
    else:
        plural = words + ("(?:es)?" if re.search(r"(?:s|x|ch|sh)$", name) else "s?")
    return plural if name != name.lower() else f"(?i:{plural})"


def setup(app: Sphinx) -> dict:
    """Called by Sphinx through ``app.setup_extension``."""
    app.add_post_transform(LinkFirstUses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

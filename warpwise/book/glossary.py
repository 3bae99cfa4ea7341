"""Link each glossary term at its first use in a chapter, so that authors need not think of it.

The terms are those of ``chapters/glossary.md``, as Sphinx knows them. A term is linked where it
first occurs in running text, as a whole word, singular or plural; not in headings, code, formulas,
other links, table heads or outputs of cells. Where one term contains another ("bank conflict",
"bank"), the longer one wins. A first use that the author linked with ``{term}`` is left alone.

Words that chapters also use in another sense are not linked: ``AMBIGUOUS`` lists them, and an
author writes ``{term}`` where the term is meant. Linking by rule keeps the text of chapters plain,
and a test finds on the built pages what the rule missed. Pages other than chapters are left alone:
reference pages would be blue with links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.typing import ExtensionMetadata

from warpwise.book.contents import CHAPTER

#: Term -> another sense in which chapters use it.
AMBIGUOUS = {
    "active": "also of blocks and warps that are resident on an SM",
    "budget": "also of time or memory",
    "checkpoint": "also the state of a run that is saved",
    "cluster": "also machines with many GPUs",
    "counter": "also a variable in which a kernel counts",
    "event": "CUDA's events take times",
    "host": "also a verb",
    "line": "most often one of a program; the term in full, cache line, is linked",
    "mask": "also of elements of a matrix that are left out",
    "stream": "also a verb, and values that come one after another",
    "trace": "also a verb, and a sum over a diagonal",
}

#: Nodes whose text is not running text. MyST-NB marks inputs and outputs of cells by a class.
SKIPPED = (
    nodes.Titular,
    nodes.FixedTextElement,
    nodes.literal,
    nodes.math,
    nodes.math_block,
    nodes.raw,
    nodes.thead,
    nodes.reference,
    nodes.citation_reference,
    nodes.footnote_reference,
    nodes.rubric,
    nodes.Invisible,
    addnodes.pending_xref,
    addnodes.glossary,
)
SKIPPED_CLASSES = {"cell_input", "cell_output", "ww-quiz"}


class LinkFirstUses(SphinxPostTransform):
    """Runs after MyST-NB has chosen outputs (4), and before Sphinx resolves references (10)."""

    default_priority = 8

    def run(self, **kwargs: Any) -> None:
        if CHAPTER.fullmatch(self.env.docname):
            domain = cast(StandardDomain, self.env.get_domain("std"))
            if terms := [name for kind, name in domain.objects if kind == "term"]:
                link_first_uses(self.document, terms, self.env.docname)


def link_first_uses(document: nodes.document, terms: Iterable[str], docname: str) -> None:
    """Replace the first use of each term by a reference that Sphinx resolves.

    A term that the author linked counts as used.
    """
    names, used = by_length(terms), set[str]()
    pattern = uses(names)
    for node in list(running_text(document)):
        if isinstance(node, addnodes.pending_xref):
            used.add(node["reftarget"].lower())
            continue
        parts = linked(str(node), pattern, names, used, docname)
        if len(parts) > 1:
            node.parent.replace(node, parts)


def running_text(node: nodes.Element) -> Iterable[nodes.Node]:
    """Yield text in reading order, and the references to terms that an author wrote between it."""
    for child in node.children:
        is_term = isinstance(child, addnodes.pending_xref) and child["reftype"] == "term"
        if is_term or isinstance(child, nodes.Text):
            yield child
        elif isinstance(child, nodes.Element) and not skipped(child):
            yield from running_text(child)


def skipped(node: nodes.Element) -> bool:
    return isinstance(node, SKIPPED) or bool(SKIPPED_CLASSES & set(node.get("classes", ())))


def linked(
    text: str, pattern: re.Pattern[str], names: list[str], used: set[str], docname: str
) -> list[nodes.Node]:
    """Return the text in parts, with a reference to each term not in ``used``, and add those."""
    parts: list[nodes.Node] = []
    done = 0
    for match in pattern.finditer(text):
        name = names[(match.lastindex or 0) - 1]
        if name.lower() not in used and name not in AMBIGUOUS:
            used.add(name.lower())
            parts += [nodes.Text(text[done : match.start()]), reference(name, match[0], docname)]
            done = match.end()
    return [*parts, nodes.Text(text[done:])]


def reference(name: str, shown: str, docname: str) -> addnodes.pending_xref:
    """Return the node of ``{term}`shown <name>` ``."""
    words = nodes.inline(shown, shown, classes=["xref", "std", "std-term"])
    target = {"refdomain": "std", "reftype": "term", "reftarget": name, "refdoc": docname}
    return addnodes.pending_xref("", words, refexplicit=True, refwarn=True, **target)


def by_length(terms: Iterable[str]) -> list[str]:
    """Sort longest first: a pattern of alternatives then tries "bank conflict" before "bank"."""
    return sorted(terms, key=lambda name: (-len(name), name))


def uses(names: list[str]) -> re.Pattern[str]:
    """Return a pattern that matches a use of any term; group number i + 1 is ``names[i]``."""
    return re.compile(rf"(?<![\w-])(?:{'|'.join(f'({form(name)})' for name in names)})(?![\w-])")


def form(name: str) -> str:
    """Return a pattern for a term and its plural; without capitals, it may begin a sentence."""
    words = r"\s+".join(map(re.escape, name.split()))
    if re.search(r"[^aeiou]y$", name):
        plural = f"{words[:-1]}(?:y|ies)"
    else:
        plural = words + ("(?:es)?" if re.search(r"(?:s|x|ch|sh)$", name) else "s?")
    return plural if name != name.lower() else f"(?i:{plural})"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the transform."""
    app.add_post_transform(LinkFirstUses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

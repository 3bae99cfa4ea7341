"""Cells that readers can edit on the page: what the page has to know about each.

A cell asks for it by a tag, and says what is worth trying:

    ---
    tags: [editable]
    warpwise: {prompt: "Swap the two names: what becomes of the sectors?"}
    ---

``then`` beside the prompt is an expression that the page shows after a reader's run, for a cell
that ends without a value, such as one that defines a kernel. The page holds, once, the text of the
earlier cells that its editable ones need (``warpwise.cells``), and a few attributes for each. All
else is loaded when a reader touches a cell. Without scripts, and on paper, nothing is different.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from warpwise.book import ahead
from warpwise.book.markup import tag
from warpwise.book.parts.slim import SOURCE, closure
from warpwise.cells import Statement, needed, statements

TAG = "editable"
AVAILABLE = {*sys.stdlib_module_names, "numpy"}
#: Modules of the slim wheel that need more than NumPy.
NEED_MORE = ("warpwise.views.chart", "warpwise.views.lab")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Editable:
    """An editable cell: its place among the page's code cells, its text, what to try."""

    at: int
    text: str
    prompt: str
    then: str = ""

    @property
    def version(self) -> str:
        """A digest of the text, by which a reader's own version of an older one is known."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]

    @property
    def statements(self) -> list[Statement]:
        return statements([self.text, self.then])

    @property
    def attributes(self) -> dict[str, str]:
        then = {"data_then": self.then} if self.then else {}
        return {"data_at": str(self.at), "data_version": self.version} | then


@dataclass(frozen=True)
class Cells:
    """The code cells of a page, and which of them can be edited."""

    texts: tuple[str, ...]
    editable: tuple[Editable, ...]

    def before(self, cell: Editable) -> list[Statement]:
        """Return the earlier statements that run when the reader changes nothing."""
        return needed(statements(self.texts[: cell.at]), cell.statements)

    def problems(self, cell: Editable) -> Iterable[str]:
        """Yield what is missing, and what a reader's browser could not do."""
        if not cell.prompt:
            yield "an editable cell has a prompt: warpwise: {prompt: ...}"
        parts = [*self.before(cell), *cell.statements]
        for module in sorted({module for part in parts for module in part.modules}):
            if not available(module):
                yield f"a cell that needs {module} cannot be edited on the page"

    @property
    def kept(self) -> list[str]:
        """The cells' texts up to the last editable one; empty where no editable cell needs one."""
        used = {part.cell for cell in self.editable for part in self.before(cell)}
        last = max((cell.at for cell in self.editable), default=0)
        return [text if i in used else "" for i, text in enumerate(self.texts[:last])]


def cells(notebook: Any) -> Cells:
    """Return the code cells of a notebook."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    editable = [
        Editable(at, cell.source, *_told(cell.metadata))
        for at, cell in enumerate(code)
        if TAG in cell.metadata.get("tags", [])
    ]
    return Cells(tuple(cell.source for cell in code), tuple(editable))


def mark(app: Sphinx, doctree: nodes.document) -> None:
    """Wrap the editable cells of a page, and add what its script needs."""
    found = [node for node in doctree.findall(nodes.container) if f"tag_{TAG}" in node["classes"]]
    if not found or app.builder.format != "html":
        return
    docname = app.env.docname
    notebook = ahead.read_notebook(Path(app.env.doc2path(docname)), app.env)
    page = cells(notebook)
    for node, cell in zip(found, page.editable, strict=True):
        for problem in page.problems(cell):
            log.warning(problem, location=node)
        wrapped = tag("div", "ww-editable", data_prompt=cell.prompt, **cell.attributes)
        node.parent.replace(node, wrapped)
        wrapped.append(node)
    doctree.append(_as_data(page.kept))


def has_editable(doctree: nodes.document | None) -> bool:
    """Return whether a page has a cell to edit."""
    return doctree is not None and any(
        "ww-editable" in node.get("classes", []) for node in doctree.findall(nodes.Element)
    )


def _told(metadata: Any) -> tuple[str, str]:
    own = metadata.get("warpwise", {})
    return own.get("prompt", ""), own.get("then", "")


def _as_data(kept: Sequence[str]) -> nodes.raw:
    packed = json.dumps(list(kept), ensure_ascii=False, separators=(",", ":"))
    packed = packed.replace("<", "\\u003c")
    script = f'<script type="application/json" id="ww-cells">{packed}</script>'
    return nodes.raw("", script, format="html")


def available(module: str) -> bool:
    """Return whether a page can import a module, or a name that such a module may define."""
    if module.partition(".")[0] in AVAILABLE:
        return True
    name = module if _is_module(module) else module.rpartition(".")[0]
    return name in _in_the_wheel() and name not in NEED_MORE


def _is_module(name: str) -> bool:
    path = SOURCE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


@cache
def _in_the_wheel() -> frozenset[str]:
    return frozenset(closure())

"""Offers the labs on the site: ``labs/NN_topic.ipynb`` goes with the page ``chapters/NN_topic``.

The shared stem is all there is to it. A chapter whose lab exists gets a button in its header, and ``lab-list`` shows them all.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path, PurePosixPath

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class LabList(SphinxDirective):
    """``{lab-list}``: a line for each lab, its title linked to the notebook."""

    def run(self) -> list[nodes.Node]:
        up = "../" * len(PurePosixPath(self.env.docname).parent.parts)
        items = []
        for path in notebooks(Path(self.env.srcdir)):
            self.env.note_dependency(str(path))
            link = nodes.reference("", title(path), refuri=f"{up}labs/{path.name}")
            items.append(nodes.list_item("", nodes.paragraph("", "", link)))
        return [nodes.bullet_list("", *items)] if items else []


def notebooks(root: Path) -> list[Path]:
    """The labs below the book's root, in the order of their numbers."""
    return sorted((root / "labs").glob("[0-9]*.ipynb"))


def title(notebook: Path) -> str:
    """The first heading of a notebook, or its file name if it has none."""
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        for line in "".join(cell["source"]).splitlines():
            if cell["cell_type"] == "markdown" and line.startswith("# "):
                return line.removeprefix("# ").strip()
    return notebook.name


def add_button(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None) -> None:
    """Put a button that downloads the lab into the header of the chapter with the same stem."""
    lab = Path(app.srcdir) / "labs" / f"{PurePosixPath(pagename).name}.ipynb"
    if pagename.startswith("chapters/") and lab.exists():
        url = context["pathto"](f"labs/{lab.name}", resource=True)
        button = {"type": "link", "url": url, "tooltip": "Download the lab of this chapter", "icon": "fas fa-flask", "text": "Lab"}
        context["header_buttons"].insert(0, button | {"label": "lab-button"})


def copy_labs(app: Sphinx, error: Exception | None) -> None:
    """Put the notebooks beside the pages, at ``labs/`` of the site."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "labs"
    folder.mkdir(exist_ok=True)
    for path in notebooks(Path(app.srcdir)):
        shutil.copyfile(path, folder / path.name)

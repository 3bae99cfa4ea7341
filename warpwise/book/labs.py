"""Offers the labs on the site: ``labs/NN_topic.ipynb`` goes with the page ``chapters/NN_topic``, and with a page ``chapters/topic``.

The shared stem is all there is to it. A chapter whose lab exists gets a button in its header; the list of chapters asks ``ways``
for the same links.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from docutils import nodes
from sphinx.application import Sphinx

from warpwise.book.launch import repository


@dataclass(frozen=True)
class Way:
    """One way to a lab: a word for a list, a sentence for a menu, an icon, and the address."""

    word: str
    text: str
    icon: str
    url: str


def notebooks(root: Path) -> list[Path]:
    """The labs below the book's root, in the order of their numbers."""
    return sorted((root / "labs").glob("[0-9]*.ipynb"))


def ways(app: Sphinx, page: str, local: Callable[[str], str]) -> list[Way]:
    """How to get at the lab of a page, if it has one: a download, and more where a repository is set.

    ``local`` makes an address of the site from a path below its root.
    """
    name = PurePosixPath(page).name
    labs = [lab for lab in notebooks(Path(app.srcdir)) if name in (lab.stem, lab.stem.partition("_")[2])]
    if not labs or not page.startswith("chapters/"):
        return []
    path = f"labs/{labs[0].name}"
    found = [Way("download", "Download the notebook", "fas fa-download", local(path))]
    if (where := repository(app.config)) is not None:
        found.append(Way("Colab", "Open in Google Colab", "fas fa-cloud", where.colab(path)))
        found.append(Way("Binder", "Open on Binder", "fas fa-rocket", where.binder(path)))
    return found


def add_button(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None) -> None:
    """Put the lab into the header of its chapter: a button that downloads it, or a menu where there is more to choose from."""
    found = ways(app, pagename, lambda path: context["pathto"](path, resource=True))
    if len(found) == 1:
        button = {"type": "link", "url": found[0].url, "tooltip": "Download the lab of this chapter", "icon": "fas fa-flask", "text": "Lab"}
        context["header_buttons"].insert(0, button | {"label": "lab-button"})
    elif found:
        links = [{"type": "link", "url": way.url, "text": way.text, "icon": way.icon} for way in found]
        menu = {"type": "group", "buttons": links, "icon": "fas fa-flask", "tooltip": "Lab of this chapter", "label": "lab-button"}
        context["header_buttons"].insert(0, menu)


def copy_labs(app: Sphinx, error: Exception | None) -> None:
    """Put the notebooks beside the pages, at ``labs/`` of the site."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "labs"
    folder.mkdir(exist_ok=True)
    for path in notebooks(Path(app.srcdir)):
        shutil.copyfile(path, folder / path.name)


def setup(app: Sphinx) -> dict:
    """Called by Sphinx through ``app.setup_extension``."""
    # After the theme has made its own header buttons, at 501.
    app.connect("html-page-context", add_button, priority=600)
    app.connect("build-finished", copy_labs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Offer the labs on the site: ``labs/NN_topic.ipynb`` goes with the page of the same name.

The page is ``chapters/NN_topic``, or ``chapters/topic``. A chapter with a lab gets a button in its
header; the list of chapters asks ``ways`` for the same links. Where ``warpwise.book.lite`` lies in
the site, the button opens the lab in the reader's browser, and a menu has the other ways. A lab can
always be downloaded. It can be opened in Google Colab and Binder too if ``_config.yml`` sets
``html_theme_options.repository_url``: both services fetch the notebook from GitHub by themselves,
from ``repository_branch`` or ``main``. ``warpwise.labs.colab`` reads the same two settings.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, urlencode

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.util.typing import ExtensionMetadata

from warpwise.book import lite
from warpwise.errors import LabError
from warpwise.labs.colab import BRANCH, named


@dataclass(frozen=True)
class Way:
    """One way to open a lab: a word for a list, a sentence for a menu, an icon, and the address."""

    word: str
    text: str
    icon: str
    url: str


@dataclass(frozen=True)
class Repository:
    """A public repository on GitHub, the only host that Colab reads from."""

    owner: str
    name: str
    branch: str = BRANCH

    def colab(self, path: str) -> str:
        """Return the address that opens a notebook of the repository in Google Colab."""
        file = f"{self.owner}/{self.name}/blob/{quote(self.branch)}/{quote(path)}"
        return f"https://colab.research.google.com/github/{file}"

    def binder(self, path: str) -> str:
        """Return the address that opens a notebook on mybinder.org, as ``.binder/`` sets it up."""
        tree = f"{self.owner}/{self.name}/{quote(self.branch, safe='')}"
        return f"https://mybinder.org/v2/gh/{tree}?{urlencode({'labpath': path})}"


def repository(config: Config) -> Repository | None:
    """Return the repository that ``_config.yml`` names, if any.

    Raises ConfigError for an address that is not one of GitHub's.
    """
    try:
        found = named(config.html_theme_options)
    except LabError as error:
        raise ConfigError(str(error)) from error
    return Repository(*found) if found else None


def notebooks(root: Path) -> list[Path]:
    """Return the labs below the book's root, in the order of their numbers."""
    return sorted((root / "labs").glob("[0-9]*.ipynb"))


def ways(app: Sphinx, page: str, local: Callable[[str], str]) -> list[Way]:
    """Return the ways to open a page's lab; an empty list if it has none.

    ``local`` turns a path below the site's root into an address.
    """
    name = PurePosixPath(page).name
    labs = [
        lab for lab in notebooks(Path(app.srcdir)) if name in (lab.stem, lab.stem.partition("_")[2])
    ]
    if not labs or not page.startswith("chapters/"):
        return []
    path = f"labs/{labs[0].name}"
    found = [Way("download", "Download the notebook", "fas fa-download", local(path))]
    if lite.is_in(Path(app.outdir)):
        runs = local(lite.address(labs[0].name))
        found.insert(0, Way("open", "Open in the browser", "fas fa-play", runs))
    if (where := repository(app.config)) is not None:
        found.append(Way("Colab", "Open in Google Colab", "fas fa-cloud", where.colab(path)))
        found.append(Way("Binder", "Open on Binder", "fas fa-rocket", where.binder(path)))
    return found


def add_button(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Put the lab into its chapter's header."""
    found = ways(app, pagename, lambda path: context["pathto"](path, resource=True))
    context["header_buttons"][:0] = buttons(found)


def buttons(found: list[Way]) -> list[dict[str, object]]:
    """Return the theme's buttons: one that opens or downloads the lab, a menu, or both."""
    if not found:
        return []
    first, *others = found
    if first.word != "open" and others:
        return [menu(found, "lab-button", "fas fa-flask", "Lab of this chapter")]
    told = "Open the lab of this chapter: it runs in your browser"
    if first.word == "download":
        told = "Download the lab of this chapter"
    link: dict[str, object] = {"type": "link", "url": first.url, "icon": "fas fa-flask"}
    link |= {"label": "lab-button", "tooltip": told, "text": "Lab"}
    more = [menu(others, "lab-ways", "fas fa-caret-down", "Other ways to open the lab")]
    return [link, *(more if others else [])]


def menu(found: list[Way], label: str, icon: str, tooltip: str) -> dict[str, object]:
    """Return a menu of ways as the theme describes one."""
    links = [{"type": "link", "url": w.url, "text": w.text, "icon": w.icon} for w in found]
    return {"type": "group", "buttons": links, "label": label, "icon": icon, "tooltip": tooltip}


def copy_labs(app: Sphinx, error: Exception | None) -> None:
    """Copy the notebooks into ``labs/`` of the site."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "labs"
    folder.mkdir(exist_ok=True)
    for path in notebooks(Path(app.srcdir)):
        shutil.copyfile(path, folder / path.name)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the button and the copy."""
    # after the theme has made its own header buttons, at 501
    app.connect("html-page-context", add_button, priority=600)
    app.connect("build-finished", copy_labs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

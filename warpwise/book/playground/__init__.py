"""The page on which a reader writes a kernel and its launch, and sees what they do.

It begins as two cells of a page, tagged ``playground``, which the book runs like any others:
without scripts, on paper, and where the parts of the editors could not be had, that is the whole
page. In the browser, ``first_touch.js`` of ``book.editor`` waits for a reader, and loads
``playground.js`` with the editor. ``examples.py`` makes the programs to choose from. What runs is
confined as in ``book.editor``; a program that comes in a link is shown, and runs when the reader
says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

from warpwise.book.markup import tag
from warpwise.book.mistakes import FOLDER
from warpwise.book.parts import Manifest
from warpwise.book.playground import examples

STATIC = Path(__file__).parent / "static"
TAG = "playground"
DATA = "_static/playground/examples.json"  #: where the examples lie in a built site
NO_PARTS = (
    "This copy of the book was built without the parts that run Python on a page: "
    "below is one kernel with its launch and its picture."
)
NO_SCRIPTS = "Editing and running takes a browser with JavaScript switched on."
log = logging.getLogger(__name__)


def mark(app: Sphinx, doctree: nodes.document) -> None:
    """Wrap the two cells of the playground, after a line for readers who cannot use it."""
    found = [node for node in doctree.findall(nodes.container) if f"tag_{TAG}" in node["classes"]]
    if not found:
        return
    if len(found) != 2:
        log.warning("a playground has two cells, a kernel and its launch", location=found[0])
    notes = [tag("p", f"ww-{name}", nodes.Text("")) for name in ("no-parts", "no-scripts")]
    wrapped = tag("div", "ww-playground")
    found[0].parent.replace(found[0], [*notes, wrapped])
    for node in found[1:]:
        node.parent.remove(node)
    wrapped.extend(found)
    for node, name in zip(found, ("kernel", "launch"), strict=False):
        node["classes"].append(f"ww-{name}-cell")


def add_files(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Load script and style sheets on the page, and fill in its notes."""
    if doctree is None or 'class="ww-playground' not in context.get("body", ""):
        return
    app.add_css_file("editable.css")
    app.add_css_file("playground.css")
    parts = Manifest.of(app.outdir)
    if parts:
        app.add_js_file("first_touch.js", loading_method="defer")
    _fill(context, "no-parts", "" if parts else f"<p>{NO_PARTS}</p>")
    _fill(context, "no-scripts", f"<noscript><p>{NO_SCRIPTS}</p></noscript>" if parts else "")


def _fill(context: dict[str, Any], name: str, text: str) -> None:
    context["body"] = context["body"].replace(f'<p class="ww-{name}"></p>', text)


def write_examples(app: Sphinx, error: Exception | None) -> None:
    """Write the examples into the site, unless those of the same sources lie there."""
    if error is not None or not Manifest.of(app.outdir):
        return
    place = Path(app.outdir) / DATA
    sources = [*Path(__file__).parent.iterdir(), *FOLDER.rglob("*.py")]
    if not place.is_file() or place.stat().st_mtime < max(one.stat().st_mtime for one in sources):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(examples.as_json(), "utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the page and its files."""
    app.setup_extension("warpwise.book.markup")
    app.setup_extension("warpwise.book.editor")
    app.connect("builder-inited", lambda app: app.config.html_static_path.append(str(STATIC)))
    app.connect("doctree-read", mark)
    app.connect("html-page-context", add_files)
    app.connect("build-finished", write_examples)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}

"""The book's Sphinx extension: everything that Jupyter Book 1 does not do by itself.

It adds the quizzes, the list of chapters, the reference directives, the links to labs and glossary,
a sidebar that folds, the bibliography style and the style sheets, and makes the built site small.
It draws no widgets: those are outputs of the chapters' cells. What needs Sphinx is imported in
``setup``: the browser's Python, which has none, imports ``warpwise.book.keep``.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from warpwise import metrics
from warpwise.devices import H100

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.util.typing import ExtensionMetadata

STATIC = Path(__file__).parent / "static"
TEMPLATES = Path(__file__).parent / "templates"
SITE = "WARPWISE_SITE"  #: environment variable: the address that the site will have
CONSTANTS = ("WARP_SIZE", "SECTOR_BYTES", "BANKS", "BANK_BYTES")
PARTS = (
    "ahead quiz guess contents opening labs glossary devices errors reference signatures "
    "sidebar meanings lines search editor playground"
).split()


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register every part; ``_config.yml`` lists ``warpwise.book`` among its extensions."""
    from warpwise.book import citations, found, mistakes, postprocess
    from warpwise.book.markup import rewrite_bodies

    citations.register()
    app.add_directive("mistake", mistakes.Mistake)
    app.add_directive("found", found.Kernels)
    for part in PARTS:
        app.setup_extension(f"warpwise.book.{part}")
    app.setup_extension("warpwise.book.parts.build")
    app.setup_extension("warpwise.book.lite.build")
    app.connect("config-inited", prepare)
    app.connect("builder-inited", add_style)
    rewrite_bodies(app, postprocess.repair_roles)
    rewrite_bodies(app, postprocess.hold_points)
    rewrite_bodies(app, postprocess.share_scripts)
    rewrite_bodies(app, postprocess.share_styles)
    # before sphinx_external_toc, at 500, writes a front page of its own
    app.connect("build-finished", postprocess.write_front, priority=400)
    # after sphinx-mathjax-offline, at 500, has copied MathJax
    app.connect("build-finished", postprocess.make_light, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def prepare(app: Sphinx, config: Config) -> None:
    """Define substitutions such as ``{{ SECTOR_BYTES }}``, and learn the site's address if told."""
    config.templates_path.append(str(TEMPLATES))
    config.ogp_site_url = os.environ.get(SITE, config.ogp_site_url)
    config.myst_substitutions.update(
        {name: getattr(metrics, name) for name in CONSTANTS}, SUB_PARTITIONS=H100.sm.sub_partitions
    )


def add_style(app: Sphinx) -> None:
    """Load style sheets and scripts from the package.

    Files in a ``_static`` folder of the book would all be loaded, on every page.
    """
    app.config.html_static_path.append(str(STATIC))
    app.add_css_file("warpwise.css")
    app.add_css_file("reference.css")
    app.add_js_file("paper.js", loading_method="defer")

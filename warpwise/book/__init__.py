"""The Sphinx extension of the course's book: what Jupyter Book 1 leaves to be done.

It sets constants of the model as substitutions, gives the book its style sheets, its quizzes, its list of chapters,
its reference directives and its bibliography style, offers each chapter's lab, and makes the built site small. It draws no widgets:
those come out of the cells of the chapters.
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

from warpwise import metrics
from warpwise.book import accessible, citations, front, mistakes, reference, weight
from warpwise.devices import H100

STATIC = Path(__file__).parent / "static"
TEMPLATES = Path(__file__).parent / "templates"
CONSTANTS = ("WARP_SIZE", "SECTOR_BYTES", "BANKS", "BANK_BYTES")


def setup(app: Sphinx) -> dict:
    """Called by Sphinx once, for the name ``warpwise.book`` among the extensions of ``_config.yml``."""
    citations.register()
    app.add_directive("metrics-reference", reference.MetricsReference)
    app.add_directive("metrics-table", reference.MetricsTable)
    app.add_directive("command-reference", reference.CommandReference)
    app.add_directive("mistake", mistakes.Mistake)
    for part in ("ahead", "quiz", "contents", "labs", "glossary", "devices", "errors", "signatures", "kernels"):
        app.setup_extension(f"warpwise.book.{part}")
    app.connect("config-inited", prepare)
    app.connect("builder-inited", add_style)
    app.connect("html-page-context", accessible.repair_roles)
    app.connect("html-page-context", weight.share_scripts)
    # Before sphinx_external_toc finds that there is none, at 500.
    app.connect("build-finished", front.write_front, priority=400)
    # After sphinx-mathjax-offline has copied MathJax, at 500.
    app.connect("build-finished", weight.make_light, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def prepare(app: Sphinx, config: Config) -> None:
    """Let a page write ``{{ SECTOR_BYTES }}`` where it would otherwise repeat a number of the model; put our templates first."""
    config.templates_path.append(str(TEMPLATES))
    config.myst_substitutions.update({name: getattr(metrics, name) for name in CONSTANTS}, SUB_PARTITIONS=H100.sm.sub_partitions)


def add_style(app: Sphinx) -> None:
    """Load style sheets and scripts from the package: Jupyter Book loads every file that it finds below a ``_static`` folder."""
    app.config.html_static_path.append(str(STATIC))
    app.add_css_file("warpwise.css")
    app.add_css_file("reference.css")
    app.add_js_file("paper.js", loading_method="defer")

"""Sphinx's configuration for ``make serve``: Jupyter Book's translation of ``_config.yml``.

``make book`` needs no conf.py: Jupyter Book gives Sphinx the same settings itself.
"""

import sys
from pathlib import Path

# jsonschema would spend a second of each build on grammars of addresses, which nothing here checks.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

from jupyter_book.config import get_final_config  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402

from warpwise.book import serve  # noqa: E402

ROOT = Path(__file__).parents[2]
TOC = {"external_toc_path": (ROOT / "_toc.yml").as_posix(), "latex_individualpages": False}

settings, _ = get_final_config(user_yaml=ROOT / "_config.yml", sourcedir=ROOT, cli_config=TOC)
globals().update(settings)
kept_results = str(serve.results(ROOT))


def setup(app: Sphinx) -> None:
    """Add what only ``make serve`` does."""
    app.confdir = app.srcdir  # paths in _config.yml start at the root
    serve.setup(app)

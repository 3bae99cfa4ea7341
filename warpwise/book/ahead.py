"""Runs the pages' cells before the pages are read, several pages at a time; MyST-NB would run them one after another.

Results go into a Jupyter cache that is made for this build and deleted after it, where MyST-NB finds them: a cache that outlives a
build would know a page's text, and not the package that the page runs. A page whose cells raise an error is not put there, so MyST-NB
runs it again and complains as always.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution
from myst_nb.core.read import create_nb_reader
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.display import status_iterator

WORKERS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_ahead(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Run what is about to be read, where pages are to be run in every build (``execute_notebooks: force``)."""
    config = env.mystnb_config
    if config.execution_mode != "force" or WORKERS < 2:
        return
    folder = TemporaryDirectory(prefix="warpwise-", ignore_cleanup_errors=True)
    app.connect("build-finished", lambda *_: folder.cleanup())
    env.mystnb_config = config.copy(execution_mode="cache", execution_cache_path=folder.name)
    pages = {path: notebook for path in map(Path, map(env.doc2path, docnames)) if (notebook := _notebook(path, env)) is not None}
    cache = get_cache(folder.name)
    with ThreadPoolExecutor(WORKERS) as pool:
        runs = pool.map(lambda path: _run(path, pages[path], config), pages)
        for path, result in status_iterator(zip(pages, runs, strict=True), "running pages ... ", length=len(pages), stringify_func=_name):
            if result is not None and result.err is None:
                bundle = CacheBundleIn(pages[path], str(path), data={"execution_seconds": result.time})
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def _notebook(path: Path, env: BuildEnvironment) -> NotebookNode | None:
    """A page's notebook, as MyST-NB will read it; None for a page without cells."""
    text = path.read_text("utf-8")
    reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
    notebook = reader and reader.read(text)
    return notebook if notebook and any(cell.cell_type == "code" for cell in notebook.cells) else None


def _run(path: Path, notebook: NotebookNode, config) -> ExecutionResult | None:
    """The result of a page's cells; None where their kernel died or never came up, as when two take the same port."""
    try:
        return single_nb_execution(notebook, str(path.parent), config.execution_timeout, config.execution_allow_errors)
    except RuntimeError:
        return None


def _name(done: tuple[Path, ExecutionResult | None]) -> str:
    path, result = done
    return f"{path.stem} ({result.time:.1f} s)" if result else f"{path.stem} (again)"


def setup(app: Sphinx) -> dict:
    """Called by Sphinx."""
    app.connect("env-before-read-docs", run_ahead)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

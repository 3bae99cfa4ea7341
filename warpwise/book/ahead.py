"""Runs the pages' cells before the pages are read, several pages at a time; MyST-NB would run them one after another.

Pages that one worker runs share a kernel, whose start costs as much as many a page: between two pages it forgets all names, goes to the
page's folder and gives matplotlib its own style back. The tests of chapters run each chapter in a kernel of its own.

Results go into a Jupyter cache that is made for this build and deleted after it, where MyST-NB finds them: a cache that outlives a
build would know a page's text, and not the package that the page runs. A page whose cells raise an error is not put there, so MyST-NB
runs it again and complains as always.
"""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_client import AsyncKernelManager
from myst_nb.core.read import create_nb_reader
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from nbclient.util import run_sync
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.display import status_iterator

WORKERS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
FORGET = """%reset -f
import os, sys
os.chdir({folder!r})
if "matplotlib.pyplot" in sys.modules:
    sys.modules["matplotlib.pyplot"].rcdefaults()
del os, sys
"""


def run_ahead(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Run what is about to be read, where pages are to be run in every build (``execute_notebooks: force``)."""
    config = env.mystnb_config
    if config.execution_mode != "force":
        return
    folder = TemporaryDirectory(prefix="warpwise-", ignore_cleanup_errors=True)
    app.connect("build-finished", lambda *_: folder.cleanup())
    env.mystnb_config = config.copy(execution_mode="cache", execution_cache_path=folder.name)
    pages = {path: notebook for path in map(Path, map(env.doc2path, docnames)) if (notebook := _notebook(path, env)) is not None}
    cache = get_cache(folder.name)
    with Kernels(Path(folder.name), config.execution_timeout) as kernels, ThreadPoolExecutor(WORKERS) as pool:
        runs = pool.map(lambda path: kernels.run(pages[path], path.parent), pages)
        for path, seconds in status_iterator(zip(pages, runs, strict=True), "running pages ... ", length=len(pages), stringify_func=_name):
            if seconds is not None:
                bundle = CacheBundleIn(pages[path], str(path), data={"execution_seconds": seconds})
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


class Kernels:
    """A kernel for each thread that runs pages, started when it is first needed.

    They are spoken to through files in ``folder``: of the network's ports, two that start at once can take the same.
    """

    def __init__(self, folder: Path, timeout: int):
        self.folder, self.timeout, self.mine, self.all = folder, timeout, threading.local(), []

    def __enter__(self) -> Kernels:
        return self

    def __exit__(self, *error: object) -> None:
        for kernel in self.all:
            run_sync(kernel.shutdown_kernel)(now=True)

    def run(self, notebook: NotebookNode, folder: Path) -> float | None:
        """Run a page's cells in place, and say how many seconds it took; None if it failed, or its kernel did."""
        began, kernel = time.perf_counter(), self._kernel()
        first = nbformat.v4.new_code_cell(FORGET.format(folder=str(folder)))
        whole = nbformat.v4.new_notebook(cells=[first, *notebook.cells], metadata=notebook.metadata)
        client = NotebookClient(whole, km=kernel, timeout=self.timeout, record_timing=False)  # by their metadata cells are found again
        try:
            client.execute(env=os.environ | {"TQDM_DISABLE": "1"})  # a bar over a long launch would stay on the page
        except CellExecutionError:
            return None
        except (CellTimeoutError, RuntimeError):  # the kernel is of no more use
            del self.mine.kernel
            return None
        finally:
            if client.kc is not None:
                client.kc.stop_channels()
        notebook.metadata = whole.metadata
        return time.perf_counter() - began

    def _kernel(self) -> AsyncKernelManager:
        if not hasattr(self.mine, "kernel"):
            self.mine.kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=f"{self.folder}/{threading.get_ident()}")
            self.all.append(self.mine.kernel)
        return self.mine.kernel


def _notebook(path: Path, env: BuildEnvironment) -> NotebookNode | None:
    """A page's notebook, as MyST-NB will read it; None for a page without cells."""
    text = path.read_text("utf-8")
    reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
    notebook = reader and reader.read(text)
    return notebook if notebook and any(cell.cell_type == "code" for cell in notebook.cells) else None


def _name(done: tuple[Path, float | None]) -> str:
    path, seconds = done
    return f"{path.stem} (again)" if seconds is None else f"{path.stem} ({seconds:.1f} s)"


def setup(app: Sphinx) -> dict:
    """Called by Sphinx."""
    app.connect("env-before-read-docs", run_ahead)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Run the pages' cells ahead of reading, several pages at a time; MyST-NB runs one after another.

Pages that one worker runs share a kernel, because starting one takes as long as many a page takes
to run: between two pages it forgets all names, changes to the page's folder and resets matplotlib's
style. The tests of chapters run each chapter in a kernel of its own.

Results go into a Jupyter cache where MyST-NB finds them. It lasts for one build: a longer-lived one
would detect a change in a page's text, but not in the package that the page runs. (``make serve``
keeps one for each state of the package: ``kept_results``.) A page whose cells raise an error is
left out, so that MyST-NB runs it again and reports the error as always.
"""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from jupyter_client.manager import AsyncKernelManager
from myst_nb.core.read import create_nb_reader
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from nbclient.util import run_sync
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.display import status_iterator
from sphinx.util.typing import ExtensionMetadata

WORKERS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
V4: Any = nbformat.v4  # has no types
FORGET = """%reset -f
import gc, os, sys
gc.freeze()  # what is left serves all pages: to look through it at every reset takes long
os.chdir({folder!r})
if "matplotlib.pyplot" in sys.modules:
    sys.modules["matplotlib.pyplot"].rcdefaults()
del gc, os, sys
"""


def run_ahead(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Run the pages that are about to be read, under ``execute_notebooks: force`` only."""
    config = env.mystnb_config  # type: ignore[attr-defined]  # myst_nb sets it
    if config.execution_mode != "force":
        return
    folder = TemporaryDirectory(prefix="warpwise-", ignore_cleanup_errors=True)
    app.connect("build-finished", lambda *_: folder.cleanup())
    results = app.config.kept_results or folder.name
    config = config.copy(execution_mode="cache", execution_cache_path=results)
    env.mystnb_config = config  # type: ignore[attr-defined]
    cache = get_cache(results)
    pages = {
        path: notebook
        for path in map(Path, map(env.doc2path, docnames))
        if (notebook := read_notebook(path, env)) is not None and not _has(cache, notebook)
    }
    timeout = config.execution_timeout
    with Kernels(Path(folder.name), timeout) as kernels, ThreadPoolExecutor(WORKERS) as pool:
        runs = zip(
            pages, pool.map(lambda path: kernels.run(pages[path], path.parent), pages), strict=True
        )
        for path, seconds in status_iterator(
            runs, "running pages ... ", length=len(pages), stringify_func=_name
        ):
            if seconds is not None:
                _keep(pages[path], env.path2doc(str(path)) or path.stem)
                bundle = CacheBundleIn(pages[path], str(path), data={"execution_seconds": seconds})
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def _keep(notebook: NotebookNode, docname: str) -> None:
    """Write an executed page where the environment asks for it: MyST-NB's own copies are empty."""
    if folder := os.environ.get("WARPWISE_EXECUTED"):
        path = Path(folder) / f"{docname}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)


class Kernels:
    """A kernel for each thread that runs pages, started when first needed.

    Kernels communicate through files in ``folder``: two that start at once could pick the same
    network port.
    """

    def __init__(self, folder: Path, timeout: int):
        self.folder, self.timeout, self.mine = folder, timeout, threading.local()
        self.all: list[AsyncKernelManager] = []

    def __enter__(self) -> Kernels:
        return self

    def __exit__(self, *error: object) -> None:
        for kernel in self.all:
            run_sync(kernel.shutdown_kernel)(now=True)

    def run(self, notebook: NotebookNode, folder: Path) -> float | None:
        """Run a page's cells in place and return the seconds; None if a cell or kernel failed."""
        began, kernel = time.perf_counter(), self._kernel()
        first = V4.new_code_cell(FORGET.format(folder=str(folder)))
        whole = V4.new_notebook(cells=[first, *notebook.cells], metadata=notebook.metadata)
        # timings would change the metadata by which cells are found again
        client = NotebookClient(whole, km=kernel, timeout=self.timeout, record_timing=False)
        try:
            # the progress bar of a long launch would stay on the page
            client.execute(env=os.environ | {"TQDM_DISABLE": "1"})
        except CellExecutionError:
            return None
        except (CellTimeoutError, RuntimeError):  # the kernel is unusable
            del self.mine.kernel
            return None
        finally:
            if client.kc is not None:
                client.kc.stop_channels()
        notebook.metadata = whole.metadata
        return time.perf_counter() - began

    def _kernel(self) -> AsyncKernelManager:
        if not hasattr(self.mine, "kernel"):
            self.mine.kernel = AsyncKernelManager(
                kernel_name="python3", transport="ipc", ip=f"{self.folder}/{threading.get_ident()}"
            )
            self.all.append(self.mine.kernel)
        kernel: AsyncKernelManager = self.mine.kernel
        return kernel


def read_notebook(path: Path, env: Any) -> NotebookNode | None:
    """Return a page's notebook as MyST-NB will read it; None for a page without cells.

    ``env``: Sphinx's environment with the settings that MyST adds to it.
    """
    text = path.read_text("utf-8")
    reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
    notebook = reader and reader.read(text)
    has_code = notebook and any(cell.cell_type == "code" for cell in notebook.cells)
    return notebook if has_code else None


def _has(cache: JupyterCacheAbstract, notebook: NotebookNode) -> bool:
    with suppress(KeyError):
        cache.match_cache_notebook(notebook)
        return True
    return False


def _name(done: tuple[Path, float | None]) -> str:
    path, seconds = done
    return f"{path.stem} (again)" if seconds is None else f"{path.stem} ({seconds:.1f} s)"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Run pages before any is read."""
    app.add_config_value("kept_results", "", "")  # a folder, for warpwise.book.serve
    app.connect("env-before-read-docs", run_ahead)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

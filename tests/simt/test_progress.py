"""The bar over a long launch: shown to those who wait, and never compared by nbval."""

import subprocess
import sys
from contextlib import suppress
from queue import Empty

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel

pytestmark = pytest.mark.slow

LAUNCH = """
from pathlib import Path
Path("long_launch.py").write_text('''
from warpwise import cuda
@cuda.jit
def fill(y):
    y[cuda.grid(1)] = 1
''')
import numpy as np
from warpwise import trace
from warpwise.simt.machine import progress
from long_launch import fill
progress.PATIENCE = 0
"""
TRACE = "trace(fill, 4096, 32, np.zeros(32 * 4096, np.float32){}); print('done')"


@pytest.mark.parametrize("option", ["--nbval-lax", "--nbval"])
def test_no_bar_comes_into_what_nbval_compares_however_slow_the_launch(
    tmp_path, option, saved_cells
):
    nbformat.write(nbformat.v4.new_notebook(cells=clean_cells()), tmp_path / "clean.ipynb")
    nbformat.write(nbformat.v4.new_notebook(cells=saved_cells), tmp_path / "saved.ipynb")
    command = [sys.executable, "-m", "pytest", option, "--nbval-current-env"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "clean.ipynb", "saved.ipynb"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0 and "6 passed" in done.stdout, done.stdout


def clean_cells():
    """Return cells whose outputs have no bar: a launch that may show one, and one that shall."""
    said = nbformat.v4.new_output("stream", name="stdout", text="done\n")
    cells = [nbformat.v4.new_code_cell(LAUNCH, execution_count=1)]
    for number, wish in enumerate(("", ", progress=True"), 2):
        compared = {"tags": ["nbval-check-output"]}
        cells.append(
            nbformat.v4.new_code_cell(
                TRACE.format(wish), execution_count=number, outputs=[said], metadata=compared
            )
        )
    return cells


@pytest.fixture(scope="module")
def saved_cells(tmp_path_factory):
    """Cells with the bars that a person saved, of a launch and of one before an error.

    A slow machine drew them, JupyterLab kept what was displayed, and nbval runs the cells again."""
    launch = TRACE.format("")
    texts = (LAUNCH, launch, launch.replace("; print('done')", "; 1 / 0"))
    ran = enumerate(saved_by_jupyterlab(tmp_path_factory.mktemp("saved"), texts), 1)
    cells = [nbformat.v4.new_code_cell(t, execution_count=i, outputs=out) for i, (t, out) in ran]
    for cell, more in zip(cells[1:], ([], ["raises-exception"]), strict=True):
        cell.metadata = {"tags": ["nbval-check-output", *more]}
        said, *_ = cell.outputs
        assert said.output_type == "display_data", "no bar was drawn, so this shows nothing"
    return cells


def saved_by_jupyterlab(folder, texts):
    """Run cells as a person does; yield each with the outputs that are saved with it."""
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(folder))
    try:
        for text in texts:
            outputs, shown = [], {}

            def heard(message, outputs=outputs, shown=shown):
                kind, content = message["msg_type"], message["content"]
                name = content.get("transient", {}).get("display_id")
                if kind == "update_display_data":
                    shown[name].update(data=nbformat.from_dict(content["data"]))
                elif kind in ("display_data", "stream", "error", "execute_result"):
                    outputs.append(nbformat.v4.output_from_msg(message))
                    if name:
                        shown[name] = outputs[-1]

            client.execute_interactive(
                text, allow_stdin=True, output_hook=heard, stdin_hook=lambda _: None, timeout=600
            )
            yield text, outputs
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("live", [True, False])
def test_a_notebook_shows_a_bar_where_somebody_would_answer_input(tmp_path, live):
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path))
    shown = []

    def heard(message):
        if message["msg_type"] in ("display_data", "stream"):
            shown.append(str(message["content"]))

    try:
        for code in (LAUNCH, TRACE.format("")):
            client.execute_interactive(
                code, allow_stdin=live, output_hook=heard, stdin_hook=lambda _: None, timeout=600
            )
        with suppress(Empty):
            heard(client.get_iopub_msg(timeout=1))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert "done" in str(shown)
    assert ("fill" in str(shown)) is live, shown

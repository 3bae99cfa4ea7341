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


def nbval(folder, option):
    command = [sys.executable, "-m", "pytest", option, "--nbval-current-env"]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", "lab.ipynb"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.mark.parametrize("wish", ["", ", progress=True"])
@pytest.mark.parametrize("option", ["--nbval-lax", "--nbval"])
def test_no_bar_comes_into_what_nbval_compares_however_slow_the_launch(tmp_path, option, wish):
    said = nbformat.v4.new_output("stream", name="stdout", text="done\n")
    cells = [
        nbformat.v4.new_code_cell(LAUNCH, execution_count=1),
        nbformat.v4.new_code_cell(
            TRACE.format(wish),
            execution_count=2,
            outputs=[said],
            metadata={"tags": ["nbval-check-output"]},
        ),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "lab.ipynb")
    done = nbval(tmp_path, option)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout


@pytest.mark.parametrize("end", ["; print('done')", "; 1 / 0"])
@pytest.mark.parametrize("option", ["--nbval-lax", "--nbval"])
def test_no_bar_stays_in_the_outputs_that_a_person_saves_and_nbval_compares(tmp_path, option, end):
    """A slow machine drew it, JupyterLab kept what was displayed, and nbval runs the cell again."""
    texts = (LAUNCH, TRACE.format("").replace("; print('done')", end))
    cells = [
        nbformat.v4.new_code_cell(text, execution_count=i, outputs=outputs)
        for i, (text, outputs) in enumerate(saved_by_jupyterlab(tmp_path, texts), 1)
    ]
    tags = ["nbval-check-output", *(["raises-exception"] if "/" in end else [])]
    cells[1].metadata = {"tags": tags}
    said, *_ = cells[1].outputs
    assert said.output_type == "display_data", "no bar was drawn, so this shows nothing"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "lab.ipynb")
    done = nbval(tmp_path, option)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout


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

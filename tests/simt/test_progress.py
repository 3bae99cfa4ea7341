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
    command = [sys.executable, "-m", "pytest", option, "--nbval-current-env"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "lab.ipynb"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout


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
                code, allow_stdin=live, output_hook=heard, stdin_hook=lambda _: None, timeout=60
            )
        with suppress(Empty):
            heard(client.get_iopub_msg(timeout=1))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert "done" in str(shown)
    assert ("fill" in str(shown)) is live, shown

"""Parallel execution of pages with cells: a fresh start in every build, and reported failures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from warpwise.book import ahead

pytestmark = [pytest.mark.slow, pytest.mark.unix("pages' kernels are reached through Unix sockets")]

CONFIGURATION = """
extensions = ["myst_nb", "warpwise.book.ahead"]
nb_execution_mode = "force"
html_theme = "basic"
"""
PAGE = """---
jupytext:
  text_representation: {{extension: .md, format_name: myst}}
kernelspec: {{display_name: Python 3, language: python, name: python3}}
---

# {title}

```{{code-cell}} ipython3
{code}
```
"""
# Two pages wait for each other, so both end only if they run side by side.
MEET = """from pathlib import Path
from time import sleep
Path("{mine}").touch(exist_ok=False)
for _ in range(200):
    if Path("{other}").exists():
        break
    sleep(0.1)
else:
    raise TimeoutError("never met")
print("{mine} has met {other}")"""


def build(folder: Path, pages: dict[str, str]) -> str:
    """Build a book in its own process, and return Sphinx's warnings.

    MyST-NB changes Sphinx for all that come after it."""
    (folder / "conf.py").write_text(CONFIGURATION)
    start = "# Start\n\n```{toctree}\n" + "\n".join(pages) + "\n```\n"
    for name, text in (pages | {"index": start}).items():
        (folder / f"{name}.md").write_text(text)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "--no-color",
        "-b",
        "html",
        str(folder),
        str(folder / "html"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return "\n".join(line for line in done.stderr.splitlines() if "IPKernelApp" not in line)


def html(folder: Path, name: str) -> str:
    return (folder / f"html/{name}.html").read_text("utf-8")


def page(title: str, code: str) -> str:
    return PAGE.format(title=title, code=code)


@pytest.mark.skipif(ahead.WORKERS < 2, reason="one processor runs one page at a time")
def test_pages_run_side_by_side(tmp_path):
    pages = {
        mine: page(mine, MEET.format(mine=mine, other=other))
        for mine, other in (("one", "two"), ("two", "one"))
    }
    assert build(tmp_path, pages) == ""
    assert "one has met two" in html(tmp_path, "one") and "two has met one" in html(tmp_path, "two")


def test_a_page_finds_nothing_of_the_page_before(tmp_path):
    """More pages than kernels: each sees its own folder, and no name or style of another."""
    look = (
        "import os, matplotlib.pyplot as plt\n"
        "print(os.getcwd(), 'mine' in globals(), plt.rcParams['lines.linewidth'])\n"
    )
    code = look + "mine = 1\nplt.rcParams['lines.linewidth'] = 9"
    (tmp_path / "below").mkdir()
    names = [f"{folder}page{i}" for i in range(3) for folder in ("", "below/")]
    assert build(tmp_path, {name: page("One of many", f"{code}  # {name}") for name in names}) == ""
    for name in names:
        assert f"{(tmp_path / name).parent} False 1.5" in html(tmp_path, name)


def test_a_long_launch_leaves_no_bar_on_a_page(tmp_path):
    """A bar is a widget, for which a page would ask the network.

    A patience of zero makes the launch count as long."""
    (tmp_path / "long_launch.py").write_text(
        "from warpwise import cuda\n\n@cuda.jit\ndef fill(y):\n    y[cuda.grid(1)] = 1\n"
    )
    code = """import sys, numpy as np
from warpwise.simt.machine import progress
sys.path.insert(0, ".")
from long_launch import fill
progress.PATIENCE = 0
y = np.zeros(32 * 4096, np.float32)
fill[4096, 32](y)
print("filled", int(y.sum()))"""
    assert build(tmp_path, {"long": page("Long", code)}) == ""
    assert "filled 131072" in html(tmp_path, "long")
    assert not any(
        word in html(tmp_path, "long") for word in ("jupyter-widgets", "require.js", "blocks/s")
    )


def test_a_page_is_run_anew_in_the_next_build_and_a_failure_is_reported(tmp_path):
    (tmp_path / "said.txt").write_text("first")
    text = page("Says", 'print(open("said.txt").read() + " time")')
    build(tmp_path, {"says": text})
    assert "first time" in html(tmp_path, "says")
    (tmp_path / "said.txt").write_text("second")
    told = build(tmp_path, {"says": text + "\n", "fails": page("Fails", "1 / 0")})
    assert "second time" in html(tmp_path, "says")
    assert "Executing notebook failed: CellExecutionError" in told and "fails.md" in told

"""The cell that makes a lab run in Google Colab, where the package is not installed; on other machines it does nothing.

Colab reads the notebook from the repository that ``_config.yml`` names for the site's buttons. Where it names none there are no
buttons, and no such cell. Colab brings NumPy, Matplotlib and ipywidgets; pictures need anywidget besides.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import yaml
from nbformat import NotebookNode

CELL = '''# In Google Colab: install what this lab needs. Elsewhere this cell does nothing.
import subprocess
import sys

if "google.colab" in sys.modules:
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "anywidget", "warpwise @ git+{url}@{branch}"], check=True)
    from google.colab import output

    output.enable_custom_widget_manager()'''


def repository(root: Path) -> tuple[str, str] | None:
    """(address, branch) of the repository that the book below ``root`` names; None where it names none, or there is no book."""
    config = root / "_config.yml"
    if not config.is_file():
        return None
    options = yaml.safe_load(config.read_text("utf-8")).get("sphinx", {}).get("config", {}).get("html_theme_options", {})
    url = options.get("repository_url", "").rstrip("/")
    return (url, options.get("repository_branch") or "main") if url else None


def with_setup(notebook: NotebookNode, found: tuple[str, str] | None) -> NotebookNode:
    """The notebook with the cell below its title, if there is a repository to install from."""
    if found:
        url, branch = found
        cell = nbformat.v4.new_code_cell(CELL.format(url=url, branch=branch), id="given-setup", metadata={"tags": ["given"]})
        notebook.cells.insert(1, cell)
    return notebook

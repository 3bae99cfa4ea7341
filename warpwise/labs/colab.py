"""The cell that installs the package where a lab runs in Google Colab.

On other machines it does nothing. Colab reads the notebook from the repository that ``_config.yml``
names for the site's buttons. Where it names none, there are no buttons and no such cell. Colab
brings NumPy, Matplotlib and ipywidgets; pictures need anywidget besides, and QuickJS where they
come as text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import yaml
from nbformat import NotebookNode

from warpwise.errors import LabError

GITHUB = re.compile(r"https://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?")
BRANCH = "main"  #: where a repository's options name none

CELL = """# In Google Colab: install what this lab needs. Elsewhere this cell does nothing.
import subprocess
import sys

if "google.colab" in sys.modules:
    needed = ["anywidget", "quickjs-ng", "warpwise @ git+https://github.com/{owner}/{name}@{branch}"]
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *needed], check=True)
    from google.colab import output

    output.enable_custom_widget_manager()"""


def named(options: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return owner, name and branch of the repository in the theme's options, None without one.

    Raises LabError for an address that is not one of GitHub's: Colab reads from no other host."""
    address = options.get("repository_url")
    if not address:
        return None
    found = GITHUB.fullmatch(address)
    if not found:
        need = "Colab and Binder need https://github.com/OWNER/NAME, or leave it empty"
        raise LabError(f"repository_url is {address!r}: {need}")
    return found[1], found[2], options.get("repository_branch") or BRANCH


def repository(root: Path) -> tuple[str, str, str] | None:
    """Return the repository of the book below ``root``, as ``named`` does; None without a book."""
    config = root / "_config.yml"
    if not config.is_file():
        return None
    sphinx = yaml.safe_load(config.read_text("utf-8")).get("sphinx", {})
    return named(sphinx.get("config", {}).get("html_theme_options", {}))


def with_setup(notebook: NotebookNode, found: tuple[str, str, str] | None) -> NotebookNode:
    """Insert the cell below the title of a notebook, if there is a repository to install from."""
    if found:
        owner, name, branch = found
        source = CELL.format(owner=owner, name=name, branch=branch)
        metadata = {"tags": ["given"]}
        cell = nbformat.v4.new_code_cell(source, id="given-setup", metadata=metadata)
        notebook.cells.insert(1, cell)
    return notebook

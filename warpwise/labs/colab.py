"""The cell that makes a lab run in Google Colab, where the package is not installed; on other machines it does nothing.

Colab reads the notebook from the repository that ``_config.yml`` names for the site's buttons: the same ``named`` says which. Where it
names none there are no buttons, and no such cell. Colab brings NumPy, Matplotlib and ipywidgets; pictures need anywidget besides, and
QuickJS where they come as text.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import yaml
from nbformat import NotebookNode

from warpwise.errors import LabError

GITHUB = re.compile(r"https://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?")
BRANCH = "main"  #: where a repository's options name none

CELL = '''# In Google Colab: install what this lab needs. Elsewhere this cell does nothing.
import subprocess
import sys

if "google.colab" in sys.modules:
    needed = ["anywidget", "quickjs-ng", "warpwise @ git+https://github.com/{owner}/{name}@{branch}"]
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *needed], check=True)
    from google.colab import output

    output.enable_custom_widget_manager()'''


def named(options: dict) -> tuple[str, str, str] | None:
    """(owner, name, branch) of the repository that the theme's options name; None where they name none.

    Raises LabError for an address that is not one of GitHub's: Colab reads from no other host.
    """
    address = options.get("repository_url")
    if not address:
        return None
    found = GITHUB.fullmatch(address)
    if not found:
        raise LabError(f"repository_url is {address!r}: Colab and Binder need https://github.com/OWNER/NAME, or leave it empty")
    return *found.groups(), options.get("repository_branch") or BRANCH


def repository(root: Path) -> tuple[str, str, str] | None:
    """The repository that the book below ``root`` names; None where it names none, or there is no book. Raises LabError as ``named``."""
    config = root / "_config.yml"
    if not config.is_file():
        return None
    return named(yaml.safe_load(config.read_text("utf-8")).get("sphinx", {}).get("config", {}).get("html_theme_options", {}))


def with_setup(notebook: NotebookNode, found: tuple[str, str, str] | None) -> NotebookNode:
    """The notebook with the cell below its title, if there is a repository to install from."""
    if found:
        owner, name, branch = found
        cell = nbformat.v4.new_code_cell(CELL.format(owner=owner, name=name, branch=branch), id="given-setup", metadata={"tags": ["given"]})
        notebook.cells.insert(1, cell)
    return notebook

"""ARCHITECTURE.md: its map is that of the import contracts, and its paths exist."""

from __future__ import annotations

import re
import tomllib

import pytest
from support.paths import ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
LAYERS = {
    container: contract["layers"]
    for contract in CONTRACTS["contracts"]
    if contract["type"] == "layers"
    for container in contract["containers"]
}
PATH = re.compile(r"`([\w/.]+(?:/|\.(?:py|js|md|ipynb)))`")


@pytest.mark.parametrize(
    ("number", "package"), [(0, "warpwise"), (1, "warpwise.simt")], ids=["package", "simulator"]
)
def test_the_map_is_that_of_the_import_contracts(number: int, package: str):
    drawn = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[number]
    assert drawn.split("\n")[:-1] == LAYERS[package]


def test_every_package_has_a_line():
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| .+ \|$", PAGE, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"\w+", row)]
    layers = [name for row in LAYERS["warpwise"] for name in row.split(" | ")]
    assert sorted(named) == sorted(layers)


def test_every_path_exists():
    """Paths are below the repository or the package, or beside the path before on the line."""
    missing = []
    for line in PAGE.splitlines():
        folders = [ROOT, ROOT / "warpwise"]
        for path in PATH.findall(line.replace("<package>", "simt").replace("<lab>", "02_simt")):
            found = [folder / path for folder in folders if (folder / path).exists()]
            if not found:
                missing.append(path)
            folders += [one if one.is_dir() else one.parent for one in found]
    assert missing == []


def test_it_is_read_in_minutes():
    assert len(PAGE.splitlines()) <= 150

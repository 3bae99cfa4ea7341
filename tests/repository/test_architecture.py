"""ARCHITECTURE.md: its map is that of the import contracts, and its paths exist."""

from __future__ import annotations

import re
import tomllib
from collections import Counter

import numpy as np
import pytest
from numba import cuda
from support.paths import ROOT

from warpwise import Observer, trace

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
            folders += {one if one.is_dir() else one.parent for one in found} - {*folders}
    assert missing == []


def test_it_is_read_in_minutes():
    assert len(PAGE.splitlines()) <= 190


CODE = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", CODE[:-1], ids=lambda code: code[:20])
def test_code_of_the_package_is_shown_as_it_is(code: str):
    files = (ROOT / "warpwise/simt").rglob("*.py")
    assert any(code in dedent_all(path.read_text("utf-8")) for path in files)


def dedent_all(text: str) -> str:
    """Return a text with the entries of its tables at the margin."""
    return re.sub(r"^    (?=Function\(|_gives\()", "", text, flags=re.MULTILINE)


def test_the_observer_shown_counts_what_the_counters_count():
    names = {"Observer": Observer, "Counter": Counter}
    exec(CODE[-1], names)
    loads, x, out = names["WarpLoads"](), np.ones(100, np.float32), np.zeros(100, np.float32)
    t = trace(summed, 2, 64, x, out, observers=[loads])
    assert loads.by_line == {
        line: m.global_load_requests for line, m in t.by_line.items() if m.global_load_requests
    }
    assert sum(loads.by_line.values()) == 8


def summed(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + x[i // 2]

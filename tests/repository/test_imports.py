"""The contracts on imports, and how little ``import warpwise`` loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

LINTER = Path(sys.executable).parent / "lint-imports"
LOADED = """
import sys
before = set(sys.modules)
import {module}
loaded = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(*sorted(loaded - set(sys.stdlib_module_names)))
"""


def lint(folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [LINTER, "--no-cache", "--no-logo"], cwd=folder, capture_output=True, text=True
    )


def loaded_by(module: str) -> set[str]:
    """Return the third-party packages that importing a module loads, in a new interpreter."""
    code = LOADED.format(module=module)
    return set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout.split()
    )


def test_modules_import_only_from_layers_below():
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_import_from_above_is_found(tmp_path: Path):
    """The same contracts fail over a package in which the metrics import the simulator."""
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text("utf-8"))
    package = tmp_path / "warpwise"
    for path in (ROOT / "warpwise").rglob("*.py"):
        copy = package / path.relative_to(ROOT / "warpwise")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text("utf-8"))
    with open(package / "metrics/__init__.py", "a") as out:
        out.write("\nfrom warpwise import simt\n")
    done = lint(tmp_path)
    assert done.returncode != 0
    assert "warpwise.metrics -> warpwise.simt" in done.stdout


def test_import_warpwise_loads_numpy_and_nothing_heavier():
    assert loaded_by("warpwise") == {"warpwise", "numpy"}


@pytest.mark.parametrize(
    "module", ["errors", "devices", "traces", "metrics", "simt", "cuda", "doctor"]
)
def test_the_core_needs_only_numpy(module: str):
    assert loaded_by(f"warpwise.{module}") == {"warpwise", "numpy"}


def test_the_command_starts_without_what_its_commands_use():
    heavy = {
        "nbformat",
        "nbclient",
        "jupytext",
        "nbval",
        "dask",
        "distributed",
        "matplotlib",
        "anywidget",
        "numba",
        "sphinx",
    }
    assert not loaded_by("warpwise.cli") & heavy

"""The programs of ``programs/corpus/``, run as they stand: kernels with host code.

People who know CUDA and not this simulator write so. Each program has a ``check()``, which launches
its kernels and compares with NumPy, or with what a reader can count. A race is a failure too. They
are of many hands' styles on purpose: puzzles (a function that is given ``cuda`` makes the kernel),
manuals, textbooks, warps, numbers, host code. Faulty programs are in ``chapters/mistakes/``,
kernels for comparison with Numba in ``programs/oracle/``."""

from __future__ import annotations

import ast
import importlib.util
import warnings

import pytest
from support.paths import ROOT

from warpwise.cuda import backend

FOLDER = ROOT / "tests/programs/corpus"
NAMES = sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.glob("*/*.py"))


@pytest.fixture(autouse=True)
def simulator(monkeypatch):
    """Select the simulator, on a machine with a GPU as well."""
    monkeypatch.setenv("WARPWISE_BACKEND", "simulator")
    backend.cache_clear()
    yield
    backend.cache_clear()


@pytest.mark.parametrize("name", NAMES)
def test_a_program_computes_what_it_should_without_a_warning(name):
    spec = importlib.util.spec_from_file_location(
        f"corpus.{name.replace('/', '.')}", FOLDER / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spec.loader.exec_module(module)
        module.check()


def test_each_program_says_what_it_is_in_a_line_and_is_one_of_its_kind():
    lines = {
        name: ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text())) for name in NAMES
    }
    assert len(NAMES) > 100
    assert [
        name for name, line in lines.items() if not line or "\n" in line or not line.endswith(".")
    ] == []
    assert len(set(lines.values())) == len(lines)

"""The program is to be read in one go: its length, and the chapter that each kernel names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from support.paths import ROOT

FILES = sorted((ROOT / "warpwise/gpt2").glob("*.py"))


def kernels(path: Path) -> list[ast.FunctionDef]:
    """Return the functions that ``cuda.jit`` decorates, but for device functions."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    return [f for f in functions if any(ast.unparse(d) == "cuda.jit" for d in f.decorator_list)]


def test_all_of_it_has_at_most_a_thousand_lines():
    lines = sum(len(path.read_text("utf-8").splitlines()) for path in FILES)
    assert 900 < lines <= 1000


def test_every_kernel_names_a_chapter_of_the_course():
    found = kernels(ROOT / "warpwise/gpt2/kernels.py")
    assert len(found) == 12
    for kernel in found:
        named = re.findall(r"chapters/\w+\.md", ast.get_docstring(kernel) or "")
        assert named, kernel.name
        assert [path for path in named if not (ROOT / path).is_file()] == []


def test_kernels_are_in_one_file():
    assert [path.name for path in FILES if kernels(path)] == ["kernels.py"]

"""The steps from which lab 14 lets a student begin, as the notebook prints them."""

from __future__ import annotations

import ast
import builtins
import json
from pathlib import Path

import pytest

LAB = Path(__file__).parents[3] / "labs/14_speed_of_light.ipynb"
KNOWN = {"np", "cuda", "load4", "store4", *vars(builtins)}


@pytest.fixture(scope="module")
def given() -> dict[str, object]:
    cells = json.loads(LAB.read_text("utf-8"))["cells"]
    first = next(cell for cell in cells if "given" in cell["metadata"].get("tags", []))
    names: dict[str, object] = {}
    exec("".join(first["source"]), names)
    return names


@pytest.mark.parametrize("number", [4, 5, 6])
def test_a_beginning_brings_what_it_names(given, number):
    tree = ast.parse(given["published_step"](number))
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    made |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    made |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {node.id for node in names} <= made | KNOWN
    assert any(ast.unparse(one) == "DEPTH = 8" for one in tree.body)

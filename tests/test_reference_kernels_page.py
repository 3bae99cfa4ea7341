"""The page of reference kernels has every ladder that there is, and every step of it."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
from bs4 import BeautifulSoup

import warpwise.kernels

MODULES = [importlib.import_module(f"warpwise.kernels.{found.name}") for found in pkgutil.iter_modules(warpwise.kernels.__path__)]
STEPS = [step for module in MODULES for step in getattr(module, "STEPS", ())]


@pytest.fixture(scope="module")
def rows(site) -> list[list[str]]:
    page = BeautifulSoup((site.folder / "chapters/reference_kernels.html").read_text("utf-8"), "html.parser")
    return [[cell.get_text(" ", strip=True) for cell in row.select("td")] for row in page.select("article table tbody tr")]


def test_every_step_has_its_row_and_no_row_is_of_another(rows):
    assert sorted(row[0] for row in rows) == sorted(step.name for step in STEPS)


def test_a_row_says_what_is_new_and_what_a_block_takes(rows):
    found = {row[0]: row[1:] for row in rows}
    assert found["transpose_3_padded"] == ["one more column in the tile, against bank conflicts", "256", "8"]
    assert all(idea for idea, *_ in found.values())

"""Code of the pages: 72 columns at most, which fit a sheet of paper and, wrapped, a phone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.paths import ROOT

from warpwise.book import mistakes

CHAPTERS = ROOT / "chapters"
PAGES = sorted(CHAPTERS.rglob("*.md"))
WIDTH = 72
FENCE = re.compile(r"\s*(`{3,}|:{3,}|~{3,})\s*(.*)")
#: Fences whose content is code, as it stands.
CODE = re.compile(r"\{code-(cell|block)\}|[\w-]+$")


def code_lines(text: str) -> list[tuple[int, str]]:
    """Return the lines of code in a page, each with its number; directives may hold others."""
    found: list[tuple[int, str]] = []
    fences: list[tuple[str, bool]] = []
    for number, line in enumerate(text.splitlines(), 1):
        mark, words = match.groups() if (match := FENCE.match(line)) else ("", "")
        if fences and fences[-1][1]:
            if mark == fences[-1][0] and not words:
                fences.pop()
            else:
                found.append((number, line))
        elif mark and fences and fences[-1][0] == mark and not words:
            fences.pop()
        elif mark:
            fences.append((mark, bool(CODE.match(words))))
    assert not fences, fences
    return without_options(found)


def without_options(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Leave out what stands before the code: options of a directive, and a cell's metadata."""
    kept, heads, block = [], False, 0
    for number, line in lines:
        if number != block:
            heads, block = True, number
        block += 1
        if heads and (line == "---" or line.startswith((":", "warpwise:", "tags:", "  "))):
            continue
        heads = False
        kept.append((number, line))
    return kept


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(CHAPTERS).as_posix())
def test_lines_of_code_fit(page: Path):
    lines = code_lines(page.read_text("utf-8"))
    assert [(number, line) for number, line in lines if len(line) > WIDTH] == []


def test_code_is_found_in_cells_fences_and_directives():
    page = "```{code-cell} ipython3\n---\ntags: [x]\nwarpwise:\n  prompt: long\n---\na = 1\n```\n"
    page += ":::{note}\n```console\n$ b\n```\n:::\n````{exercise}\nwords\n```python\nc\n```\n````\n"
    page += "```{code-cell}\n:tags: [hide-input]\n\nd\n```\n"
    found = [line for _, line in code_lines(page) if line]
    assert found == ["a = 1", "$ b", "c", "d"]


def test_kernels_of_mistakes_fit():
    programs = sorted((CHAPTERS / "mistakes").rglob("*.py"))
    shown = {path: mistakes.kernel_lines(path.read_text("utf-8"))[1] for path in programs}
    assert [(p.name, line) for p in shown for line in shown[p] if len(line) > WIDTH] == []

"""Hints lead: the first of each exercise asks a question, and shows no code."""

from __future__ import annotations

import re

import pytest
from support.lab_cases import STEMS

from warpwise.labs.source import load_lab, role

HINT = re.compile(r"<summary>Hint (\d+): (.+?)</summary>(.*?)</details>", re.DOTALL)
ASSIGNMENT = re.compile(r"`[^`]*(?<![=<>!])=(?!=)[^`]*`")


def hints(stem: str) -> dict[str, list[tuple[str, str, str]]]:
    """Return the number, title and text of each hint, by exercise."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    before: list[tuple[str, str, str]] = []
    for cell in load_lab(stem).cells:
        if cell.cell_type == "markdown":
            before += HINT.findall(cell.source)
        elif role(cell) == "exercise":
            found[cell.metadata["warpwise"]["id"]], before = before, []
    return found


@pytest.mark.parametrize("stem", STEMS)
def test_the_first_hint_asks_and_shows_no_code(stem):
    for exercise, (first, *_) in hints(stem).items():
        _, title, text = first
        assert "?" in text, (exercise, title)
        assert "```" not in text and not ASSIGNMENT.search(text), (exercise, title)


@pytest.mark.parametrize("stem", STEMS)
def test_hints_are_numbered_in_order_and_have_different_titles(stem):
    for exercise, all_hints in hints(stem).items():
        assert [number for number, _, _ in all_hints] == [
            str(n) for n in range(1, len(all_hints) + 1)
        ], exercise
        assert len({title for _, title, _ in all_hints}) == len(all_hints), exercise

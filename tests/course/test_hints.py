"""Hints lead: the first of each exercise asks a question and shows no code, and all of them
together leave lines to be written."""

from __future__ import annotations

import re

import pytest
from support.lab_cases import STEMS

from warpwise.labs.source import BEGIN, END, load_lab, marked_notebook, role

HINT = re.compile(r"<summary>Hint (\d+): (.+?)</summary>(.*?)</details>", re.DOTALL)
ASSIGNMENT = re.compile(r"`[^`]*(?<![=<>!])=(?!=)[^`]*`")

SHORTEST, FEWEST = 12, 4  # characters of a line, and lines of a solution, that count here
MOST = 0.6  # of these lines that hints may say as code


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


@pytest.mark.parametrize("stem", STEMS)
def test_hints_leave_lines_of_the_solution_to_be_written(stem):
    said = {
        exercise: [
            tight(code) for *_, text in all_hints for code in re.findall(r"`([^`]{8,})`", text)
        ]
        for exercise, all_hints in hints(stem).items()
    }
    for cell in marked_notebook(load_lab(stem)).cells:
        if role(cell) == "exercise":
            lines = lines_of(cell.source.partition(BEGIN)[2].partition(END)[0])
            exercise = cell.metadata["warpwise"]["id"]
            told = [line for line in lines if any(is_most_of(c, line) for c in said[exercise])]
            assert len(lines) < FEWEST or len(told) <= MOST * len(lines), (exercise, told)


def lines_of(solution: str) -> list[str]:
    return [tight(line) for line in solution.splitlines() if len(line.strip()) > SHORTEST]


def tight(code: str) -> str:
    return re.sub(r"\s+", "", code).rstrip(":")


def is_most_of(code: str, line: str) -> bool:
    return line in code or (code in line and len(code) > MOST * len(line))

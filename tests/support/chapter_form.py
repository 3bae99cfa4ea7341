"""The form of every chapter: executed once, its form and numbers checked by the house style.

``tests/course/<lab>/test_chapter.py`` derives its ``TestForm`` from ``ChapterForm``, accounts for
the numbers that no cell computes, and adds tests of the chapter's claims. A claim is compared with
something worked out otherwise than in the chapter."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import jupytext
import nbclient
import nbformat
import pytest

from support import served_site
from support.cells import PAUSE
from support.paths import ROOT

GLUE = re.compile(r"\{glue:text\}`(\w+)`")
NUMBER = re.compile(r"(?<![\w.])\d[\d.,:]*\d|(?<![\w.])\d")
CLOSING = (
    "Quiz",
    "Exercises",
    "What this model leaves out",
    "In production you would use",
    "Sources",
)
UNSEEN = re.compile(
    r"^```\{code-cell\} ipython3\n:tags: \[remove-cell\].*?^```$", re.DOTALL | re.MULTILINE
)
QUESTION = re.compile(r"^::::\{quiz\} ([\w-]+)\n(.*?)^::::$", re.DOTALL | re.MULTILINE)
OPTION = re.compile(r"^- \[([ x])\] (.*)\n\n((?:  .*\n|\n(?=  ))+)", re.MULTILINE)
SEVERAL_SENTENCES = re.compile(r"(?<!\d)[.?!][*\"]* [A-Z]")


@dataclass(frozen=True)
class Question:
    """A quiz question: its text, the reply to each option, and the right option."""

    text: str
    answers: dict[str, str]
    right: str


@dataclass(frozen=True)
class Chapter:
    """A chapter's text, its executed cells, and the values that its text shows."""

    stem: str
    text: str
    cells: tuple
    glued: dict[str, str]

    @property
    def main(self) -> str:
        """The text up to the quiz."""
        return self.text[: self.text.index("\n## Quiz")]

    @property
    def code(self) -> list:
        return [cell for cell in self.cells if cell.cell_type == "code"]

    @property
    def printed(self) -> str:
        """The text that its cells print or show, in order; one cell's may come in pieces."""
        return "\n".join(
            "".join(
                out.get("text") or out.get("data", {}).get("text/plain", "") + "\n"
                for out in cell.outputs
            )
            for cell in self.code
        )

    @property
    def quiz(self) -> dict[str, Question]:
        """Its questions by name."""
        return {name: _question(body) for name, body in QUESTION.findall(self.text)}


def number(text: str) -> float:
    """Return a number that a text shows, with its groups of three digits."""
    return float(text.replace(",", "").replace("\u2212", "-"))


def run(stem: str) -> Chapter:
    """Return the chapter, executed once, even if that fails."""
    found = _outcome(stem)
    if isinstance(found, Exception):
        raise found
    return found


@cache
def _outcome(stem: str) -> Chapter | Exception:
    try:
        return _executed(stem)
    except Exception as error:
        return error


def _executed(stem: str) -> Chapter:
    path = ROOT / f"chapters/{stem}.md"
    notebook = _of_the_site(stem) if served_site.wanted else _alone(path)
    outputs = [
        output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
    ]
    books = [
        (o.metadata["scrapbook"]["name"], o.data)
        for o in outputs
        if "scrapbook" in o.get("metadata", {})
    ]
    glued = {
        name: str(data["application/papermill.record/text/plain"]).strip("'")
        for name, data in books
    }
    return Chapter(stem, path.read_text("utf-8"), tuple(notebook.cells), glued)


def _of_the_site(stem: str) -> nbformat.NotebookNode:
    """Return the chapter from the site's build, in a run that builds the site anyway."""
    built = served_site.build_once(Path(os.environ[served_site.FOLDER]))
    executed = built.executed / f"chapters/{stem}.ipynb"
    assert executed.exists(), "\n".join(line for line in built.complaints if stem in line)
    return nbformat.read(executed, as_version=4)


def _alone(path: Path) -> nbformat.NotebookNode:
    """Execute the chapter in a kernel of its own."""
    notebook, folder = jupytext.read(path), {"metadata": {"path": str(path.parent)}}
    nbclient.NotebookClient(
        notebook, timeout=3000, kernel_name="python3", resources=folder
    ).execute()
    return notebook


def _question(body: str) -> Question:
    found = OPTION.findall(body)
    (right,) = [option for mark, option, _ in found if mark == "x"]
    return Question(
        body[: body.index("\n- [")].strip(),
        {option: why.strip() for _, option, why in found},
        right,
    )


def prose_lines(text: str) -> list[str]:
    """Return the lines of prose, links and roles by their text.

    Header, cells, options and fences are left out."""
    body = re.sub(r"\A---.*?^---$", "", text, flags=re.DOTALL | re.MULTILINE)
    body = re.sub(
        r"^```(?!\{exercise|\{note|\{admonition).*?^```$", "", body, flags=re.DOTALL | re.MULTILINE
    )
    lines = [
        line
        for line in body.splitlines()
        if line.strip() and not re.match(r"[`:]{3,}(?!\{exercise)|:[\w-]+:", line)
    ]
    return [re.sub(r"^(?:`{3,}|:{3,})\{exercise\} |^- \[[ x]\] |^  ", "", line) for line in lines]


def plain(line: str) -> str:
    """Return a line without what is computed or sourced elsewhere, and link targets.

    That is glue, substitutions, citations, code and formulas."""
    line = GLUE.sub("", line)
    line = re.sub(r"\{\{ \w+ \}\}|\{cite:[pt]\}`[^`]*`|\{(?:term|doc|ref)\}`[^`]*`", "", line)
    return re.sub(r"`[^`]*`|\$[^$]*\$|\[[^\]]*\b[Cc]hapters? \d+\]\([^)]*\)|\]\([^)]*\)", "", line)


def words(text: str) -> int:
    return sum(len(line.split()) for line in prose_lines(text))


def stretches(text: str) -> list[str]:
    """Return the pieces of a text between what interrupts it: cells in sight, and guesses."""
    return PAUSE.split(UNSEEN.sub("", text))


def read(stretch: str) -> int:
    """Return the words of a piece of text, without those of headings."""
    return sum(len(line.split()) for line in prose_lines(stretch) if not line.startswith("#"))


class ChapterForm:
    """The form of one chapter.

    ``sourced`` and ``chosen`` say where each number in the prose that no cell computes comes
    from."""

    stem: ClassVar[str]
    sourced: ClassVar[Mapping[str, str]] = {}
    chosen: ClassVar[Mapping[str, str]] = {}

    @pytest.fixture
    def chapter(self) -> Chapter:
        return run(self.stem)

    def test_text_shows_exactly_the_values_that_cells_compute(self, chapter):
        assert set(GLUE.findall(chapter.text)) == set(chapter.glued)

    def test_opens_with_its_number_and_one_question(self, chapter):
        body = re.sub(r"\A---.*?^---\n", "", chapter.text, flags=re.DOTALL | re.MULTILINE).strip()
        title, question = body.split("\n\n")[:2]
        assert re.fullmatch(rf"# Chapter {int(self.stem[:2])}: \w.*", title)
        assert question.startswith("**") and question.endswith("?**")

    def test_sections_are_in_the_order_of_the_house(self, chapter):
        headings = re.findall(r"^## (.*)$", chapter.text, flags=re.MULTILINE)
        assert tuple(headings[-5:]) == CLOSING and len(headings) >= 8

    def test_length(self, chapter):
        assert 2_000 <= words(chapter.text) <= 4_000, words(chapter.text)

    def test_something_to_run_or_look_at_every_150_words(self, chapter):
        longest = max(stretches(chapter.main), key=read)
        assert read(longest) <= 160, (read(longest), longest)

    def test_one_sentence_a_line(self, chapter):
        assert [
            line for line in prose_lines(chapter.text) if SEVERAL_SENTENCES.search(plain(line))
        ] == []

    def test_numbers_in_the_main_part_are_computed_or_accounted_for(self, chapter):
        lines = [line for line in prose_lines(chapter.main) if not line.startswith("# ")]
        loose = {found for line in lines for found in NUMBER.findall(plain(line))}
        assert loose <= set(self.sourced) | set(self.chosen), (
            loose - set(self.sourced) - set(self.chosen)
        )

    def test_no_number_is_accounted_for_in_vain(self, chapter):
        everywhere = {
            found for line in prose_lines(chapter.text) for found in NUMBER.findall(plain(line))
        }
        assert set(self.sourced) | set(self.chosen) <= everywhere, (
            set(self.sourced) | set(self.chosen)
        ) - everywhere
        assert not set(self.sourced) & set(self.chosen)

    def test_code_that_is_shown_fits_the_page(self, chapter):
        shown = [
            cell
            for cell in chapter.code
            if not {"hide-input", "remove-input", "remove-cell"}
            & set(cell.metadata.get("tags", []))
        ]
        assert [line for cell in shown for line in cell.source.splitlines() if len(line) > 76] == []

    def test_plotting_code_is_folded(self, chapter):
        drawing = [
            cell
            for cell in chapter.code
            if re.search(r"^\s*chart\(|plt\.subplots", cell.source, re.MULTILINE)
        ]
        assert all(
            {"hide-input", "remove-input"} & set(cell.metadata.get("tags", [])) for cell in drawing
        )

    def test_pictures_have_words(self, chapter):
        shown = [out.get("data", {}) for cell in chapter.code for out in cell.outputs]
        charts = [
            data["text/html"] for data in shown if data.get("text/html", "").startswith("<svg")
        ]
        assert all(re.search(r'aria-label="[^"]{40,}"', page) for page in charts)
        assert not any("image/png" in data for data in shown)
        assert charts or any("<ww-" in data.get("text/html", "") for data in shown)

    def test_quiz_has_four_to_eight_questions_of_three_options(self, chapter):
        assert 4 <= len(chapter.quiz) <= 8
        for question in chapter.quiz.values():
            assert len(question.answers) >= 3 and all(question.answers.values())

    def test_the_right_option_is_not_always_in_the_same_place(self, chapter):
        assert (
            len(
                {list(question.answers).index(question.right) for question in chapter.quiz.values()}
            )
            > 1
        )

    def test_every_exercise_has_a_solution_with_a_cell_that_asserts_it(self, chapter):
        labels = re.findall(
            r"^:label: ([\w-]+)$",
            chapter.text[chapter.text.index("\n## Exercises") :],
            flags=re.MULTILINE,
        )
        assert 3 <= len(labels) <= 6
        for label in labels:
            solution = re.search(
                rf"solution-start\}} {label}$(.*?)solution-end",
                chapter.text,
                flags=re.DOTALL | re.MULTILINE,
            )[1]
            assert re.search(r"code-cell.*^assert ", solution, flags=re.DOTALL | re.MULTILINE), (
                label
            )

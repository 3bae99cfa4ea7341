"""Chapter 8: it runs, what it claims holds, each number in its prose is computed, and its form is that of the house style.

The claims are checked against sectors counted here, by the rule of the Best Practices Guide, and not by the simulator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import jupytext
import nbclient
import pytest
from conftest import ROOT

from warpwise.devices import H100

CHAPTER = ROOT / "chapters" / "08_coalescing.md"
GLUE = re.compile(r"\{glue:text\}`(\w+)`")
NUMBER = re.compile(r"(?<![\w.])\d[\d.,:]*\d|(?<![\w.])\d")
SECTIONS = (
    "Two kernels, one answer", "Memory answers in bursts", "The real unit is a sector", "A request costs its sectors",
    "Stride and element type", "One word off", "Rows or columns?", "When one side must lose", "On the roofline",
    "Quiz", "Exercises", "What this model leaves out", "In production you would use", "Sources",
)  # fmt: skip
# Numbers of the prose that no cell computes, each with where it comes from.
SOURCED = {
    "64": "data wires of an HBM2 pseudo channel (amd_hbm); the next cell computes with it",
    "6.0": "compute capability (cuda_best_practices)",
    "790": "GB/s, measured by NVIDIA (cuda_best_practices)",
    "309": "GFLOP/s, measured (boehm2022)",
    "1986.5": "GFLOP/s, measured (boehm2022)",
    "10.2.1": "section of cuda_best_practices",
    "6": "chapter of hwu2022",
    "39:00": "lecture", "48:43": "lecture", "55:33": "lecture", "57:11": "lecture",
    "50": "minutes", "60": "minutes, as the lab says", "90": "minutes, as the lab says",
}  # fmt: skip
# Inputs that the reader or a cell beside them chooses.
CHOSEN = {
    "0": "stride to try", "1": "stride to try, and the one that is shifted", "2": "stride to try", "8": "stride to try; a block's width",
    "4": "bytes of a float; a block's height", "32": "lanes of a warp", "72": "the padded pitch", "65": "columns used of it",
    "16": "bytes of the widest load",
}  # fmt: skip


def sectors(addresses, itemsize: int) -> int:
    """Sectors that lanes at these byte addresses touch."""
    return len({byte // 32 for address in addresses for byte in range(address, address + itemsize)})


def strided(stride: int, offset: int = 0, itemsize: int = 4) -> int:
    return sectors([itemsize * (offset + stride * lane) for lane in range(32)], itemsize)


def rows_of_tile(pitch: int, width: int, height: int) -> float:
    """Mean sectors per request when warps read ``height`` rows of ``width`` floats from rows that begin ``pitch`` floats apart."""
    starts = [(row, col) for row in range(0, 64, height) for col in range(0, 64, width)]
    counts = [sectors([4 * (pitch * (r + i) + c + j) for i in range(height) for j in range(width)], 4) for r, c in starts]
    return sum(counts) / len(counts)


# ---------------------------------------------------------------------------------------------- the chapter, read and run


@dataclass(frozen=True)
class Run:
    """The executed chapter: its cells, and the values that its text shows."""

    cells: list
    glued: dict[str, str]


@pytest.fixture(scope="module")
def text() -> str:
    return CHAPTER.read_text("utf-8")


@pytest.fixture(scope="module")
def run() -> Run:
    notebook = jupytext.read(CHAPTER)
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    books = [(o.metadata["scrapbook"]["name"], o.data) for o in outputs if "scrapbook" in o.get("metadata", {})]
    return Run(notebook.cells, {name: str(data["application/papermill.record/text/plain"]).strip("'") for name, data in books})


def prose_lines(text: str) -> list[str]:
    """The lines that a reader reads: no header, cells, options, fences; links and roles by their text."""
    body = re.sub(r"\A---.*?^---$", "", text, flags=re.DOTALL | re.MULTILINE)
    body = re.sub(r"^```\{code-cell\}.*?^```$", "", body, flags=re.DOTALL | re.MULTILINE)
    lines = [line for line in body.splitlines() if line.strip() and not re.match(r"[`:]{3,}(?!\{exercise)|:\w+:", line)]
    return [re.sub(r"^(?:`{3,}|:{3,})\{exercise\} |^- \[[ x]\] |^  ", "", line) for line in lines]


def plain(line: str) -> str:
    """A line without what is computed or sourced elsewhere: glue, substitutions, citations, code; link targets go."""
    line = GLUE.sub("", line)
    line = re.sub(r"\{\{ \w+ \}\}|\{cite:[pt]\}`[^`]*`|\{term\}`[^`]*`", "", line)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)


def main_part(text: str) -> str:
    """The chapter up to its quiz."""
    return text[: text.index("## Quiz")]


# -------------------------------------------------------------------------------------------------------------- claims


def test_text_shows_exactly_the_values_that_cells_compute(text, run):
    assert set(GLUE.findall(text)) == set(run.glued)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("line_bytes", 4 * 32), ("floats_per_sector", 32 // 4),
        ("sectors_1", strided(64)), ("sectors_2", strided(1)), ("times_more", strided(64) // strided(1)),
        ("toy_best", 32 // 4), ("toy_worst", 32), ("toy_factor", 4),
        ("shuffled", strided(1)), ("same", strided(0)),
        ("half_best", strided(1, itemsize=2)), ("single_best", strided(1)), ("double_best", strided(1, itemsize=8)),
        ("full_16", next(s for s in range(99) if strided(s, itemsize=2) == 32)),
        ("full_32", next(s for s in range(99) if strided(s) == 32)),
        ("full_64", next(s for s in range(99) if strided(s, itemsize=8) == 32)),
        ("aligned", strided(1)), ("misaligned", strided(1, 1)),
        ("narrow_before", rows_of_tile(64, 8, 4)), ("narrow_after", rows_of_tile(65, 8, 4)),
        ("wide_before", rows_of_tile(64, 32, 1)), ("wide_after", rows_of_tile(65, 32, 1)),
        ("rows_sectors", strided(64)), ("columns_sectors", strided(1)), ("repaired", strided(1)),
        ("quarter_gi", 2**28), ("ridge", round(67e12 / 3350e9)),
    ],
)  # fmt: skip
def test_value_of(run, name, value):
    assert float(run.glued[name].replace(",", "")) == value


def test_factors_of_the_extra_column(run):
    assert run.glued["narrow_factor"] == f"{rows_of_tile(65, 8, 4) / 4:.2f}"
    assert run.glued["wide_factor"] == f"{rows_of_tile(65, 32, 1) / 4:.2f}"


def test_a_multiple_of_eight_columns_aligns_every_row():
    assert rows_of_tile(72, 8, 4) == rows_of_tile(72, 32, 1) == 4


def test_random_places_cost_about_a_sector_a_lane(run):
    assert 30 <= int(run.glued["anywhere"]) <= 32


def test_times_on_the_roofline(run):
    bytes_used = 8 * 2**28
    fast = 1e3 * bytes_used / (H100.dram_gb_per_s * 1e9)
    assert run.glued["fast_ms"] == f"{fast:.1f}"
    assert run.glued["slow_ms"] == f"{8 * fast:.1f}"
    assert run.glued["best_share"] == f"{100 * 0.125 * H100.dram_gb_per_s / (H100.fp32_tflops * 1e3):.1f}"


def test_nvidias_measurement_lies_between_our_bounds(run):
    (printed,) = [out.text for cell in run.cells if "each_once" in cell.source and cell.cell_type == "code" for out in cell.outputs]
    low, high = (float(bound) for bound in re.search(r"([\d.]+) % to ([\d.]+) %", printed).groups())
    assert low == 100 * 4 / 5
    assert low < 90 < high < 100


def test_question_says_eight_times(text, run):
    assert "move eight times as many bytes?" in text
    assert run.glued["times_more"] == "8"


# ------------------------------------------------------------------------------------------------------ numbers, quiz


def test_numbers_in_the_main_part_are_computed_or_accounted_for(text):
    loose = {number for line in prose_lines(main_part(text)) for number in NUMBER.findall(plain(line)) if not line.startswith("# ")}
    assert loose <= set(SOURCED) | set(CHOSEN), loose - set(SOURCED) - set(CHOSEN)


def test_no_number_is_accounted_for_in_vain(text):
    everywhere = {number for line in prose_lines(text) for number in NUMBER.findall(plain(line))}
    assert set(SOURCED) | set(CHOSEN) <= everywhere


def test_a_typed_number_is_found():
    assert NUMBER.findall(plain("A load touches 17 sectors, {glue:text}`x` of `3`, or 4.5.")) == ["17", "4.5"]


@dataclass(frozen=True)
class Question:
    text: str
    answers: dict[str, str]  #: option -> explanation

    @property
    def right(self) -> str:
        (option,) = [option for option, why in self.answers.items() if why.startswith("Right.")]
        return option


@pytest.fixture(scope="module")
def quiz(text) -> list[Question]:
    part = text[text.index("## Quiz") : text.index("## Exercises")]
    bodies = re.findall(r"^::::\{quiz\} coalescing-[\w-]+\n(.*?)^::::$", part, re.DOTALL | re.MULTILINE)
    return [Question(body[: body.index("\n- [")].strip(), answers_of(body)) for body in bodies]


def answers_of(body: str) -> dict[str, str]:
    """Option -> verdict and explanation."""
    found = re.findall(r"^- \[([ x])\] (.*)\n\n((?:  .*\n)+)", body, re.MULTILINE)
    return {option: f"{'Right' if mark == 'x' else 'No'}. {why.strip()}" for mark, option, why in found}


def test_quiz_has_four_to_eight_questions_of_three_options(quiz):
    assert 4 <= len(quiz) <= 8
    assert all(len(question.answers) >= 3 and question.right for question in quiz)


def test_right_answers_are_right(quiz):
    assert quiz[0].right == str(strided(1, itemsize=8))
    assert quiz[1].right == "The same as in order" and sectors([4 * (31 - lane) for lane in range(32)], 4) == strided(1) == 4
    assert quiz[2].right == str(sectors([4 * lane for lane in range(0, 32, 2)], 4))
    assert quiz[3].right.startswith(f"They go from {strided(2)} to {strided(2, itemsize=2)}, and half")
    assert 32 * 2 / (32 * strided(2, itemsize=2)) == 32 * 4 / (32 * strided(2)) == 0.5
    assert quiz[4].right == "One in eight" and sum(4 * 1001 * row % 32 == 0 for row in range(800)) == 100
    assert 1001 == 125 * 8 + 1 and 1008 == -(-1001 // 8) * 8
    assert quiz[5].right == "At each step, the lanes of a warp are a whole row apart"


# ---------------------------------------------------------------------------------------------------------------- form


def test_sections_are_in_the_order_of_the_house(text):
    assert re.findall(r"^## (.*)$", text, flags=re.MULTILINE) == list(SECTIONS)


def test_length(text):
    words = sum(len(line.split()) for line in prose_lines(text))
    assert 2_000 <= words <= 4_000, words


def test_something_to_run_or_look_at_every_150_words(text):
    seen = re.sub(r"^```\{code-cell\} ipython3\n:tags: \[remove-cell\].*?^```$", "", main_part(text), flags=re.DOTALL | re.MULTILINE)
    stretches = re.split(r"^```\{code-cell\}.*?^```$", seen, flags=re.DOTALL | re.MULTILINE)
    lengths = [sum(len(line.split()) for line in prose_lines(stretch) if not line.startswith("#")) for stretch in stretches]
    assert max(lengths) <= 160, (max(lengths), stretches[lengths.index(max(lengths))])


def test_one_sentence_a_line(text):
    several = [line for line in prose_lines(text) if re.search(r"(?<!\d)[.?!][*\"]* [A-Z]", plain(line))]
    assert several == []


def test_code_that_is_shown_fits_the_page(run):
    shown = [c for c in run.cells if c.cell_type == "code" and not {"hide-input", "remove-cell"} & set(c.metadata.get("tags", []))]
    assert [line for cell in shown for line in cell.source.splitlines() if len(line) > 76] == []


def test_plotting_code_is_folded(run):
    assert all("hide-input" in c.metadata.get("tags", []) for c in run.cells if c.cell_type == "code" and "chart(\n" in c.source)


def test_pictures_have_words(run):
    shown = [out.get("data", {}) for cell in run.cells if cell.cell_type == "code" for out in cell.outputs]
    charts = [data["text/html"] for data in shown if data.get("text/html", "").startswith("<svg")]
    assert len(charts) == 5
    assert all(re.search(r'aria-label="[^"]{40,}"', page) for page in charts)
    assert not any("image/png" in data for data in shown)


def test_every_exercise_has_a_solution_with_a_cell_that_asserts_it(text):
    labels = re.findall(r"^:label: (coalescing-[\w-]+)$", text, flags=re.MULTILINE)
    assert len(labels) == 4
    for label in labels:
        solution = re.search(rf"solution-start\}} {label}$(.*?)solution-end", text, flags=re.DOTALL | re.MULTILINE)[1]
        assert re.search(r"code-cell.*^assert ", solution, flags=re.DOTALL | re.MULTILINE), label


# ----------------------------------------------------------------------------------------------------- in the built site


@pytest.fixture
def page_of(browser, site):
    """Opens the chapter in a window of a given width, with or without scripts."""
    contexts = []

    def open_page(width: int, scripts: bool = True):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, java_script_enabled=scripts))
        page = contexts[-1].new_page()
        page.goto(f"{site.url}/{CHAPTER.relative_to(ROOT).with_suffix('.html')}")
        return page

    yield open_page
    for context in contexts:
        context.close()


def test_page_is_no_wider_than_a_phone(page_of):
    page = page_of(390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ink_of_charts_follows_the_page(page_of, scheme):
    page = page_of(1000)
    page.emulate_media(color_scheme=scheme)
    page.reload()
    colours = page.evaluate(
        """() => [...document.querySelectorAll('svg[role=img] text')].filter(t => t.closest('svg').style.maxWidth)
                 .map(t => getComputedStyle(t).fill + getComputedStyle(t.closest('.cell_output')).color)"""
    )
    assert len(colours) > 50
    assert all(both == both[: len(both) // 2] * 2 for both in colours)
    light = [int(part) for part in re.findall(r"\d+", colours[0])[:3]]
    assert (sum(light) > 400) == (scheme == "dark")

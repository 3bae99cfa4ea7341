"""CONTRIBUTING.md: each recipe is followed in a copy of the repository, and its commands succeed.

The texts that are written stand in ``support/recipe_samples.py``, the files that they go to in the
recipe."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support import recipe_samples as samples
from support.paths import ROOT
from support.recipes import Following, Recipe, copied, passed, recipes
from support.tiny_course import SOURCE

PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
RECIPES = recipes()
MOST_LINES, MOST_COLUMNS = 10, 120


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_recipe_is_short_tested_and_ends_with_its_proof(recipe: Recipe):
    assert len(recipe.lines) <= MOST_LINES
    assert max(map(len, recipe.lines)) <= MOST_COLUMNS
    assert recipe.test in globals(), f"{recipe.title} has no test"
    assert re.fullmatch(r"\d\. `\.venv/bin/python -m pytest [^`]+`", recipe.lines[-1])


def test_the_page_names_what_exists():
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"`make (\w+)`", PAGE)) <= set(targets)
    rules = PAGE.partition("\n## Recipes\n")[0]
    named = re.findall(r"`(?:\.venv/bin/python )?([\w.]*/[\w./]+)", rules)
    named += re.findall(r"\]\(([^)]+)\)", rules)
    assert [
        path for path in named if not path.startswith(".venv") and not (ROOT / path).exists()
    ] == []


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """A copy of the repository for all recipes, each of which is undone at its end."""
    return copied(tmp_path_factory.mktemp("copy"))


@pytest.fixture
def follow(copy: Path) -> Iterator[Callable[..., Following]]:
    """Begin a recipe, with what stands for its words in capitals; everything it names was used."""
    begun = []

    def begin(title: str, **words: str) -> Following:
        begun.append(Following(RECIPES[title], copy, words))
        return begun[0]

    yield begin
    begun[0].undo()
    assert begun[0].written == begun[0].recipe.paths


@pytest.mark.slow
def test_a_chapter(follow, tmp_path):
    recipe = follow("A chapter", NN_topic="20_dice")
    recipe.write("chapters/NN_topic.md", samples.chapter())
    recipe.write("tests/course/NN_topic/test_chapter.py", samples.CHAPTER_TEST)
    recipe.write("chapters/teaching/NN_topic.md", samples.guide())
    recipe.write("solutions/NN_topic.md", SOURCE.replace("# Lab 1: Tiny", "# Lab 20: Dice"))
    entry = "      - file: chapters/{}\n"
    recipe.insert("_toc.yml", entry.format("capstone"), entry.format("20_dice"))
    recipe.insert("_toc.yml", entry.format("teaching/capstone"), entry.format("teaching/20_dice"))
    found = passed(recipe.prove())
    assert {"TestForm::test_length", "test_a_die_has_six_faces"} <= found
    assert "test_guide_is_one_page_in_the_order_of_the_house[20_dice]" in found
    (tmp_path / "toc.yml").write_text("format: jb-book\nroot: chapters/20_dice\n")
    book = Path(sys.executable).parent / "jupyter-book"
    recipe.run(
        book, "build", ".", "--toc", tmp_path / "toc.yml", "--path-output", tmp_path, "-W", "-q"
    )
    page = (tmp_path / "_build/html/chapters/20_dice.html").read_text("utf-8")
    assert "Chapter 20: Dice" in page and "<ww-burst" in page and "ww-quiz" in page


@pytest.mark.slow
def test_an_exercise(follow, copy):
    recipe = follow("An exercise", LAB="01_why_gpus", NAME="negate")
    recipe.insert("solutions/LAB.md", "## Explore\n", samples.TASK)
    recipe.append("tests/course/LAB/hidden.py", samples.HIDDEN)
    recipe.append("tests/course/LAB/audit.toml", samples.AUDIT)
    recipe.append("tests/course/LAB/wrong.toml", samples.WRONG)
    recipe.append("tests/course/LAB/correct/*.py", samples.RIGHT)
    recipe.files("labs/LAB.ipynb")
    found = passed(recipe.prove())
    assert "test_hidden_tests_pass_the_solution_and_refuse_the_stub[01_why_gpus]" in found
    assert any("wrong" in name and "keeps_the_sign" in name for name in found)
    assert "test_the_counter_pays_for_what_comes_by_that_way[01_why_gpus-negate-output]" in found
    cells = json.loads((copy / "labs/01_why_gpus.ipynb").read_text("utf-8"))["cells"]
    (stub,) = ["".join(cell["source"]) for cell in cells if cell["id"] == "exercise-negate"]
    assert "def negate" in stub and "...  # roughly 3 lines" in stub and "-x[i]" not in stub


@pytest.mark.slow
def test_a_wrong_answer(follow):
    recipe = follow(
        "A wrong answer", LAB="01_why_gpus", EXERCISE="square", NAME="first_element_forgotten"
    )
    (table,) = re.findall(r"```toml\n(.*?)```", recipe.recipe.text, re.DOTALL)
    recipe.append("tests/course/LAB/wrong.toml", "\n" + recipe.filled(table))
    (found,) = passed(recipe.prove())
    assert "wrong" in found and "first_element_forgotten" in found


@pytest.mark.slow
def test_a_widget(follow):
    recipe = follow("A widget", NAME="ruler")
    recipe.write("warpwise/views/NAME.js", samples.SCRIPT)
    recipe.write("warpwise/views/NAME.py", samples.VIEW)
    recipe.write("warpwise/views/NAME.css", samples.STYLE)
    recipe.append("chapters/reference_widgets_training.md", samples.GALLERY)
    recipe.write("tests/views/test_NAME.py", samples.VIEW_TEST)
    assert {
        "test_ruler_has_a_mark_for_each_lane",
        "test_a_widget_is_called_on_the_page_of_widgets[ruler]",
        "test_a_widget_s_script_keeps_to_its_budget[ruler]",
        "test_every_mark_says_what_it_is[ruler]",
    } == passed(recipe.prove())


@pytest.mark.slow
def test_a_function_of_cuda(follow, copy):
    recipe = follow("A function of CUDA", NAME="hiint")
    recipe.insert(
        "warpwise/simt/builtins/bit_functions.py", '    Function("fma", ', samples.FUNCTION
    )
    recipe.insert("warpwise/simt/compiler/warp_calls.py", "def activemask(", samples.HANDLER)
    words = "warpwise/simt/compiler/language/cuda_words.py"
    recipe.insert(words, '    _gives("activemask", ', samples.ENTRY)
    recipe.files("chapters/reference_language.md")
    recipe.append("tests/simt/test_functions.py", samples.FUNCTION_TEST)
    assert {
        "test_hiint_is_the_upper_half_of_a_double_and_of_a_lane_number",
        "test_cuda_functions[libdevice.double2hiint]",
        "test_cuda_functions_compute_in_the_types_of_numbas_signature[libdevice.double2hiint]",
        "test_the_page_is_what_the_table_says",
        "test_word_works[libdevice.double2hiint]",
        "test_word_works[lane_hiint]",
    } == passed(recipe.prove())
    page = (copy / "chapters/reference_language.md").read_text("utf-8")
    assert "`cuda.lane_hiint()`" in page and "`double2hiint`" in page


@pytest.mark.slow
def test_a_counter(follow):
    recipe = follow("A counter", NAME="barrier_threads")
    recipe.insert("warpwise/metrics/counters.py", "\n    def __post_init__", samples.FIELD)
    counters = "warpwise/simt/observers/counters.py"
    recipe.insert(counters, "\n    def atomic(self", samples.COUNTED)
    recipe.append("tests/simt/test_counters.py", samples.COUNT_TEST)
    assert {
        "test_a_test_counts_it_by_hand[barrier_threads]",
        "test_barrier_threads_are_those_that_arrive",
        "test_the_source_has_a_place_and_a_unit_for_it[barrier_threads]",
    } == passed(recipe.prove())


@pytest.mark.slow
def test_an_observer(follow):
    recipe = follow("An observer", NAME="longest_wait")
    recipe.write("warpwise/simt/observers/NAME.py", samples.OBSERVER)
    recipe.write("tests/simt/test_NAME.py", samples.OBSERVER_TEST)
    assert {
        "test_hooks_take_what_the_page_of_events_says[longest_wait]",
        "test_longest_wait_is_the_most_instructions_between_barriers",
    } == passed(recipe.prove())


@pytest.mark.slow
def test_an_editable_cell(follow):
    recipe = follow("An editable cell", NN_topic="02_simt", QUESTION="Try 65: how many warps?")
    told = recipe.filled('warpwise: {prompt: "QUESTION"}')
    assert recipe.recipe.text.count('warpwise: {prompt: "QUESTION"}') == 1
    recipe.insert("chapters/NN_topic.md", "\n## Quiz\n", samples.editable(told))
    found = passed(recipe.prove())
    assert {
        "test_an_editable_page_grows_by_little[chapters/02_simt]",
        "test_every_editable_cell_runs_with_the_slim_wheel_alone[chapters/02_simt]",
    } <= found


@pytest.mark.slow
def test_a_mistake(follow):
    recipe = follow("A mistake", KIND="barriers", NAME="half_the_block_waits")
    recipe.write("chapters/mistakes/KIND/NAME_faulty.py", samples.FAULTY)
    recipe.write("chapters/mistakes/KIND/NAME_correct.py", samples.CORRECT)
    shown = recipe.filled("\n```{mistake} KIND/NAME\n```\n")
    recipe.append("chapters/reference_mistakes.md", shown)
    named = "barriers/half_the_block_waits"
    assert {
        f"test_a_mistake_stops_the_kernel_with_its_line_block_and_thread[{named}-3]",
        f"test_the_correct_twin_is_left_alone_and_right[{named}-3]",
        f"test_the_page_shows_one_of_its_kind[{named}]",
        f"test_a_mistake_shows_its_kernel_message_and_mend[{named}]",
    } <= passed(recipe.prove())


@pytest.mark.slow
def test_an_error_message(follow):
    recipe = follow("An error message", NAME="a_small_block")
    recipe.append("warpwise/messages.py", samples.KIND)
    recipe.insert("tests/core/test_messages.py", "    (Index(-3),", samples.KNOWN_KIND)
    before = "    for name, size, limit in ("
    recipe.insert("warpwise/simt/launch.py", before, samples.ERROR)
    listed = recipe.filled('    "NAME": "out[0] = 1",\n')
    recipe.insert("tests/grading/test_hidden_messages.py", '    "an index": ', listed)
    assert {
        "test_a_private_kind_is_told_in_generic_words[value0-4 by 4-its sides]",
        "test_every_kind_is_known_to_be_public_or_private",
        "test_an_error_tells_nothing_of_sizes_and_data[a_small_block]",
    } <= passed(recipe.prove())


@pytest.mark.slow
def test_a_reference_kernel(follow):
    recipe = follow("A reference kernel", NAME="negation")
    recipe.write("warpwise/kernels/NAME.py", samples.MODULE)
    recipe.write("tests/kernels/test_NAME.py", samples.KERNEL_TEST)
    recipe.append("chapters/reference_kernels.md", samples.LADDER)
    assert {
        "test_machine_code_is_what_the_step_claims[negation_1_plain-negation_1_plain]",
        "test_a_module_has_its_ladder_in_the_source[negation]",
        "test_negation_is_numpys[1000]",
    } <= passed(recipe.prove())


@pytest.mark.slow
def test_a_measured_record(follow):
    recipe = follow("A measured record", DEVICE="nvidia-test-9000", NAME="two_copies")
    recipe.write("warpwise/measure/suites/NAME.py", samples.SUITE)
    recipe.insert("warpwise/measure/suites/__init__.py", "counters", "two_copies ")
    recipe.append("warpwise/book/charts/memory.py", samples.PLOT)
    recipe.insert(
        "warpwise/book/charts/catalogue.py", "}", '    "two_copies": memory.TWO_COPIES,\n'
    )
    recipe.append("chapters/measured.md", "\n" + samples.cell('measured_chart("two_copies")'))
    recipe.write("measurements/DEVICE/NAME.json", json.dumps(samples.RECORD))
    assert {
        "test_a_rehearsed_suite_computes_what_it_should[two_copies]",
        "test_a_record_is_drawn_with_its_device_and_its_values[two_copies]",
        "test_committed_records_are_in_their_chart[two_copies]",
        "test_the_page_shows_every_chart_once_and_the_table",
    } <= passed(recipe.prove())

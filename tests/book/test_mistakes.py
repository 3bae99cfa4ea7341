"""The pages of mistakes: each class of error, with the message that the simulator gives."""

import re

import pytest
from support.mistakes import KERNEL_ERRORS, NAMES
from support.paths import ROOT

from warpwise.book.mistakes import FOLDER, kernel_lines, message, shown

PAGE = (ROOT / "chapters/reference_mistakes.md").read_text("utf-8")
WILD = (ROOT / "chapters/found_in_the_wild.md").read_text("utf-8")
SHOWN, SHOWN_WILD = (re.findall(r"```\{mistake\} (\S+)", page) for page in (PAGE, WILD))


@pytest.mark.parametrize("name", [*KERNEL_ERRORS, "LaunchError"])
def test_every_class_of_error_is_on_the_page(name):
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_one_of_its_kind(name):
    kind = name.partition("/")[0]
    if kind == "wild":
        assert name in SHOWN_WILD, f"show it in chapters/found_in_the_wild.md: {{mistake}} {name}"
        return
    assert [shown for shown in SHOWN if shown.startswith(f"{kind}/")], (
        f"show a mistake of kind {kind} in chapters/reference_mistakes.md: {{mistake}} {name}"
    )


@pytest.mark.parametrize("name", SHOWN + SHOWN_WILD)
def test_a_mistake_shows_its_kernel_message_and_mend(name):
    text = "\n".join(shown(name))
    assert "@cuda.jit" in text and "expect:" not in text
    assert re.search(r"^[-+]", text.partition("````diff")[2], re.MULTILINE), "no line differs"
    said = " ".join(message(name))
    assert "race on" in said or re.search(r"(\w+Error|ArithmeticFault|wrong result): ", said)


@pytest.mark.parametrize("scope", ["warp", "block", "grid"])
def test_races_of_every_scope_are_shown(scope):
    texts = [(FOLDER / f"{name}_faulty.py").read_text("utf-8") for name in SHOWN]
    assert any(re.search(rf"^# scope: .*\b{scope}\b", text, re.MULTILINE) for text in texts)


def test_the_lines_of_a_message_are_those_of_the_kernel_as_shown():
    first, lines = kernel_lines((FOLDER / "barriers/in_a_branch_faulty.py").read_text("utf-8"))
    said = "\n".join(message("barriers/in_a_branch"))
    number = int(re.search(r"in_a_branch_faulty\.py:(\d+)", said)[1])
    assert lines[number - first].strip() == "cuda.syncthreads()"


def test_the_page_as_built_shows_messages(site):
    html = (site.folder / "chapters/reference_mistakes.html").read_text("utf-8")
    assert html.count("Try:") >= len(SHOWN) - 1
    assert "{mistake}" not in html

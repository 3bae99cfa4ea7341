"""One account of a warp's lanes: since Volta they usually run converged, and nothing promises it.

Chapters, labs, pages, programs and messages are held to it by the words that say otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from support.paths import ROOT

SAYS_SO = re.compile(
    r"\b(lanes?|warp)\b.*\b("
    r"(in|keeps?|kept|stay|stayed) (lock)?step\b(?! \d| number)"
    r"|lockstep|(at|do) the same instruction|at the same instruction at the same time)",
    re.IGNORECASE,
)
#: what a line has to say beside it
OR_NOT = re.compile(r"Volta|usual|promise|need not|older GPU|trusted|as if", re.IGNORECASE)
FOLDERS = {"chapters": ("*.md", "*.py"), "solutions": ("*.md",), "warpwise": ("*.py", "*.js")}


def lines() -> Iterator[tuple[str, str, str]]:
    """Yield all lines: the place, the line, and the line with the one before."""
    for folder, patterns in FOLDERS.items():
        for pattern in patterns:
            for path in sorted((ROOT / folder).rglob(pattern)):
                text = path.read_text("utf-8").splitlines()
                for number, (before, line) in enumerate(pairwise(["", *text]), 1):
                    yield f"{path.relative_to(ROOT)}:{number}", line, f"{before} {line}"


def test_no_text_says_that_lanes_are_in_step():
    found = [(place, both) for place, line, both in lines() if SAYS_SO.search(line)]
    assert [one for one in found if not OR_NOT.search(one[1])] == []
    assert len(found) > 3  # the words are those of the texts


@pytest.mark.parametrize(
    ("page", "word"),
    [
        ("02_simt.md", "Since Volta (2017), GPUs do not promise that"),
        ("03_memory_hierarchy.md", "though that is not promised"),
        ("glossary.md", "Since Volta that is usual but not promised"),
    ],
)
def test_where_lanes_meet_first_a_page_says_what_holds(page, word):
    assert word in (ROOT / "chapters" / page).read_text("utf-8")


@pytest.mark.parametrize(
    ("line", "says_so"),
    [
        ("The lanes of a warp are at the same instruction at the same time.", True),
        ("A warp goes in step, but the four warps run in any order.", True),
        ("As in step 1, a warp loads a tile.", False),
    ],
)
def test_the_words_are_found(line, says_so):
    assert bool(SAYS_SO.search(line) and not OR_NOT.search(line)) == says_so

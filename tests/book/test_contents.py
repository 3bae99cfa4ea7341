"""The list of chapters, made from the chapters alone; a missing part is a warning."""

from __future__ import annotations

import re

import pytest
import yaml
from docutils import nodes
from support.books import Book, build_book
from support.paths import ROOT

from warpwise.book.contents import LAB, READING, Opening, chapters

INDEX = "# Home\n\n```{chapters-list}\n```\n"
CHAPTER = """# Chapter 2: Things

**What is a {term}`thing`,
and how many are $2^3$ things?**

After this chapter we can

- count `things`;
- find another {term}`thing`.

Reading takes about 35 minutes; \
the lab, behind the button at the top of the page, takes 40 to 60 more.

```{quiz} things-one
**One?**

- [x] yes

  Why.

- [ ] no

  Why not.
```

## A section

- not an objective
"""
GLOSSARY = "# Glossary\n\n```{glossary}\nthing\n  What there is.\n```\n"
FILES = ("02_things", "01_later", "glossary")
TOC = "format: jb-book\nroot: chapters/index\nchapters:\n" + "".join(
    f"  - file: chapters/{name}\n" for name in FILES
)
SETTINGS = {
    "extensions": [
        "myst_parser",
        "sphinx.ext.mathjax",
        "sphinx_external_toc",
        "warpwise.book.contents",
    ],
    "external_toc_path": "_toc.yml",
}
#: Missing part of a chapter -> the text taken out, words of the warning.
LACKS = {
    "a question": ("**", "a paragraph in bold, its question, below the title"),
    "objectives": (
        "- count `things`;\n- find another {term}`thing`.\n",
        'a list of objectives, below "After this chapter we can"',
    ),
    "words above the objectives": (
        "After this chapter we can",
        'a list of objectives, below "After this chapter we can"',
    ),
    "its time": (
        "Reading takes about 35 minutes; ",
        'the sentence "Reading takes about N minutes"',
    ),
    "its lab's time": (
        "takes 40 to 60 more",
        'how long its lab takes, as "the lab takes N to M" minutes',
    ),
}


def book(folder, chapter: str = CHAPTER) -> Book:
    """A book of two chapters, the first of which has a lab."""
    (folder / "labs").mkdir(exist_ok=True)
    (folder / "labs/02_things.ipynb").write_text("{}")
    (folder / "_toc.yml").write_text(TOC)
    later = CHAPTER.replace("2: Things", "1: Later").replace(
        "; the lab, behind the button at the top of the page, takes 40 to 60 more", ""
    )
    later = later.replace("things-one", "later-one").replace("35", "20")
    pages = {"index": INDEX, "02_things": chapter, "01_later": later, "glossary": GLOSSARY}
    return build_book(
        folder, {f"chapters/{name}": text for name, text in pages.items()}, **SETTINGS
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Book:
    return book(tmp_path_factory.mktemp("chapters"))


@pytest.fixture(scope="module")
def items(built: Book) -> list[str]:
    text = built.html("chapters/index")
    return re.split(r'<li><p class="ww-chapter-title">', text[: text.index("</ol>")])[1:]


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", "", html).split())


def test_it_builds_without_a_warning(built: Book):
    assert built.warnings == ""


def test_chapters_stand_in_the_order_of_the_contents(items: list[str]):
    assert [words(item.partition("</p>")[0]) for item in items] == [
        "Chapter 2: Things",
        "Chapter 1: Later",
    ]
    assert 'href="02_things.html"' in items[0] and 'href="01_later.html"' in items[1]


def test_question_is_the_chapters_own_with_its_links_and_maths(items: list[str]):
    question = re.search(r'<p class="ww-chapter-question">(.*?)</p>', items[0], re.DOTALL)[1]
    assert words(question).startswith("What is a thing, and how many are")
    assert 'href="glossary.html#term-thing"' in question and "2^3" in question


def test_times_lab_and_quiz_are_the_chapters_own(items: list[str]):
    facts = [
        words(re.search(r'<p class="ww-chapter-facts">(.*?)</p>', item, re.DOTALL)[1])
        for item in items
    ]
    assert facts[0] == (
        "Reading: 35 minutes \N{MIDDLE DOT} "
        "Lab: 40 to 60 minutes, download \N{MIDDLE DOT} Quiz: 1 question"
    )
    assert facts[1] == "Reading: 20 minutes \N{MIDDLE DOT} Quiz: 1 question"
    assert 'href="../labs/02_things.ipynb"' in items[0] and 'data-quizzes="things-one"' in items[0]


def test_objectives_are_folded(items: list[str]):
    folded = re.search(r"<details[^>]*>(.*?)</details>", items[0], re.DOTALL)[1]
    assert words(folded) == "Objectives count things; find another thing."
    assert "not an objective" not in items[0]


def test_ids_are_not_repeated(built: Book):
    ids = re.findall(r' id="([^"]+)"', built.html("chapters/index"))
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("what", LACKS)
def test_a_chapter_that_lacks_a_part_is_named(tmp_path, what: str):
    part, warning = LACKS[what]
    assert part in CHAPTER
    found = book(tmp_path, CHAPTER.replace(part, "")).warnings.splitlines()
    assert (
        len(found) == 1
        and "chapters/02_things.md:1: WARNING: the list of chapters needs " in found[0]
    )
    assert warning in found[0]


def test_the_list_follows_a_chapter_that_changes(tmp_path):
    book(tmp_path)
    again = book(tmp_path, CHAPTER.replace("35 minutes", "55 minutes"))
    assert "Reading: 55 minutes" in again.html("chapters/index")


def test_lab_time_is_asked_for_only_where_there_is_a_lab():
    told = Opening("t", nodes.paragraph(), nodes.bullet_list(), "5", None)
    assert list(told.lacks(has_lab=False)) == [] and len(list(told.lacks(has_lab=True))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Reading takes about 5 minutes; the lab takes 60.",
        "The lab, behind the button, takes 60 more.",
    ],
)
def test_the_labs_time_is_found(text: str):
    assert LAB.search(text)[1] == "60" and (
        READING.search(text) is None or READING.search(text)[1] == "5"
    )


def test_home_page_lists_every_chapter_of_the_course(site):
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    pages = chapters(page["file"] for part in toc["parts"] for page in part["chapters"])
    html = (site.folder / "chapters/index.html").read_text("utf-8")
    listed = re.findall(r'ww-chapter-title"><a [^>]*href="([^"]+)"', html)
    assert listed == [f"{page.removeprefix('chapters/')}.html" for page in pages] and pages

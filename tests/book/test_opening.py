"""A chapter's opening in one line, and exercises numbered by chapter, on small books."""

from __future__ import annotations

import re
from pathlib import Path

from support.books import Book, build_book

CHAPTER = """# Chapter {n}: Things

**What is a thing?**

A picture.

After this chapter we can

- count things;
- find them.

Reading takes about 35 minutes; the lab takes 40 to 60 more.
We need nothing.

```{{note}}
Not folded.
```

## Exercises

```{{exercise}} One
:label: {name}-one

Do it.
```

```{{exercise}} Two
:label: {name}-two

Do it again; it goes on from {{ref}}`{name}-one`.
```

````{{solution}} {name}-two
Done.
````
"""
PLAIN = "# Other\n\nAfter this chapter we can\n\n- look.\n\nReading takes about 5 minutes.\n"
SETTINGS = {
    "extensions": [
        "myst_parser", "sphinx.ext.mathjax", "sphinx_external_toc", "sphinx_exercise",
        "warpwise.book.opening",
    ],
    "external_toc_path": "_toc.yml",
    "numfig": True,
}  # fmt: skip
FILES = {
    "chapters/index": "# Home\n",
    "chapters/02_things": CHAPTER.format(n=2, name="two"),
    "chapters/11_more": CHAPTER.format(n=11, name="eleven"),
    "chapters/other": PLAIN,
}


def build(folder: Path, **changed: str) -> Book:
    pages = [name for name in FILES if name != "chapters/index"]
    toc = "format: jb-book\nroot: chapters/index\nchapters:\n"
    (folder / "_toc.yml").write_text(toc + "".join(f"  - file: {name}\n" for name in pages))
    return build_book(folder, FILES | changed, **SETTINGS)


def test_objectives_time_and_needs_are_one_line_that_opens(tmp_path: Path):
    page = build(tmp_path).html("chapters/02_things")
    line = "35 minutes to read, 40 to 60 for the lab: what we learn, and what it takes"
    box = re.search(r'<details class="ww-opening">(.*?)</details>', page, re.DOTALL)
    assert box and f"<summary>{line}</summary>" in box[1]
    inside = ["After this chapter we can", "count things;", "Reading takes about", "We need"]
    assert all(words in box[1] for words in inside) and "Not folded" not in box[1]
    assert page.index("A picture.") < page.index("ww-opening") < page.index("Not folded")


def test_a_page_that_is_no_chapter_keeps_its_text(tmp_path: Path):
    assert "ww-opening" not in build(tmp_path).html("chapters/other")


def test_exercises_carry_the_number_of_their_chapter(tmp_path: Path):
    book = build(tmp_path)
    for page, chapter in (("chapters/02_things", 2), ("chapters/11_more", 11)):
        text = re.sub(r"<[^>]+>", "", book.html(page))
        assert re.findall(r"Exercise (\d+(?:\.\d+)?) +\(", text) == [
            f"{chapter}.1", f"{chapter}.2", f"{chapter}.2",
        ]  # fmt: skip
        assert f"goes on from Exercise {chapter}.1" in text


def test_a_second_build_numbers_alike(tmp_path: Path):
    build(tmp_path)
    book = build(tmp_path, **{"chapters/other": PLAIN + "\nMore.\n"})
    assert "Exercise 11.2" in re.sub(r"<[^>]+>", "", book.html("chapters/11_more"))

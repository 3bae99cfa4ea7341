"""Pages with cells are run side by side, anew in every build, and one that fails is still reported as MyST-NB reports it."""

from __future__ import annotations

import pytest
from books import build_book

from warpwise.book import ahead

SETTINGS = {"extensions": ["myst_nb", "sphinx.ext.mathjax", "warpwise.book.ahead"], "nb_execution_mode": "force"}
PAGE = """---
jupytext:
  text_representation: {{extension: .md, format_name: myst}}
kernelspec: {{display_name: Python 3, language: python, name: python3}}
---

# {title}

```{{code-cell}} ipython3
{code}
```
"""
# Each of two pages waits for the other: only side by side do both come to their end.
MEET = """from pathlib import Path
from time import sleep
Path("{mine}").touch()
for _ in range(200):
    if Path("{other}").exists():
        break
    sleep(0.1)
else:
    raise TimeoutError("never met")
print("{mine} has met {other}")"""


def page(title: str, code: str) -> str:
    return PAGE.format(title=title, code=code)


@pytest.mark.skipif(ahead.WORKERS < 2, reason="one processor runs one page at a time")
def test_pages_run_side_by_side(tmp_path):
    pages = {mine: page(mine, MEET.format(mine=mine, other=other)) for mine, other in (("one", "two"), ("two", "one"))}
    book = build_book(tmp_path, {"index": "# Start"} | pages, **SETTINGS)
    assert book.warnings == ""
    assert "one has met two" in book.html("one") and "two has met one" in book.html("two")


def test_a_page_is_run_anew_in_the_next_build_and_a_failure_is_reported(tmp_path):
    (tmp_path / "said.txt").write_text("first")
    text = page("Says", 'print(open("said.txt").read() + " time")')
    assert "first time" in build_book(tmp_path, {"index": "# Start", "says": text}, **SETTINGS).html("says")
    (tmp_path / "said.txt").write_text("second")
    failing = page("Fails", '1 / 0')
    book = build_book(tmp_path, {"index": "# Start", "says": text + "\n", "fails": failing}, **SETTINGS)
    assert "second time" in book.html("says")
    assert "Executing notebook failed: CellExecutionError" in book.warnings and "fails.md" in book.warnings

"""``make serve``: saved pages run again only if needed, and stale pages say so."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.unix("pages' kernels are reached through Unix sockets")]

CONFIGURATION = """from pathlib import Path
from warpwise.book import serve
extensions = ["myst_nb", "warpwise.book.ahead"]
nb_execution_mode = "force"
html_theme = "sphinx_book_theme"
include_patterns = ["*.md"]
kept_results = str(serve.results(Path(__file__).parent))
setup = serve.setup
"""
PAGE = """---
jupytext:
  text_representation: {{extension: .md, format_name: myst}}
kernelspec: {{display_name: Python 3, language: python, name: python3}}
---

# Page {name}

```{{code-cell}} ipython3
with open("runs.txt", "a") as runs:
    runs.write("{name} ")
```
"""


class Book:
    """A small book with a package beside it, and a record of the pages that ran."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.save("warpwise/views.js", "// a picture")
        self.save("conf.py", CONFIGURATION)
        self.save("index.md", "# Start\n\n```{toctree}\none\ntwo\n```\n")
        for name in ("one", "two"):
            self.save(f"{name}.md", PAGE.format(name=name))

    def save(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        later = max(time.time_ns(), getattr(self, "last", 0) + 10_000)  # Sphinx counts microseconds
        os.utime(path, ns=(later, later))
        self.last = later

    def read(self, name: str) -> str:
        return (self.folder / name).read_text("utf-8")

    def build(self) -> tuple[list[str], str]:
        """Build in another process; return the pages that ran, and the warnings."""
        (self.folder / "runs.txt").write_text("")
        command = [sys.executable, "-m", "sphinx", "-q", "--no-color", "-b", "html", ".", "html"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder)
        assert done.returncode == 0, done.stderr
        return sorted(self.read("runs.txt").split()), done.stderr

    def out_of_date(self) -> set[str]:
        """Return the pages that say they are out of date."""
        names = "index", "one", "two"
        return {name for name in names if self.read(f"html/{name}.html").count('id="stale"') == 1}


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Book:
    built = Book(tmp_path_factory.mktemp("book"))
    assert built.build()[0] == ["one", "two"]
    return built


def test_prose_is_built_without_running_a_cell(book):
    book.save("one.md", book.read("one.md") + "\nA zebra.\n")
    assert book.build()[0] == []
    assert "A zebra." in book.read("html/one.html")


def test_a_changed_cell_runs_its_page_alone(book):
    book.save(
        "one.md",
        book.read("one.md").replace('    runs.write("one ")', '    runs.write("one one ")'),
    )
    assert book.build()[0] == ["one", "one"]


def test_a_change_in_the_package_runs_the_page_saved_last_and_marks_the_others(book):
    book.save("two.md", book.read("two.md") + "\nA giraffe.\n")
    assert book.build()[0] == []
    book.save("warpwise/views.js", "// another picture")
    ran, warnings = book.build()
    assert ran == ["two"]
    assert book.out_of_date() == {"index", "one"}
    assert "the package has changed since 2 pages were built" in warnings
    book.build()
    assert book.out_of_date() == {"index", "one"}


def test_a_marked_page_is_built_again_when_it_is_saved(book):
    book.save("one.md", book.read("one.md"))
    assert book.build()[0] == ["one", "one"]
    assert book.out_of_date() == {"index"}

"""Editable cells as the build marks them; every one of the book runs with the slim wheel alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import nbformat
import numpy as np
import pytest
from support.editors import alike, pages
from support.site_pages import PAGES

from warpwise.book.editor.editable import Cells, available, cells
from warpwise.book.parts.slim import slim_wheel

PAGE_GROWS = 15_000  # bytes, at most
FOUND = dict(pages())
CHAPTERS = [name for name in PAGES if re.match(r"chapters/\d", name)]


def notebook(*sources: str, editable: tuple[int, ...] = (-1,), **told) -> Cells:
    """Return the cells of a page of which some can be edited, the last if nothing else is said."""
    made = [nbformat.v4.new_code_cell(source) for source in sources]
    for at in editable:
        made[at].metadata.update(tags=["editable"], warpwise={"prompt": "Try!", **told})
    return cells(nbformat.v4.new_notebook(cells=made))


def test_a_page_keeps_the_texts_that_its_editable_cells_need():
    page = notebook("a = 1", "b = 2", "c = a", "print(c)", "d = 4", editable=(2, 3))
    assert page.kept == ["a = 1", "", "c = a"]
    assert [cell.at for cell in page.editable] == [2, 3]
    assert page.editable[0].version != page.editable[1].version
    assert notebook("a = 1", "b = 2", editable=()).kept == []


def test_what_then_needs_is_kept_too():
    assert notebook("a = 1", "b = 2", "c = 3", then="a + c").kept == ["a = 1", ""]


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("import matplotlib.pyplot as plt", "matplotlib.pyplot"),
        ("from warpwise.views.chart import chart", "warpwise.views.chart"),
        ("from warpwise.grading import engine", "warpwise.grading.engine"),
        ("import quickjs", "quickjs"),
    ],
)
def test_a_cell_that_needs_more_than_a_page_has_cannot_be_edited(source, module):
    page = notebook(source, "print(plt, chart, engine, quickjs)")
    assert f"a cell that needs {module} cannot be edited on the page" in [
        *page.problems(page.editable[0])
    ]
    assert [*notebook(source, "print(1)").problems(notebook("1").editable[0])] == []


def test_an_editable_cell_has_a_prompt():
    page = notebook("1", prompt="")
    assert [*page.problems(page.editable[0])] == [
        "an editable cell has a prompt: warpwise: {prompt: ...}"
    ]


def test_modules_of_the_wheel_are_available_and_names_in_them():
    for name in ("numpy.linalg", "heapq", "warpwise.cuda", "warpwise.views.burst.explorer"):
        assert available(name), name
    for name in ("warpwise.book.charts.measured_chart", "warpwise.grading", "nothing.here"):
        assert not available(name), name


def test_every_chapter_has_editable_cells_and_the_home_page_one():
    assert len(CHAPTERS) == 18
    assert {name: len(FOUND[name].editable) for name in CHAPTERS if name in FOUND} == {
        name: count for name in CHAPTERS for count in [len(FOUND[name].editable)] if count >= 2
    }
    assert set(FOUND) == {*CHAPTERS, PAGES[0]}


@pytest.mark.parametrize("name", FOUND)
def test_an_editable_page_grows_by_little(name):
    page = FOUND[name]
    told = [cell.prompt + cell.then + json.dumps(cell.attributes) for cell in page.editable]
    assert len(json.dumps(page.kept)) + sum(map(len, told)) < PAGE_GROWS / 2
    assert [problem for cell in page.editable for problem in page.problems(cell)] == []


ALONE = """
import json, sys
sys.path[:0] = sys.argv[1:]
from warpwise.cells import Page
for line in sys.stdin:
    request = json.loads(line)
    shown = [Page(cells).run(text, at, then).data for cells, text, at, then in request]
    files = {name for name, module in sys.modules.items() if getattr(module, "__file__", None)}
    loaded = {name.partition(".")[0] for name in files} - set(sys.stdlib_module_names)
    print(json.dumps([shown, sorted(loaded)]), flush=True)
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Iterator[Callable[[str], dict[int, dict]]]:
    """What a page's editable cells show where there is the slim wheel and NumPy only, by their
    places."""
    folder = tmp_path_factory.mktemp("alone")
    ZipFile(BytesIO(slim_wheel()[1])).extractall(folder / "wheel")
    (folder / "numpy").mkdir()
    for path in Path(np.__file__).parents[1].glob("numpy*"):
        (folder / "numpy" / path.name).symlink_to(path)
    command = [sys.executable, "-I", "-S", "-c", ALONE, folder / "wheel", folder / "numpy"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, cwd=folder, **pipes) as process:

        @cache
        def shown(name: str) -> dict[int, dict]:
            page = FOUND[name]
            request = [(page.kept, cell.text, cell.at, cell.then) for cell in page.editable]
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            made, loaded = json.loads(process.stdout.readline())
            assert loaded == ["numpy", "warpwise"]
            return {cell.at: one for cell, one in zip(page.editable, made, strict=True)}

        yield shown
        process.stdin.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND)
def test_every_editable_cell_runs_with_the_slim_wheel_alone(alone, name):
    shown = alone(name)
    assert {at: one["error"] for at, one in shown.items() if one["error"]} == {}
    assert [
        at for at, one in shown.items() if not one["printed"] + one["value"] + one["html"]
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND)
def test_an_untouched_cell_shows_what_its_page_shows(alone, site, name):
    executed = site.folder.parents[1] / "executed"
    for at, shown in alone(name).items():
        code = [
            cell
            for cell in nbformat.read(executed / f"{name}.ipynb", 4).cells
            if cell.cell_type == "code"
        ]
        outputs = code[at].outputs
        printed = "".join(one.text for one in outputs if one.output_type == "stream")
        assert alike(shown["printed"], printed) or "then" in str(code[at].metadata), (name, at)
        for data in (one.data for one in outputs if "data" in one):
            kind = "html" if "text/html" in data else "value"
            value = data.get("text/html", data["text/plain"])
            assert alike(shown[kind][:9], value[:9]), (name, at)


CONFIGURATION = """
extensions = ["myst_nb", "warpwise.book.editor"]
nb_execution_mode = "off"
html_theme = "basic"
"""
HEADER = """---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

# Page

"""
CELL = """```{code-cell} ipython3
---
tags: [editable]
warpwise: {prompt: "Try <this>!"}
---
%s
```
"""


@pytest.mark.slow
def test_a_built_page_wraps_the_cell_and_complains_of_what_it_cannot_run(tmp_path):
    first = "```{code-cell} ipython3\na = '<b>'\n```\n\n"
    (tmp_path / "conf.py").write_text(CONFIGURATION)
    (tmp_path / "index.md").write_text(HEADER + first + CELL % "print(a)" + CELL % "import yaml")
    command = [sys.executable, "-m", "sphinx", "-q", "--no-color", "-b", "html", ".", "html"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert "a cell that needs yaml cannot be edited on the page" in done.stderr
    html = (tmp_path / "html/index.html").read_text("utf-8")
    assert html.count('<div class="ww-editable" data-at=') == 2
    assert 'data-prompt="Try &lt;this&gt;!"' in html
    assert r"""id="ww-cells">["a = '\u003cb>'",""]</script>""" in html
    assert "first_touch.js" not in html  # no parts have been laid here

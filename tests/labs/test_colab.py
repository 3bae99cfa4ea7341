"""The cell that sets a lab up in Colab, with a repository in the book's settings and without."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from support.paths import ROOT

from warpwise.book import labs
from warpwise.errors import LabError
from warpwise.grading.notebook import answers, read
from warpwise.labs import build as building
from warpwise.labs.colab import repository
from warpwise.labs.run import run_notebook
from warpwise.labs.source import load_lab

STEM = "08_coalescing"
OPTIONS = {
    "repository_url": "https://github.com/someone/gpu-course.git",
    "repository_branch": "dev",
}


def configured(root: Path, **options: str) -> Path:
    """Return a folder with a book's configuration."""
    lines = "".join(f"      {name}: {value!r}\n" for name, value in options.items())
    (root / "_config.yml").write_text(
        f"sphinx:\n  config:\n    html_theme_options:\n      home_page_in_toc: true\n{lines}"
    )
    return root


def built(root: Path, monkeypatch) -> str:
    """Return the notebook that ``build`` writes of a lab below ``root``.

    Its reference outputs, which take a run of it, are left out."""
    (root / "solutions").mkdir()
    shutil.copy(ROOT / f"solutions/{STEM}.md", root / "solutions")
    monkeypatch.setattr(building, "reference_outputs", lambda lab: {})
    building.build(root / "solutions", root / "labs")
    return (root / f"labs/{STEM}.ipynb").read_text("utf-8")


def test_the_cell_stands_below_the_title_and_does_nothing_here(tmp_path: Path, monkeypatch):
    notebook = nbformat.reads(built(configured(tmp_path, **OPTIONS), monkeypatch), 4)
    title, cell, *_ = notebook.cells
    assert title.cell_type == "markdown" and title.source.startswith("# ")
    assert cell.metadata.tags == ["given"]
    assert '"warpwise @ git+https://github.com/someone/gpu-course@dev"' in cell.source
    assert '"anywidget"' in cell.source and '"quickjs-ng"' in cell.source
    notebook.cells = [
        cell,
        nbformat.v4.new_code_cell(
            "print('subprocess' in dir(), 'needed' in dir(), 'output' in dir())"
        ),
    ]
    ran, after = run_notebook(notebook, tmp_path).cells
    assert ran.outputs == []
    assert after.outputs[0].text == "True False False\n"


def test_the_grader_finds_the_exercises_all_the_same(tmp_path: Path, monkeypatch):
    built(configured(tmp_path, **OPTIONS), monkeypatch)
    lab, notebook = load_lab(ROOT / f"solutions/{STEM}.md"), read(tmp_path / f"labs/{STEM}.ipynb")
    found = answers(notebook, lab.exercises)
    assert notebook.lab == STEM and set(found) == {exercise.id for exercise in lab.exercises}
    for exercise in lab.exercises:
        assert f"def {exercise.name}(" in found[exercise.id].text
        assert any("google.colab" in other for other in found[exercise.id].others)


@pytest.mark.parametrize("options", [{}, {"repository_url": ""}])
def test_without_a_repository_nothing_changes(tmp_path: Path, monkeypatch, options: dict):
    for name in ("named", "alone"):
        (tmp_path / name).mkdir()
    text = built(configured(tmp_path / "named", **options), monkeypatch)
    assert text == built(tmp_path / "alone", monkeypatch)
    assert "google.colab" not in text


def test_labs_and_site_agree_on_the_repository(tmp_path: Path):
    for options in (OPTIONS, {"repository_url": "https://github.com/a/b/"}, {}):
        site = labs.repository(SimpleNamespace(html_theme_options=options))
        assert repository(configured(tmp_path, **options)) == (
            site and (site.owner, site.name, site.branch)
        )


def test_an_address_that_colab_cannot_read_is_refused(tmp_path: Path):
    with pytest.raises(
        LabError,
        match=r"^repository_url is .*gitlab.*: Colab and Binder need https://github\.com/OWNER/NAME",
    ):
        repository(configured(tmp_path, repository_url="https://gitlab.com/a/b"))

"""Links that open labs, with a repository and without one, and Binder's packages."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from html import unescape
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from sphinx.errors import ConfigError
from support.books import Book, build_book
from support.paths import ROOT

from warpwise.book.labs import Repository, repository

CHAPTER = """# Chapter 8: Reading

**Why?**

After this chapter we can

- read.

Reading takes about 5 minutes; the lab takes 60 to 90 more.
"""
INDEX = "# Home\n\n```{chapters-list}\n```\n"
PAGES = ("08_reading", "09_alone", "project")
TOC = "format: jb-book\nroot: chapters/index\nchapters:\n" + "".join(
    f"  - file: chapters/{page}\n" for page in PAGES
)
SETTINGS = {
    "extensions": [
        "myst_parser",
        "sphinx_external_toc",
        "sphinx_book_theme",
        "warpwise.book.contents",
        "warpwise.book.labs",
    ],
    "external_toc_path": "_toc.yml",
    "html_theme": "sphinx_book_theme",
}


def book(folder, runs: bool = False, **theme_options: str) -> Book:
    """A book of two chapters, the first with a lab, and of an unnumbered page with one.

    If it runs labs, their folder lies in the output."""
    if runs:
        (folder / "html/lite/lab").mkdir(parents=True)
        (folder / "html/lite/lab/index.html").touch()
    (folder / "labs").mkdir()
    for lab in ("08_reading", "14_project"):
        (folder / f"labs/{lab}.ipynb").write_text("{}")
    (folder / "_toc.yml").write_text(TOC)
    alone = CHAPTER.replace("Chapter 8: Reading", "Chapter 9: Alone").replace(
        "; the lab takes 60 to 90 more", ""
    )
    pages = {
        "chapters/index": INDEX,
        "chapters/08_reading": CHAPTER,
        "chapters/09_alone": alone,
        "chapters/project": "# A project\n",
    }
    return build_book(folder, pages, html_theme_options=theme_options, **SETTINGS)


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> Book:
    return book(tmp_path_factory.mktemp("plain"), repository_url="")


@pytest.fixture(scope="module")
def public(tmp_path_factory) -> Book:
    return book(
        tmp_path_factory.mktemp("public"), repository_url="https://github.com/someone/gpu-course"
    )


@pytest.fixture(scope="module")
def running(tmp_path_factory) -> Book:
    folder = tmp_path_factory.mktemp("running")
    return book(folder, runs=True, repository_url="https://github.com/someone/gpu-course")


def links(html: str, words: str) -> list[str]:
    """Return the addresses of links whose text is or contains the words."""
    found = re.findall(r'<a [^>]*href="([^"]*)"[^>]*>(.*?)</a>', html, re.DOTALL)
    return [unescape(address) for address, text in found if words in re.sub(r"<[^>]*>", "", text)]


def test_books_build_without_a_warning(plain: Book, public: Book):
    assert (plain.warnings, public.warnings) == ("", "")


def test_without_a_repository_a_lab_is_downloaded_and_nothing_else(plain: Book):
    assert links(plain.html("chapters/08_reading"), "Lab") == ["../labs/08_reading.ipynb"]
    assert links(plain.html("chapters/index"), "download") == ["../labs/08_reading.ipynb"]
    for page in ("chapters/index", "chapters/08_reading"):
        assert "colab" not in plain.html(page).lower() and "binder" not in plain.html(page).lower()


@pytest.mark.parametrize(
    ("page", "words"),
    [("index", ("download", "Colab", "Binder")), ("08_reading", ("Download", "Colab", "Binder"))],
)
def test_with_a_repository_every_lab_can_be_opened_in_three_ways(
    public: Book, page: str, words: tuple
):
    found = [links(public.html(f"chapters/{page}"), word) for word in words]
    assert found == [
        ["../labs/08_reading.ipynb"],
        [
            "https://colab.research.google.com/github/someone/gpu-course/blob/main/labs/08_reading.ipynb"
        ],
        ["https://mybinder.org/v2/gh/someone/gpu-course/main?labpath=labs%2F08_reading.ipynb"],
    ]


def test_where_labs_run_in_the_browser_the_button_opens_one_and_a_menu_has_the_rest(running: Book):
    page, runs = running.html("chapters/08_reading"), "lite/lab/index.html?path=08_reading.ipynb"
    assert links(page, "Lab") == [f"../{runs}"]
    assert links(page, "Download the notebook") == ["../labs/08_reading.ipynb"]
    assert len(links(page, "Open on Binder")) == 1 and "dropdown-lab-ways" in page
    assert links(running.html("chapters/index"), "open") == [f"../{runs}"]
    assert running.warnings == ""


def test_a_chapter_without_a_lab_has_no_button(public: Book):
    assert "lab-button" in public.html("chapters/08_reading") and "lab-button" not in public.html(
        "chapters/09_alone"
    )


def test_a_page_without_a_number_has_the_lab_of_its_name(plain: Book):
    assert links(plain.html("chapters/project"), "Lab") == ["../labs/14_project.ipynb"]


def test_the_site_carries_the_notebook(plain: Book):
    assert (plain.folder / "labs/08_reading.ipynb").read_text() == "{}"


def test_addresses_survive_odd_names():
    where = Repository("a", "b.c", "new/branch")
    assert (
        urlsplit(where.colab("labs/1 a.ipynb")).path
        == "/github/a/b.c/blob/new/branch/labs/1%20a.ipynb"
    )
    binder = urlsplit(where.binder("labs/1 a&b.ipynb"))
    assert binder.path == "/v2/gh/a/b.c/new%2Fbranch" and parse_qs(binder.query) == {
        "labpath": ["labs/1 a&b.ipynb"]
    }


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({}, None),
        ({"repository_url": ""}, None),
        ({"repository_url": "https://github.com/a/b"}, Repository("a", "b", "main")),
        (
            {"repository_url": "https://github.com/a/b.git/", "repository_branch": "dev"},
            Repository("a", "b", "dev"),
        ),
    ],
)
def test_repository_of_a_configuration(options: dict, found: Repository | None):
    assert repository(SimpleNamespace(html_theme_options=options)) == found


@pytest.mark.parametrize(
    "address",
    [
        "https://gitlab.com/a/b",
        "github.com/a/b",
        "https://github.com/a",
        "https://github.com/a/b/tree/main",
    ],
)
def test_an_address_that_the_services_cannot_read_stops_the_build(address: str):
    with pytest.raises(ConfigError, match=r"https://github\.com/OWNER/NAME"):
        repository(SimpleNamespace(html_theme_options={"repository_url": address}))


def test_our_own_configuration_has_the_one_setting():
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    options = config["sphinx"]["config"]["html_theme_options"]
    # Without a branch, Jupyter Book would fill in its own.
    assert {"repository_url", "repository_branch"} <= set(options)
    assert "repository" not in config and not config["launch_buttons"]


def test_binder_installs_the_labs_extra_under_our_constraints():
    script = ROOT / ".binder/postBuild"
    (command,) = [line for line in script.read_text("utf-8").splitlines() if "install" in line]
    words = shlex.split(command)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    assert os.access(script, os.X_OK)
    assert words[-1] == ".[labs]" and "labs" in extras
    assert (ROOT / words[words.index("--constraint") + 1]).is_file()


def test_binder_has_a_python_that_the_package_runs_on():
    asked = re.fullmatch(r"python-3\.(\d+)\n", (ROOT / ".binder/runtime.txt").read_text("utf-8"))
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "requires-python"
    ]
    assert f">=3.{asked[1]}" == needed

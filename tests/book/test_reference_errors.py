"""The page of errors: every class, with an example that raises exactly that class."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup
from support.paths import ROOT

from warpwise import errors
from warpwise.book.errors import raised, tree
from warpwise.errors import WarpwiseError

SOURCE = (ROOT / "chapters/reference_errors.md").read_text("utf-8")
EXAMPLES = dict(
    re.findall(r"^```\{raises\} (\w+)\n(.*?)^```$", SOURCE, flags=re.MULTILINE | re.DOTALL)
)


def below(kind: type) -> list[type]:
    return [kind] + [found for child in kind.__subclasses__() for found in below(child)]


# The package's errors; a module may derive more for its own use.
CLASSES = {
    kind.__name__: kind for kind in below(WarpwiseError) if kind.__module__ == errors.__name__
}
RAISED = [name for name in CLASSES if name not in ("WarpwiseError", "KernelError")]


def test_every_class_is_on_the_page_once():
    assert sorted(re.findall(r"\{raises\} (\w+)", SOURCE)) == sorted(CLASSES)


def test_every_class_that_is_raised_has_an_example():
    assert sorted(name for name, code in EXAMPLES.items() if code.strip()) == sorted(RAISED)


@pytest.mark.parametrize("name", RAISED)
def test_the_example_raises_exactly_that_class(name):
    error = raised(EXAMPLES[name])
    assert type(error) is CLASSES[name] or type(error).__bases__ == (CLASSES[name], ValueError)


def test_an_example_that_raises_something_else_is_noticed():
    assert type(raised("[][1]")) is IndexError
    assert raised("1 + 1") is None


def test_the_tree_is_the_tree_of_the_classes():
    drawn, path = {}, []
    for depth, name, meaning in tree():
        path[depth:] = [name]
        drawn[name] = path[depth - 1] if depth else "Exception"
        assert len(meaning.split()) >= 3
    assert drawn == {name: kind.__base__.__name__ for name, kind in CLASSES.items()}


def test_the_page_as_built_shows_meaning_lines_and_message(site):
    page = BeautifulSoup(
        (site.folder / "chapters/reference_errors.html").read_text("utf-8"), "html.parser"
    )
    for name in RAISED:
        entry = page.select_one(f"dt#{name}").find_next("dd")
        code, message = (block.get_text() for block in entry.select("pre"))
        assert entry.select_one("p").get_text(strip=True)
        assert message.startswith((f"{name}: ", "ValueError: raise"))
        if issubclass(CLASSES[name], errors.KernelError):
            line = int(re.search(r"example\.py:(\d+)", message)[1])
            shown = re.sub(r"^ *\d+", "", code.splitlines()[line - 1]).strip()
            assert shown and shown in " ".join(message.split())


def test_the_page_links_each_name_of_the_tree(site):
    page = BeautifulSoup(
        (site.folder / "chapters/reference_errors.html").read_text("utf-8"), "html.parser"
    )
    linked = {
        link["href"].partition("#")[2]
        for link in page.select("article li > p > a.reference.internal")
    }
    assert set(CLASSES) <= linked

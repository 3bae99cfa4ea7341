"""The page "Found in the wild": its sources, its kernels, and the lists of all that were run."""

import re
import tomllib

import pytest
from support.paths import ROOT

from warpwise import errors
from warpwise.book.found import DATA, RESULTS, by_repository, counts, rows, survey
from warpwise.book.mistakes import FOLDER

PAGE = (ROOT / "chapters/found_in_the_wild.md").read_text("utf-8")
FOUND = survey()
LINK = re.compile(r"\((https://github\.com/([\w.-]+/[\w.-]+)/blob/(\w+)/(\S+?))\)")
SECTIONS = [part for part in PAGE.split("\n### ")[1:] if "{mistake}" in part]


def named(link: tuple[str, ...]) -> list:
    """Return the kernels that a link of the page can mean: in its file, or stopped in it."""
    _, repository, commit, path = link
    return [
        one
        for one in FOUND
        if (one.repository, one.commit) == (repository, commit)
        and (one.path == path or one.said.endswith(f" of {path.rpartition('/')[2]}"))
        and one.result == "mistake"
    ]


def kind(said: str) -> str:
    """Return ``race`` or the class of an error."""
    return said.replace(",", " ").split()[0]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda text: text.partition("\n")[0])
def test_a_section_has_its_source_and_a_kernel_with_the_same_kind_of_mistake(section):
    links = LINK.findall(section)
    assert links and section.count("https:") == len(links)
    (name,) = re.findall(r"\{mistake\} (\S+)", section)
    text = (FOLDER / f"{name}_faulty.py").read_text("utf-8")
    (ours,) = set(re.findall(r"# expect: (\w+)", text))
    for link in links:
        assert ours in {kind(one.said) for one in named(link)}, link
        assert link[1] in section.replace(link[0], "") or link[1] in PAGE.partition(section)[0]


def test_every_row_says_what_came_of_a_kernel():
    data = tomllib.loads(DATA.read_text("utf-8"))
    for repository in data["repository"]:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", repository["name"])
        assert re.fullmatch(r"[0-9a-f]{7}", repository["commit"])
        assert all(3 <= len(row) <= 4 for row in repository["kernels"])
    assert {one.result for one in FOUND} == set(RESULTS)
    for one in FOUND:
        assert bool(one.said) == (one.result not in ("right", "ran")), one
        if one.result in ("mistake", "harmless", "announced"):
            assert kind(one.said) == "race" or hasattr(errors, kind(one.said)), one
    assert len(FOUND) >= 100
    assert len({(one.repository, one.path, one.kernel) for one in FOUND}) == len(FOUND)


def test_the_lists_hold_every_kernel_once():
    table = by_repository(FOUND)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]
    assert [line[0] for line in cells] == list(dict.fromkeys(one.repository for one in FOUND))
    sums = [sum(int(line[column] or 0) for line in cells) for column in range(1, 1 + len(RESULTS))]
    assert sums == [counts(FOUND)[result] for result in RESULTS]
    for result in ("mistake", "harmless", "refused"):
        assert len(rows(FOUND, result)) == counts(FOUND)[result]
        assert not [line for line in rows(FOUND, result) if not LINK.search(line)]

"""A second folder into the same output: another section is refused, a new download is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpwise.errors import GradingError
from warpwise.grading import beginning, store, unfinished
from warpwise.grading.layouts import Submission

LAB, OTHER = "08_coalescing", "09_tiling"
FIRST = [f"s{n:02}" for n in range(12)]
SECOND = [f"t{n:02}" for n in range(9)]


def section(names: list[str], lab: str = LAB) -> list[Submission]:
    return [Submission(name, Path(), f"{name}.ipynb", lab) for name in names]


@pytest.fixture(params=[LAB, ""], ids=["with --lab", "without"])
def label(request, tmp_path: Path) -> str:
    """The label of a first section, which is graded in ``tmp_path``."""
    sources = {request.param: "/one"}
    unfinished.begin(tmp_path, sources, section(FIRST), {}, (1, 1))
    store.write_about(tmp_path, {"seed": 1, "labs": {}, "sources": sources})
    return request.param


def test_another_section_is_refused_before_anything_is_written(tmp_path: Path, label: str):
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(GradingError) as refused:
        beginning.check_source(tmp_path, {label: "/two"}, section([*SECOND, *FIRST[:2]]))
    assert str(refused.value) == (
        f"{tmp_path} already holds /one for 08_coalescing, and 10 of its 12 submissions are not in "
        "/two; grade this folder into another --out, or put both into one folder and grade that"
    )
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("source", "names", "lab"),
    [
        ("/two", FIRST[1:], LAB),  # a new download, which one student is not in any more
        ("/two", [*FIRST, *SECOND], LAB),  # both sections in one folder
        ("/one", SECOND, LAB),  # the same folder: what is no longer there is told otherwise
        ("/two", FIRST[:1], OTHER),  # the next week's lab
    ],
)
def test_what_takes_nobodys_place_goes_on(tmp_path: Path, label: str, source, names, lab):
    beginning.check_source(tmp_path, {label: source}, section(names, lab))


def test_into_a_new_folder_anything_goes(tmp_path: Path):
    beginning.check_source(tmp_path / "new", {LAB: "/two"}, section(SECOND))

"""How a folder of submissions is laid out: given or guessed, said, and with nobody left out."""

from __future__ import annotations

import json
import os
import zipfile
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest
from support.files import made

from warpwise.errors import GradingError
from warpwise.grading import collect, notebook, store
from warpwise.grading.layouts import LAYOUTS, Submission

LAB = "08_coalescing"
NOTEBOOK = json.dumps(
    {"nbformat": 4, "metadata": {"warpwise": {"lab": LAB, "version": "abc123"}}, "cells": []}
)
NOON, STAMP = datetime(2026, 2, 3, 12, tzinfo=UTC), "2026-02-03 12:00:00 UTC"
EARLY = "2020-01-01 00:00:00 UTC"
PEOPLE = ("ada", "ben", "cyd")
METADATA = "".join(
    f"submission_{n}:\n  :submitters:\n  - :name: {name}\n    :sid: {name}\n"
    f"    :email: {name}@example.edu\n  :created_at: {STAMP}\n"
    for n, name in enumerate(PEOPLE, 11)
)
#: An honest class in each layout, and the students that are found in it.
HONEST = {
    "plain": ({f"{name}.ipynb": NOTEBOOK for name in PEOPLE}, set(PEOPLE)),
    "canvas": (
        {f"{name}_{n}_9{n}_{LAB}.ipynb": NOTEBOOK for n, name in enumerate(PEOPLE, 11)},
        {"11", "12", "13"},
    ),
    "moodle": (
        {
            f"{name}_{n}_assignsubmission_file_/{LAB}.ipynb": NOTEBOOK
            for n, name in enumerate(PEOPLE, 11)
        },
        set(PEOPLE),
    ),
    "gradescope": (
        {f"submission_{n}/{LAB}.ipynb": NOTEBOOK for n in (11, 12, 13)}
        | {"submission_metadata.yml": METADATA},
        set(PEOPLE),
    ),
    "nbgrader": (
        {f"submitted/{name}/hw1/{LAB}.ipynb": NOTEBOOK for name in PEOPLE}
        | {f"submitted/{name}/hw1/timestamp.txt": STAMP for name in PEOPLE},
        set(PEOPLE),
    ),
}


def found(folder: Path, layout: str | None = None) -> tuple[Submission, ...]:
    return collect.find(folder, folder.parent / "unpacked", layout).submissions


def students(folder: Path, layout: str | None = None) -> set[str]:
    return {s.student for s in found(folder, layout) if not s.problem}


# Given or guessed, and said.


@pytest.mark.parametrize("layout", HONEST)
@pytest.mark.parametrize("given", [True, False])
def test_each_layout_is_found_or_taken(tmp_path: Path, layout: str, given: bool):
    files, expected = HONEST[layout]
    folder = made(tmp_path / "class", files)
    made_of = collect.find(folder, None, layout if given else None)
    assert {s.student for s in made_of.submissions if not s.problem} == expected
    assert made_of.layout.platform == layout
    said = made_of.layout.said
    assert f"laid out as {LAYOUTS[layout]} (3 of 3 names)" in said and "--layout" in said


@pytest.mark.parametrize("layout", [name for name in HONEST if name != "plain"])
def test_one_entry_of_nobodys_stops_a_platforms_layout_with_its_name(tmp_path: Path, layout: str):
    folder = made(tmp_path / "class", HONEST[layout][0] | {"stray [1].ipynb": NOTEBOOK})
    with pytest.raises(GradingError, match=r"'stray \[1\]\.ipynb' would be nobody's") as stopped:
        found(folder, layout)
    assert "\n" not in str(stopped.value) and "--layout" in str(stopped.value)
    guessed = {s.student for s in found(folder)} if layout == "nbgrader" else None
    assert guessed in (None, {"submitted", "stray [1]"})  # said, and nobody is missing
    (folder / "stray [1].ipynb").rename(folder / "README.md")
    assert students(folder, layout) == HONEST[layout][1]


@pytest.mark.parametrize(
    "litter",
    [
        ".DS_Store",
        "._ada.ipynb",
        "Thumbs.db",
        "desktop.ini",
        "README",
        "readme.md",
        "__MACOSX/._ada.ipynb",
        ".ipynb_checkpoints/ada-checkpoint.ipynb",
        ".git/config",
    ],
)
@pytest.mark.parametrize("layout", ["plain", "canvas"])
def test_what_systems_leave_is_passed_over(tmp_path: Path, layout: str, litter: str):
    files, expected = HONEST[layout]
    folder = made(tmp_path / "class", files | {litter: "x"})
    assert {s.student for s in found(folder)} == expected


def test_a_layout_that_there_is_not(tmp_path: Path):
    with pytest.raises(GradingError, match="there is no layout 'blackboard'; there are plain, "):
        found(made(tmp_path / "class", HONEST["plain"][0]), "blackboard")


# What a student can name a file or a folder in a plain folder.

OF_PLATFORMS = {
    "gradescope's file": {"submission_metadata.yml": METADATA.replace("submission_11", "ada")},
    "a broken file of gradescope's": {"submission_metadata.yml": "]["},
    "gradescope's folder": {
        "submission_metadata.yml/x.ipynb": NOTEBOOK,
        "submission_1/x.ipynb": NOTEBOOK,
    },
    "nbgrader's folders": {
        "submitted/eve/hw1/x.ipynb": NOTEBOOK,
        "submitted/eve/hw1/timestamp.txt": STAMP,
        "source/x.ipynb": NOTEBOOK,
    },
    "nbgrader's database": {"gradebook.db": "x", "nbgrader_config.py": "x", "submitted": "x"},
    "canvas's names": {"eve_11_90_x.ipynb": NOTEBOOK, "ada_12_91_x.ipynb": NOTEBOOK},
    "moodle's names": {
        "ada_11_assignsubmission_file_x.ipynb": NOTEBOOK,
        "ada_12_assignsubmission_file_/x.ipynb": NOTEBOOK,
    },
    "hidden names": {".eve.ipynb": NOTEBOOK, ".fay/x.ipynb": NOTEBOOK, "__MACOSX/x.ipynb": "x"},
    "no notebooks": {"eve.py": "x", "fay.pdf": "x", "gus": "x"},
    "times": {"eve/timestamp.txt": STAMP, "eve/x.ipynb": NOTEBOOK, "timestamp.txt": STAMP},
}


@pytest.mark.parametrize("chosen", OF_PLATFORMS)
@pytest.mark.parametrize("packed", [False, True])
def test_names_of_platforms_change_nothing_for_others(tmp_path: Path, chosen: str, packed: bool):
    folder = made(tmp_path / "class", HONEST["plain"][0] | OF_PLATFORMS[chosen])
    source = tmp_path / "all.zip" if packed else folder
    if packed:
        zipped(folder, source)
    told = collect.find(source, tmp_path / "unpacked")
    assert told.layout.platform == "plain"
    assert {(s.student, s.file) for s in told.submissions} >= {(n, f"{n}.ipynb") for n in PEOPLE}
    named = {s.file.split("/")[0] for s in told.submissions}
    assert named >= {name.split("/")[0] for name in OF_PLATFORMS[chosen]} - (
        {"__MACOSX"} if packed else set()
    )
    assert all(s.submitted is None for s in told.submissions)


# What a hostile student can do in each layout.

NAMES = [
    *("ADA", "Ada ", "ada.", "a\u0301da", "\u00e1da", "\uff41da", "\u0430da", "ada 11", "ada-11"),
    *("11", "con", "NUL.txt", "x" * 180, "-rf", "=1+1", "new\nline", "\u202eada", "~", "%2e%2e"),
    *("submitted", "source", "submission_11", "ada_11_9_x", "ada_11_assignsubmission_file_"),
    *("\\xff", "a\\b"),
]


def inside(folder: Path, honest: Path) -> None:
    """Fill a folder with what only a student of bad faith hands in, and one sound notebook."""
    folder.mkdir(parents=True)
    for name in ("x.ipynb", "X.ipynb", "zo\u00e9.ipynb", "zoe\u0301.ipynb", f"{'n' * 240}.ipynb"):
        (folder / name).write_text(NOTEBOOK)
    away = {
        "ada.ipynb": honest,
        "away": honest.parent,
        "up": Path(".."),
        "self.zip": Path("self.zip"),
    }
    for name, target in away.items():
        (folder / name).symlink_to(target)
    for name in ("deep", "submitted/ada/hw1", "ada", ".hidden", "__MACOSX", "d/" * 60):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "timestamp.txt").write_text(EARLY)
        (folder / name / "y.ipynb").write_text(NOTEBOOK)
    for name in ("submission_metadata.yml", "gradebook.db", "nbgrader_config.py"):
        (folder / name).write_text(METADATA)
    for name in ("pipe.ipynb", "pipe.zip", "pipe"):
        os.mkfifo(folder / name)
    inner = {
        "z.ipynb": NOTEBOOK,
        "timestamp.txt": EARLY,
        "../ada.ipynb": NOTEBOOK,
        "again.zip": "PK",
    }
    with zipfile.ZipFile(folder / "work.zip", "w") as archive:
        for name, content in inner.items():
            archive.writestr(name, content)
    (folder / "broken.tgz").write_bytes(b"\x1f\x8b and no more")


def attacked(folder: Path, layout: str, name: str) -> None:
    """Add an honest class, and what one of this name hands in, as the collector lays it out."""
    made(folder, HONEST[layout][0])
    honest = next(folder.rglob("*.ipynb"))
    if layout == "plain":
        inside(folder / f"{name} eve", honest)
        (folder / f"{name} eve.ipynb").write_text(NOTEBOOK)
    elif layout == "canvas":
        own = "".join(c for c in name.lower() if c.isalnum())
        for number, title in enumerate(
            (f"{name[:30]}.ipynb", "11_911_x.ipynb", "x-99.ipynb", "e.pdf")
        ):
            (folder / f"{own}_66_{number}_{title}").write_text(NOTEBOOK)
    elif layout == "moodle":
        inside(folder / f"{name.replace('_', ' ')}_66_assignsubmission_file_", honest)
    elif layout == "gradescope":
        inside(folder / "submission_66", honest)
        said = json.dumps(name)
        with (folder / "submission_metadata.yml").open("a") as file:
            file.write(f"submission_66:\n  :submitters:\n  - :name: {said}\n    :sid: {said}\n")
            file.write(f"    :email: eve@example.edu\n  :created_at: {STAMP}\n")
    else:
        inside(folder / "submitted/eve/hw1", honest)


@pytest.mark.parametrize(
    ("layout", "name"),
    [("nbgrader", "eve"), *product(list(HONEST)[:-1], [*NAMES, *PEOPLE])],
)
@pytest.mark.parametrize("given", [True, False])
def test_nobody_gets_anothers_work_or_time_or_page(
    tmp_path: Path, layout: str, name: str, given: bool
):
    folder = tmp_path / "class"
    attacked(folder, layout, name)
    told = collect.find(folder, tmp_path / "unpacked", layout if given else None)
    assert told.layout.platform == layout
    hers = [s for s in told.submissions if "eve" in s.file or "66" in s.file]
    others = [s for s in told.submissions if s not in hers]
    assert any(not s.problem for s in hers) and len({s.file for s in hers}) == len(hers)
    assert len(others) == 3 and not any(s.problem for s in others)
    assert all(s.path.read_text() == NOTEBOOK for s in others)
    assert not {s.student for s in others} & {s.student for s in hers}
    collected = {"nbgrader": 3, "gradescope": 3}.get(layout, 0)
    assert [s.submitted for s in others if s.submitted] == [NOON] * collected
    assert {s.submitted for s in hers} <= ({NOON} if layout == "gradescope" else {None})
    for s in hers:
        if s.path.is_symlink() and not s.problem:
            with pytest.raises(GradingError, match="link"):
                notebook.read(s.path)
    assert len({store.path(folder, s.file, LAB) for s in told.submissions}) == len(told.submissions)
    pages = {store.file_name(s.student).casefold() for s in told.submissions}
    assert len(pages) == len({s.student for s in told.submissions})


def test_a_number_of_canvas_that_goes_by_two_names_is_nobodys(tmp_path: Path):
    """A student may be called so that the name reads like another's file."""
    files = HONEST["canvas"][0] | {f"x_11_5_y_66_966_{LAB}.ipynb": NOTEBOOK}
    told = found(made(tmp_path / "class", files), "canvas")
    assert {s.file for s in told if "carry two names" in s.problem} == {
        f"ada_11_911_{LAB}.ipynb",
        f"x_11_5_y_66_966_{LAB}.ipynb",
    }
    assert {s.student for s in told if not s.problem} == {"12", "13"}


def test_the_name_of_a_user_is_not_taken_for_a_number(tmp_path: Path):
    files = HONEST["canvas"][0] | {f"11_66_966_{LAB}.ipynb": NOTEBOOK}
    assert students(made(tmp_path / "class", files)) == {"11", "12", "13", "66"}


@pytest.mark.parametrize("work", ["x.ipynb", "deep/er/x.ipynb", "all.zip"])
def test_nbgraders_time_is_that_of_the_whole_assignment(tmp_path: Path, work: str):
    """And of nothing else: not the student's own file beside a notebook, nor one in an archive."""
    folder = made(tmp_path / "class", HONEST["nbgrader"][0])
    for student, times in {
        "eve": {"hw1": STAMP, "hw1/deep/er": EARLY, "hw1/deep": EARLY, ".": EARLY},
        "fay": {"hw1": "soon", "hw1/deep/er": EARLY, "hw1/deep": EARLY},
        "gus": {"hw1/deep/er": EARLY, ".": EARLY, "hw2": EARLY},
    }.items():
        path = folder / f"submitted/{student}/hw1/{work}"
        path.parent.mkdir(parents=True)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x.ipynb", NOTEBOOK)
            archive.writestr("timestamp.txt", EARLY)
        if work.endswith(".ipynb"):
            path.write_text(NOTEBOOK)
        made(folder / "submitted" / student, {f"{at}/timestamp.txt": t for at, t in times.items()})
    times = {s.student: s.submitted for s in found(folder) if not s.problem}
    assert times == dict.fromkeys(PEOPLE, NOON) | {"eve": NOON, "fay": None, "gus": None}


def zipped(folder: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))

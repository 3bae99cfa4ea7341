"""How a folder of submissions is laid out: given or guessed, said, and with nobody left out."""

from __future__ import annotations

import json
import os
import socket
import tarfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from warpwise.errors import GradingError
from warpwise.grading import collect
from warpwise.grading.layouts import LAYOUTS, Submission

LAB = "08_coalescing"
NOTEBOOK = json.dumps(
    {"nbformat": 4, "metadata": {"warpwise": {"lab": LAB, "version": "abc123"}}, "cells": []}
)
NOON, STAMP = datetime(2026, 2, 3, 12, tzinfo=UTC), "2026-02-03 12:00:00 UTC"
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


def made(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


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


def zipped(folder: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))

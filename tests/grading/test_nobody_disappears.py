"""Who handed in no notebook has one line with the reason, in every layout."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from support.files import made
from support.paths import ROOT

from warpwise.grading import assignment, collect
from warpwise.grading.archives import TIMESTAMP
from warpwise.grading.record import Record
from warpwise.grading.scoring import scores
from warpwise.labs.source import load_lab

LAB, OTHER = "08_coalescing", "01_why_gpus"
IDS = {LAB: {"transpose"}, OTHER: {"square"}}
NOTEBOOK = json.dumps({"nbformat": 4, "metadata": {"warpwise": {"lab": LAB}}, "cells": []})
STAMP = "2026-02-03 12:00:00 UTC"
FULL = [f"full{n}" for n in range(8)]
#: What each of the others handed in, and what is said of it.
HANDED = {
    "pdf": ({"report.pdf": "%PDF"}, "handed in report.pdf, no notebook"),
    "code": ({"lab8.py": "x = 1"}, "handed in lab8.py, no notebook"),
    "both": (
        {"a.txt": "x", "b.py": "y", "c.md": "z", "d.pdf": "%PDF"},
        "handed in a.txt, b.py, c.md and 1 more, no notebook",
    ),
    "broken": ({"work.zip": "PK\x03\x04 and no more"}, "work.zip cannot be unpacked"),
}
EMPTY = "handed in nothing: an empty folder or archive"


def in_folders(pattern: str, number: int) -> dict[str, str]:
    files = {}
    everyone = {name: {f"{LAB}.ipynb": NOTEBOOK} for name in FULL}
    everyone |= {name: files for name, (files, _) in HANDED.items()} | {"empty": {"": ""}}
    for n, (name, work) in enumerate(everyone.items(), number):
        files |= {pattern.format(name=name, n=n) + file: text for file, text in work.items()}
    return files


def of_canvas() -> dict[str, str]:
    everyone = {name: {f"{LAB}.ipynb": NOTEBOOK} for name in FULL}
    everyone |= {name: files for name, (files, _) in HANDED.items()}
    return {
        f"{name}_{n}_9{n}{m}_{file}": text
        for n, (name, work) in enumerate(everyone.items(), 100)
        for m, (file, text) in enumerate(work.items())
    }


def of_gradescope() -> dict[str, str]:
    files = in_folders("submission_{n}/", 100)
    people = enumerate([*FULL, *HANDED, "empty"], 100)
    return files | {
        "submission_metadata.yml": "".join(
            f"submission_{n}:\n  :submitters:\n  - :name: {name}\n    :sid: {name}\n"
            f"  :created_at: {STAMP}\n"
            for n, name in people
        )
    }


LAYOUTS = {
    "plain": in_folders("{name}/", 0),
    "canvas": of_canvas(),
    "moodle": in_folders("{name}_{n}_assignsubmission_file_/", 100),
    "gradescope": of_gradescope(),
    "nbgrader": in_folders("submitted/{name}/hw1/", 0)
    | {f"submitted/{name}/hw1/timestamp.txt": STAMP for name in [*FULL, *HANDED, "empty"]},
}


def packed(folder: Path) -> Path:
    target = folder.with_suffix(".zip")
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return target


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("as_zip", [False, True])
@pytest.mark.parametrize("lab", [LAB, None])
def test_each_is_one_submission_with_the_reason_and_the_lab(
    tmp_path: Path, layout: str, as_zip: bool, lab: str | None
):
    folder = made(tmp_path / "class", LAYOUTS[layout])
    found = collect.find(packed(folder) if as_zip else folder, tmp_path / "unpacked", layout)
    told = assignment.assign_labs(found.submissions, [OTHER, LAB], lab, IDS).submissions
    people = {s.name if layout in ("canvas", "gradescope") else s.student: s for s in told}
    expected = {name: said for name, (_, said) in HANDED.items()}
    expected |= {} if layout == "canvas" else {"empty": EMPTY}
    assert set(people) == {*FULL, *expected} and len(told) == len(people)
    for name, said in expected.items():
        assert said in people[name].problem and people[name].lab == LAB
    assert all(not people[name].problem for name in FULL)
    if layout == "nbgrader":
        assert all(s.submitted for s in told)
    # in the gradebook each has one row
    lab_of = {LAB: load_lab(ROOT / f"solutions/{LAB}.md")}
    records = [Record(s.student, s.file, s.lab, (), s.problem) for s in told]
    rows = scores.scores(records, lab_of)
    assert set(Counter(row.student.id for row in rows).values()) == {1}
    assert "no submission" not in {row.note for row in rows}


def test_a_file_beside_a_notebook_is_no_submission(tmp_path: Path):
    files = {f"ada/{LAB}.ipynb": NOTEBOOK, "ada/report.pdf": "%PDF", "ben.ipynb": NOTEBOOK}
    found = collect.find(made(tmp_path / "class", files | {"ben.pdf": "%PDF"})).submissions
    assert [(s.student, s.problem) for s in found] == [("ada", ""), ("ben", "")]


def test_a_name_is_told_on_one_line(tmp_path: Path):
    files = {f"ada/{LAB}.ipynb": NOTEBOOK, "eve/a\nb\u202e.pdf": "x", f"fay/{'x' * 200}": "x"}
    found = collect.find(made(tmp_path / "class", files)).submissions
    assert [s.problem for s in found] == [
        "",
        "handed in a?b?.pdf, no notebook",
        f"handed in {'x' * 80}, no notebook",
    ]


def test_each_of_nbgraders_assignments_stands_for_itself(tmp_path: Path):
    files = {
        f"submitted/ada/{OTHER}/report.pdf": "%PDF",
        f"submitted/ada/{OTHER}/{TIMESTAMP}": STAMP,
        f"submitted/ada/{LAB}/{LAB}.ipynb": NOTEBOOK,
        f"submitted/ben/{LAB}/{LAB}.ipynb": NOTEBOOK,
        f"submitted/ben/{OTHER}/{OTHER}.ipynb": NOTEBOOK,
    }
    found = collect.find(made(tmp_path / "class", files)).submissions
    told = assignment.assign_labs(found, [OTHER, LAB], None, IDS).submissions
    assert [(s.student, s.lab, s.problem) for s in told] == [
        ("ada", OTHER, "handed in report.pdf, no notebook"),
        ("ada", LAB, ""),
        ("ben", OTHER, ""),
        ("ben", LAB, ""),
    ]
    assert told[0].submitted


def test_a_file_of_no_known_lab_contradicts_no_other_row():
    lost = Record("ada", "ada", "", (), "handed in report.pdf, no notebook")
    labs = {stem: load_lab(ROOT / f"solutions/{stem}.md") for stem in (OTHER, LAB)}
    found = scores.scores([lost, Record("ben", "b", LAB), Record("ben", "c", OTHER)], labs)
    assert [(s.lab, s.note) for s in found if s.student.id == "ada"] == [
        (OTHER, "no submission known to be of this lab; there is 'ada'"),
        (LAB, "no submission known to be of this lab; there is 'ada'"),
        ("", "handed in report.pdf, no notebook"),
    ]

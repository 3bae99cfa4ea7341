"""``--lab`` of the commands that grade: any name that is plain, and which lab was meant is said."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from support.graded_records import record
from typer.testing import CliRunner, Result

from warpwise.cli import app
from warpwise.grading import engine, store
from warpwise.grading.scoring import folder, times

STEMS = ("08_coalescing", "12_flash_attention", "13_flash_backward")
LAB = STEMS[0]


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Path:
    """A folder as ``grade`` leaves it, with a submission to each of three labs."""
    out = tmp_path_factory.mktemp("labs") / "graded"
    (out / "records").mkdir(parents=True)
    store.write_about(out, {"seed": 1, "isolated": True, "labs": dict.fromkeys(STEMS, "1")})
    for lab in STEMS:
        about = {"file": f"ada_11_9_{lab}.ipynb", "right": ()}
        store.keep(out, store.Kept("key", 1, record("11", lab, **about)))
    engine.write(out)
    return out


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def labs(done: Result) -> set[str]:
    assert done.exit_code == 0, done.stderr
    return {row["lab"] for row in csv.DictReader(io.StringIO(done.stdout))}


@pytest.mark.parametrize("name", ["8", "lab 8", "08", "coal", "labs/08_coalescing.ipynb"])
def test_a_gradebook_of_a_lab_by_any_of_its_names_says_which(graded: Path, name: str):
    done = run("gradebook", graded, "--lab", name)
    assert labs(done) == {LAB} and f"warpwise: lab {name} is {LAB}\n" in done.stderr


def test_of_a_lab_by_its_stem_nothing_is_said(graded: Path):
    done = run("gradebook", graded, "--lab", LAB, "--lab", "flash_b")
    assert labs(done) == {LAB, STEMS[2]} and "is 08_coalescing" not in done.stderr


COMMANDS = (
    ["gradebook", "GRADED"],
    ["history", "GRADED"],
    ["regrade", "GRADED"],
    ["feedback", "GRADED", "--zip", "canvas", "--out", "OUT"],
    ["grade", "SUBMISSIONS", "--out", "OUT"],
    ["bundle", "gradescope", "OUT.zip"],
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("flash", "'flash' may be 12_flash_attention or 13_flash_backward; write more of it"),
        ("99", "there are "),
        ("coalesing", "did you mean 08_coalescing?"),  # codespell:ignore
    ],
)
def test_a_name_of_none_or_several_is_one_line_and_writes_nothing(
    graded: Path, tmp_path: Path, command: list[str], name: str, said: str
):
    places = {"GRADED": graded, "OUT": tmp_path / "out", "OUT.zip": tmp_path / "out.zip"}
    places["SUBMISSIONS"] = tmp_path
    done = run(*(places.get(word, word) for word in command), "--lab", name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1 and said in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_pages_of_a_lab_are_packed_by_its_number(graded: Path, tmp_path: Path):
    done = run("feedback", graded, "--zip", "canvas", "--lab", "8", "--out", tmp_path / "f.zip")
    assert done.exit_code == 0, done.stderr
    assert "warpwise: lab 8 is 08_coalescing" in done.stderr and (tmp_path / "f.zip").exists()


def test_a_file_of_times_is_of_a_lab_by_any_of_its_names(graded: Path, tmp_path: Path):
    path = tmp_path / "submissions.json"
    of_ada = {"id": 1, "user_id": 11, "submitted_at": "2026-12-01T22:00:00Z"}
    path.write_text(json.dumps([of_ada]))
    found = folder.gradebook(graded, times=[f"8={path}"])
    assert [s.lab for s in found.scores if s.submitted] == [LAB]
    assert times.given(["8=x.csv"], labs=STEMS) == times.given(["x.csv"], LAB)


def test_the_tables_have_columns_for_the_labs_that_were_assigned_or_handed_in(graded: Path):
    """Although the run could have graded every lab of the course."""
    about = json.loads((graded / "run.json").read_text())
    everything = {"01_why_gpus": "1", "09_tiling": "1"} | about["labs"]
    store.write_about(graded, about | {"labs": everything, "assigned": {"": ["09_tiling", LAB]}})
    engine.write(graded)
    head = next(csv.reader((graded / "grades.csv").open(newline="")))
    store.write_about(graded, about)
    of_labs = list(dict.fromkeys(name.partition("/")[0] for name in head if "/" in name))
    assert of_labs == [LAB, "09_tiling", *STEMS[1:]]

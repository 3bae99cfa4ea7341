"""Deleting a student from a graded folder: nothing of them stays, and nothing of anybody else goes.

The class is made up, with two students of one name, and its folder is written as a run would."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.paths import ROOT
from support.small_class import LAB, different, record
from typer.testing import CliRunner

from warpwise.cli import app
from warpwise.errors import GradingError
from warpwise.grading import engine, forget, store

ROSTER = """Name,SID,Email
Zoë O'Neill,zq7731x,zoe@example.edu
Zoë O'Neill,zq8842y,oneill@example.edu
"Ben Müller, jun.",bm5519,ben@example.edu
"""
TEXTS = {"zq7731x": "purple_kernel", "zq8842y": "orange_kernel", "bm5519": "yellow_kernel"}
TABLES = {
    "overrides.csv": "student,lab,exercise,points,reason\n"
    f'zoe@example.edu,{LAB},,3,"oral,\nby zq7731x"\nbm5519,{LAB},,4,\n',
    "times.csv": f"student,lab,submitted\nbm5519,,2027-03-01T09:00+01:00\n"
    f"zq7731x,{LAB},2027-03-01T10:00+01:00\n",
    "exported/canvas.csv": "Student;ID;SIS Login ID;Points\n"
    "O'Neill, Zoë;7;zq7731x;5\nO'Neill, Zoë;8;zq8842y;5\nBen;9;bm5519;5\n",
}
SAID = ("zq7731x", "zoe@example.edu", "purple_kernel")


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """A graded folder, with everything in it that names students."""
    place = tmp_path_factory.mktemp("forget")
    graded, roster = place / "graded", place / "class.csv"
    roster.write_text(ROSTER, "utf-8")
    (graded / "records").mkdir(parents=True)
    (graded / "exported").mkdir()
    about = {"seed": 7, "warpwise": "0", "isolated": True, "labs": {LAB: "1"}}
    about |= {"sources": {"": str(place / "submissions")}, "layouts": {"": "plain"}}
    about["settings"] = {"course": str(ROOT), "roster": str(roster)}
    store.write_about(graded, about)
    for number, (id, text) in enumerate(TEXTS.items()):
        for lab, exercise in ((LAB, "transpose"), ("01_why_gpus", "square")):
            answer = f"{different(number)}    {text}\n"
            made = record(
                id, {exercise: answer}, lab=lab, name="Zoë O'Neill" if id[0] == "z" else ""
            )
            store.keep(graded, store.Kept("key", 1, made))
    store.write_about(graded, about | {"labs": {LAB: "1", "01_why_gpus": "1"}})
    for name, text in TABLES.items():
        (graded / name).write_text(text, "utf-8")
    listed = [[f"{id}/{LAB}.ipynb", LAB, id, "Zoë O'Neill"] for id in TEXTS]
    (graded / "listed.json").write_text(json.dumps({"expected": {"": listed}}))
    engine.write(graded)
    assert CliRunner().invoke(app, ["report", str(graded), "--csv"]).exit_code == 0
    return graded


@pytest.fixture
def graded(written: Path, tmp_path: Path) -> Path:
    return shutil.copytree(written, tmp_path / "graded")


def saying(folder: Path, *texts: str) -> list[str]:
    """List the files of a folder that have one of these texts in their name or in themselves."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(
        str(path.relative_to(folder))
        for path in files
        if any(text in f"{path.name} {path.read_text('utf-8')}" for text in texts)
    )


def test_the_folder_names_the_student_everywhere(written: Path):
    files = saying(written, *SAID)
    assert {"grades.csv", "overrides.csv", "times.csv", "exported/canvas.csv"} <= set(files)
    assert {"report.html", "feedback/zq7731x.html", "feedback/zq7731x.txt"} <= set(files)
    assert len([name for name in files if name.startswith("records/")]) == 2


@pytest.mark.parametrize("name", ["zq7731x", "zoe@example.edu"])
def test_nothing_of_a_student_stays_and_all_of_the_others_does(graded: Path, name: str):
    (graded / "records" / ".0123.json-abcd_123").write_text("purple_kernel")  # left by a kill
    (graded / "pending").mkdir()  # under the name of the record, as all that belongs to one
    record = store.path(graded, f"zq7731x/{LAB}.ipynb", LAB)
    (graded / "pending" / record.name).write_bytes(record.read_bytes())
    others = {path: saying(graded, text) for path, text in (("z", "orange"), ("b", "yellow"))}
    done = CliRunner().invoke(app, ["forget", str(graded), name, "--yes"])
    assert done.exit_code == 0, done.output
    assert saying(graded, *SAID) == []
    assert "1 row of overrides.csv" in done.output and "2 rows of grades.csv" in done.output
    listed = json.loads((graded / "listed.json").read_text("utf-8"))["expected"][""]
    assert [student for _, _, student, _ in listed] == ["zq8842y", "bm5519"]
    assert "submissions, which would bring them back" in done.output
    assert "'zq7731x/08_coalescing.ipynb'" in done.output and "class.csv" in done.output
    assert saying(graded, "orange") == [n for n in others["z"] if n != "report.html"]
    assert saying(graded, "yellow") == [n for n in others["b"] if n != "report.html"]
    assert (graded / "exported/canvas.csv").read_text("utf-8") == TABLES[
        "exported/canvas.csv"
    ].replace("O'Neill, Zoë;7;zq7731x;5\n", "")
    assert (graded / "run.json").stat().st_mode & 0o077 == 0
    engine.write(graded)  # the tables made anew have no more in them
    assert saying(graded, *SAID) == []


def test_it_asks_first_and_no_means_no(graded: Path):
    before = {path: path.read_bytes() for path in graded.rglob("*") if path.is_file()}
    asked = CliRunner().invoke(app, ["forget", str(graded), "zq7731x"], input="n\n")
    assert asked.exit_code == 1 and "Nothing was deleted." in asked.output
    assert {path: path.read_bytes() for path in graded.rglob("*") if path.is_file()} == before


def test_a_name_of_two_deletes_nobody(graded: Path):
    with pytest.raises(GradingError, match="matches 2 students on the roster: zq7731x, zq8842y"):
        forget.find(graded, "Zoë O'Neill")


def test_part_of_a_name_deletes_nobody_and_says_whose_it_may_be(graded: Path):
    with pytest.raises(GradingError, match=r"no student 'Müll' .* mean bm5519 \(Ben Müller, jun\."):
        forget.find(graded, "Müll")
    with pytest.raises(GradingError, match=r"did you mean zq7731x .* or zq8842y"):
        forget.find(graded, "O'Neill")


def test_broken_off_anywhere_the_same_command_goes_on(written: Path, tmp_path: Path):
    steps = len(
        list(forget.forget(forget.find(shutil.copytree(written, tmp_path / "0"), "zq7731x")))
    )
    assert steps > 6
    for done in range(1, steps):
        graded = shutil.copytree(written, tmp_path / str(done))
        for _, _ in zip(range(done), forget.forget(forget.find(graded, "zq7731x")), strict=False):
            pass
        assert saying(graded, *SAID)
        list(forget.forget(forget.find(graded, "zq7731x")))
        assert saying(graded, *SAID) == [], done


def test_files_that_still_have_the_name_are_listed(graded: Path):
    (graded / "notes.txt").write_text("zq7731x called\n")
    (graded / "feedback.zip").write_bytes(b"PK")
    done = CliRunner().invoke(app, ["forget", str(graded), "zq7731x", "--yes"])
    assert "notes.txt, which has the same id, name or address in it" in done.output
    assert "feedback.zip, which cannot be searched" in done.output


def test_a_student_who_handed_in_nothing_is_deleted_from_the_tables(graded: Path):
    for path in (graded / "records").iterdir():
        if "purple_kernel" in path.read_text():
            path.unlink()
    done = CliRunner().invoke(app, ["forget", str(graded), "zq7731x", "--yes"])
    assert done.exit_code == 0 and "1 row of times.csv" in done.output
    assert saying(graded, *SAID) == []

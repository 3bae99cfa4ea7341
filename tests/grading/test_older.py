"""Notebooks of another version of a lab: what counts, and what their students are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpwise.grading import autograder, feedback, grade, notebook
from warpwise.grading.gradescope import lab_json
from warpwise.grading.material import today
from warpwise.grading.older import differing, listed, note
from warpwise.grading.record import OLDER, Finding, Result
from warpwise.labs.exercise import Reason
from warpwise.labs.source import load_lab, solved_notebook, stub
from warpwise.labs.versions import stamp

LAB = "01_why_gpus"
WRONG = "def reverse(src, dst):\n    pass_ = 1\n"


def handed_in(changes: dict[str, str] | None = None, **about: object) -> dict:
    """The solved lab as that of another version, with other digests, or none for ``""``."""
    lab = load_lab(LAB)
    made = json.loads(json.dumps(stamp(solved_notebook(lab), lab)))
    ours = made["metadata"]["warpwise"]
    ours |= {"version": "0123456789ab", "released": "2026-09-14"} | about
    ours["exercises"] |= changes or {}
    ours["exercises"] = {id: digest for id, digest in ours["exercises"].items() if digest}
    return made


def write(folder: Path, name: str, made: dict) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / f"{LAB}.ipynb").write_text(json.dumps(made), "utf-8")


def cell(made: dict, id: str) -> dict:
    return next(c for c in made["cells"] if c["metadata"].get("warpwise", {}).get("id") == id)


def spoil(made: dict, id: str) -> dict:
    """Break the answer to one exercise: the loop or the store at its end does nothing."""
    lines = cell(made, id)["source"].rstrip().splitlines()
    cell(made, id)["source"] = "\n".join(
        [*lines[:-1], lines[-1][: -len(lines[-1].lstrip())] + "pass"]
    )
    return made


@pytest.fixture(scope="module")
def class_of_four(sandbox, tmp_path_factory) -> tuple[Path, dict]:
    """Labs that differ in prose alone, or in two exercises, right or wrong, and a bare one."""
    folder = tmp_path_factory.mktemp("older")
    differ = {"reverse": "other", "square": ""}
    write(folder / "in", "prose", handed_in())
    write(folder / "in", "right", handed_in(differ, term="Autumn 2026"))
    write(folder / "in", "wrong", spoil(spoil(handed_in(differ), "reverse"), "add"))
    bare = spoil(handed_in(), "reverse")
    del bare["metadata"]["warpwise"]["exercises"]
    write(folder / "in", "bare", bare)
    found = grade(folder / "in", folder / "out", lab=LAB, seed=7)
    return folder / "out", {record.student: record for record in found}


@pytest.mark.slow
def test_where_prose_alone_differs_it_is_graded_as_ever(class_of_four):
    record = class_of_four[1]["prose"]
    assert record.points == record.possible and record.note == ""


@pytest.mark.slow
def test_a_right_answer_counts_whatever_its_version(class_of_four):
    record = class_of_four[1]["right"]
    assert record.points == record.possible
    assert "lab 1 of Autumn 2026" in record.note


@pytest.mark.slow
def test_a_wrong_answer_to_another_exercise_has_a_reason_of_its_own(class_of_four):
    out, records = class_of_four
    findings = {result.exercise: result.finding for result in records["wrong"].results}
    assert (
        findings["reverse"].reason == OLDER
        and "another exercise then" in findings["reverse"].detail
    )
    assert "`warpwise labs update 01_why_gpus.ipynb`" in findings["reverse"].advice
    # the same in both versions: wrong for its own reason
    assert not findings["add"].passed and findings["add"].reason != OLDER
    assert findings["square"].passed and findings["centre"].passed
    page = (out / "feedback" / "wrong.txt").read_text("utf-8")
    said = (
        "This is lab 1 of 2026-09: your answers to place, add, centre and choose_launch carry over."
    )
    assert said in " ".join(page.split())


@pytest.mark.slow
def test_a_notebook_without_digests_is_graded_as_ever(class_of_four):
    record = class_of_four[1]["bare"]
    reasons = {result.exercise: result.finding.reason for result in record.results}
    assert record.note == "" and reasons["reverse"] not in (OLDER, Reason.PASSED)
    assert reasons["add"] == Reason.PASSED


def read(folder: Path, made: dict) -> notebook.Notebook:
    (folder / "x.ipynb").write_text(json.dumps(made), "utf-8")
    return notebook.read(folder / "x.ipynb")


@pytest.mark.slow
def test_an_exercise_not_begun_stays_so(sandbox, tmp_path):
    made, lab = handed_in({"reverse": "other", "square": ""}), load_lab(LAB)
    own = next(c for c in lab.cells if c.metadata.get("warpwise", {}).get("id") == "reverse")
    cell(made, "reverse")["source"] = stub(own.source)
    made["cells"] = [c for c in made["cells"] if c != cell(made, "square")]
    write(tmp_path / "in", "ada", made)
    (record,) = grade(tmp_path / "in", tmp_path / "out", lab=LAB, seed=7)
    findings = {result.exercise: result.finding for result in record.results}
    assert findings["reverse"].reason == Reason.NOT_DONE
    assert findings["square"].reason == OLDER and "did not exist then" in findings["square"].detail
    assert OLDER in feedback.EXPLAINED


@pytest.mark.parametrize(
    "claims", [[], 7, {"reverse": 7}, {"a" * 5000: "b" * 5000}, {str(i): "x" for i in range(9999)}]
)
def test_metadata_of_any_shape_is_read(tmp_path, claims):
    found = read(tmp_path, handed_in() | {"metadata": {"warpwise": {"exercises": claims}}})
    assert len(found.digests) <= 100 and all(len(id) <= 80 for id in found.digests)


def test_an_edition_is_printable(tmp_path):
    assert read(tmp_path, handed_in(term="a\x1b[2J\nb")).edition == "a[2Jb"
    assert read(tmp_path, handed_in(released=7)).edition == "version 0123456789ab"


def test_the_current_version_differs_in_nothing(tmp_path):
    lab = load_lab(LAB)
    forged = handed_in({"reverse": "other"}, version=lab.version)
    assert not differing(read(tmp_path, forged), today(lab))


def test_the_note_names_answers_that_were_begun_and_carry_over(tmp_path):
    lab = load_lab(LAB)
    made = read(tmp_path, handed_in({"reverse": "other"}))
    reasons = {"add": Reason.PASSED, "square": Reason.WRONG_RESULT, "reverse": Reason.PASSED}
    results = [
        Result(e.id, e.points, Finding(False, reasons.get(e.id, Reason.NOT_DONE)))
        for e in lab.exercises
    ]
    said = note(made, today(lab), differing(made, today(lab)), results)
    assert said.startswith("This is lab 1 of 2026-09: your answers to square and add carry over.")
    assert said.endswith("move them with `warpwise labs update 01_why_gpus.ipynb`.")


def test_the_note_where_no_answer_carries_over(tmp_path):
    lab = load_lab(LAB)
    made = read(tmp_path, handed_in(dict.fromkeys((e.id for e in lab.exercises), "other")))
    said = note(made, today(lab), differing(made, today(lab)), [])
    whole = "This is lab 1 of 2026-09: no answer carries over. Get the new one, and begin anew."
    assert said == whole
    assert (listed(["a"]), listed(["a", "b", "c"])) == ("a", "a, b and c")


def test_gradescope_knows_older_versions_too(tmp_path):
    """Its grader has the digests, packed, and tells the student what ``grade`` would."""
    lab = load_lab(LAB)
    (tmp_path / "lab.json").write_text(lab_json(lab, (), 1))
    packed = autograder.load(tmp_path)
    made = read(tmp_path, handed_in({"reverse": "other"}))
    findings = {"reverse": Finding(False, Reason.WRONG_RESULT)}
    passed = Finding(True, Reason.PASSED)
    judged = [Result(e.id, e.points, findings.get(e.id, passed)) for e in lab.exercises]
    told = autograder.report(packed, autograder.recorded(packed, made, judged))
    assert "This is lab 1 of 2026-09: your answers to" in told["output"]
    assert "<" not in told["output"].replace("<p>", "").replace("</p>", "")
    [reverse] = [test for test in told["tests"] if "another exercise then" in test["output"]]
    assert "From an older version of the lab" in reverse["output"] and reverse["score"] == 0
    today = autograder.recorded(packed, read(tmp_path, handed_in(version=lab.version)), judged)
    assert today.note == "" and today.results == tuple(judged)

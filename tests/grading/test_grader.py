"""The grader on real submissions in the real sandbox: points, failures, and a record for each.

Most tests look at one batch. Hostile submissions have tests of their own: ``test_attacks``."""

from __future__ import annotations

import ast
import csv
import json
import os
import re
import unicodedata
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.paths import ROOT
from support.wrong_answers import wrong_answer

from warpwise.errors import GradingError
from warpwise.grading import (
    assignment,
    collect,
    feedback,
    grade,
    gradebook,
    material,
    notebook,
    simulate,
    store,
    visible,
)
from warpwise.grading.grader import Grader, Served
from warpwise.grading.host import judge_function
from warpwise.grading.record import NOT_RUN_AGAIN, Finding, Record, Result, Visible
from warpwise.grading.sandbox import isolation
from warpwise.labs.exercise import LEAST_MOST_BYTES, Call
from warpwise.labs.source import load_lab, solved_notebook, student_notebook

pytestmark = pytest.mark.usefixtures("kept_sandboxes")

LAB = "08_coalescing"
POINTS = {exercise.id: exercise.points for exercise in load_lab(LAB).exercises}
ALL = sum(POINTS.values())
SEED = 20_26
ENDLESS = "def sectors_for(stride, offset, itemsize):\n    while True:\n        pass\n"


# Submissions.


@cache
def _text(solved: bool) -> str:
    return json.dumps(solved_notebook(load_lab(LAB)) if solved else student_notebook(load_lab(LAB)))


def submission(answers: dict[str, str] | None = None) -> dict:
    """Return the solved notebook with some exercises' cells replaced."""
    made = json.loads(_text(True))
    for cell in made["cells"]:
        id = cell["metadata"].get("warpwise", {}).get("id")
        cell["source"] = (answers or {}).get(id, cell["source"])
    return made


def exercise_cells(made: dict) -> list[dict]:
    return [cell for cell in made["cells"] if "id" in cell["metadata"].get("warpwise", {})]


def without_metadata() -> dict:
    """Return a notebook of code cells without ids, tags and kernel, exercises in reverse."""
    made = submission()
    cells = exercise_cells(made)[::-1] + [
        c for c in made["cells"] if c["cell_type"] == "code" and c not in exercise_cells(made)
    ]
    made["cells"] = [
        {"cell_type": "code", "metadata": {}, "source": c["source"].splitlines(True), "outputs": []}
        for c in cells
    ]
    return made | {
        "metadata": {"kernelspec": {"name": "ruby", "display_name": "Ruby"}},
        "nbformat_minor": 2,
    }


def forged() -> dict:
    """Return an untouched lab whose metadata, tags and outputs claim success."""
    made = json.loads(_text(False))
    made["metadata"]["warpwise"] |= {"points": 1000, "passed": True}
    for cell in made["cells"]:
        cell["metadata"]["tags"] = ["nbval-skip", "raises-exception", "given"]
        if "warpwise" in cell["metadata"]:
            cell["metadata"]["warpwise"] |= {"points": 1000, "passed": True, "kind": "given"}
        if cell["cell_type"] == "code":
            cell["outputs"] = [
                {"output_type": "stream", "name": "stdout", "text": "copy_matrix: passed"}
            ]
    return made


def with_copies() -> dict:
    """Return a notebook with each exercise twice: a wrong copy above the answer."""
    made = submission()
    for cell in exercise_cells(made):
        wrong = cell | {
            "source": re.sub(
                r"(def \w+\([^)]*\):).*", r"\1\n    return 1\n", cell["source"], flags=re.S
            ),
            "id": "copy",
        }
        made["cells"].insert(made["cells"].index(cell), wrong)
    return made


def with_retyped_and_renamed() -> dict:
    source = exercise_cells(submission())[list(POINTS).index("transpose")]["source"]
    made = submission({"transpose": source.replace("def transpose(", "def transposed(")})
    exercise_cells(made)[0]["cell_type"] = "markdown"
    return made


def with_device_function() -> dict:
    """Return a notebook with a device function and a constant in the student's own cell.

    The lab's own cell would not have that constant."""
    made = submission(
        {"copy_matrix": "@cuda.jit\ndef copy_matrix(src, dst):\n    move(src, dst, ZERO)\n"}
    )
    mine = """%%time
ZERO = 0


@cuda.jit(device=True)
def move(src, dst, nothing):
    col, row = cuda.grid(2)
    if row < src.shape[0] and col < src.shape[1]:
        dst[row, col] = src[row, col] + nothing
"""
    made["cells"].insert(
        3,
        {
            "cell_type": "code",
            "metadata": {},
            "source": mine,
            "outputs": [],
            "execution_count": None,
        },
    )
    return made


# File name -> (content, points, words of the problem).
SOUND = {
    "good": (submission(), ALL),
    "without_metadata": (without_metadata(), ALL),
    "with_copies": (with_copies(), ALL),
    "untouched": (json.loads(_text(False)), 0),
    "forged": (forged(), 0),
    "with_retyped_and_renamed": (
        with_retyped_and_renamed(),
        ALL - POINTS["copy_matrix"] - POINTS["transpose"],
    ),
    "with_device_function": (with_device_function(), ALL),
    "endless": (submission({"sectors_for": ENDLESS}), ALL - POINTS["sectors_for"]),
}
MALFORMED = {
    "truncated": (_text(True)[: len(_text(True)) // 2], "JSON breaks off"),
    "empty": ("", "empty"),
    "not_json": ("hello", "not a notebook"),
    "not_a_notebook": ("[1, 2]", "not a notebook"),
    "no_cells": ('{"nbformat": 4, "cells": 3}', "no list of cells"),
    "format_3": (json.dumps({"nbformat": 3, "worksheets": [{"cells": []}]}), "format 3"),
    "bytes": ("\udcff\udcfe\udc80", "UTF-8"),
    "deep": ("[" * 200_000, "nested too deeply"),
    "big_number": ('{"nbformat": ' + "9" * 5000 + "}", "not a notebook"),
    "huge": (_text(True) + " " * (10 << 20), "10 MB"),
}


@dataclass(frozen=True)
class Batch:
    """One run of the grader: its findings by student, and what it left behind."""

    records: dict[str, Record]
    out: Path


@pytest.fixture(scope="module")
def batch(sandbox, tmp_path_factory) -> Batch:
    folder = tmp_path_factory.mktemp("batch")
    submissions = folder / "submissions"
    submissions.mkdir()
    for name, (made, _) in SOUND.items():
        (submissions / f"{name}.ipynb").write_text(json.dumps(made))
    for name, (text, _) in MALFORMED.items():
        (submissions / f"{name}.ipynb").write_bytes(text.encode("utf-8", "surrogateescape"))
    (submissions / "zz_last_and_good.ipynb").write_text(json.dumps(submission()))
    (submissions / "linked.ipynb").symlink_to(submissions / "good.ipynb")
    os.mkfifo(submissions / "pipe.ipynb")
    (submissions / "nobody").mkdir()
    odd = submissions / "=cmd|'x'!A1, \"quoted\"\n<script>alert(1)<"
    odd.mkdir()
    (odd / f"{LAB}.ipynb").write_text(json.dumps(submission()))
    (odd / f"{LAB}-Copy1.ipynb").write_text(json.dumps(submission()))
    records = grade(submissions, folder / "grades", lab=LAB, seed=SEED)
    return Batch({r.student: r for r in records if "Copy1" not in r.file}, folder / "grades")


# Sound submissions.


@pytest.mark.parametrize("name", SOUND)
def test_points_are_for_what_is_right(batch: Batch, name: str):
    found = batch.records[name]
    assert (found.points, found.possible, found.problem) == (SOUND[name][1], ALL, ""), [
        r.finding for r in found.results
    ]


def test_a_good_submission_passes_its_own_checks_too(batch: Batch):
    assert [result.visible.outcome for result in batch.records["good"].results] == ["passes"] * len(
        POINTS
    )
    assert [result.visible.outcome for result in batch.records["untouched"].results] == [
        "fails"
    ] * len(POINTS)


def test_what_used_up_a_limit_is_not_run_again(batch: Batch):
    """It would use up the notebook's time too; the other checks run."""
    shown = {result.exercise: result.visible for result in batch.records["endless"].results}
    assert shown.pop("sectors_for") == Visible(NOT_RUN_AGAIN)
    assert set(shown.values()) == {Visible("passes")}
    page = "\n".join(path.read_text() for path in batch.out.rglob("endless*.txt"))
    assert "was not run again, since this answer had been stopped" in " ".join(page.split())


@pytest.mark.parametrize("stem", material.stems(ROOT))
def test_the_re_run_has_every_check_and_needs_no_cell_that_it_leaves_out(stem: str):
    """What ``explore`` cells define is used in no other cell."""
    whole = json.loads((ROOT / f"labs/{stem}.ipynb").read_text())["cells"]
    kept = visible.reference(ROOT, stem)["cells"]
    left_out = [cell for cell in whole if cell not in kept]
    assert left_out and {tag for cell in left_out for tag in cell["metadata"]["tags"]} == {
        "explore"
    }

    def nodes(cells: list) -> list[ast.AST]:
        code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        return list(ast.walk(ast.parse(code)))

    def used(cells: list) -> set[str]:
        return {n.id for n in nodes(cells) if isinstance(n, ast.Name)}

    def bound(cells: list) -> set[str]:
        stored = (n for n in nodes(cells) if isinstance(getattr(n, "ctx", None), ast.Store))
        made = (n for n in nodes(cells) if isinstance(n, (ast.FunctionDef, ast.alias, ast.arg)))
        return {getattr(n, "id", "") for n in stored} | {
            getattr(n, "name", None) or n.arg for n in made
        }

    assert not (bound(left_out) - bound(kept)) & used(kept)


def test_the_last_submission_is_graded_as_the_first(batch: Batch):
    assert batch.records["zz_last_and_good"].results == batch.records["good"].results


def test_an_untouched_lab_is_not_done_yet(batch: Batch):
    assert {result.finding.reason for result in batch.records["untouched"].results} == {
        "not done yet"
    }
    assert {result.finding.reason for result in batch.records["forged"].results} == {"not done yet"}


def test_counters_stand_beside_their_budgets(batch: Batch):
    copy = batch.records["good"].results[0].finding
    assert copy.tried == copy.cases > 3
    assert [counter.name for counter in copy.counters] == [
        "sectors_per_request_load",
        "sectors_per_request_store",
        "global_store_bytes",
        "most_bytes_stored_by_a_warp",
        "global_bytes_moved",
    ]
    assert all(0 < counter.value <= counter.limit for counter in copy.counters)


def test_each_wrong_submission_is_wrong_for_its_reason(sandbox, tmp_path: Path):
    """Two of them suffice here: the labs' tests cover the reason of each."""
    for name in ("bank_conflicts_left_in", "offset_forgotten"):
        (tmp_path / "submissions" / name).mkdir(parents=True)
        answer = wrong_answer(LAB, name)
        (tmp_path / "submissions" / name / f"{LAB}.ipynb").write_text(
            json.dumps(submission({answer.exercise: answer.text}))
        )
    for found in grade(tmp_path / "submissions", tmp_path / "grades", seed=SEED):
        answer = wrong_answer(LAB, found.student)
        assert [(r.exercise, r.finding.reason) for r in found.results if not r.points] == [
            (answer.exercise, answer.reason)
        ]
        assert found.file == f"{found.student}/{LAB}.ipynb"


# Malformed submissions.


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_notebook_is_a_record_with_a_reason(batch: Batch, name: str):
    found = batch.records[name]
    assert MALFORMED[name][1] in found.problem
    assert "\n" not in found.problem
    assert (found.points, found.possible) == (0, ALL)
    page = (batch.out / "feedback" / f"{name}.html").read_text("utf-8")
    assert "could not be graded" in page


@pytest.mark.parametrize(
    ("name", "problem"),
    [("linked", "link"), ("pipe", "regular file"), ("nobody", "handed in nothing")],
)
def test_what_is_no_file_is_a_record_too(batch: Batch, name: str, problem: str):
    assert problem in batch.records[name].problem
    assert batch.records[name].points == 0


def test_a_second_notebook_for_one_lab_is_named_not_counted(batch: Batch):
    rows = [row for row in _rows(batch.out) if "script" in row["student"]]
    assert [row["points"] for row in rows] == [str(ALL), "0"]
    assert "second notebook" in rows[1]["problem"]


@pytest.mark.parametrize(
    "cells",
    [
        [None, 3, "x", [], {}],
        [{"cell_type": "code"}],
        [{"cell_type": "code", "source": 3, "metadata": 4}],
        [
            {
                "cell_type": "code",
                "source": ["def ", 3, None, "f(): pass"],
                "metadata": {"warpwise": "x", "tags": 3},
                "id": 5,
            }
        ],
        [
            {
                "cell_type": "code",
                "source": "\ud800 \x00",
                "metadata": {"warpwise": {"id": {"a": 1}}},
            }
        ],
    ],
)
def test_cells_that_are_no_cells_are_passed_over(tmp_path: Path, cells: list):
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "metadata": [], "cells": cells}))
    assert all(
        isinstance(cell.text, str) and cell.text.encode() is not None
        for cell in notebook.read(path).cells
    )


def test_nbval_markers_are_taken_out():
    text = "#NBVAL_SKIP\n  # NBVAL_RAISES_EXCEPTION  \nx = 1  # NBVAL_SKIP\n### NBVAL_IGNORE_OUTPUT"
    assert notebook.NBVAL_MARKER.sub("#", text) == "#\n#\nx = 1  # NBVAL_SKIP\n#"


def test_ipythons_lines_go_and_line_numbers_stay():
    assert (
        notebook.plain("%%time\n!ls\nhelp?\nx = 5 % 3\ny = x != 2\n")
        == "\n\n\nx = 5 % 3\ny = x != 2\n"
    )


# The gradebook and the pages.


def _rows(out: Path) -> list[dict[str, str]]:
    with open(out / "grades.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_gradebook_has_a_row_for_every_submission(batch: Batch):
    rows = {row["student"]: row for row in _rows(batch.out) if "Copy1" not in row["file"]}
    assert len(rows) == len(batch.records)
    for student, found in batch.records.items():
        row = rows[gradebook.defused(student)]
        assert (float(row["points"]), float(row["possible"])) == (found.points, found.possible)
        assert row["isolated"] == "yes"
        assert {e: float(row[f"{LAB}/{e}"]) for e in POINTS} == {
            r.exercise: r.points for r in found.results
        }


def test_formulas_are_defused(batch: Batch):
    for row in _rows(batch.out):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row.values())
    assert gradebook.defused("=1+1") == "'=1+1"


def test_every_student_has_a_page(batch: Batch):
    pages = {path.name for path in (batch.out / "feedback").iterdir()}
    assert pages == {
        store.file_name(student) + suffix
        for student in batch.records
        for suffix in (".html", ".txt")
    }
    assert all(re.fullmatch(r"[\w-][\w.-]*\.(html|txt)", name) for name in pages)


def test_what_students_and_spreadsheets_get_tells_no_seed_and_no_expected_value(batch: Batch):
    for path in (batch.out / "feedback").iterdir():
        assert str(SEED) not in path.read_text("utf-8"), path
    assert "should be" not in (batch.out / "grades.csv").read_text("utf-8")


def test_a_student_reads_no_text_that_other_student_code_chose(sandbox, tmp_path: Path):
    """Messages and type names could carry hidden inputs out; only Python's own names pass."""
    leak = (
        "def sectors_for(stride, offset, itemsize):\n"
        "    raise type(f'Got{stride}', (ValueError,), {})(f'got {stride}')\n"
    )
    (tmp_path / "s").mkdir()
    (tmp_path / "s/leak.ipynb").write_text(json.dumps(submission({"sectors_for": leak})))
    found = grade(tmp_path / "s", tmp_path / "out", lab=LAB)[0].results[1].finding
    assert (found.reason, found.detail) == ("raised an error", "raised an error of its own")


@pytest.mark.parametrize(
    "name",
    [
        "alice",
        "../../etc/passwd",
        "..",
        ".hidden",
        "a/b",
        "a\\b",
        "con\n",
        "x" * 300,
        "",
        "José",
        "=1+1",
        "ADA",
        "nul.txt",
        "x-0123456789abcdef",
    ],
)
def test_page_names_are_plain_file_names(name: str):
    made = store.file_name(name)
    assert re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", made)
    assert len(made) < 80
    assert made == name or made != store.file_name(name + "x")
    again = store.file_name(made)
    assert made == name or again.casefold() not in (made.casefold(), name)


NAMES = st.text("aA.-_éE\u0301\u0131\u0130\u017fK0f ", max_size=6) | st.text(max_size=6)


@settings(deadline=None)
@given(st.lists(NAMES, unique=True, max_size=8))
@example(["josé", "jos_-d994e1d0", "jose\u0301"])
@example(["ADA", "ada", "Ada", "ada.", "ada "])
@example(["con", "CON", "aux.b", "com1"])
def test_pages_of_different_students_differ_on_every_system(names: list[str]):
    """Some systems fold case or normalize, drop dots at the end, or have devices of these names; a
    student may take the name of another's page."""
    everybody = dict.fromkeys([*names, *map(store.file_name, names)])
    for suffix in ("", ".html"):
        files = [store.file_name(name) + suffix for name in everybody]
        seen = {unicodedata.normalize("NFKC", file).casefold().rstrip(". ") for file in files}
        assert len(seen) == len(everybody)
        assert not any(re.match(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)", f) for f in files)
        assert all(f.isascii() and not f.startswith((".", "-")) for f in files)


def test_pages_under_names_of_an_earlier_version_are_removed(sandbox, tmp_path: Path):
    made, out = tmp_path / "submissions", tmp_path / "out"
    made.mkdir()
    (made / "josé.ipynb").write_text(json.dumps(submission({})))
    (out / "feedback").mkdir(parents=True)
    for name in ("jos_-d994e1d0.html", "jos_-d994e1d0.txt", "mine.html"):
        (out / "feedback" / name).write_text("")
    grade(made, out, lab=LAB)
    name = store.file_name("josé")
    assert {path.name for path in (out / "feedback").iterdir()} == {
        f"{name}.html",
        f"{name}.txt",
        "mine.html",
    }


# Whole runs.


@pytest.fixture
def class_of_two(tmp_path: Path) -> Path:
    folder = tmp_path / "submissions"
    folder.mkdir()
    (folder / "ada.ipynb").write_text(json.dumps(submission()))
    (folder / "bob.ipynb").write_text(_text(False))
    return folder


def test_a_run_can_be_repeated_from_its_seed(sandbox, class_of_two: Path, tmp_path: Path):
    grade(class_of_two, tmp_path / "first", lab=LAB)
    about = json.loads((tmp_path / "first/run.json").read_text())
    assert about["isolated"] is True and about["labs"] == {LAB: load_lab(LAB).version}
    grade(class_of_two, tmp_path / "second", lab=LAB, seed=about["seed"])
    grade(class_of_two, tmp_path / "third", lab=LAB)
    texts = [
        (tmp_path / run / "feedback/ada.html").read_text() for run in ("first", "second", "third")
    ]
    assert texts[0] == texts[1] != texts[2]
    assert (
        len({(tmp_path / run / "grades.csv").read_text() for run in ("first", "second", "third")})
        == 1
    )


def test_progress_is_told_for_each_submission(sandbox, class_of_two: Path, tmp_path: Path, capfd):
    seen = []
    grade(
        class_of_two,
        tmp_path / "out",
        progress=lambda done, all, found: seen.append((done, all, found.student)),
    )
    assert seen == [(1, 2, "ada"), (2, 2, "bob")]
    assert capfd.readouterr() == ("", "")
    grade(class_of_two, tmp_path / "another", progress=True)
    told = capfd.readouterr().err
    assert f"'bob.ipynb'  0 of {ALL} points" in told and "2/2" in told


@pytest.mark.slow
def test_unsafe_local_grades_alike_and_says_so(class_of_two: Path, tmp_path: Path):
    hostile = (ROOT / f"tests/course/{LAB}/attacks/ends_the_process.py").read_text()
    (class_of_two / "cid.ipynb").write_text(json.dumps(submission({"sectors_for": hostile})))
    found = grade(class_of_two, tmp_path / "out", unsafe_local=True)
    assert [r.points for r in found] == [ALL, 0, ALL - 2]
    assert [r.isolated for r in found] == [False] * 3
    assert {row["isolated"] for row in _rows(tmp_path / "out")} == {"not isolated"}
    assert json.loads((tmp_path / "out/run.json").read_text())["isolated"] is False
    assert "Not isolated" in (tmp_path / "out/feedback/ada.html").read_text()


def test_a_warm_process_serves_one_submission_after_another():
    served = Served(simulate.serving)
    try:
        assert served.get() is served.get() is not None
    finally:
        served.close()


def test_an_error_of_the_grader_itself_is_one_submissions_problem(
    sandbox, class_of_two: Path, tmp_path: Path, monkeypatch
):
    real = notebook.read

    def reads_all_but_one(path: Path):
        if path.stem == "ada":
            raise ZeroDivisionError("a mistake of ours")
        return real(path)

    monkeypatch.setattr(notebook, "read", reads_all_but_one)
    ada, bob = grade(class_of_two, tmp_path / "out", lab=LAB)
    assert "the grader failed" in ada.problem and ada.points == 0
    assert bob.problem == ""


def test_only_what_the_wall_clock_ended_is_graded_again_and_once(
    sandbox, class_of_two: Path, tmp_path: Path, monkeypatch
):
    """A busy machine may have been to blame, once."""
    seen = []

    def ended(self, task):
        seen.append(task.record.student)
        reason = "timed out" if task.record.student == "ada" else "too slow"
        return replace(task.record, results=(Result("sectors_for", 2, Finding(False, reason)),))

    monkeypatch.setattr(Grader, "record", ended)
    for _ in range(2):
        assert [
            r.results[0].finding.reason for r in grade(class_of_two, tmp_path / "out", lab=LAB)
        ] == ["timed out", "too slow"]
        assert seen == ["ada", "bob", "ada"]


def test_of_a_choice_the_best_counts():
    right, wrong, untouched = (
        Finding(True, "passed"),
        Finding(False, "wrong result"),
        Finding(False, "not done yet"),
    )

    def record_of(*findings):
        chosen = [
            Result(name, 5, finding, choice="one")
            for name, finding in zip("bcd", findings, strict=True)
        ]
        return Record("s", "s.ipynb", LAB, (Result("a", 2, right), *chosen))

    assert (
        record_of(wrong, right, untouched).points,
        record_of(wrong, right, untouched).possible,
    ) == (7, 7)
    assert [r.exercise for r in record_of(untouched, wrong, right).scored] == ["a", "d"]
    assert [r.exercise for r in record_of(untouched, wrong, wrong).scored] == ["a", "c"]
    assert [r.exercise for r in record_of(untouched, untouched, untouched).scored] == ["a", "b"]
    page = feedback.page("s", [record_of(untouched, wrong, right)], {})
    assert (
        "b: not chosen" in page
        and "does not count: another exercise of the choice does" in page
        and "5 of 5 points" in page
    )


def test_exercises_under_one_heading_are_told_by_the_heading_below():
    found = feedback.questions(load_lab("19_capstone"))
    assert [one.title for one in found.values()] == ["Sliding window", "ALiBi", "Soft cap"]
    assert len({one.objective for one in found.values()}) == 1 and all(
        one.objective for one in found.values()
    )
    assert feedback.questions(load_lab(LAB))["copy_matrix"].title == "1. Copy a matrix"


ASKED = "a tuple of an array of one dimension, one number was asked for"
BOTH = Call("both", (2, np.arange(3.0)), (np.arange(3.0) + 2, 2))


@pytest.mark.parametrize(
    ("body", "reason", "detail"),
    [
        ("return x + n, n", "passed", ""),
        ("return x + n, n + 1", "wrong result", ""),
        ("return x[:2], n", "wrong result", f"returned numbers of another shape; {ASKED}"),
        ("return [x + n, n]", "wrong type", f"returned list; {ASKED}"),
        ("return x + n", "wrong type", f"returned ndarray; {ASKED}"),
        ("return x / 0, 1 // 0", "raised an error", "raised ZeroDivisionError"),
    ],
)
def test_a_tuple_comes_out_of_the_sandbox(sandbox, body, reason, detail):
    found = judge_function(f"def two(n, x):\n    {body}\n", "two", [BOTH, BOTH], isolation())
    assert (found.reason, found.detail, found.tried) == (reason, detail, 2)


SCORES = """import numpy as np
def scores(n, rows):
    total = 0.0
    for first in range(0, n, rows):
        total += np.exp(np.zeros((rows, n), np.float32)).sum(dtype=np.float64)
    return total
"""


def test_the_memory_of_a_function_is_seen_from_outside(sandbox):
    def finding(rows):
        calls = [
            Call("few", (64, 16), 64.0**2),
            Call("many", (6144, rows), 6144.0**2, most_bytes=LEAST_MOST_BYTES),
        ]
        return judge_function(SCORES, "scores", calls, isolation())

    assert finding(256).passed
    found = finding(6144)
    assert (found.reason, found.case, found.tried) == (
        "over budget: memory",
        "many",
        2,
    ) and "one tile" in found.advice


HOARDED = """import os, time
def hoarded(n):
    if n == 1 and not os.fork():
        held = b"1" * (300 << 20)
        time.sleep(60)
    time.sleep(n - 1)
    return n
"""


def test_memory_that_a_child_holds_on_to_is_the_limited_calls(sandbox):
    calls = [Call("one", (1,), 1, most_bytes=LEAST_MOST_BYTES), Call("ten", (10,), 10)]
    found = judge_function(HOARDED, "hoarded", calls, isolation())
    assert (found.reason, found.case) == ("over budget: memory", "one")


def test_labs_are_recognised_by_name_by_what_a_notebook_says_and_by_its_exercises(tmp_path: Path):
    labs = ["07_memory", LAB]
    ids = {"07_memory": {"walk"}, LAB: set(POINTS)}
    made = submission()
    (tmp_path / "ada").mkdir()
    (tmp_path / f"ada/doe_1234_{LAB}-2.ipynb").write_text("not even read")
    (tmp_path / "ada/07_memory.ipynb").write_text("nor this")
    (tmp_path / "bob.ipynb").write_text(json.dumps(made))
    (tmp_path / "cid.ipynb").write_text(json.dumps(made | {"metadata": {}}))
    (tmp_path / "dan.ipynb").write_text(json.dumps({"nbformat": 4, "cells": []}))

    def told(wanted: str | None) -> dict[str, str]:
        found = collect.find(tmp_path).submissions
        assigned = assignment.assign_labs(found, labs, wanted, ids, lambda said: assignment.GRADE)
        return {s.file: s.lab for s in assigned.submissions}

    assert told(None) == {
        "ada/07_memory.ipynb": "07_memory",
        f"ada/doe_1234_{LAB}-2.ipynb": LAB,
        "bob.ipynb": LAB,
        "cid.ipynb": LAB,
        "dan.ipynb": LAB,  # which cannot be told: then it is of the only lab assigned
    }
    assert told(LAB) == {
        f"ada/doe_1234_{LAB}-2.ipynb": LAB,
        "bob.ipynb": LAB,
        "cid.ipynb": LAB,
        "dan.ipynb": LAB,
    }


# Bad input.


@pytest.mark.parametrize(
    ("make", "lab", "says"),
    [
        (lambda folder: None, None, "no folder"),
        (lambda folder: folder.write_text("x"), None, "no zip or tar archive"),
        (lambda folder: folder.mkdir(), None, "no notebook"),
        (lambda folder: (folder / "ada").mkdir(parents=True), None, "no notebook"),
        (
            lambda folder: (folder.mkdir(), (folder / "ada.ipynb").write_text("{}")),
            "99_nothing",
            "99_nothing",
        ),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(tmp_path: Path, make, lab: str | None, says: str):
    make(tmp_path / "submissions")
    with pytest.raises(GradingError, match=says) as caught:
        grade(tmp_path / "submissions", tmp_path / "out", lab=lab)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_out_is_a_folder_elsewhere(class_of_two: Path, tmp_path: Path):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(GradingError, match="is a file"):
        grade(class_of_two, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "kept"
    with pytest.raises(GradingError, match="inside the submissions folder"):
        grade(class_of_two, class_of_two / "grades")
    assert sorted(p.name for p in class_of_two.iterdir()) == ["ada.ipynb", "bob.ipynb"]


def test_hidden_tests_among_the_submissions_are_not_run(class_of_two: Path, tmp_path: Path):
    (class_of_two / f"tests/course/{LAB}").mkdir(parents=True)
    (class_of_two / f"tests/course/{LAB}/hidden.py").write_text(
        f"open({str(tmp_path / 'pwned')!r}, 'w')"
    )
    with pytest.raises(GradingError, match="inside the submissions folder"):
        grade(class_of_two, tmp_path / "out", course=class_of_two)
    assert not (tmp_path / "pwned").exists()


def test_modules_among_the_submissions_are_not_imported(
    sandbox, class_of_two: Path, tmp_path: Path, monkeypatch
):
    """An instructor may well run the grader in the submissions folder."""
    names = [f"{name}.py" for name in ("json", "numpy", "warpwise", "pytest", "sitecustomize")]
    for name in names:
        (class_of_two / name).write_text(f"open({str(tmp_path / 'pwned')!r}, 'w')")
    monkeypatch.chdir(class_of_two)
    records = {r.file: r for r in grade(".", tmp_path / "out")}
    assert records.pop("ada.ipynb").points == ALL and records.pop("bob.ipynb").points == 0
    assert {file: r.problem for file, r in records.items()} == {
        name: f"handed in {name}, no notebook" for name in names
    }
    assert not (tmp_path / "pwned").exists()


def test_an_exercise_without_hidden_cases_is_refused(class_of_two: Path, tmp_path: Path):
    course = tmp_path / "course"
    for name in ("solutions", "labs"):
        (course / name).mkdir(parents=True)
    (course / f"solutions/{LAB}.md").write_text((ROOT / f"solutions/{LAB}.md").read_text())
    (course / f"tests/course/{LAB}").mkdir(parents=True)
    tests = course / f"tests/course/{LAB}/hidden.py"
    broken = {
        "def copy_matrix(rng):\n    return []\n": "at least one",
        "x = 1\n": "no function",
        "1 / 0\n": "cannot be imported",
    }
    for text, says in broken.items():
        tests.write_text(text)
        with pytest.raises(GradingError, match=says):
            grade(class_of_two, tmp_path / "out", course=course)
    assert not (tmp_path / "out").exists()

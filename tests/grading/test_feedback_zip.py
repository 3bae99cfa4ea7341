"""Feedback in an archive: each page goes to its student, by the rules of Canvas and of Moodle.

``canvas_finds`` and ``moodle_finds`` read a name as the platforms do."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from pathlib import Path, PurePosixPath

import pytest
from typer.testing import CliRunner

from warpwise.cli import app
from warpwise.errors import GradingError
from warpwise.grading import feedback_zip, platforms, store
from warpwise.grading.feedback_zip import AS_UPLOADED, Packed, pack
from warpwise.grading.layouts import Entry, Layout, submissions_of
from warpwise.grading.record import Record
from warpwise.grading.store import file_name
from warpwise.labs.source import load_lab

COALESCING, FUSION = "08_coalescing", "06_fusion"
PAGE = "feedback-08-coalescing.html"


def canvas_finds(name: str) -> tuple[str, str] | None:
    """Return user and upload as infer_comment_context_from_filename of Canvas does."""
    words = [word for word in PurePosixPath(name).name.split("_") if word != "LATE"]
    if words[0] == "anon":
        return words[1], words[2]
    numbers = [word for word in words if re.fullmatch("[0-9]+", word)]
    if len(numbers) < 2 or words[-1].startswith("link") or name.startswith("._"):
        return None
    return numbers[0], numbers[1]


def moodle_finds(name: str) -> tuple[str, str, str] | None:
    """Return participant, plugin and the feedback's name as importziplib.php does."""
    *folders, last = name.split("/")
    if last.startswith((".", "~")):
        return None
    parts = [*folders, last]
    while parts:
        words = parts.pop(0).split("_", 4)
        if len(words) >= 4 and words[1].isdigit():
            rest = "/".join([words[4] if len(words) == 5 else "", *parts])
            return words[1], "_".join(words[2:4]), rest.lstrip("/")
    return None


def graded(folder: Path, platform: str, names: list[str], lab: str = COALESCING) -> Path:
    """Write a graded folder of submissions with these names in a platform's download."""
    (folder / "records").mkdir(parents=True, exist_ok=True)
    (folder / "feedback").mkdir(exist_ok=True)
    about = {"seed": 1, "labs": {stem: load_lab(stem).version for stem in (FUSION, COALESCING)}}
    (folder / "run.json").write_text(json.dumps(about))
    for name in names:
        entry = Entry(name.partition("/")[0], "/" in name)
        (found,) = submissions_of(Layout(platform, folder, ()), entry)
        one = Record(found.student, name, lab, name=found.name)
        store.keep(folder, store.Kept("key", 1, one))
        (folder / "feedback" / f"{file_name(found.student)}.html").write_text(f"page of {name}")
    return folder


def packed(folder: Path, platform: str, lab: str = "") -> tuple[Packed, dict[str, str]]:
    out = folder.parent / "feedback.zip"
    made = pack(folder, platform, out, lab)
    with zipfile.ZipFile(out) as archive:
        return made, {name: archive.read(name).decode() for name in archive.namelist()}


CANVAS_NAMES = {
    "lovelaceada_4711_90210_08_coalescing-1.ipynb": ("4711", "90210"),
    "bitdiddleben_LATE_4712_90211_link_08.ipynb": ("4712", "90211"),
    "4713_4714_90212_x.ipynb": ("4714", "90212"),  # who is called 4713
    "anon_x7g2s_90213_lab.ipynb": ("x7g2s", "90213"),
    "anon_4715_90214_lab.ipynb": ("4715", "90214"),  # a user called Anon
    "müllerfay_4716_90215_1_2_lab.zip/lab.ipynb": ("4716", "90215"),
    "a_1_2_b": None,
}


def test_canvas_finds_each_student(tmp_path: Path):
    names = [name for name, found in CANVAS_NAMES.items() if found]
    made, pages = packed(graded(tmp_path / "graded", "canvas", names), "canvas")
    assert not made.left_out and tuple(pages) == made.names
    assert {canvas_finds(name): page for name, page in pages.items()} == {
        CANVAS_NAMES[name]: f"page of {name}" for name in names
    }
    ours = {name: platforms.canvas(name) for name in pages}  # a round trip through our reader
    assert {(one.student.removeprefix("anon_"), one.file) for one in ours.values() if one} == {
        found for found in CANVAS_NAMES.values() if found
    }
    assert all(name.endswith(PAGE) for name in pages)


MOODLE_NAMES = {
    "Ada Lovelace_501_assignsubmission_file_/lab.ipynb": "501",
    "Ben O'Neil, Jr._502_assignsubmission_file/lab.ipynb": "502",
    "Fay Müller_503_assignsubmission_file_08_coalescing.ipynb": "503",
    "李 雷_504_assignsubmission_onlinetext/onlinetext.html": "504",
    "Participant_505_assignsubmission_file/lab.ipynb": "505",
}


def test_moodle_finds_each_student(tmp_path: Path):
    made, pages = packed(graded(tmp_path / "graded", "moodle", list(MOODLE_NAMES)), "moodle")
    assert not made.left_out
    for name, page in pages.items():
        number, plugin, rest = moodle_finds(name) or ("", "", "")
        assert MOODLE_NAMES[page.removeprefix("page of ")] == number
        assert plugin in ("assignsubmission_file", "assignsubmission_onlinetext") and rest == PAGE
        ours = platforms.moodle(name.partition("/")[0])
        assert ours and ours.file == number
    assert f"Ada Lovelace_501_assignsubmission_file/{PAGE}" in pages  # as in the download


HOSTILE = [
    "..", "~root", ".hidden", "C:\\x", "a\u202egnp", "x" * 200, "a\nb", "=1+1", "", "-rf", "a:b",
]  # fmt: skip


def test_names_that_students_choose_lead_nowhere(tmp_path: Path):
    names = [f"{name}_{600 + at}_assignsubmission_file" for at, name in enumerate(HOSTILE)]
    names = [f"{name}/lab.ipynb" if at % 2 else f"{name}_x" for at, name in enumerate(names)]
    made, pages = packed(graded(tmp_path / "graded", "moodle", names), "moodle")
    assert len(pages) == len(names) and not made.left_out
    assert {(moodle_finds(name) or "?")[0] for name in pages} == {
        str(600 + at) for at in range(len(names))
    }
    for name in pages:
        parts = PurePosixPath(name).parts
        assert len(parts) <= 2 and ".." not in parts and not name.startswith(("/", ".", "~"))
        assert name.isprintable() and "\\" not in name and ":" not in name and len(name) < 160
    with zipfile.ZipFile(tmp_path / "feedback.zip") as archive:
        archive.extractall(tmp_path / "unpacked")
    written = [path for path in (tmp_path / "unpacked").rglob("*") if path.is_file()]
    assert len(written) == len(names)


def test_the_same_pages_give_the_same_bytes(tmp_path: Path):
    folder = graded(tmp_path / "graded", "canvas", ["lovelaceada_4711_90210_lab.ipynb"])
    pack(folder, "canvas", tmp_path / "a.zip")
    pack(folder, "canvas", tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


@pytest.mark.parametrize(
    ("platform", "name", "why"),
    [
        ("canvas", "noupload_4713_text.html", feedback_zip.NO_UPLOAD),
        ("moodle", "Group A_assignsubmission_file/lab.ipynb", feedback_zip.NO_NUMBER),
        ("moodle", "Twin_501_assignsubmission_file/lab.ipynb", feedback_zip.TWICE),
    ],
)
def test_who_could_not_be_found_is_left_out_with_a_reason(
    tmp_path: Path, platform: str, name: str, why: str
):
    first = {
        "canvas": "lovelaceada_4711_90210_lab.ipynb",
        "moodle": "Twin_501_assignsubmission_file/a.ipynb",
    }
    folder = graded(tmp_path / "graded", platform, [first[platform], name])
    if why == feedback_zip.TWICE:  # two people with one name and number, as no platform writes
        store.keep(folder, store.Kept("key", 1, Record("Twin 501", name, COALESCING)))
    made, pages = packed(folder, platform)
    assert len(pages) == 1 and made.left_out == ((name, why),)


def test_a_page_that_is_gone_or_a_number_not_on_the_roster_is_left_out(tmp_path: Path):
    names = [f"{who}_{at}_assignsubmission_file/lab.ipynb" for at, who in enumerate("ABCD", 501)]
    folder = graded(tmp_path / "graded", "moodle", names)
    (folder / "feedback" / f"{file_name('A')}.html").unlink()
    sheet = tmp_path / "sheet.csv"
    with sheet.open("w", newline="") as file:
        csv.writer(file).writerows(
            [
                ["Identifier", "Full name", "Email address", "Grade"],
                ["Participant 501", "A", "a@uni.edu", ""],
                ["Participant 7", "B", "b@uni.edu", ""],
                ["Participant 504", "E", "e@uni.edu", ""],  # so D is a group with that number
            ]
        )
    about = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(about | {"settings": {"roster": str(sheet)}}))
    made, pages = packed(folder, "moodle")
    assert dict(made.left_out) == {
        names[0]: feedback_zip.NO_PAGE,
        names[1]: feedback_zip.OTHER_NUMBER,
        names[3]: feedback_zip.OTHER_NUMBER,
    }
    assert list(pages.values()) == [f"page of {names[2]}"]  # not on the roster, but in the download


def test_one_lab_at_a_time(tmp_path: Path):
    folder = graded(tmp_path / "graded", "canvas", ["a_1_11_x.ipynb", "b_2_12_x.ipynb"])
    graded(folder, "canvas", ["a_1_13_y.ipynb"], FUSION)
    with pytest.raises(GradingError, match="06_fusion, 08_coalescing: choose one with --lab"):
        packed(folder, "canvas")
    _, pages = packed(folder, "canvas", FUSION)
    assert list(pages) == ["a_1_13_feedback-06-fusion.html"]
    with pytest.raises(GradingError, match="nothing was handed in for '09'"):
        packed(folder, "canvas", "09")


def test_a_file_that_is_no_notebook_has_its_page_in_the_archive(tmp_path: Path):
    folder = graded(tmp_path / "graded", "canvas", ["a_1_11_x.ipynb"])
    pdf = Record("2", "b_2_12_notes.pdf", problem="not a notebook")
    store.keep(folder, store.Kept("key", 1, pdf))
    (folder / "feedback" / "2.html").write_text("no notebook")
    _, pages = packed(folder, "canvas")
    assert pages["b_2_12_feedback.html"] == "no notebook" and len(pages) == 2


def test_a_download_of_another_platform_writes_nothing(tmp_path: Path):
    folder = graded(tmp_path / "graded", "plain", ["ada.ipynb"])
    with pytest.raises(GradingError, match="no page can be packed for Canvas; for example 'ada"):
        packed(folder, "canvas")
    assert not (tmp_path / "feedback.zip").exists()


def run(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_command(tmp_path: Path):
    folder = graded(tmp_path / "graded", "canvas", ["a_1_11_x.ipynb", "b_2_text.html"])
    out = tmp_path / "feedback.zip"
    done = run("feedback", folder, "--zip", "canvas", "--lab", COALESCING, "--out", out)
    assert (done.exit_code, done.stdout) == (0, f"1 page: see {out}\n")
    assert done.stderr.splitlines() == [
        f"warpwise: {AS_UPLOADED}",
        f"warpwise: not packed: 'b_2_text.html': {feedback_zip.NO_UPLOAD}",
    ]
    assert run("feedback", folder, "1").stdout == f"{folder}/feedback/1.html\n"


@pytest.mark.parametrize(
    "arguments",
    [[], ["--zip", "canvas"], ["--lab", "x"], ["1", "--zip", "canvas", "--out", "x.zip"]],
)
def test_half_a_command_is_one_line(tmp_path: Path, arguments: list[str]):
    folder = graded(tmp_path / "graded", "canvas", ["a_1_11_x.ipynb"])
    done = run("feedback", folder, *arguments)
    assert done.exit_code == 2 and len(done.stderr.splitlines()) == 1
    assert "name a STUDENT to see a page, or pack all" in done.stderr

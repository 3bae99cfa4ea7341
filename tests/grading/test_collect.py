"""Submissions as people and platforms hand them over: folders, archives, and hostile archives."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import random
import shlex
import stat
import subprocess
import sys
import tarfile
import tracemalloc
import zipfile
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from support.files import made

from warpwise.errors import GradingError
from warpwise.grading import archives, assignment, collect, members, notebook, platforms
from warpwise.grading.collect import Submission

LAB, OTHER = "08_coalescing", "01_why_gpus"
IDS = {LAB: {"transpose"}, OTHER: {"square"}}
NOTEBOOK = json.dumps(
    {"nbformat": 4, "metadata": {"warpwise": {"lab": LAB, "version": "abc123"}}, "cells": []}
)
NOON = datetime(2026, 2, 3, 12, tzinfo=UTC)
METADATA = """---
submission_11:
  :submitters:
  - :name: Ada Lovelace
    :sid: '0042'
    :email: ada@example.org
  :created_at: 2026-02-03 12:00:00.326785000 Z
  :score: 3.0
  :results: {}
submission_12:
  :submitters:
  - :name: Bob Noyce
    :email: bob@example.org
  - :name: "Cid: Grace"
    :sid: '7'
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: 2026-02-03 12:00:00 Z
    zone: !ruby/object:ActiveSupport::TimeZone
      name: America/Los_Angeles
submission_13:
  :submitters:
  - :name: Dan Nobook
    :sid: '8'
  :created_at: !!python/object/apply:os.system ["touch pwned"]
"""


def zipped(files: dict[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def tarred(files: dict[str, str | bytes | tarfile.TarInfo]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
                continue
            content = content if isinstance(content, bytes) else content.encode()
            about = tarfile.TarInfo(name)
            about.size, about.type = (
                len(content),
                tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE,
            )
            archive.addfile(about, io.BytesIO(content))
    return packed.getvalue()


def found(source: Path, unpacked: Path | None = None) -> dict[str, Submission]:
    return {s.file: s for s in collect.find(source, unpacked).submissions}


def graded(source: Path, unpacked: Path | None = None) -> dict[str, str]:
    """Map students to the file that counts for the lab."""
    told = told_of(collect.find(source, unpacked).submissions)
    return {s.student: s.file for s in told if not s.problem and s.lab == LAB}


def told_of(submissions, labs=(OTHER, LAB), wanted: str | None = None) -> tuple[Submission, ...]:
    return assignment.assign_labs(submissions, labs, wanted, IDS).submissions


# Layouts.

PLAIN = {
    "alice.ipynb": NOTEBOOK,
    "bob/08_coalescing.ipynb": NOTEBOOK,
    "bob/timestamp.txt": "2026-02-03 12:00:00 UTC",
    "README.md": "no",
}
NBGRADER = {
    "submitted/ada/hw1/08_coalescing.ipynb": NOTEBOOK,
    "submitted/ada/hw1/timestamp.txt": "2026-02-03 12:00:00.000000 UTC\n",
    "submitted/bob/08_coalescing/answers.ipynb": NOTEBOOK,
    "submitted/bob/08_coalescing/timestamp.txt": "2026-02-03 04:00:00 America/Los_Angeles",
    "submitted/cid/": "",
    "release/hw1/08_coalescing.ipynb": NOTEBOOK,
    "autograded/ada/hw1/08_coalescing.ipynb": NOTEBOOK,
}
CANVAS = {
    "lovelaceada_4711_90210_08_coalescing.ipynb": NOTEBOOK,
    "lovelaceada_4711_90317_08_coalescing-1.ipynb": NOTEBOOK,
    "lovelaceada_4711_90318_08_coalescing-10.ipynb": NOTEBOOK,
    "o2brien_jr_LATE_4712_90400_my answers (2).ipynb": NOTEBOOK,
    "anon_Ab3x9_90500_08_coalescing.ipynb": NOTEBOOK,
    "noycebob_4713_90600_report.pdf": "%PDF",
    "smithcyd_LATE_4714_text.html": "hello",
}
MOODLE = {
    "Ada Lovelace_1234_assignsubmission_file_/08_coalescing.ipynb": NOTEBOOK,
    "Ada Lovelace_1234_assignsubmission_file_/timestamp.txt": "2026-02-03 12:00:00 UTC",
    "Ada Lovelace_1234_assignsubmission_onlinetext_/onlinetext.html": "hello",
    "José Núñez_1235_assignsubmission_file/deeper/work.ipynb": NOTEBOOK,
    "Participant_1_assignsubmission_file_/08_coalescing.ipynb": NOTEBOOK,
    "Participant_2_assignsubmission_file_/08_coalescing.ipynb": NOTEBOOK,
    "Bob Noyce_1236_assignsubmission_onlinetext_/onlinetext.html": "hello",
}
MOODLE_FLAT = {
    "Ada Lovelace_1234_assignsubmission_file_08_coalescing.ipynb": NOTEBOOK,
    "Bob Noyce_1236_assignsubmission_onlinetext_onlinetext.html": "hello",
}
GRADESCOPE = {
    "assignment_99_export/submission_metadata.yml": METADATA,
    "assignment_99_export/submission_11/08_coalescing.ipynb": NOTEBOOK,
    "assignment_99_export/submission_11/timestamp.txt": "2020-01-01 00:00:00 UTC",
    "assignment_99_export/submission_12/08_coalescing.ipynb": NOTEBOOK,
    "__MACOSX/assignment_99_export/._submission_metadata.yml": "x",
}


@pytest.fixture(params=["folder", "zip", "tar.gz", "zip of the folder"])
def as_handed_over(request, tmp_path: Path):
    """A function that turns files into (source, unpacked), as a folder or packed."""

    def make(files: dict[str, str]) -> tuple[Path, Path]:
        folder, unpacked = made(tmp_path / "handed over" / "class", files), tmp_path / "unpacked"
        if request.param == "folder":
            return folder, unpacked
        inner = {
            str(p.relative_to(folder)) + "/" * p.is_dir(): b"" if p.is_dir() else p.read_bytes()
            for p in sorted(folder.rglob("*"))
        }
        if request.param == "zip of the folder":
            inner = {f"class/{name}": content for name, content in inner.items()}
        packed = gzip.compress(tarred(inner)) if "tar" in request.param else zipped(inner)
        source = tmp_path / f"class.{request.param.split()[0]}"
        source.write_bytes(packed)
        return source, unpacked

    return make


def test_a_plain_folder(as_handed_over):
    told = found(*as_handed_over(PLAIN))
    assert {(s.student, s.file, s.submitted, s.platform) for s in told.values()} == {
        ("alice", "alice.ipynb", None, "plain"),
        ("bob", "bob/08_coalescing.ipynb", None, "plain"),  # the time may be bob's to write
    }


def test_nbgraders_tree(as_handed_over):
    source, unpacked = as_handed_over(NBGRADER)
    told = found(source, unpacked)
    assert {(s.student, s.file, s.submitted, s.platform) for s in told.values()} == {
        ("ada", "ada/hw1/08_coalescing.ipynb", NOON, "nbgrader"),
        ("bob", "bob/08_coalescing/answers.ipynb", NOON, "nbgrader"),
        ("cid", "cid", None, "nbgrader"),
    }
    assert told["cid"].problem == "handed in nothing: an empty folder or archive"
    if source.is_dir():
        assert found(source / "submitted") == told


def test_an_assignments_folder_names_the_lab(tmp_path: Path):
    made(
        tmp_path,
        {
            "submitted/bob/08_coalescing/answers.ipynb": "not read",
            "submitted/bob/other/x.ipynb": NOTEBOOK.replace(LAB, "none"),
        },
    )
    told = told_of(collect.find(tmp_path).submissions, wanted=OTHER)
    assert [(s.file, s.lab) for s in told] == [("bob/other/x.ipynb", OTHER)]


def test_canvas(as_handed_over):
    source, unpacked = as_handed_over(CANVAS)
    told = {s.student: s for s in collect.find(source, unpacked).submissions if not s.problem}
    assert {(s.student, s.name, s.late, s.platform) for s in told.values()} == {
        ("4711", "lovelaceada", False, "canvas"),
        ("4712", "o2brien_jr", True, "canvas"),
        ("anon_Ab3x9", "", False, "canvas"),
    }
    assert graded(source, unpacked)["4711"] == "lovelaceada_4711_90318_08_coalescing-10.ipynb"
    for file, name in (
        ("noycebob_4713_90600_report.pdf", "report.pdf"),
        ("smithcyd_LATE_4714_text.html", "text.html"),
    ):
        assert found(source, unpacked)[file].problem == f"handed in {name}, no notebook"


def test_a_plain_folder_whose_names_look_like_canvas(tmp_path: Path):
    made(tmp_path, {f"lab_2026_1_{name}.ipynb": NOTEBOOK for name in ("ada", "bob", "cid")})
    assert {s.student for s in collect.find(tmp_path).submissions} == {
        "lab_2026_1_ada",
        "lab_2026_1_bob",
        "lab_2026_1_cid",
    }


def test_moodle(as_handed_over):
    told = found(*as_handed_over(MOODLE))
    assert {(s.student, s.name, s.submitted) for s in told.values()} == {
        ("Ada Lovelace", "Ada Lovelace", None),  # the time in her folder is hers to write
        ("José Núñez", "José Núñez", None),
        ("Participant 1", "Participant", None),
        ("Participant 2", "Participant", None),
        ("Bob Noyce", "Bob Noyce", None),
    }
    assert {s.student for s in told.values() if s.problem} == {"Bob Noyce"}


def test_moodle_without_folders(as_handed_over):
    source, unpacked = as_handed_over(MOODLE_FLAT)
    assert {
        s.student: s.title for s in collect.find(source, unpacked).submissions if not s.problem
    } == {"Ada Lovelace": "08_coalescing.ipynb"}


def test_gradescope(as_handed_over):
    source, unpacked = as_handed_over(GRADESCOPE)
    told = found(source, unpacked)
    late = NOON + timedelta(microseconds=326785)
    assert {(s.student, s.name, s.file, s.submitted, s.platform) for s in told.values()} == {
        ("0042", "Ada Lovelace", "submission_11/08_coalescing.ipynb", late, "gradescope"),
        (
            "bob@example.org",
            "Bob Noyce",
            "submission_12 (bob@example.org)/08_coalescing.ipynb",
            NOON,
            "gradescope",
        ),
        ("7", "Cid: Grace", "submission_12 (7)/08_coalescing.ipynb", NOON, "gradescope"),
        ("8", "Dan Nobook", "submission_13", None, "gradescope"),
    }
    assert "does not hold it" in told["submission_13"].problem
    assert set(graded(source, unpacked)) == {"0042", "bob@example.org", "7"}
    assert not Path("pwned").exists()


@pytest.mark.parametrize(
    "text",
    [
        "- a\n- b\n",
        "a: b\n",
        "a: [",
        "\x00",
        "x: {:submitters: 3}\n? [1]\n: {}\n",
        "[" * 100_000,
        "a: " * 3000,
        "&a [*a]",
        "? &a [*a]\n: {}",
    ],
)
def test_odd_metadata_is_one_clear_line(tmp_path: Path, text: str):
    made(tmp_path, {"submission_metadata.yml": text, "submission_1/x.ipynb": NOTEBOOK})
    with pytest.raises(GradingError, match=r"submission_metadata\.yml") as problem:
        collect.find(tmp_path)
    assert "\n" not in str(problem.value) and len(str(problem.value)) < 300


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-02-03 12:00:00.000001 UTC", NOON + timedelta(microseconds=1)),
        ("2026-02-03 12:00:00", NOON),
        ("2026-02-03T12:00:00Z", NOON),
        ("2026-02-03 12:00:00.1234567 Z", NOON + timedelta(microseconds=123456)),
        ("2026-02-03 13:30:00 +0130", NOON),
        (
            "2026-02-03 04:00:00 -08:00",
            datetime(2026, 2, 3, 4, tzinfo=timezone(timedelta(hours=-8))),
        ),
        ("2026-02-03 04:00:00 America/Los_Angeles", NOON),
        *(
            (text, None)
            for text in (
                "",
                "yesterday",
                "2026-02-30 12:00:00 UTC",
                "2026-02-03 12:00:00 XYZ",
                "2026-02-03 25:00:00 UTC",
            )
        ),
        *(
            (text, None)
            for text in (
                "2026-02-03 12:00:00 ../../etc/passwd",
                "2026-02-03 12:00:00 +99:99",
                "9999-12-31 23:59:59 UTC",
            )
        ),
    ],
)
def test_times(text: str, time: datetime | None):
    assert platforms.moment(text) == time
    assert time is None or platforms.moment(text).tzinfo


# The choice among several files.


def test_the_latest_counts_where_times_are_known(tmp_path: Path):
    stamp = "2026-02-{:02} 12:00:00 UTC"
    files = {f"ada/{day}/{LAB}.ipynb": NOTEBOOK for day in "abc"} | {
        f"bob/{day}/{LAB}.ipynb": NOTEBOOK for day in "abc"
    }
    files |= {
        "ada/a/timestamp.txt": stamp.format(3),
        "ada/b/timestamp.txt": stamp.format(5),
        "ada/c/timestamp.txt": stamp.format(4),
    }
    files |= {"bob/b/timestamp.txt": stamp.format(5)}
    made(tmp_path / "submitted", files)
    assert graded(tmp_path) == {
        "ada": f"ada/b/{LAB}.ipynb",
        "bob": f"bob/a/{LAB}.ipynb",
    }
    told = told_of(collect.find(tmp_path).submissions)
    assert [s.problem for s in told[:3]] == [
        "",
        *[f"a second notebook for this lab; ada/b/{LAB}.ipynb was graded"] * 2,
    ]


def test_the_order_of_files_changes_nothing(tmp_path: Path):
    submissions = collect.find(made(tmp_path, CANVAS)).submissions
    assert told_of(submissions, [LAB]) == told_of(submissions[::-1], [LAB])


# Archives that students pack.


def test_archives_of_students_are_opened_once(tmp_path: Path):
    inner = zipped({"x.ipynb": NOTEBOOK})
    files = {
        "alice.zip": zipped(
            {
                "work/08_coalescing.ipynb": NOTEBOOK,
                "timestamp.txt": "2026-02-03 12:00:00 UTC",
                "data.csv": "1",
            }
        ),
        "bob/bob.tar.gz": gzip.compress(tarred({"08_coalescing.ipynb": NOTEBOOK})),
        "cid.zip": zipped({"again.zip": inner}),
        "dan/08_coalescing.ipynb": NOTEBOOK,
        "dan/broken.zip": b"PK\x03\x04 and no more",
        "eve/broken.zip": b"PK\x03\x04 and no more",
        "fay.tbz2": bz2.compress(tarred({"notes.txt": "x"})),
        "gus/timestamp.txt": "2026-02-03 12:00:00 UTC",
        "gus/gus.zip": zipped(
            {"08_coalescing.ipynb": NOTEBOOK, "timestamp.txt": "2020-02-03 12:00:00 UTC"}
        ),
    }
    told = found(made(tmp_path / "class", files), tmp_path / "unpacked")
    assert {s.file: (s.student, s.submitted) for s in told.values() if not s.problem} == {
        "alice.zip/work/08_coalescing.ipynb": ("alice", None),
        "bob/bob.tar.gz/08_coalescing.ipynb": ("bob", None),
        "dan/08_coalescing.ipynb": ("dan", None),
        "gus/gus.zip/08_coalescing.ipynb": ("gus", None),  # nor are times in his folder
    }
    assert {s.student: s.problem[:32] for s in told.values() if s.problem} == {
        "cid": "handed in cid.zip: again.zip, no",
        "eve": "the archive broken.zip cannot be",
        "fay": "handed in fay.tbz2: notes.txt, n",
    }
    assert all(notebook.read(s.path).version == "abc123" for s in told.values() if not s.problem)
    again = found(tmp_path / "class", tmp_path / "unpacked")
    assert again == told
    assert "no folder to unpack" in found(tmp_path / "class")["alice.zip"].problem


def test_an_archive_in_an_archive(tmp_path: Path):
    files = {
        "smith_1_20_work.zip": zipped({"08_coalescing.ipynb": NOTEBOOK, "../evil.ipynb": NOTEBOOK}),
        "smith_1_21_work-1.zip": zipped({"a/08_coalescing.ipynb": NOTEBOOK}),
        "jones_2_22_secret.zip": b"PK\x05\x06 hello",
    }
    (tmp_path / "canvas.zip").write_bytes(zipped(files))
    told = found(tmp_path / "canvas.zip", tmp_path / "unpacked")
    assert told["smith_1_20_work.zip/evil.ipynb"].problem == "its name leads out of the archive"
    assert "broken" in told["jones_2_22_secret.zip"].problem
    assert graded(tmp_path / "canvas.zip", tmp_path / "unpacked") == {
        "1": "smith_1_21_work-1.zip/a/08_coalescing.ipynb"
    }


# Hostile archives.


def _info(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def hostile_zip() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("good.ipynb", NOTEBOOK)
        for name in (
            "../out.ipynb",
            "/tmp/warpwise_absolute.ipynb",
            "a/../../out.ipynb",
            "..\\out.ipynb",
            "C:\\out.ipynb",
        ):
            archive.writestr(name, NOTEBOOK)
        archive.writestr(_info("link.ipynb", stat.S_IFLNK | 0o777), "/etc/passwd")
        archive.writestr(_info("folder", stat.S_IFLNK | 0o777), "/tmp")
        archive.writestr("folder/through_a_link.ipynb", NOTEBOOK)
        archive.writestr(_info("pipe.ipynb", stat.S_IFIFO | 0o777), "")
        archive.writestr("bomb.ipynb", bytes(notebook.MOST_BYTES + 1))
        archive.writestr("good.ipynb/within_a_file.ipynb", NOTEBOOK)
        archive.writestr("new\nline\x1b[31m.ipynb", NOTEBOOK)
        archive.writestr("n" * 300 + ".ipynb", NOTEBOOK)
        archive.writestr("/".join("d" * 30) + "/deep.ipynb", NOTEBOOK)
        archive.writestr("way.ipynb", NOTEBOOK, zipfile.ZIP_LZMA)
        archive.writestr("__MACOSX/._good.ipynb", "x")
        archive.writestr(".hidden.ipynb", "x")
        archive.writestr("sp\\lit.ipynb", NOTEBOOK)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("good.ipynb", "another")
        archive.writestr("last.ipynb", NOTEBOOK)
    return packed.getvalue()


def hostile_tar() -> bytes:
    def odd(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
        about = tarfile.TarInfo(name)
        about.type, about.linkname = kind, target
        return about

    return tarred(
        {
            "good.ipynb": NOTEBOOK,
            "../out.ipynb": NOTEBOOK,
            "/tmp/warpwise_absolute.ipynb": NOTEBOOK,
            "1": odd("link.ipynb", tarfile.SYMTYPE, "/etc/passwd"),
            "2": odd("hard.ipynb", tarfile.LNKTYPE, "/etc/passwd"),
            "3": odd("folder", tarfile.SYMTYPE, "/tmp"),
            "folder/through_a_link.ipynb": NOTEBOOK,
            "4": odd("device.ipynb", tarfile.CHRTYPE),
            "5": odd("pipe.ipynb", tarfile.FIFOTYPE),
            "bomb.ipynb": bytes(notebook.MOST_BYTES + 1),
            "new\nline\x1b[31m.ipynb": NOTEBOOK,
            "\udcff\udcfe.ipynb": NOTEBOOK,
            "./good.ipynb": "another",
            "last.ipynb": NOTEBOOK,
        }
    )


def everything(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("pack", [hostile_zip, hostile_tar])
def test_bad_members_are_refused_and_good_ones_unpacked(tmp_path: Path, pack):
    made(tmp_path, {"in/class.zip": pack()})
    before = set(os.listdir(tmp_path)) | {"unpacked"}
    told = found(tmp_path / "in/class.zip", tmp_path / "unpacked/here")
    good = {"good.ipynb", "last.ipynb", "folder/through_a_link.ipynb", "new?line?[31m.ipynb"}
    good |= {"sp/lit.ipynb"} if pack is hostile_zip else {"��.ipynb"}
    assert {s.file for s in told.values() if not s.problem} == good
    assert everything(tmp_path / "unpacked") == {
        f"here/submissions/{name}": NOTEBOOK for name in good
    } | ({"here/submissions/.hidden.ipynb": ""} if pack is hostile_zip else {})
    assert not any(p.is_symlink() for p in (tmp_path / "unpacked").rglob("*"))
    assert set(os.listdir(tmp_path)) == before and not Path("/tmp/warpwise_absolute.ipynb").exists()
    problems = {s.problem for s in told.values() if s.problem}
    assert problems >= {
        "its name leads out of the archive",
        "it is a link, which is not followed",
        "it is not a regular file",
        "the file has more than 10 MB",
        "the archive has two members of this name",
    }
    assert all("\n" not in s.file + s.problem for s in told.values())


def test_an_encrypted_member_is_refused(tmp_path: Path):
    packed = bytearray(zipped({"a.ipynb": NOTEBOOK, "b.ipynb": NOTEBOOK}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        packed[packed.index(mark) + offset] |= 1
    made(tmp_path, {"class.zip": bytes(packed)})
    told = found(tmp_path / "class.zip", tmp_path / "unpacked")
    assert {name: s.problem for name, s in told.items()} == {
        "a.ipynb": "it is encrypted",
        "b.ipynb": "",
    }


def test_a_damaged_member_is_refused(tmp_path: Path):
    packed = zipped({"a.ipynb": NOTEBOOK, "b.ipynb": NOTEBOOK}, zipfile.ZIP_STORED)
    made(tmp_path, {"class.zip": packed.replace(b"nbformat", b"mbformat", 1)})
    told = found(tmp_path / "class.zip", tmp_path / "unpacked")
    assert "CRC" in told["a.ipynb"].problem and not told["b.ipynb"].problem


@pytest.mark.parametrize("name", ["Zoë.ipynb", "Ångström.ipynb"])
def test_names_in_other_encodings(tmp_path: Path, name: str):
    """Macs write UTF-8 and do not say so; older programs write code page 437."""
    for encoding in ("utf-8", "cp437"):
        placeholder = "@" * len(name.encode(encoding))
        packed = zipped({placeholder: NOTEBOOK}).replace(
            placeholder.encode(), name.encode(encoding)
        )
        made(tmp_path, {"class.zip": packed})
        assert list(found(tmp_path / "class.zip", tmp_path / "unpacked")) == [name]


def test_names_that_are_not_utf8_stay_apart(tmp_path: Path):
    for name in (b"\xff.ipynb", b"\xfe.ipynb", rb"\xff.ipynb", rb"\\xff.ipynb"):
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).write_text(NOTEBOOK)
    assert {s.student for s in collect.find(tmp_path).submissions} == {
        *(r"\xfe", r"\xff", r"\\xff", r"\\\\xff")
    }


def test_files_of_one_name_are_numbered_past_those_that_are_called_so(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr("ben.ipynb", NOTEBOOK)
        archive.writestr("ben.ipynb (2)/", "")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("ben.ipynb", "another")
    told = collect.find(tmp_path / "class.zip", tmp_path / "unpacked").submissions
    names = ["ben.ipynb", "ben.ipynb (2)", "ben.ipynb (2) (2)"]
    assert sorted(s.file for s in told) == names


def overlapping(number: int) -> bytes:
    """Return a zip whose directory names the same 10 MB of zeros many times."""
    packed = zipped({"a.ipynb": bytes(notebook.MOST_BYTES)})
    start, end = packed.index(b"PK\x01\x02"), packed.index(b"PK\x05\x06")
    entries = packed[start:end] * number
    count, size = number.to_bytes(2, "little"), len(entries).to_bytes(4, "little")
    return (
        packed[:start] + entries + packed[end : end + 8] + count + count + size + packed[end + 16 :]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        (
            "x.zip",
            zipped({f"{n}.ipynb": bytes(notebook.MOST_BYTES) for n in range(6)}),
            "unpacks to more than 40 MB",
        ),
        (
            "x.tgz",
            gzip.compress(tarred({"a.csv": bytes(60 << 20), "z.ipynb": NOTEBOOK})),
            "unpacks to more than 40 MB",
        ),
        (
            "x.zip",
            zipped({f"{n}.txt": "" for n in range(members.OF_A_STUDENT.members * 2 + 2)}),
            "more than 5,000 members",
        ),
        (
            "x.tar",
            tarred({f"{n}.txt": "" for n in range(members.OF_A_STUDENT.members + 1)}),
            "more than 5,000 members",
        ),
        ("x.zip", overlapping(60), ""),
    ],
    ids=["zip bomb", "tar bomb", "many in a zip", "many in a tar", "overlapping"],
)
def test_a_students_bomb_is_that_students_problem(
    tmp_path: Path, name: str, content: bytes, says: str
):
    made(tmp_path / "class", {f"eve/{name}": content, "ada/08_coalescing.ipynb": NOTEBOOK})
    tracemalloc.start()
    told = found(tmp_path / "class", tmp_path / "unpacked")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert {s.student for s in told.values() if not s.problem} >= {"ada"}
    assert not says or says in told[f"eve/{name}"].problem
    assert peak < 100 << 20
    written = sum(
        path.stat().st_size for path in (tmp_path / "unpacked").rglob("*") if path.is_file()
    )
    assert written <= members.ALWAYS_BYTES


def test_all_archives_of_a_student_share_one_limit(tmp_path: Path):
    """Each by itself is within the limits."""
    part = zipped({f"{n}.ipynb": bytes(9 << 20) for n in range(4)})
    deep = zipped({f"{n}/{'d/' * 12}{n}.ipynb": NOTEBOOK for n in range(90)})
    whose = {"bytes": [part] * 6, "files": [deep] * 2, "ada": [part]}
    files = {
        f"{student}_{n}_9{n}{m}_{m}.zip": content
        for n, (student, those) in enumerate(whose.items())
        for m, content in enumerate([*those, zipped({f"{LAB}.ipynb": NOTEBOOK})])
    }
    told = found(made(tmp_path / "class", files), tmp_path / "unpacked")
    for student, most in (("bytes", "takes more than 100 MB"), ("files", "makes more than 1,000")):
        problems = {s.problem for s in told.values() if s.name == student and s.problem}
        assert any(f"with the student's other files it {most}" in problem for problem in problems)
    assert not any(s.problem for s in told.values() if s.name == "ada")
    written = [path for path in (tmp_path / "unpacked").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in written) < (100 << 20) + (37 << 20)
    assert len(list((tmp_path / "unpacked").rglob("*"))) < 1_100 + 20


def test_notebooks_in_a_class_archive_count_too(tmp_path: Path):
    """The names say whose they are before the contents take any room."""
    files = {f"{n}/ada.ipynb": bytes(9 << 20) for n in range(12)}
    content = {f"eve/{name}": content for name, content in files.items()}
    content |= {"ada.ipynb": NOTEBOOK, "eve/more.zip": zipped({"x.ipynb": NOTEBOOK})}
    content |= {"zoe/zoe.zip": zipped({f"{LAB}.ipynb": NOTEBOOK})}
    for name, packed in (("class.zip", zipped(content)), ("class.tar", tarred(content))):
        (tmp_path / name).write_bytes(packed)
        told = found(tmp_path / name, tmp_path / "unpacked")
        problems = [s.problem for s in told.values() if s.student == "eve" and s.problem]
        assert len(problems) == 2 and all("takes more than 100 MB" in p for p in problems)
        assert [s.student for s in told.values() if not s.problem] == ["ada", *["eve"] * 11, "zoe"]
        written = [path.stat() for path in (tmp_path / "unpacked").rglob("*") if path.is_file()]
        assert sum(about.st_size for about in written) < 101 << 20


def test_a_group_has_its_archive_opened_once(tmp_path: Path):
    files = {
        "submission_metadata.yml": METADATA,
        "submission_11/x.ipynb": NOTEBOOK,
        "submission_12/all.zip": zipped({f"{LAB}.ipynb": NOTEBOOK}),
    }
    told = found(made(tmp_path / "class", files), tmp_path / "unpacked")
    assert {(s.student, s.file) for s in told.values() if not s.problem and "12" in s.file} == {
        ("bob@example.org", f"submission_12 (bob@example.org)/all.zip/{LAB}.ipynb"),
        ("7", f"submission_12 (7)/all.zip/{LAB}.ipynb"),
    }


FIND = """
import json, resource, sys
from pathlib import Path
from warpwise.grading import collect
if sys.argv[3] == "a limit on files":
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
told = collect.find(Path(sys.argv[1]), Path(sys.argv[2])).submissions
print(json.dumps({s.student: s.problem for s in told}))
"""


@pytest.mark.parametrize("full", ["a limit on files", "no space", "no inodes"])
def test_a_full_disk_is_that_students_problem(tmp_path: Path, full: str):
    """On a small file system of its own, in a user namespace, or under the system's limit."""
    files = {
        "ada.zip": zipped({f"{LAB}.ipynb": NOTEBOOK}),
        "eve.zip": zipped({f"{n}.ipynb": bytes(3 << 20) for n in range(3)}),
        "fay.zip": zipped({f"{n}/{LAB}.ipynb": NOTEBOOK for n in range(90)}),
        "zoe.zip": zipped({f"{LAB}.ipynb": NOTEBOOK}),
    }
    source, disk = made(tmp_path / "class", files), tmp_path / "disk"
    disk.mkdir()
    find = shlex.join([sys.executable, "-c", FIND, str(source), str(disk / "unpacked"), full])
    command = ["sh", "-c", find]
    if full != "a limit on files":
        limits = "size=2m" if full == "no space" else "size=16m,nr_inodes=50"
        mount = f"mount -t tmpfs -o {limits} tmpfs {shlex.quote(str(disk))}"
        command = ["unshare", "-rm", "sh", "-c", f"{mount} && {find}"]
        if subprocess.run([*command[:-1], mount], capture_output=True).returncode:
            pytest.skip("this machine lets nobody mount in a user namespace")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    problems = json.loads(done.stdout)
    blamed = "fay" if full == "no inodes" else "eve"
    assert f"{blamed}.zip cannot be unpacked: it cannot be written" in problems.pop(blamed)
    assert set(problems) == {"ada", "eve", "fay", "zoe"} - {blamed} and not any(problems.values())


def test_damaged_archives_are_told_and_never_raise_anything_else(tmp_path: Path):
    files = {
        "a/x.ipynb": NOTEBOOK * 9,
        "b.ipynb": NOTEBOOK,
        "c/": "",
        "n" * 120 + "/y.ipynb": NOTEBOOK,
    }
    sound = [
        zipped(files),
        zipped(files, zipfile.ZIP_STORED),
        tarred(files),
        gzip.compress(tarred(files)),
        bz2.compress(tarred(files)),
    ]
    rng, outcomes = random.Random(1), set()
    for number in range(400):
        content = bytearray(rng.choice(sound))
        for _ in range(rng.choice((1, 2, 5, 20))):
            content[rng.randrange(len(content))] = rng.choice((0, 255, rng.randrange(256)))
        (tmp_path / "class.zip").write_bytes(
            content[: rng.choice((None, rng.randrange(len(content))))]
        )
        try:
            source, folder = tmp_path / "class.zip", tmp_path / str(number)
            if number % 2:
                refused, _ = archives.unpack(source, folder, members.Room())
            else:
                files, refused = archives.unpack_names(source, folder)
                refused += archives.fill(source, files, lambda path: members.Room())
        except GradingError as error:
            refused = [archives.Refused("", str(error))]
        assert all(
            member.why and not members.UNPRINTABLE.search(member.name + member.why)
            for member in refused
        )
        outcomes |= {member.why[:20] for member in refused}
    assert len(outcomes) >= 3, outcomes


def test_pipes_and_links_are_not_opened(tmp_path: Path):
    made(tmp_path / "class", {"ada.ipynb": NOTEBOOK, "bob/08.ipynb": NOTEBOOK})
    os.mkfifo(tmp_path / "class/pipe.zip")
    os.mkfifo(tmp_path / "class/bob/timestamp.txt")
    (tmp_path / "class/link.zip").symlink_to("/etc/passwd")
    (tmp_path / "class/away").symlink_to("/etc")
    told = {
        s.student: s for s in collect.find(tmp_path / "class", tmp_path / "unpacked").submissions
    }
    assert "regular file" in told["pipe"].problem
    assert [told[name].problem for name in ("link", "away")] == [
        f"the {it} is a link, which is not followed" for it in ("archive", "folder")
    ]
    assert told["bob"].submitted is None and not told["bob"].problem


# Bad input.


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("x.zip", b"", "no zip or tar archive, or a broken one"),
        ("x.zip", b"hello", "no zip or tar archive, or a broken one"),
        ("x.zip", zipped({"a.ipynb": NOTEBOOK})[:-30], "no zip archive, or a broken one"),
        (
            "x.tgz",
            gzip.compress(tarred({"a.ipynb": NOTEBOOK * 99}))[:-30],
            "no zip or tar archive, or a broken one",
        ),
        (
            "x.tar",
            tarred({"a.ipynb": NOTEBOOK * 99})[:2000],
            "no zip or tar archive, or a broken one",
        ),
        ("x.zip", zipped({"notes.txt": "x"}), "there is no notebook in"),
        ("x.zip", zipped({"../a.ipynb": NOTEBOOK}), "'a.ipynb', its name leads out of the archive"),
        ("x.ipynb", NOTEBOOK.encode(), "is not a folder"),
    ],
)
def test_bad_input_is_one_clear_line(tmp_path: Path, name: str, content: bytes, says: str):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(GradingError) as problem:
        collect.find(tmp_path / name, tmp_path / "unpacked")
    assert says in str(problem.value) and "\n" not in str(problem.value)


def test_what_is_not_there_or_cannot_be_written(tmp_path: Path):
    with pytest.raises(GradingError, match="there is no folder"):
        collect.find(tmp_path / "nothing", tmp_path / "unpacked")
    (tmp_path / "class.zip").write_bytes(zipped({"a.ipynb": NOTEBOOK}))
    with pytest.raises(GradingError, match="unpack it first"):
        collect.find(tmp_path / "class.zip")
    (tmp_path / "file").write_text("")
    with pytest.raises(GradingError, match="cannot be written"):
        collect.find(tmp_path / "class.zip", tmp_path / "file" / "unpacked")


def test_a_version_is_text_of_a_sensible_length(tmp_path: Path):
    for said, kept in (
        ("v" * 5000, "v" * notebook.MOST_CLAIM_CHARACTERS),
        (["x"], ""),
        (3, ""),
        ("\ud800", "?"),
    ):
        path = (
            made(
                tmp_path,
                {
                    "x.ipynb": json.dumps(
                        {"nbformat": 4, "cells": [], "metadata": {"warpwise": {"version": said}}}
                    )
                },
            )
            / "x.ipynb"
        )
        assert notebook.read(path).version == kept

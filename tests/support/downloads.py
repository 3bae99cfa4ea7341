"""What a class hands in, and the tables about it, as the platforms give them to download.

A platform's numbers follow from a student's place in the class, so that files of one lab agree."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
import zipfile
from collections.abc import Callable, Sequence
from datetime import UTC
from pathlib import Path

from support.term import LABS, Person, Work

WORKSHEET = [
    *("Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade"),
    *("Grade can be changed", "Last modified (submission)", "Last modified (grade)"),
    "Feedback comments",
]


def canvas_gradebook(people: Sequence[Person], path: Path) -> Path:
    """Write a class list as Canvas exports it, with a column for each lab's assignment."""
    labs = [f"{lab} (90{k})" for k, lab in enumerate(LABS)]
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *labs]]
    rows += [["    Points Possible", "", "", "", "", *("10" for _ in labs)]]
    for p in people:
        rows.append(
            [f"{p.last}, {p.first}", str(p.number), p.id, p.email, "A", *("" for _ in labs)]
        )
    path.write_text("".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows), "utf-8")
    return path


def canvas_submissions(works: Sequence[Work], path: Path) -> Path:
    """Write a lab's submissions as Canvas's API lists them."""
    listed = [
        {
            "id": 70_000 + n,
            "user_id": w.person.number,
            "assignment_id": 900 + LABS.index(w.lab),
            "submitted_at": f"{w.submitted.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
            if w.files
            else None,
            "late": w.late,
        }
        for n, w in enumerate(works)
    ]
    path.write_text(json.dumps(listed), "utf-8")
    return path


def moodle_worksheet(works: Sequence[Work], path: Path) -> Path:
    """Write the grading worksheet of a lab's assignment in Moodle."""
    rows = [WORKSHEET]
    for n, w in enumerate(works):
        when = f"{w.submitted:%A, %d %B %Y, %I:%M %p}" if w.files else "-"
        about = [f"Participant {50_000 + n}", w.person.name, w.person.email]
        rows.append([*about, "Submitted for grading", "", "10.00", "Yes", when, "-", ""])
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    path.write_text(text.getvalue(), "utf-8")
    return path


# Submissions.


def _plain(name: str) -> str:
    """Return a name as Canvas puts it into file names: lower case, letters and digits only."""
    return re.sub(r"[^\w]|_", "", unicodedata.normalize("NFC", name).lower())


def _canvas(works: Sequence[Work]) -> dict[str, bytes]:
    return {
        f"{_plain(w.person.last + w.person.first)}_{'LATE_' * w.late}{w.person.number}_"
        f"{70_000 + 1_000 * w.attempt + n}_{name}": data
        for n, w in enumerate(works)
        for name, data in w.files.items()
    }


def _moodle(works: Sequence[Work]) -> dict[str, bytes]:
    return {
        f"{w.person.name}_{50_000 + n}_assignsubmission_file_/{name}": data
        for n, w in enumerate(works)
        for name, data in w.files.items()
    }


def _gradescope(works: Sequence[Work]) -> dict[str, bytes]:
    files, said = dict[str, bytes](), ""
    for n, w in enumerate(w for w in works if w.files):
        folder = f"submission_{8_000 + n}"
        said += f"{folder}:\n  :submitters:\n  - :name: {w.person.name}\n    :sid: {w.person.id}\n"
        said += f"    :email: {w.person.email}\n  :created_at: {w.submitted.isoformat(' ')}\n"
        files |= {f"{folder}/{name}": data for name, data in w.files.items()}
    return {f"assignment_1_export/{name}": data for name, data in files.items()} | {
        "assignment_1_export/submission_metadata.yml": said.encode()
    }


def _nbgrader(works: Sequence[Work]) -> dict[str, bytes]:
    files = dict[str, bytes]()
    for w in works:
        folder = f"submitted/{w.person.id}/{w.lab}"
        files |= {f"{folder}/{name}": data for name, data in w.files.items()}
        if w.files:
            files[f"{folder}/timestamp.txt"] = f"{w.submitted.isoformat(' ')}\n".encode()
    return files


def _folders(works: Sequence[Work]) -> dict[str, bytes]:
    return {f"{w.person.id}/{name}": data for w in works for name, data in w.files.items()}


SHAPES: dict[str, Callable[[Sequence[Work]], dict[str, bytes]]] = {
    "canvas": _canvas,
    "moodle": _moodle,
    "gradescope": _gradescope,
    "nbgrader": _nbgrader,
    "plain": _folders,
}
PACKED = ("canvas", "moodle", "gradescope")


def hand_over(works: Sequence[Work], place: Path, platform: str) -> Path:
    """Write a lab's work as a platform's download, a zip where it is one; return its path."""
    files = SHAPES[platform](works)
    if platform in PACKED:
        with zipfile.ZipFile(place.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as packed:
            for name, data in files.items():
                packed.writestr(name, data)
        return place.with_suffix(".zip")
    for name, data in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    return place

"""Pack one lab's grader as a zip for Gradescope.

It holds ``setup.sh``, ``run_autograder``, the package as a wheel, hidden tests and the seed. No
solution and no reference notebook goes in: the parts of the lab's source that the grader there
needs are written into ``lab.json``."""

from __future__ import annotations

import json
import os
import re
import secrets
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import feedback, material
from warpwise.grading.scoring import course as courses
from warpwise.labs import release, versions
from warpwise.labs.source import Lab

HERE = Path(__file__).resolve().parent
SCRIPTS = {"setup.sh": "autograder_setup.sh", "run_autograder": "autograder_run.sh"}
NEEDED = ("numpy", "pyseccomp")  #: all that grading there needs beside the package
WHEN = (2026, 1, 1, 0, 0, 0)  # of every member: the same course and seed make the same zip


def bundle(
    target: Path,
    stem: str | None = None,
    seed: int | None = None,
    course: Path | None = None,
    force: bool = False,
) -> str:
    """Write the zip of one lab, and return a line about it.

    ``stem`` is the zip's name if left out, ``seed`` new and secret. Raises GradingError or
    LabError, and writes nothing, if there is no such lab, a part of it is missing, or the zip is
    there already."""
    if target.suffix != ".zip":
        name = "write LAB.zip, such as 08_coalescing.zip"
        raise GradingError(f"{target} is not the name of a zip: {name}")
    if target.is_dir() or (target.exists() and not force):
        raise GradingError(f"{target} is there already: name another, or replace it with --force")
    root = release.course_folder(course)
    [stem] = material.stems(root, stem or target.stem)
    seed = secrets.randbits(63) if seed is None else seed
    parts = material.load(root, stem, seed)
    used = material.files(root, stem)
    files = {path: text for path, text in used.items() if path.startswith("tests/course/")}
    with tempfile.TemporaryDirectory(prefix="warpwise-") as folder:
        wheel = release.build_wheel(root, Path(folder))
        files["requirements.txt"] = requirements(root, wheel)
        over_budget = courses.find(root).lab(stem).over_budget
        files["lab.json"] = lab_json(parts.lab, parts.given, seed, over_budget)
        files |= {name: (HERE / script).read_text("utf-8") for name, script in SCRIPTS.items()}
        _write(target, files, Path(folder) / wheel)
    points = sum(exercise.points for exercise in parts.lab.exercises)
    count = f"{len(parts.lab.exercises)} exercises, {points:g} points"
    return f"{target} written: {stem}, version {parts.lab.version}, {count}"


def lab_json(lab: Lab, given: tuple[str, ...], seed: int, over_budget: float = 0) -> str:
    """Write a lab for the grader there: see ``autograder.Packed``."""
    asked = feedback.questions(lab)
    exercises = [
        asdict(e) | {"title": asked[e.id].title, "objective": asked[e.id].objective}
        for e in lab.exercises
    ]
    about = {
        "stem": lab.stem,
        "title": lab.title,
        "version": lab.version,
        "seed": seed,
        "given": given,
        "digests": versions.digests(lab),
        "exercises": exercises,
        "over_budget": over_budget,
    }
    return json.dumps(about, indent=1) + "\n"


def requirements(root: Path, wheel: str) -> str:
    """List what to install there, in the versions that the course was tested with."""
    constraints = root / "constraints.txt"
    pinned = constraints.read_text("utf-8") if constraints.is_file() else ""
    versions = dict(re.findall(r"^([\w.-]+)==(\S+)$", pinned, re.M))
    lines = [f"{name}=={versions[name]}" if name in versions else name for name in NEEDED]
    return "\n".join([*lines, f"./{wheel}", ""])


def _write(target: Path, files: Mapping[str, str], wheel: Path) -> None:
    """Write the zip, whole or not at all. Scripts are executable, with line ends for bash."""
    members = {name: text.encode() for name, text in files.items()}
    members[wheel.name] = wheel.read_bytes()
    part = target.with_name(f".{target.name}-{os.getpid()}")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in sorted(members.items()):
                member = zipfile.ZipInfo(name, WHEN)
                member.external_attr = (0o100755 if name in SCRIPTS else 0o100644) << 16
                member.compress_type, member.create_system = zipfile.ZIP_DEFLATED, 3  # Unix
                archive.writestr(member, content)
        os.replace(part, target)
    except OSError as error:
        raise GradingError(f"{target} cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)

"""Pack one lab's grader as a zip for Gradescope: ``setup.sh``, ``run_autograder``, the package as a wheel, hidden tests, the seed.

No solution and no reference notebook goes in: what the grader there needs of the lab's source is written into ``lab.json``.
"""

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
from warpwise.labs import release
from warpwise.labs.source import Lab

HERE = Path(__file__).resolve().parent
SCRIPTS = {"setup.sh": "autograder_setup.sh", "run_autograder": "autograder_run.sh"}
NEEDED = ("numpy", "pyseccomp")  #: all that grading there takes beside the package
WHEN = (2026, 1, 1, 0, 0, 0)  # of every member: the same course and seed make the same zip


def bundle(target: Path, stem: str | None = None, seed: int | None = None, course: Path | None = None, force: bool = False) -> str:
    """Write the zip of one lab and say so in a line. ``stem`` is the zip's name if left out, ``seed`` new and secret.

    Raises GradingError or LabError, and writes nothing, if there is no such lab, a part of it is missing, or the zip is there already.
    """
    if target.suffix != ".zip":
        raise GradingError(f"{target} is not the name of a zip: write LAB.zip, such as 08_coalescing.zip")
    if target.is_dir() or (target.exists() and not force):
        raise GradingError(f"{target} is there already: name another, or replace it with --force")
    root = release.course_folder(course)
    [stem] = material.stems(root, stem or target.stem)
    seed = secrets.randbits(63) if seed is None else seed
    parts = material.load(root, stem, seed)
    files = {path: text for path, text in material.files(root, stem).items() if path.startswith("tests/hidden/")}
    with tempfile.TemporaryDirectory(prefix="warpwise-") as folder:
        wheel = release.build_wheel(root, Path(folder))
        files |= {"requirements.txt": requirements(root, wheel), "lab.json": lab_json(parts.lab, parts.given, seed)}
        files |= {name: (HERE / script).read_text("utf-8") for name, script in SCRIPTS.items()}
        _write(target, files, Path(folder) / wheel)
    points = sum(exercise["points"] for exercise in json.loads(files["lab.json"])["exercises"])
    return f"{target} written: {stem}, version {parts.lab.version}, {len(parts.lab.exercises)} exercises, {points:g} points"


def lab_json(lab: Lab, given: tuple[str, ...], seed: int) -> str:
    """What the grader there is told of a lab: see ``autograder.Packed``."""
    asked = feedback.asked(lab)
    exercises = [asdict(e) | {"title": asked[e.id].title, "objective": asked[e.id].objective} for e in lab.exercises]
    about = {"stem": lab.stem, "title": lab.title, "version": lab.version, "seed": seed, "given": given, "exercises": exercises}
    return json.dumps(about, indent=1) + "\n"


def requirements(root: Path, wheel: str) -> str:
    """What to install there, in the versions that the course was tested with."""
    pinned = (root / "constraints.txt").read_text("utf-8") if (root / "constraints.txt").is_file() else ""
    versions = dict(re.findall(r"^([\w.-]+)==(\S+)$", pinned, re.M))
    lines = [f"{name}=={versions[name]}" if name in versions else name for name in NEEDED]
    return "\n".join([*lines, f"./{wheel}", ""])


def _write(target: Path, files: Mapping[str, str], wheel: Path) -> None:
    """The zip, whole or not at all. Scripts can be run from it, and keep line ends that bash reads."""
    members = {name: (text.encode(), 0o755 if name in SCRIPTS else 0o644) for name, text in files.items()}
    members[wheel.name] = (wheel.read_bytes(), 0o644)
    part = target.with_name(f".{target.name}-{os.getpid()}")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, (content, mode) in sorted(members.items()):
                member = zipfile.ZipInfo(name, WHEN)
                member.external_attr, member.compress_type, member.create_system = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED, 3
                archive.writestr(member, content)
        os.replace(part, target)
    except OSError as error:
        raise GradingError(f"{target} cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)

"""Labs without a checkout: out of the wheel, into a folder, and nothing of a student's lost."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.paths import ROOT

from warpwise.digests import digest
from warpwise.errors import LabError
from warpwise.labs import get as labs
from warpwise.labs.chosen import notebook
from warpwise.labs.release import build_wheel

STEMS = sorted(path.name for path in (ROOT / "labs").glob("*.ipynb"))


def test_the_labs_are_laid_into_a_new_folder(tmp_path: Path):
    said = list(labs.get(tmp_path / "mine"))
    assert [Path(line).name for line in said] == STEMS
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == STEMS


def test_a_lab_that_was_laid_is_known_by_its_number(tmp_path: Path):
    list(labs.get(tmp_path / labs.NEW))
    assert notebook("8", tmp_path) == (tmp_path / labs.NEW / "08_coalescing.ipynb", False)


def test_a_notebook_that_is_there_is_kept(tmp_path: Path):
    mine = tmp_path / STEMS[0]
    mine.write_text("my work")
    said = list(labs.get(tmp_path))
    assert mine.read_text() == "my work" and len(said) == len(STEMS)
    assert said[-1] == f"1 of the labs were in {tmp_path} already, and are as they were"


def test_in_the_checkout_they_are_where_they_are(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    assert labs.here(None) == Path("labs") and list(labs.get(labs.here(None))) == []


def test_a_folder_that_cannot_be_written_costs_one_line(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(LabError, match="cannot be written"):
        list(labs.get(tmp_path / "file"))


def test_without_labs_it_says_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(labs, "SOURCES", (tmp_path / "none",))
    with pytest.raises(LabError, match="brings no labs"):
        list(labs.get(tmp_path / "mine"))


def built(out: Path, kind: str) -> Path:
    """Build a distribution of the checkout with its own backend, as a publisher does."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (made,) = out.iterdir()
    return made


@pytest.mark.slow
def test_a_published_wheel_brings_them_and_is_built_equally_twice(tmp_path: Path):
    first, again = (built(tmp_path / name, "wheel") for name in ("first", "again"))
    assert digest(first.read_bytes()) == digest(again.read_bytes())
    with zipfile.ZipFile(first) as wheel:
        wheel.extractall(tmp_path / "installed")
    done = subprocess.run(
        [sys.executable, "-m", "warpwise.cli", "labs", "get"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "installed")},
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / labs.NEW).iterdir()) == STEMS


@pytest.mark.slow
def test_the_source_distribution_is_built_equally_twice(tmp_path: Path):
    first, again = (built(tmp_path / name, "sdist") for name in ("first", "again"))
    assert digest(first.read_bytes()) == digest(again.read_bytes())


@pytest.mark.slow
def test_a_wheel_for_students_brings_no_labs(tmp_path: Path):
    """A course may have labs that are not handed out yet."""
    with zipfile.ZipFile(tmp_path / build_wheel(ROOT, tmp_path)) as wheel:
        assert not any(name.endswith(".ipynb") for name in wheel.namelist())

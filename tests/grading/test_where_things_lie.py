"""Where a run's folders may lie, and what a run that was killed leaves in the system's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np
import pytest
from support.paths import ROOT

import warpwise
from warpwise.errors import GradingError
from warpwise.grading import grade, sandbox, scratch
from warpwise.labs.source import load_lab, solved_notebook

LAB = "01_why_gpus"
OPEN = {
    "the system": Path("/usr/share"),
    "Python": Path(sys.base_prefix) / "lib",
    "the virtual environment": Path(sys.prefix) / "share",
    "its packages": Path(sysconfig.get_path("purelib")) / "course",
    "NumPy": Path(np.__file__).parent,
    "this package": Path(warpwise.__file__).parent / "grading",
    "what the sandbox holds of the grader": Path(sandbox.parts.INSIDE),
}


@pytest.mark.parametrize("name", OPEN)
def test_a_folder_that_sandboxes_show_is_refused(name: str, tmp_path: Path):
    link = tmp_path / "link"
    link.symlink_to(OPEN[name])
    for path in (OPEN[name], OPEN[name] / "course", link, link / "course"):
        with pytest.raises(GradingError, match=r"^the course .* lies in .*: move it"):
            sandbox.check_hidden({"the course": path})


def test_a_virtual_environment_in_a_course_is_no_reason(tmp_path: Path):
    sandbox.check_hidden({"the course": Path(sys.prefix).parent, "the output": tmp_path})
    sandbox.check_hidden({"the course": Path(warpwise.__file__).parents[1]})


def test_grading_refuses_before_anything_is_written(sandbox, tmp_path: Path):
    (tmp_path / "submissions").mkdir()
    solved = json.dumps(solved_notebook(load_lab(LAB)))
    (tmp_path / "submissions/ada.ipynb").write_text(solved)
    out = OPEN["this package"] / "graded"
    with pytest.raises(GradingError, match=r"the output .* lies in"):
        grade(tmp_path / "submissions", out, lab=LAB, course=ROOT)
    assert not out.exists()


HOLDS_A_FOLDER = """
import sys, time
from warpwise.grading import scratch
with scratch.folder() as folder:
    (folder / "hidden.py").write_text("the hidden tests")
    print(folder, flush=True)
    time.sleep(600)
"""


def test_what_a_killed_run_left_is_swept_and_nothing_else(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    others = tmp_path / f"{scratch.PREFIX}file", tmp_path / "warpwise-other", tmp_path / "mine"
    others[0].write_text("no folder")
    others[1].mkdir()
    (others[2] / "kept").mkdir(parents=True)
    (tmp_path / f"{scratch.PREFIX}link").symlink_to(others[2])
    command = [sys.executable, "-c", HOLDS_A_FOLDER]
    env = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as run:
        left = Path(run.stdout.readline().strip())
        with scratch.folder() as own:
            assert (left / "hidden.py").exists() and own.is_dir(), "a folder in use was removed"
            run.kill()
            run.wait()
            assert left.exists()
            scratch.sweep()
            assert own.is_dir() and not left.exists()
    assert not own.exists()
    assert all(path.exists() for path in others) and (others[2] / "kept").is_dir()

"""``warpwise check``: which lab is meant, a line for each exercise, the total and the next step."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT
from typer.testing import CliRunner

from warpwise.cli import app, check
from warpwise.errors import LabError
from warpwise.labs.chosen import notebook
from warpwise.labs.run import Result

FAILS = Result("b", 1, "out of bounds", "index 9", "  Case: 8\n  Try: guard the access")
RESULTS = (Result("a", 2, "passed"), FAILS, Result("long_name", 12, "not done yet"))


@pytest.fixture
def handout(tmp_path: Path) -> Path:
    """A folder as students have it, with two labs."""
    (tmp_path / "labs").mkdir()
    for stem in ("02_simt", "08_coalescing"):
        shutil.copy(ROOT / f"labs/{stem}.ipynb", tmp_path / "labs")
    return tmp_path


@pytest.mark.parametrize("name", ["2", "02", "simt", "lab 2", "02_simt", "labs/02_simt.ipynb"])
def test_a_lab_is_known_by_number_topic_and_path(handout, name):
    assert notebook(name, handout) == (handout / "labs/02_simt.ipynb", False)
    if "/" not in name:
        assert notebook(name, handout / "labs") == (handout / "labs/02_simt.ipynb", False)


@pytest.mark.parametrize("name", ["02_smit", "labs/02_smit.ipynb", "smit"])
def test_a_misspelled_lab_is_guessed_and_known_to_be_a_guess(handout, name):
    assert notebook(name, handout) == (handout / "labs/02_simt.ipynb", True)


def test_what_is_no_lab_is_one_line(handout, tmp_path):
    with pytest.raises(LabError, match="there is no lab 'nothing'; there are 02_simt, 08"):
        notebook("nothing", handout)
    (tmp_path / "empty").mkdir()
    with pytest.raises(LabError, match=r"no notebook at .*empty.*3"):
        notebook("3", tmp_path / "empty")


def test_a_line_for_each_exercise_and_below_what_is_wrong():
    assert [line.split("\x1b")[0] for line in check._lines(RESULTS)] == [
        "  a           2 points  ",
        "  b            1 point  ",
        "      index 9",
        "        Case: 8",
        "        Try: guard the access",
        "  long_name  12 points  not done yet",
    ]


def summary(results, complete=False, asked=()):
    return [
        line.replace("\x1b[1m", "").replace("\x1b[0m", "")
        for line in check._summary(results, complete, asked)
    ]


def test_the_total_and_the_next_step():
    assert summary(RESULTS) == [
        "1 of 3 exercises pass, with 2 of 15 points.",
        "Next: mend b, save the notebook, and check again.",
    ]
    assert summary(RESULTS[::2])[-1] == "Next: long_name"
    assert summary(RESULTS[:1], True)[-1].startswith("Every exercise passes")
    assert summary(RESULTS[:1], True, ("a",)) == ["1 of 1 exercises pass, with 2 of 2 points."]
    chosen = (Result("x", 10, "passed", choice="one"), Result("y", 10, "not chosen", choice="one"))
    assert summary(chosen, True)[0] == "1 of 1 exercises pass, with 10 of 10 points."


@pytest.mark.slow
def test_a_misspelled_lab_is_checked_and_what_was_chosen_is_said(handout, monkeypatch):
    monkeypatch.chdir(handout)
    done = CliRunner().invoke(app, ["check", "02_smit"])
    assert done.exit_code == 1, done.output
    assert "no lab is called '02_smit': checking labs/02_simt.ipynb" in done.stderr
    assert done.stdout.startswith("labs/02_simt.ipynb\n") and "\x1b" not in done.stdout
    assert done.stdout.count("not done yet") >= 4 and "\nNext: " in done.stdout


def on_a_terminal(folder: Path, **environment: str) -> str:
    """What the command writes where output and errors are a terminal."""
    import pty  # not on Windows

    main, end = pty.openpty()
    command = [sys.executable, "-m", "warpwise.cli", "check", "8", "copy_matrix"]
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    with subprocess.Popen(
        command, cwd=folder, stdout=end, stderr=end, env=clean | {"TERM": "xterm"} | environment
    ):
        os.close(end)
        said = b""
        while True:
            try:
                part = os.read(main, 4096)
            except OSError:  # the other end is closed
                break
            said += part
    os.close(main)
    return said.decode()


@pytest.mark.slow
@pytest.mark.unix("a pseudo-terminal")
def test_on_a_terminal_there_are_colours_and_a_bar_and_no_colour_where_the_user_wants_none(handout):
    coloured, plain = on_a_terminal(handout), on_a_terminal(handout, NO_COLOR="1")
    assert "[###" in coloured and "100%" in coloured
    assert "\x1b[1m0 of 1 exercises pass" in coloured
    assert "0 of 1 exercises pass" in plain and "\x1b[1m" not in plain

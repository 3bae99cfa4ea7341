"""The page "Write your own lab", followed to the letter: its files written, its commands run.

What stands below a command on the page has to be in what the command prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

PAGE = (ROOT / "chapters/write_your_own_lab.md").read_text("utf-8")
FILE = r"^(`{3,})\{code-block\} \w+\n:caption: (\S+)\n\n(.*?)^\1$"
CONSOLE = r"^```console\n(.*?)^```$"
STEPS = re.compile(f"{FILE}|{CONSOLE}", re.MULTILINE | re.DOTALL)
PREPARES = "source .venv/bin/activate"  # which the test's PATH stands for
FAILS = ("warpwise check",)  # on a lab without answers


@pytest.fixture(scope="module")
def commands(tmp_path_factory) -> dict[str, str]:
    """An environment that has the page's commands, which are those of the package under test."""
    folder = tmp_path_factory.mktemp("bin")
    for name, module in (("warpwise", "warpwise.cli"), ("jupytext", "jupytext")):
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        (folder / name).chmod(0o755)
    own = {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return {k: v for k, v in os.environ.items() if not k.startswith("WARPWISE")} | own


def shown(block: str) -> list[tuple[str, list[str]]]:
    """Return the commands of a block, which may go on below, each with the lines that follow."""
    _, *parts = re.split(r"^\$ ((?:.*[\\|]\n)*.*)$", block, flags=re.MULTILINE)
    return [(c, said.split("\n")[1:-1]) for c, said in zip(parts[::2], parts[1::2], strict=True)]


def run(command: str, place: Path, env: dict[str, str]) -> tuple[Path, str]:
    """Run a line of the page in bash; return the folder that it ends in, and what it printed."""
    line = f'{{ {command}\n}} && status=0 || status=$?; pwd > "$HERE"; exit $status'
    here = place / ".here" if place.name != "mycourse" else place.parent / ".here"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=place,
        env=env | {"HERE": str(here)},
        capture_output=True,
        text=True,
    )
    wanted = 1 if command.startswith(FAILS) else 0
    assert done.returncode == wanted, f"{command}\n{done.stdout}{done.stderr}"
    return Path(here.read_text().strip()), done.stdout


@pytest.mark.slow
def test_the_page_can_be_followed(commands, tmp_path: Path, sandbox):
    place, ran = tmp_path, 0
    for step in STEPS.finditer(PAGE):
        _, path, text, block = step.groups()
        if path:
            (place / path).write_text(text, "utf-8")
        for command, said in shown(block or ""):
            if command == PREPARES:
                continue
            place, printed = run(command, place, commands)
            assert [line for line in said if line.strip() not in printed] == [], printed
            ran += 1
    assert place.name == "mycourse" and ran >= 10
    assert {path.name for path in (place / "graded/feedback").glob("*.html")} == {
        "ada.html",
        "ben.html",
        "cleo.html",
    }


def test_every_file_and_command_of_the_page_is_a_step():
    assert len(STEPS.findall(PAGE)) == PAGE.count("\n```console\n") + PAGE.count("\n:caption: ")
    fences = re.findall(r"^`{3,}(?=.)(?!`).*$", STEPS.sub("", PAGE), re.MULTILINE)
    assert fences == []

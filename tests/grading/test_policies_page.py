"""The page "Policies and platforms": its overlay works, its container has what grading needs, and
its commands and figures are right."""

from __future__ import annotations

import fnmatch
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import nbformat
import pytest
from click import Command
from support.paths import ROOT
from support.recipes import copied
from typer.main import get_command

from warpwise.cli import app
from warpwise.grading import grade, selftest, trials
from warpwise.labs.build import build
from warpwise.labs.source import load_lab, solved_notebook

PAGE = (ROOT / "chapters/policies_and_platforms.md").read_text("utf-8")
WHOLE = re.sub(r" \\\n +", " ", PAGE)  # commands that go on below
COMMANDS = re.findall(r"^\$ (.+?)(?:  +#.*)?$", WHOLE, re.MULTILINE)
CONTAINERFILE = (ROOT / "Containerfile").read_text("utf-8")
LAB = "01_why_gpus"
CUBED = {
    f"solutions/{LAB}.md": ("out[i] = x[i] * x[i]", "out[i] = x[i] * x[i] * x[i]"),
    f"tests/course/{LAB}/hidden.py": ("want=(x * x,)", "want=(x * x * x,)"),
}


# A private overlay.


def overlay(private: Path) -> Path:
    """Write an overlay that asks for cubes where the public lab asks for squares."""
    for name, (old, new) in CUBED.items():
        text = (ROOT / name).read_text("utf-8")
        assert old in text and name in PAGE
        (private / name).parent.mkdir(parents=True)
        text = text.replace(old, new).replace("return x * x\n", "return x * x * x\n")
        text = text.replace('load_requests": 2 *', 'load_requests": 3 *')
        (private / name).write_text(text.replace("_requests=2 *", "_requests=3 *"), "utf-8")
    return private


@pytest.mark.slow
def test_what_is_copied_over_the_public_course_decides(tmp_path: Path, sandbox):
    copied(tmp_path / "class")
    overlay(tmp_path / "private")
    (command,) = [line for line in COMMANDS if line.startswith("cp ")]
    subprocess.run(shlex.split(command), cwd=tmp_path, check=True)
    course = tmp_path / "class"
    build(course / "solutions", course / "labs", only=[LAB])
    for name, root in (("own", course), ("public", ROOT)):
        (tmp_path / "submissions" / name).mkdir(parents=True)
        solved = solved_notebook(load_lab(root / f"solutions/{LAB}.md"))
        nbformat.write(solved, tmp_path / f"submissions/{name}/{LAB}.ipynb")
    records = grade(tmp_path / "submissions", tmp_path / "graded", LAB, course=course)
    found = {record.student: record.results[0].finding for record in records}
    assert found["own"].passed and not found["public"].passed
    assert found["public"].reason == "wrong result"


# The container.


def copies() -> list[str]:
    """List what the image copies out of the checkout."""
    lines = re.findall(r"^COPY (.+)$", CONTAINERFILE, re.MULTILINE)
    return [name for line in lines for name in line.split()[:-1]]


def test_the_image_copies_what_there_is_and_the_build_lets_through():
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    through = {line[1:] for line in ignored if line.startswith("!")}
    assert set(copies()) == through and [n for n in through if not (ROOT / n).exists()] == []
    assert ignored[1] == "*"


def test_the_image_has_all_that_installing_and_grading_read():
    about = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    read = {about["readme"], *about["license-files"], "pyproject.toml", "constraints.txt"}
    assert read <= set(copies())
    assert {"warpwise", "solutions", "labs", "tests/course", "course.toml"} <= set(copies())
    (extra,) = re.findall(r"--editable '\.\[(\w+)\]'", CONTAINERFILE)
    assert extra in about["optional-dependencies"]
    assert "bubblewrap" in CONTAINERFILE and "--constraint constraints.txt" in CONTAINERFILE
    oldest = about["requires-python"].removeprefix(">=")
    assert "debian:bookworm" in CONTAINERFILE and oldest == "3.11"  # the Python of bookworm


def test_the_sandbox_does_not_show_student_code_the_course_of_the_image():
    """What lies below the system's folders and the environment can be read inside."""
    folders = re.findall(r"^WORKDIR (\S+)$", CONTAINERFILE, re.MULTILINE)
    assert folders == ["/course", "/class"]
    seen = ("/usr*", "/bin*", "/lib*", "/venv*", "/etc*")
    assert not any(fnmatch.fnmatch(folder, shape) for folder in folders for shape in seen)


def test_a_grader_with_a_small_process_number_is_no_false_alarm(sandbox):
    """In a container it can be that of the trial's own process in its sandbox."""
    mode = selftest.sandbox.isolation()
    for own in (1, 2, 3):
        body = trials.KILLS.format(bystander=own, grader=own)
        outcome = selftest._try(trials.Trial("killing", body), mode, warm=None)
        assert outcome.held, outcome


def test_the_options_of_every_run_are_the_same():
    (docker,) = {line.partition(" -v ")[0] for line in COMMANDS if line.startswith("docker run")}
    (podman,) = {line.partition(" -v ")[0] for line in COMMANDS if line.startswith("podman run")}
    for option in ("--network none", "SYS_ADMIN", "NET_ADMIN", "seccomp=unconfined"):
        assert option in docker and option in podman and option.split()[-1] in PAGE.split("```")[-1]
    assert "unmask=ALL" in podman and "--privileged" not in docker + podman


# Commands and figures.


def warpwise_commands() -> list[str]:
    """List the commands of the package on the page, with those that a container runs."""
    inside = (line.partition(" warpwise-grader ")[2] for line in COMMANDS if " run " in line)
    return [line for line in inside if line] + [
        line.removeprefix("warpwise ") for line in COMMANDS if line.startswith("warpwise ")
    ]


@pytest.mark.parametrize("line", warpwise_commands())
def test_a_command_of_the_page_can_be_given(line: str):
    name, *words = shlex.split(line)
    command: Command = get_command(app).commands[name]  # type: ignore[attr-defined]
    command.make_context(name, words, resilient_parsing=False).close()


def test_times_follow_from_what_was_measured():
    (each, thousand) = map(float, re.findall(r"took (\d[\d.]*) (?:seconds|minutes)", PAGE))
    rows = dict(re.findall(r"^\| (60|600) \| (.+) \|$", PAGE, re.MULTILINE))
    hostile = 60 * thousand / 1000  # seconds
    assert rows["60"] == f"{60 * each:.0f} seconds | {60 * hostile:.0f} seconds"
    assert rows["600"] == f"{10 * each:.1f} minutes | {10 * hostile:.1f} minutes"


def test_the_files_of_a_graded_folder_are_those_that_the_grader_writes():
    said = "\n".join(path.read_text("utf-8") for path in (ROOT / "warpwise").rglob("*.py"))
    listed = re.findall(r"^\| (`[^|]+`) \| .+ \|$", PAGE.split("## Accommodations")[0], re.M)
    names = re.findall(r"`([\w.]+)/?`", " ".join(listed))
    assert {"records", "feedback", "grades.csv", "run.json", "overrides.csv"} <= set(names)
    assert [name for name in names if f'"{name}"' not in said] == []

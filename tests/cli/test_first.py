"""What people see first of the command: no command, the version, examples, completion."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT
from typer.main import get_command
from typer.testing import CliRunner, Result

import warpwise
from warpwise.cli import app, first
from warpwise.cli.example import WORD


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
    for name, one in (below or {}).items():
        yield from commands(one, (*path, name))


COMMANDS = dict(commands(get_command(app)))


def run(*arguments: str, cwd: Path) -> Result:
    with chdir(cwd):
        return CliRunner().invoke(app, arguments)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_an_example_that_it_takes(path: tuple[str, ...]):
    epilog = COMMANDS[path].epilog
    assert epilog.startswith(f"{WORD}warpwise {' '.join(path)}"), path
    arguments = shlex.split(epilog.removeprefix(f"{WORD}warpwise "))[len(path) :]
    COMMANDS[path].make_context(" ".join(path), arguments)  # raises a usage error


def test_help_shows_the_example():
    said = run("report", "--help", cwd=ROOT).stdout
    assert "Example: warpwise report graded" in said


def test_the_version():
    done = run("--version", cwd=ROOT)
    assert done.stdout == f"warpwise {warpwise.__version__}\n" and done.exit_code == 0


def test_alone_it_says_what_to_do_first(tmp_path: Path):
    done = run(cwd=tmp_path)
    assert done.exit_code == 0 and done.stderr == ""
    named = [line.split("  ")[1] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert named == [
        "warpwise labs get",
        "warpwise labs start",
        "warpwise check 1",
        "warpwise doctor",
    ]


def test_where_labs_are_it_names_the_first_of_them(tmp_path: Path):
    (tmp_path / "labs").mkdir()
    (tmp_path / "labs" / "08_coalescing.ipynb").touch()
    lines = list(first.steps(tmp_path))
    assert not any("labs get" in line for line in lines)
    assert any(line.startswith("  warpwise check 8 ") for line in lines)


def test_every_command_that_it_names_is_one(tmp_path: Path):
    lines = [line.split("  ")[1] for line in first.steps(tmp_path) if "  warpwise" in line]
    assert all(any(tuple(line.split()[1:][: len(p)]) == p for p in COMMANDS) for line in lines)


def test_without_jupyterlab_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(first, "find_spec", lambda name: None)
    assert any("pip install" in line for line in first.steps(tmp_path))


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("warpwise che", ["check"]),
        ("warpwise check 08", ["08_coalescing"]),
        ("warpwise check 8 tr", ["transpose"]),
        ("warpwise check 99 tr", []),
    ],
)
def test_the_shell_completes(typed: str, offered: list[str]):
    """As Bash asks: the words, and which of them is being written."""
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    asked = {"_WARPWISE_COMPLETE": "complete_bash"} | words
    with chdir(ROOT):
        done = CliRunner().invoke(app, env=asked, prog_name="warpwise")
    assert done.stdout.split() == offered, done.stderr

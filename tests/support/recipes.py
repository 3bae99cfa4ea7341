"""The recipes of CONTRIBUTING.md, and following them in a copy of the repository."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from support.paths import ROOT

#: Paths that a recipe says to write or extend; commands, which have blanks, are none.
PATH = re.compile(r"`(\w+/[\w./*]+\.\w+|_toc\.yml)`")
COMMAND = re.compile(r"`\.venv/bin/([^`]+)`")
PROGRAMS = {"python": (), "warpwise": ("-m", "warpwise.cli")}
OPTIONS = "-q -rA -p no:cacheprovider"


@dataclass(frozen=True)
class Recipe:
    """A section of the page, with words in capitals for what a reader chooses."""

    title: str
    text: str

    @property
    def lines(self) -> list[str]:
        return [line for line in self.text.splitlines() if line.strip()]

    @property
    def paths(self) -> set[str]:
        return set(PATH.findall(self.text))

    @property
    def commands(self) -> list[str]:
        return COMMAND.findall(self.text)

    @property
    def test(self) -> str:
        """The name of the test that follows it."""
        return "test_" + self.title.lower().replace(" ", "_")


def recipes() -> dict[str, Recipe]:
    """Map titles to the recipes of the page."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("\n## Recipes\n")[2]
    _, *parts = re.split(r"^### (.+)$", page, flags=re.MULTILINE)
    return {title: Recipe(title, text) for title, text in zip(parts[::2], parts[1::2], strict=True)}


def copied(folder: Path) -> Path:
    """Copy the files that belong to the repository, those not committed yet included."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in done.stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


@dataclass
class Following:
    """A recipe followed in a copy of the repository, with a reader's choice of words.

    Files are named as in the recipe, with its placeholders, so that it has to name each of them."""

    recipe: Recipe
    copy: Path
    words: dict[str, str]
    before: dict[Path, bytes | None] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)

    def filled(self, text: str) -> str:
        """Return a text with the recipe's placeholders replaced by the chosen words."""
        for word in sorted(self.words, key=len, reverse=True):
            text = text.replace(word, self.words[word])
        return text

    def files(self, path: str) -> list[Path]:
        """Return the files that a path of the recipe means, and note that it was used."""
        assert path in self.recipe.paths, f"{self.recipe.title} does not name {path}"
        self.written.add(path)
        found = self.filled(path)
        files = sorted(self.copy.glob(found)) if "*" in found else [self.copy / found]
        for file in files:
            self.before.setdefault(file, file.read_bytes() if file.is_file() else None)
        return files

    def write(self, path: str, text: str) -> None:
        (file,) = self.files(path)
        assert not file.exists()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def append(self, path: str, text: str) -> None:
        for file in self.files(path):
            old = file.read_text("utf-8") if file.is_file() else ""
            file.write_text(old + text, "utf-8")

    def insert(self, path: str, before: str, text: str) -> None:
        """Put a text before the last place of another one."""
        (file,) = self.files(path)
        head, found, tail = file.read_text("utf-8").rpartition(before)
        assert found, f"{path} has no {before!r}"
        file.write_text(head + text + found + tail, "utf-8")

    def prove(self) -> str:
        """Run the recipe's commands, and return what the last one printed."""
        said = ""
        for command in self.recipe.commands:
            program, *rest = shlex.split(self.filled(command))
            said = self.run(sys.executable, *PROGRAMS[program], *rest)
        return said

    def run(self, *command: str | Path) -> str:
        """Run a command with the copy's package; it has to succeed.

        The copy is a new one: the first command leaves its bytecode there for the others."""
        own = {"PYTHONPATH": str(self.copy), "PYTEST_ADDOPTS": OPTIONS}
        own["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # their imports take most of pytest's start
        others = ("PYTEST", "WARPWISE", "PYTHONDONTWRITEBYTECODE")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(others)}
        done = subprocess.run(
            command,
            cwd=self.copy,
            env=clean | own,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout[-6000:]
        return done.stdout

    def undo(self) -> None:
        """Take back what was written, so that the copy can serve the next recipe."""
        for file, text in self.before.items():
            if text is not None:
                file.write_bytes(text)
            elif file.exists():
                file.unlink()


def passed(said: str) -> set[str]:
    """Return the names of the tests that pytest lists as passed, without their files."""
    return {
        line.partition("::")[2] for line in said.splitlines() if line.startswith("PASSED tests/")
    }

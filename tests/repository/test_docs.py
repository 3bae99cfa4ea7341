"""Pages that must keep up with what they describe."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
from html import unescape
from importlib import import_module
from pathlib import Path

import pytest
from click import Command
from PIL import Image, ImageSequence
from support.paths import ROOT
from typer.main import get_command

from warpwise.cli import app
from warpwise.metrics import FIELDS, RATIOS

README = (ROOT / "README.md").read_text("utf-8")
MODULES = sorted((ROOT / "warpwise").rglob("*.py"))
PACKAGES = [
    path
    for path in MODULES
    if path.name == "__init__.py" and "__all__ =" in path.read_text("utf-8")
]
SCREEN = 32  # lines


def commands(group, prefix: str = "") -> dict[str, Command]:
    """Return every command's full name, such as "doctor" and "labs build"."""
    found = {}
    for name, command in group.commands.items():
        found |= (
            commands(command, f"{prefix}{name} ")
            if hasattr(command, "commands")
            else {prefix + name: command}
        )
    return found


COMMANDS = commands(get_command(app))


def targets() -> list[str]:
    """Return the targets that the Makefile explains."""
    return re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)


def sections() -> dict[str, list[str]]:
    """Map the headings of README.md to their lines.

    Lines before the first heading of level 2 are under the title."""
    parts = re.split(r"^##? (.*)$", README, flags=re.MULTILINE)
    return {
        title: body.strip().splitlines()
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_command_is_on_the_reference_page_with_its_parameters(site, name: str):
    text = re.sub(r"<[^>]*>", "", (site.folder / "chapters/reference_cli.html").read_text("utf-8"))
    assert f"$ warpwise {name} [OPTIONS]" in text
    entry = text.partition(f"$ warpwise {name} [OPTIONS]")[2].partition("$ warpwise ")[0]
    for parameter in COMMANDS[name].params:
        assert (parameter.metavar or parameter.opts[-1]) in entry
        assert parameter.help.split(".")[0] in re.sub("[\u2018\u2019]", "'", unescape(entry))


@pytest.mark.parametrize("name", FIELDS + RATIOS)
def test_every_metric_is_on_the_reference_page_with_what_it_counts(site, name: str):
    page = (site.folder / "chapters/reference_metrics.html").read_text("utf-8")
    entry = re.search(
        rf'<dt class="[^"]*" id="Metrics.{name}">.*?</dt>\s*<dd>(.*?)</dd>', page, re.DOTALL
    )
    assert entry, f"{name} is not on the page"
    words = re.sub(r"<[^>]*>", "", entry[1]).partition("Nsight Compute:")[0].split()
    assert len(words) >= 2, f"the comment of {name} does not say what it counts"


def test_constants_on_pages_come_from_the_package(site):
    """No substitution is left over, and the sector's size is there."""
    page = (site.folder / "chapters/glossary.html").read_text("utf-8")
    assert "{{" not in page
    assert "32 consecutive bytes of global memory" in page


def test_readme_opens_with_the_course_its_film_and_two_commands():
    opening = "\n".join(sections()["GPUs without the magic"])
    shown = re.findall(r'(?:src|srcset)="([^"]+)"', opening)
    assert [Path(one).name for one in shown] == ["edit-dark.webp", "edit-light.webp"]
    assert re.findall(r"^\$ (make \w+)", opening, re.MULTILINE) == ["make book", "make test"]
    parts = {"eighteen": "[01][0-9]_*.md", "nineteen": "../labs/*.ipynb"}
    numbers = {word: len(list((ROOT / "chapters").glob(glob))) for word, glob in parts.items()}
    assert numbers == {"eighteen": 18, "nineteen": 19} and all(word in opening for word in numbers)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_film_moves_for_ten_seconds_and_is_light(scheme: str):
    path = ROOT / f"chapters/images/edit-{scheme}.webp"
    with Image.open(path) as film:
        times = [
            (frame.load(), frame.info["duration"])[1] for frame in ImageSequence.Iterator(film)
        ]
    assert 5000 <= sum(times) <= 12_000 and len(times) > 3
    assert path.stat().st_size < 1e6


@pytest.mark.parametrize(
    "title", ["For students", "For instructors", "For visitors", "For contributors"]
)
def test_readme_section_fits_a_screen(title: str):
    assert 0 < len(sections()[title]) <= SCREEN


def test_readme_names_what_exists():
    named = set(re.findall(r"\bmake (\w+)`", README)) | set(
        re.findall(r"^\$ make (\w+)", README, re.MULTILINE)
    )
    assert named <= set(targets()) | {"help"}
    used = {" ".join(words.split()[:1]) for words in re.findall(r"bin/warpwise ([a-z ]+)", README)}
    assert used <= {name.split()[0] for name in COMMANDS} and used
    assert [
        link for link in re.findall(r"\]\((?!http)([^)#]+)\)", README) if not (ROOT / link).exists()
    ] == []


def test_every_folder_is_on_the_map():
    """The map is the last table of ARCHITECTURE.md."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    paths = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    folders = {path.split("/")[0] for path in paths if "/" in path and not path.startswith(".")}
    table = (ROOT / "ARCHITECTURE.md").read_text("utf-8").split("\n## Where the rest lies\n")[1]
    assert folders <= set(re.findall(r"`(\w+)/", table))


def test_help_lists_every_target():
    done = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line.split()[1] for line in done.stdout.splitlines()] == targets()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_module_says_what_it_is(path: Path):
    tree = ast.parse(path.read_text("utf-8"))
    assert ast.get_docstring(tree) or not tree.body


@pytest.mark.parametrize(
    "path", PACKAGES, ids=lambda path: path.parent.relative_to(ROOT).as_posix()
)
def test_exported_name_is_documented(path: Path):
    module = import_module(".".join(path.parent.relative_to(ROOT).parts))
    assert [name for name in module.__all__ if not inspect.getdoc(getattr(module, name))] == []

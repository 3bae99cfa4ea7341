"""Make the students' bundle: labs, the package as a wheel, the book, and a guide to set them up.

Everything that goes in is named here, so that a new file of the course stays out until somebody
names it. The finished folder is then searched for solutions and other secrets (``leaks``), and
takes its place only if it holds none: a release is whole, or not there."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import yaml

from warpwise.errors import LabError
from warpwise.labs import leaks
from warpwise.labs.source import CHECKOUT, load_lab, notebook_text

RECORD = "release.json"  #: description of a release, by which --force knows it
MOST_TERM = 60  # characters
TO_GUIDE = re.compile(r"\[([^\]]*)\]\(teaching/[^)]*\)")
FAVICON = re.compile(r"^(\s*favicon:\s*)(\S+)", re.M)

README = """# {title}

These are the course's labs{term}, the book, and the package that both need.
All you need beforehand is Python 3.11 or newer.

## Set up

In this folder, on Linux and macOS:

    python3 -m venv .venv
    .venv/bin/python -m pip install -r requirements.txt

On Windows it is `py -m venv .venv`, and `.venv\\Scripts\\` in place of `.venv/bin/` here and below.

## Work

    .venv/bin/jupyter lab labs                            # open the labs
    .venv/bin/warpwise check labs/{first}     # which exercises pass
    .venv/bin/warpwise doctor                             # what is installed, and what is missing

Write your answers into the cells that define a function with `...` in it, and leave the names of
functions and files as they are. Each exercise has hints, and a check below it that says what is
wrong. No GPU is needed.

Chapters are in `chapters/`: in JupyterLab, right-click one, then *Open With*, *Notebook*.{site}

## Hand in

Save the lab, run `warpwise check` on it once more, and hand in the notebook, such as
`labs/{first}`, under its own name. Only the text of your cells counts; outputs and
pictures are made again when it is graded.

## Versions

| lab | version |
|---|---|
{versions}

Warpwise {warpwise}.
"""
SITE = " Open `site/index.html` to read them as pages."


def release(
    target: Path,
    course: Path | None = None,
    term: str = "",
    site: bool = False,
    force: bool = False,
) -> tuple[str, ...]:
    """Write the students' bundle to ``target``, which must be new or empty; return a line about it.

    With ``force`` it may hold an earlier release, as long as nobody has changed anything in it.
    ``site`` builds the book into it, which takes some minutes. Raises LabError, and leaves
    everything as it was, when a part of the course is missing or stale, when the target is in use,
    or when something secret would be in the bundle."""
    root = course_folder(course)
    check_term(term)
    with replacing(target, force) as folder:
        versions = _labs(root, folder, term)
        wheel = build_wheel(root, folder / "dist")
        _book(root, folder)
        if site:
            _site(folder)
        _environment(root, folder, wheel)
        (folder / "README.md").write_text(_readme(root, versions, wheel, term, site), "utf-8")
        for name in ("LICENSE", "LICENSE-text"):
            if (root / name).is_file():
                shutil.copyfile(root / name, folder / name)
        refuse_leaks(folder, root)
        describe(folder, {"warpwise": _version(wheel), "term": term, "labs": versions})
    return (f"{len(versions)} labs, {wheel} and the book are in {target}",)


def course_folder(course: Path | None) -> Path:
    """Find the course: the one given, else this package's checkout, else the current folder.

    Raises LabError."""
    for root in [course] if course else [CHECKOUT, Path.cwd()]:
        if all((root / part).exists() for part in ("solutions", "labs", "pyproject.toml")):
            return root.resolve()
    has = "that has solutions/, labs/ and pyproject.toml (see --course)"
    raise LabError(f"{course or Path.cwd()} is not the course's folder: {has}")


@contextmanager
def replacing(target: Path, force: bool) -> Iterator[Path]:
    """Give a new folder to write into, which takes the place of ``target`` at the end.

    After an error nothing is left of it."""
    _check_target(target, force)
    target = target.absolute()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".warpwise-release-", dir=target.parent))
    except OSError as error:
        raise LabError(f"{target} cannot be written: {error.strerror}") from error
    try:
        made = work / "made"
        made.mkdir()
        yield made
        if target.exists():
            target.rename(work / "before")
        try:
            made.rename(target)
        except OSError:
            if (work / "before").exists():
                (work / "before").rename(target)
            raise
    except OSError as error:
        raise LabError(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def describe(folder: Path, about: dict[str, Any]) -> None:
    """Write a finished release's record: ``about``, and the digest of each of its files."""
    text = json.dumps(about | {"files": _digests(folder)}, indent=1)
    (folder / RECORD).write_text(f"{text}\n", "utf-8")


def build_wheel(root: Path, out: Path) -> str:
    """Build the package's wheel into ``out`` with its build backend, and return its name."""
    import hatchling  # noqa: F401 - so that its absence is reported like any other's

    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out.resolve())]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    wheels = sorted(out.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        why = (done.stderr.strip().splitlines() or ["no wheel came of it"])[-1]
        raise LabError(f"the package in {root} cannot be built: {why}")
    return wheels[0].name


def refuse_leaks(folder: Path, root: Path) -> None:
    """Raise LabError if something that students must not have is in ``folder``."""
    found = leaks.find(folder, leaks.secrets(root))
    if found:
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        raise LabError(f"nothing was released: {found[0].file} holds {found[0].what}{more}")


def stamped(text: str, term: str) -> str:
    """Add the term to a lab's metadata, beside the version by which the grader knows it."""
    notebook = nbformat.reads(text, 4)
    notebook.metadata["warpwise"]["term"] = term
    return notebook_text(notebook)


def handed_out(root: Path) -> Iterator[tuple[str, str, str]]:
    """Yield stem, version and text of each lab's notebook.

    Raises LabError if one is missing or was made from another source."""
    for source in sorted((root / "solutions").glob("*.md")):
        lab, path = load_lab(source), root / "labs" / f"{source.stem}.ipynb"
        try:
            text = path.read_text("utf-8")
            version = json.loads(text)["metadata"]["warpwise"]["version"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise LabError(f"{path} is missing or damaged: run `warpwise labs build`") from error
        if version != lab.version:
            raise LabError(f"{path} is not what {source} says now: run `warpwise labs build`")
        yield lab.stem, version, text


def _labs(root: Path, folder: Path, term: str) -> dict[str, str]:
    (folder / "labs").mkdir()
    versions = {}
    for stem, version, text in handed_out(root):
        content = stamped(text, term) if term else text
        (folder / "labs" / f"{stem}.ipynb").write_text(content, "utf-8")
        versions[stem] = version
    if not versions:
        raise LabError(f"there is no lab in {root / 'solutions'}")
    return versions


def _book(root: Path, folder: Path) -> None:
    """Copy the book's sources without the guides for teaching, and the files that its pages read.

    Links to a guide become plain words."""
    ignore = shutil.ignore_patterns("teaching", "mistakes", "_build", "__pycache__", ".*")
    shutil.copytree(root / "chapters", folder / "chapters", ignore=ignore)
    for page in (folder / "chapters").glob("*.md"):
        _rewrite(page, lambda text: TO_GUIDE.sub(r"\1", text))
    if (root / "measurements").is_dir():
        shutil.copytree(root / "measurements", folder / "measurements", ignore=ignore)
    for path in leaks.mistakes(root):
        (folder / path.relative_to(root)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / path.relative_to(root))
    contents = without_guides(yaml.safe_load((root / "_toc.yml").read_text("utf-8")))
    (folder / "_toc.yml").write_text(yaml.safe_dump(contents, sort_keys=False), "utf-8")
    shutil.copyfile(root / "_config.yml", folder / "_config.yml")
    icon = FAVICON.search((root / "_config.yml").read_text("utf-8"))
    if icon and (root / icon[2]).is_file():
        shutil.copyfile(root / icon[2], folder / Path(icon[2]).name)
        name = Path(icon[2]).name
        _rewrite(folder / "_config.yml", lambda text: FAVICON.sub(rf"\g<1>{name}", text))


def without_guides(contents: dict[str, Any]) -> dict[str, Any]:
    """Drop the guides from a book's table of contents, and parts that hold nothing else."""
    guides, parts = "chapters/teaching/", []
    for part in contents.get("parts", ()):
        pages = part.get("chapters", ())
        pages = [page for page in pages if not str(page.get("file", "")).startswith(guides)]
        if pages:
            parts.append(part | {"chapters": pages})
    return contents | ({"parts": parts} if parts else {})


def _site(folder: Path) -> None:
    """Build the students' book, which has no page of the guides, nor their words in its search."""
    with tempfile.TemporaryDirectory(prefix="warpwise-site-") as out:
        # it has no -m, and its script need not be on the path
        start = "from jupyter_book.cli.main import main; main()"
        command = [sys.executable, "-c", start, "build", ".", "--path-output", out]
        command += ["-W", "--keep-going"]
        both, pipe = subprocess.STDOUT, subprocess.PIPE
        done = subprocess.run(command, cwd=folder, stdout=pipe, stderr=both, text=True)
        built = Path(out) / "_build" / "html"
        if done.returncode or not (built / "index.html").is_file():
            told = re.findall(r".*(?:WARNING|Error|No module).*", done.stdout)
            why = (told or ["see what `make book` says"])[-1].strip()[:300]
            raise LabError(f"the book cannot be built: {why}")
        shutil.copytree(built, folder / "site")


def _environment(root: Path, folder: Path, wheel: str) -> None:
    """Write requirements.txt, and the versions that the course was tested with."""
    pinned = (root / "constraints.txt").is_file()
    if pinned:
        shutil.copyfile(root / "constraints.txt", folder / "constraints.txt")
    hint = "# To build the book too (jupyter-book build .), write [labs,book,toolchain] for [labs]."
    lines = [hint, *(["-c constraints.txt"] if pinned else []), f"./dist/{wheel}[labs]", ""]
    (folder / "requirements.txt").write_text("\n".join(lines), "utf-8")


def _readme(root: Path, versions: dict[str, str], wheel: str, term: str, site: bool) -> str:
    title = yaml.safe_load((root / "_config.yml").read_text("utf-8")).get("title", "Labs")
    rows = "\n".join(f"| `{stem}` | `{version}` |" for stem, version in versions.items())
    return README.format(
        title=title,
        term=f" for {term}" if term else "",
        first=f"{next(iter(versions))}.ipynb",
        versions=rows,
        warpwise=_version(wheel),
        site=SITE if site else "",
    )


def _version(wheel: str) -> str:
    return wheel.split("-")[1]


def check_term(term: str) -> None:
    if len(term) > MOST_TERM or not term.isprintable() or term != term.strip():
        one_line = f"one line of at most {MOST_TERM} characters, such as 'Spring 2027'"
        raise LabError(f"--term is {one_line}")


def _check_target(target: Path, force: bool) -> None:
    """Raise LabError unless ``target`` is new, empty or, with ``force``, an unchanged release."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise LabError(f"{target} is not a folder")
    if not target.exists() or not any(target.iterdir()):
        return
    if not force:
        choice = "name a new folder, or replace an earlier release with --force"
        raise LabError(f"{target} is not empty: {choice}")
    try:
        made = json.loads((target / RECORD).read_text("utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = "was not made by this command, so --force does not replace it"
        raise LabError(f"{target} {why}") from error
    now = _digests(target)
    changed = sorted(path for path in {*now, *made} if now.get(path) != made.get(path))
    if changed:
        lost = f"see {changed[0]}: move it away, --force would lose that"
        raise LabError(f"{target} is not as it was released, {lost}")


def _digests(folder: Path) -> dict[str, str]:
    """Map the path of each file of a folder to its digest, but for the release's own record."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    digests = {path.relative_to(folder).as_posix(): _digest(path) for path in files}
    return {path: digest for path, digest in digests.items() if path != RECORD}


def _digest(path: Path) -> str:
    return "a link" if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest()


def _rewrite(path: Path, change: Callable[[str], str]) -> None:
    path.write_text(change(path.read_text("utf-8")), "utf-8")

"""Make what students are handed: labs, the package as a wheel, the book, and how to set them up. Nothing else of the course goes in.

What goes in is named here one by one, so that a new file of the course stays out until somebody names it. The finished folder is then
searched for solutions and the like (``leaks``), and takes its place only if none is in it: a release is whole, or not there.
"""

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

import nbformat
import yaml

from warpwise.errors import LabError
from warpwise.labs import leaks
from warpwise.labs.source import CHECKOUT, load_lab

RECORD = "release.json"  #: what a release says of itself, and by which --force knows it
MOST_TERM = 60  # characters
TO_GUIDE = re.compile(r"\[([^\]]*)\]\(teaching/[^)]*\)")
FAVICON = re.compile(r"^(\s*favicon:\s*)(\S+)", re.M)

README = """# {title}

These are the course's labs{term}, the book, and the package that both need. Python 3.11 or newer is all that has to be there.

## Set up

In this folder, on Linux and macOS:

    python3 -m venv .venv
    .venv/bin/python -m pip install -r requirements.txt

On Windows it is `py -m venv .venv`, and `.venv\\Scripts\\` in place of `.venv/bin/` here and below.

## Work

    .venv/bin/jupyter lab labs                            # open the labs
    .venv/bin/warpwise check labs/{first}     # which exercises pass
    .venv/bin/warpwise doctor                             # what this machine has, and lacks

Write your answers into the cells that define a function with `...` in it, and leave the names of functions and files as they are.
Each exercise has hints, and a check below it that says what is wrong. No GPU is needed.

Chapters are in `chapters/`: in JupyterLab, open one with a right click, *Open With*, *Notebook*.{site}

## Hand in

Save the lab, run `warpwise check` on it once more, and hand in the notebook, such as `labs/{first}`, under its own name.
What counts is in your cells' text; outputs and pictures are made again when it is graded.

## Versions

| lab | version |
|---|---|
{versions}

Warpwise {warpwise}.
"""
SITE = " Open `site/index.html` to read them as pages."


def release(target: Path, course: Path | None = None, term: str = "", site: bool = False, force: bool = False) -> tuple[str, ...]:
    """Write the students' bundle to ``target``, which must be new or empty; returns a line about each part.

    With ``force`` it may hold an earlier release, as long as nobody has changed anything in it. ``site`` builds the book into it, which
    takes some minutes. Raises LabError, and leaves everything as it was, when a part of the course is missing or stale, when the
    target is in use, or when something secret would be in the bundle.
    """
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
    """The course to hand out: the one given, else the checkout of this package, else the current folder. Raises LabError."""
    for root in [course] if course else [CHECKOUT, Path.cwd()]:
        if all((root / part).exists() for part in ("solutions", "labs", "pyproject.toml")):
            return root.resolve()
    raise LabError(f"{course or Path.cwd()} is not the course's folder: that has solutions/, labs/ and pyproject.toml (see --course)")


@contextmanager
def replacing(target: Path, force: bool) -> Iterator[Path]:
    """A new folder beside ``target`` to write into, which takes its place at the end; after an error nothing is left of it."""
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


def describe(folder: Path, about: dict) -> None:
    """Write what a finished release says of itself: ``about``, and the digest of each of its files."""
    (folder / RECORD).write_text(json.dumps(about | {"files": _digests(folder)}, indent=1) + "\n", "utf-8")


def build_wheel(root: Path, out: Path) -> str:
    """Build the package's wheel into ``out`` with its build backend, and return its name. Students need nothing to build it then."""
    import hatchling  # noqa: F401 - so that its absence is said like any other's

    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out.resolve())]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    wheels = sorted(out.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise LabError(f"the package in {root} cannot be built: {(done.stderr.strip().splitlines() or ['no wheel came of it'])[-1]}")
    return wheels[0].name


def refuse_leaks(folder: Path, root: Path) -> None:
    """Raises LabError if something that students must not have is in ``folder``."""
    found = leaks.find(folder, leaks.secrets(root))
    if found:
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        raise LabError(f"nothing was released: {found[0].file} holds {found[0].what}{more}")


def stamped(text: str, term: str) -> str:
    """A lab's notebook with the term in its metadata, beside the version by which the grader knows it."""
    notebook = nbformat.reads(text, 4)
    notebook.metadata["warpwise"]["term"] = term
    return nbformat.writes(notebook) + "\n"


def handed_out(root: Path) -> Iterator[tuple[str, str, str]]:
    """(stem, version, text) of each lab's notebook. Raises LabError if one is missing or was made from another source."""
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
        (folder / "labs" / f"{stem}.ipynb").write_text(stamped(text, term) if term else text, "utf-8")
        versions[stem] = version
    if not versions:
        raise LabError(f"there is no lab in {root / 'solutions'}")
    return versions


def _book(root: Path, folder: Path) -> None:
    """The book's sources without the guides for teaching, and what its pages read. Links to a guide become plain words."""
    ignore = shutil.ignore_patterns("teaching", "_build", "__pycache__", ".*")
    shutil.copytree(root / "chapters", folder / "chapters", ignore=ignore)
    for page in (folder / "chapters").glob("*.md"):
        _rewrite(page, lambda text: TO_GUIDE.sub(r"\1", text))
    if (root / "measurements").is_dir():
        shutil.copytree(root / "measurements", folder / "measurements", ignore=ignore)
    for path in leaks.mistakes(root):
        (folder / path.relative_to(root)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / path.relative_to(root))
    contents = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    (folder / "_toc.yml").write_text(yaml.safe_dump(without_guides(contents), sort_keys=False), "utf-8")
    shutil.copyfile(root / "_config.yml", folder / "_config.yml")
    icon = FAVICON.search((root / "_config.yml").read_text("utf-8"))
    if icon and (root / icon[2]).is_file():
        shutil.copyfile(root / icon[2], folder / Path(icon[2]).name)
        _rewrite(folder / "_config.yml", lambda text: FAVICON.sub(lambda found: found[1] + Path(found[2]).name, text))


def without_guides(contents: dict) -> dict:
    """A book's table of contents without the guides, and without a part that held nothing else."""
    parts = []
    for part in contents.get("parts", ()):
        pages = [page for page in part.get("chapters", ()) if not str(page.get("file", "")).startswith("chapters/teaching/")]
        if pages:
            parts.append(part | {"chapters": pages})
    return contents | ({"parts": parts} if parts else {})


def _site(folder: Path) -> None:
    """Build the book that students get, which has no page of the guides, nor their words in its search."""
    with tempfile.TemporaryDirectory(prefix="warpwise-site-") as out:
        start = "from jupyter_book.cli.main import main; main()"  # it has no -m, and its script need not be on the path
        command = [sys.executable, "-c", start, "build", ".", "--path-output", out, "-W", "--keep-going"]
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        built = Path(out) / "_build" / "html"
        if done.returncode or not (built / "index.html").is_file():
            told = [line for line in done.stdout.splitlines() if "WARNING" in line or "Error" in line or "No module" in line]
            raise LabError(f"the book cannot be built: {(told or ['see what `make book` says'])[-1].strip()[:300]}")
        shutil.copytree(built, folder / "site")


def _environment(root: Path, folder: Path, wheel: str) -> None:
    """requirements.txt, and the versions that the course was tested with."""
    pinned = (root / "constraints.txt").is_file()
    if pinned:
        shutil.copyfile(root / "constraints.txt", folder / "constraints.txt")
    hint = "# To build the book too (jupyter-book build .), write [labs,book,toolchain] in place of [labs]."
    lines = [hint, *(["-c constraints.txt"] if pinned else [])]
    (folder / "requirements.txt").write_text("\n".join([*lines, f"./dist/{wheel}[labs]", ""]), "utf-8")


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
        raise LabError(f"--term is one line of at most {MOST_TERM} characters, such as 'Spring 2027'")


def _check_target(target: Path, force: bool) -> None:
    """Raises LabError if ``target`` is neither new nor empty, nor, with ``force``, a release as it was made."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise LabError(f"{target} is not a folder")
    if not target.exists() or not any(target.iterdir()):
        return
    if not force:
        raise LabError(f"{target} is not empty: name a new folder, or replace an earlier release with --force")
    try:
        made = json.loads((target / RECORD).read_text("utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(f"{target} was not made by this command, so --force does not replace it") from error
    now = _digests(target)
    changed = sorted(path for path in {*now, *made} if now.get(path) != made.get(path))
    if changed:
        raise LabError(f"{target} is not as it was released, see {changed[0]}: move it away, --force would lose that")


def _digests(folder: Path) -> dict[str, str]:
    """Path -> digest of each file of a folder, but for the release's own record."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return {path.relative_to(folder).as_posix(): _digest(path) for path in files if path.relative_to(folder) != Path(RECORD)}


def _digest(path: Path) -> str:
    return "a link" if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest()


def _rewrite(path: Path, change: Callable[[str], str]) -> None:
    path.write_text(change(path.read_text("utf-8")), "utf-8")

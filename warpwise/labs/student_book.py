"""The students' book: its sources without what is for instructors, and the site made of them.

A site is kept in the course's ``_build/students``, under a digest of all that it was made from, and
taken from there the next time: to build one takes minutes."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

import warpwise
from warpwise.errors import LabError
from warpwise.labs import joined, leaks

TEACHING = "For instructors"  #: caption of their part of the table of contents
GUIDES = "chapters/teaching/"
FAVICON = re.compile(r"^(\s*favicon:\s*)(\S+)", re.M)
BUILT = "_build/students"
MOST_KEPT = 3  # sites; each has some 50 MB
PACKAGE = Path(warpwise.__file__).parent


def copy_book(root: Path, folder: Path) -> None:
    """Copy the book's sources without the pages for instructors, and the files that pages read.

    Links to a guide become plain words. A line with a link to another page for instructors, which
    is a sentence or an entry of a list, is left out, and so is a button that leads there."""
    contents = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    hidden = [page for page in _instructors(contents) if not page.startswith(GUIDES)]
    pages = [f"{PurePosixPath(page).name}.md" for page in hidden]
    ignore = shutil.ignore_patterns("teaching", "mistakes", "_build", "__pycache__", ".*", *pages)
    shutil.copytree(root / "chapters", folder / "chapters", ignore=ignore)
    for page in (folder / "chapters").glob("*.md"):
        _rewrite(page, lambda text: _for_students(text, pages))
    if (root / "measurements").is_dir():
        shutil.copytree(root / "measurements", folder / "measurements", ignore=ignore)
    for path in leaks.mistakes(root):
        (folder / path.relative_to(root)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / path.relative_to(root))
    (folder / "_toc.yml").write_text(
        yaml.safe_dump(without_instructors(contents), sort_keys=False), "utf-8"
    )
    shutil.copyfile(root / "_config.yml", folder / "_config.yml")
    icon = FAVICON.search((root / "_config.yml").read_text("utf-8"))
    if icon and (root / icon[2]).is_file():
        shutil.copyfile(root / icon[2], folder / Path(icon[2]).name)
        name = Path(icon[2]).name
        _rewrite(folder / "_config.yml", lambda text: FAVICON.sub(rf"\g<1>{name}", text))


def without_instructors(contents: dict[str, Any]) -> dict[str, Any]:
    """Drop the pages for instructors from a table of contents, and parts that hold nothing else."""
    hidden, parts = set(_instructors(contents)), []
    for part in contents.get("parts", ()):
        pages = [page for page in part.get("chapters", ()) if page.get("file") not in hidden]
        if pages:
            parts.append(part | {"chapters": pages})
    return contents | ({"parts": parts} if parts else {})


def add_site(root: Path, folder: Path, kept_back: Mapping[str, str]) -> bool:
    """Put the site of a folder's book into it; return whether it had to be built.

    The labs on the site are those of the folder, and none of its examples holds one of the secrets
    ``kept_back``. Raises LabError where the book cannot be built."""
    kept = root / BUILT / _digest(folder)
    new = not (kept / "index.html").is_file()
    if new:
        _build(folder, kept)
    shutil.copytree(kept, folder / "site")
    shutil.rmtree(folder / "site" / "labs", ignore_errors=True)
    shutil.copytree(folder / "labs", folder / "site" / "labs")
    for lab in (folder / "site/lite/files").glob("*.ipynb"):  # where labs run in the browser
        lab.unlink()
        if (released := folder / "labs" / lab.name).is_file():
            joined.copy(released, lab)
    if (examples := folder / "site/_static/playground/examples.json").is_file():
        leaks.leave_out(examples, kept_back)  # some are as good as a solution
    return new


def _instructors(contents: dict[str, Any]) -> list[str]:
    """List the pages for instructors: the guides, and all of the part on teaching."""
    pages = [
        (part.get("caption"), str(page.get("file", "")))
        for part in contents.get("parts", ())
        for page in part.get("chapters", ())
    ]
    return [page for caption, page in pages if caption == TEACHING or page.startswith(GUIDES)]


def _for_students(text: str, pages: list[str]) -> str:
    if pages:
        names = "|".join(map(re.escape, pages))
        text = re.sub(rf"^.*\]\((?:{names})(?:#[^)]*)?\).*\n?", "", text, flags=re.M)
        stems = "|".join(re.escape(page.removesuffix(".md")) for page in pages)
        text = re.sub(rf"^```\{{button-ref\}} (?:{stems})\n(?:.*\n)*?```\n", "", text, flags=re.M)
    return re.sub(r"\[([^\]]*)\]\(teaching/[^)]*\)", r"\1", text)


def _build(folder: Path, target: Path) -> None:
    """Build the book of a folder into ``target``, whole or not at all."""
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
        target.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
        shutil.copytree(built, part, dirs_exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        part.rename(target)
    sites = sorted(target.parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in [path for path in sites if path != target][MOST_KEPT - 1 :]:
        shutil.rmtree(old, ignore_errors=True)


def _digest(folder: Path) -> str:
    """Return a digest of what a site is made from: the book, the labs' names, and the package."""
    digest = hashlib.sha256(sys.version.encode())
    for base, paths in ((folder, _sources(folder)), (PACKAGE, _package())):
        for path in paths:
            digest.update(f"{path.relative_to(base).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    names = sorted(path.name for path in (folder / "labs").iterdir())
    digest.update("\0".join(names).encode())
    return digest.hexdigest()[:16]


def _sources(folder: Path) -> Iterator[Path]:
    yield from sorted(path for path in folder.iterdir() if path.suffix in (".yml", ".svg", ".txt"))
    for part in ("chapters", "measurements"):
        yield from sorted(path for path in (folder / part).rglob("*") if path.is_file())


def _package() -> list[Path]:
    paths = PACKAGE.rglob("*")
    return sorted(path for path in paths if path.is_file() and "__pycache__" not in path.parts)


def _rewrite(path: Path, change: Callable[[str], str]) -> None:
    path.write_text(change(path.read_text("utf-8")), "utf-8")

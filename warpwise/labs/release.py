"""Make the students' bundle: labs, the package as a wheel, the book, and a guide to set them up.

Everything that goes in is named here, so that a new file of the course stays out until somebody
names it. The finished folder is then searched for solutions and other secrets (``leaks``), and
takes its place only if it holds none: a release is whole, or not there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import nbformat
import yaml

from warpwise.errors import LabError
from warpwise.labs import leaks
from warpwise.labs.chosen import chosen
from warpwise.labs.source import CHECKOUT, load_lab, notebook_text
from warpwise.labs.student_book import add_site, copy_book
from warpwise.labs.student_readme import Plan, readme
from warpwise.labs.update import RECORD

MOST_TERM = 60  # characters


@dataclass(frozen=True)
class Earlier:
    """What an earlier release says of itself: its term, its labs' versions, and its files."""

    term: str = ""
    labs: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


def release(
    target: Path,
    course: Path | None = None,
    term: str = "",
    site: bool = False,
    force: bool = False,
    labs: Sequence[str] = (),
    plan: Plan | None = None,
) -> tuple[str, ...]:
    """Write the students' bundle to ``target``, which must be new or empty; return lines about it.

    ``labs`` are the only ones to hand out (``chosen``). If ``target`` holds an earlier release they
    are added to those in it, which stay as they were handed out; so does whatever else lies there.
    With ``force`` an earlier release is replaced, as long as nobody has changed anything in it.
    ``site`` puts the built book into it, which takes some minutes unless it was built before;
    ``plan`` is what the README says of points and due times. Raises LabError, and leaves
    everything as it was, when a part of the course is missing or stale, when the target is in use,
    or when something secret would be in the bundle."""
    root = course_folder(course)
    check_term(term)
    earlier = _earlier(target) if labs and not force else Earlier()
    term = term or earlier.term
    site = site or any(path.startswith("site/") for path in earlier.files)
    with replacing(target, force, earlier) as folder:
        new = _labs(root, folder, term, labs)
        kept = {stem: version for stem, version in earlier.labs.items() if stem not in new}
        for stem in kept:
            shutil.copyfile(target / "labs" / f"{stem}.ipynb", folder / "labs" / f"{stem}.ipynb")
        versions = dict(sorted({**new, **kept}.items()))
        wheel = build_wheel(root, folder / "dist")
        copy_book(root, folder)
        _environment(root, folder, wheel)
        kept_back = leaks.secrets(root)
        built = site and add_site(root, folder, kept_back)
        title = yaml.safe_load((root / "_config.yml").read_text("utf-8")).get("title", "Labs")
        text = readme(title, versions, plan or Plan(), _version(wheel), term, site)
        (folder / "README.md").write_text(text, "utf-8")
        for name in ("LICENSE", "LICENSE-text"):
            if (root / name).is_file():
                shutil.copyfile(root / name, folder / name)
        describe(folder, {"warpwise": _version(wheel), "term": term, "labs": versions})
        _carry_over(target, folder, earlier)
        refuse_leaks(folder, kept_back)
    return tuple(_lines(target, new, kept, wheel, site and not built, root))


def _lines(
    target: Path,
    new: Mapping[str, str],
    kept: Mapping[str, str],
    wheel: str,
    reused: bool,
    root: Path,
) -> Iterator[str]:
    count = len(new) + len(kept)
    there = "1 lab" if count == 1 else f"{count} labs"
    yield f"{there}, {wheel} and the book are in {target}"
    if kept:
        yield f"handed out now: {', '.join(new)}; as they were: {', '.join(kept)}"
    for stem, version in kept.items():
        source = root / "solutions" / f"{stem}.md"
        if source.is_file() and load_lab(source).version != version:
            yield f"{stem} has changed since it was handed out: --lab {stem} hands out the new one"
    if reused:
        yield "the site was built before, from the same sources"


def course_folder(course: Path | None) -> Path:
    """Find the course: the one given, else this package's checkout, else the current folder.

    Raises LabError."""
    for root in [course] if course else [CHECKOUT, Path.cwd()]:
        if all((root / part).exists() for part in ("solutions", "labs", "pyproject.toml")):
            return root.resolve()
    has = "that has solutions/, labs/ and pyproject.toml (see --course)"
    raise LabError(f"{course or Path.cwd()} is not the course's folder: {has}")


@contextmanager
def replacing(target: Path, force: bool, earlier: Earlier | None = None) -> Iterator[Path]:
    """Give a new folder to write into, which takes the place of ``target`` at the end.

    That may hold the ``earlier`` release. After an error nothing is left of the new folder."""
    _check_target(target, force, earlier or Earlier())
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
    """Build the package's wheel, without labs, into ``out``, and return its name."""
    import hatchling  # noqa: F401 - so that its absence is reported like any other's

    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out.resolve())]
    without = os.environ | {"HATCH_BUILD_NO_HOOKS": "true"}
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=without)
    wheels = sorted(out.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        why = (done.stderr.strip().splitlines() or ["no wheel came of it"])[-1]
        raise LabError(f"the package in {root} cannot be built: {why}")
    return wheels[0].name


def refuse_leaks(folder: Path, kept_back: Mapping[str, str]) -> None:
    """Raise LabError if one of the secrets, which students must not have, is in ``folder``."""
    found = leaks.find(folder, kept_back)
    if found:
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        raise LabError(f"nothing was released: {found[0].file} holds {found[0].what}{more}")


def stamped(text: str, term: str) -> str:
    """Add the term and the day to a lab's metadata, beside the version by which it is known."""
    notebook = nbformat.reads(text, 4)
    about = {"released": date.today().isoformat()} | ({"term": term} if term else {})
    notebook.metadata["warpwise"] |= about
    return notebook_text(notebook)


def handed_out(root: Path, labs: Sequence[str] = ()) -> Iterator[tuple[str, str, str]]:
    """Yield stem, version and text of each lab's notebook, or of those that are meant.

    Raises LabError if one is missing or was made from another source."""
    stems = sorted(path.stem for path in (root / "solutions").glob("*.md"))
    for stem in chosen(stems, labs):
        source, path = root / "solutions" / f"{stem}.md", root / "labs" / f"{stem}.ipynb"
        lab = load_lab(source)
        try:
            text = path.read_text("utf-8")
            version = json.loads(text)["metadata"]["warpwise"]["version"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise LabError(f"{path} is missing or damaged: run `warpwise labs build`") from error
        if version != lab.version:
            raise LabError(f"{path} is not what {source} says now: run `warpwise labs build`")
        yield lab.stem, version, text


def _labs(root: Path, folder: Path, term: str, labs: Sequence[str]) -> dict[str, str]:
    (folder / "labs").mkdir()
    versions = {}
    for stem, version, text in handed_out(root, labs):
        (folder / "labs" / f"{stem}.ipynb").write_text(stamped(text, term), "utf-8")
        versions[stem] = version
    if not versions:
        raise LabError(f"there is no lab in {root / 'solutions'}")
    return versions


def _environment(root: Path, folder: Path, wheel: str) -> None:
    """Write requirements.txt, and the versions that the course was tested with."""
    pinned = (root / "constraints.txt").is_file()
    if pinned:
        shutil.copyfile(root / "constraints.txt", folder / "constraints.txt")
    hint = "# To build the book too (jupyter-book build .), write [labs,book,toolchain] for [labs]."
    lines = [hint, *(["-c constraints.txt"] if pinned else []), f"./dist/{wheel}[labs]", ""]
    (folder / "requirements.txt").write_text("\n".join(lines), "utf-8")


def _version(wheel: str) -> str:
    return wheel.split("-")[1]


def check_term(term: str) -> None:
    if len(term) > MOST_TERM or not term.isprintable() or term != term.strip():
        one_line = f"one line of at most {MOST_TERM} characters, such as 'Spring 2027'"
        raise LabError(f"--term is {one_line}")


def _earlier(target: Path) -> Earlier:
    """Return what an earlier release in a folder says of itself; nothing where there is none."""
    try:
        found = json.loads((target / RECORD).read_text("utf-8"))
        return Earlier(str(found["term"]), dict(found["labs"]), dict(found["files"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Earlier()


def _check_target(target: Path, force: bool, earlier: Earlier) -> None:
    """Raise LabError unless ``target`` is new, empty or an unchanged release.

    A release to which labs are added may have other files beside its own, one that is replaced, by
    ``force``, may not."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise LabError(f"{target} is not a folder")
    if not target.exists() or not any(target.iterdir()):
        return
    made = earlier.files or _earlier(target).files
    if not (force or earlier.files):
        add = ", or add a lab to it with --lab" if made else ""
        choice = f"name a new folder, or replace an earlier release with --force{add}"
        raise LabError(f"{target} is not empty: {choice}")
    if not made:
        why = "was not made by this command, so --force does not replace it"
        raise LabError(f"{target} {why}")
    now = _digests(target)
    looked_at = made if earlier.files else {*now, *made}
    changed = sorted(path for path in looked_at if now.get(path) != made.get(path))
    if changed:
        lost = f"see {changed[0]}: move it away, this would lose it"
        raise LabError(f"{target} is not as it was released, {lost}")


def _carry_over(target: Path, folder: Path, earlier: Earlier) -> None:
    """Copy what lies in an earlier release and is not its own, such as ``.git``.

    Raises LabError if the new release has something in the same place."""
    if not earlier.files:
        return
    ours = {path.partition("/")[0] for path in earlier.files} | {RECORD}
    for path in sorted(target.iterdir()):
        if path.name not in ours:
            _copy(path, folder / path.name)
    for name in sorted(_digests(target)):
        if name.partition("/")[0] in ours and name not in earlier.files:
            _copy(target / name, folder / name)


def _copy(path: Path, target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise LabError(f"{path} is in the way of a new file of that name: move it away")
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.copytree(path, target, symlinks=True)
    else:
        shutil.copy2(path, target, follow_symlinks=False)


def _digests(folder: Path) -> dict[str, str]:
    """Map the path of each file of a folder to its digest, but for the release's own record."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    digests = {path.relative_to(folder).as_posix(): _digest(path) for path in files}
    return {path: digest for path, digest in digests.items() if path != RECORD}


def _digest(path: Path) -> str:
    return "a link" if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest()

"""Bring labs up to date for a student: ``warpwise labs update``.

The old notebook, or folder of them, is moved into the labs of the handout in the current folder; or
it is brought up to date where it lies, with a handout named by ``--from``. What is overwritten is
kept beside it, unless it is a lab exactly as it was handed out. A file is whole, old or new."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from warpwise.errors import LabError
from warpwise.labs.merge import merge
from warpwise.labs.source import notebook_text
from warpwise.labs.whole import whole

RECORD = "release.json"  #: description of a handout, by which it is known
BACKUP = ".before-update"  # no .ipynb at its end, so that it is not handed in as a notebook


@dataclass(frozen=True)
class Updated:
    """One notebook that was brought up to date, in words, or the problem with it."""

    lines: tuple[str, ...]
    failed: bool = False


def update(old: Path, new: Path | None = None, out: Path | None = None) -> Iterator[Updated]:
    """Move the answers in ``old``, a notebook or a folder of labs, into the labs of today.

    These are those of the handout ``new``, by default the current folder. The result goes to
    ``out``; without it to ``old`` where ``new`` is given, and else to the labs of today. Raises
    LabError, before anything is written, if there is nothing to move or nothing to move it into;
    of several notebooks, one that cannot be read is a failed result."""
    if not old.exists():
        raise LabError(f"there is no {old}")
    labs = _labs(new or Path())
    if not labs:
        where = new or "the current folder"
        raise LabError(f"there are no labs in {where}: name the new handout with --from FOLDER")
    several = old.is_dir()
    notebooks = sorted(_labs(old).values()) if several else [old]
    if not notebooks:
        raise LabError(f"there are no labs in {old}")
    if several and out is not None and out.suffix == ".ipynb":
        raise LabError(f"--out {out} is a notebook, and {old} is a folder: name a folder")
    if several and out is not None:
        _folder(out)
    for path in notebooks:
        try:
            target = out / path.name if several and out else out
            yield _updated(path, labs, target or (path if new else None))
        except LabError as error:
            if not several:
                raise
            yield Updated((f"{path}: {error}",), failed=True)


def _updated(path: Path, labs: dict[str, Path], target: Path | None) -> Updated:
    old = _read(path)
    stem = str(old.metadata.get("warpwise", {}).get("lab") or path.stem)
    if stem not in labs:
        there = ", ".join(sorted(labs))
        raise LabError(f"{path.name} is of lab {stem}, which is not among the new labs ({there})")
    fresh = labs[stem]
    target = target or fresh
    if fresh.resolve() == path.resolve():
        raise LabError(f"{path} is the lab of this folder; name the new handout with --from FOLDER")
    found = merge(old, _read(fresh))
    text = notebook_text(found.notebook)
    lines = [f"{stem}: {_moved(found.moved)}"]
    lines += [
        f"  look at {id}: your older answer stands below it, as a comment" for id in found.look
    ]
    if found.own:
        cells = "1 cell of your own is" if found.own == 1 else f"{found.own} own cells are"
        lines.append(f"  {cells} at the end")
    if target.exists() and _same(target, found.notebook):
        return Updated((*lines, f"  {target} is up to date"))
    backup = _keep(target)
    _write(target, text)
    lines.append(f"  see {target}" + (f"; what was there is now {backup.name}" if backup else ""))
    return Updated(tuple(lines))


def _moved(ids: tuple[str, ...]) -> str:
    return f"moved {', '.join(ids)}" if ids else "no answer to move"


def _labs(folder: Path) -> dict[str, Path]:
    """Map the stems of the labs of a handout, or of its folder of labs, to their files."""
    if folder.is_file():
        return {folder.stem: folder}
    inside = folder / "labs"
    paths = (inside if inside.is_dir() else folder).glob("[0-9]*.ipynb")
    return {path.stem: path for path in sorted(paths)}


def _read(path: Path) -> NotebookNode:
    try:
        notebook: NotebookNode = nbformat.reads(path.read_text("utf-8"), 4)
        nbformat.validate(notebook)
    except OSError as error:
        raise LabError(f"{path} cannot be read: {error.strerror}") from error
    except Exception as error:  # whatever nbformat's schema or JSON says of a damaged file
        raise LabError(f"{path} is not a notebook that can be read") from error
    return notebook


def _same(target: Path, made: NotebookNode) -> bool:
    """True if a file holds the same cells: ids and outputs of own cells may differ."""
    try:
        there = _read(target)
    except LabError:
        return False
    cells = [[(c.cell_type, c.source) for c in n.cells] for n in (there, made)]
    ours = [n.metadata.get("warpwise") for n in (there, made)]
    return cells[0] == cells[1] and ours[0] == ours[1]


def _keep(target: Path) -> Path | None:
    """Copy a file that is not as it was handed out, to a name beside it that is not taken."""
    if not target.exists() or _untouched(target):
        return None
    count, backup = 1, target.with_name(f"{target.name}{BACKUP}")
    while backup.exists():
        count += 1
        backup = target.with_name(f"{target.name}{BACKUP}-{count}")
    try:
        shutil.copy2(target, backup)
    except OSError as error:
        raise LabError(f"{backup} cannot be written: {error.strerror}") from error
    return backup


def _untouched(path: Path) -> bool:
    """True if the handout around a lab says that the file is as it was released."""
    try:
        files = json.loads((path.parent.parent / RECORD).read_text("utf-8"))["files"]
        known = files.get(f"{path.parent.name}/{path.name}")
        return bool(known == hashlib.sha256(path.read_bytes()).hexdigest())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"{path} cannot be made: {error.strerror}") from error


def _write(path: Path, text: str) -> None:
    try:
        whole(path, text)
    except OSError as error:
        raise LabError(f"{path} cannot be written: {error.strerror}") from error

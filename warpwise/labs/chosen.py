"""Know which labs somebody means: by stem, number, topic, or the beginning of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path, PurePath

from warpwise.errors import LabError
from warpwise.labs.get import PLACES
from warpwise.simt.compiler.spelling import nearest

MISSING = "there is no lab {}"
SURE = 0.7  #: how alike a misspelled name has to be, to be taken for a lab's


def chosen(stems: Sequence[str], wanted: Iterable[str], missing: str = MISSING) -> tuple[str, ...]:
    """Return the stems that are meant, in order; all of them where nothing is wanted.

    ``08_coalescing``, its path, ``8``, ``lab 8``, ``08_co``, ``coalescing`` and ``coal`` mean the
    same. Raises LabError for a name that fits none, or several; ``missing`` says that it fits none,
    with the name in the place of {}."""
    meant = {_meant(text, stems, missing) for text in wanted}
    return tuple(stem for stem in stems if stem in meant or not meant)


def notebook(text: str, folder: Path | None = None) -> tuple[Path, bool]:
    """Return the notebook that somebody means, and whether its name was misspelled.

    A path is looked for first. Any other name is one of the notebooks in the folder, by default
    this one, or in one of its ``PLACES``. Raises LabError for a name that fits none, or several."""
    path = Path(folder or "", text)
    if path.exists():
        return path, False
    places = [path.parent / place for place in PLACES]
    found = {one.stem: one for place in places for one in sorted(place.glob("*.ipynb"))}
    if not found:
        raise LabError(f"no notebook at {path}, and no labs here: warpwise labs get lays them")
    stems = sorted(found)
    try:
        return found[_meant(text, stems)], False
    except LabError:
        known = _topics(stems)
        near = get_close_matches(_name(text).lower(), known, n=1, cutoff=SURE)
        if not near:
            raise
        return found[known[near[0]]], True


def _meant(text: str, stems: Sequence[str], missing: str = MISSING) -> str:
    name = _name(text)
    number = re.fullmatch(r"(?:lab[ _-]?)?0*(\d{1,6})", name, re.I)
    if name in stems:
        return name
    fitting = [stem for stem in stems if number and _number(stem) == int(number[1])]
    if not number and name:
        starts = [(stem, stem.partition("_")[2]) for stem in stems]
        fitting = [stem for stem, topic in starts if topic == name]
        fitting = fitting or [
            s for s, topic in starts if name in (s[: len(name)], topic[: len(name)])
        ]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise LabError(f"{text!r} may be {' or '.join(fitting)}; write more of it")
    known = _topics(stems)
    near = nearest(name, known)
    hint = f"did you mean {known[near]}?" if near else f"there are {', '.join(stems) or 'none'}"
    raise LabError(f"{missing.replace('{}', repr(text))}; {hint}")


def _name(text: str) -> str:
    return re.sub(r"\.(ipynb|md)$", "", PurePath(text.strip()).name)


def _topics(stems: Sequence[str]) -> dict[str, str]:
    """Map stems, and their topics, to stems."""
    return {topic: stem for stem in stems for topic in (stem, stem.partition("_")[2])}


def _number(stem: str) -> int:
    digits = re.match(r"\d+", stem)
    return int(digits[0]) if digits else -1

"""Know which labs somebody means: by stem, number, topic, or the beginning of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from warpwise.errors import LabError
from warpwise.simt.compiler.advice import nearest

MISSING = "there is no lab {}"


def chosen(stems: Sequence[str], wanted: Iterable[str], missing: str = MISSING) -> tuple[str, ...]:
    """Return the stems that are meant, in order; all of them where nothing is wanted.

    ``08_coalescing``, its path, ``8``, ``lab 8``, ``08_co``, ``coalescing`` and ``coal`` mean the
    same. Raises LabError for a name that fits none, or several; ``missing`` says that it fits none,
    with the name in the place of {}."""
    meant = {_meant(text, stems, missing) for text in wanted}
    return tuple(stem for stem in stems if stem in meant or not meant)


def _meant(text: str, stems: Sequence[str], missing: str) -> str:
    name = re.sub(r"\.(ipynb|md)$", "", PurePath(text.strip()).name)
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
    known = {topic: stem for stem in stems for topic in (stem, stem.partition("_")[2])}
    near = nearest(name, known)
    hint = f"did you mean {known[near]}?" if near else f"there are {', '.join(stems) or 'none'}"
    raise LabError(f"{missing.replace('{}', repr(text))}; {hint}")


def _number(stem: str) -> int:
    digits = re.match(r"\d+", stem)
    return int(digits[0]) if digits else -1

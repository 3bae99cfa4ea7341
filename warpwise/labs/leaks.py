"""Look for what students must not have in what is about to be handed out: solutions, hidden tests, wrong answers, guides, seeds.

What is secret is read from the course, as lines without their spaces; what students may read anyway (the labs' other cells, the
chapters) is taken away from that. Each file is then looked through in every form that could carry text: notebooks with metadata and
outputs, archives with their members, markup, escaped strings, and base64 within any of them.
"""

from __future__ import annotations

import base64
import gzip
import html
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from warpwise.errors import LabError
from warpwise.labs.source import BEGIN, END, Lab, load_lab, role, stub

LEAST = 12  #: characters of a solution's line, without spaces, that can be told from any other line
LEAST_OF_OTHERS = 40  #: of a line of hidden tests, wrong answers and guides, which look more like the package's own
LEAST_OF_A_SEED = 9  # digits
DEEPEST = 6  #: archives within base64 within markup and so on
NEVER = {"course.toml", "run.json", "overrides.csv", "grades.csv", "roster.csv"}  #: names of files that tell a seed or grades
ENCODED = re.compile(rb"[A-Za-z0-9+/_-]{16,}={0,2}")
TAG = re.compile(r"<[^<>]{0,400}>")
ESCAPED = re.compile(r"\\+(u[0-9a-fA-F]{4}|[nrt\"'/\\])")


@dataclass(frozen=True)
class Leak:
    """A secret in a file that was to be handed out. ``file`` is its path, and the member's where it lies in an archive."""

    file: str
    what: str


def secrets(course: Path) -> dict[str, str]:
    """What may not be handed out, each as text without spaces -> what it is."""
    labs = [load_lab(path) for path in sorted((course / "solutions").glob("*.md"))]
    pages = [_text(path) for path in [*(course / "chapters").glob("*.md"), *mistakes(course)]]
    public = squeezed("\n".join([*map(_handed_out, labs), *pages]))
    found: dict[str, str] = {}
    for folder in ("chapters/teaching", "tests/wrong", "tests/correct", "tests/hidden"):
        for path in sorted((course / folder).rglob("*.[mp][dy]")):
            found |= {line: f"a line of {path.relative_to(course)}" for line in _lines(_text(path), LEAST_OF_OTHERS)}
    for lab in labs:
        for exercise, region in regions(lab):
            what = f"the solution of {lab.stem}/{exercise}"
            found |= dict.fromkeys([*_lines(region, LEAST), squeezed(_code(region))], what)
    return {line: what for line, what in found.items() if line and line not in public} | _seeds(course)


def _seeds(course: Path) -> dict[str, str]:
    """The seeds of the grader's runs that lie in the course; one of a few digits cannot be told from any other number."""
    found = {}
    for path in [*course.glob("run.json"), *course.glob("*/run.json")]:
        with suppress(ValueError, KeyError, TypeError):
            found[str(json.loads(_text(path))["seed"])] = f"the seed of {path.relative_to(course)}"
    return {seed: what for seed, what in found.items() if len(seed) >= LEAST_OF_A_SEED}


def mistakes(course: Path) -> list[Path]:
    """The programs of ``tests/faults`` that the book's pages show: each with its mend beside it."""
    named = {name for page in (course / "chapters").glob("*.md") for name in re.findall(r"\{mistake\} (\S+)", _text(page))}
    return [course / "tests" / "faults" / f"{name}_{kind}.py" for name in sorted(named) for kind in ("faulty", "correct")]


def regions(lab: Lab) -> Iterator[tuple[str, str]]:
    """(exercise id, text) of every solution region of a lab."""
    between = re.compile(rf"{BEGIN}\n(.*?)^[ \t]*{END}", re.S | re.M)
    for cell in lab.cells:
        if role(cell) == "exercise":
            yield from ((cell.metadata["warpwise"]["id"], region) for region in between.findall(cell.source))


def find(folder: Path, kept_back: Mapping[str, str]) -> tuple[Leak, ...]:
    """Every file below ``folder`` that holds something of ``secrets(course)``, or whose name says that it does."""
    leaks = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        leaks += _in_file(path.relative_to(folder).as_posix(), path.read_bytes(), kept_back)
    return tuple(dict.fromkeys(leaks))


def squeezed(text: str) -> str:
    """Text without white space: indentation and line ends differ between the forms in which a line is kept."""
    return re.sub(r"\s+", "", text)


def _in_file(name: str, content: bytes, kept_back: Mapping[str, str]) -> Iterator[Leak]:
    if Path(name).name in NEVER:
        yield Leak(name, "a file of the instructor's")
    for inner, text in _texts(name, content):
        if inner.endswith(".ipynb") and BEGIN in text:
            yield Leak(inner, "a marked solution")
        if Path(inner).name in NEVER and inner != name:
            yield Leak(inner, "a file of the instructor's")
        plain = squeezed(text)
        yield from (Leak(inner, what) for secret, what in kept_back.items() if secret in plain)


def _texts(name: str, content: bytes, depth: int = 0) -> Iterator[tuple[str, str]]:
    """(name, text) of everything readable in a file: itself, its JSON strings, members of an archive, what base64 stands for."""
    if depth > DEEPEST:
        return
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.infolist():
                yield from _texts(f"{name}/{member.filename}", archive.read(member), depth + 1)
        return
    with suppress(OSError, EOFError, zlib.error):
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else zlib.decompress(content)
    for encoded in ENCODED.findall(content):
        decoded = _decoded(encoded)
        if decoded:
            yield from _texts(name, decoded, depth + 1)
    text = content.decode("utf-8", "replace")
    yield from ((name, form) for form in dict.fromkeys([text, *_forms(text)]))


def _forms(text: str) -> Iterator[str]:
    """What markup and quotation make of a text, undone: lines of a notebook's lists, escapes within strings, tags between words."""
    with suppress(ValueError, RecursionError):
        text = "\n".join(_strings(json.loads(text)))
        yield text
    unquoted = ESCAPED.sub(lambda found: _meant(found[1]), text)
    yield unquoted
    yield html.unescape(TAG.sub("", unquoted))


def _meant(escape: str) -> str:
    """What an escape of a JSON or JavaScript string stands for."""
    return chr(int(escape[1:], 16)) if escape[0] == "u" else {"n": "\n", "r": "\r", "t": "\t"}.get(escape, escape)


def _strings(value: object) -> Iterator[str]:
    """Every string of a JSON value, with lists of strings joined as a notebook joins them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            yield "".join(value)
        else:
            for item in value:
                yield from _strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)


def _decoded(encoded: bytes) -> bytes:
    """What base64 stands for, if that is something that can be read or unpacked; nothing for what only looks like base64."""
    plain = encoded.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    with suppress(ValueError):
        decoded = base64.b64decode(plain + b"=" * (-len(plain) % 4))
        if decoded[:2] in (b"\x1f\x8b", b"PK", b"x\x9c", b"x\xda", b"x\x01") or _readable(decoded):
            return decoded
    return b""


def _readable(content: bytes) -> bool:
    return content.isascii() and not re.search(rb"[\x00-\x08\x0e-\x1f]", content)


def _handed_out(lab: Lab) -> str:
    return "\n".join(stub(cell.source) if role(cell) == "exercise" else cell.source for cell in lab.cells)


def _lines(text: str, least: int) -> Iterable[str]:
    lines = (squeezed(line) for line in text.splitlines() if not line.lstrip().startswith(("from ", "import ")))
    return [line for line in lines if len(line) >= least]


def _code(region: str) -> str:
    return "\n".join(line for line in region.splitlines() if not line.lstrip().startswith("#"))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise LabError(f"{path} cannot be read: {error}") from error

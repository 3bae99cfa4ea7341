"""Find secrets in a release: solutions, hidden tests, wrong answers, guides, seeds.

Secrets are read from the course, as lines without their spaces, less what students may read anyway
(the labs' other cells, the chapters). Each file is then looked through in
every form that could carry text: notebooks with metadata and outputs, archives with their members,
markup, escaped strings, and base64 within any of them."""

from __future__ import annotations

import base64
import gzip
import html
import io
import json
import re
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import warpwise
from warpwise.digests import digest, digest_of_files
from warpwise.errors import LabError
from warpwise.labs.mistake_pairs import pair
from warpwise.labs.source import BEGIN, END, Lab, load_lab, role, stub

LEAST = 12  #: characters, without spaces, that tell a line of a solution from any other line
#: the same for lines of hidden tests, wrong answers and guides, which look more like the package's
LEAST_OF_OTHERS = 40
LEAST_OF_A_SEED = 9  # digits
DEEPEST = 6  #: archives within base64 within markup, and so on
#: names of files that tell a seed or grades
NEVER = {"course.toml", "run.json", "overrides.csv", "times.csv", "grades.csv", "roster.csv"}
#: paths of a course whose lines are secret; of a line in several, the last one is named
KEPT_BACK = (
    "chapters/teaching/**/*.md",
    "tests/course/*/wrong/*.py",
    "tests/course/*/wrong.toml",
    "tests/course/*/correct/*.py",
    "tests/course/*/hidden.py",
)
#: lists by their digests what a site has from public registries, which is much to look through
FETCHED = Path(warpwise.__file__).parent / "book/parts/parts.toml"
ENCODED = re.compile(rb"[A-Za-z0-9+/_-]{16,}={0,2}")
TAG = re.compile(r"<[^<>]{0,400}>")
ESCAPED = re.compile(r"\\+(u[0-9a-fA-F]{4}|[nrt\"'/\\])")
Search = Callable[[str], list[str]]


@dataclass(frozen=True)
class Leak:
    """A secret in a file of a release; ``file`` is its path, and the member's in an archive."""

    file: str
    what: str


def secrets(course: Path) -> dict[str, str]:
    """Map each text that may not be handed out, without spaces, to a description of it."""
    labs = [load_lab(path) for path in sorted((course / "solutions").glob("*.md"))]
    pages = [_text(path) for path in [*(course / "chapters").glob("*.md"), *mistakes(course)]]
    public = squeezed("\n".join([*map(_handed_out, labs), *pages]))
    found: dict[str, str] = {}
    for pattern in KEPT_BACK:
        for path in sorted(course.glob(pattern)):
            what = f"a line of {path.relative_to(course)}"
            found |= dict.fromkeys(_lines(_written(path), LEAST_OF_OTHERS), what)
    for lab in labs:
        for exercise, region in regions(lab):
            what = f"the solution of {lab.stem}/{exercise}"
            found |= dict.fromkeys([*_lines(region, LEAST), squeezed(_code(region))], what)
    may_be_read = {"", *_search(found)(public)}
    kept_back = {line: what for line, what in found.items() if line not in may_be_read}
    return kept_back | _seeds(course)


def _seeds(course: Path) -> dict[str, str]:
    """The seeds of the grader's runs in the course, but for those as short as any other number."""
    found = {}
    for path in [*course.glob("run.json"), *course.glob("*/run.json")]:
        with suppress(ValueError, KeyError, TypeError):
            found[str(json.loads(_text(path))["seed"])] = f"the seed of {path.relative_to(course)}"
    return {seed: what for seed, what in found.items() if len(seed) >= LEAST_OF_A_SEED}


def mistakes(course: Path) -> list[Path]:
    """List the programs of ``chapters/mistakes`` that the pages show, faulty and corrected."""
    pages = "\n".join(map(_text, (course / "chapters").glob("*.md")))
    named = sorted(set(re.findall(r"\{mistake\} (\S+)", pages)))
    folder = course / "chapters" / "mistakes"
    pairs = [pair(folder, name) for name in named]
    return sorted({path for one in pairs for path in (one.faulty, one.correct)})


def regions(lab: Lab) -> Iterator[tuple[str, str]]:
    """Yield the exercise id and the text of every solution region of a lab."""
    between = re.compile(rf"{BEGIN}\n(.*?)^[ \t]*{END}", re.S | re.M)
    for cell in lab.cells:
        if role(cell) == "exercise":
            id = cell.metadata["warpwise"]["id"]
            yield from ((id, region) for region in between.findall(cell.source))


def find(folder: Path, kept_back: Mapping[str, str]) -> tuple[Leak, ...]:
    """Find every file below ``folder`` that holds one of the ``secrets``, or is named like one."""
    leaks: list[Leak] = []
    parts = tomllib.loads(_text(FETCHED))
    fetched = {part["sha256"] for part in (*parts["file"], *parts["wheel"], *parts["lite"])}
    known = [place for place in folder.rglob("lite/*") if _is_known(place, parts["laid"])]
    search = _search(kept_back)
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        content = path.read_bytes()
        if digest(content) not in fetched and not any(map(path.is_relative_to, known)):
            name = path.relative_to(folder).as_posix()
            leaks += _in_file(name, content, kept_back, search)
    return tuple(dict.fromkeys(leaks))


def leave_out(listed: Path, kept_back: Mapping[str, str]) -> None:
    """Leave out of a file's JSON list the entries that hold one of the ``secrets``."""
    entries = json.loads(_text(listed))
    plain = [squeezed("\n".join(_strings(entry))) for entry in entries]
    search = _search(kept_back)
    kept = [entry for entry, text in zip(entries, plain, strict=True) if not search(text)]
    listed.write_text(json.dumps(kept, ensure_ascii=False, indent=0), "utf-8")


def _is_known(place: Path, laid: Mapping[str, str]) -> bool:
    """Return whether a folder holds what was laid there, and nothing else."""
    files = {p.relative_to(place).as_posix(): p for p in place.rglob("*") if p.is_file()}
    digests = {name: digest(path.read_bytes()) for name, path in files.items()}
    return bool(files) and laid.get(place.name) == digest_of_files(digests)


def squeezed(text: str) -> str:
    """Remove white space: indentation and line ends differ between the forms of a line."""
    return "".join(text.split())


def _search(sought: Iterable[str]) -> Search:
    """Return a function that finds which of many texts occur in another one, in their order.

    Few of their beginnings occur there, so few have to be looked for as a whole."""
    wanted = list(dict.fromkeys(sought))
    by_head: dict[str, list[str]] = {}
    for text in wanted:
        by_head.setdefault(text[:LEAST], []).append(text)
    sizes = {len(head) for head in by_head}

    def search(plain: str) -> list[str]:
        heads = {
            head
            for size in sizes
            for i in range(len(plain) - size + 1)
            if (head := plain[i : i + size]) in by_head
        }
        found = {text for head in heads for text in by_head[head] if text in plain}
        return [text for text in wanted if text in found] if found else []

    return search


def _in_file(
    name: str, content: bytes, kept_back: Mapping[str, str], search: Search
) -> Iterator[Leak]:
    if Path(name).name in NEVER:
        yield Leak(name, "a file of the instructor's")
    for inner, text in _texts(name, content):
        if inner.endswith(".ipynb") and BEGIN in text:
            yield Leak(inner, "a marked solution")
        if Path(inner).name in NEVER and inner != name:
            yield Leak(inner, "a file of the instructor's")
        yield from (Leak(inner, kept_back[secret]) for secret in search(squeezed(text)))


def _texts(name: str, content: bytes, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield name and text of everything readable in a file.

    That is itself, its JSON strings, members of an archive, and decoded base64."""
    if depth > DEEPEST:
        return
    archive = _archive(content)
    if archive:
        for member in archive.infolist():
            yield from _texts(f"{name}/{member.filename}", archive.read(member), depth + 1)
        return
    with suppress(OSError, EOFError, zlib.error):
        unpack = gzip.decompress if content[:2] == b"\x1f\x8b" else zlib.decompress
        content = unpack(content)
    for encoded in ENCODED.findall(content):
        decoded = _decoded(encoded)
        if decoded:
            yield from _texts(name, decoded, depth + 1)
    text = content.decode("utf-8", "replace")
    yield from ((name, form) for form in dict.fromkeys([text, *_forms(text)]))


def _forms(text: str) -> Iterator[str]:
    """Undo markup and quotation: a notebook's lists of lines, escapes in strings, tags in text."""
    with suppress(ValueError, RecursionError):
        text = "\n".join(_strings(json.loads(text)))
        yield text
    unquoted = ESCAPED.sub(lambda found: _meant(found[1]), text)
    yield unquoted
    yield html.unescape(TAG.sub("", unquoted))


def _meant(escape: str) -> str:
    """Decode an escape of a JSON or JavaScript string."""
    if escape[0] == "u":
        return chr(int(escape[1:], 16))
    return {"n": "\n", "r": "\r", "t": "\t"}.get(escape, escape)


def _strings(value: object) -> Iterator[str]:
    """Yield every string of a JSON value, with lists of strings joined as a notebook joins them."""
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


def _archive(content: bytes) -> zipfile.ZipFile | None:
    """Return an archive; None for anything else, even if its end looks like one's."""
    try:
        return zipfile.ZipFile(io.BytesIO(content))
    except zipfile.BadZipFile:
        return None


def _decoded(encoded: bytes) -> bytes:
    """Decode base64 to something that can be read or unpacked; b"" if it only looks like base64."""
    plain = encoded.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    with suppress(ValueError):
        decoded = base64.b64decode(plain + b"=" * (-len(plain) % 4))
        if decoded[:2] in (b"\x1f\x8b", b"PK", b"x\x9c", b"x\xda", b"x\x01") or _readable(decoded):
            return decoded
    return b""


def _readable(content: bytes) -> bool:
    return content.isascii() and not re.search(rb"[\x00-\x08\x0e-\x1f]", content)


def _handed_out(lab: Lab) -> str:
    exercises = ((cell.source, role(cell) == "exercise") for cell in lab.cells)
    return "\n".join(stub(source) if exercise else source for source, exercise in exercises)


def _lines(text: str, least: int) -> Iterable[str]:
    lines = [line.lstrip() for line in text.splitlines()]
    kept = (squeezed(line) for line in lines if not line.startswith(("from ", "import ")))
    return [line for line in kept if len(line) >= least]


def _code(region: str) -> str:
    return "\n".join(line for line in region.splitlines() if not line.lstrip().startswith("#"))


def _written(path: Path) -> str:
    """The text of a file; of a TOML file also its strings, without the quotation marks."""
    text = _text(path)
    if path.suffix == ".toml":
        text = "\n".join([text, *_strings(tomllib.loads(text))])
    return text


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise LabError(f"{path} cannot be read: {error}") from error

"""An instructor's settings: ``course.toml`` at the course's root, beside ``solutions/``. All of it may be left out.

    title = "GPUs without the magic"
    timezone = "Europe/Berlin"                  # for times that do not say their own

    [late]                                      # of every lab, unless the lab says otherwise
    percent_per_day = 10
    days = 3
    grace_minutes = 15

    [labs.08_coalescing]
    points = 20                                 # what the lab's own points are scaled to
    weight = 2                                  # in the course's total
    due = 2026-12-01T23:59:00

    [extensions."ada@example.edu"]
    08_coalescing = 2026-12-04T23:59:00

A mistake is one line that names the file's line. Where a key stands is found by reading ever more lines of the file with the same parser
until the key appears, so whatever way of writing it TOML has is understood.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from warpwise.errors import GradingError
from warpwise.simt.language.advice import nearest

NAME = "course.toml"
TOP = ("title", "term", "timezone", "late", "labs", "extensions")
OF_A_LAB = ("points", "weight", "due", "late")
OF_LATE = ("percent_per_day", "days", "grace_minutes")
EXAMPLE = "2026-12-01T23:59:00+01:00"
MOST = 1_000_000  # of any number
YEARS = range(1970, 9999)


@dataclass(frozen=True)
class LatePolicy:
    """What a late submission costs: so many percent of its points for each day that has begun, after ``grace_minutes``.

    A day is 24 hours. After ``days`` days nothing is left; None is no such limit.
    """

    percent_per_day: float = 0
    days: int | None = None
    grace_minutes: float = 0


@dataclass(frozen=True)
class LabSettings:
    """One lab. ``points`` is what its own points are scaled to; None leaves them as they are. ``weight`` is its share of the total."""

    stem: str
    points: float | None = None
    weight: float = 1
    due: datetime | None = None
    late: LatePolicy = LatePolicy()


@dataclass(frozen=True)
class Course:
    """All settings. ``extensions`` holds the times that replace ``due``, by student, as the file names them, and lab."""

    title: str = ""
    term: str = ""
    labs: Mapping[str, LabSettings] = field(default_factory=dict)
    extensions: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    late: LatePolicy = LatePolicy()  #: of labs that are not in ``labs``
    due: datetime | None = None  #: of labs that are not in ``labs``

    def lab(self, stem: str) -> LabSettings:
        """The settings of a lab, whether or not the file names it."""
        return self.labs.get(stem) or LabSettings(stem, due=self.due, late=self.late)

    def with_due(self, due: datetime) -> Course:
        """The same course with one due time for every lab; extensions stay."""
        return replace(self, due=due, labs={stem: replace(lab, due=due) for stem, lab in self.labs.items()})

    def with_late(self, late: LatePolicy) -> Course:
        """The same course with one late policy for every lab."""
        return replace(self, late=late, labs={stem: replace(lab, late=late) for stem, lab in self.labs.items()})


def find(folder: str | Path) -> Course:
    """The settings of a course folder: those of its ``course.toml``, or the defaults if it has none. Raises GradingError."""
    path = Path(folder) / NAME
    return load(path) if path.exists() else Course()


def load(path: str | Path, stems: Collection[str] | None = None) -> Course:
    """Read and check a ``course.toml``. ``stems`` are the labs there are; left out, those in ``solutions/`` beside the file.

    Raises GradingError, with the line, for a file that is not TOML, a name that is not known, or a value that makes no sense.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise GradingError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise GradingError(f"{path.name} is not UTF-8; save it as UTF-8") from error
    if stems is None:
        stems = sorted(source.stem for source in (path.parent / "solutions").glob("[0-9]*.md"))
    return _Reader(path.name, text, stems).course()


def late_policy(text: str) -> LatePolicy:
    """A policy as the command line has it: ``percent_per_day=10,days=3,grace_minutes=15``. Raises GradingError."""
    read = _Reader("--late-policy", "", ())
    given = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign:
            raise GradingError(f"--late-policy: {part!r} is not name=number, as in percent_per_day=10,days=3,grace_minutes=15")
        if key in given:
            raise GradingError(f"--late-policy: {key} is given twice")
        given[key] = _number(value)
    return read.late((), given, LatePolicy())


def due(text: str) -> datetime:
    """A due time as the command line has it, with its offset from UTC. Raises GradingError."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise GradingError(f"--due: {text!r} is not a time; write it as in {EXAMPLE}") from error
    if moment.year not in YEARS:
        raise GradingError(f"--due: the year {moment.year} cannot be meant")
    if moment.tzinfo is None:
        raise GradingError(f"--due: {text!r} needs its offset from UTC, as in {EXAMPLE}")
    return moment


def line_of(text: str, keys: tuple[str, ...]) -> int:
    """The line, from 1, on which a key of a TOML text stands, or begins if its value takes several; 1 if there is none."""
    lines, last_whole = text.split("\n"), 0
    for end in range(1, len(lines) + 1):
        try:
            found = tomllib.loads("\n".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
        if _has(found, keys):
            return last_whole + 1
        last_whole = end
    return 1


@dataclass(frozen=True)
class _Reader:
    """Reads the values of one file and says where a wrong one stands."""

    name: str
    text: str
    stems: Collection[str]
    zone: ZoneInfo | None = None

    def course(self) -> Course:
        try:
            found = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            raise GradingError(self._syntax(str(error))) from error
        self.known((), found, TOP, "setting")
        title, term = (self.words((key,), found.get(key, "")) for key in ("title", "term"))
        read = replace(self, zone=self.timezone(found["timezone"])) if "timezone" in found else self
        late = read.late(("late",), found.get("late", {}), LatePolicy())
        labs = {stem: read.lab(("labs", stem), value, late) for stem, value in read.labs(("labs",), found.get("labs", {}))}
        return Course(title, term, labs, read.extensions(found.get("extensions", {})), late)

    def labs(self, keys: tuple[str, ...], value: object) -> list[tuple[str, object]]:
        """The entries of a table whose names are labs."""
        return list(self.known(keys, value, self.stems, "lab").items())

    def lab(self, keys: tuple[str, ...], value: object, late: LatePolicy) -> LabSettings:
        found = self.known(keys, value, OF_A_LAB, "setting of a lab")
        points = self.number((*keys, "points"), found.get("points"), above=0)
        weight = self.number((*keys, "weight"), found.get("weight", 1))
        due = self.moment((*keys, "due"), found["due"]) if "due" in found else None
        return LabSettings(keys[-1], points, weight, due, self.late((*keys, "late"), found.get("late", {}), late))

    def late(self, keys: tuple[str, ...], value: object, default: LatePolicy) -> LatePolicy:
        """A policy; what the table leaves out is as in ``default``."""
        found = dict(self.known(keys, value, OF_LATE, "setting of a late policy"))
        for key, number in found.items():
            self.number((*keys, key), number, most=100 if key == "percent_per_day" else MOST, whole=key == "days")
        return replace(default, **found)

    def extensions(self, value: object) -> dict[tuple[str, str], datetime]:
        found = {}
        for student, labs in self.table(("extensions",), value).items():
            for stem, due in self.labs(("extensions", student), labs):
                found[student, stem] = self.moment(("extensions", student, stem), due)
        return found

    def known(self, keys: tuple[str, ...], value: object, names: Collection[str], what: str) -> dict:
        """A table that has only these names."""
        for name in self.table(keys, value):
            if name not in names:
                near = nearest(name, names)
                hint = f"did you mean {near}?" if near else f"there are {', '.join(names) or 'none'}"
                raise self.wrong((*keys, name), f"{name!r} is no {what}; {hint}")
        return value

    def table(self, keys: tuple[str, ...], value: object) -> dict:
        if not isinstance(value, dict):
            raise self.wrong(keys, f"{keys[-1]} is a table, as in [{'.'.join(map(_key, keys))}], not {_said(value)}")
        return value

    def words(self, keys: tuple[str, ...], value: object) -> str:
        if not isinstance(value, str):
            raise self.wrong(keys, f'{keys[-1]} is a text in quotes, as in {keys[-1]} = "...", not {_said(value)}')
        return value

    def number(self, keys: tuple[str, ...], value: object, above: float | None = None, most: float = MOST, whole: bool = False):
        """A finite number from 0, or beyond ``above``, to ``most``; None stays None."""
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise self.wrong(keys, f"{keys[-1]} is a number, not {_said(value)}")
        if whole and not isinstance(value, int):
            raise self.wrong(keys, f"{keys[-1]} is a whole number, not {value:g}")
        if value < 0 or (above is not None and value <= above):
            raise self.wrong(keys, f"{keys[-1]} is {value:g}; it cannot be {'negative' if value < 0 else '0'}")
        if value > most:
            raise self.wrong(keys, f"{keys[-1]} is {value:g}; the most is {most}")
        return value

    def moment(self, keys: tuple[str, ...], value: object) -> datetime:
        if not isinstance(value, datetime):
            raise self.wrong(keys, f"{keys[-1]} is a time without quotes, as in {EXAMPLE}, not {_said(value)}")
        if value.year not in YEARS:
            raise self.wrong(keys, f"the year {value.year} cannot be meant")
        if value.tzinfo is None and self.zone is None:
            raise self.wrong(keys, f'{keys[-1]} has no offset, as in {EXAMPLE}; or say timezone = "Europe/Berlin" at the top')
        return value if value.tzinfo else value.replace(tzinfo=self.zone)

    def timezone(self, value: object) -> ZoneInfo:
        name = self.words(("timezone",), value)
        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, OSError) as error:
            near = nearest(name, sorted(available_timezones()))
            hint = f"did you mean {near}?" if near else "names are as Europe/Berlin"
            raise self.wrong(("timezone",), f"{name!r} is no time zone that this machine knows; {hint}") from error

    def wrong(self, keys: tuple[str, ...], what: str) -> GradingError:
        return GradingError(f"{self.name}:{line_of(self.text, keys)}: {what}" if self.text else f"{self.name}: {what}")

    def _syntax(self, said: str) -> str:
        """What the parser says, with the line in front; it gives none for the end of the file."""
        what, _, place = said.rpartition(" (at ")
        line = re.search(r"line (\d+)", place)
        number = int(line[1]) if line else len(self.text.rstrip("\n").split("\n"))
        return f"{self.name}:{number}: {what[:1].lower()}{what[1:]}"


def _has(found: object, keys: tuple[str, ...]) -> bool:
    for key in keys:
        if not isinstance(found, dict) or key not in found:
            return False
        found = found[key]
    return True


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else f'"{key}"'


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _said(value: object) -> str:
    """A value as a message shows it."""
    kinds = {dict: "a table", list: "a list", bool: str(value).lower()}
    return kinds.get(type(value)) or (repr(value)[:60] if isinstance(value, str) else str(value)[:60])

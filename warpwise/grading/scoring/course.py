"""An instructor's settings: ``course.toml`` beside ``solutions/``. All of it is optional.

    title = "GPUs without the magic"
    timezone = "Europe/Berlin"                  # for times that do not say their own

    [late]                                      # of every lab, unless the lab says otherwise
    percent_per_day = 10
    days = 3
    grace_minutes = 15

    [partial]
    over_budget = 50                            # percent for a right result over budget; 0

    [labs.08_coalescing]
    points = 20                                 # what the lab's own points are scaled to
    weight = 2                                  # in the course's total
    due = 2026-12-01T23:59:00
    canvas = "Week 8 (4711)"                    # the assignment's heading in Canvas's export

    [extensions."ada@example.edu"]
    08_coalescing = 2026-12-04T23:59:00

A mistake is reported in one line, with its place in the file. The line of a key is found by parsing
ever more lines of the file until the key appears, so that every notation of TOML is understood."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from warpwise.errors import GradingError
from warpwise.grading.scoring import toml_words
from warpwise.simt.compiler.advice import nearest

NAME = "course.toml"
TOP = ("title", "term", "timezone", "late", "partial", "labs", "extensions")
OF_A_LAB = ("points", "weight", "due", "late", "partial", "canvas")
OF_LATE = ("percent_per_day", "days", "grace_minutes")
OF_PARTIAL = ("over_budget",)
EXAMPLE = "2026-12-01T23:59:00+01:00"
MOST = 1_000_000  # of any number
YEARS = range(1970, 9999)


@dataclass(frozen=True)
class LatePolicy:
    """The cost of a late submission: a percentage of its points for each day that has begun.

    A day is 24 hours, and the first begins after ``grace_minutes``. After ``days`` days nothing is
    left; None means no such limit."""

    percent_per_day: float = 0
    days: int | None = None
    grace_minutes: float = 0


@dataclass(frozen=True)
class LabSettings:
    """One lab: ``weight`` is its share of the total, and its own points are scaled to ``points``.

    Without ``points`` they stay as they are. ``over_budget`` is the percentage of its points that
    an exercise earns if all its results are right and only budgets are exceeded. ``canvas`` is its
    assignment in Canvas, if its title does not tell: the heading in an exported gradebook, the
    title, or the number in brackets."""

    stem: str
    points: float | None = None
    weight: float = 1
    due: datetime | None = None
    late: LatePolicy = LatePolicy()
    over_budget: float = 0
    canvas: str = ""


@dataclass(frozen=True)
class Course:
    """All settings. ``extensions`` replace ``due``, by student, as the file names them, and lab."""

    title: str = ""
    term: str = ""
    labs: Mapping[str, LabSettings] = field(default_factory=dict)
    extensions: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    late: LatePolicy = LatePolicy()  #: of labs that are not in ``labs``
    due: datetime | None = None  #: of labs that are not in ``labs``
    zone: ZoneInfo | None = None  #: of times that do not say their own
    over_budget: float = 0  #: of labs that are not in ``labs``

    def lab(self, stem: str) -> LabSettings:
        """Return the settings of a lab, whether or not the file names it."""
        usual = LabSettings(stem, due=self.due, late=self.late, over_budget=self.over_budget)
        return self.labs.get(stem) or usual

    def with_due(self, due: datetime) -> Course:
        """Return the course with one due time for every lab; extensions stay."""
        labs = {stem: replace(lab, due=due) for stem, lab in self.labs.items()}
        return replace(self, due=due, labs=labs)

    def with_late(self, late: LatePolicy) -> Course:
        """Return the course with one late policy for every lab."""
        labs = {stem: replace(lab, late=late) for stem, lab in self.labs.items()}
        return replace(self, late=late, labs=labs)


def find(folder: str | Path) -> Course:
    """Return the settings in a course folder's ``course.toml``, or the defaults if it has none.

    Raises GradingError."""
    path = Path(folder) / NAME
    return load(path) if path.exists() else Course()


def load(path: str | Path, stems: Collection[str] | None = None) -> Course:
    """Read and check a ``course.toml``.

    ``stems`` are the existing labs; by default those in ``solutions/`` beside the file. Raises
    GradingError, with the line, for a file that is not TOML, an unknown name, or a value that makes
    no sense."""
    path = Path(path)
    if stems is None:
        stems = sorted(source.stem for source in (path.parent / "solutions").glob("[0-9]*.md"))
    parsed = toml_words.parsed(_text(path))
    if parsed.slips or parsed.found is None:
        raise GradingError(f"{path.name}:{parsed.slips[0].line}: {parsed.slips[0].what}")
    return _Reader(path.name, parsed.text, stems).course(parsed.found)


@dataclass(frozen=True)
class Checked:
    """A file with all that is wrong with it, by line, and the settings that are left.

    There are none, and other mistakes may be hidden, where it cannot be read as TOML."""

    course: Course | None
    problems: tuple[tuple[int, str], ...]
    text: str = ""


def check(path: Path, stems: Collection[str]) -> Checked:
    """Read a ``course.toml`` as ``load`` does, and list every mistake in it, not the first alone.

    Raises GradingError for a file that is no text."""
    parsed = toml_words.parsed(_text(path))
    found, reader = parsed.found, _Reader(path.name, parsed.text, stems)
    problems = [(slip.line, slip.what) for slip in parsed.slips]
    course = None
    while course is None and found is not None:
        try:
            course = reader.course(found)
        except Mistake as mistake:
            table = f"[{'.'.join(map(_key, mistake.keys[:-1]))}]: " if mistake.keys[1:] else ""
            problems.append((line_of(parsed.text, mistake.keys), f"{table}{mistake.what}"))
            found = _without(found, mistake.keys)
    return Checked(course, tuple(sorted(problems)), parsed.text)


class Mistake(GradingError):
    """A value that makes no sense, or a name that is none: ``keys`` lead to it."""

    def __init__(self, place: str, keys: tuple[str, ...], what: str):
        super().__init__(f"{place}: {what}")
        self.keys, self.what = keys, what


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise GradingError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise GradingError(f"{path.name} is not UTF-8; save it as UTF-8") from error


def _without(found: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any] | None:
    """Return tables without one of their keys; None if it is not there.

    Without its time zone every due time would be wrong too, so another takes its place."""
    first, *rest = keys
    if first not in found:
        return None
    others = {key: value for key, value in found.items() if key != first}
    if not rest:
        return others | ({first: "UTC"} if first == "timezone" else {})
    inner = _without(found[first], tuple(rest)) if isinstance(found[first], dict) else None
    return None if inner is None else others | {first: inner}


def late_policy(text: str) -> LatePolicy:
    """Read a policy from the command line: ``percent_per_day=10,days=3,grace_minutes=15``.

    Raises GradingError."""
    read = _Reader("--late-policy", "", ())
    given: dict[str, object] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign:
            raise GradingError(
                f"--late-policy: {part!r} is not name=number, as in "
                "percent_per_day=10,days=3,grace_minutes=15"
            )
        if key in given:
            raise GradingError(f"--late-policy: {key} is given twice")
        given[key] = _number(value)
    return read.late((), given, LatePolicy())


def due(text: str) -> datetime:
    """Read a due time, with its offset from UTC, from the command line. Raises GradingError."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise GradingError(f"--due: {text!r} is not a time; write it as in {EXAMPLE}") from error
    if moment.year not in YEARS:
        raise GradingError(f"--due: the year {moment.year} is out of range")
    if moment.tzinfo is None:
        raise GradingError(f"--due: {text!r} needs its offset from UTC, as in {EXAMPLE}")
    return moment


def line_of(text: str, keys: tuple[str, ...]) -> int:
    """Return the line, from 1, on which a key of a TOML text begins; 1 if there is none."""
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
    """Reads the values of one file, and names the line of a wrong one."""

    name: str
    text: str
    stems: Collection[str]
    zone: ZoneInfo | None = None

    def course(self, found: dict[str, Any]) -> Course:
        self.known((), found, TOP, "a setting")
        title, term = (self.words((key,), found.get(key, "")) for key in ("title", "term"))
        read = replace(self, zone=self.timezone(found["timezone"])) if "timezone" in found else self
        late = read.late(("late",), found.get("late", {}), LatePolicy())
        partial = read.partial(("partial",), found.get("partial", {}), 0)
        labs = {
            stem: read.lab(("labs", stem), value, late, partial)
            for stem, value in read.labs(("labs",), found.get("labs", {}))
        }
        extensions = read.extensions(found.get("extensions", {}))
        return Course(title, term, labs, extensions, late, zone=read.zone, over_budget=partial)

    def labs(self, keys: tuple[str, ...], value: object) -> list[tuple[str, object]]:
        """Return the entries of a table whose names are labs."""
        return list(self.known(keys, value, self.stems, "a lab").items())

    def lab(
        self, keys: tuple[str, ...], value: object, late: LatePolicy, partial: float
    ) -> LabSettings:
        found = self.known(keys, value, OF_A_LAB, "a setting of a lab")
        points = None
        if "points" in found:
            points = self.number((*keys, "points"), found["points"])
            if points == 0:
                raise self.wrong((*keys, "points"), "points is 0; it must be positive")
        weight = self.number((*keys, "weight"), found.get("weight", 1))
        due = self.moment((*keys, "due"), found["due"]) if "due" in found else None
        own = self.late((*keys, "late"), found.get("late", {}), late)
        share = self.partial((*keys, "partial"), found.get("partial", {}), partial)
        canvas = found.get("canvas", "")
        if isinstance(canvas, int) and not isinstance(canvas, bool):
            canvas = str(canvas)
        canvas = self.words((*keys, "canvas"), canvas)
        return LabSettings(keys[-1], points, weight, due, own, share, canvas)

    def partial(self, keys: tuple[str, ...], value: object, default: float) -> float:
        """Read the percentage that a right result over budget earns."""
        found = self.known(keys, value, OF_PARTIAL, "a setting of partial credit")
        share = found.get("over_budget", default)
        return self.number((*keys, "over_budget"), share, most=100)

    def late(self, keys: tuple[str, ...], value: object, default: LatePolicy) -> LatePolicy:
        """Read a policy, completed from ``default``."""
        found = self.known(keys, value, OF_LATE, "a setting of a late policy")
        numbers: dict[str, Any] = {}
        for key, number in found.items():
            most = 100 if key == "percent_per_day" else MOST
            numbers[key] = self.number((*keys, key), number, most, whole=key == "days")
        return replace(default, **numbers)

    def extensions(self, value: object) -> dict[tuple[str, str], datetime]:
        found = {}
        for student, labs in self.table(("extensions",), value).items():
            for stem, due in self.labs(("extensions", student), labs):
                found[student, stem] = self.moment(("extensions", student, stem), due)
        return found

    def known(
        self, keys: tuple[str, ...], value: object, names: Collection[str], what: str
    ) -> dict[str, object]:
        """Check that a value is a table with only these names."""
        found = self.table(keys, value)
        for name in found:
            if name not in names:
                near = nearest(name, names)
                there_are = f"there are {', '.join(names) or 'none'}"
                hint = f"did you mean {near}?" if near else there_are
                raise self.wrong((*keys, name), f"{name!r} is not {what}; {hint}")
        return found

    def table(self, keys: tuple[str, ...], value: object) -> dict[str, object]:
        if isinstance(value, dict):
            return value
        example = f"[{'.'.join(map(_key, keys))}]"
        raise self.wrong(keys, f"{keys[-1]} must be a table, as in {example}, not {_said(value)}")

    def words(self, keys: tuple[str, ...], value: object) -> str:
        if isinstance(value, str):
            return value
        example = f'{keys[-1]} = "..."'
        raise self.wrong(
            keys, f"{keys[-1]} must be text in quotes, as in {example}, not {_said(value)}"
        )

    def number(
        self, keys: tuple[str, ...], value: object, most: float = MOST, whole: bool = False
    ) -> float:
        """Check that a value is a finite number from 0 to ``most``."""
        name = keys[-1]
        # A bool is an int to isinstance.
        if (
            not isinstance(value, (int, float))
            or isinstance(value, bool)
            or not math.isfinite(value)
        ):
            raise self.wrong(keys, f"{name} must be a number, not {_said(value)}")
        if whole and not isinstance(value, int):
            raise self.wrong(keys, f"{name} must be a whole number, not {value:g}")
        if value < 0:
            raise self.wrong(keys, f"{name} is {value:g}; it cannot be negative")
        if value > most:
            raise self.wrong(keys, f"{name} is {value:g}; the maximum is {most}")
        return value

    def moment(self, keys: tuple[str, ...], value: object) -> datetime:
        if not isinstance(value, datetime):
            raise self.wrong(
                keys,
                f"{keys[-1]} must be a time without quotes, as in {EXAMPLE}, not {_said(value)}",
            )
        if value.year not in YEARS:
            raise self.wrong(keys, f"the year {value.year} is out of range")
        if value.tzinfo is None and self.zone is None:
            raise self.wrong(
                keys,
                f"{keys[-1]} needs an offset from UTC, as in {EXAMPLE}, "
                'or set timezone = "Europe/Berlin" at the top',
            )
        return value if value.tzinfo else value.replace(tzinfo=self.zone)

    def timezone(self, value: object) -> ZoneInfo:
        name = self.words(("timezone",), value)
        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, OSError) as error:
            near = nearest(name, sorted(available_timezones()))
            hint = f"did you mean {near}?" if near else "names look like Europe/Berlin"
            raise self.wrong(
                ("timezone",), f"{name!r} is not a time zone known to this machine; {hint}"
            ) from error

    def wrong(self, keys: tuple[str, ...], what: str) -> Mistake:
        place = f"{self.name}:{line_of(self.text, keys)}" if self.text else self.name
        return Mistake(place, keys, what)


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
    """Write a value for a message."""
    kinds = {dict: "a table", list: "a list", bool: str(value).lower()}
    said = repr(value) if isinstance(value, str) else str(value)
    return kinds.get(type(value)) or said[:60]

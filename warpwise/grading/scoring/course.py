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

A mistake is reported in one line, with its place in the file."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from warpwise.errors import GradingError
from warpwise.grading.scoring import toml_values, toml_words
from warpwise.grading.scoring.toml_values import EXAMPLE, MOST, YEARS, Mistake, Values

NAME = "course.toml"
TOP = ("title", "term", "timezone", "late", "partial", "labs", "extensions")
OF_A_LAB = ("points", "weight", "due", "late", "partial", "canvas")
OF_LATE = ("percent_per_day", "days", "grace_minutes")
OF_PARTIAL = ("over_budget",)


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
    return _Reader(Values(path.name, parsed.text), stems).course(parsed.found)


@dataclass(frozen=True)
class Checked:
    """A file with all that is wrong with it, by line, and the settings that are left.

    There are none, and other mistakes may be hidden, where it cannot be read as TOML."""

    course: Course | None
    problems: tuple[tuple[int, str], ...]
    text: str = ""


def check(path: Path, stems: Collection[str]) -> Checked:
    """Read a ``course.toml`` as ``load`` does, and list every mistake in it, not the first alone.

    What stands under a misspelled name is read under the one that was meant. Raises GradingError
    for a file that is no text."""
    parsed = toml_words.parsed(_text(path))
    found, text = parsed.found, parsed.text
    problems = [(slip.line, slip.what) for slip in parsed.slips]
    course = None
    while course is None and found is not None:
        try:
            course = _Reader(Values(path.name, text), stems).course(found)
        except Mistake as mistake:
            keys, meant = mistake.keys, mistake.meant
            table = f"[{'.'.join(map(toml_values.bare, keys[:-1]))}]: " if keys[1:] else ""
            problems.append((toml_values.line_of(text, keys), f"{table}{mistake.what}"))
            corrected = toml_values.renamed(text, keys, meant) if meant else None
            if corrected:
                found, text = _without(found, keys, meant), corrected
            else:
                found = _without(found, keys)
    return Checked(course, tuple(sorted(problems)), text)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise GradingError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise GradingError(f"{path.name} is not UTF-8; save it as UTF-8") from error


def _without(
    found: dict[str, Any], keys: tuple[str, ...], meant: str = ""
) -> dict[str, Any] | None:
    """Return tables without one of their keys, or with another name for it; None if there is none.

    Without its time zone every due time would be wrong too, so another takes its place."""
    first, *rest = keys
    if first not in found:
        return None
    others = {key: value for key, value in found.items() if key != first}
    if not rest and meant:
        return others | {meant: found[first]}
    if not rest:
        return others | ({first: "UTC"} if first == "timezone" else {})
    inner = _without(found[first], tuple(rest), meant) if isinstance(found[first], dict) else None
    return None if inner is None else others | {first: inner}


def late_policy(text: str) -> LatePolicy:
    """Read a policy from the command line: ``percent_per_day=10,days=3,grace_minutes=15``.

    Raises GradingError."""
    read = _Reader(Values("--late-policy", ""), ())
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


@dataclass(frozen=True)
class _Reader:
    """Reads the settings in a file's values. ``stems`` are the labs that there are."""

    values: Values
    stems: Collection[str]

    def course(self, found: dict[str, Any]) -> Course:
        self.values.known((), found, TOP, "a setting")
        title, term = (self.values.words((key,), found.get(key, "")) for key in ("title", "term"))
        read = self
        if "timezone" in found:
            zone = self.values.timezone(found["timezone"])
            read = replace(self, values=replace(self.values, zone=zone))
        late = read.late(("late",), found.get("late", {}), LatePolicy())
        partial = read.partial(("partial",), found.get("partial", {}), 0)
        labs = {
            stem: read.lab(("labs", stem), value, late, partial)
            for stem, value in read.labs(("labs",), found.get("labs", {}))
        }
        extensions = read.extensions(found.get("extensions", {}))
        return Course(
            title, term, labs, extensions, late, zone=read.values.zone, over_budget=partial
        )

    def labs(self, keys: tuple[str, ...], value: object) -> list[tuple[str, object]]:
        """Return the entries of a table whose names are labs."""
        return list(self.values.known(keys, value, self.stems, "a lab").items())

    def lab(
        self, keys: tuple[str, ...], value: object, late: LatePolicy, partial: float
    ) -> LabSettings:
        found = self.values.known(keys, value, OF_A_LAB, "a setting of a lab")
        points = None
        if "points" in found:
            points = self.values.number((*keys, "points"), found["points"])
            if points == 0:
                raise self.values.wrong((*keys, "points"), "points is 0; it must be positive")
        weight = self.values.number((*keys, "weight"), found.get("weight", 1))
        due = self.values.moment((*keys, "due"), found["due"]) if "due" in found else None
        own = self.late((*keys, "late"), found.get("late", {}), late)
        share = self.partial((*keys, "partial"), found.get("partial", {}), partial)
        canvas = found.get("canvas", "")
        if isinstance(canvas, int) and not isinstance(canvas, bool):
            canvas = str(canvas)
        canvas = self.values.words((*keys, "canvas"), canvas)
        return LabSettings(keys[-1], points, weight, due, own, share, canvas)

    def partial(self, keys: tuple[str, ...], value: object, default: float) -> float:
        """Read the percentage that a right result over budget earns."""
        found = self.values.known(keys, value, OF_PARTIAL, "a setting of partial credit")
        share = found.get("over_budget", default)
        return self.values.number((*keys, "over_budget"), share, most=100)

    def late(self, keys: tuple[str, ...], value: object, default: LatePolicy) -> LatePolicy:
        """Read a policy, completed from ``default``."""
        found = self.values.known(keys, value, OF_LATE, "a setting of a late policy")
        numbers: dict[str, Any] = {}
        for key, number in found.items():
            most = 100 if key == "percent_per_day" else MOST
            numbers[key] = self.values.number((*keys, key), number, most, whole=key == "days")
        return replace(default, **numbers)

    def extensions(self, value: object) -> dict[tuple[str, str], datetime]:
        found = {}
        for student, labs in self.values.table(("extensions",), value).items():
            for stem, due in self.labs(("extensions", student), labs):
                found[student, stem] = self.values.moment(("extensions", student, stem), due)
        return found


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text

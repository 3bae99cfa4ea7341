"""Read times of submission from what a platform exports, or from a table of one's own.

| file | column of times | as written |
|---|---|---|
| a table `student,lab,submitted` | submitted | ISO 8601 |
| Canvas: the submissions of its API, as JSON or a CSV made of it | submitted_at | ISO 8601, UTC |
| Moodle: the grading worksheet | Last modified (submission) | in words, in the user's language |
| Gradescope: an assignment's grades | Submission Time | `2027-03-12 23:59:01 -0600` |
| nbgrader: `nbgrader export` | timestamp | ISO 8601, UTC without saying so |

Canvas's gradebook has no times, nor has Moodle's. A time that does not say its zone is in the
course's. Sources: the Submission object of Canvas's API
(https://canvas.instructure.com/doc/api/submissions.html), ``col_timesubmitted`` in
``mod/assign/gradingtable.php`` of moodle/moodle, whose format is ``strftimedaydatetime`` of the
language pack, ``nbgrader/plugins/export.py`` in jupyter/nbgrader; Gradescope documents the download
and not its columns, which are those of exports that courses have published."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from warpwise.errors import GradingError
from warpwise.grading.scoring import sheet
from warpwise.grading.scoring.roster import FIELDS, folded
from warpwise.grading.scoring.sheet import Sheet
from warpwise.grading.scoring.toml_values import YEARS

OWN = ("student", "lab", "submitted")
#: Moodle's ``lastmodifiedsubmission``: English, German, French, Spanish, Portuguese, Italian.
MOODLE = (
    "last modified (submission)",
    "zuletzt geändert (abgabe)",
    "dernière modification (travail remis)",
    "última modificación (entrega)",
    "última modificação (envio)",
    "ultima modifica (consegna)",
)
HEADINGS = ("submitted", "submitted at", *MOODLE, "submission time", "timestamp")
GROUPS = ("lab", "assignment", "assignment id")  # which say what the times are of
NO_TIMES = ("", "-", "null")
GUARD = "while(1);"  # which Canvas may write before JSON that a browser asked for
MONTHS = {
    month: number
    for language in (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre "
        "dicembre",
        "januari februari maart april mei juni juli augustus september oktober november december",
    )
    for number, month in enumerate(language.split(), 1)
}
CLOCK = re.compile(r"\b(\d{1,2})[:h](\d\d)(?::(\d\d))?(?:\s*([ap])\.?\s?m\b\.?)?", re.I)


@dataclass(frozen=True)
class Time:
    """One student's time: ``names`` are what the student may be found by, the surest first."""

    line: int
    names: tuple[str, ...]
    lab: str
    submitted: datetime


@dataclass(frozen=True)
class Times:
    """The times in one file. In an ``own`` one each is meant; a platform's has the whole class."""

    table: Sheet
    times: tuple[Time, ...]
    own: bool


def read(path: str | Path, labs: Sequence[str], zone: tzinfo | None = None) -> Times:
    """Read a file; ``zone`` is that of times that do not say theirs.

    Raises GradingError, with the line and the column, for what is no such file or no time."""
    table = _table(Path(path))
    own = sorted(table.columns) == sorted(OWN)
    heading = next((c for c in table.columns if _heading(c) in HEADINGS), None)
    if heading is None:
        raise table.wrong(
            1,
            "no column has times of submission: submitted, submitted_at, Last modified "
            "(submission), Submission Time or timestamp",
        )
    zone = UTC if _heading(heading) == "timestamp" else zone
    times = tuple(_times(table, heading, labs, zone, own))
    return Times(table, times, own)


def moment(text: str, zone: tzinfo | None = None) -> datetime | None:
    """Parse a time in ISO 8601, or in words as Moodle writes it; None if it is none.

    It is naive if neither the text nor ``zone`` says its zone."""
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    iso = re.sub(r"\s*(UTC|Z)$", "+00:00", text)
    found = None
    with suppress(ValueError):
        found = datetime.fromisoformat(re.sub(r" (?=[+-]\d\d:?\d\d$)", "", iso))
    found = found if ":" in text else None
    found = found or _in_words(text)
    if found is None or found.year not in YEARS:
        return None
    return found if found.tzinfo else found.replace(tzinfo=zone)


def _in_words(text: str) -> datetime | None:
    """Parse ``Friday, 12 March 2027, 11:59 PM`` and its like in other languages."""
    clock = CLOCK.search(text)
    if clock is None:
        return None
    rest = text[: clock.start()] + text[clock.end() :]
    months = [MONTHS[word] for word in re.findall(r"[^\W\d]+", rest.casefold()) if word in MONTHS]
    numbers = [int(number) for number in re.findall(r"\d+", rest)]
    if len(months) != 1 or len(numbers) != 2:
        return None
    hour, half = int(clock[1]), (clock[4] or "").lower()
    if half and not 1 <= hour <= 12:
        return None
    hour = hour % 12 + 12 * (half == "p") if half else hour
    with suppress(ValueError):
        return datetime(max(numbers), months[0], min(numbers), hour, int(clock[2]))
    return None


def _table(path: Path) -> Sheet:
    """Read a CSV file, or JSON as Canvas's API writes it, whose entries take the place of lines."""
    try:
        text = path.read_bytes().decode("utf-8-sig").strip().removeprefix(GUARD).strip()
    except OSError as error:
        raise GradingError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise GradingError(f"{path.name} is not UTF-8; save it as CSV UTF-8") from error
    if not text.startswith(("[", "{")):
        return sheet.read(path)
    try:
        found = json.loads(text)
        rows = [_flat(entry) for entry in found]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise GradingError(
            f"{path.name} is not the list of submissions that Canvas's API gives"
        ) from error
    columns = tuple(dict.fromkeys(column for row in rows for column in row))
    filled = (dict.fromkeys(columns, "") | row for row in rows)
    return Sheet(path.name, columns, tuple(enumerate(filled, 1)))


def _flat(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return a submission's plain values, with those of the user in it."""
    user = entry.get("user") or {}
    about = {key: user[key] for key in ("name", "login_id", "sis_user_id") if user.get(key)}
    plain = {key: value for key, value in entry.items() if isinstance(value, (str, int))}
    return {key: str(value) for key, value in (plain | about).items()}


def _times(
    table: Sheet, heading: str, labs: Sequence[str], zone: tzinfo | None, own: bool
) -> Iterator[Time]:
    group = next((c for c in table.columns if _heading(c) in GROUPS), "")
    others: set[str] = set()
    for line, cells in table.rows:
        said = cells[heading]
        if not own and said.casefold() in NO_TIMES:
            continue  # handed in nothing
        lab = cells.get(group, "")
        if own and lab not in ("", *labs):
            raise table.wrong(line, f"{lab!r} is not a lab; there are {', '.join(labs)}")
        if not own:
            named = max((stem for stem in labs if stem in lab), key=len, default="")
            others |= {lab} if lab and not named else set()
            lab = named
        if len(others) > 1:
            those = " and ".join(sorted(others))
            raise table.wrong(line, f"times of several assignments, {those}; give a file for each")
        names = (cells["student"],) if own else _names(table.columns, cells, heading)
        yield Time(line, names, lab, _moment(table, line, heading, said, zone))


def _moment(table: Sheet, line: int, heading: str, said: str, zone: tzinfo | None) -> datetime:
    found = moment(said, zone)
    if found is None:
        raise table.wrong(
            line, f"{heading}: {said!r} is not a time, such as 2026-12-01T23:59+01:00"
        )
    if found.tzinfo is None:
        raise table.wrong(
            line,
            f"{heading}: {said!r} is not a time with its offset from UTC, such as "
            '2026-12-01T23:59+01:00; or set timezone = "Europe/Berlin" in course.toml',
        )
    return found


def _names(columns: Sequence[str], cells: Mapping[str, str], heading: str) -> tuple[str, ...]:
    """Return what a student may be found by: ids and addresses, then names, then the platform's."""
    found: dict[str, str] = {}
    for column in columns:
        field = "canvas_id" if _heading(column) == "user id" else FIELDS.get(_heading(column), "")
        field = "email" if "mail" in column.casefold() else field
        found.setdefault(field, cells[column])
    if _heading(heading) in MOODLE:  # whose first two columns have headings in many languages
        found |= {"canvas_id": cells[columns[0]], "name": cells[columns[1]]}
    if any(_heading(column) == "user id" for column in columns):
        found.pop("id", None)  # Canvas's submission has that
    number = "".join(re.findall(r"\d+$", found.get("canvas_id", "")))
    name = found.get("name") or f"{found.get('first', '')} {found.get('last', '')}".strip()
    ids = [found.get(field, "") for field in ("id", "login", "sis_id", "email")]
    return tuple(filter(None, [*ids, name and f"{name} {number}", name, number]))


def _heading(column: str) -> str:
    return folded(column).replace("_", " ")

"""The values of a TOML file: each is checked, and a wrong one is named with its line.

The line of a key is found by parsing ever more lines of the file until the key appears, so that
every notation of TOML is understood."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo, available_timezones

from warpwise.errors import GradingError
from warpwise.simt.compiler.spelling import nearest

EXAMPLE = "2026-12-01T23:59:00+01:00"
MOST = 1_000_000  # of any number
YEARS = range(1970, 9999)


class Mistake(GradingError):
    """A value that makes no sense, or a name that is none: ``keys`` lead to it.

    ``meant`` is the name that was probably meant, if it is plain which."""

    def __init__(self, place: str, keys: tuple[str, ...], what: str, meant: str = ""):
        super().__init__(f"{place}: {what}")
        self.keys, self.what, self.meant = keys, what, meant


@dataclass(frozen=True)
class Values:
    """Checks the values of one file, and names the line of a wrong one.

    ``zone`` is that of times which do not say their own."""

    name: str
    text: str
    zone: ZoneInfo | None = None

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
                raise self.wrong((*keys, name), f"{name!r} is not {what}; {hint}", near)
        return found

    def table(self, keys: tuple[str, ...], value: object) -> dict[str, object]:
        if isinstance(value, dict):
            return value
        example = f"[{'.'.join(map(bare, keys))}]"
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

    def wrong(self, keys: tuple[str, ...], what: str, meant: str = "") -> Mistake:
        place = f"{self.name}:{line_of(self.text, keys)}" if self.text else self.name
        return Mistake(place, keys, what, meant)


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


def renamed(text: str, keys: tuple[str, ...], meant: str) -> str | None:
    """Return a TOML text in which a name is another one wherever it stands, each in its own line.

    None if that cannot be done, as where the other name is there already."""
    lines, word = text.split("\n"), re.compile(rf"(?<![\w-]){re.escape(keys[-1])}(?![\w-])")
    for _ in lines:
        at = line_of("\n".join(lines), keys) - 1
        line, lines[at] = lines[at], word.sub(meant, lines[at], count=1)
        if lines[at] == line:
            return None
        try:
            found = tomllib.loads("\n".join(lines))
        except tomllib.TOMLDecodeError:
            return None
        if not _has(found, keys):
            return "\n".join(lines) if _has(found, (*keys[:-1], meant)) else None
    return None


def _has(found: object, keys: tuple[str, ...]) -> bool:
    for key in keys:
        if not isinstance(found, dict) or key not in found:
            return False
        found = found[key]
    return True


def bare(key: str) -> str:
    """Write a key as TOML does: in quotes where it needs them."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else f'"{key}"'


def _said(value: object) -> str:
    """Write a value for a message."""
    kinds = {dict: "a table", list: "a list", bool: str(value).lower()}
    said = repr(value) if isinstance(value, str) else str(value)
    return kinds.get(type(value)) or said[:60]

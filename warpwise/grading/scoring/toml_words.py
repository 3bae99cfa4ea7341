"""TOML's errors in words: what a person who wrote a line most likely meant by it.

``tomllib`` stops at the first error and says it in terms of the grammar. Here the usual slips are
recognised in the line itself, and corrected, in memory, so that the rest of the file can be checked
too. A slip that is none of them is told as the parser says it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

MOST_SLIPS = 50
BLANKS = re.compile("[\u00a0\u2000-\u200b\u202f\u3000\ufeff]")
CURLY = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'))
HEADER = re.compile(r"^\s*\[([^\[\]#]*)(\]?)\s*(#.*)?$")
PAIR = re.compile(r"^\s*([^=#]*?)\s*=\s*(.*?)\s*(?:(?<!\S)#.*)?$")
NO_SIGN = re.compile(r"^\s*([\w.-]+|\"[^\"]*\")\s*(?::\s*|\s+)(\S.*?)\s*$")
BARE = re.compile(r"[A-Za-z0-9_-]+")
TIME = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt ]\s*(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s*(\S*))?"
)
OTHER_DATE = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b.*|\d{1,2}\.?\s+[A-Za-z]+\s+\d{4}.*")
EXAMPLE = "2026-12-01T23:59:00"


@dataclass(frozen=True)
class Slip:
    """A line, from 1, and what is wrong with it."""

    line: int
    what: str


@dataclass(frozen=True)
class Parsed:
    """A file's tables, None if they cannot be read, its ``slips``, and the text without them."""

    found: dict[str, Any] | None
    text: str
    slips: tuple[Slip, ...]


def parsed(text: str) -> Parsed:
    """Parse a TOML text, with its slips corrected."""
    lines, slips = text.split("\n"), list[Slip]()
    while len(slips) < MOST_SLIPS:
        try:
            return Parsed(tomllib.loads("\n".join(lines)), "\n".join(lines), tuple(slips))
        except tomllib.TOMLDecodeError as error:
            said, _, place = str(error).rpartition(" (at ")
        at = re.search(r"line (\d+)", place)
        number = int(at[1]) if at else _last(lines, said)
        what, meant = next(_understood(lines, number, said))
        slips.append(Slip(number, what))
        if meant is None or meant == lines[number - 1]:
            break
        lines[number - 1] = meant
    return Parsed(None, "\n".join(lines), tuple(slips))


def _last(lines: Sequence[str], said: str) -> int:
    """Return the line of an error at the end of a file, where an open ' is noticed too."""
    if "'" in said:
        for number, line in enumerate(lines, 1):
            pair = PAIR.match(line)
            if pair and pair[2].startswith("'") and pair[2].count("'") == 1:
                return number
    return len("\n".join(lines).rstrip("\n").split("\n"))


def _understood(lines: Sequence[str], number: int, said: str) -> Iterator[tuple[str, str | None]]:
    """Yield explanations of an error, the likeliest first, each with the line that was meant."""
    line, twice = lines[number - 1], said.startswith("Cannot ")
    header, pair = HEADER.match(line), PAIR.match(line)
    if BLANKS.search(line):
        yield "a blank in this line only looks like one; type it again", BLANKS.sub(" ", line)
    elif line.translate(CURLY) != line:
        yield 'quotes must be straight, as in "..."', line.translate(CURLY)
    elif header:
        yield from _of_header(lines, number, header, twice)
    elif line.lstrip().startswith(("//", ";")):
        yield "a comment begins with #", f"#{line}"
    elif pair and twice:
        first = _first(lines, number, re.compile(rf"\s*{re.escape(pair[1])}\s*="))
        yield f"{pair[1]} stands here twice{first}; keep one", f"#{line}"
    elif pair:
        yield from _of_pair(line, pair[1], pair[2])
    elif sign := NO_SIGN.match(line):
        meant = f"{sign[1]} = {sign[2]}"
        yield f"= is missing between the name and its value: {meant}", meant
    yield f"{said[:1].lower()}{said[1:]}", None


def _of_header(
    lines: Sequence[str], number: int, header: re.Match[str], twice: bool
) -> Iterator[tuple[str, str | None]]:
    table, dot, name = header[1].strip().partition(".")
    if "@" in table:
        table, dot, name = header[1].strip(), "", ""
    quoted = f'[{table}."{name}"]' if dot else f'["{table}"]'
    if twice:
        first = _first(lines, number, re.compile(rf"\s*\[{re.escape(header[1])}\]"))
        yield f"[{header[1]}] stands here twice{first}; put all of it below one", None
    elif "@" in header[1] and '"' not in header[1]:
        yield f"an e-mail address needs quotes: {quoted}", quoted
    elif not header[2]:
        yield f"the closing ] is missing: [{header[1].strip()}]", f"[{header[1].strip()}]"
    elif '"' not in header[1] and not BARE.fullmatch(name or table):
        only = "letters of English, digits, - and _"
        yield f"a name of anything but {only} needs quotes: {quoted}", quoted


def _of_pair(line: str, key: str, value: str) -> Iterator[tuple[str, str | None]]:
    """Explain what is wrong with a name and its value."""
    if "@" in key and '"' not in key:
        yield f'an e-mail address needs quotes: "{key}" = ...', line.replace(key, f'"{key}"', 1)
    elif not value:
        yield f"{key} has no value", f"#{line}"
    elif value[0] in "\"'" and value.count(value[0]) == 1:
        meant = f"{key} = {value}{value[0]}"
        yield f"the closing {value[0]} is missing: {meant}", meant
    elif found := TIME.fullmatch(value):
        yield from _of_time(line, key, value, found)
    elif OTHER_DATE.fullmatch(value):
        yield f"a time begins with the year: {key} = {EXAMPLE}", f"#{line}"
    elif re.fullmatch(r"[\d.,]+\s*%", value):
        meant = f"{key} = {value.rstrip('% ').replace(',', '.')}"
        yield f"leave out the % sign: {meant}", meant
    elif re.fullmatch(r"\d+,\d+", value):
        meant = f"{key} = {value.replace(',', '.')}"
        yield f"a number has a decimal point, not a comma: {meant}", meant
    elif re.fullmatch(r"0+\d+(\.\d+)?", value):
        meant = f"{key} = {value.lstrip('0')}"
        yield f"a number has no zero in front: {meant}", meant
    elif number := re.fullmatch(r"(\d+(?:\.\d+)?)\s*[A-Za-z]+", value):
        meant = f"{key} = {number[1]}"
        yield f"write the number alone: {meant}", meant
    elif (value[0].isalnum() or value[0] in "/.~") and '"' not in value:
        meant = f'{key} = "{value}"'
        yield f"text needs quotes: {meant}", meant


def _of_time(
    line: str, key: str, value: str, found: re.Match[str]
) -> Iterator[tuple[str, str | None]]:
    year, month, day, hour, minute, second, zone = found.groups()
    meant = f"{key} = {year}-{int(month):02}-{int(day):02}"
    meant += f"T{int(hour):02}:{minute}:{second or '00'}{zone}" if hour else ""
    if hour and not second:
        yield f"a time needs its seconds: {meant}", meant
    elif len(month + day + (hour or "00")) < 6:
        yield f"month, day and hour need two digits each: {meant}", meant
    else:
        yield f"there is no such date or time: {value}", f"#{line}"


def _first(lines: Sequence[str], number: int, pattern: re.Pattern[str]) -> str:
    """Name the line above that a second one repeats, if it is plain which."""
    above = [i for i, line in enumerate(lines[: number - 1], 1) if pattern.match(line)]
    return f", first in line {above[-1]}" if above else ""

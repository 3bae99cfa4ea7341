"""CSV files: read with the line of each row, for messages; written so that no cell is a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from warpwise.errors import GradingError

DELIMITERS = ",;\t"
# A spreadsheet may cut a line at another separator than the one that it was written with, and then
# takes quotes for text. Blanks are none: no program cuts there unless it is told to.
CUTS = r",;:|\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029"
# Before a sign, also in full width, it may pass over quotes and over what cannot be seen.
UNSEEN = (
    r"\x00-\x08\x0e-\x1b\x1f-\x20\x7f-\x84\x86-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5"
    r"\u180b-\u180f\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff"
    r"\uffa0\ufff0-\ufffc\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
SIGNS = (
    r"=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212"
    r"\u207a\u207b\u207c\u208a\u208b\u208c"
)
FORMULA = re.compile(rf"""(^|[{CUTS}])('*)(?=[{UNSEEN}"]*[{SIGNS}]|[\t\r\n])""")


@dataclass(frozen=True)
class Sheet:
    """The columns of a file, from its first row, and the other rows: line, from 1, and cells."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[int, Mapping[str, str]], ...]

    def wrong(self, line: int, what: str) -> GradingError:
        return GradingError(f"{self.name}:{line}: {what}")


def read(path: str | Path) -> Sheet:
    """Read a CSV file in UTF-8, with commas, semicolons or tabs between cells; skip empty rows.

    Raises GradingError, in one line, for a file that cannot be read, is empty, is not UTF-8, or has
    a row longer than its first."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise GradingError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise GradingError(f"{path.name} is not UTF-8; save it as CSV UTF-8") from error
    rows = list(_rows(path.name, text))
    if not rows:
        raise GradingError(f"{path.name} is empty")
    columns = tuple(rows[0][1])
    by_column = (
        (line, dict(zip_longest(columns, cells[: len(columns)], fillvalue="")))
        for line, cells in rows[1:]
    )
    sheet = Sheet(path.name, columns, tuple(by_column))
    for line, cells in rows[1:]:
        if any(cells[len(columns) :]):
            message = f"{len(cells)} cells for {len(columns)} columns"
            raise sheet.wrong(line, f"{message}; a cell with a comma in it needs quotes")
    return sheet


def written(rows: Iterable[Sequence[str]], as_is: Collection[str] = ()) -> str:
    """Write rows as CSV text, which UTF-8 can hold; cells that are in ``as_is`` are not defused."""
    text = "".join(_line(row, as_is) for row in rows)
    return text.encode("utf-8", "replace").decode("utf-8")


def marked(table: str, said: str) -> str:
    """Return a CSV table with a first row such as "UNFINISHED: 2 of 3"; as it is without one."""
    if not said:
        return table
    heads, _, rows = table.partition("\n")
    mark, _, what = said.partition(": ")
    return f"{heads}\n{written([[mark, what]])}{rows}"


def defused(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula, however it cuts the line into cells.

    ``read`` undoes it."""
    return FORMULA.sub(r"\1'\2", cell)


def _line(cells: Sequence[str], as_is: Collection[str]) -> str:
    text = io.StringIO()
    safe = [cell if cell in as_is else defused(cell) for cell in cells]
    # csv quotes a bare \r or \n only if it is in the line terminator
    csv.writer(text, lineterminator="\r\n").writerow(safe)
    return text.getvalue().removesuffix("\r\n") + "\n"


def _rows(name: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, each with the line that it begins on."""
    first = text.lstrip("\r\n").partition("\n")[0]
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=max(DELIMITERS, key=first.count), strict=True
    )
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, [_plain(cell) for cell in cells]
            line = reader.line_num + 1
    except csv.Error as error:
        raise GradingError(f"{name}:{line}: not CSV ({error})") from error


def _plain(cell: str) -> str:
    """Strip a cell, and undo ``defused``."""
    return FORMULA.sub(lambda found: found[1] + found[2][1:], cell.strip())

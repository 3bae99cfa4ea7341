"""CSV files: read with the line of each row, for messages; written so that no cell is a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from warpwise.errors import GradingError

DELIMITERS = ",;\t"
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


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


def written(rows: Iterable[Sequence[str]]) -> str:
    """Write rows as CSV text, which UTF-8 can hold."""
    return "".join(_line(row) for row in rows).encode("utf-8", "replace").decode("utf-8")


def defused(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    # csv quotes a bare \r or \n only if it is in the line terminator
    csv.writer(text, lineterminator="\r\n").writerow(map(defused, cells))
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
    cell = cell.strip()
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell

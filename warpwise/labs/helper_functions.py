"""Find the functions that a host function calls and that stand beside it, and name their lines.

A student may put a step into a function of another cell: what goes wrong there is told with that
function's name and the line of its own cell. Left out: functions of other modules, methods, and
functions that are handed over as arguments."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from warpwise.traces import line_in_words


@dataclass(frozen=True, order=True)
class At:
    """A line: of the function itself, or of another one, which then has a name."""

    function: str
    line: int

    def __str__(self) -> str:
        return line_in_words(self.line, self.function) if self.function else f"line {self.line}"

    def is_above(self, other: At) -> bool:
        """True if both are in one text, and this line stands above the other."""
        return self.function == other.function and self.line < other.line

    def and_on(self, other: At) -> str:
        """Name two lines, the upper one first if both are in one text."""
        if self.function != other.function:
            return f"{self} and {other}"
        first, last = sorted((self.line, other.line))
        if first == last:
            return str(self)
        of = f" of {self.function}" if self.function else ""
        return f"lines {first} and {last}{of}"


@dataclass(frozen=True)
class Texts:
    """The file of a function, which is its cell in a notebook, and its helpers' code elsewhere."""

    file: str
    helpers: tuple[tuple[str, CodeType], ...]

    def at(self, file: str, line: int) -> At | None:
        """Return a line of these texts as messages name it; None if it is in no such text."""
        if file == self.file:
            return At("", line)
        known = (
            (code.co_firstlineno, name)
            for name, code in self.helpers
            if code.co_filename == file and code.co_firstlineno <= line
        )
        first, name = max(known, default=(0, ""))
        return At(name, line) if first else None

    def lines_of(self, error: BaseException) -> tuple[At, ...]:
        """Return the lines that an error passed on its way: the function's, then a helper's.

        Of each text only the last line counts, and of helpers only the last one."""
        frames = traceback.walk_tb(error.__traceback__)
        found = [self.at(frame.f_code.co_filename, line) for frame, line in frames]
        own = [at for at in found if at is not None and not at.function]
        others = [at for at in found if at is not None and at.function]
        return (*own[-1:], *others[-1:])

    def text(self, at: At) -> str:
        """Return the text of a line."""
        files = {name: code.co_filename for name, code in self.helpers}
        return linecache.getline(files.get(at.function, self.file), at.line).strip()


def texts_of(function: Any) -> Texts:
    """Return where the text of a function and those of its helpers stand."""
    code = getattr(function, "__code__", None)
    file = str(getattr(code, "co_filename", ""))
    names = getattr(function, "__globals__", {})
    if not isinstance(code, CodeType):
        return Texts(file, ())
    helpers = _called(code, names, set())
    return Texts(file, tuple((n, c) for n, c in helpers if c.co_filename != file))


def _called(
    code: CodeType, names: dict[str, Any], seen: set[str]
) -> Iterator[tuple[str, CodeType]]:
    """Yield the functions of a namespace that a text names, and those that these name, once."""
    for name in _names(code):
        other: Callable[..., Any] | None = names.get(name)
        if name in seen or not isinstance(other, FunctionType) or other.__globals__ is not names:
            continue
        seen.add(name)
        yield name, other.__code__
        yield from _called(other.__code__, names, seen)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names of a code and of the functions in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)

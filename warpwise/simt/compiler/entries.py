"""The forms of the language's table: its entries, and the words that messages know.

``context.Language`` has the tables themselves, and ``language`` fills them."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

H = TypeVar("H")


@dataclass(frozen=True)
class Entry(Generic[H]):
    """A word or a function of the language.

    ``name``: its path below ``cuda``, or its name in Python; ``shown``: its arguments as messages
    and the page show them; ``handler``: compiles it; ``example``: lines of a kernel that use it."""

    name: str
    shown: str
    handler: H
    example: str


@dataclass(frozen=True)
class Refused:
    """What a kernel cannot use.

    ``shown``: its everyday name; ``example``: refused lines of a kernel; ``instead``: advice."""

    shown: str
    example: str
    instead: str


@dataclass(frozen=True)
class Vocabulary:
    """The words of the language, for messages; CUDA's go by their path below ``cuda``."""

    called: Mapping[str, str]  #: words -> their arguments as messages show them
    read: tuple[str, ...]  #: words that are values
    vectors: Container[str]  #: those of ``called`` that make vectors
    refused: Mapping[str, Refused]
    functions: Container[object]  #: functions of numbers and casts, of Python and NumPy

    @cached_property
    def top(self) -> tuple[str, ...]:
        """Names directly below ``cuda``."""
        return tuple(dict.fromkeys(path.partition(".")[0] for path in (*self.called, *self.read)))

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """Values of three parts: ``threadIdx`` and the like."""
        heads = (path.partition(".") for path in self.read)
        return tuple(dict.fromkeys(head for head, _, part in heads if part))

    def member(self, path: str) -> str:
        """Return the first word below a path with its arguments, or ""."""
        below = (p for p in self.called if p.startswith(f"{path}."))
        return next((p.removeprefix(f"{path}.") + self.called[p] for p in below), "")

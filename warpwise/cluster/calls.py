"""The register of collective calls: all ranks of a group call the same ones in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from warpwise.errors import DeadlockError, MismatchError
from warpwise.messages import Datum, Rank, Words, message

Key: TypeAlias = tuple[tuple[int, ...], int]  #: the ranks of a group, and the number of its call


#: Two arrays of one shape, in another order on another rank, are joined by these unnoticed.
MIXING = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all"}


@dataclass(frozen=True)
class Part:
    """One rank's call of a collective. ``details``: what all ranks have to pass alike."""

    rank: int
    word: str
    site: str
    details: Mapping[str, object]


class Register:
    """The calls so far."""

    def __init__(self) -> None:
        self.parts: dict[Key, dict[int, Part]] = {}
        self.notes: dict[tuple[str, ...], str] = {}

    def add(self, key: Key, part: Part) -> None:
        """Note a call; raise DeadlockError or MismatchError if another rank's does not fit."""
        parts = self.parts.setdefault(key, {})
        if parts:
            first = next(iter(parts.values()))
            compare(first, part)
            if first.site != part.site and part.word in MIXING:
                self.notes.setdefault((part.word, first.site, part.site), _mixed(first, part))
        parts[part.rank] = part

    def through(self, key: Key) -> None:
        """Note that a rank has done its part; other ranks' may still be compared with it."""

    def missing(self, key: Key) -> list[int]:
        """Return the ranks of a group that have not made a call as yet."""
        return [rank for rank in key[0] if rank not in self.parts[key]]


def _mixed(first: Part, part: Part) -> str:
    return (
        f"{part.word} of rank {first.rank} at {first.site} is one with that of rank {part.rank} at "
        f"{part.site}: if they mean different arrays, these are mixed up"
    )


def compare(first: Part, part: Part) -> None:
    ranks = {"one": Rank(first.rank), "other": Rank(part.rank)}
    sites = {"there": Words(first.site), "here": Words(part.site)}
    if first.word != part.word:
        what = message(
            "deadlock: {one} calls {first} at {there} and {other} calls {second} at {here}, and "
            "each waits for the other: all ranks call collectives in the same order",
            **ranks,
            **sites,
            first=Words(first.word),
            second=Words(part.word),
        )
        raise DeadlockError(what)
    for name, value in first.details.items():
        if part.details[name] != value:
            what = message(
                "{word} has [[{name} {value}|one {name}]] on {one} at {there}, and "
                "[[{second}|another]] on {other} at {here}",
                **ranks,
                **sites,
                word=Words(part.word),
                name=Words(name),
                value=Datum(str(value)),
                second=Datum(str(part.details[name])),
            )
            raise MismatchError(what)

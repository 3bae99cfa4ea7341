"""The register of collective calls: all ranks of a group call the same ones in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from warpwise.errors import DeadlockError, MismatchError
from warpwise.messages import Datum, Rank, Words, message

Key: TypeAlias = tuple[tuple[int, ...], int]  #: the ranks of a group, and the number of its call


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

    def add(self, key: Key, part: Part) -> None:
        """Note a call; raise DeadlockError or MismatchError if another rank's does not fit."""
        parts = self.parts.setdefault(key, {})
        if parts:
            _compare(next(iter(parts.values())), part)
        parts[part.rank] = part

    def missing(self, key: Key) -> list[int]:
        """Return the ranks of a group that have not made a call as yet."""
        return [rank for rank in key[0] if rank not in self.parts[key]]


def _compare(first: Part, part: Part) -> None:
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

"""Replicas: whether ranks that should hold the same parameters do, and reduced their gradients.

The checks compare values, so that they see through buckets and through collectives written by hand.
They stand beside the cluster: nothing is sent, and no time passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from warpwise.cluster.buffers import values_of
from warpwise.errors import ClusterError, MismatchError, ReplicaError
from warpwise.messages import Datum, Message, Name, Rank, Words, message

ROUNDINGS = 8  #: of each term of a sum, that a reduction in another order may differ by

Values: TypeAlias = dict[str, np.ndarray]


@dataclass(frozen=True)
class Pinned:
    """What a rank has pinned up: arrays by name, such as ``after`` and ``before`` a reduction.

    ``reduced_at``: by name, the lines of each ``all_reduce`` that wrote into the array."""

    site: str
    after: Values
    before: Values = field(default_factory=dict)
    reduced_at: Mapping[str, Sequence[str]] = field(default_factory=dict)


class Boards:
    """What ranks have pinned up to be compared, by check and number of the call."""

    def __init__(self, ranks: int):
        self.ranks = ranks
        self.boards: dict[tuple[str, int], dict[int, Pinned]] = {}
        self.calls: dict[tuple[str, int], int] = {}

    def pin(self, check: str, rank: int, pinned: Pinned) -> tuple[dict[int, Pinned], int]:
        """Pin up a rank's values; return those of all that came to this call, and its number.

        Raises MismatchError if they have other names, shapes or types than the first's."""
        number = self.calls[check, rank] = self.calls.get((check, rank), 0) + 1
        board = self.boards.setdefault((check, number), {})
        board[rank] = pinned
        first = next(iter(board))
        if _kinds(pinned) != _kinds(board[first]):
            what = message(
                "{check} has arrays of other names, shapes or types from {rank} at {here} than "
                "from {first} at {there}",
                check=Words(check),
                rank=Rank(rank),
                here=Words(pinned.site),
                first=Rank(first),
                there=Words(board[first].site),
            )
            raise MismatchError(what)
        if len(board) == self.ranks:
            del self.boards[check, number]
        return board, number

    def need_all(self) -> None:
        """Raise ClusterError at the end of a run if a rank has left out a check of another."""
        for (check, _), board in self.boards.items():
            absent = next(rank for rank in range(self.ranks) if rank not in board)
            first = min(board)
            what = message(
                "{absent} has not come to the {check} of {first} at {site}: all ranks call it",
                absent=Rank(absent),
                check=Words(check),
                first=Rank(first),
                site=Words(board[first].site),
            )
            raise ClusterError(what)


def check_replicas(
    boards: Boards, rank: int, parameters: Mapping[str, Any], step: object, site: str
) -> None:
    """Compare all ranks' parameters with rank 0's when the last has come. Raises ReplicaError."""
    mine = copies(parameters, "check_replicas", site)
    board, number = boards.pin("check_replicas", rank, Pinned(site, mine))
    if len(board) < boards.ranks:
        return
    for name, first in board[0].after.items():
        for one in range(1, boards.ranks):
            values = board[one].after[name]
            if values.tobytes() != first.tobytes():
                what = message(
                    "replicas drifted apart{when}: parameter {name} of {rank} is not that of "
                    "{first}[[, by up to {by:.3g}]], at {site}",
                    when=_when(step, number),
                    name=Name(name),
                    rank=Rank(one),
                    first=Rank(0),
                    by=Datum(_difference(values, first)),
                    site=Words(board[one].site),
                )
                raise ReplicaError(what)


def check_gradients(boards: Boards, rank: int, pinned: Pinned, step: object) -> None:
    """Check gradients when the last rank has come.

    Raises ReplicaError for the first that is not the sum or the mean over ranks."""
    board, number = boards.pin("check_gradients", rank, pinned)
    if len(board) < boards.ranks:
        return
    for name in board[0].before:
        terms = {one: _wide(board[one].before[name]) for one in sorted(board)}
        for one in terms:
            said = _said(board[one], name, one, terms)
            if said:
                what = message(
                    "gradient {name} of {rank} {said}{when}, found at {site}",
                    name=Name(name),
                    rank=Rank(one),
                    said=Words(said),
                    when=_when(step, number),
                    site=Words(board[one].site),
                )
                raise ReplicaError(what)


def _said(pinned: Pinned, name: str, rank: int, terms: Mapping[int, np.ndarray]) -> str:
    """Return what is wrong with a gradient, "" if it is the sum or the mean over ranks."""
    value, own, ranks = pinned.after[name], terms[rank], len(terms)
    total, size = sum(terms.values()), sum(map(np.abs, terms.values()))
    slack = ROUNDINGS * ranks * _epsilon(value.dtype) * size

    def near(of: Any, factor: float) -> bool:
        return bool(np.all(np.abs(value - factor * of) <= factor * slack))

    if near(total, 1) or near(total, 1 / ranks):
        return ""
    if near(own, 1) or near(own, 1 / ranks):
        return "was not reduced: it is still the rank's own"
    if near(total, ranks):
        lines = pinned.reduced_at.get(name, ())
        return "was reduced twice" + (f", at {' and '.join(lines)}" if len(lines) > 1 else "")
    if near(total, 1 / ranks**2):
        return "was divided by the number of ranks twice"
    return "is neither the sum nor the mean of the ranks' own"


def copies(arrays: Any, word: str, site: str) -> Values:
    """Return copies of arrays by name. Raises ClusterError for what is no dictionary of arrays."""
    if not isinstance(arrays, Mapping):
        what = message(
            "{word} at {site} takes a dictionary of arrays, such as {{'w': w}}, not {kind}",
            word=Words(word),
            site=Words(site),
            kind=Words(type(arrays).__name__),
        )
        raise ClusterError(what)
    return {str(name): values_of(array, word, site).copy() for name, array in arrays.items()}


def _kinds(pinned: Pinned) -> list[tuple[str, tuple[int, ...], np.dtype[Any]]]:
    found = (*pinned.after.items(), *pinned.before.items())
    return [(name, values.shape, values.dtype) for name, values in found]


def _difference(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.max(np.abs(_wide(one) - _wide(other)), initial=0.0))


def _wide(values: np.ndarray) -> np.ndarray:
    """Return numbers as float64, or complex128."""
    return values.astype(np.result_type(values.dtype, np.float64))


def _when(step: object, number: int) -> Message:
    """Return the step in words, or which of the checks it was."""
    if step is None:
        return message("[[ in check {number}]]", number=Datum(number))
    return message("[[ in step {step}]]", step=Datum(str(step)))


def _epsilon(dtype: np.dtype[Any]) -> float:
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0

"""Judge programs of a cluster: each rank of a student's runs in sandboxes of its own.

A sandbox runs one rank from its start to where it waits for what has not come (see
``inside/programs.py``); here its transfers are done on a simulated cluster, by which bytes, rounds
and mistakes among ranks are found, and it is started again with what came. So ranks share nothing
but what they send, nothing that is counted is counted by student code, and no expected value is in
a sandbox."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from warpwise import cluster
from warpwise.cluster.sites import SITE
from warpwise.errors import ClusterError, WarpwiseError
from warpwise.grading import functions, parts, sandbox, watch
from warpwise.grading.inside.functions import TYPES as LETTERS
from warpwise.grading.inside.programs import LENGTH, STARTED, WORDS
from warpwise.grading.record import STOPPED
from warpwise.grading.warm import Warm
from warpwise.labs.advice import OF_RUNS, TIMED_OUT, TOO_SLOW
from warpwise.labs.exercise import Program, Reason, Verdict
from warpwise.labs.limit import PATIENCE
from warpwise.labs.programs import instead, on_ranks, on_run
from warpwise.messages import plain

MOST_STARTS = 200  #: of a rank: as often may it wait for something new
MOST_TRANSFERS, MOST_BYTES = 400, 4 << 20  #: that a rank posts
MOST_CPU_SECONDS = 10.0  #: of all ranks of a case together, and wall seconds PATIENCE times as long
#: what a parameter takes beside arrays, groups and lists of them
KINDS: dict[str, tuple[type, ...]] = {
    "dst": (int,),
    "src": (int,),
    "tag": (int,),
    "op": (str,),
    "seconds": (int, float),
    "what": (str,),
}
TYPES = frozenset(LETTERS)
OTHER_ARGUMENTS = "a call has other arguments than it takes"
CHANGED = "a rank changes an array that a transfer works on until the wait for it"
AGAIN = "the program does not do the same when it is run again"
Header = dict[str, Any]


class _Ended(Exception):
    """A rank's process that gave no result, with its verdict."""

    def __init__(self, verdict: Verdict):
        super().__init__(verdict.reason)
        self.verdict = verdict


def verdicts(
    text: str, name: str, cases: Sequence[Program], mode: str, warm: Warm | None, endless: bool
) -> list[Verdict]:
    """Judge the cases up to the first that is wrong."""
    found: list[Verdict] = []
    for case in cases:
        found.append(_verdict(_Play(case, text, name, mode, warm, endless)))
        if not found[-1].passed and not found[-1].reason.startswith(Reason.OVER_BUDGET):
            break
    return found


class _Play:
    """A case, the text that is run for it, and what it has used."""

    def __init__(
        self, case: Program, text: str, name: str, mode: str, warm: Warm | None, endless: bool
    ):
        self.case, self.text, self.name, self.mode, self.warm = case, text, name, mode, warm
        self.endless, self.cpu_seconds, self.wall_seconds = endless, 0.0, 0.0

    def run(self, job: dict[str, Any]) -> watch.Finished:
        """Run a rank once. Raises _Ended if the ranks have used up their time."""
        if self.cpu_seconds > MOST_CPU_SECONDS:
            raise _Ended(self.failed(Reason.TOO_SLOW, "its ranks take too long together"))
        if self.wall_seconds > PATIENCE * MOST_CPU_SECONDS:
            raise _Ended(self.failed(Reason.TIMED_OUT, "its ranks take too long together"))
        about = {"text": self.text, "name": self.name, **job}
        done = sandbox.play(parts.FUNCTIONS, about, self.mode, self.warm)
        self.cpu_seconds += done.cpu_seconds
        self.wall_seconds += done.wall_seconds
        return done

    def site(self, word: str) -> str:
        """Name the line that calls a word, where there is one alone; else the word.

        The sandbox is not asked, for its answer could tell of hidden inputs."""
        lines = [line.strip() for line in self.text.splitlines() if f".{word}(" in line]
        return f"`{lines[0]}`" if len(lines) == 1 else f"dist.{word}"

    def failed(self, reason: str, told: str) -> Verdict:
        """Return the verdict on a case that came to no end."""
        usual = {Reason.TOO_SLOW: TOO_SLOW, Reason.TIMED_OUT: TIMED_OUT, **OF_RUNS}
        advice = plain(usual.get(reason, ""))
        return Verdict(False, reason, plain(told), self.case.label, remedy=advice)


def _verdict(play: _Play) -> Verdict:
    """Judge one case."""
    case = play.case
    try:
        with np.errstate(all="ignore"):
            program = partial(_rank, play)
            run = cluster.run(program, case.ranks, topology=case.topology)
    except _Ended as ended:
        return ended.verdict
    except ClusterError as error:
        return on_ranks(error, case)
    return on_run(run, run.results, case)


@dataclass
class _Transfers:
    """What a rank has posted so far, by number."""

    works: list[Any] = field(default_factory=list)  #: None once one was waited for
    filled: list[list[np.ndarray]] = field(default_factory=list)  #: the arrays that it fills
    nbytes: int = 0

    def told(self) -> dict[str, Any]:
        """What the sandbox gets to know: what is done, and what was waited for."""
        received: list[Any] = []
        for work, arrays in zip(self.works, self.filled, strict=True):
            come = arrays if work is None else work.come() if work.ready else None
            received.append(None if come is None else list(map(functions.encode, come)))
        waited = [number for number, work in enumerate(self.works) if work is None]
        return {"posted": len(self.works), "received": received, "waited": waited}


def _rank(play: _Play, dist: cluster.Communicator) -> Verdict:
    """Run one rank to its end, and return the verdict on what it returned."""
    call, so_far = play.case.of_rank(dist.get_rank()), _Transfers()
    job = functions.asked(call) | {"rank": dist.get_rank(), "ranks": play.case.ranks}
    for _ in range(MOST_STARTS):
        done = play.run(job | so_far.told())
        kind = b""
        for kind, content in _frames(done.result):
            if kind == b"r" and content[1:].rstrip() == b"BufferInUseError":
                return play.failed(Reason.IN_USE, CHANGED)
            if kind == b"r":
                verdict = functions.verdict(content, call, done, play.endless)[0]
                return instead(verdict, play.text, play.name)
            if kind == b"o":
                _post(play, dist, content, so_far)
            else:
                _wait(play, int.from_bytes(content, "little"), so_far)
        if kind != b"w":
            raise _Ended(functions.verdict(b"", call, done, play.endless)[0])
    raise _Ended(play.failed(Reason.TOO_SLOW, f"a rank waits more than {MOST_STARTS} times"))


def _wait(play: _Play, number: int, so_far: _Transfers) -> None:
    """Wait for a transfer that the sandbox waits for."""
    if number >= len(so_far.works):
        raise _Ended(play.failed(Reason.RANKS, AGAIN))
    work, so_far.works[number] = so_far.works[number], None
    if work is not None:
        SITE.set(work.in_use.site)
        work.wait()


def _frames(result: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the frames of a result, as far as they are whole."""
    while len(result) > LENGTH:
        kind, length = result[:1], int.from_bytes(result[1 : 1 + LENGTH], "little")
        content, result = result[1 + LENGTH : 1 + LENGTH + length], result[1 + LENGTH + length :]
        if len(content) < length:
            return
        yield kind, content


def _post(play: _Play, dist: cluster.Communicator, content: bytes, so_far: _Transfers) -> None:
    """Start the transfer that a frame asks for."""
    so_far.nbytes += len(content)
    if len(so_far.works) >= MOST_TRANSFERS or so_far.nbytes > MOST_BYTES:
        raise _Ended(play.failed(STOPPED["result"], "a rank sends too much"))
    try:
        word, given, filled = _asked(content, dist)
        SITE.set(play.site(word))
        waits = word in ("send", "recv", "compute")
        later = {} if waits or word in STARTED else {"async_op": True}
        work = getattr(dist, word)(**given, **later)
    except (ValueError, KeyError, TypeError, IndexError, RecursionError, AttributeError) as error:
        if isinstance(error, WarpwiseError):
            raise
        raise _Ended(play.failed(Reason.RANKS, OTHER_ARGUMENTS)) from error
    so_far.works.append(None if waits else work)
    so_far.filled.append(filled)


def _asked(
    content: bytes, dist: cluster.Communicator
) -> tuple[str, dict[str, Any], list[np.ndarray]]:
    """Return the word of a frame, its arguments, and which arrays it fills."""
    length = int.from_bytes(content[:LENGTH], "little")
    head: Header = json.loads(content[LENGTH : LENGTH + length])
    arrays = list(_arrays(head["arrays"], content[LENGTH + length :]))
    word: str = head["word"]
    names, fills = WORDS[word]
    if not set(head["args"]) <= set(names):
        raise TypeError(word)
    given = {name: _read(name, value, arrays, dist) for name, value in head["args"].items()}
    if not fills or (word == "broadcast" and given["src"] == dist.get_rank()):
        return word, given, []
    filled = given[fills] if isinstance(given[fills], list) else [given[fills]]
    if not all(isinstance(one, np.ndarray) for one in filled):
        raise TypeError(word)
    return word, given, filled


def _arrays(kinds: Any, content: bytes) -> Iterator[np.ndarray]:
    """Yield the arrays of a frame; raise ValueError where it is malformed."""
    for name, shape in kinds:
        if name not in TYPES or not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError(name)
        dtype = np.dtype(name)
        nbytes = math.prod(shape) * dtype.itemsize
        if nbytes > len(content):
            raise ValueError(name)
        yield np.frombuffer(content[:nbytes], dtype).reshape(shape).copy()
        content = content[nbytes:]


def _read(name: str, value: Any, arrays: Sequence[np.ndarray], dist: cluster.Communicator) -> Any:
    """Return an argument as the cluster takes it; raise TypeError for what it does not take."""
    if isinstance(value, list):
        return [arrays[one["array"]] for one in value]
    if isinstance(value, dict):
        return dist.new_group(value["group"]) if "group" in value else arrays[value["array"]]
    if value is None and name == "group":
        return None
    if type(value) not in KINDS.get(name, ()):
        raise TypeError(name)
    return value

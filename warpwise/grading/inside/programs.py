"""Run one rank of a student's program, as far as what it received so far allows.

The sandbox holds one rank and no other, so ranks share nothing but what they send. The program is
run from its start; each transfer that it posts is one frame, and where it waits for one that the
grader has not done yet, the process ends. The grader does the transfers, and starts it again with
what has come. Nothing has to be believed: a frame is a byte, the length of what follows, and that:
``o`` a transfer (the length of a JSON header, the header, the bytes of its arrays), ``w`` the
number of a transfer that is waited for, ``r`` the frames of the result, as ``functions`` makes
them. Left out of what a rank can say elsewhere: kernels, checks of replicas and of gradients."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from io import FileIO
from typing import Any

import numpy as np

#: what posts a transfer -> its parameters, and which of them it fills
WORDS = {
    "send": (("tensor", "dst", "tag"), ""),
    "recv": (("tensor", "src", "tag"), "tensor"),
    "isend": (("tensor", "dst", "tag"), ""),
    "irecv": (("tensor", "src", "tag"), "tensor"),
    "all_reduce": (("tensor", "op", "group", "async_op"), "tensor"),
    "broadcast": (("tensor", "src", "group", "async_op"), "tensor"),
    "reduce_scatter": (("output", "input_list", "op", "group", "async_op"), "output"),
    "reduce_scatter_tensor": (("output", "input", "op", "group", "async_op"), "output"),
    "all_gather": (("tensor_list", "tensor", "group", "async_op"), "tensor_list"),
    "all_gather_into_tensor": (
        ("output_tensor", "input_tensor", "group", "async_op"),
        "output_tensor",
    ),
    "all_to_all": (
        ("output_tensor_list", "input_tensor_list", "group", "async_op"),
        "output_tensor_list",
    ),
    "barrier": (("group", "async_op"), ""),
    "compute": (("seconds", "what"), ""),
}
STARTED = ("isend", "irecv")  #: they wait for nothing
LENGTH = 8  #: bytes of a frame's length


class BufferInUseError(Exception):
    """An array changed between the start of its transfer and the wait for it."""


def answer(job: dict[str, Any], result: FileIO) -> None:
    """Run the job's text for the rank ``job["rank"]`` of ``job["ranks"]``.

    ``job["received"]`` holds for each transfer that is done the arrays that it fills, in order,
    ``job["posted"]`` is how many the grader knows already, and ``job["waited"]`` those of which it
    knows that they were waited for."""
    from functions import decode, defined, frames  # its name in a sandbox

    dist = Dist(job, result, decode)
    program = defined(job["text"], job["name"])
    args = [dist, *map(decode, job["args"])]
    shapes = list(map(tuple, job["shapes"]))
    dist.say(b"r", frames(program, args, shapes, job["several"]))


class Group:
    """Some ranks, in order."""

    def __init__(self, ranks: Sequence[int]):
        self.ranks = sorted(map(int, ranks))


class Work:
    """A transfer that was started."""

    def __init__(self, dist: Dist, number: int, arrays: list[np.ndarray], filled: list[np.ndarray]):
        self.dist, self.number, self.arrays, self.filled = dist, number, arrays, filled
        self.left = [array.tobytes() for array in arrays]
        self.waited = False

    def is_completed(self) -> bool:
        return self.waited

    def wait(self) -> None:
        """Fill the arrays with what came, or end the process if nothing has as yet."""
        if self.waited:
            return
        come = self.dist.come(self.number)
        if [array.tobytes() for array in self.arrays] != self.left:
            raise BufferInUseError
        self.waited = True
        for array, values in zip(self.filled, come, strict=True):
            array[...] = values


class Dist:
    """A rank's way to the others, with the names of ``warpwise.cluster.Communicator``."""

    def __init__(self, job: dict[str, Any], result: FileIO, decode: Callable[[Any], Any]):
        self._result, self._known, self._decode = result, int(job["posted"]), decode
        self._rank, self._ranks, self._posted = job["rank"], job["ranks"], 0
        self._received, self._waited = job["received"], set(job["waited"])

    def get_rank(self, group: Group | None = None) -> int:
        return group.ranks.index(self._rank) if group else self._rank

    def get_world_size(self, group: Group | None = None) -> int:
        return len(group.ranks) if group else self._ranks

    def new_group(self, ranks: Sequence[int]) -> Group:
        return Group(ranks)

    def __getattr__(self, word: str) -> Callable[..., Any]:
        if word not in WORDS:
            raise AttributeError(f"a rank has no {word}")
        names, fills = WORDS[word]

        def call(*args: Any, **named: Any) -> Any:
            given = dict(zip(names, args, strict=False)) | named
            if len(args) > len(names) or not set(given) <= set(names):
                raise TypeError(f"{word} takes {', '.join(names)}")
            waits = word not in STARTED and not given.pop("async_op", False)
            work = self._post(word, given, fills)
            return work.wait() if waits and word != "compute" else work

        return call

    def come(self, number: int) -> list[np.ndarray]:
        """Return what a transfer brought; end the process if that has not come."""
        if number not in self._waited:
            self.say(b"w", number.to_bytes(LENGTH, "little"))
        if number >= len(self._received) or self._received[number] is None:
            self._result.flush()
            os._exit(0)
        return list(map(self._decode, self._received[number]))

    def say(self, kind: bytes, content: bytes) -> None:
        """Write a frame."""
        self._result.write(kind + len(content).to_bytes(LENGTH, "little") + content)

    def _post(self, word: str, given: dict[str, Any], fills: str) -> Work:
        arrays: list[np.ndarray] = []
        spelled = {name: _spelled(value, arrays) for name, value in given.items()}
        head: dict[str, Any] = {"word": word, "args": spelled}
        if self._posted >= self._known:
            head["arrays"] = [[array.dtype.name, array.shape] for array in arrays]
            text = json.dumps(head).encode()
            content = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
            self.say(b"o", len(text).to_bytes(LENGTH, "little") + text + content)
        filled = list(_arrays(given[fills])) if fills in given else []
        if word == "broadcast" and given.get("src") == self._rank:
            filled = []
        for array in filled:
            array[...] = _unset(array.dtype)
        self._posted += 1
        return Work(self, self._posted - 1, arrays, filled)


def _spelled(value: Any, arrays: list[np.ndarray]) -> Any:
    """Make JSON of an argument; arrays are put beside it, in order."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, Group):
        return {"group": value.ranks}
    if isinstance(value, (list, tuple)):
        return [_spelled(one, arrays) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def _arrays(value: Any) -> Iterator[np.ndarray]:
    return iter(value if isinstance(value, (list, tuple)) else [value])


def _unset(dtype: np.dtype[Any]) -> Any:
    """Return what stands where nothing was received as yet."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max
    return np.nan if dtype.kind in "fc" else False

"""Student-safe verdicts on hidden cases: mistake, line, array and place in the grid, no numbers.

A check in the notebook shows sizes, indices and values, since its cases are open. This removes them
from the verdict on a hidden case: whoever knows the hidden sizes can write code just for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from warpwise.labs.exercise import Call, Case, InOut, Launch, Out, Reason, Verdict, shape_of
from warpwise.labs.judge import REASONS
from warpwise.races import Race
from warpwise.simt.launch import dimensions

# Reasons whose details quote the arguments of a host function.
QUOTING = (Reason.WRONG_RESULT, Reason.WRONG_TYPE, Reason.INPUT_CHANGED)
ERRORS = (*REASONS.values(), Reason.RAISED)
MOST_CHARACTERS = 2000  # of a detail; a line of the student's own may be long
WORDS = ("no", "one", "two", "three", "four")
NUMBER = re.compile(r"(?<![\w.#`])-?\d[\d,]*(?:\.\d+)?(?![\w.`])")
PLACE = re.compile(r", block (\(.*?\)), thread (\(.*?\))$")
MOST = re.compile(r"^most of it, .*, on$")
# The lines of the exercise's own cell are numbered from 1.
GIVEN = re.compile(r"^    line (-\d+|0): ")
GIVEN_CELL = "    in a function of a given cell: "
COUNT = re.compile(r"(\d+) of (\d+)(?= elements)")
# Parts of a kernel's error that name an index, a lane, a thread or a count, and the same without.
# Sizes are left to ``_blanked``.
REPLACEMENTS = (
    (
        re.compile(r"^index -\d+( of axis \d)? is outside (\S+), whose size there is \d+"),
        r"a negative index\1 is outside \2",
    ),
    (
        re.compile(r"^index \d+( of axis \d)? is outside (\S+), whose size there is \d+"),
        r"an index\1 is outside \2",
    ),
    (
        re.compile(r"it must be below \d+ for every thread"),
        "it must be below the array's size for every thread",
    ),
    (re.compile(r"^(\w+)\[.*?\] is read"), r"an element of \1 is read"),
    (re.compile(r"write (\w+)\[.*?\] first"), r"write that element of \1 first"),
    (re.compile(r"at address 0x[0-9a-f]+"), "at an address that does not fit"),
    (
        re.compile(r"^only .* of block \(.*?\) reach this barrier; .*"),
        "only some threads of a block reach this barrier",
    ),
    (
        re.compile(r"^only .* of the grid's .* threads reach this sync; .*"),
        "only some threads of the grid reach this sync",
    ),
    (re.compile(r"lane \d+ \(thread \(.*?\)\)"), "a lane"),
    (re.compile(r"only (lanes? .*|no lane) do(es)?$"), "only others do"),
    (re.compile(r"let only lanes? [\d, and-]+ get here"), "let only lanes of the mask get here"),
    (re.compile(r"lane \d+"), "another lane"),
    (re.compile(r"(the mask|own mask|mask is) 0x(?!f{8})[0-9a-f]{8}"), r"\1 that it has here"),
    (
        re.compile(
            r"(steps|ever end): [\d,]+ threads? (is|are|waits?) (still )?(in this loop|[^,]*)"
        ),
        r"\1: threads are still \4",
    ),
    (re.compile(r", first of them .*", re.S), ""),
)


def public(verdict: Verdict, case: Case | None = None) -> Verdict:
    """Return a verdict whose detail and advice hold nothing that a student must not read."""
    if verdict.passed:
        return verdict
    # Only the advice of errors holds values.
    advice = _public(verdict.advice, case) if verdict.reason in ERRORS else verdict.advice
    detail = "\n".join(_detail(verdict, case))[:MOST_CHARACTERS]
    return replace(verdict, detail=detail, advice=advice)


def shapes_blanked(detail: str, cases: Sequence[Case]) -> str:
    """Write shapes in the detail on a host function as numbers of dimensions, if cases differ."""
    wanted = (call.want for call in cases if isinstance(call, Call))
    values = (want if type(want) is tuple else (want,) for want in wanted)
    if len({tuple(map(np.shape, several)) for several in values}) < 2:
        return detail
    return re.sub(
        r"(an array of )shape \(([^)]*)\)",
        lambda found: f"{found[1]}{_dimensions(found[2])}",
        detail,
    )


def _dimensions(shape: str) -> str:
    count = len([size for size in shape.split(",") if size.strip()])
    number = WORDS[count] if count < len(WORDS) else count
    return f"{number} dimension{'s' if count > 1 else ''}"


def _detail(verdict: Verdict, case: Case | None) -> Iterator[str]:
    """Yield the lines of the student-safe detail."""
    if verdict.reason in QUOTING and not isinstance(case, Launch):
        return
    if verdict.reason == Reason.RACE and verdict.trace is not None:
        yield from _race(verdict.trace.races[0])
    elif verdict.reason in (*QUOTING, Reason.NOT_WRITTEN):
        yield from _of_array(verdict)
    elif verdict.reason.startswith(Reason.OVER_BUDGET):
        for line in verdict.detail.split("\n")[1:]:
            yield GIVEN.sub(GIVEN_CELL, MOST.sub("most of it on", line))
    else:
        yield from _error(verdict.detail, case)


def _race(race: Race) -> Iterator[str]:
    a, b = race.first, race.second
    other = {"warp": "another thread of the same warp", "grid": "a thread of another block"}.get(
        race.scope, "another thread of the block"
    )
    yield (
        f"race on {race.array} in {race.space} memory: one thread {a.verb} on line {a.line}, "
        f"{other} {b.verb} on line {b.line}, and nothing orders the two"
    )
    if race.places:
        yield race.places


def _of_array(verdict: Verdict) -> Iterator[str]:
    """Name the array that a kernel left wrong, and about how much of it."""
    name, _, rest = verdict.detail.partition("[")
    count = COUNT.search(rest)
    if not count or not name.isidentifier():
        return
    read_back = "computed from" in rest
    happened = {
        Reason.WRONG_RESULT: "wrong",
        Reason.INPUT_CHANGED: "changed",
        Reason.NOT_WRITTEN: "computed from what the output held before"
        if read_back
        else "never written",
    }
    yield f"{_share(int(count[1]), int(count[2])).format(name)} {happened[verdict.reason]}"


def _share(part: int, whole: int) -> str:
    """Say about how much of an array, as the beginning of a sentence."""
    if part == whole:
        return "every element of {} is"
    if part == 1:
        return "one element of {} is"
    return "most elements of {} are" if 2 * part > whole else "some elements of {} are"


def _error(detail: str, case: Case | None) -> Iterator[str]:
    """Yield a kernel's error without its advice; the student's own line stays as it is."""
    what, *places = detail.split("\n")
    yield _public(what, case)
    for line in places:
        if line.startswith("  Try: "):
            return
        if line.startswith("  at "):
            line = PLACE.sub(lambda found: f", {_place(found[1], found[2], case)}", line)
        yield line


def _public(text: str, case: Case | None) -> str:
    """Remove numbers of the data from a message."""
    for pattern, instead in REPLACEMENTS:
        text = pattern.sub(instead, text)
    return _blanked(text, case)


def _blanked(text: str, case: Case | None) -> str:
    """Blank out sizes, numbers of threads and scalars of the case."""
    secret = set(_numbers(case)) if case is not None else set()
    return NUMBER.sub(
        lambda found: "…" if found[0].replace(",", "").lstrip("-") in secret else found[0], text
    )


def _numbers(case: Case) -> Iterator[str]:
    """Yield the sizes, scalars and numbers of threads of a case, as text."""
    for argument in case.args:
        argument = argument.start if isinstance(argument, InOut) else argument
        shape = shape_of(argument) if isinstance(argument, Out) else np.shape(argument)
        if shape:
            yield from map(str, (*shape, prod(shape)))
        elif not _is_harmless(argument):
            yield str(argument)
    if isinstance(case, Launch):
        grid, block = dimensions(case.blocks, "blocks"), dimensions(case.threads, "threads")
        sides = (side for side in grid if side > 1)
        yield from map(str, (*sides, prod(grid), prod(grid) * prod(block)))


def _is_harmless(argument: object) -> bool:
    """True for 0 and 1, which are everywhere in messages and tell nothing, and for no number."""
    return not isinstance(argument, (int, float, np.number)) or argument in (0, 1)


def _place(block: str, thread: str, case: Case | None) -> str:
    """Say where in the grid it was: "the first thread of the last block"."""
    if not isinstance(case, Launch):
        return "some thread"
    grid, threads = dimensions(case.blocks, "blocks"), dimensions(case.threads, "threads")
    end = _end(block, grid)
    where = f"{end} block" if end else "a block in between"
    if prod(grid) == 1:
        where = "the only block"
    return f"{_end(thread, threads) or 'a'} thread of {where}"


def _end(position: str, sides: tuple[int, ...]) -> str:
    """Return "the first" or "the last", if a thread or a block is that of all; "" if neither."""
    at = tuple(int(number) for number in re.findall(r"\d+", position))
    if not any(at):
        return "the first"
    return "the last" if all(i == side - 1 for i, side in zip(at, sides, strict=True)) else ""

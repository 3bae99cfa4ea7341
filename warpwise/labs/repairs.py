"""Find a place in a wrong kernel or function where one small change makes its cases right.

What is said of it is true: with that change the case came out right. A question names the kind of
thing that is changed, a line below it the place; nothing says what to write. Each change is tried,
a kernel's in the simulator and a function's by calling it, so nobody looks for one where only the
grader reads. Left out: mistakes that take two changes, and whether the changed text is right for
other cases."""

from __future__ import annotations

import ast
import re
import time
import warnings
from collections.abc import Callable, Collection
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np

from warpwise.labs.limit import TimeIsUp, at_most
from warpwise.labs.small_changes import Change, changes
from warpwise.simt import Kernel

SECONDS = 4.0  #: of processor time, after which no further change is tried
CALL_SECONDS = 0.2  #: of processor time, for one call of a changed function
MOST_TRIES = {"kernel": 320, "function": 1200}
ELSEWHERE = 2  #: ranks by which a change on another line than a likely one comes later
MAX_STEPS = 5_000  #: loop steps of a changed kernel's launch

#: what a line may have where its syntax tree, written out, has none, and the other way round
OWN_WAY = r"[\s()_]"

#: what tells too little by itself, so that its line is quoted too
NUMBER = r"-?[\d.]+(e[+-]?\d+)?"

#: how a question begins, and the line below it that says where to look
ASKED = "with one small change all is right: "
PLACED = "That change is on line {line}"
WIDER = "with sums in float64 all is right: "
SHOWN = "See line {line}"

Passes = Callable[[ast.FunctionDef], bool]


def repair(
    tree: ast.FunctionDef, passes: Passes, kind: str, likely: Collection[int] = ()
) -> Change | None:
    """Return the first small change of a function that ``passes``; None if none is found.

    The likeliest kinds are tried first, and those on ``likely`` lines before others."""
    begun = time.process_time()
    found = sorted(changes(tree), key=lambda one: one.rank + ELSEWHERE * (one.line not in likely))
    for change in found[: MOST_TRIES[kind]]:
        if time.process_time() - begun > SECONDS:
            return None
        if passes(change.make()):
            return change
    return None


def told(change: Change | None, line: int, text: str = "") -> str:
    """Ask about a change that helps; a line below says where it is. "" without a change.

    ``line`` is its number as messages count. What is looked at is quoted as it stands in the
    line's ``text``, where that is known."""
    if change is None:
        return ""
    what = change.text.removesuffix(":")
    quoted = _as_it_stands(what, text) if text else what
    if quoted and quoted != text.strip() and re.fullmatch(NUMBER, quoted):
        quoted = f"{quoted}, in {text.strip()}"
    asked, placed = (WIDER, SHOWN) if change.shows else (ASKED, PLACED)
    return f"{asked}{change.question}\n{placed.format(line=line)}{f': {quoted}' if quoted else ''}"


def _as_it_stands(what: str, text: str) -> str:
    """Return a piece of a syntax tree as a line has it, with brackets and spaces of its own; ""
    if the line does not."""
    if what in text:
        return what
    parts = (re.escape(part) for part in re.sub(OWN_WAY, "", what))
    found = re.search(f"{OWN_WAY}*".join(parts), text)
    return found[0] if found and found[0].count("(") == found[0].count(")") else ""


def changed_kernel(kernel: Kernel, tree: ast.FunctionDef) -> Kernel:
    """Return a kernel with another tree that sees the same names."""
    made = Kernel(tree, kernel.lookup, kernel.file, kernel.lines, kernel.device, kernel.names)
    made.function, made.origin = kernel.function, kernel.origin
    made.signed, made.options = kernel.signed, kernel.options
    return made


def changed_function(function: Any, tree: ast.FunctionDef) -> Callable[..., Any] | None:
    """Return a plain function with another tree that sees the same names; None if it cannot be."""
    if function.__closure__:
        return None
    tree.decorator_list = []
    names = dict(function.__globals__)
    try:
        exec(compile(ast.Module([tree], []), "<a small change>", "exec"), names)
    except (SyntaxError, ValueError, TypeError):
        return None
    made: Callable[..., Any] = names[tree.name]
    return made


def value_of(function: Any, args: tuple[Any, ...]) -> Any:
    """Call a changed function; return what it gives, or None if it raises or takes too long."""
    quiet = redirect_stdout(StringIO()), np.errstate(all="ignore"), warnings.catch_warnings()
    try:
        with quiet[0], quiet[1], quiet[2], at_most(CALL_SECONDS):
            warnings.simplefilter("ignore")
            return function(*args)
    except (Exception, SystemExit, TimeIsUp):
        return None

"""The reference page of the kernel language, written from the simulator's own tables.

``python -m warpwise.book.language`` writes it. A test compares the page with these tables, runs
every example, and checks that each refused construct is refused with the advice shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from textwrap import dedent
from typing import cast

from warpwise.simt.builtins import CUDA_FUNCTIONS
from warpwise.simt.builtins.intrinsics import CASTS, FUNCTIONS
from warpwise.simt.frontend.refused import REFUSED
from warpwise.simt.frontend.words import CALLED, READ, VECTOR_TYPES

PATH = Path(__file__).parents[2] / "chapters/reference_language.md"

# Each feature of Python's syntax, and below it lines of a kernel that use it; ``x`` and ``out`` are
# arrays, ``i`` is the thread's index.
_SYNTAX = """
assignment, also nested, unpacked, augmented and annotated
    (a, b), c = (i, 1), 2
    first = last = a
    last += b
    count: int = c
if, elif, else; conditional expressions; chained comparisons
    if 0 < i <= 3:
        out[i] = 1 if x[i] > 2 else 0
and, or, not: they give one of their values
    v = i or 7
    w = i and not x[i]
a call under a condition, on a line of its own
    i > 3 and cuda.atomic.add(out, 0, 1)
    cuda.syncwarp() if SCALE < 1 else None
short names for what CUDA, modules and Python give
    t = cuda.threadIdx
    add = cuda.atomic.add
    small = min
    add(out, t.x, small(i, 3))
comparison with None, which is known before the launch
    v = None
    if v is None:
        out[i] = 1
membership in a tuple
    if i in (1, 3):
        out[i] = 1
for over range
    for k in range(i, 10, 2):
        out[i] += k
for over range of floating-point numbers: their fractions are cut off
    for k in range(math.ceil(i / 4)):
        out[i] += k
for over an array
    for v in x:
        out[i] += v
for over a tuple or a list of values of one type
    for v in (1, 2, i):
        out[i] += v
enumerate and zip, also nested
    for k, (a, b) in enumerate(zip(x, range(i)), 1):
        out[i] += k * a * b
while, break, continue; else after a loop
    k = 0
    while k < i:
        k += 2
        if k == 6:
            break
    else:
        out[i] = k
match on numbers, with alternatives, names and guards
    match i:
        case 0 | 1:
            out[i] = 1
        case n if n > 4:
            out[i] = n
        case _:
            pass
tuples: constant indices, len, sum, min, max, +
    t = (i, 2) + (3,)
    out[i] = t[0] + t[-1] + len(t) + sum(t) + max(t)
functions within a kernel, and lambdas
    def shifted(v, by=1):
        return v + by + i
    double = lambda v: 2 * v
    out[i] = double(shifted(3))
device functions with defaults, keywords and *values
    out[i] = scaled(i, by=3) + scaled(*(i, 2))
device functions as values and arguments
    f = squared
    out[i] = applied(f, i)
device functions made from a lambda, outside the kernel
    out[i] = halved(i)
sizes of arrays: numbers, constants from outside, and names for one of these
    n = WIDTH
    tile = cuda.shared.array((n, 4), np.float32)
    tile[0, 0] = 1
    out[i] = tile.size
assert, checked in every launch
    assert i >= 0, 'never negative'
raise, which ends the launch
    if i < 0:
        raise ValueError('negative')
print of numbers, tuples and plain text
    if i == 0:
        print('first of', x.size, (i, x[i]))
constants from outside, NumPy's types and text among them
    if MODE == 'fast':
        out[i] = SCALE * SIZES[1] + math.pi
"""
_BLOCKS = (block.partition("\n") for block in re.split(r"\n(?=\w)", _SYNTAX.strip()))
#: Feature of Python's syntax -> lines of a kernel that use it.
SYNTAX = {feature: dedent(lines) for feature, _, lines in _BLOCKS}

_TOP = """# The kernel language

The parts of Python and CUDA that a kernel may use in the simulator, and replacements for the rest.
The language is that of Numba's CUDA target, with the same types.
([Numba-CUDA's own reference](https://nvidia.github.io/numba-cuda/) describes it.)
The last section lists the differences.
In the examples `x` and `out` are arrays and `i` is the thread's index.

This page is generated from the simulator's own tables, and a test runs every line of it.
"""


def page() -> str:
    """Return the page's text."""
    parts = {
        "Syntax": _examples(),
        "Words of CUDA": _words(),
        "Functions of numbers": _functions(),
        "What is refused, and what to write instead": _refused(),
    }
    sections = (line for title, lines in parts.items() for line in (f"## {title}\n", *lines))
    return "\n".join([_TOP, *sections, _LAST])


def _examples() -> Iterable[str]:
    for title, code in SYNTAX.items():
        yield f"{title[0].upper()}{title[1:]}:\n\n```python\n{code}\n```\n"


def _words() -> Iterable[str]:
    own = [
        f"`cuda.{path}{arguments}`"
        for path, arguments in CALLED.items()
        if path not in CUDA_FUNCTIONS and path not in VECTOR_TYPES
    ]
    yield f"Called: {', '.join(own)}.\n"
    yield f"Read: {', '.join(f'`cuda.{path}`' for path in READ)}.\n"
    yield f"Vector types: {_names(VECTOR_TYPES)}.\n"


def _functions() -> Iterable[str]:
    found = [f.name for f in FUNCTIONS.values()]
    types = dict.fromkeys(cast(type, t).__name__ for t in CASTS)
    python = "abs divmod len max min pow print round sum".split()
    yield f"Python: {_names(python)} of a tuple.\n"
    yield f"Types, which convert: {_names(types)}; of NumPy or Numba, under each of their names.\n"
    yield f"`math`: {_names(_inside('math', found))}.\n"
    yield f"NumPy, of numbers: {_names(_inside('np', found))}.\n"
    plain = [path for path in CUDA_FUNCTIONS if "." not in path]
    yield f"`cuda`: {', '.join(f'`{path}{CALLED[path]}`' for path in plain)}.\n"
    for part in ("fp16", "libdevice"):
        yield f"`cuda.{part}`: {_names(_inside(part, CUDA_FUNCTIONS))}.\n"


def _inside(part: str, names: Iterable[str]) -> list[str]:
    """Return the names below ``part``, without it."""
    return [name.removeprefix(f"{part}.") for name in names if name.startswith(f"{part}.")]


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _refused() -> Iterable[str]:
    yield "| refused | write instead |\n|---|---|"
    for one in REFUSED:
        yield f"| {one.shown} | {one.instead.replace('|', chr(92) + '|')} |"


_LAST = """
## Where the simulator differs from a GPU

- `assert` and `raise` are checked in every launch; Numba omits them unless `debug=True` is set.
- `print` writes at most 1,000 lines per launch, in the order of the threads that run together.
- Functions that the device approximates (`fast_sinf`, `htanh_approx`) are computed exactly.
- `nanosleep` takes no time.
- In a kernel with a loop that waits for other threads, warps take turns, by block and then by warp.
  Atomic operations happen in that order.
  A turn ends after an iteration of such a loop, at a barrier, or with the kernel.
  A warp that could only find its condition unchanged is skipped.
- At most 1,024 warps of such a kernel are in flight, as if their blocks were resident together.
  Later blocks begin as room becomes free.
- The lanes of a warp stay together: a lane that waits for another of its own warp is an error here.
  On GPUs since Volta it can make progress.
- A kernel that both syncs its grid and waits in loops runs in lockstep.
  Its warps cannot wait for one another.
"""


def main() -> None:
    """Write the page."""
    PATH.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()

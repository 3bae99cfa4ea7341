"""The reference page of the kernel language, written from the simulator's own tables: ``python -m warpwise.book.language`` writes it.

A test holds the page equal to these tables, runs every example, and proves that what is refused is refused with the advice shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from warpwise.simt.functions.intrinsics import CASTS, FUNCTIONS
from warpwise.simt.functions.table import CUDA_FUNCTIONS
from warpwise.simt.text.refused import REFUSED
from warpwise.simt.text.words import CALLED, READ, VECTOR_TYPES

PATH = Path(__file__).parents[2] / "chapters/reference_language.md"

#: What Python's syntax can do in a kernel -> lines of a kernel that do it; ``x`` and ``out`` are arrays, ``i`` is the thread's index.
SYNTAX = {
    "assignment, also nested, unpacked, augmented and annotated": "(a, b), c = (i, 1), 2\nfirst = last = a\nlast += b\ncount: int = c",
    "if, elif, else; conditional expressions; chained comparisons": "if 0 < i <= 3:\n    out[i] = 1 if x[i] > 2 else 0",
    "and, or, not: they give one of their values": "v = i or 7\nw = i and not x[i]",
    "a call under a condition, on a line of its own": "i > 3 and cuda.atomic.add(out, 0, 1)\ncuda.syncwarp() if SCALE < 1 else None",
    "short names for what CUDA, modules and Python give":
        "t = cuda.threadIdx\nadd = cuda.atomic.add\nsmall = min\nadd(out, t.x, small(i, 3))",
    "comparison with None, which is known before the launch": "v = None\nif v is None:\n    out[i] = 1",
    "membership in a tuple": "if i in (1, 3):\n    out[i] = 1",
    "for over range": "for k in range(i, 10, 2):\n    out[i] += k",
    "for over range of floating-point numbers: their fractions are cut off": "for k in range(math.ceil(i / 4)):\n    out[i] += k",
    "for over an array": "for v in x:\n    out[i] += v",
    "for over a tuple or a list of values of one type": "for v in (1, 2, i):\n    out[i] += v",
    "enumerate and zip, also nested": "for k, (a, b) in enumerate(zip(x, range(i)), 1):\n    out[i] += k * a * b",
    "while, break, continue; else after a loop": "k = 0\nwhile k < i:\n    k += 2\n    if k == 6:\n        break\nelse:\n    out[i] = k",
    "match on numbers, with alternatives, names and guards":
        "match i:\n    case 0 | 1:\n        out[i] = 1\n    case n if n > 4:\n        out[i] = n\n    case _:\n        pass",
    "tuples: constant indices, len, sum, min, max, +": "t = (i, 2) + (3,)\nout[i] = t[0] + t[-1] + len(t) + sum(t) + max(t)",
    "functions within a kernel, and lambdas":
        "def shifted(v, by=1):\n    return v + by + i\ndouble = lambda v: 2 * v\nout[i] = double(shifted(3))",
    "device functions with defaults, keywords and *values": "out[i] = scaled(i, by=3) + scaled(*(i, 2))",
    "device functions as values and arguments": "f = squared\nout[i] = applied(f, i)",
    "device functions made from a lambda, outside the kernel": "out[i] = halved(i)",
    "sizes of arrays: numbers, constants from outside, and names for one of these":
        "n = WIDTH\ntile = cuda.shared.array((n, 4), np.float32)\ntile[0, 0] = 1\nout[i] = tile.size",
    "assert, checked in every launch": "assert i >= 0, 'never negative'",
    "raise, which ends the launch": "if i < 0:\n    raise ValueError('negative')",
    "print of numbers, tuples and plain text": "if i == 0:\n    print('first of', x.size, (i, x[i]))",
    "constants from outside, NumPy's types and text among them": "if MODE == 'fast':\n    out[i] = SCALE * SIZES[1] + math.pi",
}  # fmt: skip

_TOP = """# The kernel language

What a kernel may use in the simulator, and what it may not, with what to write instead.
It is what Numba's CUDA target compiles ([its reference](https://nvidia.github.io/numba-cuda/)), with the same types.
The differences are in the last section.
In the examples `x` and `out` are arrays and `i` is the thread's index.

This page is written from the simulator's own tables, and every line of it is run by a test.
"""


def page() -> str:
    """The page's text."""
    found = [_TOP, "## Syntax\n", *_examples(), "## Words of CUDA\n", *_words(), "## Functions of numbers\n", *_functions()]
    return "\n".join([*found, *_refused(), _LAST])


def _examples() -> Iterable[str]:
    for title, code in SYNTAX.items():
        yield f"{title[0].upper()}{title[1:]}:\n\n```python\n{code}\n```\n"


def _words() -> Iterable[str]:
    own = [f"`cuda.{path}{arguments}`" for path, arguments in CALLED.items() if path not in CUDA_FUNCTIONS and path not in VECTOR_TYPES]
    yield f"Called: {', '.join(own)}.\n"
    yield f"Read: {', '.join(f'`cuda.{path}`' for path in READ)}.\n"
    yield f"Vector types: {_names(VECTOR_TYPES)}.\n"


def _functions() -> Iterable[str]:
    names = {kind: [f.name.partition(".")[2] for f in FUNCTIONS.values() if f.name.startswith(f"{kind}.")] for kind in ("math", "np")}
    yield "Python: `abs`, `divmod`, `len`, `max`, `min`, `pow`, `print`, `round`, `sum` of a tuple.\n"
    yield f"Types, which convert: {_names(dict.fromkeys(t.__name__ for t in CASTS))}; of NumPy or of Numba, under each of their names.\n"
    yield f"`math`: {_names(names['math'])}.\n"
    yield f"NumPy, of numbers: {_names(names['np'])}.\n"
    plain = [path for path in CUDA_FUNCTIONS if "." not in path]
    yield f"`cuda`: {', '.join(f'`{path}{CALLED[path]}`' for path in plain)}.\n"
    for part in ("fp16", "libdevice"):
        inner = [path.partition(".")[2] for path in CUDA_FUNCTIONS if path.startswith(f"{part}.")]
        yield f"`cuda.{part}`: {_names(inner)}.\n"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _refused() -> Iterable[str]:
    yield "## What is refused, and what to write instead\n"
    yield "| refused | write instead |\n|---|---|"
    for one in REFUSED:
        yield f"| {one.shown} | {one.instead.replace('|', chr(92) + '|')} |"


_LAST = """
## Where the simulator differs from a GPU

- `assert` and `raise` are checked in every launch; Numba compiles them in with `debug=True` only, and leaves them out otherwise.
- `print` writes at most 1,000 lines of a launch, in the order of the threads that run together.
- What the device approximates (`fast_sinf`, `htanh_approx`) is computed exactly.
- `nanosleep` takes no time.
- In a kernel with a loop that waits for other threads, warps take turns, by block and then by warp; atomic operations happen in that order.
  A turn ends after a trip of such a loop, at a barrier, or with the kernel; a warp that would only look in vain is passed over.
- Of such a kernel at most 1,024 warps are in flight, as if their blocks were resident together; later blocks begin as room gets free.
- The lanes of a warp stay together: a lane that waits for another of its warp is an error here. On a GPU since Volta it can get on.
- A kernel that both syncs its grid and waits in loops runs in step, and its warps cannot wait for one another.
"""


def main() -> None:
    """Write the page."""
    PATH.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()

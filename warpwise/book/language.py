"""The reference page of the kernel language, written from the simulator's own table.

``python -m warpwise.book.language`` writes it. A test compares the page with the table, runs every
example, and checks that each refused construct is refused with the advice shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from warpwise.simt.compiler.language.cuda_words import OF_NUMBERS, OF_VECTORS, READ, WORDS
from warpwise.simt.compiler.language.functions import FUNCTIONS, PYTHON, TYPES
from warpwise.simt.compiler.language.hopper_words import HOPPER
from warpwise.simt.compiler.language.instructions import INSTRUCTIONS
from warpwise.simt.compiler.language.refused import REFUSED
from warpwise.simt.compiler.language.syntax import SYNTAX

ROOT = Path(__file__).parents[2]
PATH = ROOT / "chapters/reference_language.md"
TABLE = ROOT / "tests/numba/table.json"  # written by tools/numba_suite.py
#: Folder of numba-cuda's tests -> what they are about.
FOLDERS = {
    "cudapy": "kernels and the compiler",
    "cudadrv": "arrays, streams and the driver",
    "cudasim": "Numba's simulator",
    "doc_examples": "examples of the documentation",
    "core": "the compiler's core",
    "nocuda": "what needs no GPU",
    "nrt": "memory that kernels allocate",
}
WAYS = ("numba", "warpwise", "numba, inert", "warpwise, inert")

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
        "Instructions without a word in Numba": _instructions(),
        "Functions of numbers": _functions(),
        "What is refused, and what to write instead": _refused(),
        "Judged by Numba's own tests": _judged(json.loads(TABLE.read_text("utf-8"))),
    }
    sections = (line for title, lines in parts.items() for line in (f"## {title}\n", *lines))
    return "\n".join([_TOP, *sections, _LAST])


def _examples() -> Iterable[str]:
    for part in SYNTAX:
        shown = f"{part.shown[0].upper()}{part.shown[1:]}"
        yield f"{shown}:\n\n```python\n{part.lines}\n```\n"


def _words() -> Iterable[str]:
    yield f"Called: {_names(f'cuda.{word.name}{word.shown}' for word in WORDS)}.\n"
    yield f"Read: {_names(f'cuda.{word.name}' for word in READ)}.\n"
    yield f"Vector types: {_names(word.name for word in OF_VECTORS)}.\n"
    yield (
        "A model of Hopper's asynchronous units, `warpwise.hopper`, in the simulator only; "
        "`mbarrier_try_wait` has to be the condition of a `while`:"
    )
    yield f"{_names(f'{word.name}{word.shown}' for word in HOPPER)}.\n"


def _instructions() -> Iterable[str]:
    yield _INSTRUCTIONS
    modules = dict.fromkeys(word.name.partition(".")[0] for word in INSTRUCTIONS)
    for module in modules:
        found = [w for w in INSTRUCTIONS if w.name.startswith(f"{module}.")]
        names = _names(f"{w.name.partition('.')[2]}{w.shown}" for w in found)
        yield f"`from warpwise.kernels.{module} import ...`: {names}.\n"


def _functions() -> Iterable[str]:
    found = [entry.name for entry in FUNCTIONS.values()]
    types = dict.fromkeys(entry.name.removeprefix("np.") for entry in TYPES.values())
    python = [entry.name for entry in PYTHON.values()]
    numpy = [name for name in _inside("np", found) if name not in types]
    yield f"Python: {_names(python)} of a tuple.\n"
    yield f"Types, which convert: {_names(types)}; of NumPy or Numba, under each of their names.\n"
    yield f"`math`: {_names(_inside('math', found))}.\n"
    yield f"`cmath`: {_names(_inside('cmath', found))}.\n"
    yield f"`operator`: {_names(_inside('operator', found))}.\n"
    yield f"NumPy, of numbers: {_names(numpy)}.\n"
    plain = [f"{word.name}{word.shown}" for word in OF_NUMBERS if "." not in word.name]
    yield f"`cuda`: {_names(plain)}.\n"
    for part in ("fp16", "libdevice"):
        yield f"`cuda.{part}`: {_names(_inside(part, [word.name for word in OF_NUMBERS]))}.\n"


def _inside(part: str, names: Iterable[str]) -> list[str]:
    """Return the names below ``part``, without it."""
    return [name.removeprefix(f"{part}.") for name in names if name.startswith(f"{part}.")]


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _refused() -> Iterable[str]:
    yield "| refused | write instead |\n|---|---|"
    for one in REFUSED:
        yield f"| {one.shown} | {one.instead.replace('|', chr(92) + '|')} |"


def _judged(found: Mapping[str, Any]) -> Iterable[str]:
    """Show how many of numba-cuda's own tests pass, and why the others fail."""
    yield _JUDGED.format(version=found["numba-cuda"])
    yield "| tests of | Numba's simulator | this one | Numba's, nothing left out | this one |"
    yield "|---|---|---|---|---|"
    modules = found["modules"]
    for folder, what in FOLDERS.items():
        mine = [ways for name, ways in modules.items() if name.partition(".")[0] == folder]
        yield f"| {what} (`{folder}`) | {_passed(mine)} |"
    yield f"| all | {_passed(list(modules.values()))} |\n"
    yield "What fails here, nothing left out, and why:\n"
    yield "| class | reason | tests |\n|---|---|---|"
    for kind, count in sorted(found["failing"].items(), key=lambda item: -item[1]):
        yield f"| {' | '.join(kind.split(': ', 1))} | {count} |"


def _passed(modules: Iterable[Mapping[str, list[int]]]) -> str:
    """Return, for each way, how many tests passed of those that were not skipped."""
    sums = [[sum(ways[way][i] for ways in modules) for i in (0, 1)] for way in WAYS]
    return " | ".join(f"{passed:,} of {passed + failed:,}" for passed, failed in sums)


_INSTRUCTIONS = (
    "A GPU has instructions that Numba gives no name. The package does: on a GPU they are inline "
    "PTX, and the simulator traces, counts and checks each as the one instruction that it is.\n"
)

_JUDGED = (
    "numba-cuda ships tests of its own, and `make numba` runs those of version {version} "
    "with `warpwise.cuda` in place of Numba's simulator.\n"
    "Numba skips many of them on its simulator; the last two columns count all tests.\n"
    "What they pass to `exec` as a string is kept in `linecache`, where kernels are read from.\n"
    "A test that fails here is listed in `tests/numba/failing.toml` with its class and reason, "
    "and a new failure is an error.\n"
)

_LAST = """
## Where the simulator differs from a GPU

- What a kernel raises, the launch raises, with the line and the thread, and `assert` is checked.
  Without `debug=True` a GPU ends that thread alone, and leaves assertions out.
- A kernel is read from its text: in a file, in a notebook's cell, or where `linecache` keeps it.
  One that `exec` made from a string has none.
- Refused altogether are arrays that a kernel allocates, texts and dates in arrays, bfloat16 and
  FP8, code registered with `@overload`, and functions in other languages.
- Threads that end before a barrier are not waited for, as on a GPU, and this is noted.
- A kernel that writes to a read-only array of the host is refused; Numba writes to it.
- `kernel.get_regs_per_thread()` is an estimate; `warpwise compile` counts.
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

"""The fusion widget: what travels between memory and compute, with a kernel each and with one.

The picture of a factory is Horace He's ("Making Deep Learning Go Brrrr From First Principles",
2022). What each kernel reads and writes follows from ``warpwise.model.fusion``; tests hold it
against kernels that were traced. Left out: caches, which can keep a short array on the chip from
one kernel to the next, and the time that each launch takes of its own."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import pairwise
from math import log2

from warpwise.errors import LaunchError
from warpwise.model.arguments import one_of, whole
from warpwise.model.fusion import Kernel, Operation, kernels, unfused
from warpwise.traces import Trace
from warpwise.views.controls import Choice, Player, Slider
from warpwise.views.frame import Frame
from warpwise.views.request import ITEMSIZES
from warpwise.views.view import Json, View

LONGEST = 8  #: operations in a chain
LEAST, MOST = 10, 26  #: n is from 2 ** LEAST to 2 ** MOST
NAME = 15  #: letters of a kernel's name that the picture has room for
RESULT = "y"
LABELS = {
    "trig": "sin&sup2; x + cos&sup2; x",
    "silu": "x &middot; sigmoid(x)",
    "axpy": "a &middot; x + z",
    "chain": "a chain",
}
PROGRAMS = {
    "trig": (
        Operation("sin x", "sin", ("x",), 0, 1),
        Operation("cos x", "cos", ("x",), 0, 1),
        Operation("sin² x", "square", ("sin x",)),
        Operation("cos² x", "square", ("cos x",)),
        Operation(RESULT, "add", ("sin² x", "cos² x")),
    ),
    "silu": (Operation("s", "sigmoid", ("x",), 2, 1), Operation(RESULT, "multiply", ("x", "s"))),
    "axpy": (Operation("a · x", "scale", ("x",)), Operation(RESULT, "add", ("a · x", "z"))),
}
ASKS = Frame(
    "Operations, one kernel each or fused.",
    "How many bytes does fusing them save?",
    ("operations",),
)


def explorer(
    operations: str = "trig",
    length: int = 4,
    n: int = 2**20,
    dtype: str = "float32",
    step: int | None = None,
) -> View:
    """Show elementwise operations over ``n`` elements, a kernel each beside one kernel for all.

    ``operations``: "trig", "silu", "axpy", or "chain", of which ``length`` is the number of
    operations, 1 to 8. ``n``: 1024 to 2**26. ``dtype``: float16, float32 or float64. ``step``: how
    many kernels have run at first; all, if not given. Raises LaunchError for anything else."""
    one_of("operations", operations, LABELS)
    one_of("dtype", dtype, ITEMSIZES)
    length, n = whole("length", length, 1, LONGEST), whole("n", n, 2**LEAST, 2**MOST)
    programs = {name: [_ways(made)] for name, made in PROGRAMS.items()}
    programs["chain"] = [_ways(chain(count)) for count in range(1, LONGEST + 1)]
    count = length if operations == "chain" else len(PROGRAMS[operations])
    step = count if step is None else whole("step", step, 0, count)
    place = round(log2(n))  # the slider's place that is to stand for exactly this n
    sizes = {k: n if k == place else 2**k for k in range(LEAST, MOST + 1)}
    controls = (
        Choice("operations", "operations", LABELS, operations),
        Slider("links", "length of the chain", 1, LONGEST, length),
        Slider("n", "elements n", LEAST, MOST, place),
        Choice("dtype", "element", {one: one for one in ITEMSIZES}, dtype),
        Player("step", "kernels run", 0, count, step),
    )
    return View(
        "fusion", {"programs": programs, "sizes": sizes, "items": ITEMSIZES}, controls, frame=ASKS
    )


def of_traces(unfused: Iterable[Trace], fused: Trace) -> View:
    """Show traced launches beside the one that does the same as all of them.

    Bytes are those that active lanes asked for. Raises LaunchError for no launch at all, for more
    than 8, and for launches that move nothing."""
    ways = [[_launch(trace) for trace in unfused], [_launch(fused)]]
    count = whole("the number of unfused launches", len(ways[0]), 1, LONGEST)
    if not all(sum(launch["bytes"] for launch in way) for way in ways):
        raise LaunchError("these launches move nothing to or from global memory")
    return View("fusion", {"traced": ways}, (Player("step", "kernels run", 0, count, count),))


def chain(length: int) -> tuple[Operation, ...]:
    """Return multiplications by a and additions of b in turn, each of the result before it."""
    values = ["x", *(f"v{i}" for i in range(1, length)), RESULT]
    words = ("\N{MULTIPLICATION SIGN} a", "+ b")
    return tuple(
        Operation(made, words[i % 2], (value,)) for i, (value, made) in enumerate(pairwise(values))
    )


def _ways(operations: tuple[Operation, ...]) -> list[list[Json]]:
    """Pack the kernels of both ways, unfused and fused."""
    ways = unfused(operations, [RESULT]), kernels([operations], [RESULT])
    return [[_kernel(one) for one in way] for way in ways]


def _kernel(kernel: Kernel) -> Json:
    names = [operation.name for operation in kernel.operations]
    return {"names": names, "reads": kernel.reads, "writes": kernel.writes, "flops": kernel.flops}


def _launch(trace: Trace) -> Json:
    """Pack a launch the same way, with the bytes that its lanes asked for, atomics left out."""
    m = trace.metrics
    name = trace.kernel if len(trace.kernel) <= NAME else f"{trace.kernel[: NAME - 1]}…"
    loaded, stored = m.global_load_bytes, m.global_store_bytes
    return {
        "names": [escape(name)],
        "reads": [f"{loaded:,} B"] if loaded else [],
        "writes": [f"{stored:,} B"] if stored else [],
        "flops": m.flops,
        "bytes": loaded + stored,
    }

"""The recomputation widget: three sigmoids, forward and backward, stored, read or recomputed.

The graph is out = sigmoid(s2), s2 = sigmoid(s1), s1 = sigmoid(x). The slope of s = sigmoid(v) is s
(1 - s), so the backward pass needs out, s2 and s1, and not x. Which of them it reads follows from
``warpwise.model.fusion``; tests hold it against kernels that were traced. Left out: caches, and
what storing activations costs in room until the backward pass comes for them."""

from __future__ import annotations

from warpwise.model.arguments import one_of, whole
from warpwise.model.fusion import READ, Access, Kernel, Operation, kernels, unfused
from warpwise.views.controls import Choice, Player
from warpwise.views.frame import Frame
from warpwise.views.request import ITEMSIZES
from warpwise.views.view import Json, View

VALUES = ("x", "s1", "s2", "out")  # by level of the graph: what the forward pass makes
GRADIENTS = ("dx", "ds1", "ds2", "dout")  # and the gradient with respect to each
RESULTS = ("out", "dx")
SIGMOID, SLOPE = "sigmoid", "slope"  # 1 / (1 + exp(-v)), and d * (s * (1 - s))
FORWARD = tuple(
    Operation(VALUES[i + 1], SIGMOID, (VALUES[i],), flops=2, special=1) for i in range(3)
)
BACKWARD = tuple(
    Operation(GRADIENTS[i], SLOPE, (VALUES[i + 1], GRADIENTS[i + 1]), flops=3) for i in (2, 1, 0)
)
# By variant: the words of the choice, those in the picture, and what it does.
VARIANTS = {
    "eager": ("a kernel each", "eager", "Each operation is a kernel of its own."),
    "stored": (
        "fused, all stored",
        "all stored",
        "Each pass is one kernel, and the backward pass reads all three activations.",
    ),
    "out": (
        "fused, out again",
        "out again",
        "The backward pass reads s1 and s2, and recomputes out from s2.",
    ),
    "all": (
        "fused, all again",
        "all again",
        "The backward pass reads x, and recomputes all three activations.",
    ),
}
ASKS = Frame(
    "Keep a value, or compute it again.", "Which accesses does computing again save?", ("variant",)
)


def explorer(variant: str = "out", dtype: str = "float32", step: int | None = None) -> View:
    """Show the graph in one of its variants.

    These are "eager", "stored", "out" and "all", with 15, 9, 8 and 5 accesses for each element.
    ``dtype``: float16, float32 or float64. ``step``: how many accesses are done at first; all, if
    not given. Raises LaunchError for anything else."""
    one_of("variant", variant, VARIANTS)
    one_of("dtype", dtype, ITEMSIZES)
    made = {name: plan(name) for name in VARIANTS}
    count = sum(len(kernel.accesses) for kernel in made[variant])
    step = count if step is None else whole("step", step, 0, count)
    choices = {name: choice for name, (choice, _, _) in VARIANTS.items()}
    controls = (
        Choice("variant", "kernels", choices, variant),
        Choice("dtype", "element", {name: name for name in ITEMSIZES}, dtype),
        Player("step", "accesses done", 0, count, step),
    )
    variants = {
        name: {"words": words, "does": does, **_drawn(made[name])}
        for name, (_, words, does) in VARIANTS.items()
    }
    graph = {"values": VALUES, "gradients": GRADIENTS}
    return View(
        "recomputation", {"variants": variants, "items": ITEMSIZES, **graph}, controls, frame=ASKS
    )


def plan(variant: str) -> tuple[Kernel, ...]:
    """Return the kernels of a variant, forward and backward.

    A kernel may recompute what the forward pass has made."""
    if variant == "eager":
        return unfused(FORWARD + BACKWARD, RESULTS)
    again = {"stored": (), "out": FORWARD[2:], "all": FORWARD}[variant]
    return kernels([FORWARD, again + BACKWARD], RESULTS)


def _drawn(plan: tuple[Kernel, ...]) -> Json:
    """Pack a plan for the picture.

    Kernels have side and levels, accesses a place; then come when a value is in memory, and the
    work."""
    sides = [int(any(one in BACKWARD for one in kernel.operations)) for kernel in plan]
    sided = list(zip(sides, plan, strict=True))
    operations = [(side, one) for side, kernel in sided for one in kernel.operations]
    accesses = [
        _access(i, side, one, kernel)
        for i, (side, kernel) in enumerate(sided)
        for one in kernel.accesses
    ]
    kept = {value for _, side, kind, value, *_ in accesses if side and kind == READ}
    since: dict[str, int] = {}  # accesses done when a value comes to be in memory
    for i, (_, _, kind, value, *_) in enumerate(accesses):
        since.setdefault(value, 0 if kind == READ else i + 1)
    return {
        "kernels": [(side, *_ends(kernel)) for side, kernel in sided],
        "accesses": accesses,
        "since": since,
        "kept": [value for value in VALUES if value in kept],
        "again": [_level(one) for side, one in operations if side and one in FORWARD],
        "flops": sum(one.flops for _, one in operations),
        "special": sum(one.special for _, one in operations),
    }


def _ends(kernel: Kernel) -> tuple[int, int]:
    """Return the levels between which a kernel stands."""
    levels = [_level(one) for one in kernel.operations]
    return min(levels), max(levels) + 1


def _level(operation: Operation) -> int:
    """Return an operation's level: it stands between this one and the next."""
    if operation in FORWARD:
        return VALUES.index(operation.made) - 1
    return GRADIENTS.index(operation.made)


def _access(
    i: int, side: int, access: Access, kernel: Kernel
) -> tuple[int, int, str, str, int, int, int]:
    """Return kernel, side, kind, value and its level, then two marks of the place, as 0 or 1.

    The first: the access meets the operation at its lower end. The second: it is at the kernel's
    right."""
    value = access.value
    level = (VALUES if value in VALUES else GRADIENTS).index(value)
    lower = int(level > _level(kernel.operations[access.operation]))
    right = int(not side or value in GRADIENTS)
    return i, side, access.kind, value, level, lower, right

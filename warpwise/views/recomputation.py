"""The recomputation widget: three sigmoids, forward and backward, and what of them is stored, read again, or made again.

The graph is out = sigmoid(s2), s2 = sigmoid(s1), s1 = sigmoid(x). The slope of s = sigmoid(v) is s (1 - s), so the backward pass needs
out, s2 and s1, and not x. Which of them it reads follows from ``warpwise.model.fusion``; tests hold it against kernels that were traced.
Left out: caches, and what storing activations costs in room until the backward pass comes for them.
"""

from __future__ import annotations

from warpwise.model.arguments import one_of, whole
from warpwise.model.fusion import READ, Access, Kernel, Operation, kernels, unfused
from warpwise.views.controls import Choice, Player
from warpwise.views.request import ITEMSIZES
from warpwise.views.view import View

VALUES = ("x", "s1", "s2", "out")  # by level of the graph: what the forward pass makes
GRADIENTS = ("dx", "ds1", "ds2", "dout")  # and the gradient with respect to each
RESULTS = ("out", "dx")
SIGMOID, SLOPE = "sigmoid", "slope"  # 1 / (1 + exp(-v)), and d * (s * (1 - s))
FORWARD = tuple(Operation(VALUES[i + 1], SIGMOID, (VALUES[i],), flops=2, special=1) for i in range(3))
BACKWARD = tuple(Operation(GRADIENTS[i], SLOPE, (VALUES[i + 1], GRADIENTS[i + 1]), flops=3) for i in (2, 1, 0))
# For a reader: the choice, the words in the picture, and what the variant does.
VARIANTS = {
    "eager": ("a kernel each", "eager", "Each operation is a kernel of its own."),
    "stored": ("fused, all stored", "all stored", "Each pass is one kernel, and the backward pass reads all three activations."),
    "out": ("fused, out again", "out again", "The backward pass reads s1 and s2, and makes out again from s2."),
    "all": ("fused, all again", "all again", "The backward pass reads x, and makes all three activations again."),
}


def explorer(variant: str = "out", dtype: str = "float32", step: int | None = None) -> View:
    """The graph in one of its variants: "eager", "stored", "out" or "all", with 15, 9, 8 and 5 accesses for each element.

    ``dtype``: float16, float32 or float64. ``step``: how many accesses are done at first; all, if not given. Raises LaunchError for
    what cannot be.
    """
    one_of("variant", variant, VARIANTS)
    one_of("dtype", dtype, ITEMSIZES)
    made = {name: plan(name) for name in VARIANTS}
    count = sum(len(kernel.accesses) for kernel in made[variant])
    controls = (
        Choice("variant", "kernels", {name: words[0] for name, words in VARIANTS.items()}, variant),
        Choice("dtype", "element", {name: name for name in ITEMSIZES}, dtype),
        Player("step", "accesses done", 0, count, count if step is None else whole("step", step, 0, count)),
    )
    variants = {name: {"words": VARIANTS[name][1], "does": VARIANTS[name][2], **_drawn(made[name])} for name in VARIANTS}
    return View("recomputation", {"variants": variants, "items": ITEMSIZES, "values": VALUES, "gradients": GRADIENTS}, controls)


def plan(variant: str) -> tuple[Kernel, ...]:
    """The kernels of a variant, forward and backward. What the forward pass has made, a kernel may make again."""
    if variant == "eager":
        return unfused(FORWARD + BACKWARD, RESULTS)
    again = {"stored": (), "out": FORWARD[2:], "all": FORWARD}[variant]
    return kernels([FORWARD, again + BACKWARD], RESULTS)


def _drawn(plan: tuple[Kernel, ...]) -> dict:
    """What the picture is drawn from: kernels by side and levels, accesses by place, when a value is in memory, and the work."""
    sides = [int(any(one in BACKWARD for one in kernel.operations)) for kernel in plan]
    operations = [(side, one) for kernel, side in zip(plan, sides, strict=True) for one in kernel.operations]
    accesses = [_access(i, sides[i], one, kernel) for i, kernel in enumerate(plan) for one in kernel.accesses]
    kept = {one[3] for one in accesses if one[1] and one[2] == READ}
    since = {}  # how many accesses are done when a value comes to be in memory
    for i, (_, _, kind, value, *_) in enumerate(accesses):
        since.setdefault(value, 0 if kind == READ else i + 1)
    return {
        "kernels": [(side, *_ends(kernel)) for kernel, side in zip(plan, sides, strict=True)], "accesses": accesses, "since": since,
        "kept": [value for value in VALUES if value in kept], "again": [_level(one) for side, one in operations if side and one in FORWARD],
        "flops": sum(one.flops for _, one in operations), "special": sum(one.special for _, one in operations),
    }  # fmt: skip


def _ends(kernel: Kernel) -> tuple[int, int]:
    """Between which levels a kernel stands."""
    levels = [_level(one) for one in kernel.operations]
    return min(levels), max(levels) + 1


def _level(operation: Operation) -> int:
    """An operation stands between its level and the next."""
    return VALUES.index(operation.made) - 1 if operation in FORWARD else GRADIENTS.index(operation.made)


def _access(i: int, side: int, access: Access, kernel: Kernel) -> tuple:
    """Kernel, side, kind, value, its level, whether it meets the operation at its lower end, and whether at the kernel's right."""
    level = (VALUES if access.value in VALUES else GRADIENTS).index(access.value)
    lower = level > _level(kernel.operations[access.operation])
    return i, side, access.kind, access.value, level, int(lower), int(not side or access.value in GRADIENTS)

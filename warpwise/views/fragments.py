"""The fragments widget: which lane holds which element of the matrices of a tensor-core product.

The layouts are those of ``simt.machine.tensor``, which multiplies by them (PTX ISA, "Matrix
Fragments"): a test compares the picture with products."""

from __future__ import annotations

from warpwise.metrics import WARP_SIZE
from warpwise.model.arguments import one_of, whole
from warpwise.views.controls import Choice, Slider
from warpwise.views.frame import Frame
from warpwise.views.view import View

#: By name: the instruction in words, columns of A, and elements of a register.
SHAPES = {
    "bf16": ("bfloat16, 16 x 8 x 16", 16, 2),
    "tf32": ("TF32, 16 x 8 x 8", 8, 1),
}
ASKS = Frame(
    "Fragments of a product on tensor cores.",
    "Which lanes hold row 0 of A, and which hold row 0 of C?",
    ("lane",),
)


def explorer(shape: str = "bf16", lane: int = 0) -> View:
    """Show the elements that a lane holds of A, B and C; ``shape`` is bf16 or tf32.

    Raises LaunchError for another shape, or a lane outside 0 to 31."""
    shape, lane = one_of("shape", shape, SHAPES), whole("lane", lane, 0, WARP_SIZE - 1)
    data = {"shapes": {name: [deep, pair] for name, (_, deep, pair) in SHAPES.items()}}
    options = {name: words for name, (words, _, _) in SHAPES.items()}
    controls = (
        Choice("shape", "shape", options, shape),
        Slider("lane", "lane", 0, WARP_SIZE - 1, lane),
    )
    return View("fragments", data, controls, frame=ASKS)

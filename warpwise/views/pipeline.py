"""The pipeline widget: copies that run ahead of products, stage by stage, and where products wait.

The rule is that of ``warpwise.model.pipeline``, which ``pipeline.js`` follows for every place of
the controls; a test holds the two together. It is a model of an idea, in units that stand for no
clock: all copies take equally long, all products too, and starting either takes nothing."""

from __future__ import annotations

from warpwise.model.arguments import whole
from warpwise.views.controls import Slider
from warpwise.views.frame import Frame
from warpwise.views.view import View

MOST_STAGES = 4
MOST_UNITS = 24  #: of a copy or a product
FEWEST_TILES, MOST_TILES = 4, 16
ASKS = Frame(
    "A pipeline of copies and products.",
    "How many stages does it take until the tensor cores have no gaps?",
    ("stages", "copy", "product"),
)


def explorer(
    stages: int = 2, copy: int = 8, product: int = 4, path: int = 2, tiles: int = 8
) -> View:
    """Show a loop over ``tiles`` tiles, with a ring of 1 to 4 stages.

    ``copy``, ``product``: 1 to 24 units each. ``path``: of a copy's units, those in which no other
    begins, for the path from memory is taken; at most ``copy``. ``tiles``: 4 to 16. Raises
    LaunchError for other numbers."""
    copy = whole("copy", copy, 1, MOST_UNITS)
    path = whole("path", path, 1, copy)
    controls = (
        Slider("stages", "stages", 1, MOST_STAGES, whole("stages", stages, 1, MOST_STAGES)),
        Slider("copy", "a copy takes", 1, MOST_UNITS, copy),
        Slider(
            "product", "a product takes", 1, MOST_UNITS, whole("product", product, 1, MOST_UNITS)
        ),
        Slider("path", "of a copy, path taken", 1, copy, path),
        Slider(
            "tiles",
            "tiles",
            FEWEST_TILES,
            MOST_TILES,
            whole("tiles", tiles, FEWEST_TILES, MOST_TILES),
        ),
    )
    return View("pipeline", {}, controls, frame=ASKS)

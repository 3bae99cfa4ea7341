"""The tiles widget: a matrix product in tiles, step by step, with shared memory and what was read.

Each block computes one tile of C, and fetches for it a tile of A and a tile of B at a time, which
all of its threads then share. What each step reads, and the sectors that its requests touch, follow
from the indices alone; tests hold both against traces of a tiled and a naive kernel. Caches are
left out, so fewer loads do not mean as many bytes fewer from DRAM. Elements are float32."""

from __future__ import annotations

from warpwise.metrics import SECTOR_BYTES, WARP_SIZE
from warpwise.model.arguments import one_of, whole
from warpwise.views.controls import Check, Choice, Player, Slider
from warpwise.views.frame import Frame
from warpwise.views.view import View

TILES = (4, 8, 16, 32)
MOST_TILES = 16  #: along a side: more could not be told apart in the picture
ITEM_BYTES = 4
ASKS = Frame("A product in tiles.", "Which tile moves the fewest bytes?", ("tile",))


def explorer(n: int = 64, tile: int = 16, wider: bool = False, step: int = 1) -> View:
    """Show the product of two n x n matrices in tiles of ``tile`` x ``tile``.

    ``wider``: A has one column more in memory, which nobody reads. ``step``: the step to open at,
    from 1. A tile is 4, 8, 16 or 32 wide, and n at most 16 tiles. Raises LaunchError otherwise."""
    tile = one_of("tile", tile, TILES)
    n = whole("n", n, tile, MOST_TILES * tile)
    steps = (-(-n // tile)) ** 3
    controls = (
        Slider("n", "size n", tile, MOST_TILES * tile, n),
        Choice("tile", "tile", {str(one): f"{one} &times; {one}" for one in TILES}, str(tile)),
        Check("wider", "one column more", wider),
        Player("step", "step", 1, steps, whole("step", step, 1, steps)),
    )
    sizes = {"item": ITEM_BYTES, "sector": SECTOR_BYTES, "warp": WARP_SIZE, "most": MOST_TILES}
    return View("tiles", sizes, controls, frame=ASKS)

"""The backward pass of attention, tile by tile: what is read, what stays, and what is added.

In each tile of scores a block recomputes P and makes dS; the sums of its own rows or columns stay
with it, and the other ones are added to memory. ``owner`` says whose block it is: a tile of keys
keeps dK and dV and adds to dQ, as in FlashAttention-2; a tile of queries keeps dQ and adds to dK
and dV. The counts follow from the two loops, which tests run. On a GPU the blocks run side by side;
here they take turns. Left out: masks, bytes, and the kernel that makes Delta before."""

from __future__ import annotations

from warpwise.model.arguments import one_of, whole
from warpwise.views.controls import Choice, Player, Slider
from warpwise.views.frame import Frame
from warpwise.views.view import View

LEAST, MOST = 2, 8  #: tiles on each side
OWNERS = {"keys": "a tile of keys", "queries": "a tile of queries"}
ASKS = Frame(
    "The backward pass in tiles.",
    "Which sums stay with a block, and which have to be added to memory?",
    ("owner",),
)


def explorer(tiles: int = 5, owner: str = "keys", step: int = 8) -> View:
    """Show ``tiles`` x ``tiles`` tiles of scores, of which ``step`` have been visited.

    Raises LaunchError for an owner that is not in ``OWNERS``, and for numbers out of range."""
    tiles = whole("tiles", tiles, LEAST, MOST)
    controls = (
        Choice("owner", "a block for each", OWNERS, one_of("owner", owner, tuple(OWNERS))),
        Slider("tiles", "tiles on each side", LEAST, MOST, tiles),
        Player("step", "tile", 1, tiles * tiles, whole("step", step, 1, tiles * tiles)),
    )
    return View("flash_backward", {}, controls, frame=ASKS)

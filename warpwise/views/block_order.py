"""The block order widget: the blocks of a matrix product, wave by wave, and what a wave loads.

The orders are those of ``warpwise.model.block_order``, which ``block_order.js`` follows for every
place of the controls; a test holds the two together. Modelled: a wave's blocks run together and
share panels through L2, and nothing stays there from one wave to the next."""

from __future__ import annotations

from math import ceil

from warpwise.model.arguments import one_of, whole
from warpwise.model.block_order import ORDERS
from warpwise.views.controls import Choice, Player, Slider
from warpwise.views.frame import Frame
from warpwise.views.view import View

SIDE = 32  #: blocks along a side of the grid
FEWEST, MOST = 16, 256  #: blocks of a wave
NAMES = dict(zip(ORDERS, ("along rows", "in groups of rows", "along Hilbert's curve"), strict=True))
ASKS = Frame(
    "Blocks and L2.",
    "Which order lets a wave share the most rows of A and columns of B?",
    ("order", "group"),
)


def explorer(order: str = "row", group: int = 8, slots: int = 128, wave: int = 1) -> View:
    """Show a product of 32 x 32 blocks, of which ``slots`` run at a time, opened at a wave.

    ``order`` is "row", "grouped" or "hilbert"; ``group``, of 1 to 32 rows, is for the second.
    ``slots``: 16 to 256. Raises LaunchError for other words and numbers."""
    slots = whole("slots", slots, FEWEST, MOST)
    waves = ceil(SIDE * SIDE / slots)
    controls = (
        Choice("order", "blocks run", NAMES, one_of("order", order, ORDERS)),
        Slider("group", "rows in a group", 1, SIDE, whole("group", group, 1, SIDE)),
        Slider("slots", "blocks at a time", FEWEST, MOST, slots),
        Player("wave", "wave", 1, waves, whole("wave", wave, 1, waves)),
    )
    return View("block_order", {"side": SIDE}, controls, frame=ASKS)

"""The swizzle widget: a tile's 16-byte chunks, the banks where they lie, and eight read at once.

Places and wavefronts are those of ``warpwise.model.swizzle``, which ``swizzle.js`` follows for
every place of the controls; a test holds the two together. The simulator lays TMA's tiles by the
same function, and counts wavefronts by the same rule."""

from __future__ import annotations

from warpwise.model.arguments import one_of, whole
from warpwise.model.swizzle import PITCHES, ROWS, SWIZZLES, WAYS, Tile
from warpwise.views.controls import Choice, Player
from warpwise.views.frame import Frame
from warpwise.views.view import View

WORDS = dict(zip(WAYS, ("down (ldmatrix)", "along (a copy)"), strict=True))
ASKS = Frame(
    "Swizzles of a tile.",
    "Which swizzle lets eight rows be read at once, for rows of each length?",
    ("mode", "row", "way"),
)


def explorer(mode: int = 128, row: int = 128, way: str = "down", phase: int = 1) -> View:
    """Show a tile of 16 rows of ``row`` bytes with a swizzle of ``mode`` bytes, 0 for none.

    ``way`` is "down" or "along": how the eight chunks of a phase are chosen. ``phase`` counts from
    1. Raises LaunchError for another word or number."""
    tile = Tile(one_of("row", row, PITCHES), one_of("mode", mode, SWIZZLES))
    phases = len(tile.phases(way))
    modes = {str(size): f"{size} bytes" if size else "none" for size in SWIZZLES}
    rows = {str(size): f"{size} bytes" for size in PITCHES}
    controls = (
        Choice("mode", "swizzle", modes, str(mode)),
        Choice("row", "a row of the tile", rows, str(row)),
        Choice("way", "a phase reads", WORDS, way),
        Player("phase", "phase", 1, phases, whole("phase", phase, 1, phases)),
    )
    return View("swizzle", {"rows": ROWS}, controls, frame=ASKS)

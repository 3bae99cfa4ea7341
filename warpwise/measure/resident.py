"""How many blocks a GPU holds at once: a launch of so many, no more and no fewer, keeps every SM busy to its end."""

from __future__ import annotations

from warpwise.devices import MULTIPROCESSORS
from warpwise.measure.place import Place

FEWEST_WARPS = min(sm.warps for sm in MULTIPROCESSORS.values())


def resident_blocks(place: Place, threads: int) -> int:
    """Of all SMs together, for a kernel whose blocks of ``threads`` need little else; for a GPU of an unknown kind, safely fewer."""
    known = MULTIPROCESSORS.get(place.compute_capability)
    warps = known.warps if known else FEWEST_WARPS
    return place.sms * (32 * warps // threads)

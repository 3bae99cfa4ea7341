"""What a GPU could do at best with a launch: closed forms over counters and a ``Device``, with nothing run and nothing measured.

Occupancy, tiles and waves need the shape of the launch only; the roofline and the bound on time need its ``Metrics`` too. ``attention``,
``matmul`` and ``fusion``, modules of their own, need no launch: tiles of attention, products of square matrices, and which values travel
between kernels. Every figure is *modelled*: each resource alone, at its peak. What latency, caches and the compiler do to it is left out.
"""

from warpwise.model.bound import Bound, Resource, bound
from warpwise.model.occupancy import Occupancy, occupancy
from warpwise.model.roofline import Roofline, roofline
from warpwise.model.waves import Tiles, Waves, tiles, waves

__all__ = ["Bound", "Occupancy", "Resource", "Roofline", "Tiles", "Waves", "bound", "occupancy", "roofline", "tiles", "waves"]

"""Models of what a GPU could do at best with a launch: closed forms over counters and a ``Device``.

Nothing is run or measured. Occupancy, tiles and waves need the shape of the launch only; the
roofline and the bound on time need its ``Metrics`` too. ``attention``, ``matmul``, ``fusion``,
``block_order``, ``pipeline``, ``swizzle``, ``training_step`` and ``training_memory``, modules of
their own, need no launch: tiles of attention, products of square matrices, the values that travel
between kernels, the panels that a wave of blocks loads, copies that run ahead, the banks where a
tile lies, and what training GPT-2 moves and keeps. Of many GPUs are ``collectives``, ``zero``,
``pipeline_schedule``, ``large_model``, ``planner`` and ``checkpoints``, with ``published`` runs to
hold the planner against. Every figure is *modelled*: each resource alone, at its peak. The effects
of latency, caches and the compiler are left out."""

from warpwise.model.bound import Bound, Resource, bound
from warpwise.model.occupancy import Occupancy, occupancy
from warpwise.model.roofline import Roofline, roofline
from warpwise.model.waves import Tiles, Waves, tiles, waves

__all__ = [
    "Bound",
    "Occupancy",
    "Resource",
    "Roofline",
    "Tiles",
    "Waves",
    "bound",
    "occupancy",
    "roofline",
    "tiles",
    "waves",
]

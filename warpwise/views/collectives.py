"""The collectives widget: which rank has which pieces, round by round, and how long it takes.

Rounds, bytes and times are those of ``warpwise.model.collectives``, which ``collectives.js``
follows for every place of the controls; tests hold the two together. Links are those of the
simulated cluster: a board's NVLink, a network card for each GPU, and a ring of TPUs' links, over
which a message that goes further than to a neighbour passes others."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from warpwise import devices
from warpwise.model.arguments import one_of, whole
from warpwise.model.collectives import WAYS, sends
from warpwise.views.controls import Choice, Player, Slider
from warpwise.views.frame import Frame
from warpwise.views.view import View

MOST_RANKS = 16
LEAST, MOST = 10, 32  #: a rank has 2 ** LEAST to 2 ** MOST bytes
ASKS = Frame(
    "A collective, round by round.",
    "From which size on is the ring faster than the tree?",
    ("way", "size", "links"),
)


@dataclass(frozen=True)
class Links:
    """How ranks are joined. ``ring``: only neighbours are."""

    name: str
    latency: float  #: seconds
    rate: float  #: bytes per second
    ring: bool = False


LINKS = {
    key: Links(name, 1e-6 * link.latency_us, link.bytes_per_s, ring)
    for key, name, link, ring in (
        ("nvlink", "NVLink of an H100", devices.NVLINK[devices.H100.name], False),
        ("network", "InfiniBand, 400 Gbit/s", devices.INFINIBAND_NDR, False),
        ("ici", "a ring of TPU links", devices.ICI_V5P, True),
    )
}


def explorer(
    way: str = "ring all-reduce",
    p: int = 4,
    size: int = 26,
    links: str = "nvlink",
    step: int = 1,
) -> View:
    """Show a collective of ``p`` ranks, 2 to 16, with 2 ** ``size`` bytes each, 10 to 32.

    ``way``: one of ``model.collectives.WAYS``. ``links``: "nvlink", "network" or "ici". ``step``:
    a round, from 0, the start. Raises LaunchError for anything else."""
    way = one_of("way", way, WAYS)
    p = whole("p", p, 2, MOST_RANKS)
    rounds = len(sends(way, p))
    controls = (
        Choice("way", "collective", {one: one for one in WAYS}, way),
        Slider("p", "ranks", 2, MOST_RANKS, p),
        Slider("size", "bytes of a rank", LEAST, MOST, whole("size", size, LEAST, MOST)),
        Choice("links", "links", {key: one.name for key, one in LINKS.items()},
               one_of("links", links, LINKS)),
        Player("step", "round", 0, rounds, whole("step", step, 0, rounds)),
    )  # fmt: skip
    data = {"links": {key: asdict(one) for key, one in LINKS.items()}}
    return View("collectives", data, controls, frame=ASKS)

"""The heads widget: in decoding, which query heads read which keys and values, and how often.

The rule is that of ``warpwise.model.heads``, which ``heads.js`` follows for every place of the
controls; a test holds the two together."""

from __future__ import annotations

from warpwise import devices
from warpwise.devices import DEVICES, H100, Device
from warpwise.errors import LaunchError
from warpwise.model.arguments import one_of, whole
from warpwise.model.heads import ITEM_BYTES, K_MLA, ROWS, V_MLA
from warpwise.views.controls import Check, Choice, Slider, device_choice
from warpwise.views.frame import Frame
from warpwise.views.view import View

HEADS = (8, 16, 32, 64, 128)
GROUPS = (1, 2, 4, 8, 16)  #: query heads to a head of keys and values
KINDS = {
    **{str(one): "1: multi-head" if one == 1 else f"{one}: grouped-query" for one in GROUPS},
    "all": "all: multi-query",
    "mla": "all, one vector: MLA",
}
MOST_QUERIES = 8
ASKS = Frame(
    "Who reads keys and values.",
    "What does packing a group's queries into one tile save?",
    ("group", "packed"),
)


def explorer(
    heads: int = 32,
    group: str = "8",
    packed: bool = False,
    queries: int = 1,
    device: Device | str = H100,
) -> View:
    """Show a step of decoding with ``heads`` query heads.

    ``heads``: 8, 16, 32, 64 or 128. ``group``: how many of them share keys and values: "1" to "16",
    "all", or "mla". ``packed``: whether a group's queries are rows of one tile. ``queries`` of each
    head: 1 to 8. Raises LaunchError for anything else, and for a group of more than all heads."""
    group = one_of("group", str(group), KINDS)
    if group.isdigit() and int(group) > one_of("heads", heads, HEADS):
        raise LaunchError(f"a group has {group} heads, and there are {heads}")
    name = devices.known(device).name
    controls = (
        Choice("group", "query heads in a group", KINDS, group),
        Check("packed", "a group's queries in one tile", bool(packed)),
        Choice("heads", "query heads", {str(h): str(h) for h in HEADS}, str(heads)),
        Slider(
            "queries",
            "queries of a head",
            1,
            MOST_QUERIES,
            whole("queries", queries, 1, MOST_QUERIES),
        ),
        device_choice((one.name for one in DEVICES), name),
    )
    ridges = {one.name: one.tensor16_flops_per_s / one.dram_bytes_per_s for one in DEVICES}
    data = {"rows": ROWS, "item": ITEM_BYTES, "mla": [K_MLA, V_MLA], "ridges": ridges}
    return View("heads", data, controls, frame=ASKS)

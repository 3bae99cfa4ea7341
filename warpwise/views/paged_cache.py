"""The paged cache widget: places of keys and values, held by requests under way.

The rule is that of ``warpwise.model.paged``, which ``paged_cache.js`` follows for every place of
the controls; a test holds the two together. The six requests are made up, and so is the longest
answer that the server allows."""

from __future__ import annotations

from warpwise.model.arguments import one_of, whole
from warpwise.model.paged import Request
from warpwise.views.controls import Choice, Player, Slider
from warpwise.views.frame import Frame
from warpwise.views.view import View

REQUESTS = (
    Request(56, 30),
    Request(88, 24),
    Request(50, 70, 4),
    Request(64, 12, 10),
    Request(52, 44, 18),
    Request(100, 24, 24),
)
LONGEST = 128  #: tokens of a prompt and its answer
STEPS = 70
PREFIX = 48  #: the longest common beginning
WAYS = {"reserved": "reserved for the longest", "paged": "in blocks"}
BLOCKS = (1, 2, 4, 8, 16, 32)
ASKS = Frame(
    "A cache of keys and values.",
    "How much of it holds no token?",
    ("way", "block"),
)


def explorer(way: str = "reserved", block: int = 16, prefix: int = 0, step: int = 20) -> View:
    """Show what six requests hold after ``step`` of 0 to 70 tokens for each.

    ``way``: "reserved" or "paged". ``block``: tokens of a block, a power of 2 up to 32. ``prefix``:
    tokens with which all prompts begin alike, 0 to 48. Raises LaunchError for anything else."""
    controls = (
        Choice("way", "places are", WAYS, one_of("way", way, WAYS)),
        Choice(
            "block",
            "tokens of a block",
            {str(one): str(one) for one in BLOCKS},
            str(one_of("block", block, BLOCKS)),
        ),
        Slider("prefix", "common beginning", 0, PREFIX, whole("prefix", prefix, 0, PREFIX)),
        Player("step", "step", 0, STEPS, whole("step", step, 0, STEPS)),
    )
    requests = [[one.prompt, one.answer, one.arrives] for one in REQUESTS]
    return View("paged_cache", {"requests": requests, "longest": LONGEST}, controls, frame=ASKS)

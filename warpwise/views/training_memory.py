"""The training memory widget: what a step of GPT-2 has to keep, by size, precision, recomputation.

Bytes are those of ``warpwise.model.training_memory``, packed for no text and for each one more; a
test holds ``training_memory.js`` against the model. Left out is what the model leaves out."""

from __future__ import annotations

from itertools import product
from typing import Any

from warpwise.model import training_memory as model
from warpwise.model.arguments import one_of, whole
from warpwise.model.training_step import ITEMSIZES, RECOMPUTED
from warpwise.model.transformer import GPT2
from warpwise.views.controls import Check, Choice, Slider
from warpwise.views.frame import Frame
from warpwise.views.view import View

MOST = 128  #: texts of a batch
CARDS = (24, 40, 80, 141, 180)  #: GiB
AGAIN = {"0": "nothing", "1": "GELU", "2": "GELU and LayerNorm"}
ASKS = Frame(
    "What training keeps in memory.",
    "What lets most texts fit: recomputing, flash attention, or 16 bits?",
    ("size", "batch", "recomputed", "flash"),
)


def explorer(
    size: str = "124M",
    batch: int = 64,
    number: str = "bfloat16",
    recomputed: int = 0,
    flash: bool = True,
    gib: int = 40,
) -> View:
    """Show the memory of training GPT-2 on ``batch`` texts of 1,024 tokens, 1 to 128.

    ``size``: "124M", "350M", "774M" or "1558M". ``number``: "bfloat16" or "TF32". ``recomputed``:
    0, 1 (GELU) or 2 (LayerNorm too). ``gib``: of the GPU, 24, 40, 80, 141 or 180. Raises
    LaunchError for anything else."""
    itemsize = ITEMSIZES[one_of("number", number, ITEMSIZES)]
    sizes = {str(b): name for name, b in ITEMSIZES.items()}
    again = str(one_of("recomputed", recomputed, RECOMPUTED))
    controls = (
        Choice("size", "model", {name: name for name in GPT2}, one_of("size", size, GPT2)),
        Slider("batch", "texts in a batch", 1, MOST, whole("batch", batch, 1, MOST)),
        Choice("recomputed", "recomputed", AGAIN, again),
        Check("flash", "flash attention", bool(flash)),
        Choice("itemsize", "numbers", sizes, str(itemsize)),
        Choice(
            "gib",
            "the GPU has",
            {str(one): f"{one} GiB" for one in CARDS},
            str(one_of("gib", gib, CARDS)),
        ),
    )
    places = [model.STATE, model.LAYERS, model.ONCE]
    data = {"places": places, "most": MOST, "buffers": _buffers()}
    return View("training_memory", data, controls, frame=ASKS)


def _buffers() -> dict[str, list[list[Any]]]:
    """Pack the buffers for each size, itemsize, recomputation, and flash (1) or not (0)."""
    found = {}
    for size, b, again, flash in product(GPT2, ITEMSIZES.values(), RECOMPUTED, (0, 1)):
        one, two = (model.memory(GPT2[size], n, b, again, bool(flash)) for n in (1, 2))
        pairs = zip(one, two, strict=True)
        found[f"{size} {b} {again} {flash}"] = [_row(*pair) for pair in pairs]
    return found


def _row(one: model.Buffer, two: model.Buffer) -> list[Any]:
    more = two.size_bytes - one.size_bytes
    return [one.name, one.place, one.size_bytes - more, more]

"""The training step widget: a step of GPT-2 as a stack of kernels, each fusion on or off.

Bytes, FLOP and launches are those of ``warpwise.model.training_step``. All grow by the same amount
with each text of a batch, so a kernel is packed as what it takes for none and for one more; a test
holds ``training_step.js`` against the model. Modelled: each kernel at a peak of the data sheet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from warpwise import devices
from warpwise.devices import A100_40, DEVICES, Device
from warpwise.model import training_step as model
from warpwise.model.arguments import one_of, whole
from warpwise.model.training_step import FUSIONS, ITEMSIZES, Kernel
from warpwise.model.transformer import GPT2, POSITIONS
from warpwise.views.controls import Check, Choice, Control, Slider, device_choice
from warpwise.views.frame import Frame
from warpwise.views.view import Json, View

SIZE = "124M"
MOST = 64  #: texts of a batch
LABELS = {
    "bias": "bias in the product",
    "gelu": "GELU in the product",
    "residual": "residual in LayerNorm",
    "classifier": "one classifier",
    "attention": "flash attention",
}
ASKS = Frame(
    "A step of training GPT-2.",
    "Which fusion saves most, and which hardly anything?",
    ("device", "batch", *LABELS),
)


def explorer(
    device: Device | str = A100_40,
    batch: int = 16,
    number: str = "bfloat16",
    fused: Iterable[str] = FUSIONS,
) -> View:
    """Show the least time of each kind of kernel, for ``batch`` texts of 1,024 tokens, 1 to 64.

    ``number``: "bfloat16" or "TF32". ``fused``: some of "bias", "gelu", "residual", "classifier",
    "attention". Raises LaunchError for anything else, and for a device that is not in the table."""
    device, batch = devices.known(device), whole("batch", batch, 1, MOST)
    on = frozenset(one_of("fused", one, FUSIONS) for one in fused)
    itemsize = ITEMSIZES[one_of("number", number, ITEMSIZES)]
    checks = tuple(Check(name, label, name in on) for name, label in LABELS.items())
    controls: tuple[Control, ...] = (
        device_choice((one.name for one in DEVICES), device.name),
        Slider("batch", "texts in a batch", 1, MOST, batch),
        *checks,
        Choice(
            "itemsize",
            "numbers",
            {str(size): name for name, size in ITEMSIZES.items()},
            str(itemsize),
        ),
    )
    data = {
        "devices": {one.name: _rates(one) for one in DEVICES},
        "kernels": {str(size): _packed(size) for size in ITEMSIZES.values()},
        "positions": POSITIONS,
        "each": model.FROM_C.each_s,
    }
    return View("training_step", data, controls, frame=ASKS)


def _rates(device: Device) -> list[float]:
    """Bytes, FLOP of lanes, and FLOP of tensor cores on 16 bits, in a second."""
    return [device.dram_bytes_per_s, device.fp32_flops_per_s, device.tensor16_flops_per_s]


def _packed(itemsize: int) -> Json:
    """Pack the kernels that no fusion changes, and of each fusion those apart and those fused."""
    whole_step = _affine(itemsize, frozenset(FUSIONS))
    without = {one: _affine(itemsize, frozenset(FUSIONS) - {one}) for one in FUSIONS}
    same = [one for one in whole_step if all(one in others for others in without.values())]
    fusions = {
        one: [
            [kernel for kernel in others if kernel not in whole_step],
            [kernel for kernel in whole_step if kernel not in others],
        ]
        for one, others in without.items()
    }
    return {"same": same, "fusions": fusions}


def _affine(itemsize: int, fused: frozenset[str]) -> list[list[Any]]:
    """Pack kernels: name, kind, part, launches, helpers, bytes and FLOP for none and for a text."""
    one, two = (model.step(GPT2[SIZE], batch, itemsize, fused) for batch in (1, 2))
    return [_row(*pair) for pair in zip(one, two, strict=True)]


def _row(one: Kernel, two: Kernel) -> list[Any]:
    moved, flops = two.bytes_moved - one.bytes_moved, two.flops - one.flops
    numbers = one.bytes_moved - moved, moved, one.flops - flops, flops
    return [one.name, one.kind, one.part, one.launches, one.helpers, *numbers]

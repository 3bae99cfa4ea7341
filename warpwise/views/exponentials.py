"""The exponentials widget: a tile of attention on three units of an SM, in turn and together.

The rates are those of ``warpwise.model.exponentials``, which ``exponentials.js`` follows for every
place of the controls; a test holds the two together. Modelled: each unit at its peak rate."""

from __future__ import annotations

from warpwise import devices
from warpwise.devices import B200, DEVICES, Device
from warpwise.model.arguments import one_of, whole
from warpwise.model.exponentials import (
    BITS,
    POLYNOMIAL_INSTRUCTIONS,
    SOFTMAX_INSTRUCTIONS,
    units,
)
from warpwise.views.controls import Choice, Slider, device_choice
from warpwise.views.frame import Frame
from warpwise.views.view import View

SIDE = 128  #: scores along a side of the tile
WIDTHS = (64, 128, 256)
MOST = 50  #: percent of the powers of 2 that lanes can be given
ASKS = Frame(
    "Products and exponentials.",
    "On which GPU do the exponentials last as long as the products?",
    ("device", "polynomial"),
)


def explorer(
    device: Device | str = B200, d: int = 128, bits: int = 16, polynomial: int = 0
) -> View:
    """Show the clocks of a tile of 128 x 128 scores, for a head of ``d`` elements.

    ``d``: 64, 128 or 256. ``bits`` of an element of Q, K and V: 16 or 8. ``polynomial``: percent of
    the powers of 2 that the lanes compute, 0 to 50. Raises LaunchError for anything else, and for a
    device that is not in the table."""
    device = devices.known(device)
    controls = (
        device_choice((one.name for one in DEVICES), device.name),
        Choice("d", "d of a head", _named(WIDTHS), str(one_of("d", d, WIDTHS))),
        Choice("bits", "bits of an element", _named(BITS), str(one_of("bits", bits, BITS))),
        Slider(
            "polynomial",
            "powers of 2 on the lanes, %",
            0,
            MOST,
            whole("polynomial", polynomial, 0, MOST),
        ),
    )
    data = {"scores": SIDE * SIDE, "most": MOST, "devices": {one.name: _of(one) for one in DEVICES}}
    return View("exponentials", data, controls, frame=ASKS)


def _named(numbers: tuple[int, ...]) -> dict[str, str]:
    return {str(number): str(number) for number in numbers}


def _of(device: Device) -> dict[str, float]:
    """Pack what a score takes: of products for d = 1 and 16 bits, of lanes with and without."""
    one = units(device, 1)
    return {
        "product": one.products,
        "exponential": one.exponentials,
        "softmax": SOFTMAX_INSTRUCTIONS / device.sm.fp32_lanes,
        "polynomial": POLYNOMIAL_INSTRUCTIONS / device.sm.fp32_lanes,
    }

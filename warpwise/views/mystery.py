"""The mystery: the plot that opens the course, matrix products' speed by size, with its causes.

Each cause can be switched off. It is a *model* of the plot in the lecture, which shows measurements
of a library on an A100: rule, sources and what is left out stand in ``warpwise.model.matmul``,
which ``mystery.js`` follows for every place of the controls; a browser test holds the two
together."""

from __future__ import annotations

from warpwise import devices
from warpwise.devices import A100, Device
from warpwise.model import matmul
from warpwise.model.arguments import one_of, whole
from warpwise.views.controls import Check, Control, Slider, device_choice
from warpwise.views.frame import Frame
from warpwise.views.view import View

LEAST, MOST = 64, 3072
LABELS = {
    "memory": "memory limit",
    "tiles": "whole tiles",
    "waves": "whole waves",
    "alignment": "row alignment",
}
NOTE = (
    "<p class='note'>Two n &times; n matrices of 16-bit numbers are multiplied. "
    "Modelled, not measured.</p>"
)
# only where there are boxes: with a script
HINT = (
    "<p class='note'>Each box under <i>More</i> is a cause: clear it, and its effect is gone.</p>"
)
ASKS = Frame("Speed by size.", "One more row and column: where does the speed fall most?", ("n",))


def explorer(
    device: Device | str = A100, n: int = 1792, causes: tuple[str, ...] = matmul.CAUSES
) -> View:
    """Show products of n x n matrices of 16-bit numbers on ``device``, held back by ``causes``.

    Raises LaunchError for a device or a size that is not in the model, or a cause that is none of
    ``matmul.CAUSES``."""
    device, n = devices.known(device), whole("n", n, LEAST, MOST)
    matmul.product(n, device)
    chosen = [one_of("cause", cause, matmul.CAUSES) for cause in causes]
    controls: tuple[Control, ...] = (
        device_choice((one.name for one in matmul.KNOWN), device.name),
        Slider("n", "size n", LEAST, MOST, n),
        *(Check(cause, label, cause in chosen) for cause, label in LABELS.items()),
    )
    data = {"devices": {one.name: _rates(one) for one in matmul.KNOWN}, **_RULE}
    return View("mystery", data, controls, above=NOTE + HINT, plain=NOTE, frame=ASKS)


# By line of the plot: its name, the first size of those that it shows, after LEAST, and the look of
# its points: class, and shape about the middle.
_LINES = (
    ("even", 0, "mystery-dot", "h0"),
    ("odd", 1, "mystery-odd", "m-2.3 -2.3l4.6 4.6m0 -4.6l-4.6 4.6"),
)
_RULE = {
    "lines": _LINES,
    "causes": matmul.CAUSES,
    "words": LABELS,
    "tile": matmul.TILE,
    "item": matmul.ITEM_BYTES,
    "widest": matmul.WIDEST_LOAD,
    "copy": matmul.NARROWEST_COPY,
    "turns": matmul.NARROW_TURNS,
    "units": matmul.LOAD_STORE_UNITS,
    "span": (LEAST, MOST),
}


def _rates(device: Device) -> dict[str, float]:
    """Return a device's rates per second, and its number of SMs."""
    return {
        "sms": device.sms,
        "peak": device.tensor16_flops_per_s,
        "memory": device.dram_bytes_per_s,
        "clock": device.clock_hz,
    }

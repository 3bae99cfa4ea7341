"""The roofline widget: the most a GPU can compute, by its operations for each byte of DRAM.

The roof, and a kernel's stretch below it, are those of ``warpwise.model.roofline``: by hand for one
precision, from a trace for its own mix of float32 and float64. Left out is all that keeps a kernel
from its roof: latency, idle SMs, the other parts of the chip."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from math import ceil, floor, inf, log2, log10

from warpwise import devices
from warpwise.devices import DEVICES, H100, Device
from warpwise.errors import LaunchError
from warpwise.model.arguments import one_of
from warpwise.model.roofline import roofline
from warpwise.traces import Trace
from warpwise.views.controls import Choice, Control, Slider, device_choice
from warpwise.views.frame import Frame
from warpwise.views.view import Json, View

PRECISIONS = {"float32": "float32", "tensor16": "16-bit tensor", "float64": "float64"}
#: of FLOP per byte on the picture: 1/256 to 4,096, or farther where a trace lies farther out
OCTAVES = (-8, 12)
STEPS = 8  #: of the slider, in an octave
NOTE = (
    '<p class="note">Modelled from counts. Caches decide how many bytes come from DRAM, so a '
    "kernel has a stretch of the roof. A kernel has its own peak, on ordinary lanes: its share of "
    "float64 lowers it.</p>"
)
KEY = "○ no cache helps, ● every byte moves once"
TOP_DECADE = 15.6  #: of FLOP/s, above every peak of the table
ASKS = Frame("Roofline.", "Is it held back by bytes or by operations?", ("kernel", "intensity"))


def explorer(
    device: Device | str = H100,
    traces: Mapping[str, Trace] | None = None,
    precision: str = "float32",
    flops_per_byte: float = 1,
) -> View:
    """Show the roof of ``device``, with a point to be moved by hand and kernels from ``traces``.

    The keys of ``traces`` are the kernels' names. ``precision`` is float32, tensor16 or float64:
    the unit that does the work. The point starts at ``flops_per_byte``, rounded to an eighth of an
    octave. Raises LaunchError for another precision, for an intensity off the picture, for a trace
    that has no intensity, and for a device that is not in the table."""
    return _view(devices.known(device), dict(traces or {}), precision, flops_per_byte, "")


def of_trace(trace: Trace, device: Device | str = H100) -> View:
    """Show a traced kernel on the roof of ``device``, from its least to its most intensity.

    Caches decide where between the two it lies."""
    return _view(devices.known(device), {trace.kernel: trace}, "float32", 1, "0")


def _view(
    device: Device, traces: dict[str, Trace], precision: str, flops_per_byte: float, kernel: str
) -> View:
    precision = one_of("precision", precision, PRECISIONS)
    kernels = [_kernel(name, trace) for name, trace in traces.items()]
    octaves = _octaves([end for one in kernels for end in one["flops_per_byte"]])
    least, most = octaves
    if not 2**least <= flops_per_byte <= 2**most:
        span = f"{2**least:g} to {2**most:,}"
        raise LaunchError(f"flops_per_byte is {flops_per_byte:g}; it can be {span}")
    place = round(STEPS * log2(flops_per_byte))
    choice = Choice("kernel", "kernel", {"": "a point by hand"} | _names(kernels), kernel)
    controls: tuple[Control, ...] = (
        device_choice((one.name for one in DEVICES), device.name),
        Choice("precision", "precision", PRECISIONS, precision),
        *((choice,) if kernels else ()),
        Slider("intensity", "FLOP per byte", STEPS * least, STEPS * most, place),
    )
    data = {
        **_axes(octaves),
        "precisions": PRECISIONS,
        "devices": {one.name: _roof(one) for one in DEVICES},
        "kernels": kernels,
        "key": KEY if kernels else "",
    }
    return View("roofline", data, controls, NOTE if kernels else "", frame=ASKS)


def _axes(octaves: tuple[int, int]) -> Json:
    """Return the ends of both axes, as powers of two and of ten, and the marks along them."""
    slowest = min(one.dram_bytes_per_s for one in DEVICES) * 2.0 ** octaves[0]
    decades = floor(log10(slowest)), TOP_DECADE
    return {
        "octaves": octaves,
        "decades": decades,
        "ticks": (_tens(octaves[0] * log10(2), octaves[1] * log10(2)), _tens(*decades)),
    }


def _roof(device: Device) -> Json:
    """Return rates per second: of DRAM, and of each precision."""
    peaks = {
        "float32": device.fp32_flops_per_s,
        "tensor16": device.tensor16_flops_per_s,
        "float64": device.fp64_flops_per_s,
    }
    return {"bytes": device.dram_bytes_per_s, "peaks": peaks}


def _names(kernels: list[Json]) -> dict[str, str]:
    return {str(i): escape(one["name"]) for i, one in enumerate(kernels)}


def _kernel(name: str, trace: Trace) -> Json:
    """Place a launch: its stretch, the same on all devices, and each device's peak for its mix."""
    least, most = trace.metrics.flops_per_byte
    if not least or most == inf:
        lack = "does no floating-point operation" if not least else "moves no byte of global memory"
        raise LaunchError(f"{name} {lack}: it has no place under a roofline")
    peaks = {one.name: roofline(trace, one).peak_flops_per_s for one in DEVICES}
    work = _work(trace.metrics.fp64_share)
    return {"name": name, "flops_per_byte": (least, most), "work": work, "peaks": peaks}


def _work(fp64_share: float) -> str:
    """Name the precision a kernel works in. Its float16, as in the model, has float32's lanes."""
    if fp64_share in (0, 1):
        return "float64" if fp64_share else "float32"
    return f"float32 with {100 * fp64_share:.3g} % float64"


def _tens(least: float, most: float) -> list[float]:
    """Return the powers of ten between two exponents."""
    return [10.0**e for e in range(ceil(least), floor(most) + 1)]


def _octaves(intensities: list[float]) -> tuple[int, int]:
    """Return the ends of the picture, in powers of two: as usual, or as far as these need."""
    ends = [log2(one) for one in intensities]
    return min(OCTAVES[0], *map(floor, ends), 0), max(OCTAVES[1], *map(ceil, ends), 0)

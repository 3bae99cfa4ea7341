"""The memory widget: a GPU's memories to scale, and a load's way to where its value is found.

Latencies and the bandwidth of L2 are measurements by others, on the GPUs of ``devices.MEASURED``;
the other bandwidths are peaks that follow from rates, clock and datasheet. A latency is that of one
load on an idle GPU: the queues of a busy one are left out, and so are the TLBs and the far part of
L2. What nobody has measured is shown as not known."""

from __future__ import annotations

from warpwise import devices
from warpwise.devices import A100, KB, MB, MEASURED, Device, Figure
from warpwise.model.arguments import one_of, whole
from warpwise.views.controls import Choice, Player, device_choice
from warpwise.views.frame import Frame
from warpwise.views.view import Json, View

Sourced = tuple[float, str]  #: a figure and its source

LEVELS = ("registers", "shared memory", "L1", "L2", "DRAM")
#: The levels that a load asks, by where its value is found: the last has it, and it comes back the
#: same way.
WAYS = {"registers": (0,), "shared memory": (1,), "L1": (2,), "L2": (2, 3), "DRAM": (2, 3, 4)}
SCALES = {"log": "logarithmic", "linear": "linear"}
FMA_OPERANDS, FLOAT32_BYTES = 3, 4
TITLES = {
    "ernst_gpu_benches": "Ernst, gpu-benches",
    "cuda_guide": "CUDA C++ Programming Guide",
    "luo2024hopper": "Luo et al. 2024",
    "abdelkhalik2022": "Abdelkhalik et al. 2022",
}
GUIDE, DATASHEET = "(CUDA C++ Programming Guide)", "NVIDIA's datasheet"
WITH_SHARED = "with the shared memory (NVIDIA's architecture whitepaper)"
OPERANDS = (
    "in a clock of an SM, three operands for each float32 lane (CUDA C++ Best Practices Guide)"
)
BANKED = (
    "in a clock of an SM, 32 banks of 4, for L1 and shared memory are one (Tesla V100 whitepaper)"
)
ASKS = Frame(
    "A load looks for its value.", "How long does it take, by where the value is?", ("found",)
)


def explorer(
    device: Device | str = A100, found: str = "DRAM", scale: str = "log", step: int = 1
) -> View:
    """Show the memories of ``device``, and a load after so many steps of its way.

    ``found``: the one of LEVELS that has its value. ``scale``: of the bars, "log" or "linear".
    Raises LaunchError for anything else, and for a device without measurements."""
    name = one_of("device", devices.known(device).name, MEASURED)
    found, scale = one_of("found", found, WAYS), one_of("scale", scale, SCALES)
    steps = 2 * len(WAYS[found])
    controls = (
        device_choice(MEASURED, name),
        Choice("scale", "scale of the bars", SCALES, scale),
        Choice("found", "the value is in", {name: name for name in WAYS}, found),
        Player("step", "step", 1, steps, whole("step", step, 1, steps)),
    )
    packed = {name: _packed(devices.find(name)) for name in MEASURED}
    return View("memory", {"levels": LEVELS, "ways": WAYS, "devices": packed}, controls, frame=ASKS)


def figures(device: Device) -> dict[str, tuple[Sourced | None, ...]]:
    """Return size, clocks and bandwidth by level, each with its source, or None.

    In bytes of the whole GPU, clocks, and bytes per second."""
    sm, seen, sms = device.sm, MEASURED[device.name], device.sms
    operands = sm.fp32_lanes * FMA_OPERANDS * FLOAT32_BYTES

    def size(of_sm: int, source: str) -> Sourced:
        return sms * of_sm, f"{of_sm // KB} KiB {source} in each of {sms} SMs"

    def peak(of_sm: int, what: str) -> Sourced:
        clock = f"{device.clock_hz / 1e6:,.0f} MHz"
        return sms * of_sm * device.clock_hz, f"Peak: {of_sm:,} bytes {what}, {sms} SMs, {clock}"

    return {
        "registers": (
            size(sm.registers * FLOAT32_BYTES, GUIDE),
            _cited(seen.register_clocks),
            peak(operands, OPERANDS),
        ),
        "shared memory": (
            size(sm.shared_bytes, f"at most {GUIDE}"),
            _cited(seen.shared_clocks),
            peak(sm.l1_bytes_per_clock, BANKED),
        ),
        "L1": (
            size(seen.unified_bytes, WITH_SHARED),
            _cited(seen.l1_clocks),
            peak(sm.l1_bytes_per_clock, BANKED),
        ),
        "L2": ((device.l2_bytes, DATASHEET), _cited(seen.l2_clocks), _cited(seen.l2_gb_per_s, 1e9)),
        "DRAM": (
            _sold(seen.dram_gib),
            _cited(seen.dram_clocks),
            (device.dram_bytes_per_s, DATASHEET),
        ),
    }


def _cited(figure: Figure | None, unit: float = 1) -> Sourced | None:
    if figure is None:
        return None
    return figure.value * unit, f"{TITLES[figure.source]}, {figure.how}"


def _sold(sizes: tuple[int, ...]) -> tuple[int, str]:
    also = "".join(f"; also sold with {size} GB" for size in sizes if size != max(sizes))
    return max(sizes) * KB * MB, DATASHEET + also


def _packed(device: Device) -> Json:
    """Pack a device for the script: its clock, and a row of figures with sources for each level."""
    rows: list[list[tuple[float, int] | None]] = []
    sources: list[str] = []
    for level in figures(device).values():
        sources += [figure[1] for figure in level if figure and figure[1] not in sources]
        rows.append([figure and (figure[0], sources.index(figure[1]) + 1) for figure in level])
    return {"hz": device.clock_hz, "rows": rows, "sources": sources}

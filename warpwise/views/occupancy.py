"""The occupancy widget: the blocks of a kernel that one SM holds, and what limits them.

The rule is that of ``warpwise.model.occupancy``, which ``occupancy.js`` follows for every place of
the controls; a browser test holds the two together. All of an SM's shared memory is taken to be
given to blocks."""

from __future__ import annotations

from dataclasses import asdict

from warpwise import devices
from warpwise.devices import DEVICES, H100, KB, Device
from warpwise.metrics import WARP_SIZE
from warpwise.model.arguments import whole
from warpwise.traces import Trace
from warpwise.views.controls import Slider, device_choice
from warpwise.views.frame import Frame
from warpwise.views.view import View

MOST_KB = 227  #: of shared memory in a block: the most that any device of the table has
MOST_WARPS = H100.threads_per_block // WARP_SIZE  # of a block, the same on all devices
# in the model's order: of equal ones it names the first
LIMITS = ("warps", "blocks", "registers", "shared memory")
# A slider and its curve: name, ends, and words for it and for its ends.
AXES = (
    ("warps", 1, MOST_WARPS, "threads", "32", "1024"),
    ("registers", 1, 255, "registers", "1", "255"),
    ("shared", 0, MOST_KB, "shared memory", "0", f"{MOST_KB} KiB"),
)
KEY = (("one", "even blocks"), ("three", "odd"), ("empty", "free"))
ASKS = Frame(
    "Blocks on one SM.",
    "How many registers may a thread have before a block fewer fits?",
    ("registers",),
)


def explorer(
    device: Device | str = H100, threads: int = 256, registers: int = 32, shared_bytes: int = 0
) -> View:
    """Show an SM of ``device`` under blocks of ``threads`` threads.

    ``registers``: for each thread. ``shared_bytes``: for each block. The sliders move in whole
    warps and whole KiB; where they begin, they stand for exactly the numbers given here. Raises
    LaunchError outside a device's limits, and for a device that is not in the table."""
    device = devices.known(device)
    threads = whole("threads", threads, 1, device.threads_per_block)
    registers = whole("registers", registers, 1, device.sm.registers_per_thread)
    shared_bytes = whole("shared_bytes", shared_bytes, 0, MOST_KB * KB)
    warps, shared = -(-threads // WARP_SIZE), -(-shared_bytes // KB)
    controls = (
        device_choice((one.name for one in DEVICES), device.name),
        Slider("warps", "threads per block", 1, MOST_WARPS, warps),
        Slider("registers", "registers per thread", 1, 255, registers),
        Slider("shared", "shared memory", 0, MOST_KB, shared),
    )
    # what each place of a slider stands for
    threads_at = [WARP_SIZE * place for place in range(1 + MOST_WARPS)]
    bytes_at = [KB * place for place in range(1 + MOST_KB)]
    threads_at[warps], bytes_at[shared] = threads, shared_bytes
    data = {
        "sms": {one.name: asdict(one.sm) for one in DEVICES},
        "names": LIMITS,
        "axes": AXES,
        "key": KEY,
        "threads": threads_at,
        "bytes": bytes_at,
    }
    return View("occupancy", data, controls, frame=ASKS)


def of_trace(trace: Trace, device: Device | str = H100, registers: int = 32) -> View:
    """Show the same for a traced kernel's block and shared memory.

    Its registers are an assumption, unless they come from a compiler."""
    x, y, z = trace.block
    return explorer(device, x * y * z, registers, trace.shared_bytes_per_block)

"""The occupancy widget: how many blocks of a kernel one multiprocessor holds, and which resource sets the limit.

The rule is that of ``warpwise.model.occupancy``, which ``occupancy.js`` follows for every place of the controls; a browser test holds
the two together. All of an SM's shared memory is taken to be given to blocks.
"""

from __future__ import annotations

from dataclasses import asdict

from warpwise import devices
from warpwise.devices import DEVICES, H100, KB, Device
from warpwise.metrics import WARP_SIZE
from warpwise.model.arguments import whole
from warpwise.model.occupancy import UNLIMITED
from warpwise.trace import Trace
from warpwise.views.controls import Choice, Slider
from warpwise.views.view import View

MOST_KB = 227  #: of shared memory in a block: the most that a device of the table can give


def explorer(device: Device = H100, threads: int = 256, registers: int = 32, shared_bytes: int = 0) -> View:
    """An SM of ``device`` under blocks of ``threads`` threads, ``registers`` for each thread and ``shared_bytes`` for each block.

    The sliders move in whole warps and whole KB: what lies between is rounded up. Raises LaunchError outside a device's limits.
    """
    warps = -(-whole("threads", threads, 1, device.threads_per_block) // WARP_SIZE)
    registers = whole("registers", registers, 16, device.sm.registers_per_thread)
    shared = -(-whole("shared_bytes", shared_bytes, 0, MOST_KB * KB) // KB)
    controls = (
        Choice("device", "device", {one.name: one.name for one in DEVICES}, device.name),
        Slider("warps", "threads per block", 1, 1024 // WARP_SIZE, warps),
        Slider("registers", "registers per thread", 16, 255, registers),
        Slider("shared", "shared memory per block", 0, MOST_KB, shared),
    )
    return View("occupancy", {"sms": {one.name: asdict(one.sm) for one in DEVICES}, "unlimited": UNLIMITED}, controls)


def of_trace(trace: Trace, device: Device | str = H100, registers: int = 32) -> View:
    """The same, opened on a traced kernel's block and shared memory. Its registers are an assumption, unless a compiler said so."""
    x, y, z = trace.block
    device = devices.find(device) if isinstance(device, str) else device
    return explorer(device, x * y * z, registers, trace.shared_bytes_per_block)

"""Registers that warpgroups give and take: setmaxnreg.

At the launch each thread has an equal share of the SM's registers, as the compiler gives it with a
bound for one block (CUDA C++ Programming Guide, "Launch Bounds"); an estimate, since the model
compiles nothing."""

from __future__ import annotations

from warpwise.devices import Device
from warpwise.errors import EndlessError
from warpwise.messages import Size, message
from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.site import Site

MOST, UNIT = 255, 8


class Registers:
    """Registers of each thread, by warp, and those that nobody has."""

    def __init__(self, warps: int, device: Device):
        share = device.sm.registers // (warps * WARP_SIZE) // UNIT * UNIT
        self.total = device.sm.registers
        self.each = [min(share, MOST // UNIT * UNIT)] * warps

    @property
    def free(self) -> int:
        return self.total - WARP_SIZE * sum(self.each)

    def fits(self, warp: int, count: int) -> bool:
        """Return True if a warp can have so many registers for each of its threads."""
        return WARP_SIZE * (count - self.each[warp]) <= self.free

    def stuck(self, warp: int, count: int, mask: Mask, site: Site) -> EndlessError:
        """Return the error of a wait for registers that nobody gives back."""
        what = message(
            "nobody will give this warp its registers[[: {wanted} for each thread, {has} so far, "
            "and {free:,} are free in the block]]",
            wanted=Size(count),
            has=Size(self.each[warp]),
            free=Size(self.free),
        )
        try_this = (
            "hopper.setmaxnreg_dec in the other warpgroups; their registers times their threads "
            "have to stay within 65,536"
        )
        return EndlessError(what, site.where_first(mask), try_this)

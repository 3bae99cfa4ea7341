"""Attention's tiles on three units of an SM: products, exponentials, and the float32 lanes.

For each score the tensor cores do 4 d FLOP, the special-function unit one power of 2, and the lanes
the rest. A polynomial on the lanes can take over a share of the powers, as FlashAttention-4 does
(Zadouri et al. 2026, arXiv 2603.05451, section 3). Modelled: each unit at its peak rate. Left out:
shared memory, tensor memory, corrections of the output, masks."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.devices import Device
from warpwise.errors import LaunchError
from warpwise.model.arguments import one_of, whole

#: float32 instructions for a score: maximum, scale and subtract, sum, and half a conversion of two
SOFTMAX_INSTRUCTIONS = 3.5
#: and for a power of 2 without the unit: clamp, three to split off the whole part, three
#: multiply-adds, shift and add into the exponent (the same paper, section 3)
POLYNOMIAL_INSTRUCTIONS = 9
BITS = (16, 8)  #: of an element of Q, K, V and the weights; tensor cores take 8 at twice the rate


@dataclass(frozen=True)
class Units:
    """Clocks of an SM that one score takes on each unit."""

    products: float
    exponentials: float
    lanes: float

    @property
    def one_after_another(self) -> float:
        return self.products + self.exponentials + self.lanes

    @property
    def overlapped(self) -> float:
        """The least: all units work at the same time."""
        return max(self.products, self.exponentials, self.lanes)


def units(device: Device, d: int = 128, bits: int = 16, polynomial: float = 0.0) -> Units:
    """Return what a score of a head of ``d`` elements takes.

    ``polynomial``: the share, 0 to 1, of powers of 2 that the lanes compute. Raises LaunchError for
    anything else, and for ``bits`` other than 16 and 8."""
    d, bits = whole("d", d, 1), one_of("bits", bits, BITS)
    if not 0 <= polynomial <= 1:
        raise LaunchError(f"polynomial is {polynomial!r}; it is a share, 0 to 1")
    flops_per_clock = device.tensor16_flops_per_s * 16 / bits / device.clock_hz / device.sms
    on_lanes = SOFTMAX_INSTRUCTIONS + POLYNOMIAL_INSTRUCTIONS * polynomial
    return Units(
        4 * d / flops_per_clock,
        (1 - polynomial) / device.sm.special_lanes,
        on_lanes / device.sm.fp32_lanes,
    )

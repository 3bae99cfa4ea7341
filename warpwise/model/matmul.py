"""The product of two n x n matrices of 16-bit numbers on a GPU, and four causes that slow it down.

A model of the plot that opens the course, which shows measurements of a library on an A100. Each
cause is one term, can be left out, and is derived from documents; nothing is fitted:

- ``memory``: three matrices of 2 n^2 bytes each move once at the bandwidth of DRAM, while the SMs
  compute. The slower of the two decides.
- ``tiles``: each block computes a whole tile of the result, even where it hangs over the edge.
- ``waves``: each SM works on one tile at a time, so the tiles take a whole number of rounds.
- ``alignment``: a row begins 2n bytes after the one before, and a copy has to begin at a multiple
  of its width. Copies of 4 bytes or more go to shared memory by themselves while the SM multiplies;
  of their width the model says nothing, and neither do measurements: sizes divisible by 2, 4 and 8
  are equally fast in two of the records, within a twelfth. Odd n leaves 2 bytes, and no copy is so
  narrow: each number is loaded into a register and stored from there, a turn each on the SM's
  load/store units, and in this model no product hides them. Measured kernels hide a part of them.

Sectors per row could be another rule for alignment, but give no lines: 64 bytes of a row are 2
sectors or 3, and even with 3 the L2 of an A100 (5,120 bytes in a clock, by its whitepaper) and its
L1 deliver the tiles in less time than the products take.

Left out: launching, latency, the last steps along k, power, L2, how much of the narrow loads a good
pipeline hides, TMA, which takes rows only at multiples of 16 bytes, and above all that a library
has many kernels: smaller tiles for small matrices, and others where rows are not aligned.

Sources. Tile of 256 x 128 and the causes: Stanford CS336, lecture "GPUs"; H. He, "What Shapes Do
Matrix Multiplications Like?", 2024. Load/store units: NVIDIA A100 and H100 whitepapers, figures of
the SM. Widths of loads: CUDA C++ Programming Guide, Device Memory Accesses; of asynchronous copies:
PTX ISA, ``cp.async``. Records: H. Yamagiwa, 2025, in ``measurements/*/square_matmul.json``."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from warpwise.devices import DEVICES, Device
from warpwise.errors import LaunchError
from warpwise.model.arguments import whole
from warpwise.model.waves import tiles, waves

TILE = (256, 128)  #: rows and columns of the result that a block computes
ITEM_BYTES = 2
WIDEST_LOAD = 16  #: bytes for one lane
NARROWEST_COPY = 4  #: bytes that an asynchronous copy moves from global to shared memory
NARROW_TURNS = 2  #: of a lane, for a number that is too narrow: it loads it, and stores it
#: lanes of an SM whose loads or stores begin in a clock, on the devices of KNOWN
LOAD_STORE_UNITS = 32
CAUSES = ("memory", "tiles", "waves", "alignment")
# Asynchronous copies came with 8.0; other compute capabilities have fewer load/store units, or
# NVIDIA does not draw them.
KNOWN = tuple(device for device in DEVICES if device.compute_capability in ((8, 0), (9, 0)))


@dataclass(frozen=True)
class Product:
    """The product of two n x n matrices on a device, modelled."""

    n: int
    seconds: float
    flops_per_s: float
    share: float  #: of the tensor cores' peak, 0 to 1


def product(n: int, device: Device, causes: tuple[str, ...] = CAUSES) -> Product:
    """Model the product with only these ``causes`` at work; with none it runs at the peak.

    Raises LaunchError for a device that is not KNOWN."""
    n = whole("n", n, 1)
    if device not in KNOWN:
        raise LaunchError(
            f"the load/store units of {device.name} are not in the model; "
            f"it knows {', '.join(d.name for d in KNOWN)}"
        )
    seconds = _rounds(n, device, causes) * n * _tile_step_seconds(n, device, causes)
    if "memory" in causes:
        seconds = max(seconds, 3 * ITEM_BYTES * n**2 / device.dram_bytes_per_s)
    flops_per_s = 2 * n**3 / seconds
    return Product(n, seconds, flops_per_s, flops_per_s / device.tensor16_flops_per_s)


def limiter(n: int, device: Device, causes: tuple[str, ...] = CAUSES) -> tuple[str, float]:
    """Return the cause whose removal from ``causes`` helps most, and the speedup then.

    ("", 1.0) if none helps."""
    now = product(n, device, causes).seconds
    gains = {
        cause: now / product(n, device, tuple(c for c in causes if c != cause)).seconds
        for cause in causes
    }
    best = max(gains, key=gains.__getitem__, default="")
    return (best, gains[best]) if best and gains[best] > 1 + 1e-9 else ("", 1.0)


def load_width(n: int) -> int:
    """Return the most bytes that one lane can load from every row, 2 to 16.

    A power of two that divides the distance between rows."""
    return gcd(ITEM_BYTES * n, WIDEST_LOAD)


def _rounds(n: int, device: Device, causes: tuple[str, ...]) -> float:
    """Return the tiles that an SM computes in turn; a fraction where a cause is left out."""
    blocks = tiles(n, n, *TILE).count if "tiles" in causes else n * n / (TILE[0] * TILE[1])
    if "waves" not in causes:
        return blocks / device.sms
    return waves(-int(-blocks // 1), device).count


def _tile_step_seconds(n: int, device: Device, causes: tuple[str, ...]) -> float:
    """Return an SM's seconds for one column of A's tile times one row of B's."""
    rows, columns = TILE
    products = 2 * rows * columns / (device.tensor16_flops_per_s / device.sms)
    if "alignment" not in causes or load_width(n) >= NARROWEST_COPY:
        return products
    return products + NARROW_TURNS * sum(TILE) / LOAD_STORE_UNITS / device.clock_hz

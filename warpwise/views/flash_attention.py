"""The FlashAttention widget: a tile of queries, the tiles of keys it visits, and the bytes moved.

The tiles and bytes are those of ``warpwise.model.attention``, which ``flash_attention.js`` follows
for every place of the controls; a browser test holds the two together. The maximum and the sum are
those of one row, the last of its tile, whose scores are drawn from a normal distribution, as those
of random Q and K are. Left out: caches, heads, and how a block's registers are shared among its
threads."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from warpwise import devices
from warpwise.devices import DEVICES, H100, Device
from warpwise.errors import LaunchError
from warpwise.model.arguments import whole
from warpwise.model.attention import visits
from warpwise.views.controls import Check, Player, Slider, device_choice
from warpwise.views.frame import Frame
from warpwise.views.view import View

REGISTER_BYTES = 4
CHUNK = 16  #: scores whose maximum and sum the script gets: no tile is smaller
LEAST, MOST = 4, 8  #: tiles of 16 to 256 rows, as powers of two
N_LEAST, N_MOST = 8, 13  #: 256 to 8192 queries and keys
D_LEAST, D_MOST = 5, 8  #: 32 to 256 elements in each
ASKS = Frame(
    "Attention in tiles.",
    "How large may a tile of queries be, and what does it save?",
    ("query", "rows"),
)


def explorer(
    n: int = 1024,
    d: int = 64,
    rows: int = 128,
    columns: int = 64,
    device: Device | str = H100,
    causal: bool = True,
    registers: bool = True,
    query: int | None = None,
    key: int | None = None,
) -> View:
    """Show one head of attention, in 16 bits, in tiles of ``rows`` x ``columns`` scores.

    There are ``n`` queries and keys of ``d`` elements. All four are powers of two: the sliders move
    in these. ``registers``: scores and output are float32 in registers, as in FlashAttention-2;
    otherwise in shared memory. ``query`` and ``key``: the tiles shown first, from 1; without them,
    a tile of queries past the middle and its third tile of keys, if there is one. Raises
    LaunchError for a number out of range, and for a device that is not in the table."""
    device = devices.known(device)
    sizes = (
        Slider("n", "queries, keys: N", N_LEAST, N_MOST, _power("n", n, N_LEAST, N_MOST)),
        Slider("d", "vector length: d", D_LEAST, D_MOST, _power("d", d, D_LEAST, D_MOST)),
        Slider("rows", "queries in a tile", LEAST, MOST, _power("rows", rows, LEAST, MOST)),
        Slider("columns", "keys in a tile", LEAST, MOST, _power("columns", columns, LEAST, MOST)),
    )
    at_query, at_key = _opens(n, rows, columns, causal, query, key)
    controls = (
        *sizes,
        device_choice((one.name for one in DEVICES), device.name),
        at_query,
        Check("causal", "causal mask", bool(causal)),
        Check("registers", "S and O in registers", bool(registers)),
        at_key,
    )
    limits = {one.name: _room(one) for one in DEVICES}
    return View("flash_attention", {"limits": limits, "chunks": chunks()}, controls, frame=ASKS)


def _room(device: Device) -> tuple[int, int]:
    """Return bytes of shared memory for a block, and of registers in an SM."""
    return device.sm.shared_bytes_per_block, device.sm.registers * REGISTER_BYTES


def _opens(
    n: int, rows: int, columns: int, causal: bool, query: int | None, key: int | None
) -> tuple[Slider, Player]:
    """Make the controls of the tiles of queries and of keys, with the pair that is shown first."""
    down = n // rows
    query = min(down // 2 + 1, down) if query is None else whole("query", query, 1, down)
    meets = visits(n, rows, columns, query - 1, causal)
    key = min(3, meets) if key is None else whole("key", key, 1, meets)
    return Slider("query", "query tile", 1, down, query), Player("key", "key tile", 1, meets, key)


def scores() -> npt.NDArray[np.float64]:
    """Draw one row of scores, as long as the longest row."""
    return np.random.default_rng(22).normal(size=1 << N_MOST)


@cache
def chunks() -> list[list[float]]:
    """Return the maximum m and the sum of exp(score - m) of each 16 scores.

    That is all a longer row needs to know of them."""
    cut = scores().reshape(-1, CHUNK)
    most = cut.max(1)
    sums = np.exp(cut - most[:, None]).sum(1)
    pairs = zip(most.tolist(), sums.tolist(), strict=True)
    return [[round(m, 4), round(s, 4)] for m, s in pairs]


def _power(name: str, value: int, least: int, most: int) -> int:
    """Return the exponent of a power of two between two others."""
    number = whole(name, value, 2**least, 2**most)
    if number & (number - 1):
        raise LaunchError(f"{name} is {number:,}; it has to be a power of two")
    return number.bit_length() - 1

"""The waves widget: the tiles of a matrix product, or a launch's blocks, on the SMs wave by wave.

The rule is that of ``warpwise.model.waves``, which ``waves.js`` follows for every place of the
controls; a test holds the two together. Modelled: all blocks take equally long, and each SM starts
its next ones when all have ended. CUDA leaves open which SM gets which block; here they are dealt
in turn."""

from __future__ import annotations

from math import prod

from warpwise import devices, model
from warpwise.devices import A100, DEVICES, H100, Device
from warpwise.errors import LaunchError
from warpwise.model.arguments import one_of, whole
from warpwise.traces import Trace
from warpwise.views.controls import Choice, Player, Slider, device_choice
from warpwise.views.frame import Frame
from warpwise.views.view import View

TILES = ("256x128", "128x128", "128x64", "64x64")
LEAST, MOST = 128, 4096
MOST_BLOCKS = 2**20  #: of a launch: a slider with more has no use
ASKS = Frame("Blocks in waves.", "At which size is the last wave nearly empty?", ("size",))


def explorer(
    device: Device | str = A100, size: int = 1792, tile: str = "256x128", wave: int = 1
) -> View:
    """Show the tiles of a ``size`` x ``size`` result on ``device``, opened at a wave.

    Each SM has one block at a time. The tile of 256 x 128 is the lecture's. Raises LaunchError for
    a size outside 128 to 4,096, a tile that is not in ``TILES``, and a device that is not in the
    table."""
    device, tile = devices.known(device), one_of("tile", tile, TILES)
    size = whole("size", size, LEAST, MOST)
    count = model.tiles(size, size, *map(int, tile.split("x"))).count
    held = {one.name: 1 for one in DEVICES}
    controls = (
        device_choice(held, device.name),
        Choice("tile", "tile", {one: one.replace("x", " &times; ") for one in TILES}, tile),
        Slider("size", "size of the result", LEAST, MOST, size),
        _player(wave, model.waves(count, device).count),
    )
    words = {"word": "tile", "against": "size", "of": "of the peak"}
    return View("waves", {"sms": _sms(), "held": held, "most": MOST, **words}, controls, frame=ASKS)


def of_trace(trace: Trace, device: Device | str = H100, registers: int = 32, wave: int = 1) -> View:
    """Show the blocks of a traced launch, as many on each SM at a time as its occupancy allows.

    ``registers``: for each thread. Raises LaunchError for a device that is not in the table, for
    blocks that fit no SM, and for more of them than ``MOST_BLOCKS``."""
    device = devices.known(device)
    blocks = whole("the number of blocks", prod(trace.grid), 1, MOST_BLOCKS)
    fits = {
        one.name: model.occupancy(one, prod(trace.block), registers, trace.shared_bytes_per_block)
        for one in DEVICES
    }
    if not fits[device.name].blocks:
        raise LaunchError(str(fits[device.name]))
    held = {name: found.blocks for name, found in fits.items() if found.blocks}
    most = min(MOST_BLOCKS, max(4 * blocks, 64))
    waves = model.waves(blocks, device, held[device.name]).count
    controls = (
        device_choice(held, device.name),
        Slider("size", "blocks", 1, most, blocks),
        _player(wave, waves),
    )
    words = {"word": "block", "against": "blocks", "of": "of all places", "launch": True}
    return View("waves", {"sms": _sms(), "held": held, "most": most, **words}, controls)


def _sms() -> dict[str, int]:
    return {one.name: one.sms for one in DEVICES}


def _player(wave: int, most: int) -> Player:
    return Player("wave", "wave", 1, most, whole("wave", wave, 1, most))

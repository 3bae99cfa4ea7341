"""The waves widget without a browser, against the model on every device; and refusals."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from warpwise import cuda, model, trace
from warpwise.devices import A100, DEVICES, H100, T4, V100
from warpwise.errors import LaunchError
from warpwise.views import view, waves


@cuda.jit
def fill(x):
    x[cuda.grid(1)] = 1


@cuda.jit
def fill_by_way_of_shared_memory(x):
    """48 KB of shared memory a block: few fit on an SM."""
    part = cuda.shared.array(12288, np.float32)
    part[cuda.threadIdx.x] = 1
    x[cuda.grid(1)] = part[cuda.threadIdx.x]


@cache
def traced(kernel, blocks: int, threads: int = 256):
    return trace(kernel, blocks, threads, np.zeros(blocks * threads, np.float32), record=())


def numbers(opened: view.View, **values) -> tuple[int, int, float]:
    """Return blocks, waves and share in percent, as the widget says."""
    (_, blocks, _), (_, count, _), (_, share, _) = view.shown(
        "waves", opened.data, {**opened.values, **values}
    )["rows"]
    return (
        int(blocks.replace(",", "")),
        int(count.replace(",", "")),
        float(share.removesuffix(" %")),
    )


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_its_rule_is_the_model_s(device):
    opened = waves.explorer(device)
    for tile in waves.TILES:
        sides = tuple(map(int, tile.split("x")))
        for size in (128, 129, 700, 1792, 1793, 2048, 2049, 3331, 4096):
            cut = model.tiles(size, size, *sides)
            found = model.waves(cut.count, device)
            blocks, count, share = numbers(opened, tile=tile, size=size)
            assert (blocks, count) == (cut.count, found.count), (tile, size)
            assert share == pytest.approx(100 * cut.useful * found.useful, abs=0.0501)


@pytest.mark.parametrize(
    ("device", "size", "share", "next_share"),
    [(A100, 1792, 90.7, 45.4), (H100, 1792, 74.2, 74.3), (H100, 2048, 97.0, 48.5)],
)
def test_the_lecture_s_cliff_is_on_108_sms_and_another_on_132(device, size, share, next_share):
    opened = waves.explorer(device, size)
    assert (numbers(opened)[2], numbers(opened, size=size + 1)[2]) == (share, next_share)
    assert f"At {size + 1:,}: " in str(opened) and f"{next_share:g} %." in str(opened)


@pytest.mark.parametrize("device", [A100, T4, V100], ids=str)
@pytest.mark.parametrize(
    ("kernel", "blocks"), [(fill, 700), (fill, 2000), (fill_by_way_of_shared_memory, 300)]
)
def test_a_trace_is_placed_by_its_occupancy(device, kernel, blocks):
    t = traced(kernel, blocks)
    held = model.occupancy(device, 256, 32, t.shared_bytes_per_block).blocks
    found = model.waves(blocks, device, held)
    said = numbers(waves.of_trace(t, device))
    assert said[:2] == (blocks, found.count) and said[2] == pytest.approx(
        100 * found.useful, abs=0.0501
    )
    assert f"{found.slots:,}" in str(waves.of_trace(t, device.name))


@pytest.mark.parametrize(("blocks", "most"), [(1, 64), (16, 64), (20, 80)])
def test_a_trace_can_have_four_times_its_blocks(blocks, most):
    size = waves.of_trace(traced(fill, blocks)).controls[1]
    assert (size.least, size.most, size.value) == (1, most, blocks)


def test_sms_hold_what_the_waves_say():
    """Filled SMs and their numbers.

    12 tiles of the second wave are numbered from 108; 1,000 blocks are 8 on each SM, then 1 or
    2."""
    picture = waves.explorer(A100, 1793, wave=2).svg()
    shown = [
        int(part.split("<")[0])
        for part in picture.split('inside"')[1:]
        for part in [part.split(">")[1]]
    ]
    assert shown == list(range(108, 120))
    second = waves.of_trace(traced(fill, 1000), A100, wave=2).svg()
    shown = [int(part.split(">")[1].split("<")[0]) for part in second.split('inside"')[1:]]
    assert len(shown) == 108 and sum(shown) == 1000 - 8 * 108 and set(shown) == {1, 2}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: waves.explorer(size=127), "size is 127; it can be 128 to 4,096"),
        (
            lambda: waves.explorer(tile="128x256"),
            "tile is '128x256'; it can be 256x128, 128x128, 128x64, 64x64",
        ),
        (lambda: waves.explorer(size=1792, wave=2), "wave is 2; it can be 1 to 1"),
        (lambda: waves.of_trace(traced(fill, 2), "GTX"), "no device is called 'GTX'"),
        (
            lambda: waves.of_trace(traced(fill, 2, 1024), A100, registers=255),
            "no block fits on an SM of A100",
        ),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(LaunchError) as caught:
        call()
    assert message in str(caught.value)


def test_one_of_each_is_said_in_the_singular():
    assert "1 block, 1 wave of up to 864" in str(waves.of_trace(traced(fill, 1), A100))


@cuda.jit
def fill_by_way_of_dynamic_shared_memory(x):
    part = cuda.shared.array(0, np.float32)
    part[cuda.threadIdx.x] = 1
    x[cuda.grid(1)] = part[cuda.threadIdx.x]


def test_a_device_that_holds_no_block_is_not_offered():
    t = trace(
        fill_by_way_of_dynamic_shared_memory,
        2,
        32,
        np.zeros(64, np.float32),
        record=(),
        shared_bytes=150 * 1024,
    )
    offered = waves.of_trace(t, H100).controls[0].options
    assert A100.name in offered and H100.name in offered
    assert {T4.name, V100.name} & set(offered) == set()
    with pytest.raises(LaunchError, match="no block fits on an SM of T4"):
        waves.of_trace(t, T4)

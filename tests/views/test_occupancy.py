"""The occupancy widget's Python side: its start, its refusals, and its first sentence."""

from __future__ import annotations

import gzip
import json

import pytest

from warpwise import model
from warpwise.devices import H100, KB, L4, T4, Device
from warpwise.errors import LaunchError
from warpwise.traces import Trace
from warpwise.views import html, occupancy


def test_sentence_says_what_the_model_says():
    found = model.occupancy(L4, 160, 88, 9 * KB)
    assert str(occupancy.explorer(L4, 160, 88, 9 * KB)).startswith(
        "Blocks of 160 threads with 88 registers each and 9 KiB of shared memory: "
        f"an SM of L4 holds {found.blocks} blocks, {found.warps} of 48 warps, "
        f"occupancy {100 * found.fraction:.1f} %. The limit is set by {found.limiter}."
    )


@pytest.mark.parametrize("shared_bytes", [0, 1, 4224, 50_001])
@pytest.mark.parametrize("threads", [1, 100, 1024])
@pytest.mark.parametrize("device", [T4, L4, H100], ids=lambda device: device.name)
def test_it_starts_at_exactly_the_numbers_given(device: Device, threads: int, shared_bytes: int):
    found = model.occupancy(device, threads, 40, shared_bytes)
    view = occupancy.explorer(device, threads, 40, shared_bytes)
    share, blocks, limiter = (value for _, value, _ in view.shown["rows"])
    assert (blocks, limiter) == (found.blocks, found.limiter)
    assert float(share.removesuffix(" %")) == pytest.approx(100 * found.fraction, abs=0.051)
    assert f"Blocks of {threads:,} thread{'s' * (threads > 1)} with" in view.sentence
    assert f" {round(shared_bytes / KB, 3):g} KiB of shared memory" in view.sentence


def test_no_block_is_said_too():
    assert (
        "holds 0 blocks, 0 of 48 warps, occupancy 0 %. The limit is set by registers."
        in occupancy.explorer(L4, 1024, 255).sentence
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threads": 0}, "threads is 0; it can be 1 to 1,024"),
        ({"threads": 1025}, "threads is 1,025; it can be 1 to 1,024"),
        ({"registers": 256}, "registers is 256; it can be 1 to 255"),
        ({"registers": 1.5}, "registers is 1.5; it has to be a whole number"),
        ({"shared_bytes": -1}, "shared_bytes is -1; it can be 0 to 232,448"),
        ({"shared_bytes": 227 * KB + 1}, "shared_bytes is 232,449; it can be 0 to 232,448"),
        ({"device": "H1"}, "'H1' can be H100 PCIe, H100 SXM: say which"),
    ],
)
def test_bad_arguments_get_one_clear_line(arguments: dict, message: str):
    with pytest.raises(LaunchError) as caught:
        occupancy.explorer(**arguments)
    assert str(caught.value) == message


def test_a_device_that_is_not_in_the_table_is_refused():
    with pytest.raises(LaunchError, match="no device is called 'mine'"):
        occupancy.explorer(Device("mine", (9, 0), 10, 10, 10, 10, 1))


def test_data_keeps_to_a_tenth_of_its_budget():
    assert (
        len(gzip.compress(json.dumps(occupancy.explorer().payload).encode()))
        <= html.DATA_BUDGET / 10
    )


def test_traces_give_block_and_shared_memory():
    t = Trace(
        "k",
        "k.py",
        {},
        (1, 1, 1),
        (8, 4, 3),
        (),
        metrics=None,
        by_line={},
        shared_bytes_per_block=3 * KB,
    )
    view = occupancy.of_trace(t, "T4", 64)
    assert view.sentence.startswith(
        "Blocks of 96 threads with 64 registers each and 3 KiB of shared memory: an SM of T4"
    )

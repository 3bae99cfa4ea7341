"""The hierarchy widget without a browser: the numbers that traced threads wrote; refusals."""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from math import prod

import numpy as np
import pytest
from support.view_kernels import write_down

from warpwise import cuda, model, trace
from warpwise.devices import A100, DEVICES, H100, T4
from warpwise.errors import LaunchError
from warpwise.views import hierarchy, view

TIMES = "\N{MULTIPLICATION SIGN}"
FIELDS = ("thread x", "thread y", "thread z", "block x", "block y", "block z", "lane")


@cuda.jit
def by_way_of_shared_memory(out):
    """48 KB of shared memory a block: few fit on an SM, and none on some."""
    part = cuda.shared.array(12288, np.float32)
    part[cuda.threadIdx.x] = 1
    out[cuda.grid(1)] = part[cuda.threadIdx.x]


def full(shape: tuple[int, ...]) -> tuple[int, int, int]:
    return (*shape, 1, 1)[:3]


@cache
def written(grid: tuple[int, ...], block: tuple[int, ...]):
    """Return what the threads wrote, the warp that stored each element, and the trace."""
    grid, block = full(grid), full(block)
    out = np.full(
        (*(g * b for g, b in zip(reversed(grid), reversed(block), strict=True)), len(FIELDS)), -1
    )
    t = trace(write_down, grid, block, out, record=range(prod(grid)))
    base = next(info.address for info in t.arrays if info.name == "out")
    warps = {
        (a - base) // out.itemsize: e.warp
        for e in t.events
        if e.kind == "store"
        for a in e.addresses
        if a >= 0
    }
    return out, np.vectorize(warps.get)(np.arange(out.size)).reshape(out.shape)[..., 0], t


def said(made: dict) -> dict[str, str]:
    return {term: str(value) for term, value, _ in made["rows"]}


def index(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


SHAPES = [
    ((5,), (40,)),
    ((3, 2), (16, 6)),
    ((2, 3, 2), (5, 4, 3)),
    ((1, 4), (33,)),
    ((2,), (2, 2, 20)),
]


@pytest.mark.parametrize(("grid", "block"), SHAPES)
def test_each_thread_s_numbers_are_those_it_wrote(grid, block):
    out, warps, _ = written(grid, block)
    opened = hierarchy.explorer(grid, block)
    drawn = np.random.default_rng(1)
    picks = [
        (b, t)
        for b in range(prod(grid))
        for t in {0, prod(block) - 1, *drawn.integers(0, prod(block), 4).tolist()}
    ]
    seen = set()
    for b, t in picks:
        made = view.shown("hierarchy", opened.data, opened.values | {"block": b, "thread": t})
        rows = said(made)
        x, y, z = (*index(rows["global index"]), 0, 0)[:3]
        thread, block_index = (
            full_index(index(str(made["outputs"][name]))) for name in ("thread", "block")
        )
        assert tuple(out[z, y, x]) == (*thread, *block_index, int(rows["lane"]))
        assert warps[z, y, x] == int(rows["warp"])
        assert int(rows["thread in block"]) == 32 * warps[z, y, x] + out[z, y, x, 6] == t
        assert int(rows["linear index"]) == b * prod(block) + t
        seen.add((x, y, z))
    assert len(seen) == len(picks)


def full_index(given: tuple[int, ...]) -> tuple[int, ...]:
    return (*given, 0, 0)[:3]


@pytest.mark.parametrize(("grid", "block"), SHAPES)
def test_the_formulas_filled_in_are_right(grid, block):
    made = hierarchy.explorer(grid, block, block_index=1, thread_index=2).shown
    assert len(made["rows"]) == 8
    checked = []
    for term, value, note in made["rows"]:
        note = note.replace(TIMES, "*")
        for formula, number in zip(
            note.split(": ")[-1].split(", "), index(str(value)), strict=False
        ):
            if re.fullmatch(r"[\d *+/%]+", formula):
                assert eval(formula) == number, (term, note)
                checked.append(term)
    assert {"global index", "warp", "lane", "linear index", "SM"} <= set(checked)
    assert len(grid) == 1 == len(block) or {"thread in block", "block in grid"} <= set(checked)


def test_it_opens_on_a_traced_launch():
    _, _, t = written((3, 2), (16, 6))
    opened = hierarchy.of_trace(t, A100, block_index=(2, 1), thread_index=(15, 5))
    assert str(opened).startswith(
        f"Of 3 {TIMES} 2 blocks of 16 {TIMES} 6 threads: threadIdx (15, 5) of blockIdx (2, 1) "
        "is cuda.grid(2) (47, 11)"
    )
    assert said(opened.shown)["linear index"] == str(3 * 16 * 2 * 6 - 1)


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
@pytest.mark.parametrize("threads", [32, 96, 1000])
def test_blocks_are_dealt_in_turn_by_occupancy(device, threads):
    blocks = 9000
    held = model.occupancy(device, threads).blocks
    opened = hierarchy.explorer(blocks, threads, device)
    for b in (
        0,
        device.sms - 1,
        device.sms,
        device.sms * held - 1,
        min(device.sms * held, blocks - 1),
        blocks - 1,
    ):
        made = view.shown("hierarchy", opened.data, opened.values | {"block": b})
        wave = b // (device.sms * held)
        rest = blocks - wave * device.sms * held
        on_it = sum(
            1
            for other in range(min(rest, device.sms * held))
            if other % device.sms == b % device.sms
        )
        rows = said(made)
        assert (rows["SM"], rows["blocks on this SM"]) == (str(b % device.sms), str(on_it))
        assert f"on SM {b % device.sms} in wave {wave + 1}." in made["text"]


def test_shared_memory_of_a_trace_counts():
    t = trace(by_way_of_shared_memory, 6, 64, np.zeros(6 * 64, np.float32), record=())
    for device in (A100, T4, H100):
        held = model.occupancy(device, 64, 32, t.shared_bytes_per_block).blocks
        assert f"an SM of {device.name} holds {held} block" in str(hierarchy.of_trace(t, device))


def test_no_state_of_the_sliders_breaks_it():
    """All ends are set at once, as a test or a lab may set them.

    The shape gives way, and the limits say to what."""
    opened = hierarchy.explorer()
    least, most = (
        {c.name: getattr(c, end, c.value) for c in opened.controls} for end in ("least", "most")
    )
    for ends in product((least, most), repeat=3):
        values = {
            name: ends["gbt".find(name[0]) if name[1:] in "xyz" else 2][name] for name in least
        }
        made = view.shown("hierarchy", opened.data, values)
        assert "NaN" not in made["picture"] and "undefined" not in made["picture"] + made["text"]
        sides = [min(values[name], made["limits"][name][1]) for name in ("bx", "by", "bz")]
        assert prod(sides) <= 1024 and all(low <= high for low, high in made["limits"].values())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hierarchy.explorer(0), "grid, x is 0; it can be 1 to 2,147,483,647"),
        (lambda: hierarchy.explorer((2, 2, 2, 2)), "grid has 4 numbers; it can have 1 to 3"),
        (
            lambda: hierarchy.explorer(block=(64, 32)),
            "block, multiplied out, is 2,048; it can be 1 to 1,024",
        ),
        (lambda: hierarchy.explorer(block=(1, 1, 65)), "block, z is 65; it can be 1 to 64"),
        (
            lambda: hierarchy.explorer(2**21),
            "grid, multiplied out, is 2,097,152; it can be 1 to 1,048,576",
        ),
        (lambda: hierarchy.explorer(block_index=-1), "block_index is -1; it can be 0 or more"),
        (lambda: hierarchy.explorer(device="GTX"), "no device is called 'GTX'"),
        (
            lambda: hierarchy.explorer(block=1024, registers=255),
            "no block fits on an SM of H100 SXM, for lack of registers",
        ),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(LaunchError) as caught:
        call()
    assert message in str(caught.value)


def test_an_index_gives_way_to_the_last_there_is():
    assert "threadIdx 31 of blockIdx 2 is" in str(
        hierarchy.explorer(3, 32, block_index=99, thread_index=(99, 7))
    )

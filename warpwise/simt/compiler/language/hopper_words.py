"""The words of ``warpwise.hopper``, by their path below ``cuda``: a model of the simulator.

In examples, ``bars`` is a shared array of ``uint64`` with an mbarrier of one arrival at 0, ``tile``
a shared array that was filled with ``box_map``'s box, and a warpgroup runs; of mbarriers and copies
one thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from warpwise.simt.compiler import hopper_calls
from warpwise.simt.compiler.context import Call
from warpwise.simt.compiler.entries import Entry
from warpwise.simt.hopper import words


def _entry(name: str, shown: str, handler: Call, example: str) -> Entry[Call]:
    return Entry(f"hopper.{name}", shown, handler, example)


def _arrival(name: str, arrives: bool, expects: bool) -> Entry[Call]:
    handler = partial(hopper_calls.mbarrier_arrive, arrives=arrives, expects=expects)
    size = ", 0" if expects else ""
    shown = "(bars, index, bytes)" if expects else "(bars, index)"
    return _entry(name, shown, handler, f"hopper.{name}(bars, 0{size})")


def _plain(name: str, run: Callable[..., None]) -> Entry[Call]:
    return _entry(name, "()", partial(hopper_calls.plain, run=run), f"hopper.{name}()")


def _wait(name: str, run: Callable[..., None]) -> Entry[Call]:
    handler = partial(hopper_calls.group_wait, run=run)
    return _entry(name, "(n)", handler, f"hopper.{name}(0)")


def _registers(name: str, grows: bool) -> Entry[Call]:
    handler = partial(hopper_calls.setmaxnreg, grows=grows)
    return _entry(name, "(registers)", handler, f"hopper.{name}({248 if grows else 24})")


_DESCRIBED = "d = hopper.wgmma_descriptor(tile, 128)"
_PRODUCT = (
    "sums = cuda.local.array(32, np.float32)\nhopper.wgmma_fence()\n"
    "hopper.wgmma_mma_async(sums, d, d, 0)\nhopper.wgmma_commit_group()\n"
    "hopper.wgmma_wait_group(0)"
)

HOPPER: tuple[Entry[Call], ...] = (
    _entry(
        "mbarrier_init",
        "(bars, index, count)",
        hopper_calls.mbarrier_init,
        "hopper.mbarrier_init(bars, 0, 1)",
    ),
    _arrival("mbarrier_arrive", True, False),
    _arrival("mbarrier_expect_tx", False, True),
    _arrival("mbarrier_arrive_expect_tx", True, True),
    _entry(
        "mbarrier_try_wait",
        "(bars, index, parity)",
        hopper_calls.mbarrier_try_wait,
        "while not hopper.mbarrier_try_wait(bars, 0, 1):\n    pass",
    ),
    _entry(
        "tma_load",
        "(tile, tensor_map, coordinates, bars, index)",
        hopper_calls.tma_load,
        "hopper.tma_load(tile, box_map, (0, 0), bars, 0)",
    ),
    _plain("fence_proxy_async", words.fence_proxy_async),
    _entry(
        "tma_store",
        "(tensor_map, coordinates, tile)",
        hopper_calls.tma_store,
        "hopper.tma_store(box_map, (0, 0), tile)\nhopper.tma_store_commit_group()\n"
        "hopper.tma_store_wait_group(0)",
    ),
    _plain("tma_store_commit_group", words.store_commit),
    _wait("tma_store_wait_group", words.store_wait),
    _entry(
        "wgmma_descriptor",
        "(tile, swizzle)",
        hopper_calls.wgmma_descriptor,
        _DESCRIBED,
    ),
    _plain("wgmma_fence", words.wgmma_fence),
    _entry(
        "wgmma_mma_async",
        "(sums, a, b, scale_d)",
        hopper_calls.wgmma_mma_async,
        f"{_DESCRIBED}\n{_PRODUCT}",
    ),
    _plain("wgmma_commit_group", words.wgmma_commit),
    _wait("wgmma_wait_group", words.wgmma_wait),
    _registers("setmaxnreg_dec", False),
    _registers("setmaxnreg_inc", True),
)
